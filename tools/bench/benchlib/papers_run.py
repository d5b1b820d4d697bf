# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of bench-papers: its disk, its memory limit, its phases."""

import contextlib
import dataclasses
import json
import pathlib
import subprocess
import tempfile
import threading
import time

from . import papers_disk
from .cgroup import Cgroup, problem
from .errors import BenchError
from .load import BUILD, program
from .measure import difference
from .papers_disk import block_stats
from .processes import shielded, start

MB = 1 << 20
#: what one run may take, in seconds
TIMEOUT = 3600
#: page cache that a file system cannot do without
LEAST_MB = 2
#: beside what the program asks for: its page tables and stacks. More is tried when a run was killed at its limit,
#: because dirty and journaled pages could not be given back fast enough
SLACK_MB = (1, 4, 12)


class MemoryExhausted(BenchError):
    """The run was killed at its memory limit. Another try with more slack may do."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One run. Sizes in MB."""
    experiment: str              # of bench-papers
    store: str                   # clusterfs, ext4, ext4-sync, xfs
    disk: int
    memory: int                  # for objects; the same for all stores that are compared
    options: tuple = ()          # more options of bench-papers
    settings: tuple = ()         # options of clusterfs, name=value
    measured: tuple = ("measure",)  # phases for which the disk is not in its fast model
    model: str = "hdd"
    scale: str = "1"             # of the paper's experiment, for people
    label: str = ""              # tells cases of one table apart
    paper: tuple = ()            # Hummingbird's (disk GB, memory MB, percent of it that the proxy's memory cache has)

    def command(self, path, seed):
        """Arguments of bench-papers."""
        out = [self.experiment, "--store", "clusterfs" if self.store == "clusterfs" else "files", "--at", str(path),
               "--memory", str(self.memory), "--seed", str(seed), *map(str, self.options)]
        if self.paper:
            out += ["--memory-cache", str(self.paper[2])]
        if self.store == "clusterfs":
            for option in self.settings:
                out += ["--option", option]
        return out


class _Group(Cgroup):
    """Its limit is known only when the program has all its tables."""

    def limit_to(self, size, timeout=30):
        """size: bytes. What is in the page cache beyond it goes, which may take several attempts."""
        end = time.monotonic() + timeout
        while True:
            try:
                self._reclaim(size)
                self.limit = size
                self._set_limit()
                return
            except OSError as error:
                if time.monotonic() > end:
                    raise BenchError(f"{self.path}: memory cannot be limited to {size >> 20} MB: {error.strerror}; "
                                     f"in use are {self.memory()}") from None
                time.sleep(0.05)

    def _reclaim(self, size):
        """Version 2 kills processes when too much is in use, so that must be given back before."""
        reclaim = self.path / "memory.reclaim"
        excess = self.memory()["used"] - size
        if excess > 0 and reclaim.exists():
            reclaim.write_text(str(excess))


class PapersRun:
    """disk: a Disk (disk.py), whose models are switched; programs: the folder of bench-papers."""

    def __init__(self, case, disk, folder, programs=BUILD, seed=1, extra=(), slack_mb=SLACK_MB[0]):
        """extra: options of bench-papers that do not belong to the case, such as a trace. slack_mb: of the memory limit."""
        self._case, self._disk, self._folder = case, disk, pathlib.Path(folder)
        self._program, self._seed, self._extra = program("bench-papers", programs), seed, list(extra)
        self._place = self._group = None
        self._before, self._disks = {}, {}
        self._base, self._limit, self._slack = 0, 0, slack_mb * MB  # bytes
        self._grown = None

    def run(self):
        """The program's JSON, each measured phase with what the disk did in it."""
        limited = problem() is None
        self._place = papers_disk.make(self._case.store, self._disk, self._folder / "files", self._page_cache(),
                                       in_front=self._case.experiment == "tfs")
        try:
            self._place.prepare()
            with _Group(f"papers-{self._case.store}") if limited else contextlib.nullcontext() as self._group:
                result = self._execute()
        finally:
            with shielded():
                self._place.close()
        for phase in result["phases"]:
            phase["disk"] = self._disks.get(phase["name"])
        settings = [f"{name}={value}" for name, value in (result["storeFigures"].get("options") or {}).items()]
        return {"case": dataclasses.asdict(self._case), "limited": limited, "memoryLimit": self._limit, "memoryGrown": self._grown,
                "slack": self._slack, "storeSettings": self._place.settings() + settings, **result}

    def _page_cache(self):
        """Bytes of it; what bench-papers asks for as limit says it more exactly."""
        own = 0
        if self._case.experiment == "hummingbird":
            own = self._case.paper[2]
        return max(LEAST_MB, self._case.memory * (100 - own) // 100) * MB

    def _execute(self):
        out = self._folder / "result.json"
        command = [str(self._program), *self._case.command(self._place.path, self._seed), *self._extra,
                   "--attended", "--json", str(out)]
        # read here, so that its file counts for this process: in the group, whatever is not mapped would give way to pages of objects
        self._program.read_bytes()
        with tempfile.TemporaryFile("w+", dir=self._folder) as errors:
            process = start(command, self._group and self._group.join, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=errors, text=True, cwd="/")
            watch = threading.Timer(TIMEOUT, process.kill)
            watch.daemon = True  # a signal may come before it can be cancelled, and Python would wait for it at its end
            try:
                watch.start()
                self._attend(process)
                process.wait()
            finally:
                watch.cancel()
                if process.poll() is None:
                    process.kill()
                    process.wait()
                process.stdin.close()
                process.stdout.close()
            errors.seek(0)
            said = errors.read().strip()[-800:]
        if process.returncode != 0 or not out.exists():
            if self._group and self._group.killed():
                raise MemoryExhausted(f"{' '.join(command)} was killed at the memory limit of {self._limit >> 20} MB")
            raise BenchError(f"{' '.join(command)} ended with {process.returncode}: {said}")
        return {**json.loads(out.read_text()), "command": command}

    def _attend(self, process):
        for line in process.stdout:
            word, _, rest = line.strip().removeprefix("@").partition(" ")
            handler = {"ready": self._ready, "begin": self._begin, "end": self._end, "drop": self._drop}.get(word)
            if not line.startswith("@") or not handler:
                raise BenchError(f"bench-papers said something unexpected: {line.strip()[:200]}")
            handler(rest)
            process.stdin.write("ok\n")
            process.stdin.flush()

    def _ready(self, rest):
        """The program has all its tables. What comes from now on is for objects."""
        if self._group:
            self._base = self._group.memory()["used"]
            self._limit = self._base + int(rest) + self._slack

    def _begin(self, phase):
        if phase in self._case.measured:
            if self._group and not self._group.limit:  # what only prepares may be faster
                self._group.limit_to(self._limit)
            self._place.measured_mount(True)
            self._disk.set(model=self._case.model)
        self._before = {"model": self._disk.stats(), "block": block_stats(self._disk.device)}

    def _end(self, phase):
        now = {"model": self._disk.stats(), "block": block_stats(self._disk.device)}
        self._disks[phase] = {name: difference(self._before[name], now[name]) for name in now}
        if phase in self._case.measured:
            self._disk.set(model="fast")
            self._place.measured_mount(False)
        if self._group:
            self._grown = self._group.memory()["used"] - self._base

    def _drop(self, _):
        self._place.drop_caches()
