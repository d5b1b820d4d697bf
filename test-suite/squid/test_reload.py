# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cache has after a reload: the newest response, never again the one before."""

import pytest

from testlib.suite import HITS, around_restart

pytestmark = pytest.mark.stores("clusterfs")

SIZES = (2000, 60000, 700000)


def reloaded(t, squid, url, version, **headers):
    """Changes the object at the origin and reloads it, as Ctrl+F5 does."""
    t.origin.change(url)
    reply = squid.client.get(url, Cache_Control="no-cache", **headers).check(version=version)
    assert squid.result(reply) not in HITS, squid.result(reply)


@pytest.mark.quick
def test_variants(t):
    """A reload with Vary finds only the marker object, not the variant that it replaces."""
    squid = t.running()
    urls = [t.url("page", size=size, vary="Accept-Language") for size in SIZES]
    for url in urls:
        for language in ("de", "en"):
            t.miss(squid, url, Accept_Language=language)
        reloaded(t, squid, url, 1, Accept_Language="de")
        t.hit(squid, url, version=1, Accept_Language="de")
    squid.restart()
    for url in urls:
        t.hit(squid, url, version=1, Accept_Language="de")


def test_variant_without_its_marker(t):
    """The marker is gone, the variant is there: what is fetched anew replaces it."""
    squid = t.running()
    for size in SIZES:
        url = t.url("page", size=size, vary="Accept-Language")
        t.miss(squid, url, Accept_Language="de")
        t.hit(squid, url, Accept_Language="de")
        assert squid.client.request(url, method="PURGE").status == 200
        t.origin.change(url)
        t.miss(squid, url, version=1, Accept_Language="de")
        t.hit(squid, url, version=1, Accept_Language="de")


def test_collapsed_forwarding(t):
    """Entries are public before the response is here, so nobody releases the older ones."""
    squid = t.running("collapsed_forwarding on")
    urls = [t.url("object", size=size) for size in SIZES]
    for version in (1, 2):
        for url in urls:
            if version == 1:
                t.store_object(squid, url)
            reloaded(t, squid, url, version)
            t.hit(squid, url, version=version)
        squid.restart()
        for url in urls:
            t.hit(squid, url, version=version)


def test_collapsed_revalidation(t):
    """A 200 in answer to a revalidation is stored under a key for those who share it first, and then found under its own."""
    squid = t.running("collapsed_forwarding on")
    urls = [t.url("object", size=size, **how) for size in (0, 2000, 60000, 120000) for how in ({}, {"chunked": 1})]
    urls.append(t.url("object", size=200000))
    for url in urls:
        t.store_object(squid, url)
    for version in (1, 2):
        for url in urls:
            t.origin.change(url)
            reply = squid.client.get(url, Cache_Control="max-age=0").check(version=version)
            assert squid.result(reply) == "TCP_REFRESH_MODIFIED", squid.result(reply)
            t.hit(squid, url, version=version)
        for url in urls:
            t.hit(squid, url, version=version)
        assert squid.values().number("objects") == len(urls)
        squid.restart()
        for url in urls:
            t.hit(squid, url, version=version)


def test_joined_revalidation(t):
    """The same when a second client reads the new response while it comes in."""
    squid = t.running("collapsed_forwarding on")
    for size in (60000, 200000):
        url = t.url("object", size=size, gate=f"gate{size}", gateat=size // 2)
        t.origin.gate(f"gate{size}").open()
        t.store_object(squid, url)
        t.origin.shut(f"gate{size}")
        t.origin.change(url)
        first = squid.client.open(url, Cache_Control="max-age=0")
        t.origin.gate(f"gate{size}").wait_reached()
        second = squid.client.open(url)
        t.origin.gate(f"gate{size}").open()
        for fetch in (first, second):
            fetch.finish().check(version=1)
        assert t.origin.count(url) == 2, t.origin.count(url)
        for _ in around_restart(squid):
            t.hit(squid, url, version=1)


def test_collapsed_revalidation_of_a_large_object(t):
    """What goes on in clusters of its own cannot be renamed: it may be fetched once more, and the older one does not come
    back."""
    squid = t.running("collapsed_forwarding on")
    urls = [t.url("object", size=1 << 20), t.url("object", size=200000, chunked=1)]
    for url in urls:
        t.store_object(squid, url)
        t.origin.change(url)
        reply = squid.client.get(url, Cache_Control="max-age=0").check(version=1)
        assert squid.result(reply) == "TCP_REFRESH_MODIFIED", squid.result(reply)
    squid.restart()
    for url in urls:  # which of them are hits depends on when storing began: before or after the new key
        squid.client.get(url).check(version=1)
    for _ in around_restart(squid):
        for url in urls:
            t.hit(squid, url, version=1)


def test_variants_in_two_dirs(t):
    """The new response goes to another cache_dir than the older one."""
    squid = t.running(t.cache_dir(name="one"), t.cache_dir(name="two"), "store_dir_select_algorithm round-robin")
    urls = [t.url(f"page{number}", size=40000, vary="Accept-Language") for number in range(12)]
    for version in range(4):
        for url in urls:
            if version:
                reloaded(t, squid, url, version, Accept_Language="de")
            else:
                t.miss(squid, url, Accept_Language="de")
            t.hit(squid, url, version=version, Accept_Language="de")
        squid.restart()
        for url in urls:
            t.hit(squid, url, version=version, Accept_Language="de")
