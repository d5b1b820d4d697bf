#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the simulation, or the unit tests, with one mistake after the other in the engine (mutants.py) and says whether
they notice it: all, or the run fails. Works on copies of the tree, which must be built."""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test-suite"))

from mutants import MUTANTS  # noqa: E402
from runner import closing  # noqa: E402

ENGINE = pathlib.Path("src/fs/cluster")
#: what a copy can do without
LEFT_OUT = shutil.ignore_patterns(".git", "build", "*-asan*", "clusterfs_fuzz-*", "clusterfs-fuzz", "clusterfs_asan-*", "unit_tests*",
                                  "unit-tests", "__pycache__")
GRACE = 900  # seconds for a build
PATIENCE = 600  # seconds for tests: with a mistake, they may never end, which nobody would wait for


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="only mutants whose name contains this")
    parser.add_argument("--worlds", type=int, default=400, help="that a mistake has to be noticed in (default 400)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at once (default: one for each processor)")
    return parser.parse_args()


def build(tree, program):
    """Raises CalledProcessError with what the compiler said."""
    # a mistake may leave something unused, which is no error here
    subprocess.run(["make", "-s", "CXXFLAGS=-O1 -g0 -Wno-error", program], cwd=tree, check=True, timeout=GRACE,
                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def complaint(words, telling):
    """What a program first complained about, in a line that begins with one of telling; None where it passed, or did not end."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        stopped = threading.Event()
        late = threading.Timer(PATIENCE, lambda: (stopped.set(), process.kill()))
        late.start()
        last = ""
        try:
            for line in process.stdout:
                last = line.strip() or last
                if line.startswith(telling):
                    return last
            return None if process.wait() == 0 or stopped.is_set() else f"ended with {process.returncode}: {last}"
        finally:
            late.cancel()
            process.kill()


def noticed(mutant, tree, args):
    """Makes the mistake, looks, and takes it back: what the tests complained about, or None."""
    path = tree / ENGINE / mutant.file
    compiled = path.with_suffix(".o")
    right, times, before = path.read_text(), path.stat(), compiled.read_bytes()
    if right.count(mutant.before) != 1:
        return f"{ENGINE / mutant.file} has its text {right.count(mutant.before)} times: bring mutants.py up to date", False
    path.write_text(right.replace(mutant.before, mutant.after))
    try:
        if mutant.tests:
            build(tree, "unit-tests")
            return complaint([tree / "unit-tests", "--gtest_brief=1", f"--gtest_filter={mutant.tests}"], ("[  FAILED  ]",)), True
        build(tree, "simulate")
        return complaint([tree / "simulate", "--worlds", str(args.worlds)], ("BROKEN:",)), True
    except subprocess.CalledProcessError as error:
        return f"is not compiled: {error.stdout[-1000:]}", False
    finally:
        # what is compiled from the right text is still there: no need to do that again
        path.write_text(right)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        compiled.write_bytes(before)


def judge(mutant, trees, args):
    """Whether it was noticed."""
    begin, tree = time.monotonic(), trees.get()
    try:
        said, well = noticed(mutant, tree, args)
    finally:
        trees.put(tree)
    if said is None:
        said, well = f"not noticed by {mutant.tests or f'{args.worlds} worlds'}", False
    print(f"{'ok' if well else 'FAIL':5} {mutant.name} ({time.monotonic() - begin:.0f} s): {said}", flush=True)
    return well


def main():
    args = arguments()
    chosen = [mutant for mutant in MUTANTS if args.only in mutant.name]
    trees = queue.Queue()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        for number in range(args.jobs):
            tree = pathlib.Path(folder) / f"tree{number}"
            shutil.copytree(TOP, tree, symlinks=True, ignore=LEFT_OUT)
            trees.put(tree)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            survived = list(pool.map(lambda mutant: judge(mutant, trees, args), chosen)).count(False)
    return closing(len(chosen) - survived, survived)


if __name__ == "__main__":
    sys.exit(main())
