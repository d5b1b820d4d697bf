# SPDX-License-Identifier: GPL-2.0-or-later
"""Squid with one cache_dir, or none."""

import http.client
import os
import pathlib
import re
import signal
import subprocess

from squidkit import mgr
from squidkit.processes import effective_user, give_to_squid

from .errors import BenchError
from .load import DOMAIN
from .processes import checked, command_line, listening, start, wait_until
from .proxy import Proxy

CONFIG = """
pid_filename {dir}/squid.pid
cache_log {dir}/cache.log
coredump_dir {dir}
access_log none
cache_store_log none
visible_hostname bench.squid.invalid
workers {workers}
shared_transient_entries_limit 131072
memory_cache_shared {shared}
cache_mem {mem_mb} MB
maximum_object_size_in_memory {mem_object_kb} KB
maximum_object_size 200 MB
cache_swap_low 98
cache_swap_high 99
shutdown_lifetime 0 seconds
max_filedescriptors 16384
digest_generation off
acl loopback src 127.0.0.0/8
http_access allow loopback
http_access deny all
cachemgr_passwd none all
acl sites dstdomain -n .{domain}
never_direct allow sites
"""
LISTEN = """http_port 127.0.0.1:{port}
"""
ORIGIN = """cache_peer 127.0.0.1 parent {origin_port} 0 originserver no-query no-digest no-netdb-exchange name=origin
cache_peer_access origin allow sites
"""
#: where the ports of the workers begin that CARP chooses from, above the first worker's
CARP_PORTS = 100
#: lines of CONFIG that are choices, and not plumbing
CHOICES = re.compile(r"(workers|memory_|cache_mem|maximum_|cache_swap|digest|cache_replacement|cache_dir)")
REBUILT = re.compile(r"(?:kid(\d+))?\| (?:Finished rebuilding storage|Completed Validation Procedure)")


class Squid(Proxy):
    """cache_dir: its line after the word cache_dir, those of the workers that have one each ({number: line}), or None;
    replacement: the cache_replacement_policy of it, None for the default; mem_mb, mem_object_kb: see squid.conf; shared: whether
    workers share cache_mem."""

    def __init__(self, place, storage, cache_dir=None, replacement=None, mem_mb=8, mem_object_kb=0, shared=False,
                 mode="--foreground"):
        super().__init__(place, storage)
        self._binary = pathlib.Path(place.squid).resolve() / "sbin" / "squid"
        self._cache_dir, self._replacement, self._mode = cache_dir, replacement, mode
        self._memory = {"mem_mb": mem_mb, "mem_object_kb": mem_object_kb, "shared": "on" if shared else "off"}
        self._service = f"bench{place.number}{re.sub(r'[^a-z]', '', place.name)}"
        self._started_at = 0  # where in cache.log the latest start begins

    # configuration

    def _text(self):
        text = CONFIG.format(dir=self.folder, domain=DOMAIN, workers=self.place.workers, **self._memory) + self._net()
        if "--enable-icmp" in version(self._binary):
            text += "netdb_filename none\npinger_enable off\n"
        user = effective_user()
        if user:
            text += f"cache_effective_user {user.pw_name}\n"
        if self._replacement:  # of the cache_dirs behind it
            text += f"cache_replacement_policy {self._replacement}\n"
        if isinstance(self._cache_dir, dict):
            return text + "".join(of_worker(number, f"cache_dir {line}\n") for number, line in self._cache_dir.items())
        return text + (f"cache_dir {self._cache_dir}\n" if self._cache_dir else "")

    def _net(self):
        """Where it listens, and whom it asks."""
        return LISTEN.format(port=self.port) + ORIGIN.format(origin_port=self.place.origin_port)

    def configure(self):
        # rock's processes meet at sockets there
        sockets = self._binary.parent.parent / "var" / "run" / "squid"
        if sockets.is_dir():
            give_to_squid(sockets)
        (self.folder / "squid.conf").write_text(self._text())

    def settings(self):
        chosen = [line for line in self._text().splitlines() if CHOICES.match(line)]
        if self._mode == "-N":
            chosen.append("started with -N: one process, without rock's disker")
        return super().settings() + chosen

    def command(self):
        return [str(self._binary), "-n", self._service, "-f", str(self.folder / "squid.conf"), self._mode]

    def create(self):
        if not self._cache_dir:
            return
        how = "--foreground" if isinstance(self._cache_dir, dict) else "-N"  # each worker makes its own
        process = start(self.command()[:-1] + ["-z", how], self.cgroup.join, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)
        try:
            said, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:  # leaving this context kills it
            raise BenchError(f"{self.name}: squid -z: not done within 300 s\n{self.log()}") from None
        if process.returncode != 0:
            raise BenchError(f"{self.name}: squid -z ended with {process.returncode}: {said.strip()[-600:]}\n{self.log()}")

    # its life

    def start(self, wait=True):
        log = self.folder / "cache.log"
        self._started_at = log.stat().st_size if log.exists() else 0
        return super().start(wait)

    def ready(self):
        if not self._cache_dir:
            return True
        done = {found[1] for found in REBUILT.finditer(self._log())}
        return len(done) >= (len(self._cache_dir) if isinstance(self._cache_dir, dict) else 1)

    def _log(self):
        """What it has said since it was started."""
        with open(self.folder / "cache.log", "rb") as log:
            log.seek(self._started_at)
            return log.read().decode(errors="replace")

    def owners(self):
        """The processes that have a disk for all workers."""
        return {pid for pid in self.cgroup.processes() if "(squid-disk" in command_line(pid)}

    def kill_owner(self):
        """SIGKILL for the process that has the disk for all workers; Squid starts it again. Returns what was killed."""
        owners = self.owners()
        if not owners:
            raise BenchError(f"{self.name} has no process that has the disk for all workers")
        for pid in owners:
            os.kill(pid, signal.SIGKILL)
        return owners

    def stopped(self):
        (self.folder / "squid.pid").unlink(missing_ok=True)
        for pattern in (f"{self._service}-*", f"squid-{self._service}-*"):
            for path in pathlib.Path("/dev/shm").glob(pattern):
                path.unlink(missing_ok=True)

    # what it says

    def values(self, page):
        """A page of the cache manager, as squidkit.mgr.Values."""
        return mgr.Values(mgr.fetch(self.port, page))

    def objects(self):
        found = re.search(r"(\d+) on-disk objects", mgr.fetch(self.port, "info"))
        return int(found[1]) if found else None


