# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured: every parameter of every part, at every scale, in this one place."""

import dataclasses
import math

from .errors import BenchError

MB = 1 << 20
#: what Squid without any cache needs (the null store under load takes 20 MB), added to each memory limit so that
#: "memory is a seventh of the cache" speaks of memory that a cache can use
PROGRAM_MB = 24
#: and each further process of a Squid with workers (with clusterfs they take 13 to 16 MB)
PROCESS_MB = 18
#: and the least of that: rock's four processes, and clusterfs's buffers beside its read cache, take most of less
LEAST_MEMORY_MB = 80
SQUID_STORES = ("clusterfs", "ufs", "aufs", "diskd", "rock")
COMPARED = ("clusterfs", "ufs", "aufs", "rock")  # those whose figures users want; diskd refuses requests when its queues are full
BOUNDS = ("null", "memory")
#: aufs with the policies of Squid that get the most hits of requests, and of bytes
HEAPS = ("aufs-gdsf", "aufs-lfuda")
ALL_HEAPS = HEAPS + ("ufs-gdsf", "ufs-lfuda")
OTHER_PROXIES = ("ats", "varnish", "nginx", "library")


def program_mb(processes):
    """What a program of so many processes needs beside its cache."""
    return PROGRAM_MB + PROCESS_MB * (processes - 1)


@dataclasses.dataclass(frozen=True)
class Part:
    """One part of the set. Sizes in MB, times in seconds."""
    name: str
    title: str
    kind: str                    # load, hits, restart, papers, polygraph
    model: str = "hdd"           # of the disk while it is measured; filling and ageing are done in "fast"
    workload: str = "pages"
    corpus: tuple = ()           # options of bench-client that say what there is to visit
    load: tuple = ()             # and those that say how it is visited while it is measured
    fill: tuple = ()             # and those while it is filled or aged
    zipf: float = 0.8            # exponent of the popularity; 0: all alike
    popular: float = 1.0         # share of the visits that go by popularity (the others never come again)
    cache_share: float = 1.25    # size of the cache, of the corpus's bytes
    memory_share: float = 1 / 7  # memory beyond PROGRAM_MB, of the cached bytes
    aged: bool = False           # the cache is replaced TURNS times over by random visits first
    settle_share: float = 0.0    # then visits as measured, of the cached pages, in "fast"
    users: int = 16              # closed loop
    seconds: float = 12          # of one closed loop, and of one open loop
    rounds: int = 3
    rate: float = 3.0            # visits/s of the open loop, for all stores alike
    ladder: tuple = ()           # visits/s of the short open loops that show cost against load
    ladder_seconds: float = 6
    delay_ms: int = 20           # of the origin, while it is measured
    stores: tuple = SQUID_STORES + BOUNDS
    processes: int = 1           # for which memory is added: as many as any of the stores needs
    counts: dict = dataclasses.field(default_factory=dict)  # of the kinds other than load
    estimate: float = 150        # seconds for one store (or for the whole part where it has no stores)

    def settings(self):
        """All of it, for the raw results."""
        return dataclasses.asdict(self)


#: how often random visits replace the cache before an aged part is measured
TURNS = 3


def loaded_mb(counts):
    """Size of a cache for the objects that bench-scale stores, with room beside them."""
    return math.ceil(counts["loaded"] * (counts["loadedBytes"] + 400) * 1.15 / MB) + 256


def disk_mb(cache_mb):
    """Size of the disk for a cache: file systems need room beside it, as Squid's documentation says."""
    return max(192, math.ceil(cache_mb * 1.3 / 64) * 64 + 64)


def pages(mb):
    """Pages of so many MB, built in or from a trace."""
    return ("--corpus-bytes", str(mb * MB))


def singles(count, *more):
    """So many single objects."""
    return ("--objects", str(count), *more)


#: a page has an object replaced at every other visit, so that there are misses to be timed
CHANGES = ("--change", "0.5")
HDD_LADDER = (1.0, 6.0, 24.0)
SSD_LADDER = (40.0, 120.0)


