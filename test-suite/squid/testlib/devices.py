# SPDX-License-Identifier: GPL-2.0-or-later
"""Loop devices and small file systems for tests; root only. Each is removed by close()."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from common import BUILD
from squidkit.processes import give_to_squid, run

CLUSTERFS = BUILD / "clusterfs"


def tool(name):
    """The path of a system program, or of one that install-packages has unpacked; None where there is none."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:{BUILD}/prometheus/usr/bin:{BUILD}/haproxy/usr/sbin")


def _checked(*command):
    done = run(*command)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}"
    return done.stdout.strip()


def can_loop():
    """Why loop devices cannot be used here; None where they can."""
    if os.geteuid() != 0:
        return "loop devices need root"
    if not tool("losetup"):
        return "losetup is not installed"
    if not pathlib.Path("/dev/loop-control").exists():
        return "the kernel has no loop devices"
    return None


class Loop:
    """A loop device over a file, owned by Squid's user."""

    def __init__(self, path):
        self.backing = pathlib.Path(path)
        self.path = _checked(tool("losetup"), "--find", "--show", path)
        self._owner = os.stat(self.path)
        give_to_squid(self.path)

    def shrink(self, size):
        """Cuts the file and tells the kernel: what lies behind can no longer be read or written."""
        os.truncate(self.backing, size)
        _checked(tool("losetup"), "--set-capacity", self.path)

    def close(self):
        if self.path:
            _checked(tool("losetup"), "--detach", self.path)
            os.chown(self.path, self._owner.st_uid, self._owner.st_gid)
        self.path = None


class ModelledDisk:
    """A block device of the disk model (tools/diskmodel) with the speed that is asked for.
    record: a file that all writes are recorded in."""

    def __init__(self, program, size, settings, record=None):
        self._process = subprocess.Popen(
            [program, "serve", "--until-eof", "--model=ssd", f"--size={size}", f"--set={settings}",
             *([f"--record={record}"] if record else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        line = self._process.stdout.readline()
        assert line, f"{program} did not start"
        place = json.loads(line)
        self.path, self._control = place["device"], pathlib.Path(place["folder"]) / "ctl"
        give_to_squid(self.path)

    def control(self, line):
        """A command, see diskmodel --help."""
        self._control.write_text(line + "\n")

    def close(self):
        if self._process.stdin.closed:
            return
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


class TinyFileSystem:
    """A tmpfs of few megabytes: a sparse file on it fails to be written once it is full."""

    def __init__(self, folder, megabytes):
        self.path = pathlib.Path(folder)
        self.path.mkdir()
        _checked(tool("mount"), "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", self.path)

    def close(self):
        _checked(tool("umount"), self.path)


class Mount:
    """A mounted device."""

    def __init__(self, device, folder):
        self.path = pathlib.Path(folder)
        self.path.mkdir()
        _checked(tool("mount"), device, self.path)

    def close(self):
        _checked(tool("umount"), self.path)


def sparse_file(path, size):
    with open(path, "wb") as file:
        file.truncate(size)
    give_to_squid(path)
    return pathlib.Path(path)


def make_ext4(path):
    _checked(tool("mkfs.ext4"), "-q", "-F", path)


def make_swap(path):
    _checked(tool("mkswap"), path)


def make_partition_table(path):
    """An MBR with one Linux partition, written by hand so that no partitioning tool is needed."""
    entry = bytes([0x80, 0, 2, 0, 0x83, 0xfe, 0xff, 0xff]) + (2048).to_bytes(4, "little") + (8192).to_bytes(4, "little")
    with open(path, "r+b") as device:
        device.seek(440)
        device.write(bytes.fromhex("1badc0de0000") + entry + bytes(48) + b"\x55\xaa")


def zero_index_log(path):
    """Overwrites the region of the image that has the index."""
    done = run(CLUSTERFS, "inspect", path)
    regions = re.findall(r'region="index log" offset=(\d+) bytes=(\d+)', done.stdout)
    assert regions, done.stdout
    with open(path, "r+b") as image:
        for offset, size in regions:
            image.seek(int(offset))
            image.write(bytes(int(size)))
