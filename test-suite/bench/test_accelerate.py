# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of tools/bench/accelerate: a small run, and bad arguments. The visitors look at the bytes of each file. Judges no speed."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from common import TOP

RUN = TOP / "tools" / "bench" / "accelerate" / "run.py"


def run(*arguments):
    return subprocess.run([sys.executable, RUN, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("order", ("mixed", "pages"))
def test_a_small_run(programs, folder, order):
    assert (programs / "diskmodel").exists()
    if os.geteuid() != 0:
        pytest.skip("needs root and loop devices")
    for needed in ("/dev/loop-control", "/dev/fuse"):
        if not os.path.exists(needed):
            pytest.skip(f"there is no {needed}")
    out = folder / "out.json"
    before = pathlib.Path("/proc/mounts").read_text()
    done = run("hdd", "--pages", 12, "--files", 4, "--bytes", 3000, "--seconds", 0.5, "--rounds", 1, "--processes", 2, "--order", order, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert pathlib.Path("/proc/mounts").read_text() == before, "something is still mounted"
    found = json.loads(out.read_text())
    assert found["arguments"]["order"] == order
    plain, accelerated, trusted = found["rounds"]
    assert [one["who"] for one in found["rounds"]] == ["ext4", "clusterfs", "clusterfs, trusted=3600"]
    for one in (plain, accelerated, trusted):
        assert one["model"] == "hdd" and one["visits"] >= 2 and one["memoryMb"] == plain["memoryMb"] and one["milliseconds"]["p99"] > 0, one
    # all files were copied in the first visits, and all later ones came from there
    counts = done.stderr.partition("opened ")[2].split()
    opened, stored = int(counts[0]), int(counts[2])
    assert opened == stored + 48 and "copied 48 files, failed to copy 0" in done.stderr, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| hdd, ")]
    assert len(rows) == 3 and all(line.count("|") == 6 for line in rows), done.stdout


def test_bad_arguments():
    for words in (("--order", "none"), ("--pages", "few"), ("--what",)):
        done = run(*words)
        assert done.returncode == 2 and "error:" in done.stderr, done.stderr
    done = run("floppy", "--pages", 2, "--rounds", 1)
    assert done.returncode != 0 and "floppy" in done.stderr, done.stderr