#: of a cache that has had to replace what it holds
AGED = dict(cache_share=0.4, memory_share=1 / 7, aged=True, settle_share=1.0)


def _page_parts(fresh, aged, ladders, stores, heaps=(), ssd_bounds=(), **common):
    """The four parts about pages; hdd and ssd differ in how much they can take. heaps: more stores, where there is replacement;
    ssd_bounds: more stores, where the processor is the limit."""
    out = []
    for model, rate, ladder, bounds in (("hdd", 3.0, HDD_LADDER, ()), ("ssd", 20.0, SSD_LADDER, ssd_bounds)):
        same = dict(kind="load", model=model, rate=rate, load=CHANGES, **common)
        out.append(Part(f"pages-{model}-fresh", f"Pages on the {model} model, cache just filled", corpus=fresh,
                        cache_share=1.25, memory_share=0.5, stores=stores + bounds, **same))
        out.append(Part(f"pages-{model}-aged", f"Pages on the {model} model, cache aged", corpus=aged, ladder=ladder if ladders else (),
                        stores=stores + heaps, **AGED, **same))
    return out


def _sizes(**common):
    """An aged cache with objects of other sizes, and one of ten times as many: so that nothing fits one corpus alone."""
    return [Part(f"sizes-{name}", f"Pages on the hdd model, cache aged, {title}", "load", "hdd", corpus=corpus, load=CHANGES,
                 stores=("clusterfs", "aufs", "aufs-gdsf", "rock"), estimate=estimate, **AGED, **common)
            for name, title, corpus, estimate in (
                ("4k", "objects of 4 KB", (*pages(500), "--page-bytes", "170000"), 160),
                ("100k", "objects of 100 KB", (*pages(4000), "--page-bytes", "4200000"), 160),
                ("10x", "ten times as large", pages(15000), 900))]


def _random(name, count, **more):
    return Part(name, "Uniform random objects without locality", "load", workload="random", corpus=singles(count),
                zipf=0.0, users=32, **more)


def _large(name, **more):
    return Part(name, "Large objects", "load", workload="large", users=8,
                corpus=singles(120, "--min-bytes", str(MB), "--max-bytes", str(16 * MB)), **more)


def _churn(mb, **more):
    return Part("churn", "Churn: replacement all the time", "load", workload="churn", corpus=pages(mb), zipf=0.6,
                cache_share=0.25, settle_share=1.5, rate=4.0, **more)


def _restart_ssd(**more):
    return Part("restart-ssd", "Restart with ten million objects", "restart", "ssd", "random", singles(2000), zipf=0.0,
                stores=("clusterfs-loaded",), counts={"loaded": 10000000, "loadedBytes": 600}, **more)


def _checkpoints(loaded, **more):
    return Part("checkpoints", "Checkpoints under load", "load", "ssd", corpus=pages(200), load=CHANGES, rate=20.0,
                stores=("clusterfs-calm", "clusterfs-checkpoints"), counts={"loaded": loaded, "loadedBytes": 600}, **more)


def _full():
    """The figures by which users choose a store."""
    same = dict(rounds=3, seconds=10, stores=COMPARED)
    return _page_parts(pages(500), pages(1500), True, heaps=("aufs-gdsf",), ssd_bounds=BOUNDS, estimate=140, **same) + [
        _churn(1200, estimate=120, **same),
        _random("random", 40000, rate=40.0, ladder=(20.0, 80.0, 160.0), estimate=95, **same),
        _random("random-ssd", 40000, model="ssd", rate=400.0, estimate=85, **same),
        _large("large", estimate=95, **same),
        _large("large-ssd", model="ssd", rate=10.0, estimate=80, **same),
        _hits(2000, rounds=5, seconds=3, memory_share=2.0, cache_share=4.0, estimate=150),
        _hits(25000, rounds=5, seconds=3, memory_share=0.3, cache_share=1.5, estimate=240),
        Part("restart", "Restart", "restart", "hdd", "random", singles(40000), zipf=0.0, rounds=3,
             stores=COMPARED + ("clusterfs-loaded",), counts={"loaded": 1000000, "loadedBytes": 3000}, estimate=75),
        _restart_ssd(rounds=3, estimate=240),
    ]


