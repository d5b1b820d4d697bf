# SPDX-License-Identifier: GPL-2.0-or-later
"""Several workers with one cache_dir: whatever one of them stores, changes or deletes, the others serve so."""

import itertools
import os
import re
import signal

import pytest

from squidkit.processes import wait_for
from testlib.live import answer, finished
from testlib.metrics import Page
from testlib.smp import WORKERS, Workers

pytestmark = pytest.mark.stores("clusterfs")


@pytest.mark.quick
def test_what_one_stores_all_have(t):
    workers = Workers(t)
    urls = t.urls("object", 30, 9000) + t.urls("large", 3, 3000000)
    workers.store(urls)
    for _ in range(2):
        asked = t.origin.total()
        for n, url in enumerate(urls):
            for worker in range(WORKERS):
                reply = workers.get(worker, url)
                assert workers.squid.result(reply) == "TCP_HIT", f"{url} by worker {worker}: {workers.squid.result(reply)}"
        assert t.origin.total() == asked
        workers.restart()


@pytest.mark.quick
def test_deletes_and_changes_hold_for_all(t):
    """At once: the next request goes to another worker as soon as the answer is there."""
    workers = Workers(t)
    purged, reloaded, updated = t.urls("purged", 20, 9000), t.urls("reloaded", 20, 9000), t.urls("updated", 20, 9000)
    workers.store(purged + reloaded + updated)
    for turn in range(3):
        for n, url in enumerate(purged):
            assert workers.client(n).request(url, method="PURGE").status == 200, url
            for other in range(WORKERS):
                assert workers.cached(other, url) is None, url
            workers.get(n + turn, url)
        for n, url in enumerate(reloaded):
            t.origin.change(url)
            version = workers.get(n, url, Cache_Control="no-cache").version
            for other in range(WORKERS):
                reply = workers.cached(other, url)
                assert reply is None or reply.check().version == version, url
        for n, url in enumerate(updated):
            t.origin.set_headers(url, X_Stamp=f"turn {turn}")
            assert workers.get(n, url, Cache_Control="max-age=0").headers["X-Stamp"] == f"turn {turn}", url
            for other in range(WORKERS):
                reply = workers.cached(other, url)
                assert reply is None or other != n % WORKERS or reply.check().headers["X-Stamp"] == f"turn {turn}", url
    workers.restart()
    for n, url in enumerate(updated):
        reply = workers.cached(n, url)
        assert reply is None or reply.check().headers["X-Stamp"] == "turn 2", url


def test_a_worker_is_killed(t):
    workers = Workers(t)
    urls = t.urls("object", 60, 9000)
    workers.store(urls)
    for number in range(WORKERS):
        before = workers.pids("squid-")
        workers.kill(before[f"squid-{number + 1}"])
        wait_for(lambda old=before[f"squid-{number + 1}"], name=f"squid-{number + 1}": workers.pids("squid-").get(name, old) != old, "a new worker")
        workers.wait_connected()
        after = workers.pids("squid-")
        assert {k: v for k, v in before.items() if k != f"squid-{number + 1}"} == {k: v for k, v in after.items() if k != f"squid-{number + 1}"}
        for url in urls:
            reply = workers.cached(number, url)
            assert reply is not None, url
            reply.check()


def test_the_owner_is_killed(t):
    """It comes back by itself. Meanwhile clients have misses, and nobody waits or fails. What they got from the origin
    meanwhile may be newer than what the disk has, which is not served any more then."""
    workers = Workers(t)
    urls = t.urls("object", 60, 9000)
    workers.store(urls)
    workers.wait_packed()
    for turn in range(2):
        owner = workers.owner()
        workers.kill(owner)
        for n, url in enumerate(urls[:20]):
            workers.get(n, url)
        gone = urls[20 + turn]
        assert workers.client(turn).request(gone, method="PURGE").status in (200, 404)
        workers.wait_connected()
        assert workers.owner() != owner
        for other in range(WORKERS):
            assert workers.cached(other, gone) is None
        for n, url in enumerate(urls[21 + turn:]):
            reply = workers.cached(n, url)
            assert reply is not None, url
            reply.check()


