# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of what bench-scale measured: a folder with a JSON file for each run of it."""

import json
import re

from .errors import BenchError
from .results import DAMAGED, write_whole
from .tables import Table, number

#: what bench-scale did to a cache, one after the other
BROKEN, STORED = "start with a damaged block", "start, checkpoints, stop"
STOPPED, CRASHED = "start after the stop, crash", "start after the crash"
TWICE = "start with two copies of some"

#: (row, the most that is wanted, what was done, name of the figure)
FIGURES = (
    ("bytes written while nothing changes", 0, STORED, "bytes written while nothing happens"),
    ("bytes of a checkpoint for each byte that there was to say (28 an object, 48 a cluster)", 2, STORED,
     "bytes of it for each byte that there was to say"),
    ("bytes of a checkpoint for each object stored", None, STORED, "bytes of it for each object stored"),
    ("bytes of a checkpoint for each object deleted", None, STORED, "bytes of a checkpoint for each object deleted"),
    ("bytes of a checkpoint for each object with other times", None, STORED,
     "bytes of a checkpoint for each object with other times"),
    ("processor time of a checkpoint, % of the time between two", 1, STORED,
     "processor time of a checkpoint, of the time between two"),
    ("stop, s", 2, STORED, "seconds of a stop"),
    ("whether the next start says that the stop was clean (1: yes)", None, STOPPED, "clean"),
    ("first hit, start of the cache as it was made, s", 1, STORED, "seconds to the first hit"),
    ("first hit, start after a stop, s", 1, STOPPED, "seconds to the first hit"),
    ("first hit, start after a crash, s", 1, CRASHED, "seconds to the first hit"),
    ("whole index, start of the cache as it was made, s", None, STORED, "seconds to the whole index"),
    ("whole index, start after a stop, s", None, STOPPED, "seconds to the whole index"),
    ("whole index, start after a crash, s", None, CRASHED, "seconds to the whole index"),
    ("processor time of that start, s", None, CRASHED, "processor seconds of it"),
    ("reading as many bytes in sequence, s", None, CRASHED, "seconds to read as many bytes in sequence"),
    ("whole index after a crash, in times of that", 1.2, CRASHED, "seconds to the whole index, of those"),
    ("damaged block of the index log: objects that it described", None, BROKEN, "objects that they described"),
    ("objects lost by that", None, BROKEN, "objects lost"),
    ("of these, others than it described", 0, BROKEN, "of these, others than they described"),
    ("doubtful objects", 0, BROKEN, "doubtful objects"),
    ("index bytes of an object as the cache was made, the table of all clusters included", 40, STORED,
     "index bytes of an object"),
    ("index bytes of an object after the crash", 40, CRASHED, "index bytes of an object"),
)
TURNS = (
    ("while objects are stored and read", STORED, "turns while objects are stored and read"),
    ("while objects are deleted and updated", STORED, "turns while objects are deleted and updated"),
    ("while a checkpoint is written", STORED, "turns while a checkpoint is written"),
    ("in a start of the cache as it was made, its end included", STORED, "turns in a start"),
    ("in a start after a stop, its end included", STOPPED, "turns in a start"),
    ("in a start after a crash, its end included", CRASHED, "turns in a start"),
    ("in the checkpoint after that", CRASHED, "turns in the checkpoint after a crash"),
)
#: of disks that are full, whose names are in the rows
FULL_FIGURES = (
    ("index bytes of an object", 40, "memory", "index bytes of an object"),
    ("resident bytes of an object", None, "memory", "resident bytes of an object"),
    ("bytes of a checkpoint for each byte that there was to say, while all is replaced", 2,
     "checkpoints while all is replaced", "bytes of a checkpoint for each byte that there was to say"),
    ("most bytes of one of these checkpoints for each byte that there was to say", 2, "checkpoints while all is replaced", "the same, most"),
)
FULL_TURNS = (
    ("in a start after a crash that left a tenth of the objects in two places", TWICE, "turns in a start"),
    ("in the checkpoint after that", TWICE, "turns in the checkpoint after a crash"),
    ("while clusters are evicted", "eviction", "turns while clusters are evicted"),
)
LONGEST_MS = 2
TURN_NOTE = f"A turn is one call of the engine. The longest, in ms of processor time (wanted: {LONGEST_MS}); how many took " \
            "more than that, of how many."


def is_folder(path):
    """Whether a folder has what bench-scale writes."""
    return path.is_dir() and any('"measured"' in file.read_text(encoding="utf-8", errors="replace") for file in path.glob("*.json"))


