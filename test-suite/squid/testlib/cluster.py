# SPDX-License-Identifier: GPL-2.0-or-later
"""Several caches behind front ends, all with the configurations of examples/cluster."""

import os
import re
import subprocess

from common import BUILD, TOP
from squidkit.client import Client
from squidkit.processes import free_port, wait_for

from .devices import tool
from .machines import Loopback

FOLDER = TOP / "examples" / "cluster"
#: lines of the examples that name what a test has of its own: ports, disks, and who may ask
OWN = re.compile(r"http_port|visible_hostname|cache_dir|http_access|acl clients")


def example(name, replaced=()):
    """The lines of an example without comments, and without those of OWN. replaced: (text, other text)."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for old, new in replaced:
        assert old in text, f"{name}: {old} is not there"
        text = text.replace(old, new)
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not OWN.match(line)]


class CarpFront:
    """A Squid that gives each URL to one of the caches."""

    def __init__(self, t, net, name, caches, replaced=()):
        self._replaced = replaced
        self.squid = t.squid(folder=name, **net.machine(name))
        self.client = self.squid.client
        self._configure(caches)
        self.squid.start()
        self._wait_up(caches)

    def take(self, caches):
        """These are its caches from now on, while it runs."""
        self._configure(caches)
        self.squid.reconfigure("Accepting HTTP Socket connections")
        self._wait_up(caches)

    def _wait_up(self, caches):
        wait_for(lambda: self.squid.mgr("server_list").count("Status     : Up") == len(caches), "all caches known to be up")

    def _configure(self, caches):
        """The cache_peer lines of the example, one more like the last for each cache that the example has not."""
        lines = example("front.conf", self._replaced)
        peers = [line for line in lines if line.startswith("cache_peer")]
        peers += [peers[-1].replace("cache3", f"cache{n + 1}") for n in range(len(peers), len(caches))]
        peers = [re.sub(r"\S+ parent 3128", f"{cache.host} parent {cache.port}", line) for line, cache in zip(peers, caches)]
        self.squid.configure(*(line for line in lines if not line.startswith("cache_peer")), *peers, f"visible_hostname {self.squid.dir.name}")


class HaproxyFront:
    """An HAProxy that does the same, by host, or by URL. close() ends it."""

    def __init__(self, t, net, name, caches, replaced=()):
        machine = net.machine(name)
        self._replaced = [*net.own["haproxy.cfg"], *replaced]
        self._within = machine.get("within", ())
        self._folder = t.dir / name
        self._folder.mkdir()
        self.client = Client(free_port(), host=machine.get("host", "127.0.0.1"))
        self._process = None
        t.closing(self)
        self.take(caches)

    def take(self, caches):
        """These are its caches from now on. A new process takes over from the one that runs."""
        text = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
        replaced = [("user haproxy", ""), ("group haproxy", ""), ("bind :3128", f"bind {self.client.host}:{self.client.port}")]
        for old, new in [*replaced, *self._replaced]:
            assert old in text, f"haproxy.cfg: {old} is not there"
            text = text.replace(old, new)
        text = re.sub(r"^ *server .*\n", "", text, flags=re.M)
        text += "".join(f"    server {cache.dir.name} {cache.host}:{cache.port} id {n + 1}\n" for n, cache in enumerate(caches))
        config = self._folder / "haproxy.cfg"
        config.write_text(text, encoding="utf-8")
        program = tool("haproxy")
        libraries = ":".join(map(str, (BUILD / "haproxy").glob("usr/lib/*-linux-gnu")))
        before = self._process
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [*self._within, program, "-db", "-f", str(config), *(["-sf", str(before.pid)] if before else [])],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "LD_LIBRARY_PATH": libraries})
        if before:
            before.wait(60)
        wait_for(self._answers, "HAProxy answering")

    def _answers(self):
        assert self._process.poll() is None, (self._folder / "log").read_text(errors="replace")
        try:
            self.client.get("http://nobody.test/").check()
        except OSError:
            return False
        return True

    def close(self):
        """Ends it at once."""
        if self._process:
            self._process.kill()
            self._process.wait()


class Cluster:
    """Caches and two front ends of a class of the above. All hosts are the server at origin_port (default: the test's own).
    replaced: (text, other text) of the front ends' example. cache_dirs: lines for the caches (default: small files). net: where all of them
    are, of testlib.machines."""

    def __init__(self, t, count, front=CarpFront, replaced=(), cache_dirs=(), origin_port=None, net=Loopback()):
        self.t, self.net, self._cache_dirs, self._origin_port = t, net, cache_dirs, origin_port or t.origin.port
        self.caches = []
        for _ in range(count):
            self._add()
        self.fronts = [front(t, net, f"front{n + 1}", self.caches, replaced) for n in range(2)]

    def _add(self):
        name, t = f"cache{len(self.caches) + 1}", self.t
        lines = example("cache.conf", self.net.own["cache.conf"])
        origin = f"cache_peer {self.net.address} parent {self._origin_port} 0 no-query no-digest originserver name=origin"
        log = f"access_log stdio:{t.dir / name / 'clients.log'} logformat=clients"
        place = self._cache_dirs[len(self.caches)] if self._cache_dirs else t.cache_dir(64, "persist=1", name=name)
        self.caches.append(t.squid(place, *lines, origin, "never_direct allow all", f"visible_hostname {name}",
                                   "logformat clients %>a %ru", log, folder=name, **self.net.machine(name)).create().start())

    def grow(self):
        """One more cache, behind the others. The front ends take it one after the other."""
        self._add()
        for front in self.fronts:
            front.take(self.caches)

    def restart_caches(self):
        """All of them, one after the other, until the front ends know that they are back."""
        for cache in self.caches:
            cache.restart()
        for front in self.fronts:
            front.take(self.caches)

    def stop(self):
        """Ends all its Squids; their folders are free for another one."""
        for squid in [front.squid for front in self.fronts] + self.caches:
            squid.stop()

    def wait_back(self, number, urls):
        """Until both front ends ask a cache for its urls again. Then both get all of them from there, and nobody asks the origin."""
        log = self.caches[number].dir / "clients.log"

        def noticed():
            mark = log.stat().st_size
            self.fetch(urls[:2])
            return log.read_bytes()[mark:].count(b"site") >= 2

        wait_for(noticed, "the front ends notice that the cache is back", 60)
        mark, asked = log.stat().st_size, self.asked(urls)
        self.fetch(urls + urls[1:] + urls[:1])
        assert self.asked(urls) == asked

        def served():
            lines = [line.split() for line in log.read_bytes()[mark:].decode().splitlines()]
            return {words[1].partition("?")[0] for words in lines if len(words) == 2}

        wait_for(lambda: served() == {url.partition("?")[0] for url in urls}, "all its URLs in its log", 20)

    def holders(self, urls):
        """{URL: names of the caches that have it}"""
        return {url: [cache.dir.name for cache in self.caches if cache.client.cached(url) is not None] for url in urls}

    def fetch(self, urls):
        """Each once, by the front ends in turn, and right."""
        for n, url in enumerate(urls):
            self.fronts[n % 2].client.get(url).check()

    def asked(self, urls):
        """{URL: how often the origin was asked}"""
        return {url: self.t.origin.count(url) for url in urls}
