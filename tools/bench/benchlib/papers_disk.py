# SPDX-License-Identifier: GPL-2.0-or-later
"""Where bench-papers keeps its objects: the device itself, or a file system on it."""

import pathlib

from .errors import BenchError
from .processes import checked, shielded, wait_until
from .storage import Ext4, Nothing

#: an inode for each block: most objects are that small; nothing left to be initialised while we measure
EXT4_FORMAT = ("-q", "-F", "-m", "0", "-b", "4096", "-i", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard")
XFS_FORMAT = ("-q", "-f", "-K", "-b", "size=4096", "-i", "maxpct=50")
#: mkfs.xfs refuses less
XFS_LEAST_MB = 300

#: store of an experiment -> file system and how it is mounted while it is measured
FILE_SYSTEMS = {"ext4": ("ext4", "noatime,async"), "ext4-sync": ("ext4", "noatime,sync,dirsync"),
                "xfs": ("xfs", "noatime,async")}
STORES = ("clusterfs",) + tuple(FILE_SYSTEMS)


class Device(Nothing):
    """The device itself, for clusterfs. The same calls as Files."""

    def __init__(self, disk):
        super().__init__()
        self.path = disk.device

    def measured_mount(self, on):
        """Nothing is mounted."""


class Files(Ext4):
    """An empty file system of its own over the whole device."""

    def __init__(self, disk, folder, store, page_cache):
        """page_cache: bytes of memory that it may use."""
        super().__init__(disk, folder, page_cache)
        self._kind, self._options = FILE_SYSTEMS[store]

    def prepare(self):
        if self._kind == "xfs":
            checked("mkfs.xfs", *XFS_FORMAT, self._device)
        else:
            checked("mkfs.ext4", *EXT4_FORMAT, self._device)
        self.path.mkdir(parents=True, exist_ok=True)
        self._mount()

    def _mount(self):
        # what only prepares need not wait for the disk
        checked("mount", "-t", self._kind, "-o", "noatime,async", self._device, self.path)
        self._limit_dirty()

    def measured_mount(self, on):
        """Switches to the options that are to be measured, and back."""
        if "sync" in self._options.split(","):
            checked("mount", "-o", f"remount,{self._options if on else 'noatime,async'}", self.path)

    def settings(self):
        form = f"mkfs.xfs {' '.join(XFS_FORMAT)}" if self._kind == "xfs" else f"mkfs.ext4 {' '.join(EXT4_FORMAT)}"
        return [form, f"mount -o {self._options}", "16 directories of 256, as Squid's ufs",
                "dirty pages limited to a fifth of the page cache (bdi max_bytes, strict_limit)"]


def make(store, disk, folder, page_cache, in_front=False):
    """The place of a store on a disk; not prepared yet. in_front: clusterfs stands in front of files, on their file system."""
    if store == "clusterfs":
        return Files(disk, pathlib.Path(folder), "ext4", page_cache) if in_front else Device(disk)
    if store not in FILE_SYSTEMS:
        raise BenchError(f"'{store}' is not a store of the papers' experiments: {', '.join(STORES)}")
    return Files(disk, pathlib.Path(folder), store, page_cache)


def block_stats(device):
    """What the kernel counted for a block device, as iostat reads it; {} where it has no counters.

    Counts, bytes, and seconds that requests took (read, write) and during which some were under way (busy)."""
    try:
        fields = [int(word) for word in pathlib.Path(f"/sys/class/block/{pathlib.Path(device).name}/stat").read_text().split()]
    except OSError:
        return {}
    return {"reads": fields[0], "readBytes": fields[2] * 512, "readSeconds": fields[3] / 1000,
            "writes": fields[4], "writeBytes": fields[6] * 512, "writeSeconds": fields[7] / 1000,
            "busySeconds": fields[9] / 1000}


class PlainDisk:
    """A loop device over the first bytes of a file or a block device, in place of a modelled disk. A context.

    backing: overwritten; a file that is not there is made, and removed in the end. model and name are not used:
    they make it stand in for disk.Disk."""

    def __init__(self, backing, size, model=None, name=None, programs=None):
        del model, name, programs
        self._backing, self._size = pathlib.Path(backing), size
        self._made, self.device = False, None

    def __enter__(self):
        if not self._backing.exists():
            with open(self._backing, "wb") as file:
                file.truncate(self._size)
            self._made = True
        try:
            self._check_size()
            self.device = checked("losetup", "--find", "--show", "--direct-io=on", f"--sizelimit={self._size}",
                                  self._backing).strip()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _check_size(self):
        with open(self._backing, "rb") as file:
            found = file.seek(0, 2)
        if found < self._size:
            raise BenchError(f"{self._backing} has {found >> 20} MB, this experiment takes {self._size >> 20} MB: take a smaller "
                             "scale, or a larger device")

    def __exit__(self, *_):
        with shielded():
            if self.device:
                checked("losetup", "--detach", self.device)
                # it goes when the last one closes it, udev among them
                wait_until(lambda: not pathlib.Path(f"/sys/block/{pathlib.Path(self.device).name}/loop").exists(),
                           f"end of {self.device}")
            self.device = None
            if self._made:
                self._backing.unlink()
            self._made = False

    def set(self, **_):
        """It is as fast as it is."""

    def stats(self):
        """Only the kernel counts here, see block_stats()."""
        return {}
