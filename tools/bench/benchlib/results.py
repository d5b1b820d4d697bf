# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder of results: one file for each run, so that a set that was interrupted goes on where it was. They are JSON, in
lines that version control can compare (rawtext.py)."""

import json
import os
import pathlib
import shutil

from . import plans, rawtext
from .errors import BenchError

#: 1 had long lists as they are
FORMAT = 2
#: what every result has
NEEDED = ("part", "store", "parameters", "machine", "versions", "started", "seconds", "seed")
#: how JSON shows that it is not a result
DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class Results:
    """The folder. Files appear whole or not at all."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.runs = self.path / "runs"

    def create(self):
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(f"{self.runs}: {error.strerror}; give another folder") from None
        return self

    def file(self, part, store):
        return self.runs / (f"{part}.{store}.json" if store else f"{part}.json")

    def save(self, part, store, result):
        """Keeps the result of a run, under "part" and "store"."""
        write_whole(self.file(part, store), rawtext.packed({"format": FORMAT, "part": part, "store": store, **result}))

    def has(self, part, store, mark):
        """Whether this run is done, with the same settings and programs."""
        path = self.file(part, store)
        if not path.exists():
            return False
        try:
            found = _read(path)
        except BenchError:
            return False
        return found.get("mark") == mark

    def all(self):
        """All results: those of a part together, the parts in the order of the set, whenever they were run."""
        if not self.runs.is_dir():
            raise BenchError(f"{self.path} is not a folder of results: it has no folder runs")
        found = [_read(path) for path in sorted(self.runs.glob("*.json"))]
        if not found:
            raise BenchError(f"{self.runs} has no results")
        return sorted(found, key=lambda result: (_place(result), result["part"], result.get("order", [0, 0])))


def keep(source, target):
    """Writes all results of a Results into another one, whose other results stay. Returns how many there were."""
    found = source.all()
    target.create()
    for result in found:
        del result["format"]
        try:
            target.save(result["part"], result["store"], result)
        except DAMAGED as error:
            raise _unreadable(source.file(result["part"], result["store"]), error) from None
    limits = source.path / "limits.json"
    if limits.exists() and source.path.resolve() != target.path.resolve():
        shutil.copyfile(limits, target.path / "limits.json")
    return len(found)


def write_whole(path, value):
    """JSON as text, into a file that appears whole or not at all."""
    fresh = path.with_suffix(".new")
    try:
        fresh.write_text(rawtext.text(value) + "\n", encoding="utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}; give a folder that can be written") from None


def _place(result):
    """The position of a result's part in its set."""
    names = [part.name for part in plans.SCALES.get(result.get("scale"), list)()]
    return names.index(result["part"]) if result["part"] in names else len(names)


def _read(path):
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchError(f"{path}: {error}; remove it to measure it again") from None
    if not isinstance(result, dict) or result.get("format") not in (1, FORMAT):
        raise BenchError(f"{path} is not a result of format 1 or {FORMAT}; remove it to measure it again")
    missing = [name for name in NEEDED if name not in result]
    if missing:
        raise BenchError(f"{path} has no {', '.join(missing)}; remove it to measure it again")
    if result["format"] == 1:
        return result
    try:
        return rawtext.unpacked(result)
    except DAMAGED as error:
        raise _unreadable(path, error) from None


def _unreadable(path, error):
    return BenchError(f"{path}: its phases cannot be read ({error!r}); remove it to measure it again")
