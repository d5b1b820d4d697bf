# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that become Markdown and HTML, and those of the parts with loads."""

import dataclasses
import html

from . import figures, stores
from .figures import Spread
from .stores import diskless


@dataclasses.dataclass
class Table:
    """rows: lists of strings, the first column left-aligned."""
    title: str
    columns: list
    rows: list
    note: str = ""

    def markdown(self):
        lines = [f"**{self.title}**", "", "| " + " | ".join(self.columns) + " |",
                 "|---" + "|---:" * (len(self.columns) - 1) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines + ([""] + [self.note] if self.note else [])) + "\n"

    def html(self):
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in self.rows)
        note = f"<p class=note>{html.escape(self.note)}</p>" if self.note else ""
        return f"<h4>{html.escape(self.title)}</h4>\n<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>{note}\n"


def number(value):
    """A figure with three digits that count."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    if abs(value) >= 1:
        return f"{value:.2f}"
    return f"{value:.3g}"


def spread(value, form=number):
    """A median, with least and most where they differ."""
    if value is None:
        return ""
    if not isinstance(value, Spread):
        return form(value)
    low, middle, high = form(value.low), form(value.median), form(value.high)
    return middle if low == high else f"{middle} ({low} to {high})"


def percent(value):
    return "" if value is None else f"{value * 100:.1f} %"


def title(result):
    return stores.title(result["store"])


def throughput(results):
    """Closed loop."""
    rows = []
    for result in results:
        visits, bound = figures.over(result, "closed", figures.client("visitsPerSecond")), figures.disk_bound(result)
        rows.append([title(result), spread(visits),
                     spread(figures.over(result, "closed", figures.client("requestsPerSecond"))),
                     spread(figures.over(result, "closed", figures.hit_ratio), percent),
                     spread(figures.over(result, "closed", figures.byte_hit_ratio), percent),
                     percent(visits.median / bound) if bound and visits else "",
                     spread(figures.over(result, "closed", figures.disk_busy), percent)])
    note = "Medians of the rounds (least to most). The origin answers misses at once after its delay, whatever the " \
           "disk does: a store with fewer hits has less work, so read the rate together with the hit ratio."
    return Table("Closed loop", ["store", "visits/s", "requests/s", "hits of requests", "hits of bytes", "of the bound", "disk busy"],
                 rows, note)


def response_times(results, group):
    """Open loop, in ms. group: hit or miss."""
    rows = []
    for result in results:
        cells = [spread(figures.over(result, "open", figures.latency(group, name))) for name in figures.PERCENTILES]
        if any(cells):
            rate = figures.over(result, "open", figures.client("visitsPerSecond"))
            rows.append([title(result), *cells, spread(rate)])
    name = {"hit": "Hits", "miss": "Misses"}[group]
    return Table(f"{name}: response time in ms at the same load of all stores (open loop, times from the intended start)",
                 ["store", *figures.PERCENTILES, "visits/s done"], rows)


def disk(results):
    """Closed loop."""
    columns = [("reads a visit", figures.per("reads", "visits")), ("writes a visit", figures.per("writes", "visits")),
               ("reads a request", figures.per("reads", "requests")),
               ("KB read a visit", lambda phase: _kilo(figures.per("readBytes", "visits")(phase))),
               ("KB written a visit", lambda phase: _kilo(figures.per("writeBytes", "visits")(phase)))]
    rows = [[title(result)] + [spread(figures.over(result, "closed", value)) for _, value in columns]
            + [number(figures.written_per_stored(result))] for result in results if not diskless(result["store"])]
    return Table("The disk in the closed loop", ["store"] + [name for name, _ in columns] + ["written per byte stored"],
                 rows, "Written per byte stored: over the whole run, with filling and ageing, since the page cache writes "
                 "late.")


def _kilo(value):
    return None if value is None else value / 1000


def cost(results):
    """Processor and memory."""
    rows = [[title(result), spread(figures.over(result, "closed", figures.cpu_per_request)),
             number(figures.memory(result, "process")), number(figures.memory(result, "shared")),
             number(figures.memory(result, "pageCache")), number(figures.memory(result, "used")),
             number(result["memoryLimit"] / 2 ** 20) if result["memoryLimit"] else "none",
             number(figures.index_per_object(result)), number((result.get("index") or {}).get("objects"))]
            for result in results]
    return Table("Processor and memory", ["store", "CPU ms a request", "process MB", "shared MB", "page cache MB",
                                          "all MB", "limit MB", "index bytes an object", "objects"], rows,
                 "Memory of the cgroup around the proxy, its helpers and the page cache that they fill. Processor time "
                 "that the kernel's own threads spend on the disk is not in it.")


def workers(results):
    """Of stores with several workers: who did the work. Without rows where all have one worker."""
    rows = []
    if any(stores.WORKERS.fullmatch(result["store"]) for result in results):
        rows = [[title(result), spread(figures.over(result, "closed", figures.cpu_per_request)),
                 spread(figures.over(result, "closed", figures.share_of("squid-disk"))),
                 spread(figures.over(result, "closed", figures.busiest), percent),
                 spread(figures.over(result, "closed", figures.switches_per_request))] for result in results]
    return Table("Who did the work", ["store", "CPU ms a request", "of that the disk's process", "the busiest worker's part of the workers'",
                                      "switches a request"], rows,
                 "Switches: how often a thread of the proxy gave its processor away, to wait.")


def hits(results):
    """Part hits."""
    base = next((figures.over(r, "closed", figures.client("requestsPerSecond")) for r in results
                 if r["store"] == "memory"), None)
    rows = []
    for result in results:
        rate = figures.over(result, "closed", figures.client("requestsPerSecond"))
        rows.append([title(result), spread(rate), percent(rate.median / base.median) if base and base.median and rate else "",
                     spread(figures.over(result, "closed", figures.hit_ratio), percent),
                     spread(figures.over(result, "closed", figures.latency("hit", "p50"))),
                     spread(figures.over(result, "closed", figures.latency("hit", "p99"))),
                     spread(figures.over(result, "closed", figures.cpu_per_request)),
                     spread(figures.over(result, "closed", figures.per("reads", "requests"))),
                     percent(figures.client_load(result))])
    return Table("Hits, closed loop, the stores taking turns", [
        "store", "requests/s", "of cache_mem", "hits", "p50 ms", "p99 ms", "CPU ms a request", "disk reads a request",
        "processor taken by the client"], rows)


def restarts(results):
    """Part restart: one row for each store and way to end."""
    rows = []
    for result in results:
        for how, name in (("clean", "clean stop"), ("killed", "kill -9"), ("owner", "kill -9 of the process with the disk")):
            starts = result["starts"].get(how)
            if not starts:
                continue

            def of(key, starts=starts):
                return spread(Spread.of([start.get(key) for start in starts]))
            rows.append([f"{title(result)}, {name}", of("stop"), of("port"), of("firstHit"), of("whole"),
                         of("objectsBefore"), of("objects"), of("reads"),
                         spread(Spread.of([start["readBytes"] / 1e6 for start in starts]))])
    columns = ["store", "stop took", "port open", "first hit", "whole index", "objects before", "objects after", "disk reads", "MB read"]
    return Table("Seconds from the start of the program", columns, rows)