def test_the_owner_hangs(t):
    """A stopped owner holds nobody up: workers go on without it."""
    workers = Workers(t)
    urls = t.urls("object", 30, 9000)
    workers.store(urls)
    workers.wait_packed()
    owner = workers.owner()
    os.kill(owner, signal.SIGSTOP)
    try:
        for n, url in enumerate(t.urls("other", 30, 9000)):
            workers.get(n, url)
        wait_for(lambda: all(workers.cached(n, urls[0]) is None for n in range(WORKERS)), "no worker that counts on the owner", 30)
        for n, url in enumerate(urls[:10]):
            workers.get(n, url)
        for n, url in enumerate(urls[10:20]):
            assert workers.client(n).request(url, method="PURGE").status == 404, url
    finally:
        os.kill(owner, signal.SIGCONT)
    workers.wait_connected()
    for n, url in enumerate(urls[:20]):  # those that the origin has answered meanwhile may be new
        assert workers.cached(n, url) is None, url
    for n, url in enumerate(urls[20:]):
        assert workers.cached(n, url) is not None, url
    for n, url in enumerate(urls[:5]):
        workers.get(n, url)
        wait_for(lambda n=n, url=url: workers.cached(n + 1, url) is not None, "a hit")


def test_objects_come_in_and_go_out_by_all(t):
    """Range, HEAD, an aborted transfer, and several clients of one object that comes in."""
    workers = Workers(t)
    url = t.url("ranges", size=500000)
    workers.get(0, url)
    wait_for(lambda: workers.cached(1, url) is not None, "the object")
    for worker in range(WORKERS):
        workers.client(worker).get(url, Range="bytes=1000-20999").check_range(1000, 21000)
        assert workers.client(worker).request(url, method="HEAD").status == 200
    aborted = t.url("aborted", size=3000000, drip=50000)
    fetch = workers.client(0).open(aborted)
    fetch.read(100000)
    fetch.abort()
    for worker in range(WORKERS):
        workers.get(worker, aborted)
    slow = t.url("slow", size=2000000, drip=100000)
    fetches = [workers.client(0).open(slow) for _ in range(3)] + [workers.client(1).open(slow)]
    for each in fetches:
        each.finish().check()


def test_squid_has_no_room_for_its_entry(t):
    """Squid's table of entries in use has one place for many objects. Who finds it taken asks the origin server; the object stays."""
    workers = Workers(t, t.cache_dir(), "shared_transient_entries_limit 1")
    urls = t.urls("object", 5, 9000)

    def stored(n, url):
        workers.get(n, url)
        return workers.cached(n + 1, url)

    numbers = itertools.count()

    def hold():
        taker = workers.client(0).open(t.url(f"holder{next(numbers)}", size=2000000, drip=20000, pause=500))
        taker.read(40000)
        if workers.cached(0, urls[0]) is None:
            return taker
        taker.abort()
        return None

    for n, url in enumerate(urls):  # the one before may have the place still
        wait_for(lambda n=n, url=url: stored(n, url), f"{url} in the store", 30)
    holder = wait_for(hold, "the place taken", 30)  # the last one may have it still, too
    for n, url in enumerate(urls):
        assert workers.cached(n, url) is None, f"{url}: its place was free"
        workers.get(n, url)
    assert workers.client(1).request(urls[-1], method="PURGE").status == 404, "Squid has no room for that, either"
    holder.abort()
    assert workers.cached(1, urls.pop()) is None, "but it is gone"
    for n, url in enumerate(urls):
        wait_for(lambda n=n, url=url: workers.cached(n + 1, url) is not None, f"{url}, which was in the store", 10)
        workers.get(n + 1, url)


def test_reconfigure_and_rotate(t):
    workers = Workers(t)
    urls = t.urls("object", 30, 9000)
    workers.store(urls)
    for order in ("reconfigure", "rotate", "reconfigure"):
        assert workers.squid.control(order).returncode == 0
        wait_for(workers.squid.answers, "squid answering again")
        workers.wait_connected()
        for n, url in enumerate(urls):
            reply = workers.cached(n + 1, url)
            assert reply is not None, f"{url} after {order}"
            reply.check()
    workers.squid.stop()
    assert workers.squid.cache_log.lines("was not stopped cleanly") == []
    workers.squid.start()
    assert workers.squid.values()["last stop"] == "clean"


def packed(squid):
    """Whether all that was stored is on the disks."""
    return set(re.findall(r"staged objects: +(\d+)", squid.mgr("clusterfs"))) == {"0"}


