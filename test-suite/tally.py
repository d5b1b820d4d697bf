#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds up what the test programs say in their logs: GoogleTest, the run.py scripts, the simulation (which counts as one
test, however many worlds or crashes it went through). Names each test that was skipped. With --strict, and where CI is
true in the environment, a skip that this machine need not make (see skips beside this file) counts as a failure. The
last line is `N passed, N failed, N skipped`."""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ALLOWED = pathlib.Path(__file__).with_name("skips")
VERDICT = re.compile(r"^(\d+) passed, (\d+) failed(?:, \d+ skipped)?$")
SKIPPED = re.compile(r"^skipped: (\S+): (.*)$")
GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.$")
GTEST_FAILED = re.compile(r"^ ?(\d+) FAILED TESTS?$")
GTEST_RUNS = re.compile(r"^\[ RUN      \] (\S+)$")
GTEST_SKIPPED = re.compile(r"^(?:\S*/)?(\S+:\d+): Skipped$")
SIMULATED = re.compile(r"^(?:simulate: \d+ passed|exhaustive: \d+ histories, \d+ crashes), (\d+) failed$")


@dataclasses.dataclass
class Sum:
    passed: int = 0
    failed: int = 0
    skipped: list = dataclasses.field(default_factory=list)  # (name, reason)

    def add(self, text):
        """Adds what one log says."""
        test, lines = "", iter(text.splitlines())
        for line in lines:
            if (found := VERDICT.match(line)):
                self.passed += int(found[1])
                self.failed += int(found[2])
            elif (found := SKIPPED.match(line)):
                self.skipped.append((found[1], found[2]))
            elif (found := GTEST_PASSED.match(line)):
                self.passed += int(found[1])
            elif (found := GTEST_FAILED.match(line)):
                self.failed += int(found[1])
            elif (found := GTEST_RUNS.match(line)):
                test = found[1]
            elif (found := GTEST_SKIPPED.match(line)):
                self.skipped.append((test or found[1], next(lines, "").strip()))
            elif (found := SIMULATED.match(line)):
                self.passed += found[1] == "0"
                self.failed += found[1] != "0"


def excuses(path=ALLOWED):
    """(pattern of a reason, shell condition) pairs, from lines `pattern|condition|why`."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            pattern, _, rest = line.partition("|")
            condition, _, why = rest.rpartition("|")
            if not pattern or not condition or not why:
                sys.exit(f"{path}:{number}: not `pattern|condition|why`: {line}")
            found.append((re.compile(pattern), condition))
    return found


def must(reason, allowed):
    """Whether this machine cannot but skip for that reason."""
    return any(pattern.fullmatch(reason) and subprocess.run(["sh", "-c", condition], check=False).returncode == 0
               for pattern, condition in allowed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", default=os.environ.get("CI") == "true")
    parser.add_argument("--failed", type=int, default=0, metavar="N", help="so many, unless a log tells of one")
    parser.add_argument("logs", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    total = Sum()
    for log in args.logs:
        total.add(log.read_text(errors="replace"))
    allowed = excuses()
    needless = 0
    for name, reason in total.skipped:
        fine = must(reason, allowed)
        needless += not fine
        print(f"skipped: {name}: {reason}" + ("" if fine else " -- this machine need not skip it"))
    if args.strict:
        total.failed += needless
    total.failed = total.failed or args.failed
    print(f"{total.passed} passed, {total.failed} failed, {len(total.skipped)} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
