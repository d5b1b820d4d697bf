# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that the papers themselves give, to stand beside measured ones.

Hummingbird: Shriver, Gabber, Huang and Stein, Storage management for web proxies, USENIX 2001. CFS: a cache file system for web
proxies, section 5. Damelo: section 5 of its paper. TFS: Wang, Cai and Hu, A light-weight, temporary file system for large-scale
web servers. They measured on disks of their time, so that ratios are to be compared, not times."""

import dataclasses

#: requests of the log that Hummingbird's tables come from
HUMMINGBIRD_REQUESTS = 4_800_000


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of Hummingbird's tables. memory: MB in all; own: of it, the proxy's memory cache; seconds: of the run, where given."""
    system: str
    disk_gb: int
    memory: int
    own: int
    hit_ratio: float
    read_ms: float
    write_ms: float
    ios: int
    io_ms: float
    seconds: int | None = None


def _rows(text):
    """Rows from a table as it is printed: system, GB, MB, MB of the proxy's own, and its other columns."""
    for line in text.strip().splitlines():
        system, disk, memory, own, hits, read, write, ios, mean, *rest = line.split()
        yield Row(system, int(disk), int(memory), int(own), float(hits), float(read), float(write), int(ios), float(mean),
                  int(rest[0]) if rest else None)


#: table -> its rows, in order
HUMMINGBIRD = {table: tuple(_rows(text)) for table, text in {
    "2": """
Hummingbird 4 256 0 0.62 1.81 0.32 1161163 5.14
UFS-async 4 256 128 0.64 6.13 2.54 4807440 4.66
UFS-soft 4 256 128 0.64 5.54 21.07 10737300 4.97
UFS 4 256 128 0.64 5.93 20.77 10238460 5.02
Hummingbird 4 1024 0 0.63 1.05 0.03 552882 5.75
UFS-async 4 1024 512 0.64 3.21 2.35 3217440 3.95
UFS-soft 4 1024 512 0.64 3.27 20.85 9714420 4.76
UFS 4 1024 512 0.64 3.92 18.43 9022200 4.63
Hummingbird 8 256 0 0.64 2.03 0.32 1194494 5.64
UFS-async 8 256 128 0.67 5.69 1.47 4605360 4.34
UFS-soft 8 256 128 0.67 5.78 15.66 9058141 4.86
UFS 8 256 128 0.67 6.17 12.83 8313360 4.63
Hummingbird 8 1024 0 0.64 1.20 0.03 578562 6.37
UFS-async 8 1024 512 0.67 4.05 1.34 3561180 4.13
UFS-soft 8 1024 512 0.67 3.74 15.65 8148721 4.62
UFS 8 1024 512 0.67 3.81 15.70 7611840 4.68
""",
    "3": """
Hummingbird 4 256 0 0.60 1.68 0.39 1349175 4.17 6362
UFS-async 4 256 128 0.62 6.61 2.88 5134380 4.72 25510
UFS-soft 4 256 128 0.62 5.81 22.91 11858100 5.02 59475
UFS 4 256 128 0.62 6.13 22.67 11283060 5.05 59807
Hummingbird 4 1024 0 0.61 0.88 0.52 630362 5.62 6030
UFS-async 4 1024 512 0.62 3.67 2.70 3919620 3.98 16384
UFS-soft 4 1024 512 0.62 3.51 22.89 10868700 4.84 52377
UFS 4 1024 512 0.62 4.24 20.23 10115400 4.69 49749
Hummingbird 8 256 0 0.64 2.17 0.40 1464727 5.03 7923
UFS-async 8 256 128 0.66 6.42 2.30 5017920 4.67 24657
UFS-soft 8 256 128 0.66 6.14 19.31 10461841 4.98 51797
UFS 8 256 128 0.66 7.37 16.42 9954540 4.89 51062
Hummingbird 8 1024 0 0.62 1.18 0.51 695771 6.41 6802
UFS-async 8 1024 512 0.66 4.66 1.90 4016400 4.32 18240
UFS-soft 8 1024 512 0.67 3.69 15.71 8158080 4.61 37097
UFS 8 1024 512 0.66 4.24 18.90 8894760 4.82 45044
""",
    "4": """
Hummingbird 4 256 0 0.62 2.82 0.20 922871 9.85 9926
EFS 4 256 50 0.62 14.79 46.38 10784969 10.99 128878
XFS 4 256 50 0.62 14.97 16.56 10870353 6.67 75565
EFS 4 256 128 0.62 14.08 48.33 10540778 11.37 130359
XFS 4 256 128 0.62 14.90 13.95 10115369 6.72 70746
Hummingbird 9 256 0 0.66 3.30 0.21 1028922 10.77 11861
XFS 9 256 50 0.66 15.47 12.39 9558954 7.02 69929
XFS 9 256 128 0.66 15.65 8.80 8737878 7.12 64726
Hummingbird 15 256 0 0.67 3.71 0.21 1049121 11.92 13313
XFS 15 256 50 0.67 16.71 5.73 8103576 7.60 63371
XFS 15 256 128 0.67 15.91 5.79 7841184 7.55 60943
""",
    "5": """
Hummingbird 4 256 0 0.64 4.86 1.34 1478005 11.68 11743
UFS-async 4 256 128 0.66 5.92 6.39 5638201 10.72 30427
UFS-soft 4 256 128 0.66 3.25 20.42 9405301 9.76 45655
UFS 4 256 128 0.66 6.71 15.86 10771201 9.05 48577
Hummingbird 8 256 0 0.67 6.12 1.40 1556169 14.08 12997
UFS-async 8 256 128 0.67 6.19 5.18 5466061 10.67 29354
UFS-soft 8 256 128 0.67 6.04 14.67 8678761 10.52 44622
UFS 8 256 128 0.67 6.78 9.73 8903641 8.74 38464
"""}.items()}

