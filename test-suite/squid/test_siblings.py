# SPDX-License-Identifier: GPL-2.0-or-later
"""Caches that ask each other, in the three ways of examples/cluster/sibling.conf."""

import hashlib
import re
import struct
import time

import pytest

from squidkit.processes import free_port, wait_for
from test_protocols import needs_option
from testlib import datagrams
from testlib.cluster import FOLDER, OWN
from testlib.machines import Loopback

#: the first words of a paragraph of the example, and the port of the protocol there
WAYS = {"ICP": "3130", "HTCP": "4827", "Cache digests": "0"}


def needs_way(t, way):
    """Skips what a Squid without our patches cannot do."""
    if not t.patched():
        if way == "Cache digests":
            t.needs_lists()
        if way == "HTCP":
            pytest.skip("a Squid without our patches loses an object that HTCP has asked for")
        t.allow("ERROR: Squid BUG: Missing MemObject::storeId value")


def lines_of(way):
    """The lines of the example for one of the ways, with its paragraph's lines instead of those of the others."""
    found = []
    for paragraph in (FOLDER / "sibling.conf").read_text(encoding="utf-8").split("\n\n"):
        title = paragraph.removeprefix("# ").partition(":")[0]
        if title not in WAYS:
            found += paragraph.splitlines()
        elif title == way:
            found += [re.sub("^#(?=[a-z])", "", line) for line in paragraph.splitlines()]
    lines = [line.partition("#")[0].strip() for line in found]
    return [line for line in lines if line]


class Siblings:
    """Two caches that are each other's siblings. lines: more of squid.conf, instead of the example's with the same names. net: where they
    are, of testlib.machines; on loopback, they have addresses of their own."""

    def __init__(self, t, way, *lines, folder="cache", net=Loopback()):
        self.t, self._folder = t, folder
        machines = [net.machine(f"{folder}{n}") for n in range(2)]
        self.addresses = [machine.get("host", f"127.0.0.1{n}") for n, machine in enumerate(machines)]
        options = "persist=1"
        peers = [line.split() for line in lines_of(way) if line.startswith("cache_peer ")]
        assert [words[1:5] for words in peers] == [[f"cache{n}.example.com", "sibling", "3128", WAYS[way]] for n in (2, 3)], peers
        assert any("list=on" in line for line in lines_of(way)) == (way == "Cache digests")
        if way == "Cache digests":
            options += " list=on"
            lines += ("digest_rebuild_period 1 second", "digest_rewrite_period 1 second")
        http, udp = ([free_port() for _ in range(2)] for _ in range(2))
        self.squids = [t.squid(t.cache_dir(64, options, name=f"{folder}{n}-disk"), *self._lines(way, lines, n, http, udp),
                               folder=f"{folder}{n}", port=http[n], **machines[n]) for n in range(2)]
        for squid in self.squids:
            needs_option(squid, {"HTCP": "--enable-htcp", "Cache digests": "--enable-cache-digests"}.get(way, ""))
        self.squids[0].create().start()
        self.squids[1].create()

    def _lines(self, way, more, n, http, udp):
        """Those of the cache n."""
        own, other = self.addresses[n], self.addresses[1 - n]
        names = {line.split()[0] for line in more}
        lines = [line for line in lines_of(way) if not OWN.match(line) and "cache3" not in line and line.split()[0] not in names]
        port = "0" if WAYS[way] == "0" else udp[1 - n]
        lines = [re.sub(r"cache2\.example\.com sibling 3128 \d+", f"{other} sibling {http[1 - n]} {port}", line) for line in lines]
        lines = [re.sub(r"^(icp|htcp)_port .*", rf"\1_port {udp[n]}", line.replace("192.0.2.2 192.0.2.3", other)) for line in lines]
        if own.startswith("127."):
            more += (f"http_port {own}:{http[n]}", f"tcp_outgoing_address {own}", f"udp_outgoing_address {own}",
                     f"acl localhost src {' '.join(self.addresses)}", "icp_query_timeout 3000")
        return [*lines, *more, f"visible_hostname cache{n}",
                "logformat siblings %{X-Test-Id}>h %Sh %Ss %>Hs %>a", f"access_log stdio:{self.log(n)} logformat=siblings"]

    def log(self, n):
        """The path of a log of the cache n: id, hierarchy code, result, status, client."""
        return self.t.dir / f"{self._folder}{n}" / "siblings.log"

    def logged(self, n, reply):
        """The line of a request in the log of the cache n, without the id."""
        def found():
            lines = [line.split() for line in self.log(n).read_text(encoding="utf-8").splitlines()]
            return [words[1:] for words in lines if words[0] == reply.id]
        return wait_for(found, "the request in the log", 20)[0]

    def digest(self):
        """(number of objects, bits) of the digest that the first cache gives away; (0, b"") where it has none yet."""
        reply = self.squids[0].client.get(f"http://cache0:{self.squids[0].port}/squid-internal-periodic/store_digest")
        if reply.status != 200:
            return 0, b""
        _, _, _, count, _, size = struct.unpack("!HHIIII", reply.body[:20])
        return count, reply.body[128:128 + size]

    def settled_digest(self, entries):
        """Waits for a digest of so many objects that was made when no more came, and returns its bits. One that was made while they came
        lacks some, and may count others twice. It is made anew each second."""
        def settled():
            before = self.digest()
            time.sleep(2.5)
            return before[0] >= entries and before == self.digest()

        wait_for(settled, "all objects in the digest", 60)
        return self.digest()[1]

    def start_second(self, entries):
        """Starts the other cache. With digests, it has that of the first one then, of so many entries."""
        if entries:
            # Squid 7.7 misreads the first 4 KB of another's digest from byte 128 on: peerDigestHandleReply() moves too little of them
            assert len(self.settled_digest(entries)) <= 128
        self.squids[1].start()
        if entries:
            self.squids[1].client.get(self.t.url("first", size=100)).check()
            wait_for(lambda: f" {self.addresses[1]}\n" in self.log(0).read_text(encoding="utf-8"), "the digest fetched", 60)
        return self.squids[1]


