# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the papers, from runs of bench-papers."""

from . import papers_published as published
from .papers_plan import ORDERINGS, STAGES

NAMES = {"clusterfs": "clusterfs", "ext4": "ext4 (UFS async)", "ext4-sync": "ext4 -o sync (UFS sync)", "xfs": "XFS"}


def phase(run, name):
    """A phase of a run, or None."""
    return next((found for found in run["phases"] if found["name"] == name), None)


def disk_ios(found):
    """(requests, seconds that they took in sum) that the kernel counted in a phase."""
    block = (found.get("disk") or {}).get("block") or {}
    return (block.get("reads", 0) + block.get("writes", 0), block.get("readSeconds", 0) + block.get("writeSeconds", 0))


def whole_seconds(found):
    """Of a phase, until all of it was on the disk."""
    return found["seconds"] + found["syncSeconds"]


def _text(value, digits=3):
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def _ms(summary):
    return _text(summary["mean"] * 1000) if summary and summary.get("count") else ""


def _times(value, base):
    return f"{_text(base / value, 2)}x" if value and base else ""


def _base(runs, run):
    """The ext4 run beside a run."""
    def same(other):
        return all(other["case"][key] == run["case"][key] for key in ("experiment", "label", "disk", "memory"))
    return next((other for other in runs if other["case"]["store"] == "ext4" and same(other)), None)


def _rivals(runs, run):
    """The runs that a run of Hummingbird's is compared with: on XFS in table 4, else on ext4."""
    base = "xfs" if run["case"]["label"] == "4" else "ext4"
    return [other for other in runs if other["case"]["store"] == base and other["case"]["label"] == run["case"]["label"]
            and other["case"]["paper"][:2] == run["case"]["paper"][:2]]


def _of_the_paper(run):
    """The line of the paper that a run stands beside; none where it has no such size."""
    table, (disk_gb, memory, own) = run["case"]["label"], run["case"]["paper"]
    row = published.hummingbird(table, run["case"]["store"], disk_gb, memory, own)
    if not row:
        return []
    requests = published.HUMMINGBIRD_REQUESTS
    times = published.hummingbird_times(table, row)
    return [[f"the paper's {row.system}", f"{row.disk_gb * 1024:,}", f"{row.memory:,}", f"{row.hit_ratio:.2f}", _text(row.read_ms),
             _text(row.write_ms), _text(row.ios / requests), _text(row.io_ms), _text(requests / row.seconds) if row.seconds else "",
             f"{_text(times, 2)}x" if times else "", ""]]


def hummingbird(runs, table):
    """As Hummingbird's tables 2, 3, 4 and 5."""
    rows = []
    for run in (run for run in runs if run["case"]["label"] == table):
        found = phase(run, "measure")
        ios, seconds = disk_ios(found)
        took = whole_seconds(found)
        best = min((whole_seconds(phase(other, "measure")) for other in _rivals(runs, run)), default=None)
        own = f", {run['case']['paper'][2]} % for the proxy" if table == "4" and run["case"]["store"] != "clusterfs" else ""
        rows.append([NAMES[run["case"]["store"]] + own, str(run["case"]["disk"]), str(run["case"]["memory"]),
                     f"{found['hitRatio']:.3f}", _ms(found["fsRead"]), _ms(found["fsWrite"]), _text(ios / found["requests"]),
                     _text(seconds / ios * 1000 if ios else 0), _text(found["requests"] / took), _times(took, best),
                     _text((run["memoryGrown"] or 0) / 2 ** 20)])
        rows += _of_the_paper(run)
    title = {"2": "Hummingbird, table 2: one thread, objects over 64 KB are not cached",
             "3": "Hummingbird, table 3: one thread, all objects are cached",
             "4": "Hummingbird, table 4: beside XFS; one thread, all objects are cached",
             "5": "Hummingbird, table 5: four threads, all objects are cached"}[table]
    return {"title": title, "rows": rows,
            "columns": ["store", "disk MB", "memory MB", "hit ratio", "FS read ms", "FS write ms", "disk I/Os a request",
                        "mean disk I/O ms", "requests/s", "against XFS" if table == "4" else "against ext4", "memory taken MB"],
            "note": "FS read: mean of all hits, those in the proxy's memory included; FS write: of all objects stored. Files have "
                    "half of the memory as the proxy's memory cache and half as page cache, as in the paper; the memory cache "
                    "is not in 'memory taken'. Below each line is the one of the paper, on its own disks and with its own memory. It has "
                    "no times for table 2; in all, it says 2.3 to 4.0 times UFS async, 5.4 to 9.4 times UFS sync. Its UFS with soft "
                    "updates and its EFS are not to be had; its table 5 has two disks, this has one."}


