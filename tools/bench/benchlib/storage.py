# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a cache lies: on the bare device, on ext4, or nowhere."""

import os
import pathlib

from squidkit.processes import give_to_squid

from .processes import checked

# an inode for each block, since no policy may run out of inodes before it runs out of blocks (heap GDSF prefers files of one block);
# nothing left to be initialised while we measure
EXT4_FORMAT = ("-q", "-F", "-m", "0", "-i", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard")
EXT4_MOUNT = "noatime"


class Nothing:
    """No disk cache."""
    programs = ()

    def __init__(self, disk=None, folder=None, memory_limit=0):
        self.path = None

    def prepare(self):
        """Makes it ready for a new cache."""

    def drop_caches(self):
        """Forgets what the page cache holds of it. The proxy is stopped."""

    def settings(self):
        """Lines that say what it is."""
        return ["no disk"]

    def close(self):
        """Gives the device back. May be called twice."""


class Raw(Nothing):
    """The device itself, owned by the proxy's user meanwhile."""

    def __init__(self, disk, folder=None, memory_limit=0):
        super().__init__()
        self.path, self._owner = pathlib.Path(disk.device), None

    def prepare(self):
        self._owner = self._owner or os.stat(self.path)
        give_to_squid(self.path)

    def settings(self):
        return ["on the device itself"]

    def close(self):
        if self._owner and self.path.exists():
            os.chown(self.path, self._owner.st_uid, self._owner.st_gid)
        self._owner = None


class Ext4(Nothing):
    """An ext4 of its own over the whole device."""
    programs = ("mkfs.ext4", "mount", "umount")

    def __init__(self, disk, folder, memory_limit=0):
        super().__init__()
        self._device, self._limit = disk.device, memory_limit
        self.path, self._bdi = pathlib.Path(folder) / "mount", None

    def prepare(self):
        checked("mkfs.ext4", *EXT4_FORMAT, self._device)
        self.path.mkdir(exist_ok=True)
        self._mount()
        give_to_squid(self.path)

    def _mount(self):
        checked("mount", "-t", "ext4", "-o", EXT4_MOUNT, self._device, self.path)
        self._limit_dirty()

    def _limit_dirty(self):
        """Dirty pages may be a fifth of the memory limit, as on a machine of that size (vm.dirty_ratio); without
        this, cgroup version 1 would count them against the whole machine."""
        folder = pathlib.Path(f"/sys/class/bdi/7:{self._device.removeprefix('/dev/loop')}")
        if self._limit and (folder / "max_bytes").exists():
            self._bdi = folder
            (folder / "max_bytes").write_text(str(self._limit // 5))
            (folder / "strict_limit").write_text("1")

    def drop_caches(self):
        self._unmount()
        self._mount()

    def _unmount(self):
        if os.path.ismount(self.path):  # asked, and not remembered: a signal may come at any time
            checked("umount", self.path, timeout=300)

    def settings(self):
        return [f"mkfs.ext4 {' '.join(EXT4_FORMAT)}", f"mount -o {EXT4_MOUNT}",
                "dirty pages limited to a fifth of the memory limit (bdi max_bytes, strict_limit)"]

    def close(self):
        self._unmount()
        if self._bdi:  # a loop device keeps this when it is detached
            (self._bdi / "strict_limit").write_text("0")
            (self._bdi / "max_ratio").write_text("100")
        self._bdi = None
        if self.path.exists():
            self.path.rmdir()
