#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""End-to-end tests: a real Squid with clusterfs (or, to compare, ufs, aufs or rock) between an
origin server and clients on loopback. Every body is compared byte for byte."""

import argparse
import concurrent.futures
import importlib
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from testlib import stores, suite  # noqa: E402
from testlib.processes import run  # noqa: E402
from runner import closing  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--squid", metavar="PREFIX", default="/usr", help="an installed Squid: PREFIX/sbin/squid")
    parser.add_argument("--store", default="clusterfs", choices=stores.ALL + ("all",))
    parser.add_argument("--quick", action="store_true", help="only the short selection")
    parser.add_argument("--long", action="store_true", help="those that take many minutes each, and no others")
    parser.add_argument("--only", metavar="NAME", help="only cases whose name contains NAME")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--jobs", type=int, default=1, help="cases run at once (default 1)")
    parser.add_argument("--keep", action="store_true", help="keep the folders of cases that passed, too")
    return parser.parse_args()


def selection(args):
    """(case, store) pairs in the order in which they run."""
    for path in sorted(HERE.glob("cases_*.py")):
        importlib.import_module(path.stem)
    chosen = stores.ALL if args.store == "all" else (args.store,)
    return [(entry, store) for store in chosen for entry in suite.CASES
            if store in entry.stores and (entry.quick or not args.quick) and entry.long == args.long
            and (not args.only or args.only in f"{entry.name}[{store}]")]


def work_folder():
    """A fresh folder that Squid's user can reach."""
    build = HERE.parent.parent / "build"
    base = os.environ.get("TMPDIR") or (str(build) if build.is_dir() else None)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="squid-tests-", dir=base))
    folder.chmod(0o755)
    return folder


def squid_version(prefix):
    binary = pathlib.Path(prefix) / "sbin" / "squid"
    if not os.access(binary, os.X_OK):
        sys.exit(f"{binary} is not a program; --squid names the prefix of an installed Squid")
    return re.search(r"Version (\S+)", run(binary, "-v").stdout)[1]


def unavailable(prefix, store, work):
    """Why this Squid cannot use a store type; None where it can."""
    probe = work / f"probe-{store}"
    test = suite.Test(prefix, store, probe)
    try:
        done = test.squid().command("-k", "parse")
    finally:
        test.close()
        shutil.rmtree(probe, ignore_errors=True)
    return None if done.returncode == 0 else f"this Squid does not take cache_dir {store}: {done.stdout.strip()[-300:]}"


def show(outcome):
    print(f"{outcome.verdict:5} {outcome.label} ({outcome.seconds:.1f} s)", flush=True)
    if outcome.detail:
        print("      " + outcome.detail.rstrip().replace("\n", "\n      "), flush=True)


def run_all(args, chosen, work):
    absent = {s: unavailable(args.squid, s, work) for s in {store for _, store in chosen}}

    def one(pair):
        entry, store = pair
        if absent[store]:
            return suite.Outcome(f"{entry.name}[{store}]", "FAIL" if store == "clusterfs" else "skip", 0, absent[store])
        return suite.run_case(entry, store, args.squid, work, args.keep)

    def shown(outcomes):
        done = []
        for outcome in outcomes:
            show(outcome)
            done.append(outcome)
        return done

    if args.jobs <= 1:
        return shown(map(one, chosen))  # in this thread: an interrupt ends the case and cleans up
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    try:
        return shown(pool.map(one, chosen))
    finally:
        pool.shutdown(cancel_futures=True)


def main():
    args = arguments()
    chosen = selection(args)
    if args.list:
        for entry, store in chosen:
            print(f"{entry.name}[{store}]{' quick' if entry.quick else ''}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begin = time.monotonic()
    print(f"Squid {squid_version(args.squid)} in {args.squid}, {len(chosen)} cases")
    work = work_folder()
    outcomes = run_all(args, chosen, work)
    failed = [o for o in outcomes if o.verdict == "FAIL"]
    skipped = [(o.label, o.detail) for o in outcomes if o.verdict == "skip"]
    known = [o for o in outcomes if o.verdict == "known"]
    if failed or args.keep:
        print(f"folders of the runs: {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)
    for outcome in failed:
        print(f"failed: {outcome.label}")
    print(f"took {time.monotonic() - begin:.0f} s")
    for outcome in known:
        print(f"known, and not counted: {outcome.label}: {outcome.detail}")
    return closing(len(outcomes) - len(failed) - len(skipped) - len(known), len(failed), skipped)


if __name__ == "__main__":
    sys.exit(main())
