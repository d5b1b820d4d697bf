# SPDX-License-Identifier: GPL-2.0-or-later
"""The models in simulated time against what their parameters say on paper; no machine takes part."""

from disktools import MB, between

# the parameters of "hdd"
REVOLUTION = 60 / 7200  # s
SEEK_MIN, SEEK_MAX = 0.6e-3, 8.85e-3  # s
RATE, ZONE = 120e6, 0.33  # bytes/s at the outer edge; share that is lost at the inner one
OVERHEAD = 60e-6  # s
SKEW = SEEK_MIN * 1.15 / REVOLUTION  # of a revolution, at each change of track
# of the distance of two random places on a line from 0 to 1, the root is 8/15 in the mean
SEEK_MEAN = SEEK_MIN + (SEEK_MAX - SEEK_MIN) * 8 / 15


def hdd_random(block):
    """Requests a second, one at a time, all over the disk."""
    return 1 / (OVERHEAD + SEEK_MEAN + REVOLUTION / 2 + block / (RATE * (1 - ZONE / 2)))


def test_hdd_random_reads(context):
    for block, margin in ((4096, 0.03), (65536, 0.05)):
        found, _ = context.predict(block=block, requests=5000)
        print(f"{block // 1024} KB: {found:.1f}/s, on paper {hdd_random(block):.1f}")
        between("requests/s", found / hdd_random(block), 1 - margin, 1 + margin)


def test_hdd_sequential_reads(context):
    _, outer = context.predict(block=256 << 10, sequential=True)
    on_paper = RATE / 1e6 / (1 + SKEW)
    print(f"outside {outer:.1f} MB/s, on paper {on_paper:.1f}")
    between("outside, MB/s", outer / on_paper, 0.97, 1.03)
    # all of the disk: the tracks get shorter evenly, each takes a revolution and a skew
    _, whole = context.predict(block=MB, sequential=True, requests=8192)
    on_paper *= 1 - ZONE / 2
    print(f"all of it {whole:.1f} MB/s, on paper {on_paper:.1f}")
    between("all of it, MB/s", whole / on_paper, 0.96, 1.04)


def test_hdd_command_queueing(context):
    one, _ = context.predict(block=65536)
    queued, _ = context.predict(block=65536, depth=32)
    unqueued, _ = context.predict(block=65536, depth=32, ncq=1)
    print(f"64 KB, depth 1: {one:.0f}/s, depth 32: {queued:.0f}/s, without queueing {unqueued:.0f}/s")
    between("gain", queued / one, 1.7, 3)
    between("gain without queueing", unqueued / one, 0.95, 1.05)


def test_hdd_write_cache(context):
    reads, _ = context.predict(block=65536)
    cached, _ = context.predict(block=65536, write=True, requests=8000)
    uncached, _ = context.predict(block=65536, write=True, writeCache=0)
    print(f"64 KB random writes {cached:.0f}/s, without the cache {uncached:.0f}/s")
    between("writes with the cache, of reads", cached / reads, 2, 4)
    between("writes without, of reads", uncached / reads, 0.97, 1.03)
    # after its answer the next write comes too late, and waits for a revolution
    missed, _ = context.predict(block=65536, write=True, sequential=True, writeCache=0)
    between("sequential writes without, of revolutions", missed * REVOLUTION, 0.85, 1.0)


def test_hdd_parameters(context):
    full, _ = context.predict()
    # a quarter of the platter: seeks go half as far, as their root says
    short, _ = context.predict(stroke=0.25)
    on_paper = 1 / (1 / hdd_random(4096) - (SEEK_MAX - SEEK_MIN) * 8 / 15 / 2)
    print(f"a quarter of the platter: {short:.0f}/s, on paper {on_paper:.0f}")
    between("short strokes", short / on_paper, 0.96, 1.04)
    still, _ = context.predict(seekMin=0, seekMax=0)
    between("without seeks", still * (OVERHEAD + REVOLUTION / 2), 0.95, 1.05)
    faster, _ = context.predict(model="hdd10k")
    between("hdd10k", faster / full, 1.2, 1.4)


def test_ssd_limits(context):
    one, _ = context.predict(model="ssd", jitter=0)
    between("4 KB, depth 1", one * (80e-6 + 4096 / 400e6), 0.99, 1.01)
    for write, iops, bandwidth in ((False, 20000, 400), (True, 15000, 300)):
        many, _ = context.predict(model="ssd", depth=32, write=write)
        between("4 KB, depth 32", many / iops, 0.97, 1.01)
        _, large = context.predict(model="ssd", block=256 << 10, depth=16, write=write)
        between("256 KB, depth 16", large / bandwidth, 0.97, 1.01)


def test_repeatable(context):
    first = context.predict(depth=8, block=16384, seed=5)
    assert first == context.predict(depth=8, block=16384, seed=5), "the same seed gives another figure"
    assert first != context.predict(depth=8, block=16384, seed=6), "the seed does nothing"
