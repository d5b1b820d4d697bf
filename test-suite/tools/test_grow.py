# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs grow: what a cache holds stays, and the new space is used."""

import fcntl
import os
import re
import shutil
import subprocess

import pytest
from toolkit import MIB, store, url


def used(test, image):
    return test.json("inspect", image)["geometry"]["device_bytes"]


@pytest.mark.parametrize("crash", [False, True])
def test_keeps_what_is_there_and_takes_more(test, crash):
    image, wanted = test.filled(crash=crash)
    says = test.tool("grow", image.path, "--size=40").out
    assert "grown from 16 to 40 MB" in says, says
    found = image.path.stat()
    assert found.st_size == 40 * MIB and found.st_blocks * 512 >= 40 * MIB and found.st_mode & 0o777 == 0o600, found
    assert used(test, image) == 40 * MIB
    test.clean(image)
    more = {url(f"more{n}"): 400000 for n in range(50)}  # 20 MB, which 16 MB have no room for
    answers = test.fill(image, *[store(name, size) for name, size in more.items()], "pack")
    assert answers[-1:] != ["full"], answers
    assert {name: e["size"] for name, e in test.dump(image).items()} == {**wanted, **more}
    test.clean(image)
    assert test.fill(image, *["read " + name for name in {**wanted, **more}]) == ["right"] * (len(wanted) + len(more))


def test_takes_all_there_is(test):
    image, wanted = test.filled()
    with open(image.path, "r+b") as file:
        file.truncate(30 * MIB)  # a volume that has become larger
    assert "grown from 16 to 30 MB" in test.tool("grow", image.path).out
    assert used(test, image) == 30 * MIB
    before = image.digest()
    assert "already" in test.tool("grow", image.path).out
    assert image.digest() == before
    assert {name: e["size"] for name, e in test.dump(image).items()} == wanted


def test_refuses_and_leaves_all_as_it_was(test):
    image, _ = test.filled()
    before = image.digest()
    test.refused("grow", image.path, "--size=12", says="smaller")
    test.refused("grow", image.path, "--size=300", says="16 times")
    test.refused("grow", image.path, "--size=0", says="--size")
    assert image.digest() == before
    with open(image.path, "rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        test.refused("grow", image.path, "--size=40", says="locked by another process")
    assert image.digest() == before
    foreign = test.path("foreign", b"x" * (8 * MIB))
    test.refused("grow", foreign, "--size=12", says="not a clusterfs device")
    assert foreign.read_bytes() == b"x" * (8 * MIB)


def traced(test, image, *inject):
    """Runs grow under strace. Returns its exit code, what it says, and the operations that it has given the kernel."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("strace is not installed")
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # leaks cannot be looked for under strace
    done = subprocess.run([strace, "-f", "-e", "trace=io_submit", *inject, test._tool, "grow", image.path, "--size=40"],
                          env=env, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stderr, re.findall(r"io_submit\(.*?aio_lio_opcode=IOCB_CMD_(\w+)", done.stderr)


@pytest.mark.parametrize("failing", [0, 1])
def test_a_superblock_that_cannot_be_written(test, failing):
    """One superblock may say the new size by then: a file that is shortened again would be refused for ever."""
    image, wanted = test.filled()
    code, says, operations = traced(test, image.copy("trial"))
    writes = [n for n, operation in enumerate(operations, 1) if operation == "PWRITE"]
    assert code == 0 and len(writes) == 2, says
    code, says, _ = traced(test, image, "-e", f"inject=io_submit:error=EIO:when={writes[failing]}")
    assert code == 2 and "writing the superblock failed" in says, says
    assert used(test, image) == (40 if failing else 16) * MIB
    test.clean(image)
    assert test.fill(image, *["read " + name for name in wanted]) == ["right"] * len(wanted)
    test.tool("grow", image.path, "--size=40")
    assert used(test, image) == 40 * MIB
    assert {name: e["size"] for name, e in test.dump(image).items()} == wanted