@pytest.mark.stores("clusterfs")
@pytest.mark.parametrize("way", WAYS)
def test_hits_at_a_sibling(t, way):
    """A hit there is used, also one that only its disk has: the origin is asked once, the bytes are right, and there is no second
    copy. What it has not comes from the origin. After the sibling's death, all comes from there."""
    needs_way(t, way)
    both = Siblings(t, way)
    first = both.squids[0]
    urls = t.urls("object", 40)
    for url in urls:
        first.client.get(url).check()
    first.restart()
    second = both.start_second(len(urls) if way == "Cache digests" else 0)
    for n, url in enumerate(urls[:20] + urls[:10]):
        reply = second.client.get(url).check()
        assert both.logged(1, reply)[:2] == ["CD_SIBLING_HIT" if way == "Cache digests" else "SIBLING_HIT", "TCP_MISS"], (n, url)
        assert both.logged(0, reply)[1:] == ["TCP_HIT", "200", "127.0.0.11"], (n, url)
    assert [t.origin.count(url) for url in urls] == [1] * len(urls)
    assert not [url for url in urls if second.client.cached(url) is not None]
    assert not [url for url in urls if first.client.cached(url) is None]

    for url in t.urls("other", 20):
        t.store_object(second, url)
        assert first.client.cached(url) is None

    first.kill()
    second.client.get(urls[20]).check()
    assert t.origin.count(urls[20]) == 2


def in_digest(bits, url):
    """Whether another Squid expects an object where this digest is from, see cacheDigestHashKey()."""
    places = [number % (len(bits) * 8) for number in struct.unpack("!4I", hashlib.md5(b"\1" + url.encode()).digest())]
    return all(bits[place >> 3] >> (place & 7) & 1 for place in places)


@pytest.mark.stores("clusterfs")
def test_digests_need_the_size_of_objects(t):
    """With the right store_avg_object_size, all objects are in the digest, and others hardly ever. Where it is too large by far, so many bits
    are on that the other cache does not use the digest."""
    t.needs_lists()
    urls = t.urls("object", 1000, size=1000)
    others = t.urls("other", 20000, size=1000)
    for name, line in (("right", "store_avg_object_size 1800 bytes"), ("wrong", "store_avg_object_size 13 KB")):
        both = Siblings(t, "Cache digests", line, folder=name)
        t.fetch_all(both.squids[0], urls)
        bits = both.settled_digest(len(urls))
        assert all(in_digest(bits, url) for url in urls)
        on = sum(byte.bit_count() for byte in bits) / len(bits) / 8
        expected = sum(in_digest(bits, url) for url in others) / len(others)
        stored = both.squids[0].values().number("object bytes") / len(urls)
        print(f"      {name} size, objects of {stored:.0f} bytes: {on:.0%} of the bits are on, {expected:.2%} of other URLs seem to be there")
        both.squids[1].start()
        both.squids[1].client.get(t.url("first", size=100)).check()
        wait_for(lambda both=both: " 127.0.0.11\n" in both.log(0).read_text(encoding="utf-8"), "the digest fetched", 60)
        refused = "peer digest has too many bits on"
        if name == "right":
            assert 0 < expected < 0.05 and on < 0.65
            assert refused not in both.squids[1].cache_log.text()
        else:
            assert expected > 0.5 and on > 0.65
            both.squids[1].cache_log.wait(refused, 0)


@pytest.mark.stores("clusterfs")
def test_clear_by_htcp_for_all(t):
    """A CLR to each cache, or to one Squid that forwards it to all of them, deletes all copies; what comes then is new."""
    names = ("one", "two", "three")
    ports = {name: free_port() for name in (*names, "hub")}
    clear = ("htcp_access deny all", "htcp_clr_access allow localhost")
    caches = [t.squid(t.cache_dir(64, name=name), f"htcp_port {ports[name]}", *clear, folder=name) for name in names]
    for cache in caches:
        needs_option(cache, "--enable-htcp")
        cache.create().start()
    peers = [f"cache_peer 127.0.0.1 parent {cache.port} {ports[name]} name={name} no-query no-digest htcp=forward-clr" for name, cache in zip(names, caches)]
    hub = t.squid(folder="hub")
    hub.configure(f"htcp_port {ports['hub']}", *clear, *peers)
    hub.start()
    urls = t.urls("object", 20)
    for version in range(2):
        for cache in caches:
            for url in urls:
                cache.client.get(url).check(version)
        for url in urls:
            t.origin.change(url)
            if version:
                assert datagrams.htcp(ports["hub"], datagrams.HTCP_CLR, url) == datagrams.HTCP_NOTHING_TO_CLEAR
            else:
                assert [datagrams.htcp(ports[name], datagrams.HTCP_CLR, url) for name in names] == [datagrams.HTCP_CLEARED] * 3
        wait_for(lambda: not [url for url in urls for cache in caches if cache.client.cached(url) is not None], "all copies deleted", 20)
    for cache in caches:
        for url in urls:
            cache.client.get(url).check(version=2)
