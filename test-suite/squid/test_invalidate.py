# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects that must go, or change: PURGE, unsafe methods, revalidation."""

import email.utils
import itertools
import time

import pytest

from squidkit.processes import wait_for
from testlib.stores import ROCK_PURGE, ROCK_UPDATE, UFS_304
from testlib.suite import HITS, around_restart

MB = 1 << 20
NUMBERS = itertools.count(1)


def http_date(seconds):
    """A time since 1970 as Date has it."""
    return email.utils.formatdate(seconds, usegmt=True)


@pytest.mark.known(ROCK_PURGE)
@pytest.mark.quick
def test_purge(t):
    squid = t.running()
    urls = [t.url(f"object{n}", size=n * 3001) for n in range(30)] + [t.url("large", size=3 * MB)]
    for url in urls:
        t.store_object(squid, url)
    for url in urls[::2]:
        assert squid.client.request(url, method="PURGE").status == 200
    assert squid.client.request(t.url("never"), method="PURGE").status == 404
    for _ in around_restart(squid):
        for number, url in enumerate(urls):
            if number % 2:
                t.hit(squid, url)
            else:
                assert squid.client.cached(url) is None, f"{url}: purged, but still there"
    for url in urls[::2]:
        t.origin.change(url)
        t.miss(squid, url, version=1)
        t.settle(squid, url)
        t.hit(squid, url, version=1)


@pytest.mark.stores("clusterfs")
def test_purge_then_kill(t):
    """Once the delete has reached the log, a crash does not bring the object back."""
    squid = t.running(options="persist=1 delete-time=1")
    urls = [t.url(f"object{n}", size=20000) for n in range(20)]
    for url in urls:
        t.store_object(squid, url)
    squid.wait_packed()
    for url in urls[::2]:
        assert squid.client.request(url, method="PURGE").status == 200
    wait_for(lambda: squid.values().number("deletes not logged yet") == 0, "the journal")
    squid.kill().start()
    for number, url in enumerate(urls):
        if number % 2:
            t.hit(squid, url)
        else:
            assert squid.client.cached(url) is None, f"{url}: purged, but back after the crash"


@pytest.mark.quick
def test_unsafe_methods(t):
    squid = t.running()
    for method in ("POST", "PUT", "DELETE"):
        target = t.url(f"target-{method}", size=5000)
        other = t.url(f"other-{method}", size=6000)
        third = t.url(f"third-{method}", size=7000)
        form = t.url(f"form-{method}", location=t.origin.path(other), clocation=t.origin.path(third))
        for url in (target, other, third):
            t.store_object(squid, url)
        reply = squid.client.request(target, method=method, body=b"x=1")
        assert reply.status == 200
        assert squid.client.cached(target) is None, f"{method}: its own URL is still cached"
        assert squid.client.request(form, method=method, body=b"x=1").status == 200
        assert squid.client.cached(other) is None, f"{method}: Location is still cached"
        assert squid.client.cached(third) is None, f"{method}: Content-Location is still cached"
        t.origin.change(target)
        t.miss(squid, target, version=1)


@pytest.mark.known(UFS_304 | ROCK_UPDATE)
@pytest.mark.quick
def test_revalidated_headers_are_kept(t):
    """The headers of a 304 are on every later hit, and after a restart; small and large objects."""
    squid = t.running()
    urls = [t.url("object", size=size, **how) for size in (0, 3000, 4096, 100000, 300000, 3 * MB, 20 * MB)
            for how in ({}, {"chunked": 1})]
    for url in urls:
        t.origin.set_headers(url, X_Stamp="old", X_Gone="yes")
        t.store_object(squid, url)
    for stamp in ("new" + "w" * 3000, "third"):
        for url in urls:
            t.origin.set_headers(url, X_Stamp=stamp, Cache_Control="max-age=7200")
            reply = squid.client.get(url, Cache_Control="max-age=0").check()
            assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", f"{url}: {squid.result(reply)}"
            assert reply.headers["X-Stamp"] == stamp
        for _ in around_restart(squid):
            for url in urls:
                if t.store != "clusterfs":  # ours are there with the very next request
                    wait_for(lambda u=url, s=stamp: squid.client.get(u).check().headers["X-Stamp"] == s,
                             f"{url}: the new header on a hit", 5)
                reply = t.hit(squid, url)
                assert reply.headers["X-Stamp"] == stamp, f"{url}: {reply.headers['X-Stamp']}"
                assert reply.headers["Cache-Control"] == "max-age=7200"
    assert all(t.origin.count(url, "304") == 2 for url in urls)


@pytest.mark.stores("clusterfs")
def test_a_new_date_costs_little(t):
    """A 304 with nothing new but times does not write a large object again, until its stored Date is old."""
    squid = t.running()
    small, large = t.url("small", size=20000), t.url("large", size=150000)
    now = time.time()
    for url in (small, large):
        t.origin.set_headers(url, Date=http_date(now - 10000), X_Stamp="old", Cache_Control="max-age=90000")
        t.store_object(squid, url)

    def updates(url, age, **headers):
        before = squid.values().number("headers updated")
        t.origin.set_headers(url, Date=http_date(now - age), Cache_Control="max-age=90000", **headers)
        reply = squid.client.get(url, Cache_Control="max-age=0").check()
        assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", squid.result(reply)
        reply = t.hit(squid, url)
        assert reply.headers["X-Stamp"] == headers["X_Stamp"]
        return squid.values().number("headers updated") - before

    assert updates(small, 9990, X_Stamp="old") == 1
    for age in (9990, 9900, 9000, 7000):
        assert updates(large, age, X_Stamp="old") == 0, age
    assert updates(large, 6900, X_Stamp="new") == 1
    assert updates(large, 6800, X_Stamp="new") == 0
    assert updates(large, 1000, X_Stamp="new") == 1, "the Date on the disk is more than an hour old"
    squid.restart()
    assert t.hit(squid, large).headers["Date"] == http_date(now - 1000)