def _more():
    """Other sizes, other loads, workers, and what the papers and Web Polygraph measure."""
    same = dict(rounds=3, seconds=10)
    return _sizes(**same) + [
        Part("onehit", "A flood of one-hit wonders", "load", workload="onehit", corpus=pages(400), fill=("--flood", "0"),
             popular=0.5, cache_share=1.0, settle_share=1.0, stores=COMPARED, estimate=120, **same),
        *_workers(pages(1000), 2000, 25000, **same),
        _checkpoints(1000000, rounds=5, seconds=20, estimate=240),
        Part("papers", "The papers' experiments", "papers", estimate=3000, stores=()),
        Part("polygraph", "Web Polygraph", "polygraph", estimate=300, stores=COMPARED),
    ]


def _hits(count, stores=("memory",) + SQUID_STORES + ("rock-n",), **more):
    """So many single objects with the disk in RAM: all of them in memory, or few."""
    little = more["memory_share"] < 1
    return Part("hits-device" if little else "hits",
                f"Hits with the disk in RAM, and {'little' if little else 'all'} of it in memory", "hits", "fast", "random",
                singles(count), zipf=0.0, users=32, delay_ms=0, stores=stores, **more)


def _workers(corpus, few, many, **common):
    """What several workers bring. Stores that cannot be shared have a cache_dir for each worker, or for each one behind CARP."""
    several = tuple(f"{store}-w{count}" for count in (2, 4) for store in ("clusterfs", "rock", "aufs")) + ("ufs-w2", "carp-w3")
    hits = dict(kind="hits", workload="random", zipf=0.0, users=32, delay_ms=0, processes=6, rounds=5, seconds=3, estimate=300)
    return [
        Part("workers-hdd", "Several workers, pages on the hdd model, cache aged", "load", "hdd", corpus=corpus, rate=3.0, load=CHANGES,
             stores=("clusterfs",) + several, processes=6, estimate=120, **AGED, **common),
        Part("workers-ssd", "Several workers, single objects on the ssd model", "load", "ssd", "random", singles(few * 5), zipf=0.0,
             memory_share=0.3, rate=40.0, stores=("clusterfs", "clusterfs-w2", "rock-w2", "aufs-w2"), processes=6, estimate=80, **common),
        Part("workers-hits", "Several workers, hits with the disk in RAM, and all of it in memory", model="fast", corpus=singles(few),
             memory_share=2.0, cache_share=4.0, stores=("memory", "memory-w2", "memory-w4", "clusterfs") + several, **hits),
        Part("workers-device", "Several workers, hits with the disk in RAM, and little of it in memory", model="fast",
             corpus=singles(many), memory_share=0.3, cache_share=1.5, stores=("memory", "clusterfs") + several, **hits),
        Part("workers-restart", "Several workers, restart", "restart", "hdd", "random", singles(many), zipf=0.0, rounds=3, processes=6,
             stores=("clusterfs-w2", "rock-w2"), estimate=75),
    ]


def _quick():
    stores = ("clusterfs", "aufs", "rock")
    small = dict(rounds=1, seconds=4, stores=stores)
    parts = [part for part in _page_parts(pages(150), pages(250), False, estimate=28, **small)
             if part.name != "pages-ssd-fresh"]
    return parts + [
        _random("random", 8000, rate=40.0, estimate=22, **small),
        _churn(200, estimate=25, **small),
        _hits(1000, ("memory",) + stores, rounds=2, seconds=2, memory_share=2.0, cache_share=4.0, estimate=25),
        Part("restart", "Restart", "restart", "hdd", "random", singles(8000), zipf=0.0, rounds=1,
             stores=stores + ("clusterfs-loaded",), counts={"loaded": 100000, "loadedBytes": 3000}, estimate=13),
        Part("papers", "The papers' experiments", "papers", estimate=60, stores=()),
    ]


