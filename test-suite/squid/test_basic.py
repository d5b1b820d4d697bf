# SPDX-License-Identifier: GPL-2.0-or-later
"""What every store must do: keep a response, give it back, tell variants and methods apart."""

import pytest

from testlib.stores import LONG_METADATA, ROCK_INDEX
from testlib.suite import around_restart

SIZES = (0, 1, 100, 4095, 4096, 4097, 20000, 65536, 300000)


@pytest.mark.quick
def test_hit_after_miss(t):
    squid = t.running()
    for size in SIZES:
        url = t.url("object", size=size)
        t.store_object(squid, url)
        t.hit(squid, url, codes=("TCP_HIT",))


@pytest.mark.known(ROCK_INDEX)
@pytest.mark.quick
def test_restart_then_hit(t):
    squid = t.running()
    urls = [t.url(f"object{n}", size=n * 997) for n in range(60)]
    t.fetch_all(squid, urls)
    for url in urls:
        t.settle(squid, url)
    squid.restart()
    for url in urls:
        t.hit(squid, url, codes=("TCP_HIT",))
    squid.restart()
    for url in urls:
        t.hit(squid, url, codes=("TCP_HIT",))


def test_head_request(t):
    squid = t.running()
    url = t.url("object", size=50000)
    reply = squid.client.request(url, method="HEAD")
    assert reply.status == 200 and reply.body == b"" and reply.headers["Content-Length"] == "50000"
    t.store_object(squid, url)
    for _ in around_restart(squid):
        reply = squid.client.request(url, method="HEAD")
        assert squid.result(reply) in ("TCP_HIT", "TCP_MEM_HIT"), squid.result(reply)
        assert reply.status == 200 and reply.body == b"" and reply.headers["Content-Length"] == "50000"
    t.hit(squid, url)


@pytest.mark.quick
def test_vary_variants(t):
    squid = t.running()
    url = t.url("page", size=30000, vary="Accept-Language")
    languages = ("de", "en", "fr", "it")
    for language in languages:
        reply = t.miss(squid, url, Accept_Language=language)
        assert reply.headers["X-Variant"] == language
        if t.store != "clusterfs":
            squid.client.cached(url, Accept_Language=language)
    for _ in around_restart(squid):
        for language in languages:
            reply = t.hit(squid, url, Accept_Language=language)
            assert reply.headers["X-Variant"] == language
    t.miss(squid, url, Accept_Language="es")
    assert t.origin.count(url) == len(languages) + 1


def test_not_cachable(t):
    squid = t.running()
    for cc in ("no-store", "private"):
        url = t.url("object", size=5000, cc=cc)
        t.miss(squid, url)
        t.miss(squid, url)


def test_memory_hits(t):
    squid = t.running(mem_mb=32, mem_object_kb=512)
    urls = [t.url(f"object{n}", size=n * 4099) for n in range(20)]
    for url in urls:
        t.store_object(squid, url)
        t.hit(squid, url, codes=("TCP_MEM_HIT",))
    squid.restart()
    for url in urls:
        t.hit(squid, url, codes=("TCP_HIT",))
    for url in urls:
        t.hit(squid, url, codes=("TCP_MEM_HIT",))


def test_conditional_request_of_client(t):
    squid = t.running()
    url = t.url("object", size=20000)
    etag = t.store_object(squid, url).headers["ETag"]
    modified = squid.client.get(url).headers["Last-Modified"]
    for _ in around_restart(squid):
        reply = squid.client.get(url, If_None_Match=etag)
        assert reply.status == 304 and squid.result(reply) == "TCP_INM_HIT", squid.result(reply)
        reply = squid.client.get(url, If_Modified_Since=modified)
        assert reply.status == 304 and squid.result(reply) == "TCP_IMS_HIT", squid.result(reply)
        reply = squid.client.get(url, If_None_Match='"other"').check()
        assert squid.result(reply) in ("TCP_HIT", "TCP_INM_HIT"), squid.result(reply)
    assert t.origin.count(url) == 1


def test_long_response_headers(t):
    """Headers of 20 KB are part of the object, and read in several pieces."""
    squid = t.running()
    urls = [t.url("object", size=size, hdr=20000) for size in (0, 10000, 3000000)]
    firsts = [t.store_object(squid, url) for url in urls]
    for _ in around_restart(squid):
        for url, first in zip(urls, firsts):
            again = t.hit(squid, url)
            filler = [name for name in first.headers if name.startswith("X-Filler")]
            assert len(filler) == 20 and all(first.headers[n] == again.headers[n] for n in filler)


@pytest.mark.known(LONG_METADATA)
def test_long_urls(t):
    """An URL above 4 KB makes metadata that no store can read back: served from the origin, each time."""
    squid = t.running()
    for length in (3000, 3900, 4000, 4096, 5000, 7900):
        url = t.url("p" * length, size=5000)
        t.miss(squid, url)
        reply = squid.client.get(url).check()
        code = squid.result(reply)
        assert code == ("TCP_HIT" if length < 3950 else "TCP_MISS"), f"{length}: {code}"
    squid.restart()
    for length in (3000, 3900):
        t.hit(squid, t.url("p" * length, size=5000))
