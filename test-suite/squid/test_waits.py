# SPDX-License-Identifier: GPL-2.0-or-later
"""How long clients wait for hits and for misses: which requests count, and from when to when. The origin's delays are lower
bounds of what a client waits, so that no test depends on a fast machine."""

import concurrent.futures
import re
import time

import pytest

from squidkit.client import finish_all
from squidkit.processes import wait_for
from testlib.metrics import Page

pytestmark = pytest.mark.stores("clusterfs")

MB = 1 << 20
DELAY = 300  # milliseconds before the origin's headers
BELOW = 0.262143  # seconds: the end of the last bucket below the delay
NAME = "clusterfs_client_wait_seconds"
#: the second hit of an object finds it in cache_mem only when it is small
SMALL_MEMORY = {"mem_object_kb": 8}


def waits(squid):
    """(hits, misses) that were counted."""
    page = Page(squid.mgr("clusterfs_metrics"))
    return tuple(page.number(NAME + "_count", answer=answer) for answer in ("hit", "miss"))


def expect(squid, hits, misses):
    """Exactly these are counted. A hit counts when its response has ended, which its client may see before."""
    wait_for(lambda: waits(squid)[0] >= hits and waits(squid)[1] >= misses, f"{hits} hits and {misses} misses, not {waits(squid)}", 20)
    assert waits(squid) == (hits, misses)


@pytest.mark.quick
def test_misses_take_the_time_of_the_origin(t):
    """On both pages. What the origin waits, each of its misses waits; hits count as often as they come from the disk or from
    the store's memory."""
    squid = t.running(**SMALL_MEMORY)
    urls = [t.url(f"object{n}", size=20000 + n, delay=DELAY) for n in range(6)]
    t.fetch_all(squid, urls)
    expect(squid, 0, len(urls))
    page = Page(squid.mgr("clusterfs_metrics"))
    assert page.number(NAME + "_bucket", answer="miss", le=str(BELOW)) == 0, page.text
    assert page.number(NAME + "_sum", answer="miss") >= len(urls) * DELAY / 1000

    for url in urls:
        t.hit(squid, url)
    expect(squid, len(urls), len(urls))
    squid.restart()
    for _ in range(2):
        for url in urls:
            t.hit(squid, url)
    expect(squid, 2 * len(urls), 0)

    t.miss(squid, t.url("another", size=20000, delay=DELAY))
    lines = {answer: re.fullmatch(r"p50 (\d+), p90 (\d+), p99 (\d+), max (\d+), mean (\d+), count (\d+)", squid.values()[f"wait for {answer} us"])
             for answer in ("hits", "misses")}
    *times, count = map(int, lines["misses"].groups())
    assert count == 1 and min(times) >= DELAY * 1000, lines
    assert int(lines["hits"][6]) == 2 * len(urls) and int(lines["hits"][1]) > 0, lines


def test_hits_of_cache_mem_do_not_count(t):
    squid = t.running(mem_object_kb=64)
    url = t.url("object", size=20000)
    t.miss(squid, url)
    t.hit(squid, url, codes=("TCP_MEM_HIT",))
    squid.restart()
    t.hit(squid, url)
    t.hit(squid, url, codes=("TCP_MEM_HIT",))
    expect(squid, 1, 0)


def test_a_variant_counts_once(t):
    """And the marker that Squid stores and reads beside it does not count."""
    squid = t.running(**SMALL_MEMORY)
    url = t.url("page", size=20000, vary="Accept-Language")
    for language in ("de", "en"):
        t.miss(squid, url, Accept_Language=language)
    expect(squid, 0, 2)
    squid.restart()
    for language in ("de", "en"):
        t.hit(squid, url, Accept_Language=language)
    t.miss(squid, url, Accept_Language="fr")
    expect(squid, 2, 1)


def test_revalidations_do_not_count(t):
    """Neither as hits, although they read the object, nor as misses, although a new one may be stored. A reload is a miss."""
    squid = t.running(**SMALL_MEMORY)
    kept, changed, reloaded = (t.url(name, size=20000) for name in ("kept", "changed", "reloaded"))
    for url in (kept, changed, reloaded):
        t.miss(squid, url)
    t.origin.change(changed)
    t.origin.change(reloaded)
    expect(squid, 0, 3)
    for url, version, code in ((kept, 0, "TCP_REFRESH_UNMODIFIED"), (changed, 1, "TCP_REFRESH_MODIFIED")):
        assert squid.result(squid.client.get(url, Cache_Control="max-age=0").check(version)) == code
    t.miss(squid, reloaded, 1, codes=("TCP_MISS", "TCP_CLIENT_REFRESH_MISS"), Cache_Control="no-cache")
    expect(squid, 0, 4)


def test_only_what_is_stored_counts(t):
    squid = t.running(options="max-size=100000", **SMALL_MEMORY)
    for url in (t.url("private", size=9000, cc="private"), t.url("large", size=200000)):
        t.miss(squid, url)
    expect(squid, 0, 0)
    url = t.url("small", size=9000)
    t.miss(squid, url)
    assert squid.client.request(url, method="HEAD").status == 200
    expect(squid, 0, 1)


