# SPDX-License-Identifier: GPL-2.0-or-later
"""The models as block devices, measured with fio. Margins are wide, since other programs may be running; upper
bounds are the models' own."""

import threading
import time

from disktools import MB, Device, between, fio, timed


def lateness(context, disk):
    stats = disk.stats()
    print(f"answers late by {stats['lateMeanMicros']:.0f} us, most {stats['lateMaxMicros'] / 1000:.1f} ms")


@timed
def test_hdd_random(context):
    with context.disk(size=4 << 30) as disk:
        found, _, _ = fio(disk.device, "randread", "4k", 1)
        expected, _ = context.predict(size=4 << 30)
        print(f"4 KB depth 1: {found:.0f}/s, model {expected:.0f}")
        between("4 KB depth 1", found, 80, 130)
        stats = disk.stats()
        between("positionings a read", stats["readPositionings"] / stats["reads"], 0.9, 1.01)
        between("share of the time busy", stats["busySeconds"] / 2.5, 0.8, 1.1)
        between("queue depth", stats["queueDepthMean"], 0.95, 1.1)
        lateness(context, disk)


@timed
def test_hdd_sequential(context):
    with context.disk(size=4 << 30) as disk:
        _, found, _ = fio(disk.device, "read", "256k", 4, 2)
        print(f"{found:.0f} MB/s")
        between("sequential, MB/s", found, 60, 130)
        stats = disk.stats()
        between("positionings a read", stats["positionings"] / stats["reads"], 0, 0.1)


@timed
def test_hdd_command_queueing(context):
    with context.disk(size=4 << 30) as disk:
        queued, _, _ = fio(disk.device, "randread", "64k", 32)
        disk.set(ncq=1)
        unqueued, _, _ = fio(disk.device, "randread", "64k", 32)
        expected, _ = context.predict(size=4 << 30, block=65536, depth=32)
        print(f"64 KB depth 32: {queued:.0f}/s, model {expected:.0f}; ncq=1 {unqueued:.0f}/s")
        between("gain by queueing", queued / unqueued, 1.5, 3)
        between("64 KB depth 32, of the model", queued / expected, 0.7, 1.2)


@timed
def test_hdd_writes(context):
    with context.disk(size=4 << 30, writeCache=0) as disk:
        uncached, _, _ = fio(disk.device, "randwrite", "64k", 1, 2)
        print(f"64 KB random writes without cache: {uncached:.0f}/s")
        between("without cache", uncached, 70, 120)
        disk.set(writeCache=32768)
        with Device(disk.device) as device:
            begin = time.monotonic()
            for i in range(64):
                device.write(i * 13 * MB, bytes(65536))
            into_cache = time.monotonic() - begin
            device.flush()
            flushed = time.monotonic() - begin
        print(f"64 of them into the cache: {into_cache * 1000:.0f} ms, flushed after {flushed * 1000:.0f} ms")
        between("64 into the cache, s", into_cache, 0.01, 0.3)
        between("flushed, s", flushed, 0.1, 0.8)
        assert disk.stats()["dirtyBytes"] == 0, "a flush leaves dirty data"


@timed
def test_ssd(context):
    with context.disk("ssd", 2 << 30) as disk:
        one, _, _ = fio(disk.device, "randread", "4k", 1, 1.5)
        many, _, _ = fio(disk.device, "randread", "4k", 32, 1.5)
        _, read, _ = fio(disk.device, "randread", "64k", 16, 1.5)
        _, written, _ = fio(disk.device, "randwrite", "64k", 16, 1.5)
        print(f"4 KB depth 1: {one:.0f}/s, depth 32: {many:.0f}/s")
        print(f"64 KB: {read:.0f} MB/s read, {written:.0f} written")
        between("4 KB depth 1", one, 500, 1 / 82e-6)
        between("4 KB depth 32", many, 4000, 20000 * 1.02)
        between("MB/s read", read, 100, 400 * 1.02)
        between("MB/s written", written, 80, 300 * 1.02)
        lateness(context, disk)


@timed
def test_fast(context):
    with context.disk("fast", 1 << 30) as disk:
        one, _, _ = fio(disk.device, "randread", "4k", 1, 1.5)
        _, read, _ = fio(disk.device, "randread", "64k", 16, 1.5)
        print(f"4 KB depth 1: {one:.0f}/s; 64 KB depth 16: {read:.0f} MB/s")
        between("4 KB depth 1", one, 500, 1e7)
        between("MB/s", read, 300, 1e6)


def test_models_switched_under_load(context):
    """hdd to fast to hdd while fio writes and verifies: no request is lost, no byte changes."""
    options = ("--verify=crc32c", "--verify_fatal=1", "--verify_backlog=64", "--verify_state_save=0",
               "--bsrange=4k-128k", "--size=256m")
    with context.disk(size=1 << 30) as disk:
        stop = threading.Event()

        def switch():
            while not stop.wait(0.15):
                for model in ("fast", "hdd", "ssd", "fast", "hdd10k"):
                    disk.set(model=model)
                    time.sleep(0.05)

        thread = threading.Thread(target=switch)
        thread.start()
        try:
            fio(disk.device, "randwrite", "4k", 16, 4, options)
        finally:
            stop.set()
            thread.join()
        stats = disk.stats()
        print(f"{stats['writes']} writes, {stats['reads']} reads that verified them")
        assert stats["underWay"] == 0 and stats["errors"] == 0, stats
        between("writes", stats["writes"], 200, 1e9)
        between("reads", stats["reads"], 100, 1e9)
