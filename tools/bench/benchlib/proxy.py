# SPDX-License-Identifier: GPL-2.0-or-later
"""A proxy under test: its processes in a memory cgroup, its cache on a storage."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from squidkit.processes import give_to_squid

from .cgroup import Cgroup
from .errors import BenchError
from .processes import listening, shielded, start, wait_until


class Proxy:
    """What all proxies have in common. A context: entering it makes an empty cache, leaving it leaves nothing.

    Subclasses say how it is configured and started."""
    reverse = False      # takes requests as an origin server does
    restarts = True      # its disk cache survives a restart
    fill_rate = None     # objects a second while its cache is filled, at most: for one that makes room by and by
    programs = ()        # what must be installed
    package = None       # the Debian package that has them

    def __init__(self, place, storage):
        """place: a Place; storage: one of storage.py, not prepared yet."""
        self.place, self.storage = place, storage
        self.name, self.port = place.name, place.port
        self.folder = pathlib.Path(place.folder)
        self.cgroup, self.process = None, None

    # for subclasses

    def command(self):
        """The command line that runs it in the foreground."""
        raise NotImplementedError

    def configure(self):
        """Writes its configuration."""
        raise NotImplementedError

    def create(self):
        """Makes the empty cache, once, where the program does not do so by itself."""

    def ready(self):
        """Whether the index is whole, after a start."""
        return True

    def index_bytes(self):
        """Memory of the index of the disk cache in bytes; None where nobody tells."""

    def objects(self):
        """How many objects the disk cache holds; None where nobody tells."""

    def settings(self):
        """Lines for the report: all that was chosen."""
        return self.storage.settings()

    def log(self):
        """The latest of what it said, for messages."""
        texts = [path.read_text(errors="replace")[-1500:] for path in sorted(self.folder.glob("*.log"))]
        return "\n".join(texts)[-2500:]

    # its life

    def __enter__(self):
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            give_to_squid(self.folder)
            self.cgroup = Cgroup(f"{self.place.number}-{self.name}", self.place.memory_limit)
            self.storage.prepare()
            self.configure()
            self.create()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Kills it and lets go of the device. May be called twice."""
        with shielded(), contextlib.ExitStack() as stack:
            if self.cgroup:
                stack.callback(self.cgroup.close)
            stack.callback(self.storage.close)
            stack.callback(self.kill)

    def environment(self):
        return dict(os.environ)

    def start(self, wait=True):
        with open(self.folder / "output.log", "ab") as output:
            self.process = start(self.command(), self.cgroup.join, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                 cwd=self.folder, env=self.environment())
        if wait:
            wait_until(self.answers, f"{self.name} answering on port {self.port}", 300)
            wait_until(self.whole, f"{self.name} having its whole index", 600)
        return self

    def answers(self):
        """Whether it listens; a BenchError where it has ended."""
        self.check_alive()
        return listening(self.port)

    def whole(self):
        """Whether it has its whole index; a BenchError where it has ended."""
        self.check_alive()
        return self.ready()

    def check_alive(self):
        killed = self.cgroup.killed()
        if killed:
            raise BenchError(f"{self.name}: {killed} of its processes were killed at the memory limit of "
                             f"{self.place.memory_limit >> 20} MB")
        if self.process is None or self.process.poll() is not None:
            code = self.process.returncode if self.process else None
            raise BenchError(f"{self.name} has ended with {code}:\n{self.log()}")

    def stop(self, timeout=300):
        """A clean end. Returns the seconds that it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise BenchError(f"{self.name} does not end within {timeout} s of SIGTERM:\n{self.log()}") from None
        wait_until(lambda: not self.cgroup.processes(), f"end of {self.name}'s helpers", timeout)
        self.process = None
        self.stopped()
        return time.monotonic() - begin

    def kill(self):
        """SIGKILL for all of its processes; nothing where none runs."""
        if self.cgroup:
            self.cgroup.kill()
        if self.process is not None:
            self.process.wait(20)
            self.process = None
            self.stopped()

    def stopped(self):
        """After its end, clean or not."""

    def restart(self):
        """Stops it, forgets the page cache, starts it: what is cached on the disk stays."""
        self.stop()
        self.storage.drop_caches()
        return self.start()
