# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs report: a page for a browser, of a running Squid or of a device. clusterfs-report(8) describes it."""

import argparse
import html
import json
import math
import os
import stat
import sys
import time

from . import charts
from . import figures as f
from .metrics import PLACES, Address, Away, BadRequest, Dir, fetch, fetch_map, parse, password_of, percentile

MOST_LOOKS = 120  # at a running Squid: as many points as a curve has
LEAST_WAIT = 1  # seconds between them
MAP_TIMEOUT = 60  # seconds for the maps of all cache_dirs: Squid needs one for each million objects
COLOURS = {"staging": charts.ORANGE, "read_cache": charts.SKY, "disk": charts.BLUE}
STATES = {"small objects": charts.BLUE, "large objects": charts.ORANGE, "index log": charts.GREY, "bad": charts.RED, "free": charts.FREE}
STYLE = """
:root{color-scheme:light}*{box-sizing:border-box}
body{margin:0;background:#f4f5f7;color:#222;font:16px/1.45 system-ui,"DejaVu Sans",Arial,sans-serif}
main{max-width:1240px;margin:0 auto;padding:20px}
h1{font-size:1.6rem;margin:.2em 0}h2{font-size:1.25rem;margin:1.6em 0 .5em;overflow-wrap:anywhere}h3{font-size:1rem;margin:0 0 .6em}
p{margin:.4em 0}.pale{color:#5a6068;margin-bottom:1em}.pale,.note{overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(46%,200px),1fr));gap:12px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,350px),1fr));gap:14px;margin-top:14px}
.maps{grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
.tiles>div,.charts>section{background:#fff;border:1px solid #dcdfe3;border-radius:8px;padding:12px 14px}
.tiles b{display:block;font-size:1.35rem;font-weight:600;white-space:nowrap}.tiles small,.note{color:#5a6068;font-size:.85rem}
.bad b{color:#b34700}
svg{display:block;width:100%;height:auto;font-family:inherit}
.key{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:.85rem;color:#222;align-items:center}
.key i{display:inline-block;width:12px;height:12px;margin-right:6px;border:1px solid #9aa1a9;vertical-align:-1px}.key svg{width:120px}
table{border-collapse:collapse;width:100%;font-size:.92rem}td{padding:3px 0;border-top:1px solid #eceef0}td+td{text-align:right;white-space:nowrap}
"""


