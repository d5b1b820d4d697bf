# SPDX-License-Identifier: GPL-2.0-or-later
"""Block devices, devices that are missing, and devices that fail."""

import os

import pytest

from squidkit.client import finish_all
from squidkit.processes import give_to_squid
from testlib.stores import LIVELY, cache_dir

pytestmark = pytest.mark.stores("clusterfs")

MB = 1 << 20


@pytest.mark.needs("loop")
@pytest.mark.quick
def test_on_a_block_device(t):
    """The whole device, without a size: hits after restart and after kill -9."""
    loop = t.loop(128)
    squid = t.running(t.cache_dir("", LIVELY, path=loop.path))
    urls = t.urls("object", 200) + [t.url("huge", size=20 * MB)]
    t.fetch_all(squid, urls)
    squid.restart()
    for url in urls:
        t.hit(squid, url)
    more = t.urls("more", 50)
    t.fetch_all(squid, more)
    squid.wait_packed()
    squid.kill().start()
    for url in urls + more:
        t.hit(squid, url)
    squid.stop().create().start()
    for url in urls:
        t.hit(squid, url)


@pytest.mark.needs("loop")
def test_part_of_a_block_device(t):
    """A size given to squid -z is kept to; another one later, or one too large, is worth a warning."""
    loop = t.loop(96)
    squid = t.squid(t.cache_dir(64, LIVELY, path=loop.path)).create()
    with open(loop.path, "r+b") as device:
        device.seek(64 * MB)
        device.write(b"not ours" * 2048)
    squid.start()
    t.fetch_all(squid, t.urls("object", 300, 400000))
    squid.stop()
    with open(loop.path, "rb") as device:
        device.seek(64 * MB)
        assert device.read(16384) == b"not ours" * 2048, "Squid wrote behind the size it was given"
    squid.configure(t.cache_dir(80, LIVELY, path=loop.path))
    squid.start()
    assert squid.cache_log.lines(r"WARNING.*\b80 MB.*\b64\b"), squid.tail()
    t.fetch_all(squid, t.urls("object", 10))
    squid.stop()
    other = t.loop(32, "other")
    squid.configure(t.cache_dir(128, LIVELY, path=other.path))
    squid.create()
    assert squid.cache_log.lines(r"WARNING.*\b128 MB.*\b32\b"), squid.tail()
    squid.start()
    t.fetch_all(squid, t.urls("object", 10))


@pytest.mark.quick
def test_missing_at_start(t):
    """No device: one message that names it; everything is served from the origin."""
    for number, path in enumerate((t.dir / "nothing-here.img", "/dev/clusterfs-none", t.dir / "no" / "folder.img")):
        squid = t.squid(cache_dir("clusterfs", path, 64), folder=f"squid{number}").start(wait=False)
        squid.wait_ready()
        urls = t.urls(f"o{number}", 20)
        t.fetch_all(squid, urls)
        t.fetch_all(squid, urls)
        assert t.origin.count(urls[0]) == 2
        lines = squid.cache_log.lines(str(path))
        assert 1 <= len(lines) <= 3, f"{len(lines)} lines about {path}:\n" + "\n".join(lines)
        squid.mgr("clusterfs")
        squid.mgr("storedir")
        squid.stop()


def serves_without_cache(t, squid, urls):
    """Squid still runs, every response is right, and the log is not flooded."""
    for _ in range(2):
        t.fetch_all(squid, urls)
    assert squid.process.poll() is None
    lines = squid.cache_log.lines("clusterfs", squid.started_at)
    assert 1 <= len(lines) <= 60, f"{len(lines)} lines about clusterfs:\n" + "\n".join(lines[:80])
    for page in ("clusterfs", "storedir", "config", "info"):
        squid.mgr(page)


@pytest.mark.quick
def test_file_shrinks_under_squid(t):
    """The image is cut while Squid uses it: reads fail, Squid goes on."""
    squid = t.running(megabytes=64, options="staging=2 read-cache=2 persist=1")
    urls = t.urls("object", 400, 60000)
    t.fetch_all(squid, urls)
    os.truncate(t.image(), 3 * MB)
    t.fetch_damaged(squid, urls)
    serves_without_cache(t, squid, t.urls("new", 300, 60000))
    squid.stop()


@pytest.mark.needs("loop")
def test_device_shrinks_under_squid(t):
    """The device loses most of its capacity: reads and writes fail."""
    loop = t.loop(128)
    squid = t.running(t.cache_dir("", "staging=2 read-cache=2 persist=1", path=loop.path))
    urls = t.urls("object", 500, 60000)
    t.fetch_all(squid, urls)
    loop.shrink(2 * MB)
    t.fetch_damaged(squid, urls)
    serves_without_cache(t, squid, t.urls("new", 300, 60000))
    squid.stop()


