# SPDX-License-Identifier: GPL-2.0-or-later
"""Web Polygraph, where it is installed: PolyMix-4's traffic on one machine, through Squid with each store."""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from .errors import BenchError
from .measure import difference
from .plans import MB, PROGRAM_MB, disk_mb
from .processes import listening, shielded, start, wait_until
from .stores import Place, make, title

WORKLOADS = pathlib.Path(__file__).resolve().parents[1] / "polygraph"
PROGRAMS = ("polygraph-server", "polygraph-client", "polygraph-lx")
#: phases measure1, measure2, ... of the workload: one follows the other
ROUNDS = 3
#: origins of the workload, on ports that follow each other
ORIGINS = 4
#: Polygraph's client through a proxy does not end by itself
IDLE_SECONDS = 8


@dataclasses.dataclass(frozen=True)
class Numbers:
    """What settings.pg says. Sizes in MB, times in seconds, rates in requests/s."""
    cache: int
    memory: int                  # for the cache, beside the program
    fill: int                    # cachable misses before anything is measured
    robots: int
    peak: float                  # while filling
    rate: float                  # while measuring
    warm: int
    measure: int
    working_set: int             # objects
    model: str = "hdd"
    think_ms: int = 50


SCALES = {"more": Numbers(400, 56, 240, 100, 500, 60, 15, 60, 25000),
          "quick": Numbers(120, 40, 40, 50, 300, 50, 5, 15, 5000),
          "tiny": Numbers(64, 40, 4, 20, 100, 40, 2, 4, 800, "fast")}


class Installation:
    """An installed Polygraph. prefix: it has bin and share/polygraph."""

    def __init__(self, prefix):
        self.prefix = pathlib.Path(prefix)
        absent = [name for name in PROGRAMS if not os.access(self.prefix / "bin" / name, os.X_OK)]
        self.includes = next((path for path in (self.prefix / "share/polygraph/workloads/include", self.prefix / "workloads/include")
                              if (path / "contents.pg").exists()), None)
        if not self.includes:
            absent.append("share/polygraph/workloads/include/contents.pg")
        if absent:
            raise BenchError(f"Web Polygraph is not installed in {self.prefix}: {', '.join(absent)} is not there. Install it "
                             "(www.web-polygraph.org), and give the folder that has its bin by --polygraph")

    def program(self, name):
        return str(self.prefix / "bin" / name)

    def command(self, side, folder, *options):
        """A run of its client or server in a folder that has settings.pg."""
        return [self.program(f"polygraph-{side}"), "--config", str(WORKLOADS / "one-machine.pg"),
                "--cfg_dirs", f"{folder},{WORKLOADS},{self.includes}", "--verb_lvl", "10", "--fake_hosts", "127.0.0.1",
                "--log", str(folder / f"{side}.log"), "--console", str(folder / f"{side}.out"), *options]

    def figures(self, log, phase):
        """What polygraph-lx says about a phase."""
        done = subprocess.run([self.program("polygraph-lx"), "--phases", phase, str(log)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=120, check=False)
        if done.returncode != 0 or "baseline.req.rate" not in done.stdout:
            raise BenchError(f"polygraph-lx --phases {phase} {log} ended with {done.returncode}: "
                             f"{(done.stdout + done.stderr).strip()[-400:]}")
        return done.stdout


def settings(numbers, origin_port, proxy_port):
    """The text of settings.pg."""
    proxies = f" '127.0.0.1:{proxy_port}' " if proxy_port else ""
    return "\n".join([
        f"time ThinkMean = {numbers.think_ms}msec;", f"time ThinkDeviation = {numbers.think_ms * 2 // 5}msec;",
        f"rate RobotRate = {numbers.peak / numbers.robots:g}/sec;",
        f"addr[] Servers = [ '127.0.0.1:{origin_port}-{origin_port + ORIGINS - 1}' ];",
        f"addr[] Robots = [ '127.0.0.1' ** {numbers.robots} ];", f"addr[] Proxies = [{proxies}];",
        f"size FillSize = {numbers.fill}MB;", f"int WorkingSet = {numbers.working_set};",
        f"time WarmTime = {numbers.warm}sec;", f"time MeasureTime = {numbers.measure}sec;",
        f"float MeasureLoad = {numbers.rate / numbers.peak:.6f};", ""])


def parse(text):
    """(values, histograms) of polygraph-lx: {name: number}, {name: [(largest value of the bin, count)]}; where it
    says something twice, the first is that of all objects."""
    values, histograms, name = {}, {}, None
    for line in text.splitlines():
        pair = re.fullmatch(r"([\w.]+):\s+(-?[\d.]+)\s*", line)
        head = re.fullmatch(r"([\w.]+)\.hist:\s*", line)
        bin_ = re.fullmatch(r"\s+\d+\s+(-?\d+)\s+(-?\d+)\s+(\d+)\s+[\d.]+\s+[\d.]+\s*", line)
        if pair:
            values.setdefault(pair[1], float(pair[2]))
        elif head:
            name = head[1] if head[1] not in histograms else None
            if name:
                histograms[name] = []
        elif bin_ and name:
            histograms[name].append((int(bin_[2]), int(bin_[3])))
    return values, histograms


def _summary(name, values, histograms):
    """As bench-client's: seconds. Polygraph has whole milliseconds in bins."""
    bins = histograms.get(f"{name}.rptm", [])
    count = int(values.get(f"{name}.rptm.count", 0))
    out = {"count": count}
    if not count or not bins:
        return out
    total = sum(number for _, number in bins)
    for label, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)):
        seen = 0
        for most, number in bins:
            seen += number
            if seen >= share * total:
                out[label] = most / 1000
                break
    return {**out, "mean": values[f"{name}.rptm.mean"] / 1000, "max": values[f"{name}.rptm.max"] / 1000}


