#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A first look at clusterfs: formats a cache, browses a made-up web through a real Squid, restarts
Squid, browses again, compares every byte, and tells what happened. Everything stays on loopback."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import socket
import sys
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools"))

from squidkit.client import Client  # noqa: E402
from squidkit.origin import Origin  # noqa: E402
from squidkit.processes import effective_user, give_to_squid, run, wait_for  # noqa: E402
from squidkit.squid import Squid  # noqa: E402

IMAGE_MB = 1024
BROWSERS = 4
SQUID_PORT, ORIGIN_PORT = 3128, 18088  # the same each time where free, so that a rerun finds its objects again
HITS = ("TCP_HIT", "TCP_MEM_HIT")
# What this account calls a value since the start of Squid, and its name on the page mgr:clusterfs.
PAGE_NAMES = {"objects in the cache": "objects", "hits from disk": "hits from disk", "disk reads": "disk reads"}
KINDS = (  # (name, Sec-Fetch-Dest, Content-Type, mean size, how many a page has at most)
    ("css", "style", "text/css", 12000, 3),
    ("js", "script", "application/javascript", 25000, 5),
    ("woff2", "font", "font/woff2", 22000, 2),
    ("jpg", "image", "image/jpeg", 14000, 24),
)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, metavar="DIR",
                        help="an installed Squid with clusterfs (DIR/sbin/squid), or the folder that has it")
    parser.add_argument("--work", required=True, metavar="DIR", help="a folder for the image, logs and squid.conf")
    parser.add_argument("--disk", metavar="PATH", help="use this block device or image instead of WORK/cache.img")
    parser.add_argument("--keep-running", action="store_true", help="leave Squid running at the end")
    parser.add_argument("--own-squid", action="store_true",
                        help="for ./quickstart: build a Squid, even where Debian has one that the module fits")
    parser.add_argument("--pages", type=int, default=300, help="how many pages to browse (default 300)")
    args = parser.parse_args()
    if not 1 <= args.pages <= 20000:
        parser.error(f"--pages {args.pages} is not a number from 1 to 20000")
    return args


def find_squid(build):
    """The prefix of the Squid in or below the build folder."""
    for prefix in (build, *sorted(build.glob("squid*"), reverse=True)):
        if os.access(prefix / "sbin" / "squid", os.X_OK):
            return prefix
    sys.exit(f"There is no sbin/squid in {build} or in a folder squid* below it. Build one first.")


def prepare_work(work):
    """The work folder; Squid's user must be able to reach it."""
    work.mkdir(parents=True, exist_ok=True)
    give_to_squid(work)
    user = effective_user()
    for folder in work.parents if user else ():
        if not folder.stat().st_mode & 0o001:
            sys.exit(f"Squid runs as user {user.pw_name}, who may not enter {folder}. "
                     f"Choose another --work folder, or run: chmod o+x {folder}")


