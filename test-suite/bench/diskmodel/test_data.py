# SPDX-License-Identifier: GPL-2.0-or-later
"""What is written is read back; holes take no memory; faults do what they say."""

import errno
import os
import random
import subprocess
import time

from benchlib.disk import DiskError
from disktools import BLOCK, MB, Device, fails, pattern


def test_bytes_come_back(context):
    rng = random.Random(1)
    with context.disk("hdd", 256 * MB) as disk, Device(disk.device) as device:
        disk.set(model="fast")
        expected = {}
        for number in range(400):
            size = rng.choice((1, 2, 16, 64, 256)) * BLOCK
            offset = rng.randrange((disk.size - size) // BLOCK) * BLOCK
            data = pattern(number, size)
            device.write(offset, data)
            expected.update((offset + at, data[at:at + BLOCK]) for at in range(0, size, BLOCK))
        disk.set(model="hdd")  # the data stay
        for offset in rng.sample(sorted(expected), 50):
            assert device.read(offset) == expected[offset], f"other bytes at {offset} in hdd"
        disk.set(model="fast")
        for offset in rng.sample(sorted(expected), 3000):
            assert device.read(offset) == expected[offset], f"other bytes at {offset}"
        device.write(disk.size - BLOCK, pattern(7))
        assert device.read(disk.size - BLOCK) == pattern(7), "the last block"
        assert device.read(disk.size) == b"", "something behind the end"


def test_holes_take_no_memory(context):
    with context.disk("fast", 512 * MB) as disk, Device(disk.device) as device:
        for offset in range(0, disk.size, MB):
            assert device.read(offset, MB) == bytes(MB), f"no zeros at {offset}"
        assert disk.stats()["storedBytes"] == 0, disk.stats()["storedBytes"]
        for offset in range(0, 64 * MB, MB):
            device.write(offset, pattern(offset, MB))
        assert disk.stats()["storedBytes"] == 64 * MB, disk.stats()["storedBytes"]
        subprocess.run(["blkdiscard", "--offset", str(MB + BLOCK), "--length", str(32 * MB), disk.device], check=True)
        assert device.read(MB) == pattern(MB, MB)[:BLOCK], "the discard took too much"
        assert device.read(MB + BLOCK, MB) == bytes(MB), "discarded and not zero"
        assert device.read(33 * MB + BLOCK) == pattern(33 * MB, MB)[BLOCK:2 * BLOCK], "the discard took too much"
        stats = disk.stats()
        assert stats["storedBytes"] == 32 * MB and stats["discardBytes"] == 32 * MB, stats


def test_a_store_that_stays(context):
    path = context.folder / "stays"
    for turn in range(2):
        with context.disk("fast", 64 * MB, store=path) as disk, Device(disk.device) as device:
            if turn:
                assert device.read(5 * MB) == pattern(5), "the store forgot"
                assert device.read(6 * MB) == bytes(BLOCK), "no zeros where nothing was"
            device.write(5 * MB, pattern(5))
    with fails("more than the disk", DiskError), context.disk("fast", 32 * MB, store=path):
        pass
    path.unlink()


def test_read_faults(context):
    with context.disk("fast", 64 * MB) as disk, Device(disk.device) as device:
        for number in range(16):
            device.write(number * BLOCK, pattern(number))
        disk.fault("read", "error", offset=4 * BLOCK, length=BLOCK)
        for _ in range(2):
            with fails("", OSError):
                device.read(4 * BLOCK)
        assert device.read(3 * BLOCK) == pattern(3) and device.read(5 * BLOCK) == pattern(5), "neighbours suffer"
        disk.clear_faults()
        disk.fault("read", "corrupt", offset=7 * BLOCK + 100, length=16, count=1)
        bad, good = device.read(7 * BLOCK), pattern(7)
        assert bytes(b ^ 0x5a for b in bad[100:116]) == good[100:116], "not corrupt"
        assert bad[:100] == good[:100] and bad[116:] == good[116:], "corrupt elsewhere"
        assert device.read(7 * BLOCK) == good, "a fault for one request hits two"
        disk.fault("read", "delay", value=300, count=1)
        begin = time.monotonic()
        device.read(0)
        assert 0.29 < time.monotonic() - begin < 2, "no delay"
        disk.fault("read", "short", value=512, count=1)
        with Device(disk.file) as file:  # a loop device would ask for the rest
            assert len(file.read(0)) == 512 and len(file.read(0)) == BLOCK
        disk.fault("read", "error", probability=0.5)
        failed = 0
        for _ in range(200):
            try:
                device.read(0)
            except OSError:
                failed += 1
        assert 60 < failed < 140, f"{failed} of 200 at a probability of one half"
        assert disk.stats()["faultStrikes"] == failed + 5, disk.stats()


def test_write_and_flush_faults(context):
    with context.disk("fast", 64 * MB) as disk, Device(disk.device) as device:
        def write(number, fault, failing, **how):
            device.write(number * MB, pattern(number, 16 * BLOCK))
            disk.fault("write", fault, count=1, **how)
            if failing:
                with fails("", OSError):
                    device.write(number * MB, pattern(number + 100, 16 * BLOCK))
            else:
                device.write(number * MB, pattern(number + 100, 16 * BLOCK))
            return device.read(number * MB, 16 * BLOCK), pattern(number, 16 * BLOCK), pattern(number + 100, 16 * BLOCK)

        found, old, _ = write(1, "error", True)
        assert found == old, "a failed write was stored"
        found, old, _ = write(2, "lost", False)
        assert found == old, "a lost write was stored"
        found, old, new = write(3, "torn", True, value=10240)
        assert found == new[:10240] + old[10240:], "not torn where it should be"
        found, _, new = write(4, "corrupt", False, offset=4 * MB + 8, length=4)
        assert found[:8] == new[:8] and found[12:] == new[12:] and found[8:12] == bytes(b ^ 0x5a for b in new[8:12])
        disk.fault("flush", "error", count=1)
        with fails("", OSError):
            device.flush()
        device.flush()
        disk.cut()
        with fails("", OSError):
            device.read(MB)
        with fails("", OSError):
            device.write(MB, pattern(1))
        disk.revive()
        assert device.read(4 * MB, 16 * BLOCK) == found, "other bytes after the power came back"


def test_wrong_commands(context):
    with context.disk("hdd", 64 * MB) as disk:
        before = disk.stats()["parameters"]
        for line, words in (("set rpm=x", "not a number"), ("set rpm=1", "from 600 to"), ("set rpm", "name=value"),
                            ("set nothing=1", "no parameter"), ("set model=tape", "no model"),
                            ("set ncq=4,model=ssd", "first"),
                            ("fault read torn", "no fault"), ("fault eat error", "read, write or flush"),
                            ("fault read error length=0", "from 1"), ("mark 1", "no write log"),
                            ("jump", "not a command"), ("set seekMin=9,seekMax=8", "seekMax")):
            with fails(words, DiskError):
                disk.command(line)
        assert disk.stats()["parameters"] == before, "a refused command changed something"
        with fails("faults already", DiskError):
            for _ in range(65):
                disk.fault("read", "error", offset=60 * MB, length=BLOCK)
        disk.clear_faults()
        disk.command("set ncq=4\nreset")
        assert disk.stats()["parameters"]["ncq"] == 4


def test_a_full_store(context):
    """Where memory runs out all the same, writes fail, and the disk lives on."""
    place = context.folder / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], check=True)
    try:
        with fails("has room for 16 MB", DiskError), context.disk("fast", 64 * MB, options=[f"--store-folder={place}"]):
            pass
        with context.disk("fast", 64 * MB, options=[f"--store-folder={place}", "--overcommit"]) as disk, \
                Device(disk.device) as device:
            written = 0
            try:
                for written in range(64):
                    device.write(written * MB, pattern(written, MB))
            except OSError as error:
                assert error.errno in (errno.EIO, errno.ENOSPC), os.strerror(error.errno)
            assert 12 <= written <= 16, f"failed at {written} MB of 16"
            assert device.read(3 * MB, MB) == pattern(3, MB) and disk.stats()["errors"] > 0
    finally:
        subprocess.run(["umount", place], check=True)
