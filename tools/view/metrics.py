# SPDX-License-Identifier: GPL-2.0-or-later
"""The page clusterfs_metrics of running Squids: how it is fetched and read, and how its figures change.

The page is Prometheus' text format, as docs/metrics.md describes it. A Squid that is away, or answers with something else,
costs nothing but its own figures."""

import base64
import collections
import math
import re
import socket
import time
import urllib.parse

MANAGER = "/squid-internal-mgr/"
PAGE = MANAGER + "clusterfs_metrics"
PORT = 3128
TIMEOUT = 10  # seconds for a whole answer
MOST = 4 << 20  # bytes of an answer; a cache_dir has 30 KB
BEYOND = 1e20  # no figure of 64 bits is as large
HISTORY = 1000  # pages
MOST_CELLS = 2500  # of a map
MOST_SECONDS = (1 << 32) - 1  # since 1970
SAMPLE = re.compile(r"clusterfs_(\w+)\{(.*)\} (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
DURATION = "disk_request_duration_seconds"
WAITS = "client_wait_seconds"
ANSWERS = ("hit", "miss")
PLACES = ("staging", "read_cache", "disk")
#: each object that comes in is counted by one of these
MISSES = ("objects_stored_total", "stores_refused_total", "stores_not_admitted_total", "stores_aborted_total")
#: {counter: its name for people}
ERRORS = {"read_errors_total": "read errors", "write_errors_total": "write errors", "checksum_errors_total": "checksum errors",
          "checkpoint_errors_total": "checkpoint errors", "clusters_quarantined_total": "clusters out of use"}
#: {status of HTTP: what it means}
REFUSALS = {401: "the password is wrong or missing: --password-file or CLUSTERFS_PASSWORD",
            403: "squid.conf does not let this machine ask the cache manager: http_access",
            404: "no cache_dir clusterfs there, or no password for the page in cachemgr_passwd"}


class BadRequest(Exception):
    """The command line has something that cannot be done."""


class Away(Exception):
    """There is no page of metrics, and why."""


def printable(text):
    """What other machines say goes to a terminal without control characters."""
    return "".join(c if c.isprintable() else "?" for c in text)


def password_of(path, environment):
    """The password of cachemgr_passwd: the first line of a file, or a variable. Empty when there is none."""
    if not path:
        return environment.get("CLUSTERFS_PASSWORD", "")
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\r\n")
    except OSError as error:
        raise BadRequest(f"{path}: no password can be read from it: {error.strerror}") from error


class Address:
    """A Squid's: http://HOST or http://HOST:PORT, with or without the path of the page."""

    def __init__(self, text):
        wrong = BadRequest(f"'{printable(text)}' is no address of a running Squid: give http://HOST:PORT")
        try:
            parts = urllib.parse.urlsplit(text)
            self.host, self.port = parts.hostname, PORT if parts.port is None else parts.port
        except ValueError as error:
            raise wrong from error
        plain = text.isascii() and text.isprintable() and " " not in text
        if not plain or parts.scheme != "http" or not self.host or not self.port or parts.path not in ("", "/", PAGE) or parts.query or parts.fragment or "@" in parts.netloc:
            raise wrong
        self.name = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def fetch(address, password="", timeout=TIMEOUT, most=MOST, page=PAGE):
    """The text of a page; Away where there is none. Asks by HTTP/1.0, and so gets the body as it is, up to its end."""
    request = f"GET {page} HTTP/1.0\r\nHost: {address.name}\r\n"
    if password:
        secret = base64.b64encode(b"clusterfs:" + password.encode("utf-8", "surrogateescape")).decode("ascii")
        request += f"Authorization: Basic {secret}\r\n"
    until, answer = time.monotonic() + timeout, bytearray()
    try:
        with socket.create_connection((address.host, address.port), timeout) as connection:
            connection.sendall(request.encode("ascii") + b"\r\n")
            while len(answer) <= most:
                connection.settimeout(max(1e-3, until - time.monotonic()))
                piece = connection.recv(1 << 16)
                if not piece:
                    return _body(bytes(answer))
                answer += piece
                if time.monotonic() > until:
                    raise socket.timeout
    except socket.timeout as error:
        raise Away(f"no whole answer within {timeout:g} seconds") from error
    except (OSError, UnicodeError) as error:
        raise Away(printable(getattr(error, "strerror", None) or str(error)).lower()) from error
    raise Away(f"the answer has more than {most >> 20} MB")


def _body(answer):
    head, found, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.\d (\d{3})\b", head)
    if not found or not status:
        raise Away("this is no answer of a Squid")
    if int(status[1]) != 200:
        raise Away(REFUSALS.get(int(status[1]), f"Squid answers with status {int(status[1])}"))
    return body.decode("utf-8", "replace")


def parse(text):
    """{path: {(name without clusterfs_, ((label, value), ...)): number}} of a page; Away where it has nothing of clusterfs."""
    dirs = {}
    for name, labels, number in SAMPLE.findall(text):
        found = {key: re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], value) for key, value in LABEL.findall(labels)}
        try:
            value = float(number)
        except ValueError:
            continue
        if "path" in found and abs(value) < BEYOND:
            dirs.setdefault(printable(found.pop("path")), {})[name, tuple(sorted(found.items()))] = value
    if not dirs:
        raise Away("the answer has no metrics of clusterfs")
    return dirs


