# SPDX-License-Identifier: GPL-2.0-or-later
"""Starting, stopping, reconfiguring and rotating."""

import itertools
import os
import pathlib
import signal

import pytest

from squidkit.processes import wait_for
from testlib import stores
from testlib.load import Load
from testlib.stores import ROCK_INDEX

MB = 1 << 20


def some(t, count=40):
    return [t.url(f"object{n}", size=(n * 4999) % 120000) for n in range(count)]


def order(squid, what):
    done = squid.control(what)
    assert done.returncode == 0, f"squid -k {what}: {done.returncode}: {done.stdout}"


@pytest.mark.known(ROCK_INDEX)
@pytest.mark.quick
def test_reconfigure_under_load(t):
    squid = t.running(megabytes=256)
    urls = some(t, 200)
    load = Load(squid.port, itertools.cycle(urls), threads=8, tolerant=True)
    for number in range(3):
        wait_for(lambda n=number: load.done > 150 * (n + 1), "some load")
        mark = squid.cache_log.mark()
        order(squid, "reconfigure")
        squid.cache_log.wait("Accepting HTTP Socket", mark)
    wait_for(lambda: load.done > 700, "some load")
    load.stop().join()
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    squid.restart()
    for url in urls:
        t.hit(squid, url)


@pytest.mark.known(ROCK_INDEX)
def test_rotate_under_load(t):
    squid = t.running()
    urls = some(t)
    load = Load(squid.port, itertools.cycle(urls), threads=4)
    for number in range(2):
        wait_for(lambda n=number: load.done > 100 * (n + 1), "some load")
        inode = os.stat(squid.access_log.path).st_ino
        order(squid, "rotate")
        wait_for(lambda i=inode: _inode(squid.access_log.path) not in (None, i), "a new access.log")
        squid.access_log.poll()
    load.stop().join()
    for url in urls:
        t.hit(squid, url)
    if t.store == "clusterfs":
        squid.wait_packed()
    squid.kill().start()
    kept = t.survivors(squid, urls)
    assert t.store != "clusterfs" or len(kept) == len(urls), f"{len(kept)} of {len(urls)} are left"


def _inode(path):
    return os.stat(path).st_ino if path.exists() else None


@pytest.mark.known(ROCK_INDEX)
def test_shutdown_with_clients(t):
    """-k shutdown while a download goes on: Squid ends; what was complete is there afterwards."""
    squid = t.running()
    urls = some(t)
    t.fetch_all(squid, urls)
    film = t.url("film", size=6 * MB, gate="end", gateat=3 * MB)
    fetch = squid.client.open(film)
    begin = fetch.read(MB)
    order(squid, "shutdown")
    code = squid.process.wait(60)
    squid.process = None
    t.origin.gate("end").open()
    assert code == 0, f"squid ended with {code}"
    fetch.finish(begin).check_prefix()
    squid.start()
    for url in urls:
        t.hit(squid, url)
    squid.client.get(film).check()


def test_interrupt_twice(t):
    """A second SIGTERM while shutting down ends Squid at once; nothing is wrong after that."""
    t.allow("FATAL: dying from an unhandled exception: .*")
    squid = t.running()
    urls = some(t)
    t.fetch_all(squid, urls)
    squid.process.send_signal(signal.SIGTERM)
    squid.process.send_signal(signal.SIGTERM)
    squid.process.wait(60)
    squid.kill().start()
    t.survivors(squid, urls)
    t.fetch_all(squid, urls)


@pytest.mark.known(ROCK_INDEX)
def test_start_modes(t):
    """In one process, in the foreground, -F and -S: the content is there each time."""
    squid = t.running(mode="-N")
    urls = some(t)
    t.fetch_all(squid, urls)
    squid.stop()
    modes = [("-N",), ("-N", "-F"), ("-N", "-S")]
    if t.store != "rock":  # with rock these start several processes that share memory
        modes += [("--foreground",), ("--foreground", "-F"), ("--foreground", "-S"), ("--foreground", "-F", "-S")]
    for mode, *more in modes:
        squid.mode = mode
        squid.start(*more)
        for url in urls:
            t.hit(squid, url)
        squid.stop()


