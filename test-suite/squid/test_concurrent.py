# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients at the same time, clients and origins that go away, objects removed while they are read."""

import pytest

from squidkit.client import Client, finish_all
from squidkit.processes import wait_for
from testlib.stores import AUFS_CUT, ROCK_BUSY
from testlib.suite import HITS

MB = 1 << 20
NEVER_ABORT = ("quick_abort_min -1 KB",)
ALWAYS_ABORT = ("quick_abort_min 0 KB", "quick_abort_max 0 KB", "quick_abort_pct 100")


def lengths():
    return ({}, {"chunked": 1})


@pytest.mark.known(ROCK_BUSY)
@pytest.mark.quick
def test_join_a_download(t):
    """A second client joins a large download and gets what is there before it ends."""
    squid = t.running()
    for number, how in enumerate(lengths()):
        gate = f"gate{number}"
        url = t.url("film", size=6 * MB, gate=gate, gateat=3 * MB, **how)
        first = squid.client.open(url)
        begin = first.read(2 * MB)
        t.origin.gate(gate).wait_reached()
        second = squid.client.open(url)
        early = b"" if t.store == "rock" else second.read(2 * MB)
        t.origin.gate(gate).open()
        for reply in finish_all([(first, begin), (second, early)]):
            reply.check()
        assert t.origin.count(url) == t.by_store(1, rock=t.origin.count(url)), \
            f"origin asked {t.origin.count(url)} times"
        t.settle(squid, url)
        t.hit(squid, url)
        squid.restart()
        t.hit(squid, url)


@pytest.mark.known(AUFS_CUT)
@pytest.mark.quick
def test_join_a_download_that_is_not_kept(t):
    """The object outgrows max-size while two clients read it: they read on. Of other stores, what they get is whole,
    or seen to be cut."""
    squid = t.running(options=f"max-size={3 * MB}")
    for number in range(6):
        gate = f"gate{number}"
        url = t.url(f"film{number}", size=6 * MB, gate=gate, gateat=MB * (2 + number % 2) - 1000 * number, chunked=1)
        first = squid.client.open(url)
        begin = first.read(MB)
        t.origin.gate(gate).wait_reached()
        second = squid.client.open(url)
        early = b"" if t.store == "rock" else second.read(MB - 50000)
        t.origin.gate(gate).open()
        for reply in finish_all([(first, begin), (second, early)]):
            reply.check_prefix()
            assert not (t.store == "clusterfs" or reply.complete) or reply.check()
        assert squid.client.cached(url) is None
        t.miss(squid, url)


