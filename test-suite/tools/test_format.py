# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs format: what it makes, what it refuses, what --force overwrites."""

import os
import pwd
import subprocess
import threading

from toolkit import MIB, Image, need_root, program, store, url


def identity(test, image):
    return test.json("inspect", image)["superblock"]["uuid"]


def test_makes_a_file(test):
    image = Image(test.dir / "cache")
    says = test.tool("format", image.path, "--size=20", "--cluster-size=32", "--object-size=2").out
    found = image.path.stat()
    assert found.st_size == 20 * MIB and found.st_blocks * 512 >= 20 * MIB and found.st_mode & 0o777 == 0o600, found
    report = test.json("inspect", image)
    assert report["bytes"] == report["geometry"]["device_bytes"] == 20 * MIB
    assert report["geometry"]["cluster_bytes"] == 32768 and report["geometry"]["object_bytes"] == 2048
    assert report["superblock"]["uuid"] in says and f"{report['geometry']['cluster_count']} clusters of 32 KB" in says
    assert [c["state"] for c in report["superblock_copies"]] == ["whole", "whole"]
    regions = sorted((r["offset"], r["bytes"]) for r in report["regions"])
    for (offset, size), (following, _) in zip(regions, regions[1:]):
        assert offset + size <= following, regions
    assert sum(regions[-1]) <= 20 * MIB
    test.clean(image)
    assert not test.dump(image)


def test_leaves_a_cache_alone(test):
    image, _ = test.filled()
    before = image.digest()
    for words in ((), ("--size=12",), ("--cluster-size=32",)):
        assert "already and was left as it is" in test.tool("format", image.path, *words).out
    assert image.digest() == before


def test_force_empties_a_cache(test):
    image, _ = test.filled()
    before = identity(test, image)
    test.tool("format", image.path, "--force", "--cluster-size=32")
    report = test.json("inspect", image)
    assert report["superblock"]["uuid"] != before and report["geometry"]["cluster_bytes"] == 32768
    test.clean(image)
    assert not test.dump(image)
    test.fill(image, store(url("new"), 100000), "pack")
    assert list(test.dump(image)) == [url("new")]
    test.clean(image)


def test_part_of_a_file(test):
    image = Image(test.path("cache", bytes(32 * MIB)))
    test.tool("format", image.path, "--size=16", "--cluster-size=64")
    assert test.json("inspect", image)["geometry"]["device_bytes"] == 16 * MIB
    test.clean(image)
    os.truncate(image.path, 16 * MIB)
    test.clean(image)
    test.refused("format", image.path, "--size=17", "--force", says="fewer than the")


def test_refuses(test):
    os.mkfifo(test.path("fifo"))
    os.symlink(test.path("file", bytes(8 * MIB)), test.path("link"))
    os.symlink(test.path("nowhere"), test.path("dangling"))
    test.path("empty", b"")
    test.path("small", bytes(4 * MIB - 4096))
    (test.dir / "ufs" / "00").mkdir(parents=True)
    names = sorted(p.name for p in test.dir.iterdir())
    for name, says in (("missing", "give --size=MB"), (".", "is a directory"), ("ufs", "looks like a ufs cache"),
                       ("fifo", "a named pipe"), ("link", "symbolic link to a regular file"), ("dangling", "No such file"),
                       ("empty", "remove the empty file"), ("small", "at least 4194304 are needed")):
        for force in ((), ("--force",)):
            test.refused("format", test.dir / name, *force, says=says)
    test.refused("format", test.dir / "no" / "folder", "--size=16", says="create this directory first")
    test.refused("format", test.dir / "huge", "--size=100000000", says="available; give a smaller size")
    test.refused("format", test.dir / "tiny", "--size=4", says="too small")
    assert sorted(p.name for p in test.dir.iterdir()) == names
    assert (test.dir / "file").read_bytes() == bytes(8 * MIB)


