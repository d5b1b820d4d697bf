# SPDX-License-Identifier: GPL-2.0-or-later
"""Several caches behind front ends, with the configurations of examples/cluster."""

import json
import re
import subprocess
import threading

import pytest

from common import BUILD, TOP
from squidkit.processes import run, wait_for

FOLDER = TOP / "examples" / "cluster"
#: lines of the examples that name what a test has of its own: ports, disks, and who may ask
OWN = re.compile(r"http_port|visible_hostname|cache_dir|http_access|acl clients")


def example(name, **replaced):
    """The lines of an example without comments, and without those of OWN; replaced: {text: other text}."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    for old, new in replaced.items():
        lines = [line.replace(old, new) for line in lines]
    return [line for line in lines if line and not OWN.match(line)]


class Cluster:
    """Caches and two front ends. All hosts are the test's origin server."""

    def __init__(self, t, count):
        self.t = t
        self.caches = [self._cache(f"cache{n + 1}") for n in range(count)]
        self.fronts = [self._front(f"front{n + 1}") for n in range(2)]

    def _cache(self, name):
        lines = example("cache.conf", **{"192.0.2.0/24": "127.0.0.1", "192.0.2.9": "127.0.0.1"})
        origin = f"cache_peer 127.0.0.1 parent {self.t.origin.port} 0 no-query no-digest originserver name=origin"
        log = f"access_log stdio:{self.t.dir / name / 'clients.log'} logformat=clients"
        return self.t.squid(self.t.cache_dir(64, "persist=1", name=name + ".img"), *lines, origin, "never_direct allow all", f"visible_hostname {name}",
                            "logformat clients %>a %ru", log, folder=name).create().start()

    def peers(self):
        """The cache_peer lines of the example, one more like the last for each cache that the example has not."""
        lines = [line for line in example("front.conf") if line.startswith("cache_peer")]
        lines += [lines[-1].replace("cache3", f"cache{n + 1}") for n in range(len(lines), len(self.caches))]
        return [re.sub(r"\S+ parent 3128", f"127.0.0.1 parent {cache.port}", line) for line, cache in zip(lines, self.caches)]

    def _lines(self, name):
        return [line for line in example("front.conf") if not line.startswith("cache_peer")] + self.peers() + [f"visible_hostname {name}"]

    def _front(self, name):
        front = self.t.squid(folder=name)
        front.configure(*self._lines(name))
        return front.start()

    def grow(self):
        """One more cache, whose line comes last. The front ends read it while they run, one after the other."""
        self.caches.append(self._cache(f"cache{len(self.caches) + 1}"))
        for front in self.fronts:
            front.configure(*self._lines(front.dir.name))
            front.reconfigure("Accepting HTTP Socket connections")
            wait_for(lambda: front.mgr("server_list").count("Status     : Up") == len(self.caches), "all caches known to be up")

    def owners(self, urls):
        """{URL: the name of its cache}, as the tool says."""
        done = subprocess.run([BUILD / "clusterfs", "ring", self.fronts[0].conf, "--json", *urls], capture_output=True, text=True, timeout=60, check=True)
        return {row["url"]: row["peer"] for row in json.loads(done.stdout)["urls"]}

    def fetch(self, urls):
        """Each once, by the front ends in turn, and right."""
        for n, url in enumerate(urls):
            self.fronts[n % 2].client.get(url).check()

    def asked(self, urls):
        """{URL: how often the origin was asked}"""
        return {url: self.t.origin.count(url) for url in urls}


@pytest.mark.stores("clusterfs")
def test_squid_takes_the_examples(t):
    """As they are, but for the disk and the hosts that are somebody's own."""
    squid = t.squid()
    for path in sorted(FOLDER.glob("*.conf")):
        done = run(squid.binary, "-k", "parse", "-f", path)
        wrong = [line for line in done.stdout.splitlines() if re.search(r"ERROR|FATAL|WARNING|unrecognized", line)]
        assert done.returncode == 0 and not wrong, (path.name, wrong)


@pytest.mark.stores("clusterfs")
def test_caches_behind_front_ends(t):
    """One copy of each URL; a cache that is killed under load and comes back; one more cache; a purge; client addresses."""
    cluster = Cluster(t, 3)
    urls = [f"http://site{n % 50}.test/object{n}?size={3000 + n}" for n in range(150)]

    # each URL is on one cache, whichever front end is asked
    cluster.fetch(urls)
    cluster.fetch(urls[1:] + urls[:1])
    assert set(cluster.asked(urls).values()) == {1}
    owners = cluster.owners(urls)
    names = [cache.dir.name for cache in cluster.caches]
    assert set(owners.values()) == set(names)
    for name, cache in zip(names, cluster.caches):
        have = {url for url in urls if cache.client.cached(url) is not None}
        assert have == {url for url in urls if owners[url] == name}, name

    # a cache is killed under load: what was under way may break, all else is right, and only its URLs are fetched anew
    for cache in cluster.caches:
        cache.wait_packed()
    broken, stop = [], threading.Event()

    def load(front):
        while not stop.is_set():
            for url in urls:
                reply = front.client.get(url)
                if not reply.complete or reply.status != 200:
                    broken.append((url, reply.status, reply.error))

    threads = [threading.Thread(target=load, args=(front,)) for front in cluster.fronts]
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
    log = cluster.caches[1].dir / "clients.log"

    def all_back():
        mark = log.stat().st_size
        cluster.fetch(lost[:2])
        return log.read_bytes()[mark:].count(b"site") >= 2

    wait_for(all_back, "the front ends notice that the cache is back", 60)
    cluster.fetch(lost + lost[1:] + lost[:1])
    assert log.read_bytes().count(b"site") >= 2 * len(lost)
    assert cluster.asked(urls) == asked

    # one more cache, appended: only the URLs that move to it are fetched anew
    cluster.grow()
    moved = {url for url, name in cluster.owners(urls).items() if name != owners[url]}
    assert 0 < len(moved) < len(urls) / 2 and {cluster.owners(urls)[url] for url in moved} == {"cache4"}
    cluster.fetch(urls)
    after = cluster.asked(urls)
    assert {url for url in urls if after[url] != asked[url]} == moved, (moved, after)

    # a purge that goes to each cache leaves none anywhere
    for url in urls[:20]:
        done = [cache.client.request(url, method="PURGE").status for cache in cluster.caches]
        assert 200 in done and set(done) <= {200, 404}, (url, done)
        assert not [cache for cache in cluster.caches if cache.client.cached(url) is not None], url

    # the caches know who asked, through the front end and another proxy in front of it, which has the same address here
    if "--enable-follow-x-forwarded-for" in cluster.caches[0].command("-v").stdout:
        cluster.fronts[0].client.get(urls[0], X_Forwarded_For="10.1.2.3").check()
        owner = cluster.caches[int(cluster.owners(urls[:1])[urls[0]].removeprefix("cache")) - 1]
        wanted = f"10.1.2.3 {urls[0].partition('?')[0]}"
        wait_for(lambda: wanted in (owner.dir / "clients.log").read_text(), "the client's address in the log of its cache", 10)
