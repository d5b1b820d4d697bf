# SPDX-License-Identifier: GPL-2.0-or-later
"""A memory cgroup (version 1 or 2) around a proxy, its helpers and the page cache that they fill."""

import os
import pathlib
import re
import signal
import time

from .errors import BenchError

ROOT = pathlib.Path("/sys/fs/cgroup")
UNLIMITED = 0
#: of a thread: how often it waited for something
SWITCHES = re.compile(r"^voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)


def _hierarchy():
    """(version, folder) of the hierarchy that has the memory controller; None where there is none."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        fields = line.split()
        folder = pathlib.Path(fields[1])
        if fields[2] == "cgroup" and "memory" in fields[3].split(","):
            return 1, folder
        if fields[2] == "cgroup2" and "memory" in _words(folder / "cgroup.controllers"):
            return 2, folder
    return None


def _words(path):
    try:
        return path.read_text().split()
    except OSError:
        return []


def problem():
    """Why memory cannot be limited here; None where it can."""
    found = _hierarchy()
    if not found:
        return "there is no cgroup hierarchy with the memory controller below /sys/fs/cgroup (version 1 or 2)"
    if not os.access(found[1], os.W_OK):
        return f"{found[1]} cannot be written: limiting memory needs root, outside of an unprivileged container"
    return None


class Cgroup:
    """Limits the memory of all processes that join(). A context: leaving it kills what is still in it.

    limit: bytes, page cache, kernel memory and shared memory included; UNLIMITED for none."""

    def __init__(self, name, limit=UNLIMITED):
        found = _hierarchy()
        if not found:
            raise BenchError(problem())
        self.version, root = found
        self.path, self.limit = root / f"clusterfs-bench-{os.getpid()}-{name}", limit
        try:
            if self.version == 2 and "memory" not in _words(root / "cgroup.subtree_control"):
                (root / "cgroup.subtree_control").write_text("+memory")
            self.path.mkdir(exist_ok=True)
            self._set_limit()
        except OSError as error:
            self.close()
            raise BenchError(f"cannot make the memory cgroup {self.path}: {error.strerror}; is this root, "
                             "outside of an unprivileged container?") from None

    def _set_limit(self):
        if self.limit == UNLIMITED:
            return
        if self.version == 2:
            (self.path / "memory.max").write_text(str(self.limit))
            files = ["memory.swap.max"]
        else:
            (self.path / "memory.limit_in_bytes").write_text(str(self.limit))
            files = ["memory.swappiness"]
        for name in files:  # a cache that swaps measures the swap device
            if (self.path / name).exists():
                (self.path / name).write_text("0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # processes

    def join(self):
        """Moves the calling process here: for processes.start(), between fork and exec."""
        with open(self.path / "cgroup.procs", "w") as file:
            file.write("0")

    def processes(self):
        """The process ids in it."""
        return [int(word) for word in _words(self.path / "cgroup.procs")]

    def kill(self, timeout=20):
        """SIGKILL for all processes in it, which are ours; returns when they are gone."""
        limit = time.monotonic() + timeout
        while left := self.processes():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > limit:
                raise BenchError(f"processes {left} in {self.path} do not end after SIGKILL")
            time.sleep(0.02)

    def cpu_seconds(self):
        """User and system time of the living processes, and of the children that they waited for."""
        ticks = 0
        for pid in self.processes():
            try:
                stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            ticks += sum(int(field) for field in stat.rpartition(")")[2].split()[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    def work(self):
        """{what a process is called: (processor seconds, how often its threads gave their processor away)} of the living ones.
        A kernel that tells nothing of the latter has 0."""
        out = {}
        for pid in self.processes():
            folder = pathlib.Path(f"/proc/{pid}")
            try:
                words = (folder / "cmdline").read_text(errors="replace").replace("\0", " ").split()
                ticks = sum(int(field) for field in (folder / "stat").read_text().rpartition(")")[2].split()[11:13])
                switches = sum(int(found[1]) for status in folder.glob("task/*/status")
                               if (found := SWITCHES.search(status.read_text())))
            except (FileNotFoundError, ProcessLookupError):
                continue
            name = os.path.basename(words[0]) if words else str(pid)
            known = out.get(name, (0, 0))
            out[name] = (known[0] + ticks / os.sysconf("SC_CLK_TCK"), known[1] + switches)
        return out

    # memory

    def memory(self):
        """Bytes: {used, process (anonymous), shared, pageCache, peak, killed (how often the limit killed a process)}"""
        stat = dict(zip(*[iter(_words(self.path / "memory.stat"))] * 2))

        def number(*names):
            return next((int(stat[name]) for name in names if name in stat), 0)

        shared = number("total_shmem", "shmem")
        files = number("total_cache", "file") - shared
        current, peak = (("memory.current", "memory.peak") if self.version == 2 else
                         ("memory.usage_in_bytes", "memory.max_usage_in_bytes"))
        return {"used": self._number(current), "process": number("total_rss", "anon"), "shared": shared,
                "pageCache": max(0, files), "peak": self._number(peak), "killed": self.killed()}

    def _number(self, name):
        words = _words(self.path / name)
        return int(words[0]) if words else 0

    def killed(self):
        """How many processes died of the limit."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        words = _words(self.path / name)
        return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0

    def close(self):
        """Kills what is left, gives the memory back, removes the group. May be called twice."""
        if not self.path.exists():
            return
        self.kill()
        if (self.path / "memory.force_empty").exists():
            try:
                (self.path / "memory.force_empty").write_text("0")
            except OSError:
                pass  # pages that are in use go with the group's parent
        limit = time.monotonic() + 5
        while True:
            try:
                self.path.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.05)
