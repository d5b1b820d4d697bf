# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs and traces in the form that bench-papers reads: lines "client object bytes kind", all numbers dense."""

import contextlib
import gzip
import itertools
import re

from .errors import BenchError

#: of bench-papers, see tools/bench/papers/Trace.h
REQUESTS_MOST, BYTES_MOST = 1 << 28, 1 << 30
HTML = re.compile(r"(/|\.html?|\.php|\.asp|\.jsp)(\?.*)?$", re.I)
COMMON_LOG = re.compile(r'(?P<client>\S+) \S+ \S+ \[[^\]]*\] "(?P<method>\S+) (?P<url>\S+)[^"]*" (?P<status>\d{3}) (?P<bytes>\d+|-)')
SQUID_LOG = re.compile(r"\d+\.\d+ +\d+ (?P<client>\S+) \S+/(?P<status>\d{3}) (?P<bytes>\d+) (?P<method>\S+) (?P<url>\S+) "
                       r"\S+ \S+ (?P<type>\S+)")
#: statuses whose body is cached
CACHED = ("200", "203", "301", "304", "410")


def _squid(line):
    found = SQUID_LOG.match(line)
    if not found:
        return None
    html = found["type"].startswith("text/html") or (found["type"] == "-" and HTML.search(found["url"]))
    return found["method"], found["status"], found["client"], found["url"], found["bytes"], html


def _common(line):
    found = COMMON_LOG.match(line)
    if not found:
        return None
    return found["method"], found["status"], found["client"], found["url"], found["bytes"], HTML.search(found["url"])


def _columns(header):
    """A reader of tab-separated lines with these column names; None where they are not those of a trace."""
    names = header.rstrip("\n").split("\t")
    place = {name: number for number, name in enumerate(names)}
    client = next((name for name in ("client", "session") if name in place), None)
    url = next((name for name in names if name == "url" or name.startswith("url_")), None)
    if not client or not url or not {"status", "bytes", "kind"} <= set(place):
        return None

    def read(line):
        fields = line.rstrip("\n").split("\t")
        if len(fields) != len(names):
            return None
        return ("GET", fields[place["status"]], fields[place[client]], fields[place[url]], fields[place["bytes"]],
                fields[place["kind"]] == "html")
    return read


def _reader(first):
    """(how to read a line, whether the first is a request, too)"""
    columns = _columns(first)
    if columns:
        return columns, False
    for read in (_squid, _common):
        if read(first):
            return read, True
    return None, False


class _Numbers(dict):
    """Numbers names in the order in which they come."""

    def __missing__(self, name):
        self[name] = number = len(self)
        return number


@contextlib.contextmanager
def _opened(path):
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with (gzip.open(path, "rt", errors="replace") if packed else open(path, errors="replace")) as file:
            yield file
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        raise BenchError(f"{path}: cannot read this trace: {getattr(error, 'strerror', None) or error}") from None


def convert(path, target):
    """Reads Squid's access.log, a common or combined log, or a tab-separated trace, packed by gzip or not; writes what
    bench-papers reads. Returns {requests, skipped, objects}."""
    clients, objects = _Numbers(), _Numbers()
    count = skipped = 0
    with _opened(path) as file, open(target, "w", encoding="ascii") as out:
        first = file.readline()
        read, take_first = _reader(first)
        if not read:
            raise BenchError(f"{path}: the first line is neither of Squid's access.log, nor of a common log, nor has it the column "
                             f"names of a trace: {first[:100].strip()!r}")
        for line in itertools.chain([first] if take_first else [], file):
            found = read(line)
            if not found or found[0] != "GET" or found[1] not in CACHED or not found[4].isdigit():
                skipped += 1
                continue
            _, status, client, url, size, html = found
            if status == "304" and url not in objects:
                skipped += 1  # its size is not known
                continue
            if count == REQUESTS_MOST:
                raise BenchError(f"{path}: has more than {REQUESTS_MOST} requests; give a part of it")
            out.write(f"{clients[client]} {objects[url]} {min(int(size), BYTES_MOST)} {'html' if html else 'other'}\n")
            count += 1
    if not count:
        raise BenchError(f"{path}: none of its {skipped} lines is a GET that was answered with one of {', '.join(CACHED)}")
    return {"requests": count, "skipped": skipped, "objects": len(objects)}