@pytest.mark.known(AUFS_CUT)
@pytest.mark.quick
def test_slow_reader_of_what_is_not_kept(t):
    """A client lags behind when the object turns out too large: it reads on. Of other stores, what it gets is whole,
    or seen to be cut."""
    squid = t.running(options=f"max-size={2 * MB}")
    slow = Client(squid.port, receive_buffer=4096)
    for size in (2 * MB + 10000, 3 * MB):
        for number, how in enumerate(({"chunked": 1}, {"close": 1}, {"chunked": 1})):
            gate = f"gate{size}-{number}"
            url = t.url(f"film{number}", size=size, gate=gate, gateat=MB, **how)
            first = squid.client.open(url)
            begin = first.read(MB // 2)
            t.origin.gate(gate).wait_reached()
            second = slow.open(url)
            early = second.read(10000)
            t.origin.gate(gate).open()
            first.finish(begin).check()
            squid.result(first)
            # Squid sends chunks to this client, whatever it got from the origin: a cut can be seen.
            reply = second.finish(early).check_prefix()
            assert not (t.store == "clusterfs" or reply.complete) or reply.check()


def test_many_join_a_download(t):
    squid = t.running("client_db off")
    url = t.url("film", size=3 * MB, gate="many", gateat=2 * MB)
    first = squid.client.open(url)
    begin = first.read(MB)
    t.origin.gate("many").wait_reached()
    others = [squid.client.open(url) for _ in range(60)]
    t.origin.gate("many").open()
    for reply in finish_all([(first, begin)] + [(other, b"") for other in others]):
        reply.check()
    if t.store != "rock":
        assert t.origin.count(url) == 1, f"origin asked {t.origin.count(url)} times"


def test_client_leaves_fetch_goes_on(t):
    """quick_abort_min -1: the object is completed for the next client."""
    squid = t.running(*NEVER_ABORT)
    for number, how in enumerate(lengths()):
        gate = f"gate{number}"
        url = t.url("film", size=4 * MB, gate=gate, gateat=2 * MB, **how)
        fetch = squid.client.open(url)
        fetch.read(MB)
        t.origin.gate(gate).wait_reached()
        fetch.abort()
        t.origin.gate(gate).open()
        squid.result(fetch)
        wait_for(lambda u=url: complete_in_cache(squid, u), "the object in the cache", 60)
        t.hit(squid, url)
        squid.restart()
        t.hit(squid, url)
        assert t.origin.count(url) == 1


def complete_in_cache(squid, url):
    reply = squid.client.cached(url)
    return reply is not None and reply.check()


@pytest.mark.quick
def test_client_leaves_fetch_ends(t):
    """quick_abort 0: what was begun is dropped, never served as if it were whole."""
    squid = t.running(*ALWAYS_ABORT)
    for number, how in enumerate(lengths()):
        gate = f"gate{number}"
        url = t.url("film", size=4 * MB, gate=gate, gateat=2 * MB, **how)
        fetch = squid.client.open(url)
        fetch.read(MB)
        t.origin.gate(gate).wait_reached()
        fetch.abort()
        squid.result(fetch)
        t.origin.gate(gate).open()
        assert squid.client.cached(url) is None, "a part of an object is in the cache"
        t.miss(squid, url)
        t.settle(squid, url)
        t.hit(squid, url)


@pytest.mark.quick
def test_origin_cuts_body(t):
    """A body that breaks off reaches the client as broken and is not kept."""
    squid = t.running()
    for how in lengths():
        for size, cut in ((5000, 0), (5000, 3000), (MB, 600000), (5 * MB, 4 * MB + 1)):
            url = t.url("broken", size=size, abort=cut, **how)
            reply = squid.client.get(url)
            if reply.status == 200:
                assert not reply.complete, f"{url}: a cut body arrived as complete"
                reply.check_prefix()
            assert squid.client.cached(url) is None, f"{url}: a cut body is in the cache"
            t.origin.change(url)
            t.miss(squid, url, version=1)
            t.settle(squid, url)
            t.hit(squid, url, version=1)


def test_slow_origin(t):
    squid = t.running()
    url = t.url("slow", size=30000, drip=1000, pause=5, chunked=1)
    t.store_object(squid, url)
    t.hit(squid, url)


@pytest.mark.quick
def test_hundred_clients(t):
    squid = t.running(megabytes=256)
    urls = [t.url(f"object{n}", size=(n * 7919) % 60000 + (300000 if n % 40 == 0 else 0)) for n in range(400)]
    t.fetch_all(squid, urls, threads=100)
    load = t.fetch_all(squid, urls + urls[::-1], threads=100)
    codes = t.results(squid, load)
    hits = sum(codes.get(code, 0) for code in HITS)
    assert hits >= t.by_store(800, rock=700, aufs=780), codes


@pytest.mark.quick
def test_more_than_the_store_can_take(t):
    """Twenty clients, three at a time on each object, and little memory: stores are refused in the
    middle while others read along. Every body is whole and right."""
    squid = t.running("client_db off", megabytes=64, options=t.by_store(
        "", clusterfs="cluster-size=64 staging=2 read-cache=2 persist=1"))
    urls = [t.url(f"object{n}", size=(n * 104729) % 1500000, **({"chunked": 1} if n % 3 else {})) for n in range(150)]
    t.fetch_all(squid, [url for url in urls for _ in range(3)], threads=20)
    t.fetch_all(squid, urls[::-1], threads=5)


def reading(t, squid, url):
    """A client that has read a little of a large cached object and then pauses."""
    t.hit(squid, url)
    fetch = squid.client.open(url)
    return fetch, fetch.read(100000)


def test_purge_while_reading(t):
    """The reader gets the whole old object, though its space is wanted for others."""
    squid = t.running(megabytes=96)
    url = t.url("film", size=30 * MB)
    t.store_object(squid, url)
    fetch, begin = reading(t, squid, url)
    reply = squid.client.request(url, method="PURGE")
    assert reply.status == 200, reply.status
    assert squid.client.cached(url) is None, "a purged object is still served"
    t.fetch_all(squid, [t.url(f"other{n}", size=2 * MB) for n in range(60)])
    fetch.finish(begin).check(version=0)
    t.origin.change(url)
    t.miss(squid, url, version=1)


@pytest.mark.known(ROCK_BUSY)
def test_replace_while_reading(t):
    squid = t.running(megabytes=128)
    url = t.url("film", size=20 * MB)
    t.store_object(squid, url)
    fetch, begin = reading(t, squid, url)
    t.origin.change(url)
    squid.client.get(url, Cache_Control="no-cache").check(version=1)
    t.settle(squid, url)
    t.hit(squid, url, version=1)
    fetch.finish(begin).check(version=0)
    t.hit(squid, url, version=1)
    squid.restart()
    t.hit(squid, url, version=1)


def test_eviction_while_reading(t):
    """A reader holds its object while the cache is overwritten several times."""
    squid = t.running(megabytes=64)
    url = t.url("film", size=12 * MB)
    t.store_object(squid, url)
    fetch, begin = reading(t, squid, url)
    t.fetch_all(squid, [t.url(f"other{n}", size=MB + n) for n in range(200)])
    fetch.finish(begin).check()


def test_purge_while_writing(t):
    """An object purged before it was complete is not there afterwards."""
    squid = t.running()
    url = t.url("film", size=4 * MB, gate="write", gateat=3 * MB)
    fetch = squid.client.open(url)
    begin = fetch.read(2 * MB)
    t.origin.gate("write").wait_reached()
    squid.client.request(url, method="PURGE")
    t.origin.gate("write").open()
    fetch.finish(begin).check()
    assert squid.client.cached(url) is None, "an object purged while it was written is in the cache"
    t.miss(squid, url)
