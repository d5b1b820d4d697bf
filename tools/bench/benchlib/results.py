# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder of results: one JSON file for each run, so that a set that was interrupted goes on where it was."""

import json
import os
import pathlib

from . import plans
from .errors import BenchError

FORMAT = 1


class Results:
    """The folder. Files appear whole or not at all."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.runs = self.path / "runs"

    def create(self):
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(f"{self.runs}: {error.strerror}; --out gives another folder") from None
        return self

    def file(self, part, store):
        return self.runs / (f"{part}.{store}.json" if store else f"{part}.json")

    def save(self, part, store, result):
        """Keeps the result of a run, under "part" and "store"."""
        path = self.file(part, store)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps({"format": FORMAT, "part": part, "store": store, **result}, indent=1))
        os.replace(fresh, path)

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


def _place(result):
    """The position of a result's part in its set."""
    names = [part.name for part in plans.SCALES.get(result.get("scale"), list)()]
    return names.index(result["part"]) if result["part"] in names else len(names)


def _read(path):
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BenchError(f"{path}: {error}; remove it to measure it again") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise BenchError(f"{path} is not a result of format {FORMAT}")
    return result