def cfs(runs):
    """As CFS's figures."""
    rows = []
    for run in runs:
        for name in STAGES:
            found, base = phase(run, name), _base(runs, run)
            if not found:
                continue
            theirs = phase(base, name) if base else None
            rows.append([f"{name}, {run['case']['label']}", NAMES[run["case"]["store"]],
                         _text(found["operation"]["mean"] * 1e6), _text(found["operation"]["p99"] * 1e6),
                         _text(found["seconds"]), _text(whole_seconds(found)), f"{disk_ios(found)[0]:,}",
                         _times(found["seconds"], theirs and theirs["seconds"]),
                         _times(whole_seconds(found), theirs and whole_seconds(theirs)),
                         f"{published.CFS[name]} x" if run["case"]["store"] == "clusterfs" else ""])
    return {"title": "CFS: objects of 1 KB, one thread", "rows": rows,
            "columns": ["operation", "store", "mean us", "p99 us", "all s", "until on the disk s", "disk I/Os",
                        "against ext4", "until on the disk, against ext4", "the paper's, against ext2"],
            "note": "The paper's machine had 20 times the memory of the data: that is 'in memory'. 'cold': all caches are emptied "
                    "before the reads."}


def cfs_day(runs):
    """As CFS's trace."""
    rows = []
    for run in runs:
        found, base = phase(run, "trace"), _base(runs, run)
        rows.append([NAMES[run["case"]["store"]], f"{found['requests']:,}", f"{found['hits']:,}", f"{found['stale']:,}",
                     _ms(found["read"]), _ms(found["create"]), _ms(found["delete"]), _text(whole_seconds(found)),
                     f"{disk_ios(found)[0]:,}", _times(whole_seconds(found), base and whole_seconds(phase(base, "trace"))),
                     f"{published.CFS_DAY} x" if run["case"]["store"] == "clusterfs" else ""])
    return {"title": "CFS: a day's trace", "rows": rows,
            "columns": ["store", "requests", "found", "found stale and replaced", "read ms", "create ms", "delete ms", "all s",
                        "disk I/Os", "against ext4", "the paper's, against ext2"], "note": ""}


def damelo(runs, stage):
    """One stage over all orderings and cluster sizes: mean latency of an operation."""
    clusters = sorted({int(run["case"]["settings"][0].partition("=")[2]) for run in runs if run["case"]["store"] == "clusterfs"})
    rows = []
    for ordering in ORDERINGS:
        mine = {int(run["case"]["settings"][0].partition("=")[2]): phase(run, stage) for run in runs
                if run["case"]["label"] == ordering and run["case"]["store"] == "clusterfs"}
        theirs = next((phase(run, stage) for run in runs
                       if run["case"]["label"] == ordering and run["case"]["store"] == "ext4"), None)
        if not mine or not theirs:
            continue
        rates = {name: found["operations"] / whole_seconds(found) for name, found in mine.items()}
        base = theirs["operations"] / whole_seconds(theirs)
        rows.append([ordering, _text(base)] + [_text(rates.get(cluster)) for cluster in clusters]
                    + [f"{_text(max(rates.values()) / base, 2)}x", published.DAMELO.get((stage, ordering), "")])
    return {"title": f"Damelo: {stage}, operations/s until all is on the disk", "rows": rows,
            "columns": ["ordering", "ext4"] + [f"clusters of {cluster} KB" for cluster in clusters] + ["best against ext4", "the paper's, against ext2"],
            "note": "16 threads. zipf a:b: that share of the objects gets all but that share of the reads; their groups are loved, and "
                    "the others hated. Caches are empty when the reads begin."}


