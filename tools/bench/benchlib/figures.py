# SPDX-License-Identifier: GPL-2.0-or-later
"""From the raw numbers of a run to the figures of the report: medians over its rounds, with their spread."""

import dataclasses
import re
import statistics

from .plans import MB

#: what a worker of Squid is called
WORKER = re.compile(r"\(squid-\d+\)")
PERCENTILES = ("mean", "p50", "p90", "p99", "p99.9")


@dataclasses.dataclass(frozen=True)
class Spread:
    """The median of some rounds, the least and the most."""
    median: float
    low: float
    high: float

    @staticmethod
    def of(values):
        """None where there is no value."""
        values = [value for value in values if value is not None]
        return Spread(statistics.median(values), min(values), max(values)) if values else None

    def apart(self, other):
        """Whether the two ranges have nothing in common: more than the rounds differ among themselves."""
        return self.low > other.high or self.high < other.low


def _ratio(part, whole):
    return part / whole if whole else None


def phases(result, kind):
    """The phases of a run whose names begin so: fill, age, closed, open, load."""
    return [phase for phase in result.get("phases", []) if phase["name"].startswith(kind)]


def over(result, kind, value):
    """Spread of value(phase) over the rounds of a kind."""
    return Spread.of([value(phase) for phase in phases(result, kind)])


def client(name):
    return lambda phase: phase["client"].get(name)


def hit_ratio(phase):
    return _ratio(phase["client"]["hits"], phase["client"]["requests"])


def byte_hit_ratio(phase):
    return _ratio(phase["client"]["hitBytes"], phase["client"]["bytes"])


def per(counter, unit):
    """A disk counter for each visit or request."""
    def value(phase):
        if counter not in phase["disk"]:
            return None
        return _ratio(phase["disk"][counter], phase["client"][unit])
    return value


def written_per_stored(result):
    """Bytes written to the device for each byte that the cache took in, over the whole run: what the page cache keeps
    back in one phase is written in a later one. None where little was stored."""
    stored = sum(phase["client"]["bytes"] - phase["client"]["hitBytes"] for phase in result["phases"])
    written = [phase["disk"]["writeBytes"] for phase in result["phases"] if "writeBytes" in phase["disk"]]
    return sum(written) / stored if written and stored >= 16 * MB else None


def cpu_per_request(phase):
    """Milliseconds of processor time of the proxy's processes."""
    seconds = _ratio(phase["cpuSeconds"], phase["client"]["requests"])
    return None if seconds is None else seconds * 1000


def switches_per_request(phase):
    """How often a thread of the proxy gave its processor away, to wait for something. None where that was not counted."""
    counts = [process["switches"] for process in phase.get("processes", {}).values()]
    return _ratio(sum(counts), phase["client"]["requests"]) if counts else None


def share_of(kind):
    """Milliseconds of processor time a request of the processes whose names have this in them. None where there are none."""
    def value(phase):
        seconds = [process["cpuSeconds"] for name, process in phase.get("processes", {}).items() if kind in name]
        return _ratio(sum(seconds) * 1000, phase["client"]["requests"]) if seconds else None
    return value


def busiest(phase):
    """The largest part that one worker of Squid had of the processor time of all workers."""
    seconds = [process["cpuSeconds"] for name, process in phase.get("processes", {}).items() if WORKER.fullmatch(name)]
    return _ratio(max(seconds), sum(seconds)) if seconds else None


def disk_busy(phase):
    """The share of the time in which the disk had something to do. None where that was not counted."""
    return _ratio(phase["disk"]["busySeconds"], phase["seconds"]) if "busySeconds" in phase["disk"] else None


def in_memory(result):
    """The share of the visits that a memory of the run's size answers at best: by always having the most popular pages. A page
    takes up its share of the corpus, since the corpus has once what pages have in common."""
    corpus = result["corpus"]
    pages, room = int(corpus["pages"]), result["memoryMb"] * MB * corpus["pages"] / corpus["bytes"]
    popularity = [rank ** -result["parameters"]["zipf"] for rank in range(1, pages + 1)]
    return min(1.0, sum(min(1.0, max(0.0, room - place)) * one for place, one in enumerate(popularity)) / sum(popularity))


def disk_bound(result):
    """Visits a second that no store can pass with these hits: the disk does nothing but transfer, one after the other, the bytes
    of hits that memory cannot have. None without a disk or hits."""
    clients = [phase["client"] for phase in phases(result, "closed")]
    visits, hit_bytes = (sum(client[name] for client in clients) for name in ("visits", "hitBytes"))
    beyond = 1 - in_memory(result) if result.get("limit") else 0
    return result["limit"]["disk"]["bandwidth"] * visits / (hit_bytes * beyond) if beyond and hit_bytes else None


def latency(group, name):
    """A response time in ms. group: hit, miss, all, visit; name: one of PERCENTILES."""
    def value(phase):
        found = phase["client"].get(group) or {}
        return found[name] * 1000 if found.get("count") and name in found else None
    return value


def client_load(result):
    """The share of a processor that the load generator took, at most: near 1, it may be what is measured."""
    shares = [_ratio(phase["client"].get("clientCpu", 0), phase["seconds"]) or 0 for phase in phases(result, "closed")]
    return max(shares, default=0)


def index_per_object(result):
    """Bytes; None where it is not known."""
    index = result.get("index") or {}
    return _ratio(index["bytes"], index.get("objects")) if index.get("bytes") else None


def memory(result, name):
    """MB of one kind of memory (see cgroup.Cgroup.memory) at the end of the last closed loop."""
    last = phases(result, "closed")[-1:]
    return last[0]["memory"][name] / MB if last else None


def offered(phase):
    """Visits a second that an open loop offered."""
    return phase.get("rate") or phase["client"].get("rate")


def merged_histogram(result, kind, group):
    """[(upper bound in ms, count)] over all rounds of a kind."""
    total = {}
    for phase in phases(result, kind):
        for upper, count in (phase["client"].get("histogram") or {}).get(group, []):
            total[upper] = total.get(upper, 0) + count
    return [(upper * 1000, count) for upper, count in sorted(total.items())]


def timeline(result, points=40, least=20):
    """[(seconds since the first visit, hit ratio around that time)] over filling, ageing and the closed loops, at most so
    many points, each of at least so many requests: of single seconds, the ratio jumps."""
    seconds, end = [], 0.0
    for phase in result.get("phases", []):
        if phase["name"].startswith(("fill", "age", "warm", "closed")):
            seconds += [(end + point["t"], point["hits"], point["requests"]) for point in phase["client"].get("timeline", [])]
            end += phase["seconds"]
    out, begin, hits, requests = [], 0.0, 0, 0
    for second, more_hits, more_requests in seconds:
        hits, requests = hits + more_hits, requests + more_requests
        if requests >= least and second + 1 - begin >= end / points:
            out.append(((begin + second + 1) / 2, hits / requests))
            begin, hits, requests = second + 1, 0, 0
    return out


def ladder(result):
    """The open loops of a run by rising rate: [(rate, [phases])]"""
    rates = {}
    for phase in phases(result, "open") + phases(result, "load"):
        rate = offered(phase)
        if rate:
            rates.setdefault(rate, []).append(phase)
    return sorted(rates.items())
