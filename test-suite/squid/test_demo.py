# SPDX-License-Identifier: GPL-2.0-or-later
"""What ./quickstart --disk does to the disk that it is given."""

import hashlib
import os
import pathlib
import sys

import pytest

from squidkit.processes import effective_user, run
from testlib.devices import make_ext4, make_partition_table

pytestmark = pytest.mark.stores("clusterfs")

DEMO = pathlib.Path(__file__).resolve().parents[2] / "tools" / "demo" / "quickstart.py"


def demo(t, disk):
    if not effective_user():
        pytest.skip("needs root: otherwise nothing is given to another user")
    return run(sys.executable, DEMO, "--build", t.prefix, "--work", t.dir / "work", "--pages", "3", "--disk", disk)


def seen(path):
    """All that must stay: owner, mode, bytes."""
    found = os.stat(path)
    return found.st_uid, found.st_gid, found.st_mode, hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def refused(t, disk, *words):
    before = seen(disk)
    done = demo(t, disk)
    assert done.returncode != 0 and f"{disk} was left as it is, and to its owner" in done.stdout, done.stdout
    assert any(word in done.stdout for word in words), done.stdout
    assert seen(disk) == before, f"{disk}: {before} became {seen(disk)}"


def test_foreign_file(t):
    """A file with data stays who it belongs to."""
    path = t.dir / "notes.img"
    path.write_bytes(b"The only copy of something.\n" * 300000)
    os.chown(path, 0, 0)
    refused(t, path, "holds data")


@pytest.mark.needs("loop", "mkfs.ext4")
def test_foreign_disks(t):
    """A disk with a file system, or with a partition table."""
    for number, (make, word) in enumerate(((make_ext4, "ext4"), (make_partition_table, "partition table"))):
        loop = t.loop(64, f"disk{number}")
        os.chown(loop.path, 0, 0)
        make(loop.path)
        refused(t, loop.path, word)


@pytest.mark.needs("modelled disk")
def test_failing_disk(t):
    """A blank disk on which the format fails stays who it belongs to."""
    disk = t.modelled_disk(128, "readLatency=20")
    os.chown(disk.path, 0, 0)
    disk.control("fault write error")
    before = os.stat(disk.path)
    done = demo(t, disk.path)
    assert done.returncode != 0 and "left as it is, and to its owner" in done.stdout, done.stdout
    after = os.stat(disk.path)
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode), after
    disk.control("clear")


@pytest.mark.needs("loop")
def test_blank_disk(t):
    """A blank disk is formatted, given to Squid's user and used; the next run finds what the first one has stored."""
    loop = t.loop(128)
    os.chown(loop.path, 0, 0)
    for run_number in (1, 2):
        done = demo(t, loop.path)
        assert done.returncode == 0 and "no difference" in done.stdout, done.stdout
        assert os.stat(loop.path).st_uid == effective_user().pw_uid
        first = done.stdout.partition("First visit")[2].partition("Second visit")[0]
        assert ("(100.0 %)" in first) == (run_number == 2), done.stdout
