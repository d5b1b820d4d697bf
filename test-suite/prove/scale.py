#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores many small objects on a sparse image as large as a large disk, dies without closing, starts, stores a tenth of
them anew, dies again. clusterfs check must find each of them, whole."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BYTES = 300  # of an object
LIMIT = 3600  # seconds for one command


def run(*words):
    """What it printed; ends the program when it failed."""
    begin = time.monotonic()
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False)
    print(f"{time.monotonic() - begin:6.1f} s: {pathlib.Path(words[0]).name} {' '.join(map(str, words[1:]))}", flush=True)
    if done.returncode:
        sys.exit(f"ended with {done.returncode}: {(done.stderr or done.stdout)[-1000:].strip()}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--terabytes", type=float, required=True, help="that the image seems to have")
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument("--programs", metavar="FOLDER", type=pathlib.Path, default=TOP / "build", help="where clusterfs and bench-scale are")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scale-", dir=TOP / "build") as folder:
        image = pathlib.Path(folder) / "image"
        image.touch(mode=0o600)
        with open(image, "r+b") as file:
            file.truncate(int(args.terabytes * (1 << 40)))
        run(args.programs / "clusterfs", "format", image)
        for objects in (args.objects, args.objects // 10):
            run(args.programs / "bench-scale", "--load", image, "--objects", objects, "--bytes", BYTES)
        found = json.loads(run(args.programs / "clusterfs", "check", image, "--json"))
    wanted = {"objects": args.objects, "object_bytes": args.objects * BYTES, "problem_count": 0, "damaged_objects": 0, "clean": False}
    wrong = {name: found.get(name) for name, value in wanted.items() if found.get(name) != value}
    if wrong:
        sys.exit(f"check found {wrong} and not {wanted}: {found.get('problems', [])[:3]}")
    print(f"{args.objects} objects: all are there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
