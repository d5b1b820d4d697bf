# SPDX-License-Identifier: GPL-2.0-or-later
"""What a disk model itself can do: random reads of 4 KB a second with as many outstanding as there are users, and bytes a
second of sequential reads of 1 MB, four outstanding."""

import concurrent.futures
import mmap
import os
import random
import time

SMALL, LARGE = 4096, 1 << 20


def _reads(device, offsets, size, depth, seconds):
    """(reads, seconds) of as many reads, depth at a time, as fit into this time. offsets: an endless iterator."""
    fd = os.open(device, os.O_RDONLY | os.O_DIRECT)
    end = time.monotonic() + seconds

    def work():
        count = 0
        with mmap.mmap(-1, size) as buffer:  # aligned, as O_DIRECT wants it
            while time.monotonic() < end:
                os.preadv(fd, [buffer], next(offsets))
                count += 1
        return count

    try:
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(depth) as pool:
            counts = [f.result() for f in [pool.submit(work) for _ in range(depth)]]
        return sum(counts), time.monotonic() - begin
    finally:
        os.close(fd)


class _Offsets:
    """Offsets for several threads; next() of a class of ours is not interrupted half way, of a generator it fails."""

    def __init__(self, function):
        self._function = function

    def __iter__(self):
        return self

    def __next__(self):
        return self._function()


def measure(device, size, depth, seconds=2.0):
    """{positionings, bandwidth, depth} of the first size bytes of a device, which is only read."""
    rng = random.Random(1)
    blocks = size // SMALL - 1
    count, took = _reads(device, _Offsets(lambda: rng.randrange(blocks) * SMALL), SMALL, depth, seconds)
    positionings = count / took
    bandwidths = []
    for zone in (0.0, 0.45, 0.9):  # outer, middle and inner tracks
        state = {"at": int(size * zone) // LARGE * LARGE}

        def step(state=state):
            state["at"] += LARGE
            return state["at"] % (size - LARGE) // SMALL * SMALL

        count, took = _reads(device, _Offsets(step), LARGE, 4, seconds / 3)
        bandwidths.append(count * LARGE / took)
    return {"positionings": positionings, "bandwidth": sum(bandwidths) / len(bandwidths), "depth": depth,
            "bytes": size}
