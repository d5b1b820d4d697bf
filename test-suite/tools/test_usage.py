# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, and what no subcommand takes."""

import fcntl
import os
import re
import subprocess

import pytest

from common import BUILD, TOP
from toolkit import MIB, Image, need_root, program, url

#: options that a subcommand cannot do without
NEEDED = {"purge": ["--prefix=http:"]}


def readers(test):
    """[name, option...] of each subcommand with a PATH but format, setup and grow, which make what the others read."""
    return [[name, *NEEDED.get(name, ())] for name in test.subcommands("PATH") if name not in ("format", "setup", "grow")]


def test_help_and_version(test):
    version = re.search(r'projectVersion\[\] = "(.+)"', (TOP / "src/fs/cluster/base/Version.h").read_text())[1]
    assert test.tool("--version").out.startswith(f"clusterfs {version}, device format ")
    assert re.search(r"^VERSION = (.+)$", (BUILD / "Makefile").read_text(), re.M)[1] == version
    newest = re.search(r"^## (.+)$", (TOP / "CHANGELOG.md").read_text(), re.M)[1]
    assert newest.split(",")[0] == version, f"the newest heading of CHANGELOG.md is '{newest}'"
    package = re.match(r"clusterfs \((.+)-\d+\)", (TOP / "packaging/debian/changelog").read_text())[1]
    assert package == version, f"packaging/debian/changelog has the version {package}"
    overview = test.tool("help").out
    names = test.subcommands()
    assert {"format", "inspect", "check", "dump", "map", "purge"} <= set(test.subcommands("PATH")) < set(names), overview
    for name in names:
        assert test.tool("help", name).out == test.tool(name, "--help").out
        assert re.match(rf"clusterfs {name} [A-Z]", test.tool("help", name).out)
    done = test.tool(code=2)
    assert done.err == overview and not done.out


def test_manual_pages(test):
    """Each subcommand has one, with all of its options and no others, and is in the overview."""
    pages = TOP / "docs" / "man"
    overview = (pages / "clusterfs.8").read_text().replace("\\-", "-")
    assert {path.stem for path in pages.glob("*-*.8")} == {f"clusterfs-{name}" for name in test.subcommands()}
    for name in test.subcommands():
        page = (pages / f"clusterfs-{name}.8").read_text().replace("\\-", "-")
        wanted = set(re.findall(r"--[a-z-]+", test.tool("help", name).out))
        _, _, options = page.partition(".SH OPTIONS")
        described = set(re.findall(r"^\.B[IR]? (--[a-z-]+)", options, re.MULTILINE))
        assert described == wanted, f"clusterfs-{name}.8 describes {described}, the program takes {wanted}"
        assert f".BR clusterfs-{name} (8)" in overview, f"clusterfs.8 does not name {name}"


def test_wrong_words(test):
    image = test.image()
    before = image.digest()
    for words, says in (
            (("fromat", "x"), "no subcommand 'fromat'"),
            (("help", "me"), "no subcommand 'me'"),
            (("check",), "Name a block device or a file"),
            (("check", ""), "the path is empty"),
            (("check", "a", "b"), "one path at a time"),
            (("check", image.path, "--jsn"), "unknown option --jsn"),
            (("check", image.path, "-j"), "unknown option -j"),
            (("check", image.path, "--json=yes"), "--json takes no value"),
            (("check", image.path, "--json", "--json"), "--json was given twice"),
            (("inspect", image.path, "--cluster"), "--cluster=N"),
            (("inspect", image.path, "--cluster="), "--cluster=N"),
            (("inspect", image.path, "--cluster=-1"), "--cluster=-1 is not a whole number"),
            (("inspect", image.path, "--cluster=1x"), "--cluster=1x is not a whole number"),
            (("inspect", image.path, "--cluster=99999999999999999999"), "is not a whole number"),
            (("inspect", image.path, "--cluster=100000"), "clusters are numbered from 0 to"),
            (("purge", image.path), "exactly one of"),
            (("purge", image.path, "--url=a", "--prefix=b"), "exactly one of"),
            (("purge", image.path, "--prefix="), "--prefix=TEXT"),
            (("purge", image.path, "--pattern=("), "not a POSIX extended regular expression"),
            (("format", image.path, "--size=0"), "--size=0 is not a whole number from 4"),
            (("format", image.path, "--size=1G"), "--size=1G is not a whole number"),
            (("format", image.path, "--cluster-size=100"), "not a power of two"),
            (("format", image.path, "--cluster-size=8"), "--cluster-size=8 is not a whole number from 16"),
            (("format", image.path, "--owner=no-such-user-here"), "there is no such user")):
        test.refused(*words, says=says)
    assert image.digest() == before


