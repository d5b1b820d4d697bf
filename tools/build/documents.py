#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""documents.py [write]: checks that the documents say what the tables of the engine say, or writes it into them
and names those that it changed.

The rows are printed by clusterfs-tables, which make builds; those of measured figures come from the page that ./bench
report made. In a document they stand between two marks; the patches for squid.conf's own documentation are made as a
whole, of squid-patches/cache_dir.txt and the rows of the options."""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CLUSTERFS_BUILD") or TOP / "build")
#: what a document has before and behind the part of that name
MARKS = {".md": ("<!-- make docs writes {} from here -->", "<!-- to here -->"),
         ".3": ('.\\" make docs writes {} from here', '.\\" to here'),
         ".8": ('.\\" make docs writes {} from here', '.\\" to here')}

GROUPS = ("format", "memory", "policy", "persistence", "device")
LIVE = {"format": "no, format", "start": "no, start", "live": "yes"}
IN_SQUID_CONF = {"format": "Options that take effect when the space is formatted:",
                 "start": "Options that take effect when Squid starts:",
                 "live": "Options that a reconfiguration changes, too:"}


def markdown(heads, rows):
    """The lines of a table."""
    lines = [f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|" for cells in (heads, *rows)]
    return [lines[0], "|" + "---|" * len(heads), *lines[1:]]


# options


def by_group(options):
    return sorted(options, key=lambda option: GROUPS.index(option["group"]))


def bounds(option):
    return f"{option['least']} to {option['most']}" if option["unit"] else ""


def sentences(option):
    """What there is to say of an option, as sentences."""
    brief = option["brief"]
    return f"{brief[0].upper()}{brief[1:]}. {option['more']}".rstrip()


def option_table(tables):
    rows, group = [], None
    for option in by_group(tables["options"]):
        values = option["unit"] or ", ".join(option["choices"])
        meaning = f"{option['brief']}. {option['more']}".rstrip(". ")
        rows.append((option["group"] if option["group"] != group else "", f"{option['name']}={values}",
                     option["defaultFrom"] or option["default"], bounds(option), LIVE[option["effect"]], meaning))
        group = option["group"]
    return markdown(("", "option", "default", "bounds", "live", "meaning"), rows)


def option_paragraphs(tables):
    """Of the options that the tool has, too, for its manual page."""
    for option in tables["options"]:
        if option["effect"] == "format":
            source = f", as Squid's {option['defaultFrom']}" if option["defaultFrom"] else ""
            name = option["name"].replace("-", "\\-")
            yield from (".TP", f".BI \\-\\-{name}= {option['unit']}", *sentences(option).replace(". ", ".\n").split("\n"),
                        f"From {bounds(option)}, by default {option['default']}{source}.")


def squid_conf(tables):
    """What squid.conf says of this cache_dir, in its own documentation."""
    yield from (TOP / "squid-patches" / "cache_dir.txt").read_text(encoding="utf-8").splitlines()[1:]
    for effect, heading in IN_SQUID_CONF.items():
        yield from ("", heading)
        for option in by_group(tables["options"]):
            if option["effect"] == effect:
                values = option["unit"] or "|".join(option["choices"])
                limits = f" From {bounds(option)}." if option["unit"] else ""
                text = f"{option['name']}={values}: {sentences(option)}{limits} Default: {option['defaultFrom'] or option['default']}."
                yield from ("", *textwrap.wrap(text, 64, break_on_hyphens=False, break_long_words=False))
    yield from ("", "")


def patched(text, tables):
    """A patch of squid.conf's documentation, with what we add to it as it is now."""
    head, place, hunk = re.match(r"(.*^@@ -(\d+),\d+ )\+.*?$\n(.*)", text, re.M | re.S).groups()
    context = re.sub(r"^\+.*\n", "", hunk, flags=re.M).splitlines()
    added = ["+\t" + line if line else "+" for line in squid_conf(tables)]
    section = re.search(r"@@ ([A-Z_]+)$", text, re.M)[1]
    middle = len(context) // 2
    lines = context[:middle] + added + context[middle:]
    return f"{head}+{place},{len(lines)} @@ {section}\n" + "\n".join(lines) + "\n"


# subcommands of the tool, from their own manual pages


def manual_section(page, heading):
    """The lines of a section of a manual page."""
    return re.search(rf"^\.SH {heading}\n(.*?)(?=^\.SH |\Z)", page, re.M | re.S)[1].splitlines()


