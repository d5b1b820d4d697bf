# SPDX-License-Identifier: GPL-2.0-or-later
"""What was proved of one engine so far: figures, what is still to be done, what failed. Survives the process."""

import collections
import contextlib
import fcntl
import json
import os


class Part:
    """The figures of one kind of work."""

    def __init__(self, known=None):
        known = known or {}
        self.next = known.get("next", 0)  # which piece comes after those that were taken
        self.open = known.get("open", [])  # pieces that were taken and have no result yet
        self.figures = collections.Counter(known.get("figures", {}))
        self.total = known.get("total", 0)  # pieces that there are; 0: without end
        self.seconds = known.get("seconds", 0.0)
        self.pieces = known.get("pieces", 0)
        self.failures = known.get("failures", [])  # {"what", "again", "commit"}
        self.skipped = known.get("skipped", "")  # why nothing of it can be run here
        self.glue = known.get("glue", "")  # what tied the engine to Squid, where a real Squid was used

    def told(self):
        return {"next": self.next, "open": self.open, "total": self.total, "figures": dict(self.figures),
                "seconds": round(self.seconds, 1), "pieces": self.pieces, "failures": self.failures, "skipped": self.skipped,
                **({"glue": self.glue} if self.glue else {})}

    def whole(self):
        return self.total == self.next and not self.open


class Record:
    """One file for each engine in the state folder."""

    def __init__(self, folder, engine):
        self.folder = folder
        self.engine = engine
        self.path = folder / f"{engine}.json"
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.commits = known.get("commits", [])
        self.runs = known.get("runs", 0)
        self.seconds = known.get("seconds", 0.0)
        self.parts = collections.defaultdict(Part, {name: Part(part) for name, part in known.get("parts", {}).items()})

    def save(self):
        """All or nothing, whenever the process ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({
            "engine": self.engine, "commits": self.commits, "runs": self.runs, "seconds": round(self.seconds, 1),
            "parts": {name: part.told() for name, part in sorted(self.parts.items())}}, indent=1) + "\n")
        os.replace(fresh, self.path)

    def failed(self):
        return sum(len(part.failures) for part in self.parts.values())

    def others(self):
        """The records of other engines."""
        return [Record(self.folder, path.stem) for path in sorted(self.folder.glob("*.json")) if path.stem != self.engine]


@contextlib.contextmanager
def alone(folder):
    """Keeps a second process away from the records. Raises BlockingIOError when there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
