#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hits per second of a Squid whose cache_dir lies in RAM, by store, beside hits from cache_mem.

All stores hold the same objects, asked for at random by wrk; the rounds go over all stores in turn,
so that a machine that drifts drifts for all. Prints medians, the spread, and the share of cache_mem's."""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "test-suite" / "squid"))

from testlib.load import fetch_all  # noqa: E402
from testlib.origin import Origin  # noqa: E402
from testlib.processes import give_to_squid  # noqa: E402
from testlib.squid import Squid  # noqa: E402

LUA = """
local paths = {}
for line in io.lines("%s") do paths[#paths + 1] = line end
request = function()
    return "GET " .. paths[math.random(#paths)] .. " HTTP/1.1\\r\\nHost: origin\\r\\n\\r\\n"
end
"""


def stores(mb):
    """name -> (cache_dir line or None, cache_mem MB, largest object in memory KB)"""
    return {
        "cache_mem": (None, 512, 1024),
        "clusterfs": (f"cache_dir clusterfs {{dir}}/cluster.img {mb} read-cache=64", 8, 0),
        "clusterfs, small read cache": (f"cache_dir clusterfs {{dir}}/small.img {mb} read-cache=2", 8, 0),
        "rock": (f"cache_dir rock {{dir}}/rock {mb}", 8, 0),
        "aufs": (f"cache_dir aufs {{dir}}/aufs {mb} 16 256", 8, 0),
        "ufs": (f"cache_dir ufs {{dir}}/ufs {mb} 16 256", 8, 0),
    }


def prepare(args, name, index, folder, urls):
    line, mem_mb, mem_kb = stores(args.mb)[name]
    lines = [line.format(dir=folder)] if line else []
    squid = Squid(args.squid, folder / f"squid{index}", f"bench{index}", lines, mem_mb=mem_mb, mem_object_kb=mem_kb,
                  common=["access_log none", "memory_pools on"])
    if line:
        squid.create()
    squid.start()
    fetch_all(squid.port, urls)
    fetch_all(squid.port, urls)  # what was swapped out late is on the disk now
    return squid


def measure(squid, lua, seconds, connections):
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(lua), f"http://127.0.0.1:{squid.port}"],
                         check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        if line.startswith("Requests/sec:"):
            return float(line.split()[1])
    sys.exit("wrk printed no rate:\n" + out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--squid", type=pathlib.Path, default=TREE / "build" / "squid-7")
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--bytes", type=int, default=13000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--mb", type=int, default=256, help="size of each cache_dir")
    parser.add_argument("--only", help="stores, separated by commas")
    parser.add_argument("--json", type=pathlib.Path, help="write the raw numbers here")
    args = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed: apt-get install wrk")
    names = args.only.split(",") if args.only else list(stores(args.mb))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="clusterfs-hits-", dir="/dev/shm"))
    # rock's processes meet at sockets there
    give_to_squid(folder, args.squid.resolve() / "var" / "run" / "squid")
    origin, squids, rates = Origin(), {}, {name: [] for name in names}
    try:
        urls = [origin.url(f"bench{n}", size=args.bytes, maxage=864000) for n in range(args.objects)]
        paths = folder / "paths"
        paths.write_text("\n".join(urls) + "\n")
        lua = folder / "bench.lua"
        lua.write_text(LUA % paths)
        for index, name in enumerate(names):
            squids[name] = prepare(args, name, index, folder, urls)
        before = origin.total()
        for _ in range(args.rounds):
            for name in names:
                rates[name].append(measure(squids[name], lua, args.seconds, args.connections))
        misses = origin.total() - before
    finally:
        for squid in squids.values():
            squid.kill()
        origin.close()
        shutil.rmtree(folder, ignore_errors=True)
    report(args, rates, misses)


def report(args, rates, misses):
    base = statistics.median(rates.get("cache_mem", [0])) or None
    print(f"{args.objects} objects of {args.bytes} bytes, {args.connections} connections, {args.rounds} rounds of "
          f"{args.seconds} s each, files in /dev/shm, {misses} requests reached the origin")
    print(f"{'store':30} {'hits/s':>9} {'least':>9} {'most':>9} {'of cache_mem':>13}")
    for name, values in rates.items():
        middle = statistics.median(values)
        share = f"{middle / base * 100:.0f} %" if base else ""
        print(f"{name:30} {middle:9.0f} {min(values):9.0f} {max(values):9.0f} {share:>13}")
    if args.json:
        args.json.write_text(json.dumps({"settings": {k: str(v) for k, v in vars(args).items()}, "hits_per_second": rates,
                                         "requests_at_origin": misses}, indent=1))


if __name__ == "__main__":
    main()
