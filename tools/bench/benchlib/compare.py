# SPDX-License-Identifier: GPL-2.0-or-later
"""Two folders of results beside each other."""

from . import figures
from .figures import Spread
from .tables import Table, spread, title

#: (name, spread of a result, whether more is better)
LOAD = (("visits/s", lambda r: figures.over(r, "closed", figures.client("visitsPerSecond")), True),
        ("hits of requests", lambda r: figures.over(r, "closed", figures.hit_ratio), True),
        ("reads a visit", lambda r: figures.over(r, "closed", figures.per("reads", "visits")), False),
        ("written per byte stored", lambda r: Spread.of([figures.written_per_stored(r)]), False),
        ("p50 of hits, ms", lambda r: figures.over(r, "open", figures.latency("hit", "p50")), False),
        ("p99 of hits, ms", lambda r: figures.over(r, "open", figures.latency("hit", "p99")), False),
        ("CPU ms a request", lambda r: figures.over(r, "closed", figures.cpu_per_request), False))


def _start(how, key):
    return lambda r: Spread.of([start.get(key) for start in r["starts"][how]])


RESTART = (("first hit after a clean stop, s", _start("clean", "firstHit"), False),
           ("first hit after kill -9, s", _start("killed", "firstHit"), False),
           ("whole index after kill -9, s", _start("killed", "whole"), False))


#: parameters that change no figure of a store
OTHERS = ("stores", "estimate", "title")


def _same(a, b):
    """Whether two results were measured in the same way."""
    return all(a["parameters"].get(name) == b["parameters"].get(name)
               for name in a["parameters"].keys() | b["parameters"].keys() if name not in OTHERS)


def _verdict(a, b, more):
    if not a.apart(b):
        return "within the spread"
    return "better" if (b.median > a.median) == more else "worse"


def _name(key):
    return ".".join(filter(None, key))


def _rows(a, b):
    measures = RESTART if a["parameters"]["kind"] == "restart" else LOAD
    for name, value, more in measures:
        one, two = value(a), value(b)
        if one and two:
            ratio = f"{two.median / one.median:.2f}" if one.median else ""
            yield [f"{a['part']}, {title(a)}: {name}", spread(one), spread(two), ratio, _verdict(one, two, more)]


def compared(first, second):
    """The comparison of two Results as Markdown."""
    before = {(result["part"], result["store"]): result for result in first.all()}
    after = {(result["part"], result["store"]): result for result in second.all()}
    common = [key for key in before if key in after and before[key]["parameters"]["kind"] in ("load", "hits", "restart")]
    rows, different = [], []
    for key in common:
        if not _same(before[key], after[key]):
            different.append(_name(key))
        rows += _rows(before[key], after[key])
    notes = [f"A is {first.path}, B is {second.path}. Medians (least to most); 'better' and 'worse' only where the "
             "rounds of A and B have no value in common."]
    if different:
        notes.append(f"Measured with other parameters, so not comparable: {', '.join(different)}.")
    alone = [_name(key) for key in list(before) + list(after) if (key in before) != (key in after)]
    if alone:
        notes.append(f"Only in one of them: {', '.join(sorted(alone))}.")
    return Table("Comparison", ["figure", "A", "B", "B / A", "verdict"], rows, " ".join(notes)).markdown()