def refused_then_forced(test, path, says):
    """Not without --force; with it, nothing of what was there is left."""
    image = Image(path)
    before = image.digest()
    test.refused("format", path, says=[says, "--force"])
    assert image.digest() == before
    test.tool("format", path, "--force", "--cluster-size=64")
    test.clean(image)
    formatted = image.digest()
    assert "already" in test.tool("format", path).out
    assert image.digest() == formatted


def test_somebody_elses_data(test):
    refused_then_forced(test, test.path("text", b"precious\n" * (2 * MIB)), "holds data that is not a clusterfs cache")
    content = bytearray(16 * MIB)
    content[8 * MIB:9 * MIB] = b"p" * MIB
    refused_then_forced(test, test.path("middle", bytes(content)), "holds data that is not a clusterfs cache")


def test_file_system(test):
    path = test.path("ext4", bytes(16 * MIB))
    subprocess.run([program("mkfs.ext4"), "-q", "-F", "-L", "photos", path], check=True)
    refused_then_forced(test, path, "a file system (ext4) labelled 'photos'")


def test_swap(test):
    path = test.path("swap", bytes(16 * MIB))
    subprocess.run([program("mkswap"), "-q", path], check=True)
    refused_then_forced(test, path, "swap space")


def test_partition_table(test):
    path = test.path("mbr", bytes(16 * MIB))
    entry = bytes([0x80, 0, 2, 0, 0x83, 0xfe, 0xff, 0xff]) + (2048).to_bytes(4, "little") + (8192).to_bytes(4, "little")
    Image(path).write(440, bytes.fromhex("1badc0de0000") + entry + bytes(48) + b"\x55\xaa")
    refused_then_forced(test, path, "a partition table (dos)")


def test_raid_member_at_the_end(test):
    """Linux RAID 1.0 has its superblock 8 KB before the end; here, the last MB is not whole."""
    path = test.path("raid", bytes(16 * MIB + 300 * 1024))
    superblock = bytearray(256)
    at = (os.path.getsize(path) - 8192) // 4096 * 4096
    superblock[0:8] = (0xa92b4efc).to_bytes(4, "little") + (1).to_bytes(4, "little")
    superblock[16:32] = bytes(range(1, 17))
    superblock[128:136] = (at // 512).to_bytes(8, "little")
    superblock[144:152] = (at // 512).to_bytes(8, "little")
    Image(path).write(at, superblock)
    refused_then_forced(test, path, "a part of a RAID or LVM volume (linux_raid_member)")


def test_older_cache_under_a_file_system(test):
    image = test.image()
    subprocess.run([program("mkfs.ext4"), "-q", "-F", image.path], check=True)
    image.write(MIB, b"clusterfs device")
    refused_then_forced(test, image.path, "besides an older clusterfs superblock")


def test_owner(test):
    need_root()
    user = pwd.getpwnam("nobody")
    test.tool("format", test.dir / "cache", "--size=16", "--cluster-size=64", "--owner=nobody")
    found = (test.dir / "cache").stat()
    assert (found.st_uid, found.st_gid) == (user.pw_uid, user.pw_gid)
    os.chown(test.dir / "cache", 0, 0)
    assert "already" in test.tool("format", test.dir / "cache", "--owner=nobody").out
    assert (test.dir / "cache").stat().st_uid == user.pw_uid


def test_owner_of_what_was_swapped(test):
    """Whoever may write to the folder can't have root give another file away."""
    need_root()
    victim = test.path("victim", bytes(16 * MIB))
    for number in range(12):
        path = test.dir / f"cache{number}"
        over = threading.Event()

        def swap(path=path, over=over):
            while not over.is_set() and not path.exists():
                pass
            if path.exists():
                os.replace(test.dir / "link", path)
        os.link(victim, test.dir / "link")
        thread = threading.Thread(target=swap)
        thread.start()
        says = test.tool("format", path, "--size=16", "--owner=nobody", code=None)
        over.set()
        thread.join()
        found = os.stat(victim)
        assert found.st_uid == 0 and found.st_size == 16 * MIB, found
        assert Image(victim).read(0, 16 * MIB) == bytes(16 * MIB), says