def load(folder):
    """{name: what bench-scale wrote} of the files of a folder."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
            _caches(found[path.stem])
        except (OSError, *DAMAGED) as error:
            raise BenchError(f"{path} is not what bench-scale --out writes ({error!r}); remove it, or measure it again") from None
    return found


def keep(folder, target):
    """Writes all files of a folder into another one as text. Returns how many there were."""
    found = load(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BenchError(f"{target}: {error.strerror}; give another folder") from None
    for name, one in found.items():
        write_whole(target / f"{name}.json", one)
    return len(found)


def _caches(run):
    """{cache: {what was done: figures}} of a run."""
    out = {}
    for one in run["measured"]:
        cache, _, what = one["what"].partition(": ")
        out.setdefault(cache, {})[what] = one
    return out


def _size(cache):
    """(objects, TB) that the name of a cache says, or None for a full disk."""
    found = re.match(r"(\d+) TB, (\d+) objects of (\d+) bytes", cache)
    return found and (int(found[2]), int(found[1]), int(found[3]))


def _wanted(most):
    return "" if most is None else f"{most:g}"


def _figure(value, most):
    """Bold where it is more than is wanted."""
    if value is None:
        return ""
    return f"**{number(value)}**" if most is not None and value > most else number(value)


def _turns(found):
    """The longest, and how many were too long."""
    if not found:
        return ""
    above = f"{found['processorAbove2ms']:,}" if found["processorAbove2ms"] else "none"
    return f"{_figure(found['longestProcessorMs'], LONGEST_MS)}; {above} of {found['calls']:,}"


def _disks(runs):
    """The tables of disks that are large, a column for each."""
    caches = sorted((_size(cache), done) for run in runs for cache, done in _caches(run).items() if _size(cache))
    heads = [f"{tb} TB, {objects:,} objects of {size:,} bytes" for (objects, tb, size), _ in caches]

    def cells(what, name, form, *more):
        return [form(done.get(what, {}).get(name), *more) for _, done in caches]

    filled = [number(objects * size / (tb << 40) * 100) for (objects, tb, size), _ in caches]
    rows = [["part of the disk that objects fill, %", "", *filled]]
    rows += [[label, _wanted(most), *cells(what, name, _figure, most)] for label, most, what, name in FIGURES]
    turns = [[label, *cells(what, name, _turns)] for label, what, name in TURNS]
    return [Table("Large disks", ["figure", "wanted, at most", *heads], rows, "Bold: more than wanted."),
            Table("Turns on large disks", ["turns", *heads], turns, TURN_NOTE)]


def _full(runs):
    """The tables of disks that are full, a column for each number of objects."""
    columns = []
    for run in runs:
        full = {cache: done for cache, done in _caches(run).items() if not _size(cache)}
        objects = [done["memory"]["objects"] for done in full.values() if "memory" in done]
        columns.append((max(objects, default=0), full))
    columns.sort(key=lambda column: column[0])
    heads = [f"{objects:,} objects" for objects, _ in columns]
    shapes = list(dict.fromkeys(cache for _, full in columns for cache in full))

    def rows(label, what, name, form, *more):
        for shape in shapes:
            cells = [form(full.get(shape, {}).get(what, {}).get(name), *more) for _, full in columns]
            if any(cells):
                yield [f"{label}; {shape.removeprefix('full, ')}", *map(_wanted, more), *cells]

    figures = [row for label, most, what, name in FULL_FIGURES for row in rows(label, what, name, _figure, most)]
    turns = [row for label, what, name in FULL_TURNS for row in rows(label, what, name, _turns)]
    return [Table("Full disks", ["figure", "wanted, at most", *heads], figures, "Bold: more than wanted."),
            Table("Turns on full disks", ["turns", *heads], turns, TURN_NOTE)]


def markdown(folder):
    """The page."""
    runs = load(folder)
    lines = ["# Large disks: bench-scale", "", "`./bench report` made this page from the files beside it. The engine alone, on "
             "two cores of the machine that each file names; docs/benchmarks-detail.md says how it is measured.", ""]
    for name, run in runs.items():
        machine = run["machine"]
        lines.append(f"- {name}.json: {machine['cpu']}, {machine['cores']} cores, {machine['memoryMb']:,} MB, kernel "
                     f"{machine['kernel']}; {machine['storesPerSecond']:,} stores a second, a checkpoint for each "
                     f"{machine['checkpointSeconds']} s of them")
    lines.append("")
    return "\n".join(lines + [table.markdown() for table in _disks(runs.values()) + _full(runs.values())])