def port_like(wanted):
    """This port where it is free, else any."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    return None


def stop_former(work):
    """Ends the Squid that an earlier --keep-running left in this folder."""
    pid_file = work / "squid.pid"
    if not pid_file.exists():
        return
    try:
        pid = int(pid_file.read_text())
        program = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (ValueError, FileNotFoundError):
        return
    if b"squid" in program and str(work).encode() in program:
        print(f"Stopping the Squid that still runs from the last time (process {pid}).")
        os.kill(pid, 15)
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "end of the former Squid")


def give_disk(prefix, disk):
    """Formats a blank disk, and gives what is a cache then to Squid's user. The tool refuses everything else, and
    gives only what it has examined."""
    print(f"Giving {disk} to Squid's user, {effective_user().pw_name}, unless it holds anything but a cache.")
    beside = prefix / "sbin" / "clusterfs"  # made with the module for Debian's Squid
    done = run(beside if beside.exists() else TREE / "build" / "clusterfs", "format", disk, f"--owner={effective_user().pw_name}")
    if done.returncode != 0:
        sys.exit(f"{done.stdout.strip()}\n{disk} was left as it is, and to its owner.")


def make_web(origin, count):
    """[(page, [(object, Sec-Fetch-Dest)])]: sites whose pages share their style sheets and scripts."""
    chance = random.Random(7)
    pages = []
    for number in range(count):
        site = f"site{number // 20}.example"
        embedded = []
        for suffix, purpose, content_type, mean, most in KINDS:
            shared = suffix in ("css", "js", "woff2")
            for item in range(chance.randint(1, most)):
                name = f"{site}/shared/{item}.{suffix}" if shared else f"{site}/{number}/{item}.{suffix}"
                size = random.Random(name).randint(200, 2 * mean)
                embedded.append((origin.url(name, size=size, type=content_type), purpose))
        page = origin.url(f"{site}/{number}.html", size=chance.randint(4000, 60000), type="text/html")
        pages.append((page, embedded))
    return pages


def browse(squid, pages):
    """Visits all pages with a few browsers at once. Returns (requests, bytes compared, request ids)."""
    client = Client(squid.port, keep_alive=True)

    def visit(page):
        url, embedded = page
        replies = [client.get(url, Sec_Fetch_Dest="document", Sec_Fetch_Mode="navigate", Accept="text/html")]
        replies += [client.get(u, Sec_Fetch_Dest=purpose, Referer=url) for u, purpose in embedded]
        return [(reply.check().id, len(reply.body)) for reply in replies]

    with concurrent.futures.ThreadPoolExecutor(BROWSERS) as browsers:
        seen = [one for visited in browsers.map(visit, pages) for one in visited]
    return len(seen), sum(size for _, size in seen), [request_id for request_id, _ in seen]


def account(title, squid, pages):
    """Browses, and prints what came of it."""
    begin = time.monotonic()
    requests, size, ids = browse(squid, pages)
    seconds = time.monotonic() - begin
    hits = sum(squid.access_log.result(request_id) in HITS for request_id in ids)
    print(f"\n{title}")
    print(f"  pages                 {len(pages)}")
    print(f"  objects requested     {requests}")
    print(f"  hits                  {hits} ({100 * hits / requests:.1f} %)")
    print(f"  bytes compared        {size} ({size / 1e6:.1f} MB), no difference")
    print(f"  time                  {seconds:.1f} s, {requests / seconds:.0f} objects/s "
          "(origin, browsers and comparison included)")
    values = squid.values()
    for label, name in PAGE_NAMES.items():
        if name in values:
            print(f"  {label:21} {values[name]}")
    if PAGE_NAMES["disk reads"] in values:
        print(f"  disk reads a page     {values.number(PAGE_NAMES['disk reads']) / len(pages):.1f}")


def farewell(squid, disk, running):
    binary, conf = squid.binary, squid.conf
    user = effective_user()
    print("\nWhat next")
    if running:
        print(f"  Squid is running on 127.0.0.1:{squid.port}. Use it:")
        print(f"      curl -x http://127.0.0.1:{squid.port} -I http://www.example.org/")
        print(f"      curl http://127.0.0.1:{squid.port}/squid-internal-mgr/clusterfs")
        print(f"  Stop it:\n      {binary} -n {squid.name} -f {conf} -k shutdown")
    else:
        print("  Squid was stopped; the cache keeps its content. --keep-running leaves Squid running.")
    print(f"  The configuration it used is {conf}; the cache is {disk}.")
    print("  To use a real disk: give its path by --disk, or in your own squid.conf:")
    print("      cache_dir clusterfs /dev/disk/by-id/YOUR-DISK")
    print(f"  Squid's user ({user.pw_name if user else 'yours'}) must own the device; then run: squid -z")
    print("  squid -z refuses a disk that holds anything else.")


def run_demo(squid, origin, pages):
    print(f"Formatting the cache (squid -z); one that is there is kept: {squid.lines[0]}")
    squid.create().start()
    account("First visit: a new cache fills, one from an earlier run gives hits", squid, pages)
    print("\nRestarting Squid.")
    squid.restart()
    asked = origin.total()
    account("Second visit: from the disk", squid, pages)
    print(f"  requests to the origin {origin.total() - asked}")
    print("\nThe cache manager's page (mgr:clusterfs)\n")
    print("\n".join("  " + line for line in squid.mgr("clusterfs").splitlines()))
    squid.stop()


def main():
    args = arguments()
    work = pathlib.Path(args.work).resolve()
    prefix = find_squid(pathlib.Path(args.build).resolve())
    prepare_work(work)
    stop_former(work)
    disk = pathlib.Path(args.disk).resolve() if args.disk else work / "cache.img"
    if args.disk and disk.exists() and effective_user():
        give_disk(prefix, disk)
    size = "" if disk.is_block_device() else f" {IMAGE_MB}"
    unlinkd = prefix / "lib" / "squid" / "unlinkd"  # of Debian's package, wherever that is unpacked
    squid = Squid(prefix, work, "clusterfsdemo", [f"cache_dir clusterfs {disk}{size}"], mem_mb=8, port=port_like(SQUID_PORT),
                  common=[f"unlinkd_program {unlinkd}"] if unlinkd.exists() else [])
    origin = Origin(port_like(ORIGIN_PORT))
    try:
        pages = make_web(origin, args.pages)
        run_demo(squid, origin, pages)
    finally:
        squid.kill()
        origin.close()
    if args.keep_running:
        squid.start_daemon()
    farewell(squid, disk, args.keep_running)
    return 0


if __name__ == "__main__":
    sys.exit(main())