def client_figures(text, numbers, seed=1):
    """The output of polygraph-lx in the shape of bench-client's JSON, as far as it goes."""
    values, histograms = parse(text)
    hits, misses = _summary("hit", values, histograms), _summary("miss", values, histograms)
    pages = _summary("page", values, histograms)
    requests = int(values.get("baseline.rptm.count", 0))
    seconds = values.get("duration", float(numbers.measure))
    return {"workload": "polygraph one-machine.pg", "seed": seed, "users": numbers.robots, "rate": numbers.rate,
            "seconds": seconds, "visits": pages["count"], "requests": requests,
            "bytes": int(values.get("baseline.rep.size.sum", 0)), "hits": hits["count"],
            "hitBytes": int(values.get("hit.size.sum", 0)), "errors": int(values.get("err_xact.count", 0)), "badBodies": 0,
            "visitsPerSecond": pages["count"] / seconds, "requestsPerSecond": requests / seconds, "hit": hits, "miss": misses,
            "all": _summary("baseline", values, histograms), "visit": pages,
            # hits and misses are of plain GETs; these ratios are of them
            "hitRatio": values.get("hit.ratio.obj", 0) / 100, "byteHitRatio": values.get("hit.ratio.byte", 0) / 100,
            "offeredHitRatio": values.get("offered.hit.ratio.obj", 0) / 100,
            "histogram": {name: [[most / 1000, count] for most, count in histograms.get(f"{name}.rptm", [])]
                          for name in ("hit", "miss")}}