def test_pages_of_all_owners(t):
    """List, map, find and metrics of two cache_dirs come from two processes, by one page."""
    workers = Workers(t, t.cache_dir(64, "persist=1", name="first"), t.cache_dir(64, "persist=1", name="second"))
    urls = t.urls("object", 60, 20000)
    for n, url in enumerate(urls):
        workers.get(n, url)
    wait_for(lambda: packed(workers.squid), "everything packed")
    paths = [str(t.image(name)) for name in ("first", "second")]
    listed = [answer(workers.squid, "list", dir=path) for path in paths]
    found = re.findall(r"^object: .*\t(http\S+)\t", "".join(page.text for page in listed), re.MULTILINE)
    assert sorted(found) == sorted(urls), listed[0].text
    for path, page in zip(paths, listed):
        assert page["end"] == "yes" and page["clusters unread"] == "0"
        assert answer(workers.squid, "map", dir=path)["cache_dir"] == path
        assert page.text.count("object: ") == workers.dir_objects(path) > 0
    for url in urls[:3]:
        assert answer(workers.squid, "find", url=url)["cache_dir"] in paths
    metrics = Page(workers.squid.mgr("clusterfs_metrics"))
    assert {dict(labels)["path"] for _, labels in metrics.samples} == set(paths)
    assert sum(metrics.of("clusterfs_objects").values()) == len(urls)
    for n, url in enumerate(urls):
        workers.get(n + 1, url)

    def waits():
        return Page(workers.squid.mgr("clusterfs_metrics")).of("clusterfs_client_wait_seconds_count", answer="hit")
    wait_for(lambda: sum(waits().values()) == len(urls), "the owners knowing of all hits")


def test_objects_are_in_each_digest(t):
    """Each worker lists the objects by itself; the process that has the device lists none. (Squid's mgr:objects would do so, too, but
    with workers that page ends after 20 KB of a process, with any store: Squid's own icons fill them.)"""
    t.needs_lists()
    workers = Workers(t, t.cache_dir(64, "list=on"), "digest_rebuild_period 1 second")
    urls = t.urls("object", 50, 3000)
    workers.store(urls)

    def all_have_them():
        *counts, others = map(int, re.findall(r"entries: count: (\d+)", workers.squid.mgr("store_digest")))
        return counts == [others + len(urls)] * WORKERS  # Squid's own icons are in all of them
    wait_for(all_have_them, "the objects in each digest", 60)


def test_a_purge_reaches_all(t):
    """By prefix, of what is staged and on the disk, in two cache_dirs, in Squid's own memory cache, and in use."""
    workers = Workers(t, t.cache_dir(64, "persist=1", name="first"), t.cache_dir(64, "persist=1", name="second"), mem_mb=16, mem_object_kb=64)
    doomed, kept = t.urls("doomed", 40, 9000) + [t.url("doomed-large", size=900000)], t.urls("kept", 10, 9000)
    for n, url in enumerate(doomed[::2] + kept):
        workers.get(n, url)
    wait_for(lambda: packed(workers.squid), "everything packed")
    for n, url in enumerate(doomed[1::2]):
        workers.get(n, url)
    prefix = t.url("doomed", size=1).partition("doomed")[0] + "doomed"
    wait_for(lambda: workers.objects_of_all() == len(doomed + kept), "all objects in the store")
    answer(workers.squid, "purge", prefix=prefix)
    values = finished(workers.squid)
    assert values.number("objects removed") == len(doomed), values.text
    for n, url in enumerate(doomed):
        for worker in range(WORKERS):
            assert workers.cached(worker, url) is None, url
        t.origin.change(url)
        workers.client(n).get(url).check(version=1)
    for n, url in enumerate(kept):
        t.origin.change(url)
        workers.client(n).get(url).check(version=0)


def test_a_clear_reaches_all(t):
    """What workers have in use, and what comes in, too; its client gets it to the end."""
    workers = Workers(t, t.cache_dir(64, "persist=1"))
    urls = t.urls("object", 20, 9000)
    workers.store(urls)
    held = workers.client(1).open(t.url("held", size=3000000, drip=30000, pause=100))
    begun = held.read(100000)
    answer(workers.squid, "clear", dir=str(t.image()))
    values = finished(workers.squid)
    assert values.number("objects removed") == len(urls) and values.number("objects left") == 0, values.text
    held.finish(begun).check()
    for n, url in enumerate(urls):
        assert workers.cached(n, url) is None, url
    assert workers.cached(0, held.url) is None
    assert workers.objects() == 0
    workers.store(urls)
    workers.wait_packed()
    workers.squid.kill().start()
    workers.wait_connected()
    for n, url in enumerate(urls):
        assert workers.cached(n, url) is not None, f"{url}, which was stored after the clear"


def test_two_owners(t):
    """Each has an owner of its own."""
    workers = Workers(t, t.cache_dir(64, name="first"), t.cache_dir(64, name="second"))
    urls = t.urls("object", 40, 9000)
    for n, url in enumerate(urls):
        workers.get(n, url)
    for n, url in enumerate(urls):
        wait_for(lambda n=n, url=url: workers.cached(n + 1, url) is not None, url)