def damelo_hits(runs):
    """As Damelo's figure 6: bytes that were asked for, by those that the disk had to bring."""
    mine = [run for run in runs if run["case"]["store"] == "clusterfs"]
    clusters = sorted({int(run["case"]["settings"][0].partition("=")[2]) for run in mine})
    rows = []
    for ordering in ORDERINGS:
        ratios = {}
        for run in (run for run in mine if run["case"]["label"] == ordering):
            found = phase(run, "read")
            came = ((found.get("disk") or {}).get("block") or {}).get("readBytes")
            ratios[int(run["case"]["settings"][0].partition("=")[2])] = f"{found['bytes'] / came * 100:.0f}" if came else ""
        if ratios:
            rows.append([ordering] + [ratios.get(cluster, "") for cluster in clusters])
    return {"title": "Damelo, figure 6: bytes asked for, in percent of those that the disk brought", "rows": rows,
            "columns": ["ordering"] + [f"clusters of {cluster} KB" for cluster in clusters],
            "note": "The paper's frames are read whole: about 50 % at 16 KB and less with larger ones in random order, up to 250 % where "
                    "popular objects share frames. Here a read takes the mates that are expected to be wanted."}


def tfs(runs):
    """As TFS's figure 2."""
    rows = []
    for run in runs:
        found, base = phase(run, "measure"), _base(runs, run)
        ios, seconds = disk_ios(found)
        latency = seconds / found["requests"]
        theirs = disk_ios(phase(base, "measure"))[1] / phase(base, "measure")["requests"] if base else None
        took = whole_seconds(found)
        rows.append([NAMES[run["case"]["store"]], str(run["case"]["memory"]), _text(latency * 1000),
                     f"{(1 - latency / theirs) * 100:.0f} %" if theirs else "", f"{ios:,}", _ms(found["fsRead"]),
                     _text(found["requests"] / took), _times(took, base and whole_seconds(phase(base, "measure"))),
                     f"{published.TFS_LATENCY}; {published.TFS_THROUGHPUT}" if run["case"]["store"] == "clusterfs" else ""])
    return {"title": "TFS: a web server's trace, mostly reads", "rows": rows,
            "columns": ["store", "memory MB", "disk latency per URL ms", "less than ext4", "disk I/Os", "FS read ms",
                        "requests/s", "against ext4", "the paper's, against FFS"],
            "note": "Disk latency per URL: the time that all disk requests took, by the number of URLs asked for. clusterfs is the "
                    "accelerator: its store is a file of the same ext4."}


def bandwidth(runs):
    """clusterfs beside fio on the same device."""
    rows = []
    for run in runs:
        for name in ("pack", "read"):
            found, fio = phase(run, name), run["fio"][name]
            mine = found["bytes"] / whole_seconds(found)
            rows.append([run["case"]["model"], {"pack": "packing", "read": f"reading, {run['workload']['depth']} at once"}[name],
                         _text(mine / 1e6), _text(fio["bytesPerSecond"] / 1e6),
                         f"{mine / fio['bytesPerSecond'] * 100:.0f} %" if fio["bytesPerSecond"] else "", fio["what"]])
    return {"title": "Device bandwidth", "rows": rows,
            "columns": ["disk", "clusterfs", "MB/s", "fio MB/s", "of fio", "fio's job"],
            "note": "Bytes of objects, in both lines. fio reads and writes the same amount on the same part of the device."}


def all_tables(runs):
    """{experiment: tables} of what there is."""
    def of(*names):
        return [run for run in runs if run["case"]["experiment"] in names]

    birds, small, days, dames = of("hummingbird"), of("cfs"), of("cfs-day"), of("damelo")
    out = [hummingbird(birds, table) for table in ("2", "3", "4", "5") if any(run["case"]["label"] == table for run in birds)]
    out += [make(found) for make, found in ((cfs, small), (cfs_day, days)) if found]
    out += [damelo(dames, stage) for stage in STAGES if dames] + [damelo_hits(dames)] * bool(dames)
    out += [make(found) for make, found in ((tfs, of("tfs")), (bandwidth, of("bandwidth"))) if found]
    return out
