# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of clusterfs top as lines of text. A line is a list of (text, mark); the marks are "", "title", "head", "good",
"warn", "bad", "dim", "chosen", "bar" and "part0" to "part4". Nothing is cut within a word: what does not fit goes on in the next line."""

import math
import time

from . import figures as f
from .metrics import ANSWERS, PLACES

STATES = {"serving": "good", "recovering": "warn", "read-only": "warn"}
LABEL = 14  # columns of what stands in front of a line
LEAST = 70  # columns that lines are made for, at least
WIDE = 100  # columns from which on there is room to spare
OPERATIONS = ("read", "write", "flush")
#: column: (head, width, value of a cache_dir); the first ones come first where there is little room
COLUMNS = (
    ("hits/s", 7, lambda d: f.count(d.rate("hits_total"))),
    ("hit rate", 9, lambda d: f.share(d.hit_rate())),
    ("reads/s", 8, lambda d: f.count(d.rate("disk_requests_total", operation="read"))),
    ("p99", 8, lambda d: f.span(d.percentile("read", 0.99))),
    ("in use", 7, lambda d: f.part(d.of("clusters") - d.of("clusters_free"), d.of("clusters"))),
    ("misses/s", 9, lambda d: f.count(d.misses())),
    ("read", 11, lambda d: f.per_second(f.size(d.rate("disk_bytes_total", operation="read")))),
    ("written", 11, lambda d: f.per_second(f.size(d.rate("disk_bytes_total", operation="write")))),
    ("objects", 9, lambda d: f.count(d.of("objects"))),
    ("errors", 7, lambda d: f.count(sum(row[1] for row in d.errors()))),
)
STATE_WIDTH = 11


class Drawing:
    """What a terminal can show. blocks: whether it has Unicode's."""

    def __init__(self, blocks):
        self.blocks = blocks
        self.levels = " ▁▂▃▄▅▆▇█" if blocks else " .:-=+*#@"
        self.fills = "█▓▒░·" if blocks else "#+=:."
        self.rule = "─" if blocks else "-"
        self.more = "…" if blocks else "..."
        self.arrow = "▶" if blocks else ">"

    def plain(self, text):
        """Where the terminal has no Unicode, names may still have it."""
        return text if self.blocks else text.encode("ascii", "replace").decode("ascii")

    def bar(self, parts, width):
        """Of the numbers of a whole, each with a shade of its own, as pieces. Anything above 0 can be seen."""
        whole, pieces, left = sum(parts), [], width
        for n, number in enumerate(parts):
            wanted = max(1, round(width * number / whole)) if whole and number > 0 else 0
            wanted = min(wanted, left - sum(1 for later in parts[n + 1:] if later > 0))
            if n == max((i for i, p in enumerate(parts) if p > 0), default=-1):
                wanted = left
            pieces.append((self.fills[n] * wanted, f"part{n}"))
            left -= wanted
        return [piece for piece in pieces if piece[0]] + ([(" " * left, "")] if left else [])

    def key(self, parts, names):
        """Says what the shades of a bar are: atoms."""
        whole = sum(parts)
        return [[(self.fills[n], f"part{n}"), f" {name} {f.part(number, whole)}"] for n, (number, name) in enumerate(zip(parts, names))]

    def column(self, number, most):
        """Anything above 0 can be seen."""
        return self.levels[math.ceil(number / most * (len(self.levels) - 1)) if most else 0]

    def shorten(self, text, width):
        """A path, an address or a sentence: from a place between its words on, if there is one. Of a path and an address, the
        end is what tells them apart."""
        if len(text) <= width:
            return text
        room = width - len(self.more)
        if text.startswith("/"):
            at = text.find("/", len(text) - room)
            return self.more + (text[at:] if at >= 0 else text[len(text) - room:])
        host, colon, port = text.rpartition(":")
        if colon and port.isdigit() and "." in host and not host.replace(".", "").isdigit():
            kept = host.split(".")
            while len(kept) > 1 and len(".".join(kept)) + len(colon + port) > room:
                kept.pop()
            short = ".".join(kept) + self.more + colon + port
            return short if len(short) <= width else text[:room] + self.more
        at = text.rfind(" ", 0, room + 1)
        return text[:at if at > 0 else room].rstrip(" ,:") + self.more


