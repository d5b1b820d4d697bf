#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests of the benchmarks: each script of this folder, and the unit tests where they are built. The last line
says how many tests passed and failed in all."""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
VERDICT = re.compile(r"^(\d+) passed, (\d+) failed")
GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.")
GTEST_FAILED = re.compile(r"^ ?(\d+) FAILED TESTS?$")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=TREE, help="where the benchmark programs were built")
    parser.add_argument("--squid", type=pathlib.Path, default=TREE / "build" / "squid-7", metavar="PREFIX",
                        help="an installed Squid with clusterfs")
    parser.add_argument("names", nargs="*", help="only these scripts, such as driver")
    return parser.parse_args()


def commands(args):
    """{name: command line} of everything there is."""
    found = {}
    unit = args.programs / "bench-unit-tests"
    if unit.exists():
        found["unit"] = [str(unit), "--gtest_brief=1"]
    for script in sorted(HERE.glob("*.py")):
        if script.name != "run.py":
            found[script.stem] = [sys.executable, str(script), "--programs", str(args.programs.resolve())]
    if "driver" in found:
        found["driver"] += ["--squid", str(args.squid.resolve())]
    return {name: command for name, command in found.items() if not args.names or name in args.names}


def run(name, command):
    """(passed, failed); a script that says neither has failed."""
    print(f"== {name}", flush=True)
    passed, failed, said = 0, 0, False
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace")
    for line in process.stdout:
        counts = VERDICT.match(line)
        good, bad = GTEST_PASSED.match(line), GTEST_FAILED.match(line)
        if counts:
            passed, failed, said = int(counts[1]), int(counts[2]), True
            continue  # it is added up below
        print("   " + line.rstrip(), flush=True)
        passed, said = (int(good[1]), True) if good else (passed, said)
        failed, said = (int(bad[1]), True) if bad else (failed, said)
    status = process.wait()
    if (status != 0 or not said) and not failed:
        print(f"   {name} ended with {status}", flush=True)
        failed = 1
    print(f"   {passed} of {passed + failed} passed", flush=True)
    return passed, failed


def main():
    args = arguments()
    chosen = commands(args)
    if not chosen:
        sys.exit(f"there is no test named {', '.join(args.names)}: {', '.join(path.stem for path in HERE.glob('*.py'))}")
    counts = [run(name, command) for name, command in chosen.items()]
    print(f"{sum(passed for passed, _ in counts)} passed, {sum(failed for _, failed in counts)} failed")
    return 1 if any(failed for _, failed in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
