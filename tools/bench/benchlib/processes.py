# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes and commands."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from .errors import BenchError

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ended_by = []  # the name of the signal that end_on_signals() has seen


def command_line(pid):
    """The command line of a process, as it has changed it; empty where it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


class Interrupted(Exception):
    """Somebody wants us to end."""


def end_on_signals():
    """The first SIGINT, SIGTERM or SIGHUP raises Interrupted, so that all contexts clean up; later ones are ignored."""
    def handler(number, _):
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        _ended_by.append(signal.Signals(number).name)
        raise Interrupted(_ended_by[0])

    for each in SIGNALS:
        signal.signal(each, handler)


def check_signals():
    """Raises Interrupted where a signal has come before: Python drops what a handler raises within a destructor or a
    fork hook, and another error may take its place while contexts clean up."""
    if _ended_by:
        raise Interrupted(_ended_by[0])


@contextlib.contextmanager
def shielded():
    """Signals wait meanwhile: for code that puts things away."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def alone():
    """For preexec_fn: the child does not get the terminal's Ctrl-C, which is for us, and is killed when this program
    is killed."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, join=None, **how):
    """A Popen of a process of ours, alone(); join: a function that it calls then, such as a Cgroup's; how: options of
    Popen. Signals wait while Python forks: it would drop what their handler raises in its fork hooks."""
    def before_exec():
        alone()
        if join:
            join()

    with shielded():
        return subprocess.Popen(command, preexec_fn=before_exec, **how)


def tool(name):
    """The path of a system program; None where it is not installed."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin")


def checked(*command, timeout=120, env=None):
    """Runs a system command to its end: its output, or a BenchError that quotes it."""
    path = tool(str(command[0]))
    if not path:
        raise BenchError(f"{command[0]} is not installed")
    try:
        done = subprocess.run([path, *map(str, command[1:])], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout, env=env, check=False)
    except subprocess.TimeoutExpired:
        raise BenchError(f"{' '.join(map(str, command))}: not done within {timeout} s") from None
    if done.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout.strip()[-600:]}")
    return done.stdout


def wait_until(condition, what, timeout=60, pause=0.02):
    """The first true value of condition(); a BenchError that says what did not happen."""
    limit = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > limit:
            raise BenchError(f"{what}: not within {timeout:.0f} s")
        time.sleep(pause)
    return value


def listening(port):
    """Whether somebody listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def port_problem(port, option):
    """Why a server of ours cannot listen on a port; None where it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return f"port {port} of 127.0.0.1: {error.strerror}; {option} gives another one"
    return None
