# SPDX-License-Identifier: GPL-2.0-or-later
"""A set on one page: the figures by which users choose a store, side by side, and the goals of clusterfs beside them."""

import dataclasses
from collections.abc import Callable

from . import figures, plans, stores
from .figures import Spread
from .tables import Table, number, spread

VISITS, REQUESTS = figures.client("visitsPerSecond"), figures.client("requestsPerSecond")
#: part: the words for it, and its rate
LOADS = {
    "pages-hdd-fresh": ("hard disk, freshly filled", VISITS),
    "pages-hdd-aged": ("hard disk, aged by random visits", VISITS),
    "churn": ("hard disk, contents replaced all the time", VISITS),
    "pages-ssd-fresh": ("SSD, freshly filled", VISITS),
    "pages-ssd-aged": ("SSD, aged by random visits", VISITS),
    "random": ("hard disk, single objects at random, requests/s", REQUESTS),
    "random-ssd": ("SSD, single objects at random, requests/s", REQUESTS),
    "large": ("hard disk, objects of 1 to 16 MB, requests/s", REQUESTS),
    "large-ssd": ("SSD, objects of 1 to 16 MB, requests/s", REQUESTS),
    "sizes-4k": ("hard disk, aged, objects of 4 KB", VISITS),
    "sizes-100k": ("hard disk, aged, objects of 100 KB", VISITS),
    "sizes-10x": ("hard disk, aged, a cache ten times as large", VISITS),
    "onehit": ("hard disk, half of the visits to pages that never come again", VISITS),
}
COLUMNS = ("clusterfs", "aufs", "aufs-gdsf", "ufs", "rock", "ats", "varnish", "nginx")
#: of a set that has all parts of none of these, there is nothing to see on one page
ENOUGH = (("pages-hdd-fresh", "pages-hdd-aged"), ("sizes-4k", "sizes-100k"))


def by_part(results):
    """{part: {store: result}}"""
    out = {}
    for result in results:
        out.setdefault(result["part"], {})[result["store"]] = result
    return out


def is_whole(parts):
    """Whether there is something to compare on one page. parts: of by_part()."""
    return any(all("clusterfs" in parts.get(name, {}) and len(parts[name]) > 1 for name in names) for names in ENOUGH)


def pages(results):
    """What the picture of a whole set shows: for each part about pages, its results in the order of COLUMNS. Empty of others."""
    parts = by_part(results)
    return [[group[name] for name in COLUMNS if name in group] for part, group in parts.items() if part.startswith("pages-")] \
        if is_whole(parts) else []


def _best(group, value, least):
    """(title, Spread) of the best store beside clusterfs that has a cache; (None, None) where there is none."""
    known = [(stores.title(name), found) for name, result in group.items()
             if not name.startswith("clusterfs") and name not in plans.BOUNDS and (found := value(result))]
    choose = min if least else max
    return choose(known, key=lambda pair: pair[1].median, default=(None, None))


def _median(value):
    """The median alone."""
    return number(value.median) if value else ""


def _side_by_side(title, parts, cell, note=""):
    """A table with a row for each load and a column for each store that was measured. cell(result, part): text."""
    present = [name for name in COLUMNS if any(name in parts.get(part, {}) for part in LOADS)]
    rows = [[words, *(cell(parts[part][name], part) if name in parts[part] else "" for name in present), part]
            for part, (words, _) in LOADS.items() if part in parts]
    return Table(title, ["load", *map(stores.title, present), "part"], rows, note)


def _rates(parts):
    table = _side_by_side("Visits/s, closed loop", parts, lambda result, part: _median(figures.over(result, "closed", LOADS[part][1])))
    table.columns.insert(-1, "clusterfs, times the best other")
    for row in table.rows:
        rate, group = LOADS[row[-1]][1], parts[row[-1]]
        own = figures.over(group["clusterfs"], "closed", rate) if "clusterfs" in group else None
        name, best = _best(group, lambda result, rate=rate: figures.over(result, "closed", rate), least=False)
        row.insert(-1, f"{number(own.median / best.median)} ({name})" if own and best and best.median else "")
    return table


def _times(result, _):
    cells = [figures.over(result, "open", figures.latency("hit", name)) for name in ("mean", "p99", "p99.9")]
    return "; ".join(map(_median, cells)) if all(cells) else ""


def _hits(result, _):
    cells = [figures.over(result, "closed", value) for value in (figures.hit_ratio, figures.byte_hit_ratio)]
    return "; ".join(f"{cell.median * 100:.1f}" for cell in cells) if all(cells) else ""


