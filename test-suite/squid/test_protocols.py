# SPDX-License-Identifier: GPL-2.0-or-later
"""Squid's other ways in to the store: ICP, HTCP, SNMP, ICAP, negative caching, memory and disk together."""

import pytest

from squidkit.processes import free_port
from testlib import datagrams
from testlib.icap import IcapServer
from testlib.suite import around_restart


#: what Squid is built with where nobody says anything
USUAL = ("--enable-htcp", "--enable-snmp")


def needs_option(squid, *options):
    """Skips the case for a Squid that somebody has built without it."""
    built = squid.command("-v").stdout
    for option in options:
        if option not in built and (option not in USUAL or option.replace("enable", "disable") in built):
            pytest.skip(f"this Squid is built without {option}")


@pytest.mark.stores("clusterfs", "ufs")
def test_icp(t):
    """What is here is a hit for a sibling, also after a restart, and after a PURGE a miss."""
    if t.store == "clusterfs" and not t.patched():  # the core asks an entry that has no URL yet for it, with rock as well
        t.allow("ERROR: Squid BUG: Missing MemObject::storeId value")
    port = free_port()
    squid = t.running(f"icp_port {port}", "icp_access allow localhost")
    urls = t.urls("object", 10)
    for url in urls:
        assert datagrams.icp_query(port, url) == datagrams.ICP_MISS
        t.store_object(squid, url)
    for _ in around_restart(squid):
        for url in urls:
            assert datagrams.icp_query(port, url) == datagrams.ICP_HIT, url
    for url in urls[::2]:
        assert squid.client.request(url, method="PURGE").status == 200
    for number, url in enumerate(urls):
        wanted = datagrams.ICP_HIT if number % 2 else datagrams.ICP_MISS
        assert datagrams.icp_query(port, url) == wanted, url
        t.survivors(squid, [url])


@pytest.mark.stores("clusterfs", "ufs")
def test_htcp(t):
    """The same of HTCP, whose CLR deletes, also what only the disk has and what its store has found on a start."""
    if t.store == "clusterfs" and not t.patched():  # see icp()
        t.allow("ERROR: Squid BUG: Missing MemObject::storeId value")
    port = free_port()
    squid = t.squid(f"htcp_port {port}", "htcp_access allow localhost", "htcp_clr_access allow localhost")
    needs_option(squid, "--enable-htcp")
    squid.create().start()
    urls = t.urls("object", 12)
    for url in urls:
        assert datagrams.htcp(port, datagrams.HTCP_TST, url) == datagrams.HTCP_NOT_HERE
        assert datagrams.htcp(port, datagrams.HTCP_CLR, url) == datagrams.HTCP_NOTHING_TO_CLEAR
        t.store_object(squid, url)
    for cleared in (0, 1):
        for number, url in enumerate(urls):
            here = number % 3 >= cleared
            wanted = datagrams.HTCP_HERE if here else datagrams.HTCP_NOT_HERE
            assert datagrams.htcp(port, datagrams.HTCP_TST, url) == wanted, url
            if number % 3 == cleared:
                assert datagrams.htcp(port, datagrams.HTCP_CLR, url) == datagrams.HTCP_CLEARED, url
                assert datagrams.htcp(port, datagrams.HTCP_CLR, url) == datagrams.HTCP_NOTHING_TO_CLEAR, url
        squid.restart()
    assert sorted(t.survivors(squid, urls)) == sorted(urls[2::3])


@pytest.mark.stores("clusterfs", "ufs")
def test_snmp(t):
    """What monitoring reads of the store: kilobytes stored, objects, and the size of the cache."""
    port = free_port()
    squid = t.squid(f"snmp_port {port}", "acl everybody snmp_community public", "snmp_access allow everybody localhost")
    needs_option(squid, "--enable-snmp")
    squid.create().start()
    urls = t.urls("object", 40)
    for url in urls:
        t.store_object(squid, url)
    for _ in around_restart(squid):
        stored = datagrams.snmp_get(port, datagrams.SNMP_STORED_KB)
        assert 40 * 40000 <= stored * 1024 <= 40 * 60000, stored
        objects = datagrams.snmp_get(port, datagrams.SNMP_OBJECTS)
        assert 40 <= objects <= 80, objects
        assert datagrams.snmp_get(port, datagrams.SNMP_SWAP_MOST_MB) == 128