def flow(label, atoms, width, mark="dim"):
    """Lines of a label and of atoms, which stay whole: each a text, (text, mark), or a list of these."""
    lines, column, gap = [[(f"{label:<{LABEL}}", mark)]], LABEL, 3 if width >= WIDE else 2
    for atom in atoms:
        pieces = [(p, "") if isinstance(p, str) else p for p in (atom if isinstance(atom, list) else [atom])]
        length = sum(len(text) for text, _ in pieces)
        if column > LABEL and column + gap + length > width:
            lines.append([(" " * LABEL, "")])
            column = LABEL
        if column > LABEL:
            pieces = [(" " * gap, "")] + pieces
            length += gap
        lines[-1] += pieces
        column += length
    return lines


def bar_width(width):
    """Of a bar in a line of that width: the key stands behind it."""
    return 8 if width < WIDE else 24


# the table


def rows(sources):
    """[(source, cache_dir or None)]"""
    return [(source, dir_) for source in sources for dir_ in source.dirs or [None]]


def table(listed, chosen, drawing, width):
    """A head, and a line for each row. chosen: the number of the one that is marked, or None."""
    columns = list(COLUMNS)
    while len(columns) > 1 and width < (36 if width < WIDE else 56) + STATE_WIDTH + sum(w for _, w, _ in columns):
        columns.pop()
    numbers = sum(w for _, w, _ in columns)
    names = [source.name for source, _ in listed]
    paths = [dir_.path if dir_ else "" for _, dir_ in listed]
    room = width - 2 - STATE_WIDTH - numbers - 2
    wide = [max(map(len, names + ["Squid"])), max(map(len, paths + ["cache_dir"]))]
    if sum(wide) > room:
        wide[0] = max(min(wide[0], room // 2), room - wide[1])
        wide[1] = room - wide[0]
    left = f"  {'Squid':<{wide[0]}} {'cache_dir':<{wide[1]}} {'state':<{STATE_WIDTH}}"
    lines = [[(left + "".join(f"{head:>{w}}" for head, w, _ in columns), "head")]]
    for n, (source, dir_) in enumerate(listed):
        mark = "chosen" if n == chosen else ""
        lead = f"{drawing.arrow if n == chosen else ' '} {drawing.shorten(source.name, wide[0]):<{wide[0]}} "
        if not dir_:
            lines.append([(lead, mark), (drawing.shorten(f"away: {source.error}" if source.away_since else source.error, width - len(lead)), "bad")])
            continue
        state = dir_.state()
        lead += f"{drawing.shorten(dir_.path, wide[1]):<{wide[1]}} "
        line = [(lead, mark), (f"{state:<{STATE_WIDTH}}", STATES.get(state, "bad"))]
        lines.append(line + ([("".join(f"{value(dir_):>{w}}" for _, w, value in columns), mark)] if dir_.used() else []))
    return lines


# what there is to say of one row


def details(source, dir_, drawing, width):
    """All lines of a row."""
    if not dir_:
        since = time.strftime(" (since %H:%M:%S)", time.localtime(source.away_since)) if source.away_since else ""
        words = [[(word, "bad")] for word in f"{source.error}{since}".split()]
        return [_rule(source.name, "", "away" if source.away_since else "", drawing, width), *_sentence("away", words, width)]
    lines = [_rule(source.name, dir_.path, dir_.state(), drawing, width)]
    if not dir_.used():
        return lines + _sentence("", [[(word, "bad")] for word in "the device is not in use: cache.log has the reason".split()], width)
    for part in (_device, _hits, _misses, _waits, _disk, _times, _locality, _space, _housekeeping, _memory, _errors):
        lines += part(dir_, drawing, width)
    return lines


def _rule(name, path, state, drawing, width):
    pieces = [(drawing.rule * 2 + " ", "dim"), (name, "title")]
    if path:
        pieces += [(" ", ""), (drawing.shorten(path, max(12, width - len(name) - 20)), "title")]
    if state:
        pieces += [("  ", ""), (state, STATES.get(state, "bad"))]
    pieces.append((" ", ""))
    return pieces + [(drawing.rule * (width - sum(len(text) for text, _ in pieces)), "dim")]


def _sentence(label, words, width):
    """flow() with single spaces."""
    lines = [[(f"{label:<{LABEL}}", "dim")]]
    for word in words:
        if sum(len(text) for text, _ in lines[-1]) + sum(len(text) for text, _ in word) > width and len(lines[-1]) > 1:
            lines.append([(" " * LABEL, "")])
        lines[-1] += [*word, (" ", "")]
    return lines


def _device(d, _, width):
    objects = d.of("objects")
    clusters = d.of("clusters")
    queued = d.of("disk_requests_queued")
    atoms = [f"{f.size(d.of('device_size_bytes'))}, {f.part(clusters - d.of('clusters_free'), clusters)} in use",
             f"{f.count(objects)} objects of {f.size(d.of('object_bytes') / objects) if objects else '-'}",
             f"{f.count(d.of('disk_requests_in_flight'))} in flight{f', {f.count(queued)} waiting' if queued else ''}"]
    if d.state() == "recovering":
        atoms.insert(0, (f"start {f.share(d.of('recovery_progress_ratio'))} done", "warn"))
    if d.info("asynchronous_io") == "no":
        atoms.append(("no asynchronous I/O", "bad"))
    return flow("device", atoms, width)


def _hits(d, drawing, width):
    numbers = [d.rate("hits_total", **{"from": place}) or 0 for place in PLACES]
    return flow("hits", [[f"{_rate(d, 'hits_total'):<8} ", *drawing.bar(numbers, bar_width(width))], *drawing.key(numbers, ("staging", "read cache", "disk"))], width)


def _misses(d, _, width):
    refused = d.rate("stores_refused_total")
    return flow("misses", [
        f"{f.per_second(f.count(d.misses())):<8} hit rate {f.share(d.hit_rate())}",
        f"stored {_rate(d, 'objects_stored_total')}, {_bytes(d, 'stored_bytes_total')}",
        (f"refused {f.per_second(f.count(refused))}", "bad" if refused else "")], width)


def _waits(d, _, width):
    if not d.has_waits():
        return []
    return flow("clients wait", [f"{answer}: p50 {f.span(d.percentile(answer, 0.5))}, p99 {f.span(d.percentile(answer, 0.99))}" for answer in ANSWERS], width)


def _disk(d, _, width):
    heads = ("requests", "bytes", "p50", "p90", "p99")
    lines = flow("disk", ["".join(f"{head:>11}" for head in heads)], width)
    for operation in OPERATIONS:
        if operation == "flush" and not d.of("disk_requests_total", operation="flush"):
            continue
        cells = [f.per_second(f.count(d.rate("disk_requests_total", operation=operation))),
                 f.per_second(f.size(d.rate("disk_bytes_total", operation=operation))) if operation != "flush" else "",
                 *(f.span(d.percentile(operation, share)) for share in (0.5, 0.9, 0.99))]
        lines += flow(f"  {operation}{'es' if operation == 'flush' else 's'}", ["".join(f"{cell:>11}" for cell in cells)], width)
    return lines + flow("", [
        f"{f.ratio(d.reads_for('pages_opened_total'))} reads a page, {f.ratio(d.reads_for('hits_total'))} a hit",
        f"{f.ratio(d.ratio([('disk_bytes_total', {'operation': 'write'})], ['stored_bytes_total']))} bytes written a stored byte"], width)


def _times(d, drawing, width):
    """The times of reads: a column a bucket, and below it the time where every third one ends."""
    buckets = [b for b in d.buckets("read") if not math.isinf(b[0])]
    each = 3 if LABEL + 3 * len(buckets) + 4 <= width else 1
    most = max((number for _, number in buckets), default=0)
    bars = "".join((drawing.column(number, most) * max(1, each - 1)).ljust(each) for _, number in buckets)
    ticks, step = "0", 3 if each == 3 else 9
    for n in range(1, len(buckets), step):
        ticks = f"{ticks:<{each * (n + 1)}}{f.bound(buckets[n][0])}"
    lines = [[(f"{'read times':<{LABEL}}", "dim"), (bars.rstrip(), "part0")], [(" " * LABEL + ticks, "dim")]]
    return lines if most else [[(f"{'read times':<{LABEL}}", "dim"), ("no reads of the disk in this time", "dim")]]


def _locality(d, _, width):
    used, vain = "read_along_and_used_total", "read_along_in_vain_total"
    fetched, unused = "prefetched_and_used_total", "prefetched_in_vain_total"
    return flow("locality", [
        f"{f.count(d.of('groups_known'))} groups of {f.count(d.of('members_known'))} objects in {f.size(d.of('learning_memory_bytes'))}",
        f"group reads {_rate(d, 'group_reads_total')}",
        f"read along {_rate(d, 'objects_read_along_total')}{_used(d, used, vain)}",
        f"prefetched {_rate(d, 'objects_prefetched_total')}{_used(d, fetched, unused)}"], width)


def _used(d, used, vain):
    known = d.ratio([used], [used, vain])
    return "" if known is None else f", {f.share(known)} used"


def _space(d, drawing, width):
    states = d.space()
    numbers = list(states.values())
    key = drawing.key(numbers, list(states))
    shown = [k for k, name in zip(key, states) if states[name] or name not in ("index log", "bad")]
    return flow("space", [drawing.bar(numbers, bar_width(width)), *shown], width)


def _housekeeping(d, _, width):
    seldom = (("expired", "objects_expired_total", _rate), ("merged", "merged_bytes_total", _bytes), ("regrouped", "regrouped_bytes_total", _bytes))
    age = d.of("evicted_age_seconds")
    return flow("housekeeping", [
        f"evicted {_rate(d, 'objects_evicted_total')}{f' after {f.age(age)}' if age else ''}",
        f"relocated {_rate(d, 'objects_relocated_total')}", f"deleted {_rate(d, 'objects_deleted_total')}",
        *(f"{what} {write(d, name)}" for what, name, write in seldom if d.grown(name)),
        f"checkpoint {f.age(d.of('checkpoint_age_seconds'))} ago" if d.has("checkpoint_age_seconds") else "no checkpoint yet"], width)


def _memory(d, _, width):
    return flow("memory", [
        f"staging {f.size(d.of('staging_used_bytes'))} of {f.size(d.of('staging_limit_bytes'))}",
        f"read cache {f.size(d.of('read_cache_used_bytes'))}",
        f"index {f.size(d.of('index_bytes'))}"], width)


def _errors(d, _, width):
    found = [(f"{f.count(total)} {name}{f', {f.count(grown)} of them now' if grown else ''}", "bad" if grown else "warn")
             for name, total, grown in d.errors()]
    return flow("errors", found or [("none since Squid's start", "good")], width)


def _rate(d, name):
    return f.per_second(f.count(d.rate(name)))


def _bytes(d, name):
    return f.per_second(f.size(d.rate(name)))


# curves over time

#: (title, how its numbers are written, [name in figures()])
CHARTS = (("hits a second", f.count, "hits"), ("misses a second", f.count, "misses"), ("disk reads a second", f.count, "reads"),
          ("read time, p99", f.span, "p99"), ("bytes read a second", f.size, "read"), ("bytes written a second", f.size, "written"))
AXIS = 10  # columns of the numbers in front of a curve
LEAST_ROWS = 4  # of a chart: two of the curve
MOST_ROWS = 9


def charts(d, drawing, width, height):
    """Lines of as many charts as there is room for."""
    across = 2 if width >= 120 else 1
    each = (width - 2 * (across - 1)) // across
    down = min(height // LEAST_ROWS, math.ceil(len(CHARTS) / across))
    if down < 1 or not d.used():
        return []
    tall = min(height // down, MOST_ROWS)
    lines = []
    for first in range(0, down * across, across):
        beside = [_chart(d, *chart, drawing, each, tall) for chart in CHARTS[first:first + across]]
        for parts in zip(*beside):
            line = []
            for n, part in enumerate(parts):
                length = sum(len(text) for text, _ in part)
                line += part + ([(" " * (each + 2 - length), "")] if n + 1 < len(parts) else [])
            lines.append(line)
    return lines


def _chart(d, title, write, name, drawing, width, height):
    """A title, a curve with the latest value at its right end, and an empty line."""
    columns, rows_ = width - AXIS - 1, height - 2
    shown = [(when, values[name]) for when, values in list(d.history)[-columns:]]
    known = [value for _, value in shown if value is not None]
    most = max(known, default=0)
    span = f", last {f.span(shown[-1][0] - shown[0][0])}" if len(shown) > 1 else ""
    lines = [[(f"{'':{AXIS + 1}}{title}", "head"), (f"{span}, now {write(shown[-1][1] if shown else None)}", "dim")]]
    eighths = [0 if not most or value is None else math.ceil(value / most * 8 * rows_) for _, value in shown]
    for row in range(rows_ - 1, -1, -1):
        label = write(most) if row == rows_ - 1 and most else "0" if row == 0 else ""
        cells = "".join(drawing.levels[max(0, min(8, high - 8 * row))] for high in eighths)
        lines.append([(f"{label:>{AXIS}} ", "dim"), (f"{cells:>{columns}}", "part0")])
    return lines + [[]]


# all of it


class View:
    """What is chosen of the screen, and the screen itself."""

    def __init__(self, drawing):
        self._drawing = drawing
        self._chosen, self._first = ("", ""), 0  # name and path of a row; the first line of the details that is shown

    def choose(self, sources, step):
        """Goes to another row."""
        listed = rows(sources)
        source, dir_ = listed[(self._row(listed) + step) % len(listed)]
        self._chosen, self._first = (source.name, dir_.path if dir_ else ""), 0

    def scroll(self, pages):
        self._first += 5 * pages

    def _row(self, listed):
        """The number of the chosen row, also when its Squid has come or gone."""
        keys = [(source.name, dir_.path if dir_ else "") for source, dir_ in listed]
        if self._chosen in keys:
            return keys.index(self._chosen)
        return next((n for n, key in enumerate(keys) if key[0] == self._chosen[0]), 0)

    def frame(self, sources, clock, state, width, height):
        """All lines of a terminal: a title, the table, what there is to say of the chosen row, and curves where room is left."""
        listed, width = rows(sources), max(width, LEAST)
        chosen = self._row(listed)
        source, dir_ = listed[chosen]
        head, *lines = table(listed, chosen, self._drawing, width)
        said = details(source, dir_, self._drawing, width)
        shown = max(1, min(len(lines), max(height - 2 - len(said), height // 3)))
        top = max(0, min(chosen - shown // 2, len(lines) - shown))
        above = [self._title(clock, state, len(lines) - shown, len(lines) > 1, width), head, *lines[top:top + shown]]
        room = max(0, height - len(above))
        if room > len(said):
            above.append([])
            room -= 1
        self._first = max(0, min(self._first, len(said) - room))
        below = said[self._first:self._first + room]
        left = len(said) - self._first - room
        if left > 0 and below:
            below[-1] = [(f"{self._drawing.more} PgDn: {left + 1} more lines", "dim")]
        if dir_ and room > len(said):
            below += [[], *charts(dir_, self._drawing, width, room - len(said) - 1)]
        return (above + below)[:height]

    @staticmethod
    def _title(clock, state, hidden, several, width):
        left = [" clusterfs top", clock, state] + ([f"{hidden} more rows"] if hidden > 0 else [])
        right = (["tab: next"] if several else []) + ["p: pause", "q: quit "]
        while len(left) + len(right) > 2 and len("   ".join(left + right)) > width:
            if len(right) > 1:
                right.pop(0)
            else:
                left.pop()
        text = "   ".join(left)
        return [(f"{text}{'   '.join(right):>{max(1, width - len(text))}}", "bar")]
