#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the clusterfs tool: images that the tool itself makes, filled through the engine by
clusterfs-fill, damaged byte by byte, and what the tool says of them."""

import argparse
import importlib
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import toolkit  # noqa: E402
from runner import closing  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", metavar="PATH", default=TOP / "clusterfs", help="the program to test")
    parser.add_argument("--fill", metavar="PATH", default=TOP / "clusterfs-fill", help="the program that fills images")
    parser.add_argument("--only", metavar="NAME", help="only cases whose name contains NAME")
    parser.add_argument("--fuzz", metavar="N", type=int, default=15, help="damaged images of each kind (default 15)")
    parser.add_argument("--seed", type=int, default=1, help="for the damage (default 1)")
    parser.add_argument("--keep", action="store_true", help="keep the folders of cases that passed, too")
    return parser.parse_args()


def run_case(case, folder, args):
    """Returns a verdict and what to show below it."""
    folder.mkdir()
    try:
        case.function(toolkit.Test(folder, args))
    except toolkit.Skip as reason:
        return "skip", str(reason)
    except Exception:  # pylint: disable=broad-except -- any failure is a finding
        return "FAIL", traceback.format_exc()
    if not args.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return "ok", ""


def main():
    args = arguments()
    for program in (args.tool, args.fill):
        if not os.access(program, os.X_OK):
            sys.exit(f"{program} is not a program: build it with make clusterfs clusterfs-fill")
    for path in sorted(HERE.glob("cases_*.py")):
        importlib.import_module(path.stem)
    chosen = [case for case in toolkit.CASES if not args.only or args.only in case.name]
    base = os.environ.get("TMPDIR") or (TOP / "build" if (TOP / "build").is_dir() else None)
    work = pathlib.Path(tempfile.mkdtemp(prefix="tool-tests-", dir=base))
    passed, failed, skipped = 0, 0, []
    for case in chosen:
        begin = time.monotonic()
        verdict, detail = run_case(case, work / case.name, args)
        passed += verdict == "ok"
        failed += verdict == "FAIL"
        skipped += [(case.name, detail)] if verdict == "skip" else []
        print(f"{verdict:5} {case.name} ({time.monotonic() - begin:.1f} s)")
        if detail:
            print("      " + detail.rstrip().replace("\n", "\n      "), flush=True)
    if failed or args.keep:
        print(f"folders of the runs: {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)
    return closing(passed, failed, skipped)


if __name__ == "__main__":
    sys.exit(main())
