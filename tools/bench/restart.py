#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Time from the start of Squid to the first hit and to the whole index, after kill -9.

Squid stores one page and is killed; bench-load fills the same cache by the engine and crashes, too.
Then Squid is started and asked for the page, again and again, and for mgr:clusterfs."""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "test-suite" / "squid"))

from testlib.origin import Origin  # noqa: E402
from testlib.processes import give_to_squid, wait_for  # noqa: E402
from testlib.squid import Squid  # noqa: E402


def first_hit(squid, url):
    """Seconds from the start to the first hit, and to a listening port."""
    begin = time.monotonic()
    squid.start(wait=False)
    wait_for(squid.answers, "squid answering", 600, pause=0.002)
    listening = time.monotonic() - begin
    while True:
        reply = squid.client.get(url)
        reply.check()
        if "HIT" in squid.result(reply):
            return time.monotonic() - begin, listening
        if time.monotonic() - begin > 600:
            sys.exit("no hit within 600 s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--squid", type=pathlib.Path, default=TREE / "build" / "squid-7")
    parser.add_argument("--load", type=pathlib.Path, default=TREE / "bench-load", help="the program bench-load")
    parser.add_argument("--objects", type=int, default=1000000)
    parser.add_argument("--bytes", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=TREE / "build", help="where the image goes")
    args = parser.parse_args()
    if not args.load.exists():
        sys.exit(f"{args.load} is not there: make bench-load")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="restart-", dir=args.dir))
    folder.chmod(0o755)
    give_to_squid(folder)
    mb = args.objects * (args.bytes + 400) // 900000 + 256
    squid = Squid(args.squid, folder / "squid", "restart",
                  [f"cache_dir clusterfs {folder}/image {mb} object-size={max(1, args.bytes // 1024)} persist=1 checkpoint=10"])
    origin = Origin()
    try:
        squid.create()
        squid.start()
        url = origin.url("first", size=20000, maxage=864000)
        squid.client.get(url).check()
        wait_for(lambda: squid.values().number("clusters written") > 0, "page on the disk", 60)
        squid.kill()
        print(subprocess.run([str(args.load), f"{folder}/image", str(args.objects), str(args.bytes)],
                             check=True, capture_output=True, text=True).stdout.strip())
        hits, whole = [], []
        for run in range(args.runs):
            hit, listening = first_hit(squid, url)
            wait_for(lambda: squid.values()["state"] == "serving", "the whole index", 600)
            values = squid.values()
            hits.append(hit)
            whole.append(float(values["recovery time"].split()[0]) / 1000)
            print(f"run {run + 1}: listening after {listening:.3f} s, first hit after {hit:.3f} s, whole index of "
                  f"{values['objects recovered']} objects in {whole[-1]:.3f} s, {values['recovery reads']} reads, "
                  f"{values['recovery bytes']}, last stop: {values['last stop']}")
            squid.kill()
        print(f"median of {args.runs}: first hit after {statistics.median(hits):.3f} s, "
              f"whole index in {statistics.median(whole):.3f} s")
    finally:
        squid.kill()
        origin.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
