# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects that a start has found in their clusters, because the index log was damaged: nobody knows whether they
were deleted since, so the origin is asked before they are used."""

import pytest

from testlib.devices import zero_index_log
from testlib.suite import HITS

pytestmark = pytest.mark.stores("clusterfs")


def test_confirmed_once(t):
    """A doubtful object is revalidated. Confirmed, it is a plain hit again, from memory, from disk and after a restart."""
    squid = t.running(mem_object_kb=512)
    urls = t.urls("object", 10)
    for url in urls:
        t.store_object(squid, url)
    squid.stop()
    zero_index_log(t.image())
    squid.start()
    for url in urls:
        reply = squid.client.get(url).check()
        assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", f"{url}: {squid.result(reply)}"
        t.hit(squid, url, codes=("TCP_MEM_HIT",))
        reply = squid.client.get(url, Cache_Control="max-age=0").check()
        assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", f"{url}: {squid.result(reply)}"
        t.hit(squid, url, codes=("TCP_MEM_HIT",))
    squid.restart()
    for url in urls:
        t.hit(squid, url, codes=HITS)