@pytest.mark.stores("clusterfs", "ufs")
def test_as_a_daemon(t):
    """Started without any option, as an init script may do it."""
    squid = t.squid().create()
    pid = squid.start_daemon()
    try:
        url = t.url("object", size=50000)
        t.miss(squid, url)
        t.settle(squid, url)
        t.hit(squid, url)
        order(squid, "check")
        order(squid, "shutdown")
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "end of squid")
        pid = 0
    finally:
        if pid:
            os.kill(pid, signal.SIGTERM)
    squid.start()
    t.hit(squid, url)


def test_check_and_parse(t):
    squid = t.running()
    order(squid, "parse")
    order(squid, "check")
    squid.stop()
    order(squid, "parse")
    assert squid.control("check").returncode != 0


@pytest.mark.stores("clusterfs")
def test_options_by_reconfigure(t):
    """Options that may change do so at reconfigure; the others are refused, and Squid goes on."""
    squid = t.running(options="persist=20")
    urls = some(t)
    t.fetch_all(squid, urls)
    changed = ("read-cache=8", "memory=90", "persist=7", "checkpoint=99", "replacement=fifo", "layout=closest",
               "file-lifetime=1000", "delete-count=5", "max-size=150000")
    squid.configure(t.cache_dir(128, " ".join(changed)))
    mark = squid.cache_log.mark()
    order(squid, "reconfigure")
    squid.cache_log.wait("Accepting HTTP Socket", mark)
    config = " ".join(line for line in squid.mgr("config").splitlines() if line.startswith("cache_dir"))
    for option in changed + ("cluster-size=256",):
        assert option in config, f"{option} is not in: {config}"
    for url in urls:
        t.hit(squid, url)
    # a new limit of memory that suits the new staging, while the old one stays
    squid.configure(f"cache_dir clusterfs {t.image()} 128 memory=4 staging=2 locality=0")
    mark = squid.cache_log.mark()
    order(squid, "reconfigure")
    squid.cache_log.wait("Accepting HTTP Socket", mark)
    assert squid.cache_log.lines("staging cannot be changed dynamically", mark), "no word about staging"
    line = next(line for line in squid.mgr("config").splitlines() if line.startswith("cache_dir"))
    memory = next(int(option.partition("=")[2]) for option in line.split() if option.startswith("memory="))
    assert memory > 4 and "staging=2" not in line, line
    assert squid.cache_log.lines(f"memory now {memory}", mark), "the message tells another value than the one in use"
    for url in urls:
        t.hit(squid, url)
    squid.configure(t.cache_dir(128, "cluster-size=512 read-cache=8"))
    mark = squid.cache_log.mark()
    order(squid, "reconfigure")
    squid.cache_log.wait("Accepting HTTP Socket", mark)
    assert squid.cache_log.lines("cluster-size", mark), "no word about an option that cannot change"
    for url in urls:
        t.hit(squid, url)


@pytest.mark.stores("clusterfs")
def test_cache_dirs_by_reconfigure(t):
    """A cache_dir added, and one taken away, while Squid runs: it goes on; a restart settles it."""
    squid = t.running()
    urls = some(t)
    t.fetch_all(squid, urls)
    both = (t.cache_dir(), t.cache_dir(64, name="second"))
    t.squid(both[1], folder="other").create()
    for lines in (both, both[:1], both[1:]):
        squid.configure(*lines)
        mark = squid.cache_log.mark()
        order(squid, "reconfigure")
        squid.cache_log.wait("Accepting HTTP Socket", mark)
        t.fetch_all(squid, urls)
        squid.mgr("storedir")
        squid.mgr("clusterfs")
    squid.configure(*both)
    squid.restart()
    t.fetch_all(squid, urls)
    assert t.origin.total() <= 2 * len(urls)


@pytest.mark.stores("clusterfs")
def test_same_cache_dir_twice(t):
    """A line that stands twice is refused: never two on one image."""
    line = t.cache_dir()
    squid = t.squid(line, line)
    done = squid.command("-k", "parse")
    assert done.returncode != 0, done.stdout
    assert str(stores.place("clusterfs", t.dir)) in done.stdout, done.stdout
