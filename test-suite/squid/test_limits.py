# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process may use: descriptors, memory; and signals at any moment."""

import resource
import signal
import subprocess
import sys
import time

import pytest

from benchlib import cgroup
from squidkit.processes import wait_for
from testlib.devices import sparse_file
from testlib.load import Load
from testlib.stores import LIVELY

pytestmark = pytest.mark.stores("clusterfs")

MB = 1 << 20


def test_few_descriptors(t):
    """More clients than Squid has descriptors for: some are turned away, nobody gets a wrong byte, and the store
    needs no more of them."""
    squid = t.running("client_db off", "max_filedescriptors 64")
    urls = t.urls("object", 300)
    Load(squid.port, urls * 2, threads=120, tolerant=True).join()
    t.fetch_all(squid, urls, threads=4)
    for url in urls:
        t.hit(squid, url)
    assert squid.values().number("stores refused") == 0, squid.values().text


def test_index_larger_than_memory(t):
    """An index that the process has no address space for is a smaller one: it serves, and grows when there is more."""
    if t.sanitized():
        pytest.skip("the sanitizer needs more address space than the test leaves")
    path = sparse_file(t.image(), 64 << 30)
    squid = t.squid(t.cache_dir("", "object-size=1", path=path)).create()
    squid.limits = {resource.RLIMIT_AS: 1500 * MB}
    squid.start()
    url = t.url("object", size=1000)
    t.store_object(squid, url)
    t.hit(squid, url)
    bounded = squid.values().number("index capacity")
    assert 0 < bounded < (64 << 30) / 1024, bounded
    squid.stop()
    squid.limits = {}
    squid.start()
    t.hit(squid, url)
    assert squid.values().number("index capacity") > bounded, squid.values().text


MOMENTS = (0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3)  # seconds


def test_ended_while_it_starts(t):
    """SIGTERM at any moment of a start: it ends, and the next start has everything."""
    squid = t.running(megabytes=256, mode="-N", options=LIVELY)
    urls = t.urls("object", 400)
    t.fetch_all(squid, urls)
    squid.stop()
    for moment in MOMENTS:
        squid.start(wait=False)
        time.sleep(moment)
        squid.process.send_signal(signal.SIGTERM)
        code = squid.process.wait(60)
        assert code in (0, -signal.SIGTERM), f"squid ended with {code} after {moment} s:\n{squid.tail()}"
        squid.kill()
    squid.start()
    for url in urls:
        t.hit(squid, url)


def test_killed_while_it_stops(t):
    """kill -9 at any moment of a stop under load: what was packed before is there."""
    squid = t.running("client_db off", megabytes=256, mode="-N", options=LIVELY)
    keep = t.urls("keep", 60)
    t.fetch_all(squid, keep)
    squid.wait_packed()
    for number, moment in enumerate(MOMENTS):
        load = Load(squid.port, t.urls(f"more{number}x", 400), threads=6, tolerant=True)
        wait_for(lambda: load.done + load.broken >= 40, "some load")
        squid.process.send_signal(signal.SIGTERM)
        time.sleep(moment)
        squid.kill()
        load.stop().join()
        squid.start()
        for url in keep:
            t.hit(squid, url)


HOG = """
import sys, time
kept = []
for _ in range(int(sys.argv[1])):
    kept.append(b"x" * (2 << 20))
    time.sleep(0.15)
print("full", flush=True)
sys.stdin.read()
"""


def test_memory_that_others_take(t):
    """The control group that Squid shares with others fills up: the read cache gives way, nobody is killed, and all is a hit."""
    if t.sanitized():
        pytest.skip("the sanitizer takes more memory than the test leaves")
    if cgroup.problem():
        pytest.skip(cgroup.problem())
    with cgroup.Cgroup("memory", 200 * MB) as group:
        join = ("sh", "-c", f'echo 0 >{group.path}/cgroup.procs && exec "$@"', "sh")
        squid = t.squid(t.cache_dir(300, "memory=120")).create()
        squid.within = list(join)
        squid.start()
        urls = t.urls("object", 100, size=900_000)
        t.fetch_all(squid, urls)
        before = squid.values().number("read cache limit")
        with subprocess.Popen([*join, sys.executable, "-c", HOG, "55"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hog:
            try:
                assert hog.stdout.readline() == "full\n", group.memory()
                for url in urls:
                    t.hit(squid, url)
                after = squid.values().number("read cache limit")
                assert after < before - 20 * MB, (before, after, group.memory())
                assert group.killed() == 0, group.memory()
            finally:
                hog.kill()
        told = squid.cache_log.lines("of 200 MB of memory are left: the read cache gives way")
        assert len(told) == 1, squid.tail()
        wait_for(lambda: squid.values().number("read cache limit") > after + 10 * MB, "a read cache that grows again")
        squid.stop()
