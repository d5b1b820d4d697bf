#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures clusterfs accelerate beside ext4 alone: processes visit pages, which are files of a folder, on one modelled
disk with limited memory. The disk has two halves: ext4 with all files, and the store; ext4 alone has the same half. Each round makes
the disk anew, visits each page once and then at random with a disk that takes no time, and then measures. Prints a table, and the raw figures of
each round. Needs root, and make bench-programs."""

import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from benchlib import rawtext  # noqa: E402
from benchlib.cgroup import Cgroup  # noqa: E402
from benchlib.disk import Disk  # noqa: E402
from benchlib.load import BUILD, program  # noqa: E402
from benchlib.measure import difference  # noqa: E402
from benchlib.processes import checked, shielded, start, wait_until  # noqa: E402
from benchlib.storage import EXT4_FORMAT, EXT4_MOUNT  # noqa: E402

MB = 1 << 20
PROGRAM_MB = 72  # the visitors' interpreters take 37, and the accelerator's code and threads some
TRUSTED = "clusterfs, trusted=3600"
WHO = ("ext4", "clusterfs", TRUSTED)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["hdd", "ssd"], metavar="MODEL", help="of the disk: hdd, ssd (default: both)")
    parser.add_argument("--pages", type=int, default=1500, help="folders, each with a page's files (default 1500)")
    parser.add_argument("--files", type=int, default=20, help="in a page (default 20)")
    parser.add_argument("--bytes", type=int, default=10000, help="of a file, in the mean; half of them have less than a third of it (default 10000)")
    parser.add_argument("--order", choices=("mixed", "pages"), default="mixed",
                        help="in which files were made: all pages at a time, as a site grows, or one page after the other (default mixed)")
    parser.add_argument("--memory-share", type=float, default=1 / 7, help="of the files' bytes, beside that of programs (default 1/7)")
    parser.add_argument("--processes", type=int, default=8, help="that visit pages at a time, without a pause (default 8)")
    parser.add_argument("--zipf", type=float, default=0.8, help="exponent of the pages' popularity (default 0.8)")
    parser.add_argument("--settle", type=int, default=1, help="visits at random before, for each page (default 1)")
    parser.add_argument("--seconds", type=float, default=20, help="that are measured in each round (default 20)")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--out", type=pathlib.Path, help="a file for the raw figures, as JSON (default: none)")
    return parser.parse_args()


class Site:
    """The files, and who wants them."""

    def __init__(self, args):
        self.args = args
        chance = random.Random(1)
        self.sizes = [[1 + int(chance.lognormvariate(0, 1.5) * args.bytes / 3.08) for _ in range(args.files)] for _ in range(args.pages)]
        self.bytes = sum(map(sum, self.sizes))
        weights = [1 / (n + 1) ** args.zipf for n in range(args.pages)]
        chance.shuffle(weights)
        self.weights = weights

    def names(self, page):
        return [f"page{page}/file{n}" for n in range(self.args.files)]

    def make(self, folder):
        made = [(page, n) for page in range(self.args.pages) for n in range(self.args.files)]
        if self.args.order == "mixed":
            random.Random(2).shuffle(made)
        for page in range(self.args.pages):
            (folder / f"page{page}").mkdir()
        past = time.time() - 86400
        for page, n in made:
            path = folder / f"page{page}" / f"file{n}"
            path.write_bytes(content(page, n, self.sizes[page][n]))
            os.utime(path, (past, past))


def content(page, n, size):
    piece = f"{page} {n} ".encode() * 100
    return (piece * (size // len(piece) + 1))[:size]


def visit(folder, site, page, seconds):
    """All files of a page, one after the other; their bytes are looked at. Adds the visit's time."""
    begin = time.monotonic()
    for n, name in enumerate(site.names(page)):
        data = (folder / name).read_bytes()
        if len(data) != site.sizes[page][n] or data[:20] != content(page, n, min(20, len(data))):
            raise SystemExit(f"{name}: other bytes than were written")
    seconds.append(time.monotonic() - begin)


def everything(folder, site, number, out):
    """Its share of all pages, in an order of its own."""
    pages = list(range(number, site.args.pages, site.args.processes))
    random.Random(number).shuffle(pages)
    seconds = []
    for page in pages:
        visit(folder, site, page, seconds)
    out.put(seconds)


