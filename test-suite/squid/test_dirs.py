# SPDX-License-Identifier: GPL-2.0-or-later
"""Several cache_dirs in one Squid, of one type and of several."""

import re
import time

import pytest

from squidkit.processes import wait_for
from testlib.metrics import Page
from testlib.stores import ROCK_INDEX
from testlib.suite import around_restart


def some(t, count=200):
    return [t.url(f"object{n}", size=(n * 7919) % 80000) for n in range(count)]


def all_hit_after_restart(t, squid, urls, at_least):
    t.fetch_all(squid, urls)
    for _ in around_restart(squid):
        found = wait_for(lambda: len(t.survivors(squid, urls)) >= at_least, f"{at_least} objects in the cache")
        assert found


@pytest.mark.known(ROCK_INDEX)
@pytest.mark.quick
def test_two_of_a_kind(t):
    squid = t.running(t.cache_dir(96, name="first"), t.cache_dir(96, name="second"))
    urls = some(t)
    all_hit_after_restart(t, squid, urls, t.by_store(len(urls), rock=190))


@pytest.mark.stores("clusterfs")
def test_both_are_used(t):
    """Round robin spreads over two images; each survives without the other."""
    lines = [t.cache_dir(64, name="first"), t.cache_dir(64, name="second")]
    squid = t.running(*lines, "store_dir_select_algorithm round-robin")
    urls = some(t)
    t.fetch_all(squid, urls)
    squid.stop()
    counts = []
    for line in lines:
        squid.configure(line)
        squid.start()
        counts.append(len(t.survivors(squid, urls)))
        squid.stop()
    assert min(counts) > len(urls) // 4 and sum(counts) == len(urls), counts


def stored(squid):
    """How many objects each of the cache_dirs has, in their order."""
    return [int(number) for number in re.findall(r"^objects: +(\d+)$", squid.mgr("clusterfs"), re.M)]


@pytest.mark.stores("clusterfs")
def test_of_several_sizes(t):
    """With Squid's default way to select one, each dir gets a share of what is stored that suits its size."""
    squid = t.running(t.cache_dir(64, name="small"), t.cache_dir(192, name="large"), max_object_mb=4)
    urls = t.urls("object", 400)
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    small, large = stored(squid)
    assert small + large == 400 and 80 <= small <= 120, (small, large)


@pytest.mark.stores("clusterfs")
def test_one_that_comes_back(t):
    """A dir that was missing for a while gets its share from then on, and not all until it has caught up."""
    squid = t.running(t.cache_dir(64, name="first"), t.cache_dir(64, name="second"), max_object_mb=4)
    squid.stop()
    second = t.image("second")
    second.rename(second.with_suffix(".away"))
    squid.start()
    t.fetch_all(squid, t.urls("before", 200))
    assert stored(squid) == [200]
    second.with_suffix(".away").rename(second)
    squid.reconfigure("in service again")
    urls = t.urls("after", 200)
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    first, second = stored(squid)
    assert first + second == 400 and 80 <= second <= 120, (first, second)


@pytest.mark.stores("clusterfs")
def test_admission_of_both(t):
    """admit=2 with two dirs: the second request stores an object, whichever dir the first one was offered to."""
    squid = t.running(t.cache_dir(64, "admit=2", name="first"), t.cache_dir(64, "admit=2", name="second"),
                      "store_dir_select_algorithm round-robin")
    urls = t.urls("object", 21)  # odd: the other dir's turn at the second request
    for _ in range(2):
        for url in urls:
            t.miss(squid, url)
    for url in urls:
        t.hit(squid, url)
    first, second = stored(squid)
    assert first + second == 21 and min(first, second) >= 10, (first, second)


@pytest.mark.stores("clusterfs")
def test_beside_ufs(t):
    squid = t.running(t.cache_dir(96, "min-size=20000"), t.cache_dir(96, "max-size=19999", store="ufs", name="folder"))
    urls = some(t)
    all_hit_after_restart(t, squid, urls, len(urls))


@pytest.mark.stores("clusterfs")
def test_beside_rock(t):
    squid = t.running(t.cache_dir(96, "min-size=20000"),
                      t.cache_dir(96, "max-size=19999", store="rock", name="folder"), mode="-N")
    urls = some(t)
    all_hit_after_restart(t, squid, urls, 190)


def beside_disker(t, *lines, **settings):
    """A Squid with one worker and no -N beside rock: rock has a process of its own then, the disker, and Squid is in SMP
    mode, where entries are anchored, and deleted through the shared tables. (Squid, URLs of ours, URLs of rock's)"""
    t.needs_several_processes()
    squid = t.squid(t.cache_dir(96, "min-size=21000"), t.cache_dir(96, "max-size=19999", store="rock", name="folder"),
                    *lines, **settings)
    squid.create("--foreground").start()
    ours, theirs = t.urls("ours", 60, 21000), t.urls("theirs", 60, 9000)
    t.fetch_all(squid, ours + theirs)
    squid.wait_packed()
    # Squid does not store one of two responses that arrive at the same time if the hashes of their keys meet in a slot
    # of its table of transients; it does so when it is asked for alone.
    for url in ours:
        if squid.values().number("objects") == len(ours):
            break
        squid.client.get(url).check()
        squid.wait_packed()
    assert squid.values().number("objects") == len(ours), squid.values().text
    return squid, ours, theirs