def manual_pages():
    """{name: text} of the subcommands' pages, sorted."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((TOP / "docs" / "man").glob("clusterfs-*.8"))}


def synopses(_):
    for page in manual_pages().values():
        yield from (*manual_section(page, "SYNOPSIS"), ".PP")


def purposes(_):
    for name, page in manual_pages().items():
        brief = manual_section(page, "NAME")[0].partition(" \\- ")[2]
        yield from (".TP", f".BR {name} (8)".replace("-", "\\-"), f"{brief[0].upper()}{brief[1:]}.")


def page_names(_):
    for name in manual_pages():
        yield f".BR {name} (8),".replace("-", "\\-")


# the library, from its header


def header(name):
    return (TOP / "include" / "clusterfs" / name).read_text(encoding="utf-8")


def library_calls(name):
    """The declarations of all calls of a header, with a gap between its sections."""
    def lines(_):
        for section in re.split(r"^/\* ---- .* ---- \*/$", header(name), flags=re.M)[1:]:
            calls = re.findall(r"^\w[^\n(;]*\bclusterfs_\w+\([^;]*\);", re.sub(r"/\*.*?\*/", "", section, flags=re.S), re.M)
            if calls:
                yield ".sp"
            for call in calls:
                whole = re.sub(r"(?<!,) ", "\0", " ".join(call.split()))  # a parameter stays in its line
                for line in textwrap.wrap(whole, 72, subsequent_indent="    ", break_long_words=False):
                    yield '.B "{}"'.format(line.replace("\0", " "))
    return lines


def library_errors(_):
    for name, meaning in re.findall(r"^    (CLUSTERFS_\w+) = \d+,?\s*/\*\*< (.*) \*/$", header("clusterfs.h"), re.M):
        yield from (".TP", f".B {name}", f"{meaning[0].upper()}{meaning[1:]}.".replace("-", "\\-"))


# statistics


def statistic_tables(tables):
    """Of all statistics, a table for each section of the page."""
    for section, rows in itertools.groupby(tables["statistics"], lambda row: row["section"]):
        if section:
            yield from ("", f"## {section}", "")
        yield from markdown(("name", "type", "unit", "meaning", "in Prometheus"), [
            (row["name"], row["kind"], row["unit"], row["meaning"], f"`{row['metric']}`" if row["metric"] else "") for row in rows])


def watch_table(tables):
    """Of those that somebody should watch."""
    return markdown(("line", "meaning", "watch it"),
                    [(row["name"], row["meaning"], row["watch"]) for row in tables["statistics"] if row["watch"]])


# messages


def message_table(tables):
    """All lines that the module writes to cache.log, and the reasons in them, with ... in the places of values."""
    return markdown(("level", "line", "what it means, what to do"),
                    [(row["level"], row["text"].replace("%", "..."), row["meaning"]) for row in tables["messages"]])


# fields on the disk

STRUCTURES = ("superblock", "cluster header", "directory entry", "part reference", "extent header", "index block", "section",
              "object in a section", "use", "groups chunk", "group record", "member", "journal block")
RECORDS = ("index removal", "journal record")


def field_table(name):
    def lines(tables):
        fields = next(table["fields"] for table in tables["layout"] if table["name"] == name)
        return markdown(("at", "size", "field"), [(str(f["at"]), str(f["bytes"]), f["meaning"]) for f in fields])
    return lines


def record_table(name):
    """Of records, a row for each kind: the first field is the kind itself."""
    def lines(tables):
        rows = []
        for table in tables["layout"]:
            if table["name"] == name:
                fields = table["fields"]
                rows.append((str(table["kind"]), str(sum(f["bytes"] for f in fields)),
                             ", ".join(f"{f['meaning']} ({f['bytes']})" for f in fields[1:]), table["means"]))
        return markdown(("kind", "bytes", "fields behind the kind", "means"), rows)
    return lines



def history_table(tables):
    """Of the versions, a row for each."""
    return markdown(("version", "since", "change"), [(str(n), row["since"], row["what"]) for n, row in enumerate(tables["history"], 1)])


# figures


def measured(title, folder="full"):
    """The table of that title in the page of a whole set."""
    def lines(_):
        page = (TOP / "docs" / "results" / folder / "report.md").read_text(encoding="utf-8")
        found = re.search(rf"^\*\*{re.escape(title)}\*\*\n\n((?:\|.*\n)+)", page, re.M)
        if not found:
            sys.exit(f"docs/results/{folder}/report.md: has no table {title}")
        return found[1].splitlines()
    return lines


#: tables of the pages of ./bench, by their names between the marks
LOADS = {
    "rates": "Visits/s, closed loop",
    "reads": "Disk reads a visit, or a request, closed loop",
    "times": "Hits at the same load of all stores, ms: mean; p99; p99.9",
    "hits": "Hits, closed loop, % of requests; % of bytes",
}
PARTS = (
    ("README.md", "the rates", measured(LOADS["rates"])),
    ("README.md", "the figures in brief", measured("In brief")),
    *(("docs/benchmarks.md", f"the {name}", measured(title)) for name, title in LOADS.items()),
    ("docs/benchmarks.md", "the goals", measured("Goals")),
    *(("docs/benchmarks.md", f"the {name} of other sizes", measured(title, "more")) for name, title in LOADS.items()),
    ("docs/operations.md", "the options", option_table),
    ("docs/operations.md", "the statistics to watch", watch_table),
    ("docs/operations.md", "the messages", message_table),
    ("docs/metrics.md", "the statistics", statistic_tables),
    ("docs/man/clusterfs-format.8", "the options", option_paragraphs),
    ("docs/man/clusterfs-setup.8", "the options", option_paragraphs),
    ("docs/man/clusterfs.8", "the synopses", synopses),
    ("docs/man/clusterfs.8", "the subcommands", purposes),
    ("docs/man/clusterfs.8", "the pages", page_names),
    ("docs/man/clusterfs.3", "the calls", library_calls("clusterfs.h")),
    ("docs/man/clusterfs-accelerator.3", "the calls", library_calls("accelerator.h")),
    ("docs/man/clusterfs-cfs.3", "the calls", library_calls("cfs.h")),
    ("docs/man/clusterfs-hummingbird.3", "the calls", library_calls("hummingbird.h")),
    ("docs/man/clusterfs.3", "the errors", library_errors),
    *(("docs/format.md", f"the {name}", field_table(name)) for name in STRUCTURES),
    *(("docs/format.md", f"the {name}", record_table(name)) for name in RECORDS),
    ("docs/format.md", "the history", history_table),
)
MANUAL = sorted(TOP.glob("docs/man/*.[38]"))
PATCHES = sorted(TOP.glob("squid-patches/*/0003-*.patch"))


def between_marks(path, text, name, lines):
    """The text with other lines between the marks of that name."""
    begin, end = (mark.format(name) for mark in MARKS[path.suffix])
    before, found, rest = text.partition(f"{begin}\n")
    _, ended, behind = rest.partition(f"{end}\n")
    if not found or not ended:
        sys.exit(f"{path.relative_to(TOP)}: needs the lines {begin} and {end}")
    return f"{before}{begin}\n{''.join(line + chr(10) for line in lines)}{end}\n{behind}"


def wanted(tables):
    """{path: text} of all documents that have something of the tables."""
    texts = {}
    for name, part, lines in PARTS:
        path = TOP / name
        texts[path] = between_marks(path, texts.get(path) or path.read_text(encoding="utf-8"), part, lines(tables))
    path = TOP / "docs" / "format.md"
    texts[path] = re.sub(r"^(# On-disk format, version )\d+", rf"\g<1>{len(tables['history'])}", texts[path], flags=re.M)
    for path in MANUAL:
        text = texts.get(path) or path.read_text(encoding="utf-8")
        texts[path] = re.sub(r'^(\.TH \S+ [38] "" "clusterfs)[^"]*"', rf'\g<1> {tables["version"]}"', text, flags=re.M)
    for path in PATCHES:
        texts[path] = patched(path.read_text(encoding="utf-8"), tables)
    return texts


def difference(path, now, text):
    """The first line that is another, as a message."""
    old, new = now.splitlines(), text.splitlines()
    number = next((n for n, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    says, should = (lines[number] if number < len(lines) else "(the end)" for lines in (old, new))
    return f"{path.relative_to(TOP)}:{number + 1}: is not what the tables say: run make docs\n  it is    {says}\n  make it  {should}"


def main():
    if sys.argv[1:] not in ([], ["write"]):
        sys.exit(__doc__)
    program = BUILD / "clusterfs-tables"
    if not os.access(program, os.X_OK):
        sys.exit(f"{program} is not a program: run make clusterfs-tables")
    tables = json.loads(subprocess.run([program], capture_output=True, check=True).stdout)
    differences = 0
    for path, text in wanted(tables).items():
        now = path.read_text(encoding="utf-8")
        if now != text and sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(TOP)}: written")
        elif now != text:
            print(difference(path, now, text))
            differences += 1
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
