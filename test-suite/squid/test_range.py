# SPDX-License-Identifier: GPL-2.0-or-later
"""Range requests on cached objects."""

import email.parser

import pytest

from squidkit.processes import wait_for
from testlib.stores import ROCK_BUSY
from testlib.suite import HITS


def parts_of(reply):
    """The (Content-Range, bytes) pairs of a multipart/byteranges response."""
    head = f"Content-Type: {reply.headers['Content-Type']}\r\n\r\n".encode()
    message = email.parser.BytesParser().parsebytes(head)
    boundary = b"--" + message.get_param("boundary").encode()
    parts = []
    for part in reply.body.split(boundary)[1:]:
        if part.startswith(b"--"):
            break
        headers, _, data = part.partition(b"\r\n\r\n")
        found = email.parser.BytesParser().parsebytes(headers.lstrip(b"\r\n"))
        parts.append((found["Content-Range"], data[:-2]))
    return parts


def single(t, squid, url, spec, start, end):
    reply = squid.client.get(url, Range=f"bytes={spec}")
    code = squid.result(reply)
    assert code in HITS, f"{url} {spec}: {code}"
    reply.check_range(start, end)


def several(t, squid, url, ranges, size):
    spec = ",".join(f"{start}-{end - 1}" for start, end in ranges)
    reply = squid.client.get(url, Range=f"bytes={spec}")
    assert squid.result(reply) in HITS, f"{url} {spec}: {squid.result(reply)}"
    assert reply.status == 206 and reply.complete, f"{url} {spec}: {reply.status} {reply.error}"
    want = reply.expected()
    parts = parts_of(reply)
    assert len(parts) == len(ranges), f"{url} {spec}: {len(parts)} parts"
    for (start, end), (header, data) in zip(ranges, parts):
        assert header == f"bytes {start}-{end - 1}/{size}", header
        reply.same(data, want[start:end])


def check_ranges(t, squid, url, size):
    middle = size // 2
    for spec, start, end in ((("0-0"), 0, 1), ("0-499", 0, 500), (f"{middle}-{middle + 999}", middle, middle + 1000),
                             (f"{middle}-", middle, size), ("-500", size - 500, size),
                             (f"{size - 1}-{size + 10}", size - 1, size), (f"1-{size - 2}", 1, size - 1)):
        single(t, squid, url, spec, start, end)
    several(t, squid, url, [(0, 100), (middle, middle + size // 4), (size - 70, size)], size)
    several(t, squid, url, [(10, 20), (30, 40), (4000, 4200), (8000, 8300)], size)
    reply = squid.client.get(url, Range=f"bytes={size + 5}-{size + 9}")
    assert reply.status in (200, 416), reply.status


@pytest.mark.quick
def test_ranges_of_cached(t):
    squid = t.running()
    objects = [(t.url("object", size=size), size) for size in (10000, 262144, 3000001)]
    for url, size in objects:
        t.store_object(squid, url)
        check_ranges(t, squid, url, size)
    squid.restart()
    for url, size in objects:
        check_ranges(t, squid, url, size)
        t.hit(squid, url)
        assert t.origin.count(url) == 1


def test_ranges_of_huge(t):
    """Far jumps into an object of many clusters, read from the disk."""
    squid = t.running(megabytes=256)
    size = 40 << 20
    url = t.url("huge", size=size)
    t.store_object(squid, url)
    squid.restart()
    for start in (size - 100, 39 << 20, 20 << 20, (1 << 20) - 1, 0, 33333333):
        end = min(size, start + 70000)
        single(t, squid, url, f"{start}-{end - 1}", start, end)
    several(t, squid, url, [(5, 4100), (7 << 20, (7 << 20) + 9000), (size - 9999, size)], size)


def test_range_of_uncached(t):
    """A range that Squid passes on does not become a whole object."""
    squid = t.running()
    url = t.url("object", size=100000)
    squid.client.get(url, Range="bytes=500-999").check_range(500, 1000)
    assert squid.client.cached(url) is None
    t.miss(squid, url)


@pytest.mark.known(ROCK_BUSY)
def test_range_fetches_whole(t):
    """With range_offset_limit none, the whole object is fetched and cached by a range request whose client has long
    gone; what has come serves others meanwhile (which Squid, built with delay pools, logs as a miss)."""
    squid = t.running("range_offset_limit none")
    url = t.url("object", size=500000, gate="rest", gateat=450000)
    squid.client.get(url, Range="bytes=400000-400999").check_range(400000, 401000)
    t.origin.gate("rest").wait_reached()
    squid.client.get(url, Range="bytes=100-299").check_range(100, 300)
    t.origin.gate("rest").open()
    wait_for(lambda: squid.client.cached(url), "the object in the cache", 20)
    single(t, squid, url, "100-299", 100, 300)
    t.hit(squid, url)
    assert t.origin.count(url) == 1
