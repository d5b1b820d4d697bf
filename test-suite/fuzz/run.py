#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the fuzzers, one after another: each tries its seeds and its folder of corpus/, then what libFuzzer makes of them.
What makes one fail is kept in build/fuzz. A fuzzer passes that says it is done, with all its seeds tried and nothing new
kept there that made it fail. The last line says how many passed and failed."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from runner import closing  # noqa: E402

TOP = HERE.parent.parent
KEPT = TOP / "build" / "fuzz"
PROGRESS = re.compile(r"^#(\d+)\s.*\bcov: (\d+)", re.MULTILINE)
DONE = re.compile(r"^Done (\d+) runs in \d+ second", re.MULTILINE)
SLOW = {"image": 10}  # parts of the time, of targets that do few runs a second; others have one
REPEATABLE = ["-seed=1", "-runs=1000000"]
LIMITS = ["-max_len=8192", "-rss_limit_mb=1024", "-malloc_limit_mb=256", "-timeout=60"]
GRACE = 600  # seconds beyond those asked for: seeds are tried in any case


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", metavar="PATH", type=lambda path: pathlib.Path(path).resolve(), default=TOP / "clusterfs-fuzz")
    parser.add_argument("--kept", metavar="FOLDER", type=lambda path: pathlib.Path(path).resolve(), default=KEPT,
                        help="for what makes one fail (default build/fuzz)")
    parser.add_argument("--only", metavar="NAME", help="only this target")
    parser.add_argument("--seconds", type=float, default=60, help="for all of them together (default 60)")
    parser.add_argument("--keep", action="store_true",
                        help="begin at random, and with what earlier runs of this kind have kept there")
    return parser.parse_args()


def command(args, name, seconds, folders):
    return [str(args.program), f"--target={name}", *LIMITS, f"-max_total_time={max(1, round(seconds))}",
            f"-artifact_prefix={args.kept / name}-", *([] if args.keep else REPEATABLE), *map(str, folders)]


def artifacts(args, name):
    """What made the target fail, ever."""
    return {path.name for kind in ("crash", "leak", "oom", "timeout") for path in args.kept.glob(f"{name}-{kind}-*")}


def run(args, name, seconds, work):
    """Returns whether it passed, what it did, and what it said at the end when it did not."""
    seeds = work / f"{name}-seeds"
    found = args.kept / name if args.keep else work / name
    folders = [found, seeds] + [folder for folder in [HERE / "corpus" / name] if folder.is_dir()]
    for folder in (found, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([args.program, f"--target={name}", f"--write-seeds={seeds}"], check=True, timeout=GRACE)
    inputs = sum(path.stat().st_size > 0 for folder in folders for path in folder.iterdir())
    before = artifacts(args, name)
    # small stacks and a short memory for what was freed make runs faster
    environment = {**os.environ, "ASAN_OPTIONS": "malloc_context_size=8:quarantine_size_mb=32"}
    try:
        done = subprocess.run(command(args, name, seconds, folders), env=environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=seconds + GRACE)
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, status = (late.stdout or b"").decode(errors="replace"), -1
    progress, done, new = PROGRESS.findall(output), DONE.search(output), artifacts(args, name) - before
    did = f"{progress[-1][0]} runs, cov {progress[-1][1]}" if progress else "no run"
    wrong = []
    if status != 0:
        wrong.append(f"ended with {status}")
    if not progress or not int(progress[-1][1]):
        wrong.append("reached nothing")
    if not done or int(done[1]) < max(1, inputs):
        wrong.append(f"did not say that it is done with its {inputs} seeds")
    if new:
        wrong.append(f"kept {', '.join(sorted(new))}")
    return not wrong, did, f"{'; '.join(wrong)}:\n{output[-6000:]}" if wrong else ""


def main():
    args = arguments()
    if not os.access(args.program, os.X_OK):
        sys.exit(f"{args.program} is not a program: build it with make fuzz-programs")
    listed = subprocess.run([args.program, "--list"], check=True, stdout=subprocess.PIPE, text=True, timeout=GRACE)
    names = [name for name in sorted(listed.stdout.split()) if args.only in (None, name)]
    if not names:
        sys.exit(f"there is no target {args.only}; there are: {' '.join(sorted(listed.stdout.split()))}")
    args.kept.mkdir(parents=True, exist_ok=True)
    share = args.seconds / sum(SLOW.get(name, 1) for name in names)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=os.environ.get("TMPDIR") or args.kept.parent) as work:
        for name in names:
            begin = time.monotonic()
            passed, did, detail = run(args, name, share * SLOW.get(name, 1), pathlib.Path(work))
            print(f"{'ok' if passed else 'FAIL':5} {name} ({did}, {time.monotonic() - begin:.1f} s)", flush=True)
            if not passed:
                failed += 1
                print("      " + detail.rstrip().replace("\n", "\n      "))
                print(f"      try one input again: {args.program} --target={name} FILE", flush=True)
    return closing(len(names) - failed, failed)


if __name__ == "__main__":
    sys.exit(main())
