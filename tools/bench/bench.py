#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares clusterfs with ufs, aufs, diskd and rock on a modelled disk with limited memory, and draws the result."""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

from benchlib import machine, plans, processes, progress, results, scale  # noqa: E402
from benchlib.errors import BenchError  # noqa: E402
from benchlib.results import Results  # noqa: E402

EPILOG = """examples:
  ./bench quick                          everything at small scale, under 10 minutes
  ./bench full                           all stores on hdd and ssd, under 3 hours
  ./bench more                           other sizes and loads, workers, the papers, about 3 hours
  ./bench full pages-hdd restart         these parts of it
  ./bench full pages-hdd-aged --stores clusterfs,aufs --with varnish,nginx
  ./bench report build/bench/full        writes report.md and report.html there
  ./bench compare build/bench/before build/bench/full
  ./bench keep build/bench/full docs/results/full
An interrupted set goes on where it was when the same command is given again.
./bench needs root: a FUSE daemon below loop devices models the disks, and a cgroup limits the memory."""


def arguments():
    parser = argparse.ArgumentParser(prog="./bench", description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="do", metavar="COMMAND", required=True)
    for name, what in (("quick", "a small set, under 10 minutes"), ("full", "all stores on hdd and ssd, under 3 hours"),
                       ("more", "other sizes and loads, workers, the papers: about 3 hours"),
                       ("tiny", "a set that takes seconds for each run, to see that everything works; its figures mean nothing")):
        _set_options(commands.add_parser(name, help=what, description=what))
    what = "writes report.md and report.html into folders of results of ./bench; for results of bench-scale, report.md alone"
    report = commands.add_parser("report", help=what, description=what)
    report.add_argument("dirs", type=pathlib.Path, metavar="DIR", nargs="+")
    compare = commands.add_parser("compare", help="compares two folders of results")
    compare.add_argument("a", type=pathlib.Path, metavar="A")
    compare.add_argument("b", type=pathlib.Path, metavar="B")
    what = "copies the raw results of DIR, of ./bench or of bench-scale, into FOLDER, as text that version control can compare"
    keep = commands.add_parser("keep", help=what, description=what + ". Other results in FOLDER stay.")
    keep.add_argument("dir", type=pathlib.Path, metavar="DIR")
    keep.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    commands.add_parser("list", help="lists the parts of each set, and the stores")
    return parser.parse_args()


def _set_options(parser):
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="names of parts, or beginnings of names, see ./bench list; none: all parts")
    parser.add_argument("--stores", type=_words, metavar="A,B", help="only these stores")
    parser.add_argument("--with", type=_words, metavar="A,B", dest="others", default=[],
                        help=f"measure other proxies, too: {', '.join(plans.OTHER_PROXIES)}, in the parts with loads on a disk")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="folder of results (default build/bench/SET)")
    parser.add_argument("--again", action="store_true", help="measure again the parts that the folder has already")
    parser.add_argument("--squid", type=pathlib.Path, default=TREE / "build" / "squid-7", metavar="PREFIX",
                        help="an installed Squid with clusterfs: PREFIX/sbin/squid (default build/squid-7)")
    parser.add_argument("--programs", type=pathlib.Path, default=TREE / "build", metavar="DIR",
                        help="the folder with diskmodel, bench-origin and bench-client (default build)")
    parser.add_argument("--trace", type=pathlib.Path, metavar="FILE", help="a .tsv.gz of page loads, for the structure of pages")
    parser.add_argument("--polygraph", type=pathlib.Path, metavar="DIR",
                        help="the folder where Web Polygraph is installed; enables the part polygraph")
    parser.add_argument("--port", type=int, default=13128, help="first port of the proxies, which use some above, too (default 13128)")
    parser.add_argument("--origin-port", type=int, default=18080, help="port of the origin server (default 18080)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random visits (default 1)")
    parser.add_argument("--no-check", action="store_true", help="let clients not compare bodies")


def _words(text):
    return [word for word in text.split(",") if word]


def selected(args):
    """The parts that the command line asks for."""
    every = plans.parts(args.do)
    chosen = []
    for part in every:
        if not args.parts or any(part.name == name or part.name.startswith(name + "-") for name in args.parts):
            chosen.append(part)
    for name in args.parts:
        if not any(part.name == name or part.name.startswith(name + "-") for part in every):
            raise BenchError(f"'{name}' is not a part of {args.do}: {', '.join(part.name for part in every)}")
    if not args.polygraph and any(part.kind == "polygraph" for part in chosen):
        if any(name == "polygraph" for name in args.parts):
            raise BenchError("part polygraph needs an installed Web Polygraph: give its place by --polygraph DIR")
        print("part polygraph is left out: Web Polygraph's place was not given (--polygraph DIR)")
        chosen = [part for part in chosen if part.kind != "polygraph"]
    chosen = [plans.with_stores(part, args.stores, args.others) for part in chosen]
    chosen = [part for part in chosen if part.stores or part.kind == "papers"]
    if not chosen:
        raise BenchError("none of these parts has any of these stores")
    return chosen


def run_set(args):
    from benchlib.session import Session  # what only a run needs
    from benchlib.setup import Setup
    parts = selected(args)
    setup = Setup(squid=args.squid.absolute(), programs=args.programs.absolute(), port=args.port,
                  origin_port=args.origin_port, trace=args.trace and args.trace.absolute(),
                  polygraph=args.polygraph and args.polygraph.absolute(), seed=args.seed, check_bodies=not args.no_check)
    machine.check(setup, args.do, parts)
    folder = Results(args.out or TREE / "build" / "bench" / args.do)
    processes.end_on_signals()
    try:
        failed = Session(setup, args.do, parts, folder).run(args.again)
    except processes.Interrupted as interrupted:
        print(f"\nended by {interrupted}; what is done is kept in {folder.path}, the same command goes on from there",
              file=sys.stderr)
        return 130
    if failed:
        print(f"{failed} runs failed; the same command tries them again", file=sys.stderr)
    if any(folder.runs.glob("*.json")):
        write_report(folder.path)
    return 1 if failed else 0


def write_report(folder):
    from benchlib import report
    if scale.is_folder(folder):
        (folder / "report.md").write_text(scale.markdown(folder), encoding="utf-8")
        print(folder / "report.md")
        return
    for path in report.write(Results(folder)):
        print(path)


def compare(args):
    from benchlib.compare import compared
    print(compared(Results(args.a), Results(args.b)), end="")


def keep(args):
    if scale.is_folder(args.dir):
        count = scale.keep(args.dir, args.folder)
    else:
        count = results.keep(Results(args.dir), Results(args.folder))
    print(f"{count} results are kept in {args.folder}; ./bench report {args.folder} writes the page of them")


def show_list():
    for name in ("quick", "full", "more"):
        parts = plans.parts(name)
        whole = sum(plans.estimate(part) for part in parts if part.kind != "polygraph")
        print(f"{name}, about {progress.text(whole)}:")
        for part in parts:
            stores = ", ".join(part.stores)
            print(f"  {part.name:16} {progress.text(plans.estimate(part)):>7}  {part.title}"
                  + (f" [{stores}]" if stores else ""))
    print("stores: " + ", ".join(plans.SQUID_STORES + plans.ALL_HEAPS + plans.BOUNDS) + "; with --with: " + ", ".join(plans.OTHER_PROXIES))


def main():
    args = arguments()
    try:
        if args.do in plans.SCALES:
            return run_set(args)
        if args.do == "list":
            show_list()
        elif args.do == "report":
            for folder in args.dirs:
                write_report(folder)
        elif args.do == "compare":
            compare(args)
        else:
            keep(args)
        return 0
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