def test_an_answer_304_is_a_hit(t):
    """When the client itself has asked whether its copy is good, and the store could tell."""
    squid = t.running(**SMALL_MEMORY)
    url = t.url("object", size=20000)
    t.miss(squid, url)
    squid.restart()
    reply = squid.client.get(url, If_None_Match='"v0"')
    assert (reply.status, squid.result(reply)) == (304, "TCP_INM_HIT") and t.origin.count(url) == 1
    expect(squid, 1, 0)


def test_each_cache_dir_counts_what_it_stores(t):
    """And nothing of what it turns away."""
    squid = t.running(*(t.cache_dir(64, "admit=2", name=name) for name in ("one", "two")), **SMALL_MEMORY)
    urls = t.urls("object", 60)
    t.fetch_all(squid, urls)
    page = Page(squid.mgr("clusterfs_metrics"))
    assert sum(page.of("clusterfs_stores_not_admitted_total").values()) > 0 and not any(page.of(NAME + "_count").values()), page.text
    t.fetch_all(squid, urls)
    t.fetch_all(squid, urls)
    for answer in ("hit", "miss"):
        wait_for(lambda: sum(Page(squid.mgr("clusterfs_metrics")).of(NAME + "_count", answer=answer).values()) == len(urls),
                 f"as many {answer} waits as objects", 20)
    page = Page(squid.mgr("clusterfs_metrics"))
    for path in (str(t.image("one")), str(t.image("two"))):
        assert page.number(NAME + "_count", answer="miss", path=path) == page.number("clusterfs_objects", path=path) > 0


def test_who_joins_a_download_does_not_count(t):
    """Who finds an object that is still coming in waits for the origin, too, but has a part of it at once: here from the
    store, because memory no longer has its beginning."""
    squid = t.running("collapsed_forwarding off", **SMALL_MEMORY)
    url = t.url("object", size=6 * MB, gate="gate", gateat=3 * MB)
    clients = []
    for _ in range(3):
        reply = squid.client.open(url)
        clients.append((reply, reply.read(2 * MB)))
        t.origin.gate("gate").wait_reached()
    t.origin.gate("gate").open()
    for reply in finish_all(clients):
        reply.check()
    assert t.origin.count(url) == 1 and squid.values().number("opened for reading") == 2
    expect(squid, 0, 1)
    t.hit(squid, url)
    expect(squid, 1, 1)


def at_once(t, squid, url, *languages):
    """Clients ask for an object before the origin has answered the first of them: Squid lets all others wait for that answer."""
    def waiting():
        return len(re.findall(rf"^uri {re.escape(url)}\nlogType TCP_CF_", squid.mgr("active_requests"), re.M))

    with concurrent.futures.ThreadPoolExecutor(len(languages)) as pool:
        replies = [pool.submit(squid.client.get, url, Accept_Language=languages[0])]
        t.origin.gate("gate").wait_reached()
        replies += [pool.submit(squid.client.get, url, Accept_Language=language) for language in languages[1:]]
        wait_for(lambda: waiting() == len(languages) - 1, "all but the first waiting for its answer", 20)
        t.origin.gate("gate").open()
        for reply in replies:
            reply.result().check()


def test_collapsed_requests_count_once(t):
    squid = t.running("collapsed_forwarding on", **SMALL_MEMORY)
    url = t.url("object", size=300000, gate="gate", gateat=-1)
    at_once(t, squid, url, "de", "de", "de", "de")
    assert t.origin.count(url) == 1
    expect(squid, 0, 1)


def test_who_waited_for_another_variant_does_not_count(t):
    """Its wait is that for two responses, one after the other. Squid does not always store the first of them."""
    squid = t.running("collapsed_forwarding on", **SMALL_MEMORY)
    url = t.url("object", size=30000, gate="gate", gateat=-1, vary="Accept-Language")
    at_once(t, squid, url, "de", "fr")
    assert t.origin.count(url) == 2
    assert waits(squid) in ((0, 0), (0, 1))


def test_a_wait_ends_with_4_kilobytes_or_with_the_whole(t):
    """As docs/metrics.md says: not with the end of a large response, and not with the first bytes of a small one."""
    squid = t.running(**SMALL_MEMORY)
    large = squid.client.open(t.url("large", size=50000, gate="large", gateat=5000))
    t.origin.gate("large").wait_reached()
    expect(squid, 0, 1)
    small = squid.client.open(t.url("small", size=3000, gate="small", gateat=1000))
    t.origin.gate("small").wait_reached()
    small_begin = small.read(500)
    time.sleep(DELAY / 1000)
    assert waits(squid) == (0, 1)
    t.origin.gate("small").open()
    t.origin.gate("large").open()
    large.finish().check()
    small.finish(small_begin).check()
    expect(squid, 0, 2)
    page = Page(squid.mgr("clusterfs_metrics"))
    assert page.number(NAME + "_sum", answer="miss") >= DELAY / 1000, page.text