class PolygraphRun:
    """One store under this load. proxy: of stores.make(), started; None: straight to the origins."""

    def __init__(self, installation, numbers, folder, origin_port, proxy=None, disk=None):
        self._installation, self._numbers, self._folder = installation, numbers, pathlib.Path(folder)
        self._origin_port, self._proxy, self._disk = origin_port, proxy, disk

    def run(self, step):
        """{client, disk, cpuSeconds, memory} of the round whose hits took neither least nor most; rounds: all of them."""
        port = self._proxy.port if self._proxy else None
        (self._folder / "settings.pg").write_text(settings(self._numbers, self._origin_port, port))
        with self._process("server", "--idle_tout", "120sec") as server:
            ports = range(self._origin_port, self._origin_port + ORIGINS)
            wait_until(lambda: self._alive(server, "server") and all(listening(each) for each in ports),
                       "Polygraph's origins listening", 30)
            with self._process("client", "--idle_tout", f"{IDLE_SECONDS}sec") as client:
                step("fill")
                self._wait_for(client, "p-warm")
                if self._disk:
                    self._disk.set(model=self._numbers.model)
                counters = [self._counters()]
                for number in range(1, ROUNDS + 1):
                    step(f"measure {number}/{ROUNDS}")
                    self._wait_for(client, f"p-measure{number}")
                    counters.append(self._counters())
                if self._disk:
                    self._disk.set(model="fast")
                wait_until(lambda: client.poll() is not None, "end of Polygraph's client", 60)
        if self._proxy:
            self._proxy.check_alive()
        rounds = [self._round(number, *counters[number - 1:number + 1]) for number in range(1, ROUNDS + 1)]
        middle = sorted(rounds, key=lambda each: each["client"]["hit"].get("mean", 0))[ROUNDS // 2]
        return {**middle, "rounds": rounds}

    def _round(self, number, before, after):
        text = self._installation.figures(self._folder / "client.log", f"measure{number}")
        client = client_figures(text, self._numbers)
        if client["errors"] * 100 > client["requests"]:
            raise BenchError(f"Polygraph counted {client['errors']} errors in {client['requests']} requests: {self._said('client')}")
        out = {"name": "open", "client": client, "disk": difference(before["disk"], after["disk"]),
               "cpuSeconds": after["cpu"] - before["cpu"]}
        if self._proxy:
            out["memory"] = after["memory"]
        return out

    @contextlib.contextmanager
    def _process(self, side, *options):
        with open(self._folder / f"{side}.err", "wb") as errors:
            process = start(self._installation.command(side, self._folder, *options), stdin=subprocess.DEVNULL,
                            stdout=errors, stderr=errors, cwd=self._folder)
        try:
            yield process
        finally:
            with shielded():
                process.kill()
                process.wait()

    def _alive(self, process, side):
        if process.poll() is not None:
            raise BenchError(f"polygraph-{side} has ended with {process.returncode}: {self._said(side)}")
        return True

    def _said(self, side):
        texts = [(self._folder / name).read_text(errors="replace") for name in (f"{side}.err", f"{side}.out")
                 if (self._folder / name).exists()]
        return "\n".join(texts).strip()[-600:]

    def _wait_for(self, client, word):
        """Returns when the client's console has a line about the end of a phase."""
        path = self._folder / "client.out"
        pattern = re.compile(rf"\| {re.escape(word)}\s")
        numbers = self._numbers
        limit = 120 + 20 * (numbers.warm + numbers.measure) + 20 * numbers.fill * MB / (10000 * numbers.peak)
        wait_until(lambda: (path.exists() and pattern.search(path.read_text(errors="replace"))) or not self._alive(client, "client"),
                   f"Polygraph's phase {word[2:]}", limit, 0.1)

    def _counters(self):
        return {"disk": self._disk.stats() if self._disk else {},
                "memory": self._proxy.cgroup.memory() if self._proxy else {},
                "cpu": self._proxy.cgroup.cpu_seconds() if self._proxy else time.process_time()}


def _row(store, run):
    client, disk = run["client"], run["disk"]
    requests = max(1, client["requests"])

    def ms(group, name, spread=False):
        value = client[group].get(name)
        if value is None:
            return ""
        all_ = [each["client"][group].get(name, value) * 1000 for each in run["rounds"]]
        return f"{value * 1000:.3g}" + (f" ({min(all_):.3g} to {max(all_):.3g})" if spread else "")

    return [title(store), f"{client['requestsPerSecond']:.1f}", str(client["errors"]),
            f"{client['offeredHitRatio'] * 100:.1f} %", f"{client['hitRatio'] * 100:.1f} %", ms("hit", "mean", True),
            ms("hit", "p50"), ms("hit", "p90"), ms("hit", "p99", True), ms("miss", "mean", True), ms("miss", "p99"),
            f"{disk.get('reads', 0) / requests:.2f}",
            f"{disk.get('writes', 0) / requests:.2f}", f"{run['cpuSeconds'] / requests * 1000:.2f}"]


def table(runs):
    """runs: {store: phase}"""
    return {"title": "Web Polygraph: PolyMix-4's traffic on one machine, open loop",
            "columns": ["store", "requests/s", "errors", "offered hits", "hits", "hit mean ms", "hit p50 ms", "hit p90 ms",
                        "hit p99 ms", "miss mean ms", "miss p99 ms", "disk reads a request", "disk writes a request",
                        "CPU ms a request"],
            "rows": [_row(store, run) for store, run in runs.items()],
            "note": "Of the rounds, the one whose mean response of hits is in the middle, with the least and the most of all "
                    "in brackets. Hits and misses are those of plain GETs. Polygraph measures whole milliseconds, and two "
                    "runs with the same settings do not send the same requests: compare the hits with what was offered in the same run."}


def run_store(setup, store, numbers, step):
    """One store: (phase, settings)."""
    from .disk import Disk  # what only a run needs
    installation = Installation(setup.polygraph)
    base = setup.programs / "build"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-polygraph-", dir=base if base.is_dir() else None))
    folder.chmod(0o755)  # Squid's user must get through
    try:
        place = Place(store, 0, folder / store, setup.port, setup.origin_port, setup.squid, numbers.cache,
                      (numbers.memory + PROGRAM_MB) * MB)
        with Disk(model=numbers.model, size=disk_mb(numbers.cache) * MB, name=f"polygraph{re.sub('[^a-z]', '', store)}",
                  programs=setup.programs) as disk:
            disk.set(model="fast")
            with make(place, disk) as proxy:
                proxy.start()
                run = PolygraphRun(installation, numbers, folder, setup.origin_port, proxy, disk).run(lambda what: step(f"{store}: {what}"))
                return run, proxy.settings()
    finally:
        with shielded():
            shutil.rmtree(folder, ignore_errors=True)


def run_part(setup, part, scale, step):
    """Part polygraph of ./bench: {"": result}."""
    numbers = SCALES[scale]
    Installation(setup.polygraph)  # or else an error before anything was started
    runs, chosen = {}, []
    for store in part.stores:
        runs[store], lines = run_store(setup, store, numbers, step)
        chosen.append(f"{store}: {'; '.join(lines)}")
    text = [f"Model of the disk: {numbers.model}. Cache {numbers.cache} MB, memory {numbers.memory} MB and {PROGRAM_MB} MB for the "
            f"program. {numbers.robots} robots; {numbers.fill} MB of cachable misses fill the cache with the disk in its fast model; "
            f"then {numbers.rate:g} requests/s are measured for {ROUNDS} rounds of {numbers.measure} s. The origins think for "
            f"{numbers.think_ms} ms (PolyMix-4: 2.5 s); sizes, kinds, popularity and pages are PolyMix-4's, see tools/bench/polygraph."]
    return {"": {"text": text, "tables": [table(runs)], "runs": runs, "settings": chosen}}
