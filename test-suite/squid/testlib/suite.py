# SPDX-License-Identifier: GPL-2.0-or-later
"""Test cases, what each of them is given, and how one is run and judged."""

import contextlib
import dataclasses
import itertools
import os
import pathlib
import re
import shutil
import time
import traceback

from . import stores
from .devices import Loop, ModelledDisk, TinyFileSystem, can_loop, tool
from .logs import bad_lines
from .load import fetch_all
from .origin import Origin
from .processes import give_to_squid, run, wait_for
from .squid import Squid

DISKMODEL = pathlib.Path(__file__).resolve().parents[3] / "diskmodel"  # as make puts it
CASES = []
HITS = ("TCP_HIT", "TCP_MEM_HIT")
NO_DNS = ("dns_nameservers 127.0.0.1",)
_names = itertools.count(1)


class Skip(Exception):
    """Why a case cannot be run here."""


@dataclasses.dataclass
class Case:
    function: object
    stores: tuple
    quick: bool
    long: bool
    needs: tuple
    known: dict

    @property
    def name(self):
        module = self.function.__module__.rpartition("cases_")[2]
        return f"{module}.{self.function.__name__}"


def case(only=stores.ALL, quick=False, long=False, needs=(), known=None):
    """Registers a test. only: store types; long: run alone by --long; needs: "loop", "modelled disk" or programs;
    known: {store: why this store fails the case}, for stores that are not ours."""
    def register(function):
        chosen = (only,) if isinstance(only, str) else tuple(only)
        CASES.append(Case(function, chosen, quick, long, tuple(needs), known or {}))
        return function
    return register


def around_restart(squid):
    """For a loop whose body is to hold before and after a restart."""
    yield
    squid.restart()
    yield


class Test:
    """Everything one case uses; close() removes all of it."""

    def __init__(self, prefix, store, folder):
        self.prefix, self.store, self.dir = prefix, store, pathlib.Path(folder)
        self.dir.mkdir(parents=True)
        give_to_squid(self.dir)
        self._stack = contextlib.ExitStack()
        self._allowed = []
        self.squids = []
        self.origin = self.closing(Origin())
        self.url = self.origin.url

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

    # checking things

    def by_store(self, default, **others):
        """A value that differs by store type."""
        return others.get(self.store, default)

    def allow(self, *patterns):
        """Whole log lines, without their time, that this case provokes and that are no defect."""
        self._allowed += patterns

    def hit(self, squid, url, version=None, codes=HITS, **headers):
        """The response must be right, and come from the cache without asking the origin."""
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
        return reply

    def store_object(self, squid, url, **headers):
        """A miss, and then the cache has it."""
        reply = self.miss(squid, url, **headers)
        self.settle(squid, url)
        return reply

    def settle(self, squid, url):
        """Waits until the store has what was just fetched; clusterfs needs no wait."""
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
        return fetch_all(squid.port, urls, threads)

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


def missing(entry):
    """Why a case cannot be run on this machine; None where it can."""
    for need in entry.needs:
        if need in ("loop", "modelled disk"):
            reason = can_loop()
            if not reason and need == "modelled disk" and not DISKMODEL.exists():
                reason = "diskmodel is not built: make bench-programs"
        else:
            reason = None if tool(need) else f"{need} is not installed"
        if reason:
            return reason
    return None


@dataclasses.dataclass
class Outcome:
    label: str
    verdict: str  # ok, FAIL, skip, known
    seconds: float
    detail: str = ""


def run_case(entry, store, prefix, work, keep):
    """Runs one case on one store. Never raises for what the case does."""
    label = f"{entry.name}[{store}]"
    reason = missing(entry)
    if reason:
        return Outcome(label, "skip", 0, reason)
    folder = work / re.sub(r"\W+", "-", label).strip("-")
    shutil.rmtree(folder, ignore_errors=True)
    begin, verdict, detail = time.monotonic(), "ok", ""
    test = Test(prefix, store, folder)
    try:
        entry.function(test)
        test.judge()
    except Skip as skip:
        verdict, detail = "skip", str(skip)
    except Exception as error:  # pylint: disable=broad-except -- any failure is a finding
        verdict, detail = "FAIL", traceback.format_exc() + test.tails()
        if store in entry.known and isinstance(error, AssertionError):
            verdict, detail = "known", f"{entry.known[store]}: {error}"[:400]
    finally:
        try:
            test.close()
        except Exception:  # pylint: disable=broad-except
            verdict, detail = "FAIL", detail + "\nclean-up: " + traceback.format_exc()
    if not keep and verdict != "FAIL":
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(label, verdict, time.monotonic() - begin, detail)
