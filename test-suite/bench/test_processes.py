# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that a signal ends ./bench wherever Python is when it comes."""

import signal
import subprocess
import sys

import pytest

from benchlib import processes
from common import TOP

LATE = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from benchlib import processes
number = getattr(signal, sys.argv[2])
processes.end_on_signals()
os.register_at_fork(before=lambda: os.kill(os.getpid(), number))
try:
    processes.start(["sleep", "60"])
except processes.Interrupted as interrupted:
    print("ended by", interrupted)
"""


def run(program, *arguments):
    done = subprocess.run([sys.executable, "-c", program, str(TOP / "tools" / "bench"), *arguments], capture_output=True,
                          text=True, timeout=60, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_within_a_fork_is_not_lost(name):
    assert run(LATE, name) == f"ended by {name}\n"


DROPPED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from benchlib import processes
processes.end_on_signals()
processes.check_signals()

class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(10))

sys.unraisablehook = lambda _: print("dropped")
Destroyed()
try:
    processes.check_signals()
except processes.Interrupted as interrupted:
    print("ended by", interrupted)
"""


def test_a_signal_that_python_drops_is_remembered():
    assert run(DROPPED) == "dropped\nended by SIGTERM\n"


def test_children_get_signals():
    """Though they were started while signals waited."""
    process = processes.start(["sleep", "60"])
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == -signal.SIGTERM