def page(title, about, body):
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{html.escape(title)}</title><style>{STYLE}</style></head>
<body><main><h1>{html.escape(title)}</h1><p class="pale">{html.escape(about)}</p>
{body}
</main></body></html>
"""


def tiles(rows):
    """Figures in large letters: (name, value, whether it is bad)."""
    return '<div class="tiles">' + "".join(
        f'<div{" class=bad" if bad else ""}><b>{html.escape(value)}</b><small>{html.escape(name)}</small></div>' for name, value, bad in rows) + "</div>"


def section(title, drawing, note=""):
    return f'<section><h3>{html.escape(title)}</h3>{drawing}{f"<p class=note>{html.escape(note)}</p>" if note else ""}</section>'


def table(rows):
    return "<table>" + "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in rows) + "</table>"


def stamp(seconds):
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


# a running Squid


def watch(address, password, seconds, look=fetch, sleep=time.sleep, clock=time.monotonic):
    """[(seconds since the first, {path: samples})] of the page, at equal distances; the first and the last answer must
    come, and one in between may be missing."""
    looks = min(MOST_LOOKS, max(2, int(seconds / LEAST_WAIT))) + 1
    begun, found = clock(), []
    for n in range(looks):
        sleep(max(0, begun + n * seconds / (looks - 1) - clock()))
        try:
            pages = parse(look(address, password))
        except Away:
            if n in (0, looks - 1):
                raise
            continue
        found.append((clock() - begun, pages))
    return found


def series(looks, path):
    """The cache_dir between each two answers, and over all of them: (list of Dir, Dir)."""
    known = [(when, pages[path]) for when, pages in looks if path in pages]
    steps = [Dir(path, now, before, when - was) for (was, before), (when, now) in zip(known, known[1:])]
    return steps, Dir(path, known[-1][1], known[0][1], known[-1][0] - known[0][0])


def maps_of(address, password, paths, timeout=MAP_TIMEOUT, look=fetch_map, clock=time.monotonic):
    """{path: map, or the reason why there is none} of the cache_dirs of a running Squid."""
    until, found = clock() + timeout, {}
    for path in paths:
        try:
            found[path] = look(address, path, password, max(1, until - clock()))
        except Away as reason:
            found[path] = str(reason)
    return found


def dir_section(looks, path, found):
    """All of a cache_dir, with its map, or the reason why there is none: HTML."""
    steps, whole = series(looks, path)
    head = f"<h2>{html.escape(path)} <span class=pale>{html.escape(whole.state())}</span></h2>"
    if not whole.used():
        return head + "<p>The device is not in use: cache.log has the reason.</p>"
    if not whole.changes:
        head += "<p>Squid was started anew meanwhile, so there are no rates over the whole time.</p>"
    seconds = looks[-1][0] - looks[0][0]
    return head + tiles(_tiles(whole)) + '<div class="charts">' + "".join((
        section("Hits a second, by source", charts.stacked("hits a second", [
            (place.replace("_", " "), COLOURS[place], [d.rate("hits_total", **{"from": place}) for d in steps]) for place in PLACES], f.count, seconds)),
        section("Hits and misses a second", charts.curves("hits and misses a second", [
            ("hits", charts.BLUE, [d.rate("hits_total") for d in steps]), ("misses", charts.RED, [d.misses() for d in steps])], f.count, seconds),
            "Misses are objects that came in. Responses that must not be cached are not counted."),
        *(_waits_sections(steps, seconds) if whole.has_waits() else []),
        section("Hits by source, all of the time", charts.shares("hits by source", [
            (place.replace("_", " "), COLOURS[place], whole.grown("hits_total", **{"from": place}) or 0) for place in PLACES], f.count)),
        section("Requests to the disk a second", charts.curves("disk requests a second", [
            (name, colour, [d.rate("disk_requests_total", operation=operation) for d in steps])
            for operation, name, colour in (("read", "reads", charts.BLUE), ("write", "writes", charts.ORANGE), ("flush", "flushes", charts.GREEN))], f.count, seconds)),
        section("Bytes of the disk a second", charts.curves("disk bytes a second", [
            (name, colour, [d.rate("disk_bytes_total", operation=operation) for d in steps])
            for operation, name, colour in (("read", "read", charts.BLUE), ("write", "written", charts.ORANGE))], f.size, seconds, binary=True)),
        section("Time of reads", charts.curves("time of reads", [
            (f"p{round(100 * share)}", colour, [d.percentile("read", share) for d in steps])
            for share, colour in ((0.5, charts.SKY), (0.99, charts.BLUE))], f.span, seconds), "No line where the disk had nothing to read."),
        section("How long requests took", _times(whole), "A bar stands for the requests that took at most the time below it, and more than half of it."),
        section("Space", charts.shares("clusters by state", [(name, STATES[name], number * whole.of("cluster_size_bytes"))
                                                             for name, number in whole.space().items()], f.size)),
        section("Objects read along and prefetched", charts.curves("objects read along", [
            ("read along", charts.BLUE, [d.rate("objects_read_along_total") for d in steps]),
            ("prefetched", charts.ORANGE, [d.rate("objects_prefetched_total") for d in steps])], f.count, seconds),
            "Objects a second that came with others of their group, before anybody asked for them."),
        *([] if isinstance(found, str) else [_age_section(found), _fill_section(found)]),
        section("Locality", table(_locality(whole))), section("Housekeeping", table(_housekeeping(whole))), section("Memory and start", table(_memory(whole))),
    )) + "</div>" + _map_or_reason(found, f"Map of {path}")


def _waits_sections(steps, seconds):
    lines = [(f"{answer}, p{round(100 * share)}", colour, [d.percentile(answer, share) for d in steps])
             for answer, pale, strong in (("hit", charts.SKY, charts.BLUE), ("miss", charts.ORANGE, charts.RED)) for share, colour in ((0.5, pale), (0.99, strong))]
    return [section("How long clients wait", charts.curves("how long clients wait", lines, f.span, seconds),
                    "From the end of a request's header to the first 4 KB of an object that this cache_dir reads or begins to store.")]


def _map_or_reason(found, title):
    if isinstance(found, str):
        return f"<h2>{html.escape(title)}</h2><p>There is no map, and no age of what is stored: {html.escape(found)}.</p>"
    return _maps(found, title)


def _tiles(d):
    objects, age, errors = d.of("objects"), d.of("evicted_age_seconds"), d.errors()
    return [
        ("hit rate", f.share(d.hit_rate()), False), ("hits", f.per_second(f.count(d.rate("hits_total"))), False), ("misses", f.per_second(f.count(d.misses())), False),
        ("reads of the disk a page", f.ratio(d.reads_for("pages_opened_total")), False),
        ("median time of a read", f.span(d.percentile("read", 0.5)), False), ("99 % of the reads within", f.span(d.percentile("read", 0.99)), False),
        (f"of {f.size(d.of('device_size_bytes'))} in use", f.part(d.of("clusters") - d.of("clusters_free"), d.of("clusters")), False),
        (f"objects of {f.size(d.of('object_bytes') / objects) if objects else '-'}", f.count(objects), False),
        ("age of evicted objects", f.age(age) if age else "none evicted", False),
        ("errors since Squid's start", f.count(sum(row[1] for row in errors)) if errors else "none", bool(errors))]


def _times(d):
    """Of reads and writes, in per cent, from the first bucket with something to the last one."""
    both = [d.buckets(operation) if d.changes else [] for operation in ("read", "write")]
    used = [n for buckets in both for n, (_, count) in enumerate(buckets) if count]
    if not used:
        return "<p>No requests in this time.</p>"
    first, last = max(0, min(used) - 1), max(used) + 1
    names = [f"over {f.bound(both[0][n - 1][0])}" if math.isinf(bound) else f.bound(bound) for n, (bound, _) in enumerate(both[0])][first:last + 1]
    rows = []
    for (name, colour), buckets in zip((("reads", charts.BLUE), ("writes", charts.ORANGE)), both):
        total = sum(count for _, count in buckets)
        rows.append((f"{name}: {f.count(total)}, p50 {f.span(percentile(buckets, 0.5))}, p99 {f.span(percentile(buckets, 0.99))}", colour,
                     [count / total if total else 0 for _, count in buckets][first:last + 1]))
    return charts.bars("times of requests", rows, names, f.share)


def _locality(d):
    used, vain = "read_along_and_used_total", "read_along_in_vain_total"
    fetched, unused = "prefetched_and_used_total", "prefetched_in_vain_total"
    return [("pages opened", _rate(d, "pages_opened_total")), ("reads of the disk a page", f.ratio(d.reads_for("pages_opened_total"))),
            ("reads of the disk a hit", f.ratio(d.reads_for("hits_total"))), ("groups known", f.count(d.of("groups_known"))), ("members of them", f.count(d.of("members_known"))),
            ("group reads", _rate(d, "group_reads_total")), ("objects read along", _rate(d, "objects_read_along_total")),
            ("of these, used", f.share(d.ratio([used], [used, vain]))), ("objects prefetched", _rate(d, "objects_prefetched_total")),
            ("of these, used", f.share(d.ratio([fetched], [fetched, unused]))), ("objects packed in groups", _rate(d, "objects_packed_in_groups_total")),
            ("regrouped", _bytes(d, "regrouped_bytes_total"))]


def _housekeeping(d):
    return [("stored", f"{_rate(d, 'objects_stored_total')}, {_bytes(d, 'stored_bytes_total')}"), ("refused", _rate(d, "stores_refused_total")),
            ("evicted", _rate(d, "objects_evicted_total")), ("relocated", _rate(d, "objects_relocated_total")), ("deleted", _rate(d, "objects_deleted_total")),
            ("expired", _rate(d, "objects_expired_total")), ("merged", _bytes(d, "merged_bytes_total")),
            ("bytes written a stored byte", f.ratio(d.ratio([("disk_bytes_total", {"operation": "write"})], ["stored_bytes_total"]))),
            ("last checkpoint", f"{f.age(d.of('checkpoint_age_seconds'))} ago" if d.has("checkpoint_age_seconds") else "none yet"),
            ("written since format", f.size(d.of("written_since_format_bytes_total")))] + [
                (name, f.count(total)) for name, total, _ in d.errors()]


def _memory(d):
    return [("staging", f"{f.size(d.of('staging_used_bytes'))} of {f.size(d.of('staging_limit_bytes'))}"),
            ("read cache", f"{f.size(d.of('read_cache_used_bytes'))} of {f.size(d.of('read_cache_limit_bytes'))}"),
            ("index", f.size(d.of("index_bytes"))), ("learning", f.size(d.of("learning_memory_bytes"))),
            ("last stop", d.info("last_stop") or "-"), ("index from", d.info("index_from") or "-"),
            ("time of the start", f.span(d.of("recovery_time_seconds"))), ("longest turn", f.span(d.of("longest_turn_seconds"))),
            ("asynchronous I/O", d.info("asynchronous_io") or "-")]


def _rate(d, name):
    return f.per_second(f.count(d.rate(name)))


def _bytes(d, name):
    return f.per_second(f.size(d.rate(name)))


def running(looks, name, now, maps):
    """maps: of each cache_dir that is in use, as maps_of() finds them."""
    paths = list(looks[-1][1])
    about = f"{stamp(now)}. What happened in {looks[-1][0] - looks[0][0]:.0f} seconds. docs/metrics.md explains the statistics. 1 KB is 1,024 bytes."
    return page(f"clusterfs on {name}", about, "".join(dir_section(looks, path, maps.get(path, "")) for path in paths))


# a device


def device(found, now):
    """Of a description as tools/cli/Survey.h has it."""
    objects, clusters, states = found["objects"], found["clusters"], found["states"]
    cluster = found["cluster_bytes"]
    path = "".join(c if c.isprintable() else "?" for c in found["path"])
    latest = max((cell["latest"] for cell in found["cells"]), default=0)
    about = f"{stamp(now)}. Device {found['uuid']}, as a start of Squid would find it. 1 KB is 1,024 bytes."
    beside = sum(cell["grouped"] for cell in found["cells"])
    lying = sum(cell["objects"] for cell in found["cells"])
    body = tiles([
        ("size of the device", f.size(found["device_bytes"]), False), ("of the clusters in use", f.part(clusters - states["free"], clusters), False),
        ("objects", f.count(objects), False), ("mean size of an object", f.size(found["live_bytes"] / objects) if objects else "-", False),
        ("stored bytes of all objects", f.size(found["live_bytes"]), False), (f"clusters of {f.size(cluster)}", f.count(clusters), False),
        ("of the objects lie in groups", f.part(beside, lying), False),
        ("bad clusters", f.count(states["bad"]) if states["bad"] else "none", bool(states["bad"])),
        ("last stop", "clean" if found["clean"] else "crash", False), ("latest write", stamp(latest).split()[0] if latest else "-", False)])
    body += '<div class="charts">' + section("Space", charts.shares("clusters by state", [(name, STATES[name], number * cluster) for name, number in states.items()], f.size))
    body += _age_section(found)
    body += section("Sizes of objects", _histogram(found["sizes"], f.size), "A bar stands for sizes up to the one below it, and above half of it.")
    body += _fill_section(found)
    body += section("Groups", _groups(found["groups"]), "Objects that were packed side by side because they belong together; 1 is an object alone.")
    body += section("Device", table([
        ("size", f.size(found["device_bytes"])), ("format version", str(found["version"])), ("last stop", "clean" if found["clean"] else "crash"),
        ("latest write", stamp(latest) if latest else "-"), ("clusters", f"{clusters} of {f.size(cluster)}"),
        ("objects in small clusters", f.count(lying)), ("of these, in groups", f.part(beside, lying))]))
    return page(f"clusterfs on {path}", about, body + "</div>" + _maps(found, "Map of the device"))


def _age_section(found):
    return section("Age of what is stored", _ages(found["ages"]), "Stored bytes, by the time from the write of their cluster to the latest write of all.")


def _fill_section(found):
    return section("How much of a cluster is needed", _fill(found), "Clusters of small objects. The rest of a cluster belongs to objects that were deleted or replaced.")


def _fill(found):
    """Counts squares of the map, by tenths."""
    counts = [0] * 10
    for cell in found["cells"]:
        if cell["small"] and not cell["large"]:
            counts[min(9, int(10 * cell["live_bytes"] / (cell["small"] * found["cluster_bytes"])))] += cell["small"]
    names = [f"{10 * n}-{10 * n + 10} %" for n in range(10)]
    return charts.bars("clusters by their needed bytes", [("", charts.SKY, counts)], names, f.count) if any(counts) else "<p>There are none.</p>"


def _ages(rows):
    names, values, previous = [], [], ""
    for row in rows:
        name = f"over {previous}" if row["up_to"] is None else _age(row["up_to"])
        previous = name
        names.append(name)
        values.append(row["bytes"])
    while len(values) > 2 and not values[-1]:
        values.pop()
        names.pop()
    return charts.bars("stored bytes by age", [("", charts.BLUE, values)], names, f.size, binary=True) if any(values) else "<p>Nothing is stored.</p>"


def _age(seconds):
    for factor, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= factor:
            return f"{seconds // factor} {unit}"
    return f"{seconds} s"


def _histogram(rows, write):
    """Shares of the number, and of the bytes, with the empty steps between them."""
    if not rows:
        return "<p>Nothing is stored.</p>"
    by_bound, bounds = {row["up_to"]: row for row in rows}, []
    bound = rows[0]["up_to"]
    while bound <= rows[-1]["up_to"]:
        bounds.append(bound)
        bound *= 2
    parts = []
    for name, colour, what in (("of the objects", charts.BLUE, "count"), ("of the bytes", charts.ORANGE, "bytes")):
        whole = sum(row[what] for row in rows) or 1
        parts.append((name, colour, [by_bound.get(b, {what: 0})[what] / whole for b in bounds]))
    return charts.bars("sizes", parts, [write(b).replace(".0 ", " ") for b in bounds], f.share)


def _groups(rows):
    if not rows:
        return "<p>Nothing is stored.</p>"
    names = [str(row["up_to"]) if row["up_to"] <= 2 else f"{row['up_to'] // 2 + 1}-{row['up_to']}" for row in rows]
    return charts.bars("groups by number of objects", [("groups", charts.GREEN, [row["count"] for row in rows])], names, f.count)


def _maps(found, title):
    cells, cluster = found["cells"], found["cluster_bytes"]
    each = max((cell["last"] - cell["first"] + 1 for cell in cells), default=1)
    used = [cell["small"] + cell["large"] for cell in cells]

    def shaded(value):
        return [charts.ramp(round(value(cell) * 24) / 24) if n else STATES["bad"] if cell["bad"] else STATES["index log"] if cell["log"] else charts.FREE
                for cell, n in zip(cells, used)]

    def live(cell):
        return cell["live_bytes"] / (cluster * (cell["small"] + cell["large"]))

    return (f"<h2>{html.escape(title)}</h2><p class=pale>All clusters in the order of their place, row by row; a square is {f.count(each)} of {f.size(cluster)}.</p>"
            '<div class="charts maps">'
            + section("Contents", charts.grid("contents", [_contents(cell) for cell in cells], [_title(cell) for cell in cells])
                      + charts.key(list(STATES.items())))
            + section("Heat: when it was used", charts.grid("use", shaded(lambda cell: cell["used"])) + charts.ramp_key("long ago", "lately"))
            + section("When it was written", charts.grid("age", shaded(lambda cell: cell["written"])) + charts.ramp_key("long ago", "lately"))
            + section("How much of it is still needed", charts.grid("live bytes", shaded(live)) + charts.ramp_key("little", "all of it")) + "</div>")


def _contents(cell):
    """The colour of what most of a cell is, or of bad clusters, however few."""
    if cell["bad"]:
        return STATES["bad"]
    clusters = cell["last"] - cell["first"] + 1
    counts = {"small objects": cell["small"], "large objects": cell["large"], "index log": cell["log"]}
    counts["free"] = clusters - sum(counts.values())
    return STATES[max(counts, key=counts.get)]


def _title(cell):
    words = [f"cluster {cell['first']}" if cell["first"] == cell["last"] else f"clusters {cell['first']} to {cell['last']}"]
    if cell["small"]:
        words.append(f"{cell['objects']} objects, {cell['grouped']} of them in groups")
    words += [f"{cell[name]} {text}" for name, text in (("large", "of large objects"), ("log", "of the index log"), ("bad", "bad")) if cell[name]]
    return ", ".join(words + ([f"written {stamp(cell['latest'])}"] if cell["latest"] else []))


# the command


def check_output(path):
    """Only a page, or nothing yet, is written over."""
    if not path or not os.path.lexists(path):
        return
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise BadRequest(f"{path} is no regular file")
    with open(path, "rb") as file:
        begin = file.read(15)
    if begin and begin.upper() != b"<!DOCTYPE HTML>":
        raise BadRequest(f"{path} is there already, and is no HTML page: give another name, or remove it")


def write(path, text):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.flush()


def main(words):
    parser = argparse.ArgumentParser(prog="report")
    parser.add_argument("--output", default="")
    parser.add_argument("--url", default="")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--password-file", default="")
    given = parser.parse_args(words)
    try:
        check_output(given.output)
        if given.url:
            address = Address(given.url)
            password = password_of(given.password_file, os.environ)
            looks = watch(address, password, given.seconds)
            used = [path for path, samples in looks[-1][1].items() if Dir(path, samples, None, 0).used()]
            text = running(looks, address.name, time.time(), maps_of(address, password, used))
        else:
            text = device(json.load(sys.stdin), time.time())
        write(given.output, text)
    except (BadRequest, Away) as error:
        print(f"clusterfs: report: {given.url + ': ' if isinstance(error, Away) else ''}{error} (clusterfs help report)", file=sys.stderr)
        return 2
    return 0
