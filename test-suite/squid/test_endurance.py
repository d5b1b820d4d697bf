# SPDX-License-Identifier: GPL-2.0-or-later
"""What takes long: run.py --long. How long: CLUSTERFS_KILLS, CLUSTERFS_CUTS, CLUSTERFS_SOAK_MINUTES, CLUSTERFS_PURGES and
CLUSTERFS_WORKERS_MINUTES in the environment. CLUSTERFS_SEED has another value there for other random choices."""

import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from squidkit.client import Client
from squidkit.processes import give_to_squid, run, wait_for
from testlib.devices import ModelledDisk
from testlib.load import Load
from testlib.smp import WORKERS, Workers
from testlib.stores import LIVELY
from testlib.suite import DISKMODEL

pytestmark = pytest.mark.stores("clusterfs")

MB = 1 << 20
KILLS = int(os.environ.get("CLUSTERFS_KILLS", "200"))
CUTS = int(os.environ.get("CLUSTERFS_CUTS", "1000"))
SOAK_MINUTES = float(os.environ.get("CLUSTERFS_SOAK_MINUTES", "30"))
PURGES = int(os.environ.get("CLUSTERFS_PURGES", "20000"))
WORKERS_MINUTES = float(os.environ.get("CLUSTERFS_WORKERS_MINUTES", "30"))
SEED = int(os.environ.get("CLUSTERFS_SEED", "0"))
TOOL = DISKMODEL.parent / "clusterfs"
#: of a cache that has to make room
CHURNING = "cluster-size=256 staging=16 read-cache=16 " + LIVELY
#: of these, so many are given to Squid itself
STARTS = 20


def mixture(t, prefix, count):
    """Sizes like the web's, a third without announced length."""
    chance = random.Random(prefix)
    return [t.url(f"{prefix}{n}", size=int(min(2 * MB, chance.paretovariate(0.9) * 6000)),
                  **({"chunked": 1} if n % 3 == 0 else {})) for n in range(count)]


def churn(t, chance, urls):
    """Visits without end; now and then the origin has something new."""
    while True:
        url = chance.choice(urls)
        if chance.random() < 0.05:
            t.origin.change(url)
        yield url


@pytest.mark.needs("modelled disk")
@pytest.mark.long
def test_killed_many_times(t):
    """kill -9 at random moments of a load, and of starts; every byte is checked, and what was packed before the
    load is there each time."""
    disk = t.modelled_disk(768, "writeBandwidth=120")
    squid = t.running("client_db off", t.cache_dir("", LIVELY, path=disk.path))
    keep, urls = mixture(t, "keep", 40), mixture(t, "object", 1500)
    chance = random.Random(f"kills {SEED}")
    t.fetch_all(squid, keep)
    squid.wait_packed()
    for number in range(KILLS):
        load = Load(squid.port, churn(t, chance, urls), threads=10, tolerant=True,
                    headers={"Cache-Control": "no-cache"} if number % 2 else {})
        time.sleep(chance.uniform(0.05, 1.5))
        squid.kill()
        load.stop().join()
        if number % 5 == 0:  # and while it starts
            squid.start(wait=False)
            time.sleep(chance.uniform(0, 0.4))
            squid.kill()
        squid.start()
        t.survivors(squid, chance.sample(urls, 40))
        for url in keep:
            t.hit(squid, url)
        if number % 10 == 9:
            print(f"      {number + 1} kills", flush=True)
    squid.stop()
    assert _check(disk.path)["damaged_objects"] == 0


