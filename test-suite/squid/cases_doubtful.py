# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects that a start has found in their clusters, because the index log was damaged: nobody knows whether they
were deleted since, so the origin is asked before they are used."""

import re

from testlib.devices import CLUSTERFS
from testlib.processes import run
from testlib.suite import HITS, case


def zero_index_log(path):
    """Overwrites the region of the image that has the index."""
    done = run(CLUSTERFS, "inspect", path)
    regions = re.findall(r'region="index log" offset=(\d+) bytes=(\d+)', done.stdout)
    assert regions, done.stdout
    with open(path, "r+b") as image:
        for offset, size in regions:
            image.seek(int(offset))
            image.write(bytes(int(size)))


@case(only="clusterfs")
def confirmed_once(t):
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