def _reads(result, _):
    return _median(figures.over(result, "closed", READS))


def _start(result, _):
    return "; ".join(_median(_after_kill(key)(result)) for key in ("firstHit", "whole"))


def _index(result, _):
    return number(figures.index_per_object(result))


def _requests(result, _):
    return _median(figures.over(result, "closed", REQUESTS))


#: for each row in brief: the figure, its part, the store of clusterfs, and cell(result, part)
BRIEF = (
    ("hard disk, aged: hits at the same load, ms: mean; p99; p99.9", "pages-hdd-aged", "clusterfs", _times),
    ("SSD, aged: the same", "pages-ssd-aged", "clusterfs", _times),
    ("hard disk, aged: hits, % of requests; % of bytes", "pages-hdd-aged", "clusterfs", _hits),
    ("hard disk, aged: disk reads for a page of 42 objects", "pages-hdd-aged", "clusterfs", _reads),
    ("disk in RAM, all in memory: hits/s", "hits", "clusterfs", _requests),
    ("disk in RAM, little in memory: hits/s", "hits-device", "clusterfs", _requests),
    ("kill -9, 40,000 objects, hard disk: first hit; whole index, s", "restart", "clusterfs", _start),
    ("kill -9, ten million objects, SSD: the same", "restart-ssd", "clusterfs-loaded", _start),
    ("index memory of an object of 13 KB, bytes", "pages-hdd-fresh", "clusterfs", _index),
)


def brief(parts):
    """The figures beside the rates that say most, each with those of all other stores in one cell."""
    rows = []
    for words, part, own, cell in BRIEF:
        group = parts.get(part, {})
        if own in group:
            others = [f"{stores.title(name)} {found}" for name in (*COLUMNS, "memory") if name in group and name != "clusterfs"
                      and (found := cell(group[name], part))]
            rows.append([words, cell(group[own], part), " / ".join(others), part])
    return Table("In brief", ["figure", "clusterfs", "other stores", "part"], rows)


@dataclasses.dataclass(frozen=True)
class Goal:
    """What clusterfs is to reach. value(result): a Spread. limit: of clusterfs's figure where there is no `beside`; else of its ratio
    to that of the store `beside` in the part `of`, or of the best one where that is "best"."""
    figure: str
    part: str
    value: Callable
    limit: float
    words: str
    beside: str = ""
    of: str = ""
    least: bool = False          # small is good
    store: str = "clusterfs"

    def row(self, parts):
        """None where the part was not measured."""
        group = parts.get(self.part, {})
        own = self.value(group[self.store]) if self.store in group else None
        if not own:
            return None
        name, other = "", None
        if self.beside == "best":
            name, other = _best(group, self.value, self.least)
        elif self.beside:
            result = parts.get(self.of or self.part, {}).get(self.beside)
            name, other = stores.title(self.beside), self.value(result) if result else None
        if self.beside and not other:
            return None
        ratio = own.median / other.median if other else own.median
        good = ratio <= self.limit if self.least else ratio >= self.limit
        said = ("yes" if good else "**no**") + (f", {number(ratio)} x" if other else "")
        if not good and other and self.limit == 1 and not own.apart(other):
            said = f"within the spread, {number(ratio)} x"
        return [self.figure, spread(own), f"{name} {spread(other)}" if other else "", self.words, said, self.part]


def _over(kind, value):
    return lambda result: figures.over(result, kind, value)


def _percent(value):
    def found(result):
        ratio = figures.over(result, "closed", value)
        return Spread(*(part * 100 for part in dataclasses.astuple(ratio))) if ratio else None
    return found


def _single(value):
    def found(result):
        one = value(result)
        return Spread(one, one, one) if one else None
    return found


def _after_kill(key):
    return lambda result: Spread.of([start.get(key) for start in result.get("starts", {}).get("killed", [])])