def _tool(command, path):
    """What clusterfs prints as JSON; that something is damaged is no failure."""
    done = subprocess.run([TOOL, command, path, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode in (0, 1), f"clusterfs {command} {path}: {done.returncode}: {done.stderr[-500:]}"
    return done.stdout


def _check(path):
    return json.loads(_tool("check", path))


def _listed(image):
    """URLs of the whole objects that a start from this image would know."""
    entries = map(json.loads, _tool("dump", image).splitlines())
    return {entry["url"] for entry in entries if entry["state"] != "damaged"}


def _records(log):
    """(the number of the last record, that of the mark)."""
    records = [line.split("\t") for line in run(DISKMODEL, "replay", log, "--list").stdout.splitlines()]
    return int(records[-1][0]), next(int(number) for number, kind, *_ in records if kind == "mark")


@pytest.mark.needs("modelled disk")
@pytest.mark.long
def test_many_power_cuts(t):
    """The power goes at any write: of what no flush covers all, nothing, or some is kept, some of it torn. The
    image opens, and what was packed and flushed before is whole in it; Squid serves no wrong byte."""
    log = t.dir / "writes"
    disk = t.closing(ModelledDisk(DISKMODEL, 128 * MB, "readLatency=20", record=log))
    squid = t.running("client_db off", t.cache_dir("", LIVELY, path=disk.path))
    keep, others = mixture(t, "keep", 120), mixture(t, "other", 300)
    t.fetch_all(squid, keep)
    squid.wait_packed()
    time.sleep(3)  # persist, and the flush after it
    disk.control("mark 1")
    chance = random.Random(f"cuts {SEED}")
    load = Load(squid.port, itertools.islice(churn(t, chance, others), 1200), threads=6,
                headers={"Cache-Control": "no-cache"})
    load.join()
    squid.stop()
    disk.close()
    last, mark = _records(log)
    assert last - mark > 100, f"only {last - mark} records after the mark"
    image = t.image("cut")
    for number in range(CUTS):
        mode = ("subset", "drop", "prefix")[number % 3]
        seed = SEED * CUTS + number
        image.unlink(missing_ok=True)
        at = chance.randrange(mark, last + 1)
        done = run(DISKMODEL, "replay", log, image, f"--mode={mode}", f"--upto={at}", f"--seed={seed}")
        assert done.returncode == 0, done.stdout
        os.chmod(image, 0o600)
        give_to_squid(image)
        missing = set(keep) - _listed(image)
        assert not missing, f"--mode={mode} --upto={at} --seed={seed}: {len(missing)} objects are lost, such as {min(missing)}"
        if number % max(1, CUTS // STARTS) == 0:
            _serves(t, image, keep, others, number)
            print(f"      {number} cuts of {CUTS}", flush=True)


def _serves(t, image, keep, others, number):
    """Starts Squid on a copy of the disk after a cut: all bytes right, and what was durable is a hit."""
    squid = t.squid(t.cache_dir("", LIVELY, path=image), folder=f"cut{number}").start()
    missing = set(keep) - set(t.survivors(squid, keep))
    assert not missing, f"cut {number}: {len(missing)} objects are no hits, such as {min(missing)}:\n{squid.tail()}"
    t.survivors(squid, others)
    squid.stop()


def _resident(pid):
    return int(next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                    if line.startswith("VmRSS")).split()[1]) // 1024


def _descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def _at_rest(squid):
    """Its values when it makes no more room."""
    def unchanged():
        before = squid.values()
        time.sleep(1)
        after = squid.values()
        return after if before["objects"] == after["objects"] else None
    return wait_for(unchanged, "an unchanging number of objects")


@pytest.mark.long
def test_soak(t):
    """Churn with replacement, changes, purges, reconfigurations: memory and descriptors do not grow, and Squid's
    counters agree with what check finds in the image."""
    squid = t.running("client_db off", "memory_pools off", megabytes=192,
                      options=CHURNING)
    urls, chance = mixture(t, "object", 12000), random.Random(f"soak {SEED}")
    load = Load(squid.port, churn(t, chance, urls), threads=8)
    samples, end = [], time.monotonic() + 60 * SOAK_MINUTES
    while time.monotonic() < end and load.failure is None:
        time.sleep(min(15, 3 * SOAK_MINUTES))
        for url in chance.sample(urls, 20):
            squid.client.request(url, method="PURGE")
        if len(samples) % 20 == 19:
            squid.control("reconfigure")
        samples.append((_resident(squid.worker()), _descriptors(squid.worker())))
    load.stop().join()
    print(f"      {load.done} requests, {load.bytes >> 20} MB; memory {samples[0][0]} to {samples[-1][0]} MB", flush=True)
    first, last = samples[len(samples) // 3], samples[-1]
    assert last[0] <= first[0] * 1.1 + 8 and last[1] <= first[1] + 16, f"memory in MB, descriptors: {samples}"
    assert squid.values().number("clusters evicted") > 0
    squid.wait_packed()
    said = _at_rest(squid)
    squid.stop()
    report = _check(t.image())
    assert report["problem_count"] == 0, report["problems"][:5]
    assert report["objects"] == said.number("objects"), (report, said.text)
    assert report["object_bytes"] == said.number("object bytes"), (report, said.text)


class Trouble:
    """Kills and stops processes of a Squid with workers: one worker, the owner, or both."""

    def __init__(self, workers, chance):
        self.workers, self.chance = workers, chance
        self.kills = self.stops = 0

    def make(self):
        owner = [*self.workers.pids("squid-disk-").values()]
        others = [pid for number in range(WORKERS) for pid in self.workers.pids(f"squid-{number + 1}").values()]
        victims = self.chance.choice(([self.chance.choice(others)], owner, [self.chance.choice(others), *owner])) if others else owner
        kill = self.chance.random() < 0.6
        for pid in victims:
            self._send(pid, signal.SIGKILL if kill else signal.SIGSTOP)
        if kill:
            self.kills += len(victims)
            return
        self.stops += len(victims)
        time.sleep(self.chance.choice((0.01, 0.3, 6)))  # the last is long enough for workers to give the owner up
        for pid in victims:
            self._send(pid, signal.SIGCONT)

    @staticmethod
    def _send(pid, sign):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            pass  # it was about to end


def _never_stale(t, workers, chance, urls):
    """One worker removes an object whose origin has something new, and all others serve that. Returns how often that was tried:
    a worker that is just being started answers nobody."""
    tried = 0
    for url in urls:
        first, second = chance.sample(range(WORKERS), 2)
        version = t.origin.state(url).version
        try:
            workers.client(first).get(url)
            t.origin.change(url)
            if workers.client(second).request(url, method="PURGE").status not in (200, 404):
                continue
            replies = [workers.client(worker).get(url) for worker in range(WORKERS)]
        except OSError:
            continue
        for reply in replies:
            if reply.complete and reply.status == 200:
                reply.check(version + 1)
                tried += 1
    return tried


@pytest.mark.long
def test_many_purges_by_workers(t):
    """One worker stores an object, another one removes it, and no worker has it any more, however soon it is asked; and then it has
    the new one. Threads do so with objects of their own."""
    workers = Workers(t, t.cache_dir(192, CHURNING), "client_db off")
    threads, seen = 4, []

    def run(thread):
        clients = [Client(port, keep_alive=True) for port in workers.ports]
        chance, kept = random.Random(f"purges {SEED} {thread}"), 0
        for number in range(PURGES // threads):
            url = t.url(f"purged{thread}-{number % 500}", size=3000)
            storer, remover, *others = (clients[n] for n in chance.sample(range(WORKERS), WORKERS))
            version = t.origin.state(url).version
            storer.get(url).check(version)
            kept += others[0].cached(url) is not None
            t.origin.change(url)
            status = remover.request(url, method="PURGE").status
            assert status in (200, 404), url
            for client in chance.sample(clients, WORKERS):
                reply = client.cached(url)
                assert reply is None, f"{url}: version {version} was removed ({status}), but one worker has {reply.version}"
            others[0].get(url).check(version + 1)
        return kept

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        seen = list(pool.map(run, range(threads)))
    print(f"      {PURGES} removals, {sum(seen)} of what others had", flush=True)
    assert sum(seen) > PURGES * 0.5, "others seldom had the object before it was removed"


@pytest.mark.long
def test_workers_in_trouble(t):
    """Workers and the owner are killed and stopped under load: no wrong byte, nothing stale, and at the end the image is whole."""
    workers = Workers(t, t.cache_dir(192, CHURNING), "client_db off")
    chance = random.Random(f"workers {SEED}")
    urls, probes = mixture(t, "object", 4000), t.urls("probe", 20, 9000)
    loads = [Load(port, churn(t, random.Random(f"{SEED} {port}"), urls), threads=3, tolerant=True) for port in workers.ports]
    trouble, tried, end = Trouble(workers, chance), 0, time.monotonic() + 60 * WORKERS_MINUTES
    while time.monotonic() < end and not any(load.failure for load in loads):
        time.sleep(chance.uniform(0.1, 3))
        trouble.make()
        tried += _never_stale(t, workers, chance, probes)
    for load in loads:
        load.stop().join()
    print(f"      {sum(load.done for load in loads)} requests, {trouble.kills} kills, {trouble.stops} stops, {tried} probes", flush=True)
    assert tried > 20 * WORKERS_MINUTES and sum(load.done for load in loads) > 1000 * WORKERS_MINUTES
    workers.restart()
    for url in chance.sample(urls, 300):
        workers.get(chance.randrange(WORKERS), url)
    workers.wait_packed()
    workers.squid.stop()
    assert _check(t.image())["damaged_objects"] == 0
