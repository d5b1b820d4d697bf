# SPDX-License-Identifier: GPL-2.0-or-later
"""What each end-to-end test is given, and how it is judged."""

import contextlib
import itertools
import os
import pathlib
import re
import shutil

import pytest

from common import BUILD
from squidkit.logs import bad_lines
from squidkit.origin import Origin
from squidkit.processes import give_to_squid, run, wait_for
from squidkit.squid import Squid

from . import stores
from .devices import Loop, ModelledDisk, TinyFileSystem, can_loop, tool
from .load import fetch_all
from .machines import can_separate

DISKMODEL = BUILD / "diskmodel"
#: in the stash of a test that has one: its Test
TEST = pytest.StashKey["Test"]()
HITS = ("TCP_HIT", "TCP_MEM_HIT")
NO_DNS = ("dns_nameservers 127.0.0.1",)
_names = itertools.count(1)


def around_restart(squid):
    """For a loop whose body is to hold before and after a restart."""
    yield
    squid.restart()
    yield


class Test:
    """Everything that one test uses; close() removes all of it. folder: an empty one of its own; workers: of a Squid whose
    lines and mode do not say otherwise."""
    __test__ = False  # pytest finds no tests in it

    def __init__(self, prefix, store, folder, workers=1):
        self.prefix, self.store, self.dir, self.workers = prefix, store, pathlib.Path(folder), workers
        give_to_squid(self.dir)
        self._stack = contextlib.ExitStack()
        self._allowed = []
        self.squids = []
        self.origin = self.closing(Origin())

    def url(self, name, **recipe):
        """Of the origin server."""
        return self.origin.url(name, **recipe)

    def urls(self, name, count, size=40000):
        """Of objects whose sizes differ by a byte each."""
        return [self.url(f"{name}{n}", size=size + n) for n in range(count)]

    def closing(self, thing):
        self._stack.callback(thing.close)
        return thing

    def close(self):
        for squid in self.squids:
            squid.kill()
            squid.remove_leftovers()
        self._stack.close()

    # making things

    def cache_dir(self, megabytes=128, options="", name="cache", store=None, path=None):
        store = store or self.store
        return stores.cache_dir(store, path or stores.place(store, self.dir, name), megabytes, options)

    def image(self, name="cache"):
        return stores.place(self.store, self.dir, name)

    def squid(self, *lines, megabytes=128, options="", folder="squid", mode=None, **settings):
        """A Squid, not created or started. Without a cache_dir line it gets one of this store."""
        if not any(line.startswith("cache_dir") for line in lines):
            lines = (self.cache_dir(megabytes, options),) + lines
        for line in lines:
            if line.startswith(("cache_dir ufs", "cache_dir aufs", "cache_dir rock")):
                path = pathlib.Path(line.split()[2])
                path.mkdir(exist_ok=True)
                give_to_squid(path)
        if self.workers > 1 and not mode and not any(line.startswith("workers") for line in lines):
            self.needs_several_processes()
            lines += (f"workers {self.workers}", "memory_cache_shared on")
        name = f"cfs{os.getpid()}x{next(_names)}"
        squid = Squid(self.prefix, self.dir / folder, name, lines, mode or stores.run_mode(self.store),
                      common=NO_DNS, **settings)
        self.squids.append(squid)
        return squid

    def running(self, *lines, **options):
        """A Squid with an empty cache, running."""
        return self.squid(*lines, **options).create().start()

    def loop(self, megabytes, name="disk"):
        """A loop device over a sparse file."""
        path = self.dir / name
        with open(path, "wb") as file:
            file.truncate(megabytes << 20)
        return self.closing(Loop(path))

    def modelled_disk(self, megabytes, settings):
        """A disk of tools/diskmodel; settings as its option --set takes them."""
        return self.closing(ModelledDisk(DISKMODEL, megabytes << 20, settings))

    def tiny_file_system(self, megabytes):
        return self.closing(TinyFileSystem(self.dir / "tiny", megabytes))

    def sanitized(self):
        """Whether AddressSanitizer watches this Squid."""
        return b"__asan_init" in (self.prefix / "sbin" / "squid").read_bytes()

    def patched(self):
        """Whether this Squid has our patches; Debian's own has not."""
        return b"AddSearch" in (self.prefix / "sbin" / "squid").read_bytes()

    def needs_lists(self):
        """Skips the test where Squid cannot list the objects of this store, for mgr:objects and digests."""
        if self.store == "clusterfs" and not self.patched():
            pytest.skip("a Squid without our patches lists no objects of clusterfs")

    def needs_several_processes(self):
        """Skips the test where the processes of a Squid cannot meet."""
        options = run(self.prefix / "sbin" / "squid", "-v").stdout
        state = re.search("'--localstatedir=([^']+)'", options)
        sockets = pathlib.Path(state[1] if state else self.prefix.resolve() / "var") / "run" / "squid"
        if not sockets.is_dir():
            pytest.skip(f"{sockets}, where the processes of this Squid meet, does not exist")
        give_to_squid(sockets)

    # checking things

    def by_store(self, default, **others):
        """A value that differs by store type."""
        return others.get(self.store, default)

    def allow(self, *patterns):
        """Whole log lines, without their time, that this case provokes and that are no defect."""
        self._allowed += patterns

    def hit(self, squid, url, version=None, codes=HITS, **headers):
        """The response must be right, and come from the cache without asking the origin."""
        squid.wait_idle()
        before = self.origin.count(url)
        reply = squid.client.get(url, **headers).check(version)
        code = squid.result(reply)
        assert code in codes, f"{url}: {code}, expected {' or '.join(codes)}"
        assert self.origin.count(url) == before, f"{url}: {code}, but the origin was asked"
        return reply

    def miss(self, squid, url, version=None, codes=("TCP_MISS",), **headers):
        """The response must be right, and come from the origin."""
        before = self.origin.count(url)
        reply = squid.client.get(url, **headers).check(version)
        code = squid.result(reply)
        assert code in codes, f"{url}: {code}, expected {' or '.join(codes)}"
        asked = self.origin.count(url) - before
        assert asked == 1, f"{url}: {code}, origin asked {asked} times"
        squid.wait_idle()
        return reply

    def store_object(self, squid, url, **headers):
        """A miss, and then the cache has it."""
        reply = self.miss(squid, url, **headers)
        self.settle(squid, url)
        return reply

    def settle(self, squid, url):
        """Waits until the store has what was just fetched; clusterfs needs no wait, with one worker."""
        squid.wait_idle()
        if self.store != "clusterfs":
            wait_for(lambda: squid.client.cached(url), f"{url} in the cache", 20)

    def survivors(self, squid, urls):
        """What the cache still has of these, every byte checked: {url: version}."""
        found = {}
        for url in urls:
            reply = squid.client.cached(url)
            if reply is not None:
                found[url] = reply.check().version
        return found

    def fetch_damaged(self, squid, urls):
        """Fetches all from a cache whose disk was damaged. Damage may be found only when a client has the
        first bytes of a large object already; then it is cut, and right when asked for again."""
        for url in urls:
            reply = squid.client.get(url).check_prefix()
            if not reply.complete:
                reply = squid.client.get(url)
            reply.check()

    def fetch_all(self, squid, urls, threads=8):
        done = fetch_all(squid.port, urls, threads)
        squid.wait_idle()
        return done

    def results(self, squid, load):
        """{result code: how many} of a finished load."""
        counts = {}
        for _, _, request_id in load.replies:
            code = squid.access_log.result(request_id)
            counts[code] = counts.get(code, 0) + 1
        return counts

    def judge(self):
        """Crashes, sanitizer reports and lines that speak of defects, in all Squids of the case."""
        problems = []
        for squid in self.squids:
            problems += bad_lines(squid.output() + squid.cache_log.text(), self._allowed)
            for report in squid.dir.glob("sanitizer.*"):
                problems.append(f"{report.name}:\n{report.read_text(errors='replace')[:6000]}")
            for core in squid.dir.glob("core*"):
                problems.append(f"{core.name}:\n{_backtrace(squid.binary, core)}")
        assert not problems, "Squid reported defects:\n" + "\n".join(problems[:40])

    def tails(self):
        return "\n".join(f"--- {s.dir.name}: last lines\n{s.tail()}" for s in self.squids)


