# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the Squids of a cluster run: all on loopback, or each on a machine of its own, which is a network namespace.
Root only. close() removes all of it."""

import contextlib
import ctypes
import functools
import os

from squidkit.processes import run

from .devices import tool

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Loopback:
    """All Squids have 127.0.0.1. own: (text, other text) of the examples that name addresses."""
    address = "127.0.0.1"
    own = {"cache.conf": [("192.0.2.0/24", "127.0.0.1"), ("192.0.2.9", "127.0.0.1")], "haproxy.cfg": [("src 10.0.0.0/8", "src 127.0.0.0/8")]}

    @staticmethod
    def machine(_name):
        """What a Squid is told of its place."""
        return {}


def _ip(*words):
    done = run(tool("ip"), *words)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stdout.strip()}")


def _enter(descriptor):
    """This thread, and the threads and processes that it starts from now on, are in another network namespace."""
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Lan:
    """Machines at a switch, with the addresses that the examples have. The thread that makes it is at the switch, too, until close():
    as the origin server with address, and as the clients with clients. Nothing leaves these namespaces."""
    address = "192.0.2.1"
    clients = ("10.0.0.1", "10.0.0.2")
    own = {"cache.conf": (), "haproxy.cfg": ()}

    def __init__(self):
        self._addresses, self._stack = {}, contextlib.ExitStack()
        try:
            # switch, which the machines' links end at
            self._switch = self._namespace("switch")
            _ip("-n", self._switch, "link", "add", "lan", "address", "02:00:00:00:00:01", "type", "bridge")
            for address in (f"{self.address}/24", *(f"{client}/8" for client in self.clients)):
                _ip("-n", self._switch, "address", "add", address, "dev", "lan")
            _ip("-n", self._switch, "link", "set", "lan", "up")
            _ip("-n", self._switch, "route", "change", "192.0.2.0/24", "dev", "lan", "src", self.clients[0])
            home = self._stack.enter_context(open("/proc/thread-self/ns/net", "rb"))
            with open(f"/run/netns/{self._switch}", "rb") as there:
                _enter(there.fileno())
            self._stack.callback(lambda: _enter(home.fileno()))
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _space(name):
        return f"cfs{os.getpid()}-{name}"

    def _namespace(self, name):
        space = self._space(name)
        _ip("netns", "add", space)
        self._stack.callback(_ip, "netns", "delete", space)
        _ip("-n", space, "link", "set", "lo", "up")
        return space

    def machine(self, name):
        """What a Squid is told of its place, a new machine."""
        space = self._namespace(name)
        address = self._addresses[name] = f"192.0.2.{11 + len(self._addresses)}"
        _ip("-n", self._switch, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("-n", self._switch, "link", "set", name, "master", "lan", "up")
        _ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "up")
        _ip("-n", space, "route", "add", "10.0.0.0/8", "dev", "eth0")
        return {"host": address, "within": (tool("ip"), "netns", "exec", space),
                "access": "acl lan src 192.0.2.0/24 10.0.0.0/8\nhttp_access allow lan\nhttp_access deny all"}

    def unplug(self, name):
        """A machine's packets and those for it are lost. Nobody is told."""
        _ip("-n", self._switch, "link", "set", name, "down")

    def plug(self, name):
        """Its packets arrive again."""
        _ip("-n", self._switch, "link", "set", name, "up")

    def close_connections(self, name, to):
        """As an administrator of the machine name may do: closes its connections to another machine. False where the kernel cannot
        (CONFIG_INET_DIAG_DESTROY)."""
        done = run(tool("ip"), "netns", "exec", self._space(name), "ss", "-K", "-H", "-t", "state", "established", "dst", self._addresses[to])
        assert done.returncode == 0, done.stdout
        return bool(done.stdout.strip())

    def close(self):
        self._stack.close()


@functools.lru_cache
def can_separate():
    """Why there cannot be machines here; None where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not tool("ip"):
        return "ip is not installed"
    try:
        lan = Lan()
        try:
            lan.machine("probe")
        finally:
            lan.close()
    except OSError as error:
        return f"no network namespaces with a bridge can be made here: {error}"
    return None
