# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that this program started, with their descendants, and only those."""

import os
import pathlib
import pwd
import random
import signal
import socket
import subprocess
import time


def effective_user():
    """The user that Squid drops to where it is started by root; None for another user."""
    if os.geteuid() != 0:
        return None
    for name in ("proxy", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


def give_to_squid(*paths):
    user = effective_user()
    for path in paths:
        if user:
            os.chown(path, user.pw_uid, user.pw_gid)


PORTS_FROM, PORTS_MOST = 10240, 65536
_random = random.SystemRandom()
_given = set()  # ports that this program's servers have, those that are being restarted too
_share = (0, 1)


def share_ports(number, count):
    """This process is number (from 0) of count that run beside each other: each takes other ports."""
    global _share
    _share = (number, count)


def free_port():
    """A port for a server that may be restarted: it must find it free again, so that it is none of those that the
    kernel gives to connections, where it leaves any."""
    ephemeral = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    end = ephemeral if ephemeral > PORTS_FROM + 1000 else PORTS_MOST
    number, count = _share
    for _ in range(1000):
        port = _random.randrange(PORTS_FROM + number, end, count)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port
    raise AssertionError(f"no port from {PORTS_FROM} to {end} is free")


def listens(port, host="127.0.0.1"):
    """Whether somebody does."""
    try:
        socket.create_connection((host, port), 5).close()
        return True
    except OSError:
        return False


def wait_for(condition, what, timeout=60, pause=0.02):
    """The first true value of condition(); an AssertionError that says what did not happen."""
    limit = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > limit:
            raise AssertionError(f"{what}: not within {timeout} s")
        time.sleep(pause)


def run(*command, timeout=120, env=None):
    """Runs a command to its end; output and errors together as text in .stdout."""
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=timeout, env=env, check=False)


def _stat(pid):
    """(parent, start time) of a process; None where it is gone or a zombie."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else (int(fields[1]), int(fields[19]))


def descendants(pid):
    """{pid: start time} of all living processes below this one."""
    table = {int(p.name): _stat(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()}
    found, grown = {}, True
    while grown:
        grown = False
        for child, entry in table.items():
            if entry and child not in found and (entry[0] == pid or entry[0] in found):
                found[child] = entry[1]
                grown = True
    return found


def still_running(processes):
    """Those of {pid: start time} that live, and are not another process under the same number."""
    return {p: start for p, start in processes.items() if (s := _stat(p)) and s[1] == start}


def _stopped(pid):
    """Whether a process has stopped, or is gone: it starts no other one."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "TtZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _signal(processes, number):
    for pid in still_running(processes):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def _stop_tree(pid, timeout):
    """Stops a process and everything below it, those that are just being started, too. {pid: start time} of all."""
    family, found = {}, {pid: entry[1] for entry in [_stat(pid)] if entry}
    while len(found) > len(family):
        family = found
        _signal(family, signal.SIGSTOP)
        wait_for(lambda: all(map(_stopped, family)), "stop of processes that are to be killed", timeout)
        found = {**family, **descendants(pid)}
    return family


def kill_tree(popen, timeout=20):
    """SIGKILL for a process that we started and everything below it; returns when all are gone."""
    family = _stop_tree(popen.pid, timeout)
    _signal(family, signal.SIGKILL)
    popen.wait(timeout)
    wait_for(lambda: not still_running(family), "end of killed processes", timeout)
