# SPDX-License-Identifier: GPL-2.0-or-later
"""Several caches behind front ends, with the configurations of examples/cluster."""

import http.client
import json
import re
import subprocess
import threading

import pytest

from common import BUILD
from squidkit.processes import run, wait_for
from testlib.cluster import FOLDER, CarpFront, Cluster, HaproxyFront

needs_haproxy = pytest.mark.needs("haproxy")


@pytest.mark.stores("clusterfs")
def test_squid_takes_the_examples(t):
    """As they are, but for the disk and the hosts that are somebody's own."""
    squid = t.squid()
    for path in sorted(FOLDER.glob("*.conf")):
        done = run(squid.binary, "-k", "parse", "-f", path)
        wrong = [line for line in done.stdout.splitlines() if re.search(r"ERROR|FATAL|WARNING|unrecognized", line)]
        assert done.returncode == 0 and not wrong, (path.name, wrong)


def peers(cluster, urls):
    """{URL: the name of its cache}, as clusterfs ring says of the front ends' squid.conf."""
    done = subprocess.run([BUILD / "clusterfs", "ring", cluster.fronts[0].squid.conf, "--json", *urls],
                          capture_output=True, text=True, timeout=60, check=True)
    return {row["url"]: row["peer"] for row in json.loads(done.stdout)["urls"]}


@pytest.mark.stores("clusterfs")
@pytest.mark.parametrize("front", [CarpFront, pytest.param(HaproxyFront, marks=needs_haproxy)])
def test_caches_behind_front_ends(t, front):
    """One copy of each URL; a cache that is killed under load and comes back; one more cache; a purge."""
    cluster = Cluster(t, 3, front)
    urls = [f"http://site{n % 50}.test/object{n}?size={3000 + n}" for n in range(150)]
    names = [cache.dir.name for cache in cluster.caches]

    # each URL is on one cache, whichever front end is asked, and that of its host
    cluster.fetch(urls)
    cluster.fetch(urls[1:] + urls[:1])
    assert set(cluster.asked(urls).values()) == {1}
    holders = cluster.holders(urls)
    assert {len(held) for held in holders.values()} == {1}, holders
    owners = {url: held[0] for url, held in holders.items()}
    assert set(owners.values()) == set(names)
    assert len({(url.split("/")[2], owner) for url, owner in owners.items()}) == 50, owners
    if front is CarpFront:
        assert owners == peers(cluster, urls)

    # a cache is killed under load: what was under way may break, all else is right, and only its URLs are fetched anew
    for cache in cluster.caches:
        cache.wait_packed()
    broken, stop = [], threading.Event()

    def load(client):
        while not stop.is_set():
            for url in urls:
                reply = client.get(url)
                if not reply.complete or reply.status != 200:
                    broken.append((url, reply.status, reply.error))

    threads = [threading.Thread(target=load, args=(front.client,)) for front in cluster.fronts]
    for thread in threads:
        thread.start()
    cluster.caches[1].kill()
    lost = [url for url in urls if owners[url] == names[1]]
    wait_for(lambda: all(t.origin.count(url) > 1 for url in lost), "all URLs of the killed cache elsewhere")
    stop.set()
    for thread in threads:
        thread.join()
    assert len(broken) <= len(threads) and all(owners[url] == names[1] for url, _, _ in broken), broken
    cluster.fetch(urls)
    asked = cluster.asked(urls)
    assert {url for url in urls if asked[url] != 1} == set(lost), asked
    # one of the others got it until the limit of failures was reached, and then the next by CARP, each by two front ends at once
    assert all(asked[url] <= 1 + 2 * 2 for url in lost), asked

    # it comes back with what it had: its URLs are its own again, and nobody asks the origin
    cluster.caches[1].start()
    cluster.wait_back(1, lost)
    asked = cluster.asked(urls)
    assert {url for url in urls if asked[url] != 1} == set(lost), asked

    # one more cache, behind the others: only the URLs that move to it are fetched anew
    cluster.grow()
    cluster.fetch(urls)
    after = cluster.asked(urls)
    moved = {url for url in urls if after[url] != asked[url]}
    assert 0 < len(moved) < len(urls) / 2
    assert moved == {url for url in urls if cluster.caches[3].client.cached(url) is not None}
    if front is CarpFront:
        assert moved == {url for url, name in peers(cluster, urls).items() if name != owners[url]}
        assert {peers(cluster, urls)[url] for url in moved} == {"cache4"}

    # a purge that goes to each cache leaves none anywhere, and a new version comes
    for url in urls[:20]:
        t.origin.change(url)
        done = [cache.client.request(url, method="PURGE").status for cache in cluster.caches]
        assert 200 in done and set(done) <= {200, 404}, (url, done)
    assert not any(cluster.holders(urls[:20]).values())
    for n, url in enumerate(urls[:20]):
        cluster.fronts[n % 2].client.get(url).check(version=1)


def who_asked(cluster, url):
    """What the logs of all caches say of the client."""
    found = []
    for cache in cluster.caches:
        lines = [line.split() for line in (cache.dir / "clients.log").read_text(encoding="utf-8").splitlines()]
        found += [client for client, logged in lines if logged.partition("?")[0] == url.partition("?")[0]]
    return found