@pytest.mark.stores("clusterfs")
def test_beside_rock_with_its_disker(t):
    """What lies on clusterfs behaves as without SMP mode, and what rock has is right as long as it is there."""
    squid, ours, theirs = beside_disker(t)
    updated, purged = ours[::2], ours[1::2]
    for stamp in ("one", "two"):
        for url in ours if stamp == "one" else updated:
            t.hit(squid, url)
        for url in updated:
            t.origin.set_headers(url, X_Stamp=stamp)
            reply = squid.client.get(url, Cache_Control="max-age=0").check()
            assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", f"{url}: {squid.result(reply)}"
            assert t.hit(squid, url).headers["X-Stamp"] == stamp
        for url in purged:
            assert squid.client.request(url, method="PURGE").status == (200 if stamp == "one" else 404), url
            assert squid.client.cached(url) is None, url
        t.survivors(squid, theirs)
        for page in ("clusterfs", "storedir", "info", "counters"):
            assert squid.mgr(page).strip(), f"mgr:{page} is empty"
        # each process is asked for it, and the disker, which knows the cache_dir and does not use it, says nothing
        assert Page(squid.mgr("clusterfs_metrics")).number("clusterfs_objects") == len(updated)
        squid.restart()
        for url in updated:
            assert t.hit(squid, url).headers["X-Stamp"] == stamp
        for url in purged:
            assert squid.client.cached(url) is None, url
    for url in purged:
        t.miss(squid, url)
        t.hit(squid, url)
    t.survivors(squid, theirs)


@pytest.mark.stores("clusterfs")
def test_beside_rock_with_shared_memory(t):
    """With a shared memory cache, Squid's core tells only that of new headers where it has the object; what the disk has
    is older then, and is dropped. Those that were not revalidated stay, and none comes back that was deleted or has old
    headers."""
    if "Version 6." in t.squid().command("-v").stdout:
        pytest.skip("Squid 6 with workers may abort when it ends: ~Controller() frees entries that ask for Store::Root()")
    squid, ours, theirs = beside_disker(t, "memory_cache_shared on", mem_object_kb=30)
    for _ in range(2):
        for url in ours:
            t.hit(squid, url)
    assert squid.values().number("objects") == len(ours), squid.values().text
    squid.restart()
    for url in ours:
        t.hit(squid, url)
    updated, purged = ours[::2], ours[1::2]
    for turn in range(3):
        for url in ours:
            squid.client.get(url).check()
        for url in updated:
            t.origin.set_headers(url, X_Stamp=f"turn {turn}")
            assert squid.client.get(url, Cache_Control="max-age=0").check().headers["X-Stamp"] == f"turn {turn}", url
        for url in purged:
            assert squid.client.request(url, method="PURGE").status in (200, 404), url
            assert squid.client.cached(url) is None, url
        for _ in around_restart(squid):
            for url in updated:
                reply = squid.client.cached(url)
                assert reply is None or reply.check().headers["X-Stamp"] == f"turn {turn}", url
            for url in purged:
                assert squid.client.cached(url) is None, url
            t.survivors(squid, theirs)


@pytest.mark.stores("clusterfs")
def test_new_headers_of_the_same_second(t):
    """With a shared memory cache, new headers need not bring new times: the origin may send the same Date twice. What
    the disk has is dropped then, too."""
    if "Version 6." in t.squid().command("-v").stdout:
        pytest.skip("Squid 6 with workers may abort when it ends: ~Controller() frees entries that ask for Store::Root()")
    squid, ours, theirs = beside_disker(t, "memory_cache_shared on", mem_object_kb=30)
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    for stamp in ("first", "second"):
        for url in ours:
            t.origin.set_headers(url, X_Stamp=stamp, Date=date)
            assert squid.client.get(url, Cache_Control="no-cache" if stamp == "first" else "max-age=0").check() \
                .headers["X-Stamp"] == stamp, url
        if stamp == "first":
            squid.wait_packed()
    for _ in around_restart(squid):
        for url in ours:
            reply = squid.client.cached(url)
            assert reply is None or reply.check().headers["X-Stamp"] == "second", url
        t.survivors(squid, theirs)


@pytest.mark.stores("clusterfs")
def test_one_of_two_missing(t):
    """A dead cache_dir does not take the other one with it."""
    squid = t.running(t.cache_dir(64, name="first"), t.cache_dir(64, name="second"))
    squid.stop()
    t.image("second").unlink()
    squid.start(wait=False)
    squid.wait_ready()
    urls = some(t, 50)
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    squid.restart()
    for url in urls:
        t.hit(squid, url)


@pytest.mark.stores("clusterfs")
def test_no_other_files(t):
    """The image is all there is: no swap.state, nothing beside it."""
    squid = t.running()
    urls = some(t, 50)
    t.fetch_all(squid, urls)
    squid.stop()
    beside = sorted(p.name for p in t.image().parent.iterdir() if p.name != "squid")
    assert beside == [t.image().name], beside
    assert not list(squid.dir.glob("swap.state*"))
    squid.start()
    for url in urls:
        t.hit(squid, url)
