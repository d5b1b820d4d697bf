#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of what counts the tests: no verdict is lost, each skip is named, and a skip that need not be is told."""

import argparse
import importlib
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from runner import run_all  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    args = parser.parse_args()
    cases = []
    for path in sorted(HERE.glob("cases_*.py")):
        module = importlib.import_module(path.stem)
        cases += [thing for name, thing in vars(module).items() if name.startswith("case_")]
    with tempfile.TemporaryDirectory(prefix="harness-tests-") as folder:
        return run_all(cases, args.only, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