@pytest.mark.stores("clusterfs", "ufs")
def test_icap(t):
    """What an ICAP service hands back is stored whole; hits do not need the service."""
    port = free_port()
    server = t.closing(IcapServer(port))
    squid = t.squid(*icap_lines(port), t.cache_dir())
    needs_option(squid, "--enable-icap-client")
    squid.create().start()
    urls = t.urls("object", 20) + [t.url("chunked", size=500000, chunked=1), t.url("large", size=20 << 20)]
    t.fetch_all(squid, urls)
    assert server.served == len(urls), server.served
    for url in urls:
        t.settle(squid, url)
    for _ in around_restart(squid):
        for url in urls:
            t.hit(squid, url)
    assert server.served == len(urls), server.served


def icap_lines(port):
    return ("icap_enable on", f"icap_service back respmod_precache icap://127.0.0.1:{port}/back",
            "adaptation_access back allow all")


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("modelled disk")
def test_icap_and_a_slow_disk(t):
    """A disk that is slower than service and origin holds up both, and lets them go on."""
    disk = t.modelled_disk(400, "writeBandwidth=20")
    port = free_port()
    server = t.closing(IcapServer(port))
    squid = t.squid(*icap_lines(port), t.cache_dir("", "staging=2 persist=1", path=disk.path))
    needs_option(squid, "--enable-icap-client")
    squid.create().start()
    url = t.url("film", size=60 << 20)
    squid.client.get(url).check()
    assert server.served == 1 and t.origin.count(url) == 1
    if not t.patched():
        return  # what the disk is too slow for is not stored
    t.hit(squid, url)
    assert squid.values().number("stores refused") == 0, squid.values().text
    squid.restart()
    t.hit(squid, url)


@pytest.mark.stores("clusterfs", "ufs")
def test_negative_caching(t):
    """A 404 is stored for negative_ttl, and is a hit after a restart."""
    squid = t.running("negative_ttl 1 hour")
    url = t.url("nothing", size=3000, status=404, cc="public")
    for _ in around_restart(squid):
        reply = squid.client.get(url)
        assert reply.status == 404, reply.status
        reply.same(reply.body, reply.expected())
        t.settle(squid, url)
    assert squid.result(reply) == "TCP_NEGATIVE_HIT", squid.result(reply)
    assert t.origin.count(url) == 1


@pytest.mark.stores("clusterfs")
def test_memory_and_disk(t):
    """cache_mem in use: small objects come from memory, large ones and those of the last run from the disk."""
    squid = t.running(mem_object_kb=100)
    small, large = t.urls("small", 10, 30000), t.urls("large", 5, 300000)
    for url in small + large:
        t.store_object(squid, url)
        t.hit(squid, url, codes=("TCP_MEM_HIT",) if url in small else ("TCP_HIT",))
    squid.restart()
    for url in small + large:
        t.hit(squid, url, codes=("TCP_HIT",))
        t.hit(squid, url, codes=("TCP_MEM_HIT",) if url in small else ("TCP_HIT",))
    for url in small:
        t.origin.set_headers(url, X_Stamp="new")
        reply = squid.client.get(url, Cache_Control="max-age=0").check()
        assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", squid.result(reply)
        assert t.hit(squid, url, codes=("TCP_MEM_HIT",)).headers["X-Stamp"] == "new"
    for url in small[::2]:
        assert squid.client.request(url, method="PURGE").status == 200
    squid.restart()
    for number, url in enumerate(small):
        if number % 2:
            assert t.hit(squid, url).headers["X-Stamp"] == "new"
        else:
            assert squid.client.cached(url) is None, url
