# SPDX-License-Identifier: GPL-2.0-or-later
"""Power cuts: what the replayed images hold, against what is known to have been written and flushed."""

import json
import os
import random
import shutil
import subprocess

from benchlib.disk import DiskError, replay
from disktools import BLOCK, MB, Device, fails, pattern

COUNT = 64


def image_blocks(image):
    """For each block that was written: "whole", "torn" or "missing"."""
    found = []
    with open(image, "rb") as file:
        for number in range(2 * COUNT):
            file.seek(number * MB)
            got, want = file.read(BLOCK), pattern(number)
            sectors = [got[at:at + 512] == want[at:at + 512] for at in range(0, BLOCK, 512)]
            strange = [at for at in range(0, BLOCK, 512) if got[at:at + 512] not in (want[at:at + 512], bytes(512))]
            assert not strange, f"block {number} has bytes that nobody wrote"
            found.append("whole" if all(sectors) else "torn" if any(sectors) else "missing")
    return found


def records_of(context, log):
    """[number, kind, offset, size, time] of each."""
    done = subprocess.run([context.program, "replay", log, "--list"], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_replayed_modes(context):
    """64 blocks flushed, 64 not."""
    log, image = context.folder / "log", context.folder / "image"
    with context.disk("hdd", 256 * MB, record=log) as disk, Device(disk.device) as device:
        for number in range(COUNT):
            device.write(number * MB, pattern(number))
        disk.mark(1)
        device.flush()
        for number in range(COUNT, 2 * COUNT):
            device.write(number * MB, pattern(number))
        disk.mark(2)
        disk.cut()
    assert replay(log, image, "prefix", context.programs)["kept"] == 2 * COUNT
    assert image_blocks(image) == ["whole"] * 2 * COUNT
    assert os.stat(image).st_size == 256 * MB
    assert replay(log, image, "drop", context.programs)["guaranteed"] == COUNT
    assert image_blocks(image) == ["whole"] * COUNT + ["missing"] * COUNT
    replay(log, image, "drop", context.programs, mark=1)  # before the flush: nothing is sure
    assert image_blocks(image) == ["missing"] * 2 * COUNT
    replay(log, image, "prefix", context.programs, mark=1)
    assert image_blocks(image) == ["whole"] * COUNT + ["missing"] * COUNT
    outcomes = []
    for seed in (1, 1, 2):
        replay(log, image, "subset", context.programs, seed=seed)
        outcomes.append(image_blocks(image))
    rest = outcomes[0][COUNT:]
    kinds = ("whole", "torn", "missing")
    print("unflushed blocks: " + ", ".join(f"{rest.count(kind)} {kind}" for kind in kinds))
    assert outcomes[0][:COUNT] == outcomes[2][:COUNT] == ["whole"] * COUNT
    assert min(rest.count(kind) for kind in kinds) >= 5, rest
    assert outcomes[0] == outcomes[1] != outcomes[2], "the seed decides, and nothing else"
    with fails("no mark 3", DiskError):
        replay(log, image, "drop", context.programs, mark=3)


def test_lying_flushes_and_discards(context):
    log, image = context.folder / "log", context.folder / "image"
    with context.disk("fast", 256 * MB, record=log) as disk, Device(disk.device) as device:
        device.write(0, pattern(0))
        device.write(MB, pattern(1))
        device.flush()
        subprocess.run(["blkdiscard", "--offset", str(MB), "--length", str(MB), disk.device], check=True)
        disk.fault("flush", "lost", count=1)
        device.write(2 * MB, pattern(2))
        device.flush()  # says it was done
    replay(log, image, "drop", context.programs)
    assert image_blocks(image)[:3] == ["whole", "whole", "missing"], "a lost flush was good for something"
    replay(log, image, "prefix", context.programs)
    assert image_blocks(image)[:3] == ["whole", "missing", "whole"]


def test_damaged_logs(context):
    log, image = context.folder / "log", context.folder / "image"
    with context.disk("fast", 64 * MB, record=log) as disk, Device(disk.device) as device:
        for number in range(8):
            device.write(number * MB, pattern(number))
    whole = log.read_bytes()
    assert sum(record[1] == "write" for record in records_of(context, log)) == 8
    log.write_bytes(whole[:-100 - BLOCK])  # cut in the midst of a record
    assert json.loads(subprocess.run([context.program, "replay", log, image], capture_output=True, text=True,
                                     check=True).stdout)["writes"] == 7
    log.write_bytes(whole[:48] + bytes(48) + whole[96:])
    context.refused("is damaged at byte 48", "replay", str(log), str(image))
    log.write_bytes(b"nothing of that kind" * 10)
    context.refused("is not a write log", "replay", str(log), str(image))
    context.refused("cannot open", "replay", str(context.folder / "none"), str(image))
    with context.disk("fast", 64 * MB, record=log, options=["--record-limit=100K"]) as disk, \
            Device(disk.device) as device:
        with fails("", OSError):
            for number in range(64):
                device.write(number * MB, pattern(number))
        assert disk.stats()["cut"] and disk.stats()["logBytes"] <= 100 << 10


def test_ext4_survives(context):
    """Files that were synced are whole after each of some random cuts."""
    tools = [shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin") for name in ("mkfs.ext4", "e2fsck", "debugfs")]
    if None in tools:
        print("not done: e2fsprogs is not installed")
        return
    mkfs, fsck, debugfs = tools
    log, image, mount = context.folder / "log", context.folder / "image", context.folder / "mount"
    mount.mkdir()
    with context.disk("fast", 64 * MB, record=log) as disk:
        subprocess.run([mkfs, "-q", "-F", disk.device], check=True)
        subprocess.run(["mount", disk.device, mount], check=True)
        try:
            disk.mark(0)
            disk.set(model="ssd")
            for number in range(1, 41):
                with open(mount / f"f{number}", "wb") as file:
                    file.write(pattern(number, BLOCK * (1 + number % 5)))
                    file.flush()
                    os.fsync(file.fileno())
                disk.mark(number)
        finally:
            subprocess.run(["umount", mount], check=True)
    records = records_of(context, log)
    marks = {int(record[2]): int(record[0]) for record in records if record[1] == "mark"}
    rng, checked = random.Random(3), 0
    for turn in range(5):
        cut = rng.randrange(marks[1], len(records))
        replay(log, image, "subset", context.programs, upto=cut, seed=turn)
        done = subprocess.run([fsck, "-f", "-y", image], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), f"cut {cut}: e2fsck ended with {done.returncode}: {done.stdout[-500:]}"
        for number in (n for n, at in marks.items() if n and at <= cut):
            out = context.folder / "out"
            subprocess.run([debugfs, "-R", f"dump f{number} {out}", image], capture_output=True, check=True)
            assert out.read_bytes() == pattern(number, BLOCK * (1 + number % 5)), f"cut {cut}: f{number} is damaged"
            checked += 1
    print(f"{checked} files after 5 cuts")
