# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk that fails while Squid uses it, on the disk model."""

import itertools
import time

import pytest

from squidkit.processes import free_port, wait_for
from testlib import datagrams
from testlib.devices import zero_index_log
from testlib.load import Load
from testlib.stores import LIVELY
from testlib.suite import around_restart

pytestmark = pytest.mark.stores("clusterfs")


def store_all(t, squid, urls):
    """All of them get stored and packed."""
    for first in range(0, len(urls), 100):  # 6 MB of them: staging has room, however slow the disk is
        t.fetch_all(squid, urls[first:first + 100])
        squid.wait_packed()


def filled(t, count=300):
    """(disk, Squid, URLs): all of them are on the disk, few in memory."""
    disk = t.modelled_disk(256, "readLatency=20")
    squid = t.running(t.cache_dir("", f"staging=8 read-cache=2 {LIVELY}", path=disk.path))
    urls = t.urls("object", count, 60000)
    store_all(t, squid, urls)
    return disk, squid, urls


@pytest.mark.needs("modelled disk")
@pytest.mark.quick
def test_dies_under_load_and_returns(t):
    """From one moment on every request fails: once the disk is given up Squid serves all from the origin, and says
    so a few times. A start with the disk back has what was on it."""
    disk, squid, urls = filled(t)
    newer = t.urls("newer", 600, 60000)
    load = Load(squid.port, [url for pair in zip(newer, urls * 2) for url in pair], threads=10, tolerant=True)
    wait_for(lambda: load.done >= 200, "some load")
    disk.control("cut")
    wait_for(lambda: squid.values()["state"].startswith("offline"), "Squid to give the disk up")
    load.stop().join()
    for _ in range(2):
        t.fetch_all(squid, urls[:100] + t.urls("later", 100, 60000))
    lines = squid.cache_log.lines("clusterfs", squid.started_at)
    assert 1 <= len(lines) <= 60, f"{len(lines)} lines about clusterfs:\n" + "\n".join(lines[:80])
    disk.control("revive")
    squid.restart()
    assert squid.values()["state"].startswith("serving"), squid.values().text
    found = t.survivors(squid, urls)
    assert len(found) == len(urls), f"{len(found)} of {len(urls)} that were on the disk"
    t.fetch_all(squid, newer)


@pytest.mark.needs("modelled disk")
def test_given_up_and_back_by_reconfigure(t):
    """A disk that was given up while Squid runs is used again from a reconfiguration on that finds it alive. Nothing
    that was deleted or replaced meanwhile comes back, and what else it has is revalidated before its use."""
    disk, squid, urls = filled(t)
    deleted, changed, bait, kept = urls[:10], urls[10:20], urls[20:200], urls[200:]
    large = t.url("large", size=4 << 20)
    t.store_object(squid, large)
    squid.wait_packed()
    slow = squid.client.open(large)
    begin = slow.read(100000)
    disk.control("cut")
    t.fetch_all(squid, bait)
    wait_for(lambda: squid.values()["state"].startswith("offline"), "Squid to give the disk up")

    def change_and_delete(which):
        for url in changed[which]:
            t.origin.change(url)
            t.miss(squid, url, version=1)
        for url in deleted[which]:
            squid.client.request(url, method="POST", body=b"changes it")

    change_and_delete(slice(0, 5))
    squid.reconfigure("ERROR: cache_dir clusterfs is not used: ")
    change_and_delete(slice(5, 10))
    disk.control("revive")
    squid.reconfigure("is in service again")
    wait_for(lambda: squid.values()["state"].startswith("serving"), "the index")
    slow.finish(begin).check_prefix()
    for url in deleted:
        t.miss(squid, url)
    for url in changed:
        assert squid.client.get(url).check().version == 1, url
    time.sleep(1.1)  # so that the origin's Date is a later one
    for url in kept:
        result = squid.result(squid.client.get(url).check())
        assert result == "TCP_REFRESH_UNMODIFIED", f"{url}: {result}"
    for _ in around_restart(squid):
        for url in kept:
            t.hit(squid, url)


