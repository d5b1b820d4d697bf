#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds up what the tests came to: of the accounts that GoogleTest and pytest leave (JUnit's XML), and of the logs of the
simulation (which counts as one test, however many worlds or crashes it went through). Names each test that was skipped.
With --strict, and where CI is true in the environment, a skip that this machine need not make (see skips beside this
file) counts as a failure. The last line is `N passed, N failed, N skipped`."""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ALLOWED = pathlib.Path(__file__).with_name("skips")
SIMULATED = re.compile(r"^(?:simulate: \d+ passed|exhaustive: \d+ histories, \d+ crashes), (\d+) failed$", re.MULTILINE)

#: GoogleTest says first where in the sources a test was skipped
GTEST_PLACE = re.compile(r"^\S+:\d+\n")


@dataclasses.dataclass
class Sum:
    passed: int = 0
    failed: int = 0
    skipped: list = dataclasses.field(default_factory=list)  # (name, reason)

    def add_log(self, text):
        """Adds the runs of the simulation in it."""
        for failed in SIMULATED.findall(text):
            self.passed += failed == "0"
            self.failed += failed != "0"

    def add_account(self, text):
        """Adds the tests of one XML file. Raises ParseError for what is none."""
        verdicts = {}
        for case in xml.etree.ElementTree.fromstring(text).iter("testcase"):
            if case.get("status") == "notrun":  # GoogleTest tells of disabled tests, too
                continue
            # pytest has two entries of a test that fails, and whose end fails, too
            verdicts.setdefault(f"{case.get('classname')}.{case.get('name')}", []).extend(case)
        for name, verdict in verdicts.items():
            tags = {one.tag: one for one in verdict}
            if "failure" in tags or "error" in tags:
                self.failed += 1
            elif "skipped" in tags:
                reason = GTEST_PLACE.sub("", tags["skipped"].get("message") or "")
                self.skipped.append((name, " ".join(reason.split()) or "it gives no reason"))
            else:
                self.passed += 1


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
    parser.add_argument("--failed", type=int, default=0, metavar="N", help="so many, unless an account tells of one")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="*.xml are accounts, others logs of the simulation")
    args = parser.parse_args()
    total = Sum()
    for path in args.files:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            (total.add_account if path.suffix == ".xml" else total.add_log)(text)
        except xml.etree.ElementTree.ParseError as error:
            sys.exit(f"{path} is not a whole account of tests: {error}")
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
