# SPDX-License-Identifier: GPL-2.0-or-later
"""One Squid instance: its folder, configuration, processes, logs and cache manager."""

import functools
import http.client
import os
import pathlib
import re
import resource
import signal
import subprocess

from . import mgr
from .client import Client
from .logs import AccessLog, CacheLog
from .processes import descendants, effective_user, free_port, give_to_squid, kill_tree, listens, run, still_running, wait_for

CONFIG = """
http_port {host}:{port}
pid_filename {dir}/squid.pid
cache_log {dir}/cache.log
coredump_dir {dir}
logformat testformat {format}
access_log stdio:{dir}/access.log logformat=testformat
cache_store_log none
visible_hostname test.squid.invalid
workers 1
memory_cache_shared off
cache_mem {mem_mb} MB
maximum_object_size_in_memory {mem_object_kb} KB
maximum_object_size {max_object_mb} MB
shutdown_lifetime 0 seconds
max_filedescriptors 8192
acl PURGE method PURGE
{access}
cachemgr_passwd none all
digest_generation on
logfile_rotate 2
"""
ACCESS = "http_access allow localhost\nhttp_access deny all"
CONNECTED = "serving, in another process"
REBUILT = r"Finished rebuilding storage|Completed Validation Procedure"


class Squid:
    """A Squid that has not been started yet. lines: cache_dir and other lines of squid.conf, which
    configure() may replace; common: lines that stay; access: those that say who may ask, before all others.
    within: the command that starts it on the machine that has the address host."""

    def __init__(self, prefix, folder, name, lines=(), mode="--foreground", mem_mb=8, mem_object_kb=0,
                 max_object_mb=200, port=None, common=(), access=ACCESS, host="127.0.0.1", within=()):
        self.binary = pathlib.Path(prefix).resolve() / "sbin" / "squid"
        self.dir, self.name, self.lines, self.mode = pathlib.Path(folder), name, list(lines), mode
        self.common = list(common)
        self.host, self.within = host, list(within)
        self.settings = dict(mem_mb=mem_mb, mem_object_kb=mem_object_kb, max_object_mb=max_object_mb, access=access)
        self.port = port or free_port()
        self.dir.mkdir(parents=True, exist_ok=True)
        give_to_squid(self.dir)
        self.cache_log = CacheLog(self.dir / "cache.log")
        self.access_log = AccessLog(self.dir / "access.log")
        self.client = Client(self.port, host=host)
        self.process = None
        self.limits = {}  # {resource.RLIMIT_...: most} of the processes that start() makes
        self.started_at = 0  # where in cache.log the latest start begins
        self.configure()

    # configuration

    @property
    def conf(self):
        return self.dir / "squid.conf"

    def configure(self, *lines, **settings):
        """Writes squid.conf anew; lines, where given, replace the former ones."""
        self.lines = list(lines) or self.lines
        self.settings.update(settings)
        text = CONFIG.format(host=self.host, port=self.port, dir=self.dir, format=AccessLog.FORMAT, **self.settings)
        if b"--enable-icmp" in _version(self.binary):
            text += "netdb_filename none\npinger_enable off\n"
        user = effective_user()
        if user:
            text += f"cache_effective_user {user.pw_name}\n"
        self.conf.write_text(text + "\n".join(self.common + self.lines) + "\n")

    def environment(self):
        env = dict(os.environ)
        common = f"log_path={self.dir}/sanitizer"
        env["ASAN_OPTIONS"] = f"detect_leaks=0:abort_on_error=1:{common}:" + env.get("ASAN_OPTIONS", "")
        env["UBSAN_OPTIONS"] = f"print_stacktrace=1:{common}:" + env.get("UBSAN_OPTIONS", "")
        return env

    # processes

    def command(self, *arguments, timeout=120):
        """Runs squid to its end with this configuration."""
        return run(self.binary, "-n", self.name, "-f", self.conf, *arguments, timeout=timeout,
                   env=self.environment())

    def create(self, *arguments):
        """squid -z, which must succeed."""
        done = self.create_unchecked(*arguments)
        assert done.returncode == 0, f"squid -z ended with {done.returncode}:\n{done.stdout}\n{self.tail()}"
        return self

    def create_unchecked(self, *arguments):
        return self.command("-z", *(arguments or ("-N",)))

    def start(self, *arguments, wait=True):
        assert self.process is None, "already running"
        self.started_at = self.cache_log.mark()
        with open(self.dir / "output", "ab") as output:
            self.process = subprocess.Popen(
                [*self.within, str(self.binary), "-n", self.name, "-f", str(self.conf), self.mode, *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self.environment(),
                cwd=self.dir, preexec_fn=lambda: _set_limits(self.limits))
        if wait:
            self.wait_ready()
        return self

    def start_daemon(self):
        """Starts it on its own, as an init script may; it outlives this program. Returns its process id."""
        done = self.command()
        assert done.returncode == 0, f"squid ended with {done.returncode}:\n{done.stdout}\n{self.tail()}"
        wait_for(self.answers, "squid answering on its port")
        if self.shared_dirs():
            wait_for(self.rebuilt, "workers with their owners")
        return int((self.dir / "squid.pid").read_text())

    def answers(self):
        """Whether somebody listens on its port."""
        return listens(self.port, self.host)

    def wait_ready(self, timeout=120):
        def alive_and_answers():
            assert self.process.poll() is None, \
                f"squid ended with {self.process.returncode} while starting:\n{self.tail()}"
            return self.answers()

        wait_for(alive_and_answers, "squid answering on its port", timeout)
        if any(line.startswith("cache_dir") for line in self.lines):
            wait_for(self.rebuilt, "end of the rebuild", timeout)

    def rebuilt(self):
        """Whether every cache_dir has its index back; of those that workers share, each worker says so."""
        if self.shared_dirs():
            states = self.states()
            unused = sum(state.startswith("not used: ") for state in states)
            return states.count(CONNECTED) == self.workers * (self.shared_dirs() - unused) and len(states) == (self.workers + 1) * self.shared_dirs()
        return bool(self.cache_log.lines(REBUILT, self.started_at))

    @property
    def workers(self):
        """How many there are."""
        return int(next((line.split()[1] for line in self.lines if line.startswith("workers ")), 1))

    def shared_dirs(self):
        """How many cache_dirs several workers share."""
        return sum(line.startswith("cache_dir clusterfs") for line in self.lines) if self.workers > 1 and self.mode != "-N" else 0

    def wait_idle(self):
        """Until no worker stores an object in a cache_dir that several share."""
        if self.shared_dirs():
            wait_for(lambda: not re.search(r"^worker's objects coming in: [1-9]", self.mgr("clusterfs"), re.MULTILINE), "workers without work")

    def states(self):
        """What its processes say of cache_dirs clusterfs."""
        try:
            page = self.mgr("clusterfs")
        except (AssertionError, OSError, http.client.HTTPException):  # a process is not there yet
            return []
        return re.findall(r"^state: +(.*)$", page, re.MULTILINE)

    def worker(self):
        """The process id of the (only) worker."""
        children = descendants(self.process.pid)
        kids = [p for p in children if _is_kid(p)]
        return min(kids) if kids else self.process.pid

    def stop(self, timeout=60):
        """SIGTERM, and a clean end is required."""
        family = descendants(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout)
        self.process = None
        wait_for(lambda: not still_running(family), "end of squid's children", timeout)
        assert code == 0, f"squid ended with {code} after SIGTERM:\n{self.tail()}"
        return self

    def kill(self):
        """SIGKILL for all of its processes at once; nothing where it does not run."""
        if self.process is not None:
            kill_tree(self.process)
        self.process = None
        (self.dir / "squid.pid").unlink(missing_ok=True)
        return self

    def restart(self, *arguments):
        return self.stop().start(*arguments)

    def control(self, order):
        """squid -k ORDER."""
        return self.command("-k", order)

    def reconfigure(self, pattern):
        """squid -k reconfigure, and the line in cache.log that tells what came of it."""
        mark = self.cache_log.mark()
        assert self.control("reconfigure").returncode == 0
        self.cache_log.wait(pattern, mark)
        wait_for(self.answers, "squid answering again")
        if self.shared_dirs():
            wait_for(self.rebuilt, "workers with their owners again")

    # what it says

    def mgr(self, page):
        return mgr.fetch(self.port, page, host=self.host)

    def values(self, page="clusterfs"):
        return mgr.Values(self.mgr(page))

    def wait_packed(self):
        """Until all that was stored is on the disk (clusterfs)."""
        wait_for(lambda: self.values().number("staged objects") == 0, "everything packed")

    def result(self, reply):
        """The result code of a reply or fetch, such as TCP_HIT."""
        return self.access_log.result(reply.id)

    def output(self):
        """All that its processes have printed."""
        path = self.dir / "output"
        return path.read_text(errors="replace") if path.exists() else ""

    def tail(self, count=20):
        lines = (self.output() + self.cache_log.text()).splitlines()
        return "\n".join(lines[-count:])

    def remove_leftovers(self):
        """Shared memory of this instance that a killed Squid could not remove."""
        for path in pathlib.Path("/dev/shm").glob(f"{self.name}-*"):
            path.unlink(missing_ok=True)
        for path in pathlib.Path("/dev/shm").glob(f"squid-{self.name}-*"):
            path.unlink(missing_ok=True)


@functools.lru_cache
def _version(binary):
    return subprocess.check_output([binary, "-v"])


def _is_kid(pid):
    try:
        title = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return b"(squid-" in title


def _set_limits(limits):
    """In the child: these, and core dumps as large as may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    for what, most in {resource.RLIMIT_CORE: hard, **limits}.items():
        resource.setrlimit(what, (most, most))
