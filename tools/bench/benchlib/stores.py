# SPDX-License-Identifier: GPL-2.0-or-later
"""The stores that are compared, each with the settings that its own documentation calls best."""

import dataclasses
import pathlib
import re

from . import others
from .plans import program_mb
from .squid import CarpSquid, ClusterfsSquid, RockSquid, Squid, UfsSquid
from .storage import Ext4, Nothing, Raw

MB = 1 << 20


#: a store with so many workers: clusterfs-w2
WORKERS = re.compile(r"(.+)-w(\d)")


def without_workers(name):
    """The store, of which this may be the one with several workers."""
    found = WORKERS.fullmatch(name)
    return found[1] if found else name


@dataclasses.dataclass(frozen=True)
class Place:
    """Where and within what a proxy runs."""
    name: str
    number: int          # of this proxy within ./bench: no two of the same number run at once
    folder: pathlib.Path
    port: int
    origin_port: int
    squid: pathlib.Path  # an installed Squid
    cache_mb: int
    memory_limit: int    # bytes; 0 for none
    workload: str = ""   # of the part, see plans.Part

    @property
    def store(self):
        """The store's name without its workers."""
        return without_workers(self.name)

    @property
    def workers(self):
        """How many workers share the load."""
        found = WORKERS.fullmatch(self.name)
        return int(found[2]) if found else 1

    @property
    def processes(self):
        """How many processes that are: beside several workers, one for the disk and one that coordinates them."""
        return self.workers + 2 if self.workers > 1 else 1

    @property
    def memory_mb(self):
        """What a cache may use beside the program, in MB."""
        return max(8, self.memory_limit // MB - program_mb(self.processes))

    def engine_options(self):
        """How clusterfs divides that. Nothing of it is in the page cache: what the others leave to that is its staging and
        read cache."""
        staging = min(32, max(4, self.memory_mb // 6))
        locality = max(2, self.cache_mb // 80)  # 150 bytes for each object of 13 KB, as the documentation advises
        # reads and relocated objects under way, hundreds of connections under overload. The limit kills
        memory = max(staging + locality + 2, self.memory_mb - 10)
        return [f"memory={memory}", f"staging={staging}", f"locality={locality}"]


TITLES = {"clusterfs": "clusterfs", "clusterfs-middle": "clusterfs, layout=middle",
          "clusterfs-small": "clusterfs, size-weight=100",
          "clusterfs-loaded": "clusterfs, filled by the engine",
          "clusterfs-calm": "clusterfs, no checkpoint", "clusterfs-checkpoints": "clusterfs, a checkpoint every second",
          "ufs": "ufs", "aufs": "aufs",
          "ufs-gdsf": "ufs, heap GDSF", "ufs-lfuda": "ufs, heap LFUDA",
          "aufs-gdsf": "aufs, heap GDSF", "aufs-lfuda": "aufs, heap LFUDA",
          "diskd": "diskd", "rock": "rock", "rock-n": "rock (squid -N)", "null": "no disk cache",
          "memory": "all in cache_mem", "ats": "Traffic Server", "varnish": "Varnish", "nginx": "nginx",
          "library": "the library's example", "carp": "aufs behind CARP"}


def title(name):
    """What the report calls a store."""
    found = WORKERS.fullmatch(name)
    return f"{TITLES.get(found[1], found[1])}, {found[2]} workers" if found else TITLES.get(name, name)


def _clusterfs(place, disk):
    storage = Raw(disk)
    line = f"clusterfs {storage.path} {place.cache_mb} {' '.join(place.engine_options())}"
    return ClusterfsSquid(place, storage, line + MORE.get(place.store, ""))


#: options besides
MORE = {"clusterfs-middle": " layout=middle", "clusterfs-small": " size-weight=100"}
#: seconds between checkpoints
CHECKPOINTS = {"clusterfs-loaded": 10, "clusterfs-calm": 86400, "clusterfs-checkpoints": 1}


def _clusterfs_loaded(place, disk):
    """Filled by bench-scale, whose objects are small: the index is sized for them."""
    storage = Raw(disk)
    return ClusterfsSquid(place, storage, f"clusterfs {storage.path} {place.cache_mb} object-size=1 persist=1 "
                          f"checkpoint={CHECKPOINTS[place.name]}")


def _ufs(place, disk):
    storage = Ext4(disk, place.folder, place.memory_limit)
    kind, _, policy = place.store.partition("-")
    if place.workers > 1:
        return UfsSquid(place, storage, _own_dirs(kind, storage, place.cache_mb, range(1, place.workers + 1)))
    # 16 and 256 directories, diskd's Q1=64 Q2=72: the defaults and what squid.conf.documented advises
    return UfsSquid(place, storage, f"{kind} {storage.path} {place.cache_mb} 16 256",
                    replacement=f"heap {policy.upper()}" if policy else None)


def _own_dirs(kind, storage, cache_mb, workers):
    """A cache_dir for each of these workers, {number: line}: such a store cannot be shared."""
    each = cache_mb // len(workers)
    return {number: f"{kind} {storage.path}/{number} {each} 16 256" for number in workers}


def _carp(place, disk):
    """The first worker gives each URL to one of the others, which have an aufs each."""
    storage = Ext4(disk, place.folder, place.memory_limit)
    return CarpSquid(place, storage, _own_dirs("aufs", storage, place.cache_mb, range(2, place.workers + 1)))


def _rock(place, disk):
    storage = Ext4(disk, place.folder, place.memory_limit)
    # a disker process of its own, so that the worker never waits for the disk; slots of 16 KB as by default
    return RockSquid(place, storage, f"rock {storage.path} {place.cache_mb}",
                     mode="-N" if place.store == "rock-n" else "--foreground")


def _null(place, disk):
    return Squid(place, Nothing())


def _memory(place, disk):
    return Squid(dataclasses.replace(place, memory_limit=0), Nothing(), mem_mb=place.cache_mb * 3 // 2 + 64,
                 mem_object_kb=200 * 1024, shared=place.workers > 1)


def _other(place, disk):
    kind = others.CLASSES[place.name]
    storage = Raw(disk) if place.name in ("ats", "library") else Ext4(disk, place.folder, place.memory_limit)
    return kind(place, storage)


MAKERS = {"clusterfs": _clusterfs, **{name: _clusterfs for name in MORE},
          **{name: _clusterfs_loaded for name in CHECKPOINTS}, "ufs": _ufs, "aufs": _ufs, "diskd": _ufs,
          "ufs-gdsf": _ufs, "ufs-lfuda": _ufs, "aufs-gdsf": _ufs, "aufs-lfuda": _ufs,
          "rock": _rock, "rock-n": _rock, "null": _null, "memory": _memory, "ats": _other, "varnish": _other,
          "nginx": _other, "library": _other, "carp": _carp}


def diskless(name):
    """Whether a store has nothing on the disk."""
    return without_workers(name) in ("null", "memory")


def make(place, disk):
    """The proxy of this name, a context. disk: benchlib.disk.Disk; may be None for those that are diskless()."""
    return MAKERS[place.store](place, disk)


def programs(names):
    """{program: who needs it} of these stores."""
    files = [name for name in names if name != "ats" and not diskless(name) and not name.startswith("clusterfs")]
    return {program: f"the file system of {', '.join(files)}" for program in (Ext4.programs if files else ())}
