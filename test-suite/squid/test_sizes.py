# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of every size that is near a limit, with and without an announced length."""

import pytest

from testlib.stores import CLUSTER_BYTES as C

NEAR = (0, 1, 511, 512, 4095, 4096, 4097, C // 2 - 600, C // 2, C - 4096, C - 1024, C - 600, C - 500, C - 1, C,
        C + 1, C + 4096, 2 * C - 700, 2 * C, 2 * C + 1, 3 * C + 5, 3 << 20)
HUGE = 64 << 20


def store_and_verify(t, squid, urls):
    for url in urls:
        t.store_object(squid, url)
        t.hit(squid, url)
    squid.restart()
    for url in urls + urls[::-1]:
        t.hit(squid, url)


def test_known_length(t):
    squid = t.running(megabytes=256)
    store_and_verify(t, squid, [t.url("object", size=size) for size in NEAR])


def test_chunked(t):
    squid = t.running(megabytes=256)
    store_and_verify(t, squid, [t.url("object", size=size, chunked=1) for size in NEAR])


def test_ended_by_closing(t):
    squid = t.running(megabytes=256)
    store_and_verify(t, squid, [t.url("object", size=size, close=1) for size in NEAR if size])


def test_huge(t):
    squid = t.running(megabytes=384)
    store_and_verify(t, squid, [t.url("huge", size=HUGE), t.url("huge", size=HUGE, chunked=1)])


@pytest.mark.stores("clusterfs")
def test_each_cluster_size(t):
    """The smallest, a middle and the largest cluster; objects around each."""
    for kilobytes in (16, 64, 1024, 16384):
        c = kilobytes * 1024
        staging = max(8, 4 * kilobytes // 1024)
        options = f"cluster-size={kilobytes} staging={staging} read-cache={staging}"
        squid = t.running(t.cache_dir(300, options, name=f"c{kilobytes}"), folder=f"squid{kilobytes}")
        sizes = (1000, c // 2, c - 5000, c - 600, c, c + 1, 2 * c + 77)
        store_and_verify(t, squid, [t.url(f"c{kilobytes}", size=size, chunked=n % 2)
                                    for n, size in enumerate(sizes) if size > 0])
        squid.stop()


def test_max_size_and_min_size(t):
    squid = t.running(options="min-size=2000 max-size=100000")
    for size, kept in ((500, False), (3000, True), (90000, True), (100500, False), (2000000, False)):
        for how in ({}, {"chunked": 1}):
            url = t.url("object", size=size, **how)
            t.miss(squid, url)
            if kept:
                t.settle(squid, url)
                t.hit(squid, url)
            else:
                assert squid.client.cached(url) is None, f"{url} was cached against min-size or max-size"
                t.miss(squid, url)