def fetch_map(address, path, password, timeout):
    """What the page clusterfs_map has of a cache_dir, in the form of clusterfs report's description of a device; Away where
    there is none. Squid takes a value of digits for numbers, so they are encoded, too."""
    value = "".join(chr(byte) if chr(byte).isalpha() and byte < 128 else f"%{byte:02x}" for byte in path.encode("utf-8"))
    return parse_map(fetch(address, password, timeout, page=f"{MANAGER}clusterfs_map?dir={value}"))


def parse_map(text):
    """Of the page. A cell has the sums of its clusters' ranks; the description has their means."""
    lines = [line.partition(": ")[::2] for line in text.splitlines()]
    first = dict(reversed(lines))
    if "error" in first:
        raise Away(printable(first["error"]))
    if "end" not in first:
        raise Away("the answer breaks off, or is no map")
    if "columns" not in first:
        raise Away("Squid's clusterfs is older than this command")
    names = first["columns"].split()
    try:
        cells = [dict(zip(names, numbers)) for numbers in (_numbers(value) for name, value in lines if name == "cell")]
        for cell in cells:
            clusters = max(1, cell["small"] + cell["large"])
            cell["written"], cell["used"] = cell["written"] / clusters, cell["used"] / clusters
            cell["latest"] = min(cell["latest"], MOST_SECONDS)
            if cell["last"] - cell["first"] + 1 < cell["small"] + cell["large"] + cell["bad"] + cell["log"]:
                raise ValueError
        ages = [(None if bound == "-" else _numbers(bound)[0], *_numbers(rest)) for bound, _, rest in (value.partition(" ") for name, value in lines if name == "age")]
        found = {"cluster_bytes": _numbers(first["cluster bytes"])[0], "cells": cells,
                 "ages": [{"up_to": bound, "clusters": clusters, "bytes": size} for bound, clusters, size in ages]}
    except (KeyError, ValueError, IndexError) as error:
        raise Away("this is no map") from error
    if not cells or not found["cluster_bytes"] or len(cells) > MOST_CELLS:
        raise Away("this is no map")
    return found


def _numbers(text):
    """Whole ones, and ranks; ValueError where there are others."""
    numbers = [float(word) if "." in word or "e" in word else int(word) for word in text.split()]
    if not all(0 <= number < BEYOND for number in numbers):
        raise ValueError(text)
    return numbers


class Source:
    """A Squid: its cache_dirs, now and before. read() asks it, in any thread; the rest only reads what that leaves."""

    def __init__(self, address, password=""):
        self.address, self.name = address, address.name
        self.dirs, self.error, self.away_since = [], "no answer yet", None  # the last in seconds since 1970
        self._password, self._last, self._asked = password, {}, 0.0
        self._histories = {}

    def read(self):
        """Asks for the page. What fails is said in `error`, and the next answer begins anew."""
        try:
            pages, error = parse(fetch(self.address, self._password)), ""
        except Away as reason:
            pages, error = {}, str(reason)
        self.take(pages, error, time.monotonic())
        return self

    def take(self, pages, error, now):
        """What came of a question at a time in seconds."""
        dirs = [Dir(path, samples, self._last.get(path), now - self._asked, self._history(path)) for path, samples in pages.items()]
        for dir_ in dirs:
            dir_.remember(now)
        self.away_since = (self.away_since or time.time()) if error else None
        self.dirs, self.error = dirs, error
        self._last, self._asked = pages, now

    def _history(self, path):
        return self._histories.setdefault(path, collections.deque(maxlen=HISTORY))


