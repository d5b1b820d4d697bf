# SPDX-License-Identifier: GPL-2.0-or-later
"""The papers' experiments at each scale: every size, count and setting, in this one place."""

import dataclasses

from .papers_disk import XFS_LEAST_MB
from .papers_published import HUMMINGBIRD_REQUESTS
from .papers_run import Case

#: the options of clusterfs in all experiments that do not vary them
CLUSTER = ("cluster-size=256",)
#: Damelo's frame sizes in KB
CLUSTERS = (16, 32, 64, 128, 256)
ORDERINGS = ("sequential", "random", "zipf-1:8", "zipf-1:4", "zipf-3:8")
STAGES = ("create", "read", "delete")
#: bytes of an object, 64 KB of it, that Hummingbird's table 2 still caches
LARGEST = 65536


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much smaller than in the papers; what is measured of it."""
    hummingbird: int             # requests, disk and memory are divided by this
    measured: int                # of the requests, at the end of the trace, on the disk's model; the rest fills
    tables: dict                 # Hummingbird's table -> tuples (disk GB, memory MB), as in the paper
    sync: bool                   # whether ext4 is measured with sync, too
    cfs: int                     # operations are divided by this
    damelo: int                  # objects, disk and memory are divided by this
    damelo_reads: int            # 0 = as many as objects
    clusters: tuple
    orderings: tuple
    tfs_urls: int
    tfs_measured: int            # requests
    bandwidth: tuple             # tuples (model, MB)
    model: str = "hdd"


SCALES = {
    "more": Scale(hummingbird=16, measured=2100, sync=True,
                  tables={"2": ((4, 256), (4, 1024), (8, 256), (8, 1024)), "3": ((4, 256), (4, 1024), (8, 256), (8, 1024)),
                          "4": ((4, 256), (9, 256), (15, 256)), "5": ((4, 256), (8, 256))},
                  cfs=1, damelo=8, damelo_reads=0, clusters=CLUSTERS, orderings=ORDERINGS, tfs_urls=32768,
                  tfs_measured=3000, bandwidth=(("hdd", 192), ("ssd", 512))),
    "quick": Scale(hummingbird=64, measured=600, sync=True, tables={"2": ((8, 1024),)}, cfs=10, damelo=8, damelo_reads=2500,
                   clusters=(64,), orderings=("zipf-1:8",), tfs_urls=16384, tfs_measured=700, bandwidth=(("ssd", 192),)),
    "tiny": Scale(hummingbird=1024, measured=300, sync=True, tables={"2": ((64, 4096),), "5": ((64, 4096),)}, cfs=100,
                  damelo=512, damelo_reads=100, clusters=(16, 64), orderings=("sequential", "zipf-3:8"), tfs_urls=500,
                  tfs_measured=200, bandwidth=(("fast", 16),), model="fast"),
}
#: MB that hold CFS's objects as files of a block each, with their inodes
CFS_MEMORY = 640
#: the least memory that Damelo's class takes
DAMELO_LEAST_MB = 16
EXPERIMENTS = ("hummingbird", "cfs", "damelo", "tfs", "bandwidth")


def _hummingbird_stores(table, sync):
    """(store, percent of the memory for the proxy's memory cache) of a table, as in the paper: EFS is not to be had."""
    if table == "4":
        return [("clusterfs", 50), ("xfs", 20), ("xfs", 50)]
    return [("clusterfs", 50), ("ext4", 50)] + [("ext4-sync", 50)] * sync


def _hummingbird(scale, xfs):
    for table, sizes in scale.tables.items():
        # mkfs.xfs refuses the smallest disk
        divisor = scale.hummingbird * 3 // 4 if table == "4" else scale.hummingbird
        requests = HUMMINGBIRD_REQUESTS // divisor
        thousandths = max(1, min(1000, round(scale.measured * 1000 / requests)))
        for disk_gb, memory in sizes:
            disk = disk_gb * 1024 // divisor
            options = ("--requests", requests, "--measure", thousandths, "--largest", LARGEST if table == "2" else 0,
                       "--threads", 4 if table == "5" else 1)
            for store, own in _hummingbird_stores(table, scale.sync):
                if store == "xfs" and (not xfs or disk < XFS_LEAST_MB):
                    continue
                yield Case("hummingbird", store, disk, max(5, memory // divisor), options, CLUSTER,
                           model=scale.model, label=table, paper=(disk_gb, memory, own),
                           scale=f"1/{divisor} of the log, the disk of {disk_gb} GB and the memory of {memory} MB; "
                                 f"the last {thousandths / 10:g} % of the requests are measured")


def _cfs(scale):
    objects = 50000 // scale.cfs
    for label, cold in (("in memory", ()), ("cold", ("--cold",))):
        for store in ("clusterfs", "ext4"):
            yield Case("cfs", store, max(64, 1024 // scale.cfs), max(8, CFS_MEMORY // scale.cfs),
                       ("--objects", objects, "--hints", "off", *cold), CLUSTER, measured=STAGES, model=scale.model, label=label,
                       scale=f"1/{scale.cfs} of the operations" if scale.cfs > 1 else "1")
    for store in ("clusterfs", "ext4"):
        yield Case("cfs-day", store, max(64, 512 // scale.cfs), max(8, 32 // scale.cfs),
                   ("--requests", 18000 // scale.cfs), CLUSTER, measured=("trace",), model=scale.model, label="a day",
                   scale=f"1/{scale.cfs} of the requests" if scale.cfs > 1 else "1")


def _damelo(scale):
    objects, memory, disk = 131072 // scale.damelo, max(DAMELO_LEAST_MB, 128 // scale.damelo), max(64, 2048 // scale.damelo)
    text = f"1/{scale.damelo} of the objects, memory and disk" + (f"; the first {scale.damelo_reads} reads" if scale.damelo_reads else "")
    for ordering in scale.orderings:
        # the paper's ext2 was a little better with 4; a disk with command queueing is better with 16
        options = ("--objects", objects, "--reads", scale.damelo_reads, "--ordering", ordering, "--threads", 16)
        yield Case("damelo", "ext4", disk, memory, options, measured=STAGES, model=scale.model, label=ordering, scale=text)
        for cluster in scale.clusters:
            yield Case("damelo", "clusterfs", disk, memory, options, (f"cluster-size={cluster}",), measured=STAGES,
                       model=scale.model, label=ordering, scale=text)


def _tfs(scale):
    # the server's files are 7 times the memory
    memory = max(8, scale.tfs_urls * 5800 // 7 >> 20)
    # all files are in the paper's system from the beginning; the accelerator has those that were asked for before
    requests = scale.tfs_measured * 20
    options = ("--urls", scale.tfs_urls, "--requests", requests, "--measure", 50)
    for store in ("clusterfs", "ext4"):
        # hardly anything is written, so that nearly all of the memory can be read cache
        yield Case("tfs", store, max(64, scale.tfs_urls * 24576 >> 20), memory, options, CLUSTER + ("staging=2",),
                   model=scale.model, label="server", scale=f"{scale.tfs_urls} URLs, {scale.tfs_measured} requests measured, after 19 times as many")


def _bandwidth(scale):
    for model, size in scale.bandwidth:
        yield Case("bandwidth", "clusterfs", size * 3 // 2 + 64, 16, ("--megabytes", size), ("cluster-size=1024",),
                   measured=("pack", "read"), model=model, label=model, scale=f"{size} MB")


def cases(name, experiments=EXPERIMENTS, xfs=False):
    """The runs of a scale, in order. xfs: whether mkfs.xfs is there."""
    scale = SCALES[name]
    makers = {"hummingbird": lambda s: _hummingbird(s, xfs), "cfs": _cfs, "damelo": _damelo, "tfs": _tfs,
              "bandwidth": _bandwidth}
    return [case for experiment in experiments for case in makers[experiment](scale)]