def settling(folder, site, number, out):
    """Its share of so many visits, as they are measured: the store learns what belongs together."""
    chance = random.Random(200 + number)
    seconds = []
    for page in chance.choices(range(site.args.pages), site.weights, k=site.args.pages * site.args.settle // site.args.processes):
        visit(folder, site, page, seconds)
    out.put(seconds)


def measured(folder, site, number, out):
    chance = random.Random(100 + number)
    end, seconds = time.monotonic() + site.args.seconds, []
    pages = chance.choices(range(site.args.pages), site.weights, k=100000)
    while time.monotonic() < end:
        visit(folder, site, pages[len(seconds)], seconds)
    out.put(seconds)


def together(group, work, folder, site):
    """Runs it in all processes, in the group. Returns the times of all visits."""
    out = multiprocessing.Queue()

    def begin(number):
        group.join()
        work(folder, site, number, out)
    processes = [multiprocessing.Process(target=begin, args=(n,)) for n in range(site.args.processes)]
    for process in processes:
        process.start()
    times = []
    for _ in processes:
        wait_until(lambda: not out.empty() or any(p.exitcode for p in processes), "the visits end", timeout=1800, pause=0.1)
        if any(p.exitcode for p in processes):
            raise SystemExit("a process of the visitors has failed")
        times += out.get()
    for process in processes:
        process.join()
    return times


@contextlib.contextmanager
def halves(disk):
    """Two loop devices, each with half of the disk."""
    half = disk.size // 2
    made = []
    try:
        for n in range(2):
            made.append(checked("losetup", "--find", "--show", "--direct-io=on", f"--offset={n * half}", f"--sizelimit={half}", disk.device).strip())
        yield made
    finally:
        with shielded():
            for device in made:
                checked("losetup", "--detach", device)


@contextlib.contextmanager
def mounted(device, folder):
    folder.mkdir()
    checked("mount", "-t", "ext4", "-o", EXT4_MOUNT, device, folder)
    try:
        yield folder
    finally:
        with shielded():
            checked("umount", folder, timeout=300)


@contextlib.contextmanager
def accelerated(group, folder, store, place, megabytes, trusted):
    """The mount of clusterfs accelerate. Two fifths of the memory are its read cache; the kernel keeps names and pages of files in the rest."""
    place.mkdir()
    tool = program("clusterfs")
    checked(tool, "format", store)
    with tempfile.TemporaryFile("w+") as log:
        process = start([tool, "accelerate", folder, f"--store={store}", f"--mount={place}", "--settled=0", f"--trusted={trusted}", "--option=staging=8",
                         f"--option=read-cache={max(4, megabytes * 2 // 5)}"], group.join, stdout=log, stderr=log)
        try:
            wait_until(lambda: os.path.ismount(place) or process.poll() is not None, "the mount")
            yield place
        finally:
            with shielded():
                process.terminate()
                process.wait(120)
                log.seek(0)
                said = log.read()
    if process.returncode != 0:
        checked("umount", "-l", place)
        raise SystemExit(f"clusterfs accelerate ended with {process.returncode}: {said}")
    print(said.strip().replace("\n", "\n    "), file=sys.stderr)


def one_round(model, who, site, work):
    size = max(512, 4 * site.bytes // MB) * MB
    megabytes = max(8, int(site.bytes * site.args.memory_share) // MB)
    with Disk(model, size) as disk, halves(disk) as (files, store), contextlib.ExitStack() as stack:
        disk.set(model="fast")
        checked("mkfs.ext4", *EXT4_FORMAT, files)
        with mounted(files, work / "making") as folder:
            site.make(folder)
        (work / "making").rmdir()
        folder = stack.enter_context(mounted(files, work / "files"))
        group = stack.enter_context(Cgroup(f"accelerate-{WHO.index(who)}", (PROGRAM_MB + megabytes) * MB))
        place = folder if who == "ext4" else stack.enter_context(accelerated(group, folder, store, work / "mount", megabytes, 3600 if who == TRUSTED else 0))
        together(group, everything, place, site)
        together(group, settling, place, site)
        disk.set(model=model)
        before, begin = disk.stats(), time.monotonic()
        times = together(group, measured, place, site)
        seconds = time.monotonic() - begin
        counts = difference(before, disk.stats())
        disk.set(model="fast")
    for left in ("files", "mount"):
        if (work / left).exists():
            (work / left).rmdir()
    times.sort()
    return {"model": model, "who": who, "visits": len(times), "seconds": seconds, "visitsPerSecond": len(times) / seconds,
            "milliseconds": {"mean": 1000 * statistics.fmean(times), "p99": 1000 * times[int(len(times) * 0.99)]}, "disk": counts,
            "memoryMb": PROGRAM_MB + megabytes, "fileMb": site.bytes // MB}


def main():
    args = arguments()
    site, rounds = Site(args), []
    print(f"{args.pages} pages of {args.files} files, {site.bytes // MB} MB; {args.processes} processes, Zipf {args.zipf}; files made in order: {args.order}")
    for model in args.models:
        for _ in range(args.rounds):
            for who in WHO:  # side by side in time
                with tempfile.TemporaryDirectory(dir=BUILD) as work:
                    rounds.append(one_round(model, who, site, pathlib.Path(work)))
                print(json.dumps(rounds[-1]), file=sys.stderr)
    if args.out:
        args.out.write_text(rawtext.text({"arguments": {**vars(args), "out": None}, "rounds": rounds}) + "\n", encoding="utf-8")
    print("\n| disk, who | visits/s | ms a visit: mean; p99 | disk reads a visit | KB of a read |\n|---|---:|---:|---:|---:|")
    for model in args.models:
        for who in WHO:
            mine = [one for one in rounds if one["model"] == model and one["who"] == who]

            def middle(value, form):
                values = sorted(value(one) for one in mine)
                return f"{statistics.median(values):{form}} ({values[0]:{form}} to {values[-1]:{form}})"
            reads = middle(lambda one: one["disk"]["reads"] / one["visits"], ".1f")
            kilobytes = middle(lambda one: one["disk"]["readBytes"] / max(1, one["disk"]["reads"]) / 1000, ".0f")
            print(f"| {model}, {who} | {middle(lambda one: one['visitsPerSecond'], '.1f')} | {middle(lambda one: one['milliseconds']['mean'], '.0f')}; "
                  f"{middle(lambda one: one['milliseconds']['p99'], '.0f')} | {reads} | {kilobytes} |")


if __name__ == "__main__":
    main()