def client_of(cluster, number, address, from_address="127.0.0.1"):
    """Who the caches think has asked, where a request came from from_address and said that it was for address."""
    if "--enable-follow-x-forwarded-for" not in cluster.caches[0].command("-v").stdout:
        pytest.skip("this Squid is built without --enable-follow-x-forwarded-for")
    url = f"http://site{number}.test/object?size=1000"
    front = cluster.fronts[number].client
    connection = http.client.HTTPConnection(front.host, front.port, source_address=(from_address, 0), timeout=60)
    connection.request("GET", url, headers={"Connection": "close", "X-Forwarded-For": address})
    assert connection.getresponse().status == 200
    connection.close()
    return wait_for(lambda: who_asked(cluster, url), "the request in the log of a cache", 10)


@pytest.mark.stores("clusterfs")
def test_caches_know_clients_by_carp(t):
    """Through the front end, and another proxy in front of it, which has the same address here."""
    cluster = Cluster(t, 2)
    assert [client_of(cluster, n, "10.1.2.3") for n in range(2)] == [["10.1.2.3"]] * 2


@pytest.mark.stores("clusterfs")
@needs_haproxy
def test_caches_know_clients_by_haproxy(t):
    """The address from which somebody has connected, whatever he says."""
    cluster = Cluster(t, 2, HaproxyFront)
    assert [client_of(cluster, n, "10.1.2.3", f"127.0.0.{21 + n}") for n in range(2)] == [["127.0.0.21"], ["127.0.0.22"]]


@pytest.mark.stores("clusterfs")
@needs_haproxy
def test_haproxy_by_url_and_connect(t):
    """With the example's other line, the objects of one host lie on all caches, in one copy. CONNECT opens a tunnel."""
    by_url = [("balance hash", "#balance hash"), ("#balance uri", "balance uri")]
    cluster = Cluster(t, 3, HaproxyFront, by_url)
    urls = [f"http://mirror.test/object?size={3000 + n}" for n in range(60)]
    cluster.fetch(urls)
    cluster.fetch(urls[1:] + urls[:1])
    assert set(cluster.asked(urls).values()) == {1}
    holders = cluster.holders(urls)
    assert {len(held) for held in holders.values()} == {1}
    assert {held[0] for held in holders.values()} == {"cache1", "cache2", "cache3"}, holders

    tunnel = http.client.HTTPConnection("127.0.0.1", cluster.fronts[0].client.port, timeout=60)
    tunnel.set_tunnel("127.0.0.1", t.origin.port)
    tunnel.request("GET", "/through?size=5000")
    reply = tunnel.getresponse()
    assert reply.status == 200 and len(reply.read()) == 5000
    tunnel.close()


class BenchOrigin:
    """The web server of the benchmarks, on a port of its own."""

    def __init__(self):
        self._process = subprocess.Popen([BUILD / "bench-origin", "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline().split()[1])

    def close(self):
        """Ends it, and waits for that."""
        self._process.terminate()
        self._process.communicate(timeout=60)


PAGES = 60


def waits_per_page(t, replaced):
    """How often a page's objects had to wait for a disk, when the benchmarks' browsers visited PAGES of 12 sites anew after a restart
    of all three caches. On disks where a request costs much, so that reading groups always pays."""
    origin = t.closing(BenchOrigin())
    disks = [t.cache_dir("", "persist=1 checkpoint=2 warm=off", path=t.modelled_disk(256, "readLatency=4000").path) for _ in range(3)]
    cluster = Cluster(t, 3, replaced=replaced, cache_dirs=disks, origin_port=origin.port)

    def visit(seed):
        done = subprocess.run(
            [BUILD / "bench-client", "--proxy", f"127.0.0.1:{cluster.fronts[0].client.port}", "--origin", f"127.0.0.1:{origin.port}", "--domain", "bench.test",
             "--sites", "12", "--pages", "5", "--objects", "30", "--page-bytes", "200000", "--order", "once", "--visits", str(PAGES), "--users", "4",
             "--one-address", "--seed", str(seed), "--json", "-"], capture_output=True, text=True, timeout=300, check=True)
        result = json.loads(done.stdout)
        assert result["errors"] == result["failedVisits"] == 0, result
        return result

    visit(1)
    visit(2)
    for cache in cluster.caches:
        cache.wait_packed()
    cluster.restart_caches()
    result = visit(3)
    assert result["hits"] == result["requests"] > 20 * PAGES, result
    waits = sum(cache.values().number("hits from disk") for cache in cluster.caches)
    cluster.stop()
    return waits / PAGES


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("modelled disk")
def test_pages_want_the_hash_of_the_host(t):
    """With it, a page waits for a disk about once, and by URL for each of the caches."""
    if not (BUILD / "bench-client").exists():
        pytest.fail("bench-client is not built: make bench-programs")
    by_host = waits_per_page(t, [])
    by_url = waits_per_page(t, [(" carp-key=scheme,host", "")])
    print(f"      waits for a disk for each page: {by_host:.2f} by host, {by_url:.2f} by URL")
    assert by_host < by_url / 2, (by_host, by_url)
