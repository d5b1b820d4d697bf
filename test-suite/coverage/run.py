#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Says which lines and branches of the engine the tests reach: the unit tests, the tool's tests and the simulation,
compiled for it in a folder of their own. Branches that only exceptions take, and assertions, are not counted, nor are those
that the file `exceptions` names with a reason. Fails where less is reached than the file `least` asks for."""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
ENGINE = "src/fs/cluster/"
PROGRAMS = ("unit-tests", "simulate", "clusterfs", "clusterfs-fill")
EXCEPTIONS = pathlib.Path(__file__).with_name("exceptions")
LEAST = pathlib.Path(__file__).with_name("least")
LIMIT = 3600  # seconds for one step


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=300, help="of the simulation (default 300)")
    parser.add_argument("--exhaustive", type=int, default=1, help="operations in its short histories (default 1)")
    parser.add_argument("--list", metavar="WORD", help="the branches never taken in files whose path has this")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def step(folder, *command):
    """Raises CalledProcessError with what the command printed."""
    print("==", " ".join(command[:3]), flush=True)
    return subprocess.run(command, cwd=folder, check=True, timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace").stdout


def run_tests(folder, args):
    step(folder, str(TOP / "configure"), "CXXFLAGS=-O0 -g --coverage -Wno-error", "LDFLAGS=--coverage")
    step(folder, "make", "-s", f"-j{args.jobs}", *PROGRAMS)
    commands = (("./unit-tests", "--gtest_brief=1"), ("./simulate", "--worlds", str(args.worlds)),
                ("./simulate", "--exhaustive", str(args.exhaustive)), ("make", "check-tool"))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:  # their counts are added up in files that they lock
        for done in [pool.submit(step, folder, *command) for command in commands]:
            done.result()


def report(folder):
    """gcovr's files of the engine."""
    found = folder / "coverage.json"
    step(TOP, "gcovr", "--root", str(TOP), "--filter", ENGINE, "--exclude-throw-branches", "--exclude-unreachable-branches",
         "--exclude-lines-by-pattern", r".*\bassert\(.*", "--json", str(found), str(folder))
    return json.loads(found.read_text())["files"]


def missing(line):
    """(whether it is never reached, its branches that are never taken)"""
    never = line["count"] == 0 and not line.get("gcovr/noncode")
    return never, sum(branch["count"] == 0 for branch in line.get("branches", ()))


def excused():
    """{(file, text of the line): branches}, from lines `file|branches|text of the line|why they cannot be taken`."""
    found = {}
    for number, text in enumerate(EXCEPTIONS.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        fields = text.split("|", 2)
        source, bar, reason = fields[-1].rpartition("|")
        if len(fields) != 3 or not bar or not fields[1].isdigit() or not source or not reason:
            sys.exit(f"{EXCEPTIONS}:{number}: not `file|branches|text of the line|reason`: {text}")
        found[ENGINE + fields[0], source] = int(fields[1])
    return found


def leave_out(files, exceptions):
    """Takes what is excused out of the files' lines. An exception for a line that has more missing than it names, or
    nothing, is of no use, and said."""
    unused = set(exceptions)
    for file in files:
        source = (TOP / file["file"]).read_text().splitlines()
        for line in file["lines"]:
            where = (file["file"], source[line["line_number"] - 1].strip())
            never, branches = missing(line)
            if (never or branches) and where in exceptions and branches <= exceptions[where]:
                unused.discard(where)
                line["branches"] = [branch for branch in line.get("branches", ()) if branch["count"]]
                line["gcovr/noncode"] = never
    for name, text in sorted(unused):
        print(f"exception of no use: {name}: {text}")


def count(file):
    """(lines, reached lines, branches, taken branches)"""
    lines = [line for line in file["lines"] if not line.get("gcovr/noncode")]
    branches = [branch for line in lines for branch in line.get("branches", ())]
    return (len(lines), sum(line["count"] > 0 for line in lines), len(branches), sum(branch["count"] > 0 for branch in branches))


def totals(files):
    """{folder, and all: (lines, reached lines, branches, taken branches)}"""
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        folder = str(pathlib.PurePath(file["file"]).parent.relative_to(ENGINE))
        for name in (folder, "all"):
            sums[name] = [a + b for a, b in zip(sums[name], count(file))]
    return dict(sums)


def shares(sums):
    """Percents of lines and branches that were reached."""
    lines, reached, branches, taken = sums
    return 100 * reached / max(1, lines), 100 * taken / branches if branches else 100.0


def below(sums, path=LEAST):
    """What is reached less than asked for, by lines `folder|percent of lines|percent of branches`."""
    wrong = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        name, *least = text.split("|")
        if len(least) != 2 or name not in sums:
            sys.exit(f"{path}:{number}: not `folder|percent of lines|percent of branches` of a folder that there is: {text}")
        for what, share, wanted in zip(("lines", "branches"), shares(sums[name]), map(float, least)):
            if share < wanted:
                wrong.append(f"{name}: {share:.2f}% of the {what} are reached, and not {wanted:g}%")
    return wrong


def show(sums):
    print(f"{'':14}{'lines':>8}{'reached':>10}{'branches':>10}{'taken':>10}")
    for name, counts in sorted(sums.items(), key=lambda item: (item[0] == "all", item[0])):
        lines, branches = shares(counts)
        print(f"{name:14}{counts[0]:8}{lines:9.1f}%{counts[2]:10}{branches:9.1f}%")


def show_missing(files, word):
    for file in files:
        source = (TOP / file["file"]).read_text().splitlines() if word in file["file"] else []
        for line in file["lines"] if source else ():
            never, branches = missing(line)
            if never or branches:
                what = f"{branches} of {len(line['branches'])}" if branches else "line"
                print(f"{file['file']}:{line['line_number']}: {what}: {source[line['line_number'] - 1].strip()}")


def main():
    args = arguments()
    exceptions = excused()
    if not shutil.which("gcovr"):
        sys.exit("gcovr is not installed (Debian package gcovr)")
    with tempfile.TemporaryDirectory(prefix="coverage-") as folder:
        try:
            run_tests(pathlib.Path(folder), args)
            files = report(pathlib.Path(folder))
        except subprocess.CalledProcessError as error:
            sys.exit(f"{' '.join(error.cmd)} ended with {error.returncode}:\n{error.stdout[-4000:]}")
    leave_out(files, exceptions)
    if args.list is not None:
        show_missing(files, args.list)
    sums = totals(files)
    show(sums)
    wrong = below(sums)
    for text in wrong:
        print(f"too little: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
