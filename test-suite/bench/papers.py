#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of bench-papers and of what runs it: each experiment at tiny scale, its counts, its checks of what is read, its
errors, and that nothing stays behind. Judges no speed."""

import argparse
import os
import pathlib
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent), str(TREE / "tools" / "bench")]

from paperscases import experiments, errors, polygraph, runs, toolkit, traces  # noqa: E402
from runner import closing  # noqa: E402

MODULES = (experiments, traces, errors, runs, polygraph)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=TREE, help="the folder of the program bench-papers")
    parser.add_argument("--only", metavar="NAME", help="only cases whose name contains NAME")
    return parser.parse_args()


def run_one(function, programs):
    """(name, verdict, what it said); what a case left behind is a failure, too."""
    begin, verdict, said = time.monotonic(), "ok", ""
    before = toolkit.leftovers()
    base = TREE / "build" if (TREE / "build").is_dir() else None
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else base
    with tempfile.TemporaryDirectory(prefix="papers-tests-", dir=base) as folder, \
            tempfile.TemporaryDirectory(prefix="papers-tests-", dir=shm) as memory:
        try:
            function(toolkit.Context(programs.absolute(), pathlib.Path(folder), pathlib.Path(memory)))
            left = toolkit.leftovers() - before
            assert not left, f"left behind: {', '.join(sorted(left))}"
        except toolkit.Skip as reason:
            verdict, said = "skip", str(reason)
        except Exception:  # pylint: disable=broad-except -- any failure is a finding
            verdict, said = "FAIL", "\n" + traceback.format_exc()
    print(f"{verdict:5} {function.__name__} ({time.monotonic() - begin:.1f} s) {said}", flush=True)
    return function.__name__, verdict, said


def main():
    args = arguments()
    if not os.access(args.programs / "bench-papers", os.X_OK):
        sys.exit(f"{args.programs / 'bench-papers'} is not there: run make bench-programs, or give its folder by --programs")
    cases = [function for module in MODULES for function in toolkit.cases_of(module)
             if not args.only or args.only in function.__name__]
    done = [run_one(function, args.programs) for function in cases]
    verdicts = [verdict for _, verdict, _ in done]
    return closing(verdicts.count("ok"), verdicts.count("FAIL"), [(name, said) for name, verdict, said in done if verdict == "skip"])


if __name__ == "__main__":
    sys.exit(main())
