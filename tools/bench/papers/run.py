#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of the papers alone: Hummingbird, CFS, Damelo, TFS, and device bandwidth beside fio.

Part "papers" of ./bench does the same as part of a set. Needs root; prints tables in Markdown."""

import argparse
import contextlib
import dataclasses
import functools
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from benchlib import papers, papers_disk, papers_plan, papers_trace, processes  # noqa: E402
from benchlib.errors import BenchError  # noqa: E402
from benchlib.load import BUILD  # noqa: E402
from benchlib.tables import Table  # noqa: E402

#: those that a trace can be given for
WITH_TRACE = ("hummingbird", "cfs-day", "tfs")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=", ".join(papers_plan.EXPERIMENTS) + "; all by default")
    parser.add_argument("--scale", choices=papers_plan.SCALES, default="quick", help="how much of them (default quick)")
    parser.add_argument("--divide", type=int, metavar="N", help="the paper's sizes and counts by this, whatever the scale says")
    parser.add_argument("--stores", metavar="A,B", help="only these of " + ", ".join(papers_disk.STORES))
    parser.add_argument("--model", help="of the disk, instead of the scale's: hdd, hdd10k, ssd, fast")
    parser.add_argument("--on", type=pathlib.Path, metavar="PATH",
                        help="a block device or file in place of a modelled disk: IT IS OVERWRITTEN")
    parser.add_argument("--trace", type=pathlib.Path, metavar="FILE", help="an access.log, a common log or a recorded trace "
                        f"for {', '.join(WITH_TRACE)}; .gz or not")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (default 1)")
    parser.add_argument("--programs", type=pathlib.Path, default=BUILD, metavar="DIR", help="where bench-papers was built (default build)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="keeps the raw results there")
    return parser.parse_args()


def scaled(args):
    """The name of a scale that has what the options change."""
    scale = papers_plan.SCALES[args.scale]
    if args.divide is not None:
        if not 1 <= args.divide <= 1024:
            raise BenchError(f"--divide {args.divide} is not a whole number from 1 to 1024")
        scale = dataclasses.replace(scale, hummingbird=args.divide, cfs=args.divide, damelo=args.divide)
    if args.model:
        scale = dataclasses.replace(scale, model=args.model, bandwidth=tuple((args.model, size) for _, size in scale.bandwidth[:1]))
    papers_plan.SCALES["as asked"] = scale
    return "as asked"


def chosen(args, scale):
    for name in args.experiments:
        if name not in papers_plan.EXPERIMENTS:
            raise BenchError(f"'{name}' is not an experiment: {', '.join(papers_plan.EXPERIMENTS)}")
    stores = args.stores.split(",") if args.stores else papers_disk.STORES
    for name in stores:
        if name not in papers_disk.STORES:
            raise BenchError(f"'{name}' is not a store: {', '.join(papers_disk.STORES)}")
    cases = papers_plan.cases(scale, args.experiments or papers_plan.EXPERIMENTS, xfs=bool(processes.tool("mkfs.xfs")))
    cases = [case for case in cases if case.store in stores]
    absent = papers.missing(cases)
    if absent:
        raise BenchError("; ".join(absent))
    return cases


def run_all(cases, args, disk_class):
    """All cases; those that a trace can be given for, with the given one."""
    def step(what):
        processes.check_signals()
        print(what, file=sys.stderr, flush=True)

    if not args.trace:
        return papers.run_cases(cases, disk_class, step, args.programs, args.seed)
    with tempfile.TemporaryDirectory(prefix="bench-papers-trace-") as folder:
        path = pathlib.Path(folder) / "trace"
        found = papers_trace.convert(args.trace, path)
        print(f"{args.trace}: {found['requests']} requests of {found['objects']} objects, {found['skipped']} lines are left out",
              file=sys.stderr)
        runs, failed = [], []
        for with_trace in (True, False):
            part = [case for case in cases if (case.experiment in WITH_TRACE) == with_trace]
            if part:
                more = papers.run_cases(part, disk_class, step, args.programs, args.seed, ("--trace", path) if with_trace else ())
                runs += more[0]
                failed += more[1]
        return runs, failed


def main():
    args = arguments()
    processes.end_on_signals()
    try:
        scale = scaled(args)
        cases = chosen(args, scale)
        if args.on:
            disk_class = functools.partial(papers_disk.PlainDisk, args.on)
        else:
            from benchlib.disk import Disk as disk_class  # needs its program
        with contextlib.suppress(BrokenPipeError):
            runs, failed = run_all(cases, args, disk_class)
            result = papers.result_of(runs, failed, str(args.on) if args.on else papers_plan.SCALES[scale].model)
            if args.json:
                args.json.write_text(json.dumps(result, indent=1))
            print("\n\n".join(result["text"]) + "\n")
            for table in result["tables"]:
                print(Table(table["title"], table["columns"], table["rows"], table["note"]).markdown())
            return 1 if failed else 0
    except BenchError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    except processes.Interrupted as interrupted:
        print(f"papers: ended by {interrupted}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
