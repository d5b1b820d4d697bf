# SPDX-License-Identifier: GPL-2.0-or-later
"""Hits per second of all stores side by side, with the disk in RAM, beside hits from cache_mem.

The rounds go over all stores in turn, so that a machine that drifts drifts for all."""

import contextlib
import math

from .errors import BenchError
from .measure import measured
from .plans import LEAST_MEMORY_MB, MB
from .setup import Bench
from .stores import diskless, make


class HitsRun:
    """All stores of a part of kind "hits" at once."""

    def __init__(self, setup, part, progress):
        self.setup, self.part, self._step = setup, part, progress

    def run(self):
        """{store: what goes into its raw results}"""
        part = self.part
        with contextlib.ExitStack() as stack:
            bench = stack.enter_context(Bench(self.setup, part))
            corpus = bench.client().describe()
            cache_mb = max(32, math.ceil(corpus["bytes"] * part.cache_share / MB))
            memory_mb = max(LEAST_MEMORY_MB, math.ceil(corpus["bytes"] * part.memory_share / MB))
            out, entries = {}, []
            for number, store in enumerate(part.stores):
                self._step(f"{store}: fill")
                entry = self._prepared(stack, bench, store, number, cache_mb, memory_mb)
                entries.append(entry)
                out[store] = {"corpus": corpus, "cacheMb": cache_mb, "memoryMb": memory_mb, "phases": [],
                              "memoryLimit": entry.proxy.cgroup.limit, "limit": None, "times": {}}
            for turn in range(part.rounds):
                for entry in entries:
                    self._step(f"{entry.store}: round {turn + 1} of {part.rounds}")
                    out[entry.store]["phases"].append(self._round(entry, turn))
            for entry in entries:
                out[entry.store].update(settings=entry.proxy.settings(), index={
                    "bytes": entry.proxy.index_bytes(), "objects": entry.proxy.objects()})
        return out

    def _prepared(self, stack, bench, store, number, cache_mb, memory_mb):
        place = bench.place(store, cache_mb, memory_mb, number)
        disk = stack.enter_context(bench.disk(store, cache_mb, number))
        if not diskless(store):
            disk.set(model=self.part.model)
        proxy = stack.enter_context(make(place, disk))
        proxy.start()
        client = bench.client(place.port, proxy.reverse)
        client.run("--order", "once", "--users", 8, seed=self.setup.seed, timeout=600)
        return Entry(store, proxy, disk, client)

    def _round(self, entry, turn):
        part = self.part
        phase = measured(f"closed {turn + 1}/{part.rounds}", entry.proxy, entry.disk, lambda: entry.client.run(
            *part.load, "--users", part.users, "--seconds", part.seconds, seed=self.setup.seed * 1000 + 10 + turn,
            timeout=part.seconds * 4 + 60, check=self.setup.check_bodies))
        if phase["client"].get("badBodies"):
            raise BenchError(f"{entry.store}: wrong bodies")
        return phase


class Entry:
    """A store that is ready to be measured."""

    def __init__(self, store, proxy, disk, client):
        self.store, self.proxy, self.disk, self.client = store, proxy, disk, client
