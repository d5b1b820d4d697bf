# SPDX-License-Identifier: GPL-2.0-or-later
"""Squid's other ways in to the store: ICP, negative caching, memory and disk together."""

from testlib import datagrams
from testlib.processes import free_port
from testlib.suite import around_restart, case


@case(only=("clusterfs", "ufs"))
def icp(t):
    """What is here is a hit for a sibling, also after a restart, and after a PURGE a miss."""
    if t.store == "clusterfs":  # the core asks an entry that has no URL yet for it, with rock as well
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


@case(only=("clusterfs", "ufs"))
def negative_caching(t):
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


@case(only="clusterfs")
def memory_and_disk(t):
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
