# SPDX-License-Identifier: GPL-2.0-or-later
"""A full cache that goes on: replacement, several times around, every hit verified."""

import random

import pytest

from testlib.load import Load
from testlib.suite import HITS

MB = 1 << 20
SMALL_DIR = {"clusterfs": "cluster-size=128 staging=16 read-cache=4 persist=1"}


def sizes(chance):
    """Like the web: many small, few large."""
    return int(min(2 * MB, chance.paretovariate(0.9) * 8000))


@pytest.mark.quick
def test_wraps_around(t):
    """Stores five times what fits, with requests for older objects between."""
    megabytes = 48
    squid = t.running("client_db off", megabytes=megabytes, options=SMALL_DIR.get(t.store, ""))
    chance = random.Random(1)
    urls, total, order = [], 0, []
    while total < 4.5 * megabytes * MB:
        size = sizes(chance)
        total += size
        urls.append(t.url(f"object{len(urls)}", size=size, **({"chunked": 1} if len(urls) % 4 == 0 else {})))
        order.append(urls[-1])
        if len(urls) > 10:
            order.append(urls[-1 - min(len(urls) - 1, int(chance.expovariate(1 / 300)))])
    load = Load(squid.port, order, threads=6).join()
    codes = t.results(squid, load)
    hits = sum(codes.get(code, 0) for code in HITS)
    # the sanitized one is slow, so that the disk holds up more stores
    assert hits > len(order) * t.by_store(0.3 if t.sanitized() else 0.35, rock=0.2, ufs=0.1, aufs=0.1), codes
    failed = codes.get("TCP_SWAPFAIL_MISS", 0)
    assert failed <= t.by_store(0, rock=len(order), aufs=len(order) // 50), codes
    # ufs and aufs do not store while they are above their limit; rock forgets at random.
    kept = t.survivors(squid, urls[-60:])
    assert len(kept) >= t.by_store(55, rock=20, ufs=0, aufs=0), f"only {len(kept)} of the 60 newest objects are there"
    squid.restart()
    kept = t.survivors(squid, urls)
    assert kept, "nothing survived the restart"
    assert len(kept) < len(urls), "more was kept than fits"


def test_large_objects_wrap_around(t):
    squid = t.running(megabytes=64, options=SMALL_DIR.get(t.store, ""))
    urls = [t.url(f"film{n}", size=5 * MB + n * 1001, **({"chunked": 1} if n % 2 else {})) for n in range(40)]
    hits = refused = 0
    for number, url in enumerate(urls):
        squid.client.get(url).check()
        if number % 3 == 0 and t.store == "clusterfs":
            # a disk that is slower than loopback makes it refuse some, and say so
            before, refused = refused, squid.values().number("stores refused")
            if refused == before:
                t.hit(squid, url)
                hits += 1
    assert t.store != "clusterfs" or hits >= 3, f"only {hits} of 14 were stored, {refused} were refused"
    kept = t.survivors(squid, urls)
    assert 3 <= len(kept) < len(urls), f"{len(kept)} kept"
    squid.kill().start()
    t.survivors(squid, urls)


def test_mixture_wraps_around_with_restarts(t):
    """Restarts and crashes while the cache is full; survivors verified each time. A start evicts for the clusters that are kept
    free, above all after a crash, when those whose release was not logged are full again. A stop may evict, too."""
    squid = t.running("client_db off", megabytes=40, options=SMALL_DIR.get(t.store, ""))
    chance, urls = random.Random(2), []
    for turn in range(4):
        new = [t.url(f"turn{turn}-{n}", size=sizes(chance)) for n in range(600)]
        urls += new
        Load(squid.port, new, threads=6).join()
        sample = chance.sample(urls, 500)
        if t.store == "clusterfs":
            squid.wait_packed()  # which takes room that others had
        before = t.survivors(squid, sample)
        if turn % 2:
            squid.kill().start()
        else:
            squid.restart()
        after = t.survivors(squid, sample)
        if t.store == "clusterfs":
            evicted = squid.values().number("objects evicted")  # by this start
            told = f"{len(after)} of {len(before)} are left after start {turn}, which has evicted {evicted} of all"
            assert len(after) >= max(20, len(before) * 3 // 4), told
            assert len(after) + evicted >= len(before) * 9 // 10, told


@pytest.mark.stores("clusterfs")
def test_object_as_large_as_the_cache(t):
    """What cannot fit is served and not kept; the cache is not lost for it."""
    squid = t.running(megabytes=32, options=SMALL_DIR["clusterfs"])
    small = [t.url(f"object{n}", size=9000) for n in range(50)]
    t.fetch_all(squid, small)
    for how in ({}, {"chunked": 1}):
        url = t.url("giant", size=60 * MB, **how)
        squid.client.get(url).check()
        squid.client.get(url).check()
    t.fetch_all(squid, small)
    for url in small:
        t.hit(squid, url)


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_usage_within_limits(t):
    """The pages' figures agree with what was stored, before and after replacement."""
    squid = t.running(megabytes=48, options=SMALL_DIR["clusterfs"])
    urls = [t.url(f"object{n}", size=50000) for n in range(100)]
    t.fetch_all(squid, urls)
    values = squid.values()
    assert values.number("objects") == 100, values.text
    t.fetch_all(squid, [t.url(f"more{n}", size=50000) for n in range(2000)])
    values = squid.values()
    assert 0 < values.number("objects") < 1100, values.text
    assert values.number("objects") * 50000 <= 48 * MB, values.text