P99 = figures.latency("hit", "p99")
READS = figures.per("reads", "visits")
GOALS = (
    Goal("hdd, fresh: visits/s", "pages-hdd-fresh", _over("closed", VISITS), 0.95, "95 % of all in cache_mem", "memory", "pages-ssd-fresh"),
    Goal("hdd, fresh: disk reads a visit", "pages-hdd-fresh", _over("closed", READS), 0.68, "at most 0.68", least=True),
    Goal("hdd, fresh: hits, % of requests", "pages-hdd-fresh", _percent(figures.hit_ratio), 1, "not below", "best"),
    Goal("hdd, aged: visits/s", "pages-hdd-aged", _over("closed", VISITS), 8, "8 x", "best"),
    Goal("hdd, aged: disk reads a visit", "pages-hdd-aged", _over("closed", READS), 1.5, "at most 1.5", least=True),
    Goal("hdd, aged: hits, % of requests", "pages-hdd-aged", _percent(figures.hit_ratio), 1, "not below heap GDSF", "aufs-gdsf"),
    Goal("hdd, aged: hits, % of bytes", "pages-hdd-aged", _percent(figures.byte_hit_ratio), 1, "not below", "best"),
    Goal("hdd, aged: hits at 3 visits/s, p99 ms", "pages-hdd-aged", _over("open", P99), 0.25, "a quarter", "best", least=True),
    Goal("hdd, aged: bytes written for each byte stored", "pages-hdd-aged", _single(figures.written_per_stored), 1.25, "at most 1.25", least=True),
    Goal("hdd, contents replaced all the time: visits/s", "churn", _over("closed", VISITS), 4, "4 x", "best"),
    Goal("ssd, fresh: visits/s", "pages-ssd-fresh", _over("closed", VISITS), 0.95, "95 % of all in cache_mem", "memory"),
    Goal("ssd, fresh: processor ms a request", "pages-ssd-fresh", _over("closed", figures.cpu_per_request), 1, "as all in cache_mem", "memory",
         least=True),
    Goal("ssd, fresh: hits at 20 visits/s, p99 ms", "pages-ssd-fresh", _over("open", P99), 0.25, "a quarter", "best", least=True),
    Goal("ssd, aged: visits/s", "pages-ssd-aged", _over("closed", VISITS), 2, "2 x", "best"),
    Goal("ssd, aged: hits at 20 visits/s, p99 ms", "pages-ssd-aged", _over("open", P99), 1 / 3, "a third", "best", least=True),
    Goal("ssd, aged: hits, % of requests", "pages-ssd-aged", _percent(figures.hit_ratio), 1, "not below heap GDSF", "aufs-gdsf"),
    Goal("hdd, single objects: requests/s", "random", _over("closed", REQUESTS), 1.5, "1.5 x", "best"),
    Goal("ssd, single objects: requests/s", "random-ssd", _over("closed", REQUESTS), 1.5, "1.5 x", "best"),
    Goal("hdd, objects of 1 to 16 MB: requests/s", "large", _over("closed", REQUESTS), 1.2, "1.2 x", "best"),
    Goal("ssd, objects of 1 to 16 MB: requests/s", "large-ssd", _over("closed", REQUESTS), 1.2, "1.2 x", "best"),
    Goal("disk in RAM, all in memory: hits/s", "hits", _over("closed", REQUESTS), 1, "as all in cache_mem", "memory"),
    Goal("disk in RAM, little in memory: hits/s", "hits-device", _over("closed", REQUESTS), 1, "not below Squid's stores", "best"),
    Goal("index memory of an object of 13 KB, bytes", "pages-hdd-fresh", _single(figures.index_per_object), 40, "at most 40", least=True),
    Goal("kill -9, 40,000 objects, hdd: first hit, s", "restart", _after_kill("firstHit"), 1, "at most 1", least=True),
    Goal("kill -9, ten million objects, ssd: first hit, s", "restart-ssd", _after_kill("firstHit"), 1, "at most 1", least=True,
         store="clusterfs-loaded"),
    Goal("kill -9, ten million objects, ssd: whole index, s", "restart-ssd", _after_kill("whole"), 1, "at most 1", least=True,
         store="clusterfs-loaded"),
)


def _goals(parts):
    rows = [row for goal in GOALS if (row := goal.row(parts))]
    return Table("Goals", ["figure", "clusterfs", "beside", "goal", "reached", "part"], rows,
                 "`k x` means k times the store beside; \"within the spread\" that the ranges of the rounds overlap.")


def tables(results):
    """Those of a whole set; empty of others."""
    parts = by_part(results)
    if not is_whole(parts):
        return []
    found = [_rates(parts),
             brief(parts),
             _side_by_side("Disk reads a visit, or a request, closed loop", parts, _reads),
             _side_by_side("Hits at the same load of all stores, ms: mean; p99; p99.9", parts, _times),
             _side_by_side("Hits, closed loop, % of requests; % of bytes", parts, _hits),
             _side_by_side("Processor ms a request, closed loop", parts,
                           lambda result, part: _median(figures.over(result, "closed", figures.cpu_per_request))),
             _goals(parts)]
    return [table for table in found if table.rows]
