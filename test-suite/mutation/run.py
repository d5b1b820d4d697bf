#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the simulation with one mistake after the other in the engine (mutants.py) and says which of them it
notices: all, or the run fails. Works on a copy of the tree, which must be built."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test-suite"))

from mutants import MUTANTS  # noqa: E402
from runner import closing  # noqa: E402

ENGINE = pathlib.Path("src/fs/cluster")
#: what a copy can do without
LEFT_OUT = shutil.ignore_patterns(".git", "build", "*-asan*", "clusterfs_fuzz-*", "clusterfs_asan-*", "unit_tests*", "__pycache__")
GRACE = 900  # seconds for a build, and for a simulation


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="only mutants whose name contains this")
    parser.add_argument("--worlds", type=int, default=400, help="that a mistake has to be noticed in (default 400)")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def build(tree, jobs):
    """Raises CalledProcessError with what the compiler said."""
    # a mistake may leave something unused, which is no error here
    subprocess.run(["make", "-s", f"-j{jobs}", "CXXFLAGS=-O2 -g0 -Wno-error", "simulate"], cwd=tree, check=True, timeout=GRACE,
                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def complaint(tree, worlds):
    """What the simulation first complained about; None where it passed."""
    process = subprocess.Popen([str(tree / "simulate"), "--worlds", str(worlds)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    last = ""
    try:
        for line in process.stdout:
            last = line.strip() or last
            if line.startswith("BROKEN:"):
                return last
        return None if process.wait(GRACE) == 0 else last
    finally:
        process.kill()
        process.wait()


def noticed(mutant, tree, args):
    """Makes the mistake, looks, and takes it back: what the simulation complained about, or None."""
    path = tree / ENGINE / mutant.file
    right = path.read_text()
    if right.count(mutant.before) != 1:
        raise SystemExit(f"{mutant.name}: {ENGINE / mutant.file} has its text {right.count(mutant.before)} times: bring mutants.py up to date")
    path.write_text(right.replace(mutant.before, mutant.after))
    try:
        build(tree, args.jobs)
        return complaint(tree, args.worlds)
    finally:
        path.write_text(right)


def main():
    args = arguments()
    chosen = [mutant for mutant in MUTANTS if args.only in mutant.name]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        tree = pathlib.Path(folder) / "tree"
        shutil.copytree(TOP, tree, symlinks=True, ignore=LEFT_OUT)
        for mutant in chosen:
            begin = time.monotonic()
            found = noticed(mutant, tree, args)
            survived += found is None
            print(f"{'FAIL' if found is None else 'ok':5} {mutant.name} ({time.monotonic() - begin:.0f} s): "
                  f"{found or f'not noticed in {args.worlds} worlds'}", flush=True)
    return closing(len(chosen) - survived, survived)


if __name__ == "__main__":
    sys.exit(main())