def _backtrace(binary, core):
    if not tool("gdb"):
        return "(gdb is not installed)"
    return run("gdb", "-batch", "-ex", "bt 30", binary, core).stdout[-6000:]


def missing(need):
    """Why this machine has not what a test needs ("loop", "modelled disk", "network namespaces" or a program); None where it has."""
    if need == "network namespaces":
        return can_separate()
    if need not in ("loop", "modelled disk"):
        return None if tool(need) else f"{need} is not installed"
    reason = can_loop()
    if not reason and need == "modelled disk" and not DISKMODEL.exists():
        reason = "diskmodel is not built: make bench-programs"
    return reason


class Refusals(dict):
    """{store: why a Squid does not take its cache_dir, or None}; each is found out when it is asked for."""

    def __init__(self, prefix, folder):
        super().__init__()
        self._prefix, self._folder = prefix, folder

    def __missing__(self, store):
        probe = self._folder / f"probe-{store}"
        probe.mkdir()
        test = Test(self._prefix, store, probe)
        try:
            done = test.squid().command("-k", "parse")
        finally:
            test.close()
            shutil.rmtree(probe, ignore_errors=True)
        self[store] = None if done.returncode == 0 else f"this Squid does not take cache_dir {store}: {done.stdout.strip()[-300:]}"
        return self[store]
