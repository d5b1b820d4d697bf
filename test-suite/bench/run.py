#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests of the benchmarks: each script of this folder, and the unit tests where they are built. The last line
says how many tests passed and failed in all."""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from tally import SKIPPED, VERDICT, Sum  # noqa: E402
from runner import closing  # noqa: E402


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
    """What its tests came to; a script that says nothing of any has failed."""
    print(f"== {name}", flush=True)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace")
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if not VERDICT.match(lines[-1]) and not SKIPPED.match(lines[-1]):  # those come at the end, of all
            print("   " + lines[-1], flush=True)
    status = process.wait()
    done = Sum()
    done.add("\n".join(lines))
    if not done.failed and (status != 0 or not done.passed + len(done.skipped)):
        print(f"   {name} ended with {status}", flush=True)
        done.failed = 1
    print(f"   {done.passed} of {done.passed + done.failed + len(done.skipped)} passed", flush=True)
    return done


def main():
    args = arguments()
    chosen = commands(args)
    if not chosen:
        sys.exit(f"there is no test named {', '.join(args.names)}: {', '.join(path.stem for path in HERE.glob('*.py'))}")
    sums = [run(name, command) for name, command in chosen.items()]
    return closing(sum(done.passed for done in sums), sum(done.failed for done in sums),
                   [skip for done in sums for skip in done.skipped])


if __name__ == "__main__":
    sys.exit(main())
