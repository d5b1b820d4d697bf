# SPDX-License-Identifier: GPL-2.0-or-later
"""A Squid with several workers, of which a test can choose who answers."""

import os
import re
import signal

from squidkit.client import Client
from squidkit.processes import descendants, free_port, listens, wait_for

WORKERS = 3


class Workers:
    """A Squid without cache_mem whose workers each have a port of their own, so that a test can choose who answers."""

    def __init__(self, t, *lines, count=WORKERS, **settings):
        t.needs_several_processes()
        self.t = t
        self.ports = [free_port() for _ in range(count)]
        own = [f"if ${{process_number}} = {n + 1}\nhttp_port 127.0.0.1:{port}\nendif" for n, port in enumerate(self.ports)]
        room = "shared_transient_entries_limit 262144"  # with 16384, one of a thousand objects finds its place taken; a later line counts
        self.squid = t.squid(room, *(lines or (t.cache_dir(),)), f"workers {count}", *own, mode="--foreground", **{"mem_mb": 0, **settings})
        self.squid.create("--foreground").start()
        self.wait_connected()

    def restart(self):
        self.squid.restart()
        self.wait_connected()

    def wait_connected(self):
        """Until each worker has its owners, and listens on its own port: Squid's processes do so at moments of their own."""
        wait_for(self.squid.rebuilt, "all workers with their owners", 60)
        wait_for(lambda: all(map(listens, self.ports)), "all workers on their own ports", 60)

    def client(self, number):
        return Client(self.ports[number % len(self.ports)])

    def get(self, number, url, **headers):
        return self.client(number).get(url, **headers).check()

    def cached(self, number, url):
        return self.client(number).cached(url)

    def pids(self, kind):
        """Process ids of the kids of a kind: squid-1, squid-disk-4, ..."""
        found = {}
        for pid in descendants(self.squid.process.pid):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as line:
                    title = line.read().decode(errors="replace")
            except OSError:
                continue
            match = re.match(r"\((squid-[a-z0-9-]+)\)", title)
            if match and match[1].startswith(kind):
                found[match[1]] = pid
        return found

    def owner(self):
        return self.pids("squid-disk")["squid-disk-" + str(len(self.ports) + 1)]

    def store(self, urls):
        """Each by the next worker, until the store has all."""
        before = self.objects()
        for n, url in enumerate(urls):
            self.get(n, url)
        wait_for(lambda: self.objects() == before + len(urls), "all objects in the store")

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)

    def objects(self):
        return self.squid.values().number("objects")

    def objects_of_all(self):
        return sum(int(n) for n in re.findall(r"^objects: +(\d+)", self.squid.mgr("clusterfs"), re.MULTILINE))

    def dir_objects(self, path):
        """How many a cache_dir has, of several."""
        page = self.squid.mgr("clusterfs")
        return next(int(n) for name, n in re.findall(r"cache_dir #\d+: clusterfs (\S+)\n(?:(?!cache_dir).*\n)*?objects: +(\d+)", page) if name == path)

    def wait_packed(self):
        self.squid.wait_packed()
