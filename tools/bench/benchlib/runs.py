# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of one store under one load: fill or age, forget the page cache, warm up, measure."""

import math
import os

from .errors import BenchError
from .load import load_objects
from .measure import measured, stored_bytes
from .plans import LEAST_MEMORY_MB, MB, TURNS, loaded_mb
from .setup import Bench
from .stores import diskless, make

#: closed loop of the phases that only prepare
FILL_USERS = 12
#: what preparing may take at most, in seconds
PREPARE_LIMIT = 1800
#: a ladder of loads ends where less of the offered visits than this is done
SATURATED = 0.8


class LoadRun:
    """One store of a part of kind "load"."""

    def __init__(self, setup, part, store, progress, limits):
        """progress: called with the name of each step; limits: a limits.Limits"""
        self.setup, self.part, self.store = setup, part, store
        self._step, self._limits = progress, limits
        self._phases, self._times = [], {}
        self._client = self._proxy = self._disk = None
        self.corpus = None

    def sizes(self, corpus):
        """(cache, memory) in MB, from the corpus."""
        cache_mb = max(32, math.ceil(corpus["bytes"] * self.part.cache_share / MB))
        cached = min(cache_mb * MB, corpus["bytes"])
        memory_mb = max(LEAST_MEMORY_MB, math.ceil(cached * self.part.memory_share / MB))
        if self.part.counts:
            more = loaded_mb(self.part.counts)
            return cache_mb + more, memory_mb + 256 + more // 16
        return cache_mb, memory_mb

    def run(self):
        """All of it: what goes into the raw results."""
        with Bench(self.setup, self.part) as bench:
            self.corpus = bench.client().describe()
            cache_mb, memory_mb = self.sizes(self.corpus)
            place = bench.place(self.store, cache_mb, memory_mb)
            with bench.disk(self.store, cache_mb) as self._disk, make(place, self._disk) as self._proxy:
                self._client = bench.client(reverse=self._proxy.reverse)
                self._disk.set(model="fast")
                self._proxy.start()
                self._prepare(cache_mb)
                index = {"bytes": self._proxy.index_bytes(), "objects": self._proxy.objects()}
                self._forget()
                self._warm_up(memory_mb)
                bench.origin.start(self.part.delay_ms)
                self._disk.set(model=self.part.model)
                self._measure()
                settings = self._proxy.settings()
        return {"corpus": self.corpus, "cacheMb": cache_mb, "memoryMb": memory_mb, "memoryLimit": place.memory_limit,
                "settings": settings, "index": index, "phases": self._phases, "times": self._times,
                "limit": self._limit(cache_mb)}

    # preparing

    def _load(self, name, seed, *options, timeout=PREPARE_LIMIT, keep=True):
        """One phase. seed: of the store-independent course of visits."""
        self._step(name)
        phase = measured(name, self._proxy, self._disk, lambda: self._client.run(
            *options, seed=self.setup.seed * 1000 + seed, timeout=timeout, check=self.setup.check_bodies))
        wrong = phase["client"].get("badBodies", 0)
        if wrong:
            raise BenchError(f"{self.store}: {wrong} wrong bodies in '{name}'")
        if keep:
            self._phases.append(phase)
        return phase

    def _prepare(self, cache_mb):
        if self.store == "null":
            return
        if self.part.counts:
            self._step("load objects")
            self._proxy.stop()
            load_objects(self.part.counts, self._disk, self.setup.programs)
            self._proxy.start()
        if self.part.aged:
            self._age(cache_mb)
        else:
            self._load("fill", 1, *self._fill_options())

    def _fill_users(self):
        if not self._proxy.fill_rate:
            return ("--users", FILL_USERS)
        rest = FILL_USERS * self.corpus["meanObjectsPerPage"] / self._proxy.fill_rate
        return ("--users", FILL_USERS, "--think", round(rest, 4))

    def _fill_options(self):
        return (*self.part.fill, "--order", "once", *self._fill_users())

    def _age(self, cache_mb):
        """Random visits until the cache was filled, and replaced TURNS times over."""
        wanted, stored, visits, gain = (1 + TURNS) * cache_mb * MB, 0, 0, self.corpus["meanPageBytes"]
        while stored < wanted:
            step = max(50, int((wanted - stored) / gain))
            phase = self._load(f"age {stored / wanted * 100:.0f} %", 100 + len(self._phases), *self.part.fill, "--order",
                               "random", *self._fill_users(), "--visits", step)
            gain = stored_bytes(phase) / step
            if gain * 100 < self.corpus["meanPageBytes"]:
                raise BenchError(f"{self.store}: {step} random visits brought only {gain * step:.0f} bytes of misses: "
                                 "the cache is not smaller than what is visited, so it cannot age")
            stored, visits = stored + stored_bytes(phase), visits + step
        self._times["age"] = {"visits": visits, "missedBytes": stored, "turns": stored / (cache_mb * MB) - 1}

    def _forget(self):
        """Measures start from a cold page cache, and for Squid's own memory from a new process."""
        if self._proxy.restarts and not diskless(self.store):
            self._step("restart")
            self._proxy.restart()

    def _warm_up(self, memory_mb):
        """Visits as they are measured, in the fast model: until a cache that had to change its contents has,
        and the memory was filled twice over."""
        pages = self._warm_bytes(memory_mb) / max(1, self.corpus["meanPageBytes"])
        self._load("warm up", 2, *self.part.load, *self._fill_users(), "--visits", max(20, int(pages)))
        os.sync()

    def _warm_bytes(self, memory_mb):
        if self.store == "null":
            return 0
        return self.part.settle_share * min(self.corpus["bytes"], self.corpus["bytes"] * self.part.cache_share) \
            + 2 * memory_mb * MB

    # measuring

    def _measure(self):
        part = self.part
        for turn in range(part.rounds):
            self._load(f"closed {turn + 1}/{part.rounds}", 10 + turn, *part.load, "--users", part.users,
                       "--seconds", part.seconds, timeout=part.seconds * 4 + 120)
            self._load(f"open {turn + 1}/{part.rounds}", 20 + turn, *part.load, "--rate", part.rate,
                       "--seconds", part.seconds, timeout=part.seconds * 4 + 120)
        for number, rate in enumerate(sorted(part.ladder)):
            phase = self._load(f"load {rate:g}/s", 40 + number, *part.load, "--rate", rate,
                               "--seconds", part.ladder_seconds, timeout=part.ladder_seconds * 4 + 120)
            phase["rate"] = rate
            if phase["client"]["visitsPerSecond"] < SATURATED * rate:
                break

    def _limit(self, cache_mb):
        """What the model can do; None where there is no such model."""
        if self.part.model == "fast" or diskless(self.store):
            return None
        return {"disk": self._limits.of(self.part.model, cache_mb, self.part.users)}