class Dir:
    """A cache_dir: the figures of a page, and how they have changed since the one before, if there is one and Squid has not
    started anew. history: (seconds, {name: value}) of each page, the oldest first."""

    def __init__(self, path, now, before, seconds, history=()):
        self.path, self._now, self._seconds, self.history = path, now, max(seconds, 1e-3), history
        again = before is not None and any(key[0].endswith("_total") and value > now.get(key, 0) for key, value in before.items())
        self._before = None if again else before
        self._families = collections.defaultdict(list)  # {name: [(key, labels)]}
        for key in now:
            self._families[key[0]].append((key, dict(key[1])))

    @property
    def changes(self):
        """Whether rates are known."""
        return self._before is not None

    def of(self, name, **labels):
        """A figure, summed up over the labels that are not given; 0 where there is none."""
        return sum(self._now[key] for key in self._keys(name, labels))

    def has(self, name):
        return name in self._families

    def grown(self, name, **labels):
        """By how much a counter has grown between the two pages; None when that is not known."""
        if self._before is None:
            return None
        return sum(self._now[key] - self._before.get(key, 0) for key in self._keys(name, labels))

    def _keys(self, name, labels):
        """Of the samples with that name whose labels include these."""
        return [key for key, has in self._families.get(name, ()) if labels.items() <= has.items()]

    def rate(self, name, **labels):
        """The same, a second."""
        grown = self.grown(name, **labels)
        return None if grown is None else grown / self._seconds

    def ratio(self, part, whole):
        """Of the growth of two sums of counters, each a list of names or of (name, labels); None when not known."""
        parts, wholes = self._sum(part), self._sum(whole)
        return parts / wholes if wholes else None

    def _sum(self, names):
        if not self.changes:
            return None
        return sum(self.grown(n) if isinstance(n, str) else self.grown(n[0], **n[1]) for n in names)

    def state(self):
        """As the page has it; unused where the device is not."""
        return next((labels.get("state", "") for key, labels in self._families.get("state", ()) if self._now[key] == 1), "unknown")

    def info(self, label):
        """A text of the page."""
        return next((printable(labels.get(label, "")) for _, labels in self._families.get("info", ())), "")

    def used(self):
        """Whether the device is in use: else there is nothing but the state."""
        return self.has("objects")

    def buckets(self, kind, since_start=False):
        """[(upper bound in seconds, how many requests took that long, and longer than the bound before)] of those between
        the two pages, or of all since Squid's start. kind: an operation of the disk, or one of ANSWERS: then of clients'
        requests."""
        family, label = (WAITS, "answer") if kind in ANSWERS else (DURATION, "operation")
        bounds = []
        for _, labels in self._families.get(family + "_bucket", ()):
            try:
                if labels[label] == kind:
                    bounds.append((float(labels["le"]), labels))
            except (KeyError, ValueError):
                continue
        found, below = [], 0
        for bound, labels in sorted(bounds, key=lambda pair: pair[0]):
            upto = (self.of if since_start else self.grown)(family + "_bucket", **labels) or 0
            found.append((bound, max(0, upto - below)))
            below = upto
        return found

    def percentile(self, kind, share):
        """A time in seconds that so many of the requests did not pass, from the buckets; None without requests."""
        return percentile(self.buckets(kind), share)

    def has_waits(self):
        """Whether this clusterfs measures the waits of clients: older ones did not."""
        return self.has(WAITS + "_bucket")

    def errors(self):
        """[(name, since the start, how many of them between the two pages)] of those that there are."""
        found = [(text, self.of(name), self.grown(name) or 0) for name, text in ERRORS.items()]
        return [row for row in found if row[1]]

    def space(self):
        """{state: clusters}"""
        small, large, bad, free = (self.of(f"clusters_{name}") for name in ("packed", "of_large_objects", "bad", "free"))
        others = max(0, self.of("clusters") - small - large - bad - free)
        return {"small objects": small, "large objects": large, "index log": others, "bad": bad, "free": free}

    def figures(self):
        """{name: value or None}, of what is worth a curve over time."""
        return {
            "hits": self.rate("hits_total"), "misses": self.misses(),
            "reads": self.rate("disk_requests_total", operation="read"), "writes": self.rate("disk_requests_total", operation="write"),
            "read": self.rate("disk_bytes_total", operation="read"), "written": self.rate("disk_bytes_total", operation="write"),
            "p50": self.percentile("read", 0.5), "p99": self.percentile("read", 0.99),
        }

    def misses(self):
        """Objects a second that came in, whether they could be stored or not; None when not known. The lookups do not tell:
        Squid looks up an object that is not there several times. Responses that must not be cached are not among them."""
        return None if not self.changes else sum(self.rate(name) for name in MISSES)

    def hit_rate(self):
        """The share of hits among hits and misses; None when not known, or without requests."""
        return self.ratio(["hits_total"], ["hits_total", *MISSES])

    def reads_for(self, counter):
        """Reads of the disk for each of what a counter counts; None when not known, or without any."""
        return self.ratio([("disk_requests_total", {"operation": "read"})], [counter])

    def remember(self, now):
        if self.used():
            self.history.append((now, self.figures()))


def percentile(buckets, share):
    """A time in seconds that so many of the requests did not pass; None without requests. Within a bucket, the times are
    taken for evenly spread; of the last one, which has no end, its beginning."""
    wanted, lower = share * sum(count for _, count in buckets), 0.0
    if not wanted:
        return None
    for bound, count in buckets:
        if count >= wanted:
            return lower if math.isinf(bound) else lower + (bound - lower) * wanted / count
        wanted, lower = wanted - count, bound
    return lower
