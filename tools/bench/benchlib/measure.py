# SPDX-License-Identifier: GPL-2.0-or-later
"""One phase of a run: the load generator's figures, with what disk, processor and memory had to do for it."""

import time


def difference(before, after):
    """What the counters of a disk have gained."""
    return {name: value - before.get(name, 0) for name, value in after.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)}


def processes(before, after):
    """{process: {cpuSeconds, switches}} between two answers of Cgroup.work(), of those that are in both."""
    return {name: {"cpuSeconds": after[name][0] - before[name][0], "switches": after[name][1] - before[name][1]}
            for name in sorted(after) if name in before}


def measured(name, proxy, disk, load):
    """Runs load(), which returns the JSON of bench-client: a phase as it stands in the raw results."""
    disk_before, cpu_before, work_before, begin = disk.stats(), proxy.cgroup.cpu_seconds(), proxy.cgroup.work(), time.monotonic()
    try:
        client = load()
    finally:
        seconds = time.monotonic() - begin
        proxy.check_alive()  # which says more than a client whose proxy is gone
    return {"name": name, "seconds": seconds, "client": client, "disk": difference(disk_before, disk.stats()),
            "cpuSeconds": proxy.cgroup.cpu_seconds() - cpu_before, "memory": proxy.cgroup.memory(),
            "processes": processes(work_before, proxy.cgroup.work())}


def stored_bytes(phase):
    """Bytes of the bodies that the cache had to take in during a phase: all that was not a hit."""
    return max(0, phase["client"]["bytes"] - phase["client"]["hitBytes"])