@pytest.mark.needs("modelled disk")
def test_rebuilding_ends(t):
    """Squid counts a cache_dir as rebuilding until its index is loaded; with -Y its siblings hear of it by ICP. It ends when
    the disk was slow, when it failed meanwhile, when it is dead, and before a scan has ended."""
    port = free_port()
    disk = t.modelled_disk(256, "readLatency=20")
    squid = t.squid(f"icp_port {port}", "icp_access allow localhost", t.cache_dir("", LIVELY, path=disk.path)).create()
    number = itertools.count()

    def answer():
        return datagrams.icp_query(port, t.url(f"never{next(number)}"))

    def ends():
        wait_for(lambda: answer() == datagrams.ICP_MISS, "the end of the rebuilding as siblings see it", 30)
        squid.wait_ready()

    def start(*control):
        for line in control:
            disk.control(line)
        squid.start("-Y", wait=False)
        wait_for(squid.answers, "squid answering on its port")

    start()
    ends()
    urls = t.urls("object", 300, 60000)
    t.fetch_all(squid, urls)
    squid.stop()
    for how in ("slow", "failing"):
        start("fault read delay value=4000 offset=2M")
        assert answer() == datagrams.ICP_MISS_NOFETCH, how
        disk.control("clear")
        if how == "failing":
            disk.control("cut")
        ends()
        state = "serving" if how == "slow" else "offline"
        wait_for(lambda s=state: squid.values()["state"].startswith(s), state)
        squid.stop()
    start()
    ends()
    assert squid.values()["state"].startswith("not used"), squid.values().text
    squid.stop()
    disk.control("revive")
    zero_index_log(disk.path)
    start("clear", "fault read delay value=300 offset=8M")
    ends()
    assert squid.values()["state"].startswith("recovering"), squid.values().text
    disk.control("clear")
    wait_for(lambda: squid.values()["state"].startswith("serving"), "the end of the scan")
    for url in urls[::10]:
        result = squid.result(squid.client.get(url).check())
        assert result == "TCP_REFRESH_UNMODIFIED", f"{url}: {result}"


@pytest.mark.needs("modelled disk")
def test_some_places_are_unreadable(t):
    """Objects there are fetched anew, and after a while all lie elsewhere. The others stay hits."""
    disk, squid, urls = filled(t)
    squid.restart()
    disk.control("fault read error offset=8M length=6M")
    t.fetch_damaged(squid, urls)
    values = squid.values()
    assert values.number("read errors") > 0 and values["state"].startswith("serving"), values.text
    asked = sum(t.origin.count(url) - 1 for url in urls)
    assert 0 < asked < len(urls) / 2, f"{asked} of {len(urls)} were fetched anew for 6 of at least 18 MB"
    for _ in range(20):
        squid.wait_packed()
        squid.restart()
        if len(t.survivors(squid, urls)) == len(urls):
            break
        t.fetch_damaged(squid, urls)
    for url in urls:
        t.hit(squid, url)


@pytest.mark.needs("modelled disk")
def test_some_writes_fail(t):
    """What could not be written goes to other clusters, and the bad ones are put out of use."""
    disk, squid, urls = filled(t, 100)
    disk.control("fault write error offset=16M length=3M")  # twelve clusters, all written at once
    newer = t.urls("newer", 400, 60000)
    store_all(t, squid, newer)
    values = squid.values()
    assert values.number("write errors") > 0 and values.number("clusters quarantined") > 0, values.text
    assert values["state"].startswith("serving"), values.text
    squid.restart()
    for url in urls + newer:
        t.hit(squid, url)


@pytest.mark.needs("modelled disk")
def test_reads_that_take_seconds(t):
    """Slow is not broken: hits are late, and right."""
    disk, squid, urls = filled(t, 60)
    squid.restart()
    disk.control("fault read delay value=2000 count=12")
    t.fetch_all(squid, urls, threads=12)
    assert all(t.origin.count(url) == 1 for url in urls), "the origin was asked again"
    values = squid.values()
    assert values.number("read errors") == 0 and values["state"].startswith("serving"), values.text
