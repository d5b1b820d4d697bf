# SPDX-License-Identifier: GPL-2.0-or-later
"""Raw results as text that version control can compare: JSON in lines of a fixed order, of which a new measurement changes
only those whose figures are others.

Histograms and the courses of hits, which are long lists of pairs, become strings. A few things that nobody reads are left
out: docs/benchmarks-detail.md names them."""

import collections
import json
import re
import textwrap

WIDTH = 150
#: of the disk model: what it is at a moment. Two of them subtracted say nothing
MOMENTARY = {"size", "queueDepthMean", "queueDepthMax", "underWay", "lateMeanMicros", "lateMaxMicros", "dirtyBytes"}
#: of a phase: its command says again what the parameters say, "all" is hits and misses together; the others become strings
UNREAD = {"command", "all", "timeline", "histogram"}
#: counters of a disk that are written even if they stayed zero
ALWAYS = {"reads", "readBytes", "writes", "writeBytes"}
#: folders that were gone after the run: their names would differ each time
TEMPORARY = re.compile(r"[^\s=:]*\bbench-(?:run|papers|polygraph)-[^/\s]+/")
#: a power of two has so many bits of buckets: as bench-client has them in open loops, whose response times are compared,
#: and an eighth of that elsewhere
FINE, COARSE = 6, 3
#: an item of a list or object, up to this length, shares its line with others
SHORT = 24


def text(value, indent=0, lead=0):
    """JSON in lines of at most WIDTH characters where that can be done. indent: of the line; lead: what is before it there."""
    whole = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or indent + lead + len(whole) < WIDTH:
        return whole
    items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
    lines, room = [], False
    for name, item in items:
        head = "" if name is None else json.dumps(name) + ": "
        written = head + text(item, indent + 1, len(head))
        small = not isinstance(item, (dict, list)) or len(written) <= SHORT
        if small and room and indent + len(lines[-1]) + len(written) + 4 <= WIDTH:
            lines[-1] += ", " + written
        else:
            lines.append(written)
        room = small
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return begin + ",".join("\n" + " " * (indent + 1) + line for line in lines) + "\n" + " " * indent + end


def _bucket(nanos, bits):
    """The place of a time among buckets: as many for each power of two as there are values of so many bits."""
    if nanos < 1 << bits:
        return nanos
    power = nanos.bit_length() - 1
    return ((power - bits) << bits) + (nanos >> (power - bits))


def _top(bucket, bits):
    """The longest time that a bucket counts, in ns."""
    if bucket < 1 << bits:
        return bucket
    shift = (bucket >> bits) - 1
    return ((bucket - (shift << bits) + 1) << shift) - 1


def histogram_text(pairs, bits):
    """pairs: [[upper bound in seconds, count]]. The string: the bits, the first bucket, and the counts of it and those that
    follow; -5 stands for five empty ones. Lines of it, for WIDTH."""
    counts = collections.Counter()
    for upper, count in pairs:
        # nine digits of an upper bound may have been rounded up into the next bucket
        counts[_bucket(round(upper * 1e9 * (1 - 1e-8)), bits)] += count
    words, last = [], None
    for bucket, count in sorted(counts.items()):
        if last is None:
            words.append(f"{bits}: {bucket}:")
        elif bucket > last + 1:
            words.append("0" if bucket == last + 2 else str(last + 1 - bucket))
        words.append(str(count))
        last = bucket
    return textwrap.wrap(" ".join(words), WIDTH - 12)


def histogram_of(lines, most):
    """The pairs. most: the longest time of all, in seconds, which is the bound of the last bucket."""
    bits, bucket, *counts = (int(word.rstrip(":")) for word in " ".join(lines).split())
    pairs = []
    for count in counts:
        if count > 0:
            pairs.append([_top(bucket, bits) / 1e9, count])
        bucket += max(1, -count)
    pairs[-1][0] = most
    return pairs


def _course_text(points):
    """Of each second, hits and requests: a string."""
    if [point["t"] for point in points] != list(range(len(points))):
        raise ValueError("its timeline is not one of whole seconds")
    return " ".join(f"{point['hits']}/{point['requests']}" for point in points)


def _course_of(written):
    pairs = [pair.split("/") for pair in written.split()]
    return [{"t": second, "hits": int(hits), "requests": int(requests)} for second, (hits, requests) in enumerate(pairs)]


def _measured(phase):
    """Whether the disk was as slow as its model during a phase: what prepares a cache has the disk in RAM."""
    return phase["name"].startswith(("closed", "open", "load"))


def _phase(phase):
    """A phase with its long lists as strings."""
    client = {name: value for name, value in phase["client"].items() if name not in UNREAD}
    if "timeline" in phase["client"]:
        client["timeline"] = _course_text(phase["client"]["timeline"])
    if _measured(phase) and phase["client"].get("histogram"):
        fine = {group: FINE if phase["name"].startswith("open") and group != "visit" else COARSE
                for group in phase["client"]["histogram"]}
        client["histogram"] = {group: histogram_text(pairs, fine[group])
                               for group, pairs in phase["client"]["histogram"].items() if pairs}
    return phase | {"client": client}


def _tidy(value):
    """Without what only one run has, and with nine digits, as bench-client has them."""
    if isinstance(value, dict):
        disk = "busySeconds" in value  # the counters of one
        return {name: _tidy(item) for name, item in value.items()
                if not disk or (name not in MOMENTARY and (item or name in ALWAYS))}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return TEMPORARY.sub("", value) if isinstance(value, str) else value


#: options that name folders of the machine that measured
FOLDERS = ("--out", "--programs", "--squid", "--polygraph")


def _command(words):
    """The command as anybody would type it: the folders that it names are the measurer's own."""
    kept = [word for before, word in zip(words, words[1:]) if word not in FOLDERS and before not in FOLDERS]
    return ["./bench", *kept]


def packed(result):
    """What is written of a result."""
    out = _tidy(result)
    if "command" in out:
        out["command"] = _command(out["command"])
    for run in out.get("runs", []):  # of the papers' experiments, each by a program of its own
        if "command" in run:
            program, *words = run["command"]
            run["command"] = [program.rpartition("/")[2], *words]
    if "phases" in out:
        out["phases"] = [_phase(phase) for phase in out["phases"]]
    return out


def unpacked(written):
    """The result, from what packed() gave."""
    for phase in written.get("phases", []):
        client = phase["client"]
        if "timeline" in client:
            client["timeline"] = _course_of(client["timeline"])
        for group, lines in client.get("histogram", {}).items():
            client["histogram"][group] = histogram_of(lines, client[group]["max"])
    return written
