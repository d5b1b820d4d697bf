# SPDX-License-Identifier: GPL-2.0-or-later
"""A set of runs from its first to its last: skips those that are done, keeps each result, survives failures."""

import datetime
import importlib
import sys
import time

from . import machine, plans
from .errors import BenchError
from .hits import HitsRun
from .limits import Limits
from .processes import check_signals
from .progress import Progress
from .restarts import RestartRun
from .runs import LoadRun
from .stores import title


class Session:
    """setup: a Setup; scale: of plans.py; parts: those to run; results: a Results."""

    def __init__(self, setup, scale, parts, results):
        self._setup, self._scale, self._results = setup, scale, results
        self._units = [(part, store) for part in parts for store in self._stores(part)]
        self._squid = machine.squid_mark(setup)
        self._limits = None
        self._progress = None

    @staticmethod
    def _stores(part):
        """One run for each store, or one run for all where they take turns."""
        return part.stores if part.kind in ("load", "restart") else ("",)

    def _mark(self, part, store):
        return machine.mark(part.settings() | {"stores": part.stores if not store else ()}, store, self._squid,
                            self._setup.seed, str(self._setup.trace))

    def _is_done(self, part, store):
        stores = part.stores if part.kind == "hits" else (store,)
        return all(self._results.has(part.name, each, self._mark(part, store)) for each in stores)

    def run(self, again):
        """Runs what is not done yet, or everything. Returns how many runs failed."""
        self._results.create()
        todo = [unit for unit in self._units if again or not self._is_done(*unit)]
        skipped = len(self._units) - len(todo)
        if skipped:
            print(f"{skipped} of {len(self._units)} runs are already in {self._results.path} "
                  "(--again measures everything anew)")
        self._limits = Limits(self._results.path / "limits.json", self._setup.programs)
        self._progress = Progress([part.estimate if store else plans.estimate(part) for part, store in todo])
        failed = sum(not self._one(part, store) for part, store in todo)
        return failed

    def _one(self, part, store):
        label = f"{part.name} {title(store)}".strip()
        self._progress.begin(label)
        started, begin = datetime.datetime.now().astimezone().isoformat(timespec="seconds"), time.monotonic()
        try:
            found = self._execute(part, store)
            check_signals()
        except (BenchError, AssertionError, OSError) as error:
            check_signals()
            self._progress.end("FAILED")
            print(f"{label}: {error}", file=sys.stderr, flush=True)
            return False
        common = {"scale": self._scale, "parameters": part.settings(), "seed": self._setup.seed, "command": sys.argv,
                  "machine": machine.facts(), "versions": machine.versions(self._setup, part.stores),
                  "mark": self._mark(part, store), "started": started, "seconds": time.monotonic() - begin}
        position = self._units.index((part, store))
        for number, (name, result) in enumerate(found.items()):
            self._results.save(part.name, name, {**common, "order": [position, number], **result})
        self._progress.end("done")
        return True

    def _execute(self, part, store):
        """{store: result}"""
        def step(what):
            check_signals()
            self._progress.step(what)

        if part.kind == "load":
            return {store: LoadRun(self._setup, part, store, step, self._limits).run()}
        if part.kind == "restart":
            return {store: RestartRun(self._setup, part, store, step).run()}
        if part.kind == "hits":
            return HitsRun(self._setup, part, step).run()
        module = importlib.import_module(f".{part.kind}", __package__)  # papers, polygraph: most sets do without
        return module.run_part(self._setup, part, self._scale, step)