def _tiny():
    """Seconds, for the smoke test: everything is run, nothing can be concluded."""
    small = dict(rounds=1, seconds=1.5, stores=("clusterfs", "aufs"), estimate=12, users=4, load=CHANGES)
    return [
        Part("pages-hdd-fresh", "Pages on the hdd model, cache just filled", "load", "hdd", corpus=pages(8),
             memory_share=0.5, ladder=(2.0,), ladder_seconds=1, **small),
        Part("pages-ssd-aged", "Pages on the ssd model, cache aged", "load", "ssd", corpus=pages(80),
             cache_share=0.4, aged=True, settle_share=0.5, rate=5.0, **{**small, "stores": small["stores"] + ("aufs-gdsf",)}),
        _hits(100, ("memory", "clusterfs", "aufs"), rounds=1, seconds=1, memory_share=2.0, estimate=10),
        Part("workers-hits", "Several workers, hits with the disk in RAM", "hits", "fast", "random", singles(100), zipf=0.0, users=4, delay_ms=0,
             processes=6, rounds=1, seconds=1, memory_share=2.0, stores=("memory-w2", "clusterfs-w2", "aufs-w2", "carp-w3"), estimate=15),
        Part("workers-restart", "Several workers, restart", "restart", "hdd", "random", singles(500), zipf=0.0, rounds=1, processes=6,
             stores=("clusterfs-w2",), estimate=15),
        Part("restart", "Restart", "restart", "hdd", "random", singles(500), zipf=0.0, rounds=1, estimate=11,
             stores=("clusterfs", "aufs", "clusterfs-loaded"), counts={"loaded": 5000, "loadedBytes": 3000}),
        _checkpoints(5000, rounds=1, seconds=1.5, users=4, estimate=12),
    ]


SCALES = {"full": _full, "more": _more, "quick": _quick, "tiny": _tiny}


def parts(scale):
    """The parts of a scale, in the order in which they run."""
    return SCALES[scale]()


def set_of(name, recorded):
    """The set that has a part of this name: the recorded one, unless the part has moved since."""
    for scale in (recorded, *SCALES):
        if scale in SCALES and any(part.name == name for part in parts(scale)):
            return scale
    return recorded


#: the stores that can have several workers, each with so many
WORKERS = tuple(f"{store}-w{count}" for store in ("clusterfs", "rock", "aufs", "ufs", "memory", "null", "carp") for count in range(2, 9))
#: which stores each kind of part can have
POSSIBLE = {"load": SQUID_STORES + ALL_HEAPS + BOUNDS + WORKERS + (
                "rock-n", "clusterfs-middle", "clusterfs-small", "clusterfs-calm", "clusterfs-checkpoints"),
            "hits": ("memory",) + SQUID_STORES + ("rock-n",) + WORKERS,
            "restart": (*SQUID_STORES, "rock-n", "clusterfs-loaded", *(name for name in WORKERS if name.startswith(("clusterfs", "rock")))),
            "papers": (), "polygraph": SQUID_STORES + ALL_HEAPS}


def with_stores(part, only, more):
    """The part with these stores (None: its own), as far as it can have them, and with other proxies where it has
    loads on a disk."""
    known = POSSIBLE["load"] + ("clusterfs-loaded",)
    for name in only or ():
        if name not in known:
            raise BenchError(f"--stores {name}: '{name}' is not a store: {', '.join(known)}")
    for name in more:
        if name not in OTHER_PROXIES:
            raise BenchError(f"--with {name}: it takes {', '.join(OTHER_PROXIES)}; stores of Squid are chosen by --stores")
    stores = part.stores if only is None else tuple(store for store in only if store in POSSIBLE[part.kind])
    others = tuple(more) if part.kind == "load" and not part.counts else ()  # what clusterfs is filled with, they cannot have
    return dataclasses.replace(part, stores=stores + others)


def estimate(part):
    """Seconds that it takes on a machine with 2 cores."""
    return part.estimate * (len(part.stores) if part.kind in ("load", "restart", "polygraph") else 1)
