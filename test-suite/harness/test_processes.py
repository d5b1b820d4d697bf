# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that the tests start end with everything that they have started."""

import os
import pathlib
import subprocess
import time

from squidkit.processes import kill_tree

MARK = f"61.{os.getpid()}"  # seconds, and a word that no other process has


def marked():
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if MARK.encode() in words:
            found.append(int(path.parent.name))
    return found


def test_killed_while_it_starts_others():
    """A child that is being started when its parent is killed must not stay behind, with the ports that it has."""
    for number in range(30):
        parent = subprocess.Popen(["bash", "-c", f"ulimit -u unlimited; while :; do sleep {MARK} & done"], stderr=subprocess.DEVNULL)
        time.sleep(0.01 + number / 1000)
        kill_tree(parent)
        left = marked()
        for pid in left:
            os.kill(pid, 9)
        assert not left, f"{len(left)} processes of round {number}"