#: our store -> the paper's system that it stands for. Soft updates and EFS are not to be had on Linux
HUMMINGBIRD_SYSTEMS = {"clusterfs": "Hummingbird", "ext4": "UFS-async", "ext4-sync": "UFS", "xfs": "XFS"}
#: the system that others are compared with, in the paper's tables
HUMMINGBIRD_BASE = {"2": "UFS-async", "3": "UFS-async", "4": "XFS", "5": "UFS-async"}

#: CFS's operation -> times ext2's rate; the trace as a whole
CFS = {"create": 1.6, "read": 1.65, "delete": 20}
CFS_DAY = 1.5
#: Damelo's (stage, ordering) -> times ext2's rate with the best frame size, where the text has a number
DAMELO = {("read", "sequential"): "5 x", ("read", "random"): "1 x", ("read", "zipf-1:8"): "6 x", ("read", "zipf-1:4"): "2 to 3 x",
          ("delete", "sequential"): "10 x", ("delete", "random"): "10 x"}
#: TFS: percent less disk latency for each URL than FFS; times its throughput at most
TFS_LATENCY = "18 to 65 % less"
TFS_THROUGHPUT = "up to 2.6 x"


def hummingbird(table, store, disk_gb, memory, own_percent=50):
    """The paper's row that a run stands beside, or None.

    own_percent: of the memory, the proxy's own cache; of no effect with clusterfs."""
    system = HUMMINGBIRD_SYSTEMS[store]

    def same(row):
        own = 0 if system == "Hummingbird" else memory * own_percent // 100
        near = abs(row.own - own) <= memory // 100  # 50 of 256 MB is said to be 20 percent
        return row.system == system and (row.disk_gb, row.memory) == (disk_gb, memory) and near
    return next((row for row in HUMMINGBIRD[table] if same(row)), None)


def hummingbird_times(table, row):
    """By how much a row's run is shorter than the one of the base system beside it, or None where the paper gives no times."""
    rivals = [other for other in HUMMINGBIRD[table] if other.system == HUMMINGBIRD_BASE[table]
              and (other.disk_gb, other.memory) == (row.disk_gb, row.memory) and other.seconds]
    return min(other.seconds for other in rivals) / row.seconds if rivals and row.seconds else None