class ClusterfsSquid(Squid):
    """Its index is what mgr:clusterfs says."""

    def ready(self):
        # workers do not wait for the process that has the disk
        return super().ready() and (self.place.workers == 1 or self._states().count("serving, in another process") == self.place.workers)

    def _states(self):
        return re.findall(r"^state: +(.*)$", mgr.fetch(self.port, "clusterfs"), re.MULTILINE)

    def index_bytes(self):
        return self._figure("index bytes")

    def objects(self):
        return self._figure("objects")

    def _figure(self, name):
        """One that only the process with the engine has, which the cache manager may not know yet after its start."""
        def page():
            values = self.values("clusterfs")
            return values if name in values else None
        return wait_until(page, f"{self.name} showing its {name}", 30).number(name)


class RockSquid(Squid):
    """Its index is a shared table, sized for the cache_dir and not for what is in it."""

    def ready(self):
        # the disker has read the disk; the worker has the cache_dir only after that
        return super().ready() and "Current entries:" in mgr.fetch(self.port, "storedir")

    def index_bytes(self):
        files = pathlib.Path("/dev/shm").glob(f"{self._service}-*.mount_map_*")
        return sum(path.stat().st_size for path in files) or None


class UfsSquid(Squid):
    """Its index is store_table: a StoreEntry, its key and its replacement node for each object (nothing that malloc
    takes is counted: neither what it adds to each, nor the nodes of a heap)."""
    POOLS = ("StoreEntry", "MD5 digest", "LruNode")
    IN_USE = 14  # column of mgr:mem

    def index_bytes(self):
        bytes_ = 0
        for line in mgr.fetch(self.port, "mem").splitlines():
            fields = line.split("\t")
            if fields[0].strip() in self.POOLS and len(fields) > self.IN_USE:
                bytes_ += int(fields[1]) * int(fields[self.IN_USE])
        return bytes_ or None


class CarpSquid(UfsSquid):
    """The first worker has no cache: it asks that of the others whose share of the URLs it is, by CARP."""

    def _net(self):
        backs = range(2, self.place.workers + 1)
        ports = {number: self.port + CARP_PORTS + number for number in backs}
        front = LISTEN.format(port=self.port) + "".join(
            f"cache_peer 127.0.0.1 parent {port} 0 carp no-query no-digest no-netdb-exchange name=back{number}\n"
            for number, port in ports.items())
        return of_worker(1, front) + "".join(
            of_worker(number, f"unique_hostname back{number}.bench.squid.invalid\n" + LISTEN.format(port=port) + ORIGIN.format(origin_port=self.place.origin_port))
            for number, port in ports.items())

    def ready(self):
        return super().ready() and all(listening(self.port + CARP_PORTS + number) for number in self._cache_dir) and self._has_peers()

    def _has_peers(self):
        """Whether the first worker knows that the others are there: it may have been the first one, and asks them again only when
        it has a request for them."""
        said = self._log()
        if said.count("Detected DEAD Parent") == said.count("Detected REVIVED Parent"):
            return True
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", f"http://{DOMAIN}:{self.place.origin_port}/ready")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass  # it is asked again
        finally:
            connection.close()
        return False


def of_worker(number, lines):
    """Lines of squid.conf for one worker."""
    return f"if ${{process_number}} = {number}\n{lines}endif\n"


def version(binary):
    """The output of squid -v."""
    return checked(binary, "-v")