def test_path_with_dash(test):
    test.tool("format", "--size=16", "--", "-odd")
    assert (test.dir / "-odd").stat().st_size == 16 * MIB
    assert test.tool("check", "--", "-odd").out.endswith("clean\n")


def test_not_an_image(test):
    os.mkfifo(test.path("fifo"))
    os.symlink(test.image().path, test.path("link"))
    test.path("text", b"not a cache at all\n" * 1000000)
    test.path("empty", b"")
    test.path("short", b"\0" * 5000)
    for command, *options in readers(test):
        for name, says in (("missing", "No such file"), (".", "a directory"), ("fifo", "a named pipe"),
                           ("link", "a symbolic link to a regular file"), ("/dev/null", "a character device"),
                           ("text", "not a clusterfs device"), ("short", "not a clusterfs device"), ("empty", "has no space")):
            test.refused(command, name if name.startswith("/") else test.dir / name, *options, says=says)


def test_in_use(test):
    image = test.image()
    before = image.digest()
    with open(image.path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        for command, *options in (*readers(test), ("format", "--force")):
            if command == "probe":  # takes no lock: test_setup.py
                continue
            test.refused(command, image.path, *options, says="locked by another process")
    assert image.digest() == before
    test.clean(image)


def test_loop_device(test):
    need_root()
    if not os.path.exists("/dev/loop-control"):
        pytest.skip("the kernel has no loop devices")
    losetup = program("losetup")
    backing = test.path("backing")
    with open(backing, "wb") as file:
        file.truncate(16 * MIB)
    device = subprocess.run([losetup, "--find", "--show", backing], capture_output=True, text=True, check=True).stdout.strip()
    try:
        test.refused("format", backing, says="is attached as loop device")
        assert "formatted: 16 MB" in test.tool("format", device, "--cluster-size=64").out
        os.symlink(device, test.path("link"))
        test.fill(Image(device), f"store {url('x')} 70000 1 2 3 0", "pack")
        report = test.json("check", Image(test.dir / "link"))
        assert report["objects"] == 1 and report["result"] == "clean" and "warning" not in report, report
        assert list(test.dump(Image(device))) == [url("x")]
        assert test.tool("purge", test.dir / "link", f"--url={url('x')}").out.endswith("removed 1 objects, 70000 bytes\n")
        assert not test.dump(Image(device))
    finally:
        subprocess.run([losetup, "--detach", device], check=True)


def test_disk_is_discarded(test):
    """format tells the disk that none of its former bytes is needed, also behind the part that is used."""
    need_root()
    if not os.path.exists("/dev/loop-control"):
        pytest.skip("the kernel has no loop devices")
    losetup = program("losetup")
    backing = test.path("backing", b"former" * (64 * MIB // 6))
    device = subprocess.run([losetup, "--find", "--show", backing], capture_output=True, text=True, check=True).stdout.strip()
    try:
        with open(f"/sys/block/{os.path.basename(device)}/queue/discard_max_bytes", encoding="ascii") as limit:
            discards = int(limit.read()) > 0
        test.tool("format", device, "--force", "--size=48")
        subprocess.run(["sync", device], check=True)
        data = backing.read_bytes()
        for start, end in ((8 * MIB, 40 * MIB), (50 * MIB, 60 * MIB)):
            assert (b"former" not in data[start:end]) == discards, (start, discards)
    finally:
        subprocess.run([losetup, "--detach", device], check=True)


def test_readable_by_others(test):
    image = test.image()
    assert "warning" not in test.json("inspect", image)
    for mode in (0o640, 0o604):
        image.path.chmod(mode)
        for command in ("inspect", "check"):
            done = test.tool(command, image.path, "--json")
            assert f"mode {mode:04o} lets other users read" in done.err, done
            assert f"mode {mode:04o} lets other users read" in done.out, done
