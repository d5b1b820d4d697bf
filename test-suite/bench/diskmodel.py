#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the modelled disk: each model against its own arithmetic and with fio (wide margins: the machine may be
busy), data integrity, faults, power cuts, and that nothing stays behind. Needs root and fio."""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent), str(TREE / "tools" / "bench")]

from diskcases import arithmetic, data, ends, powercut, timing, toolkit  # noqa: E402
from runner import closing  # noqa: E402

MODULES = (arithmetic, timing, data, powercut, ends)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=TREE, help="the folder of the program diskmodel")
    parser.add_argument("--only", metavar="NAME", help="only cases whose name contains NAME")
    return parser.parse_args()


def check_machine(args):
    if os.geteuid() != 0:
        sys.exit("these tests need root: they make block devices")
    if not shutil.which("fio"):
        sys.exit("these tests need fio (Debian package fio)")
    if not (args.programs / "diskmodel").exists():
        sys.exit(f"{args.programs}/diskmodel is not there: run make bench-programs, or give its folder by --programs")


def attempt(function, context):
    """What is wrong, or an empty text; what was left behind is wrong, too."""
    try:
        function(context)
        left = context.leftovers()
        return "left behind: " + ", ".join(left) if left else ""
    except Exception:  # pylint: disable=broad-except -- any failure is a finding
        return traceback.format_exc()


def run_one(function, context):
    """Whether a case passed."""
    begin = time.monotonic()
    for left in reversed(range(function.tries)):
        problem = attempt(function, context)
        said = "; ".join(context.take_notes())
        if not problem:
            break
        if left:
            print(f"again {function.__name__}: {problem.strip().splitlines()[-1]}", flush=True)
    verdict = "FAIL " if problem else "ok   "
    print(f"{verdict} {function.__name__} ({time.monotonic() - begin:.1f} s) {said}", flush=True)
    if problem:
        print(problem, flush=True)
    return not problem


def main():
    args = arguments()
    check_machine(args)
    cases = [function for module in MODULES for function in toolkit.cases_of(module)]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="disk-tests-") as folder:
        context = toolkit.Context(args.programs, pathlib.Path(folder))
        verdicts = [run_one(function, context) for function in cases if not args.only or args.only in function.__name__]
    print(f"{time.monotonic() - begin:.0f} s, load {os.getloadavg()[0]:.1f}")
    return closing(sum(verdicts), len(verdicts) - sum(verdicts))


if __name__ == "__main__":
    sys.exit(main())