@pytest.mark.needs("loop", "mount")
def test_writes_fail(t):
    """A device whose backing store is full: what was written before takes writes, every other place gives an I/O error.
    After some clusters storing ends."""
    tiny = t.tiny_file_system(12)
    loop = t.loop(256, tiny.path / "disk")
    squid = t.running(t.cache_dir("", "staging=2 read-cache=2 persist=1", path=loop.path))
    for batch in range(100):  # a fast machine fetches many while few writes are tried
        serves_without_cache(t, squid, t.urls(f"object{batch}", 400, 90000))
        values = squid.values()
        if not values["state"].startswith("serving"):
            break
    assert values.number("write errors") > 0, values.text
    assert not values["state"].startswith("serving"), values.text
    assert len(squid.cache_log.lines("clusterfs.*nothing is stored")) == 1, squid.tail()
    squid.stop()
    squid.start(wait=False)
    squid.wait_ready()
    t.fetch_all(squid, t.urls("object", 100, 90000))


@pytest.mark.needs("loop")
def test_device_taken_away_and_back(t):
    """Stopped with a device, started without it, started with it again: the content is still there."""
    loop = t.loop(128)
    line = t.cache_dir("", LIVELY, path=loop.path)
    squid = t.running(line)
    urls = t.urls("object", 100)
    t.fetch_all(squid, urls)
    squid.stop()
    squid.configure(t.cache_dir("", LIVELY, path=loop.path + "-gone"))
    squid.start(wait=False)
    squid.wait_ready()
    t.fetch_all(squid, urls[:10])
    squid.stop()
    squid.configure(line)
    squid.start()
    for url in urls:
        t.hit(squid, url)


@pytest.mark.quick
def test_back_by_reconfigure(t):
    """A device that was missing when Squid started is used from the next reconfiguration on. What was deleted
    meanwhile stays deleted."""
    squid = t.running(options=LIVELY)
    urls = t.urls("object", 40)
    t.fetch_all(squid, urls)
    squid.stop()
    away = t.image().rename(t.dir / "away.img")
    squid.start()
    squid.reconfigure("ERROR: cache_dir clusterfs is not used: .*No such file")
    t.miss(squid, urls[0])
    squid.client.request(urls[0], method="POST", body=b"changes it")
    away.rename(t.image())
    squid.reconfigure(f"{t.image()}: index is complete")
    for _ in range(2):
        for url in urls[1:]:
            t.hit(squid, url)
        squid.reconfigure("Reconfiguring Squid")
    t.miss(squid, urls[0])
    t.hit(squid, urls[0])
    squid.restart()
    for url in urls:
        t.hit(squid, url)


def test_exchanged_and_reconfigured(t):
    """A blank device in its place is not formatted by a reconfiguration, but used once squid -z has formatted it."""
    squid = t.squid(t.cache_dir(64)).start()
    blank = bytes(64 << 20)
    t.image().write_bytes(blank)
    give_to_squid(t.image())
    squid.reconfigure("ERROR: cache_dir clusterfs is not used: .*run squid -z to format it")
    assert t.image().read_bytes() == blank, "a reconfiguration has formatted the device"
    t.squid(t.cache_dir(64), folder="maker").create()
    squid.reconfigure("is in service again")
    urls = t.urls("object", 40)
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    squid.restart()
    for url in urls:
        t.hit(squid, url)


@pytest.mark.needs("modelled disk")
def test_slow_disk_slows_the_origin(t):
    """A disk that writes slower than the origin sends: who joins late gets every byte. A Squid with our patches
    reads from the origin no faster than the disk writes, and stores large objects whole all the same."""
    disk = t.modelled_disk(400, "writeBandwidth=20")
    squid = t.running(t.cache_dir("", "staging=2 persist=1", path=disk.path))
    for number, how in enumerate(({}, {"chunked": 1})):
        url = t.url(f"film{number}", size=(60 if t.patched() else 150) * MB, **how)
        first = squid.client.open(url)
        begin = first.read(2 * MB)
        second = squid.client.open(url)
        for reply in finish_all([(first, begin), (second, b"")]):
            reply.check()
        assert t.origin.count(url) == 1, f"origin asked {t.origin.count(url)} times"
        if t.patched():
            t.hit(squid, url)
    if t.patched():
        assert squid.values().number("stores refused") == 0, squid.values().text
        squid.restart()
        t.hit(squid, url)
