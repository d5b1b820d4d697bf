# SPDX-License-Identifier: GPL-2.0-or-later
"""Time from the start of a proxy to its port, its first hit and its whole index: after a clean stop, and after
kill -9 under load; with several workers, after kill -9 of the process that has the disk, too."""

import http.client
import math
import threading
import time

from .errors import BenchError
from .load import load_objects
from .plans import LEAST_MEMORY_MB, MB, loaded_mb
from .setup import Bench
from .stores import make

WITNESSES = 24     # objects that are asked for after a start, in turn, until one is a hit
PAUSE = 0.002
LIMIT = 900


class RestartRun:
    """One store of a part of kind "restart". The store clusterfs-loaded is filled by the engine itself."""

    def __init__(self, setup, part, store, progress):
        self.setup, self.part, self.store, self._step = setup, part, store, progress
        self._proxy = self._disk = self._client = None

    def _sizes(self, corpus):
        if self.store == "clusterfs-loaded":
            mb = loaded_mb(self.part.counts)
            return mb, 256 + mb // 16
        cache_mb = max(64, math.ceil(corpus["bytes"] * self.part.cache_share / MB))
        return cache_mb, max(LEAST_MEMORY_MB, math.ceil(corpus["bytes"] * self.part.memory_share / MB))

    def run(self):
        """What goes into the raw results."""
        with Bench(self.setup, self.part) as bench:
            corpus = bench.client().describe()
            cache_mb, memory_mb = self._sizes(corpus)
            place = bench.place(self.store, cache_mb, memory_mb)
            with bench.disk(self.store, cache_mb) as self._disk, make(place, self._disk) as self._proxy:
                if not self._proxy.restarts:
                    raise BenchError(f"the cache of {self.store} does not survive a restart")
                self._client = bench.client(reverse=self._proxy.reverse)
                self._fill()
                starts = {how: [] for how in ("clean", "killed", *(("owner",) if place.workers > 1 else ()))}
                for _ in range(self.part.rounds):
                    for how, found in starts.items():
                        found.append(self._timed(how))
                settings = self._proxy.settings()
                index = {"bytes": self._proxy.index_bytes(), "objects": self._proxy.objects()}
        return {"corpus": corpus, "cacheMb": cache_mb, "memoryMb": memory_mb, "memoryLimit": place.memory_limit,
                "settings": settings, "index": index, "starts": starts, "phases": [], "limit": None, "times": {}}

    def _fill(self):
        self._step("fill")
        self._disk.set(model="fast")
        self._proxy.start()
        if self.store == "clusterfs-loaded":
            self._proxy.stop()
            load_objects(self.part.counts, self._disk, self.setup.programs)
        else:
            self._client.run("--order", "once", "--users", 8, seed=self.setup.seed, timeout=LIMIT)
            self._proxy.stop()
        # A first start, so that whatever was in memory only is on the disk before something is killed. The witnesses come last: the index
        # log may take the clusters of the first of many small objects.
        self._proxy.start()
        self._fetch_witnesses()
        self._proxy.stop()
        self._proxy.start()

    # one start

    def _timed(self, how):
        """Ends the proxy in this way and starts it: {stop, port, firstHit, whole, objects, reads, readBytes}"""
        self._step(f"{how} start")
        before = self._proxy.objects()
        stopped = 0.0
        if how == "clean":
            stopped = self._proxy.stop()
        elif how == "killed":
            self._kill_under_load()
        if how != "owner":
            self._proxy.storage.drop_caches()
        self._disk.set(model=self.part.model)
        counters = self._disk.stats()
        out = {"stop": stopped, **self._start(how)}
        after = self._disk.stats()
        self._disk.set(model="fast")
        return {**out, "objectsBefore": before, "objects": self._proxy.objects(),
                "reads": after.get("reads", 0) - counters.get("reads", 0),
                "readBytes": after.get("readBytes", 0) - counters.get("readBytes", 0)}

    def _kill_under_load(self):
        failures = []

        def visit():
            try:
                self._client.run("--users", 8, "--seconds", 3, seed=self.setup.seed + 7, timeout=60)
            except BenchError as error:  # its proxy goes away under it
                failures.append(error)

        load = threading.Thread(target=visit)
        load.start()
        time.sleep(1.5)
        self._proxy.kill()
        load.join()

    def _start(self, how):
        begin = time.monotonic()
        killed = self._proxy.kill_owner() if how == "owner" else set()
        if not killed:
            self._proxy.start(wait=False)
        times, witness = {}, 0
        while len(times) < 3:
            now = time.monotonic() - begin
            if now > LIMIT:
                raise BenchError(f"{self.store}: after {LIMIT} s of a start only: {', '.join(times) or 'nothing'}")
            if "port" not in times:
                if not self._proxy.answers():
                    time.sleep(PAUSE)
                    continue
                times["port"] = time.monotonic() - begin
            if killed and killed >= self._proxy.owners():
                time.sleep(PAUSE)  # workers go on for a moment by themselves, and the cache manager waits ten seconds for what is gone
                continue
            if "firstHit" not in times:
                if self._is_hit(witness % WITNESSES, begin):
                    times["firstHit"] = time.monotonic() - begin
                witness += 1
            if "whole" not in times and ("firstHit" in times or not killed) and self._proxy.whole():
                times["whole"] = time.monotonic() - begin
            time.sleep(PAUSE)
        return times

    # witnesses

    def _fetch(self, number, cached=False):
        """When the origin made what comes back for a witness, on the monotonic clock, in seconds. cached: does not ask
        the origin, and is None where the cache has nothing."""
        path = f"/witness/page{number}/object-{6000 + number}-v1.css"
        host = f"127.0.0.1:{self.setup.origin_port}"
        connection = http.client.HTTPConnection("127.0.0.1", self._proxy.port, timeout=60)
        try:
            connection.putrequest("GET", path if self._proxy.reverse else f"http://{host}{path}", skip_host=True)
            connection.putheader("Host", host)
            if cached:
                connection.putheader("Cache-Control", "only-if-cached")
            connection.endheaders()
            response = connection.getresponse()
            response.read()
            if cached and response.status == 504:
                return None
            if response.status != 200:
                raise BenchError(f"{self.store}: {path}: status {response.status}")
            return int(response.headers["X-Generated"]) / 1e9
        except (OSError, http.client.HTTPException) as error:
            raise BenchError(f"{self.store}: {path}: {error!r}\n{self._proxy.log()}") from None
        finally:
            connection.close()

    def _fetch_witnesses(self):
        for number in range(WITNESSES):
            self._fetch(number)

    def _is_hit(self, number, since):
        made = self._fetch(number, cached=True)
        return made is not None and made < since