@pytest.mark.stores("clusterfs")
def test_times_without_new_headers_are_kept(t):
    """A 304 whose Date does not reach the disk still makes a large object fresh, also after a restart."""
    squid = t.running("refresh_pattern . 0 0% 0")
    url = t.url("object", size=150000)
    now = time.time()
    t.origin.set_headers(url, Date=http_date(now - 2000), Cache_Control="max-age=1000")
    t.miss(squid, url)
    t.origin.set_headers(url, Date=http_date(now - 10), Cache_Control="max-age=1000")
    reply = squid.client.get(url).check()
    assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", squid.result(reply)
    assert squid.values().number("headers updated") == 0
    t.hit(squid, url)
    squid.restart()
    t.hit(squid, url)


@pytest.mark.stores("clusterfs")
def test_headers_larger_than_a_cluster(t):
    """A 304 for an object whose headers do not fit one cluster: never a hit with headers that are out of date."""
    squid = t.running("reply_header_max_size 2 MB")
    for filler, size in ((100000, 40000), (400000, 40000), (400000, 2 * MB)):
        url = t.url("object", size=size, hdr=filler)
        t.origin.set_headers(url, X_Stamp="old")
        t.store_object(squid, url)
        for _ in around_restart(squid):
            stamp = f"new{next(NUMBERS)}"
            t.origin.set_headers(url, X_Stamp=stamp)
            squid.client.get(url, Cache_Control="max-age=0").check()
            assert squid.client.get(url).check().headers["X-Stamp"] == stamp
        squid.restart()
        assert squid.client.get(url).check().headers["X-Stamp"] == stamp


@pytest.mark.known(UFS_304 | ROCK_UPDATE)
def test_revalidated_expiry_is_kept(t):
    """A stale object that a 304 made fresh is served without asking again."""
    squid = t.running("refresh_pattern . 0 0% 0")
    url = t.url("object", size=50000)
    t.origin.set_headers(url, Cache_Control="max-age=0")
    t.miss(squid, url)
    t.origin.set_headers(url, Cache_Control="max-age=5000")
    reply = squid.client.get(url).check()
    assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", squid.result(reply)
    wait_for(lambda: squid.result(squid.client.get(url).check()) in HITS, "a hit", 5)
    squid.restart()
    asked = t.origin.count(url)
    t.hit(squid, url)
    assert t.origin.count(url) == asked


@pytest.mark.known(ROCK_UPDATE)
def test_changed_at_origin(t):
    squid = t.running()
    urls = [t.url("object", size=size) for size in (1000, 50000, 2 * MB)]
    for url in urls:
        t.store_object(squid, url)
        t.origin.change(url)
        reply = squid.client.get(url, Cache_Control="max-age=0").check(version=1)
        assert squid.result(reply) == "TCP_REFRESH_MODIFIED", squid.result(reply)
        t.settle(squid, url)
        t.hit(squid, url, version=1)
        t.origin.change(url)
        squid.client.get(url, Cache_Control="no-cache").check(version=2)
        t.settle(squid, url)
        t.hit(squid, url, version=2)
    squid.restart()
    for url in urls:
        t.hit(squid, url, version=2)


def test_revalidation_while_reading(t):
    """A reader of the old object is not disturbed when its headers are replaced."""
    squid = t.running()
    url = t.url("film", size=20 * MB)
    t.origin.set_headers(url, X_Stamp="old")
    t.store_object(squid, url)
    t.hit(squid, url)
    fetch = squid.client.open(url)
    begin = fetch.read(100000)
    t.origin.set_headers(url, X_Stamp="n" * 5000)
    reply = squid.client.get(url, Cache_Control="max-age=0").check()
    assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", squid.result(reply)
    fetch.finish(begin).check()
    t.hit(squid, url)


@pytest.mark.stores("clusterfs")
def test_revalidated_then_killed(t):
    """A header update that was packed is there after a crash; before that, old or new, never a mixture."""
    squid = t.running(options="persist=1")
    urls = [t.url("object", size=size) for size in (3000, 100000, 3 * MB)]
    for url in urls:
        t.origin.set_headers(url, X_Stamp="old")
        t.store_object(squid, url)
    squid.wait_packed()
    for url in urls:
        t.origin.set_headers(url, X_Stamp="new" * 300)
        squid.client.get(url, Cache_Control="max-age=0").check()
    squid.kill().start()
    for reply in [squid.client.cached(url) for url in urls]:
        assert reply is None or reply.check().headers["X-Stamp"] in ("old", "new" * 300)
    for url in urls:
        squid.client.get(url, Cache_Control="max-age=0").check()
        assert t.hit(squid, url).headers["X-Stamp"] == "new" * 300
    squid.wait_packed()
    squid.kill().start()
    for url in urls:
        assert t.hit(squid, url).headers["X-Stamp"] == "new" * 300
