#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the sources as text and says where they break a rule of the house: FILE:LINE: reason.

The rules: a folder of src/fs/cluster includes only what docs/design.md has below it, and Squid's headers only in
squid/; the module includes nothing of tools and tests, and tools nothing of tests; the library includes the engine and its own
headers, and its public headers nothing of either; lines are short; private
data ends with an underscore; each file names its licence; no former name of docs/glossary.md
is used; what the module writes to cache.log has its text from base/Messages.h."""

import argparse
import pathlib
import re
import subprocess
import sys

MODULE = "src/fs/cluster/"
LIBRARY = "src/lib/"
PUBLIC = "include/clusterfs/"
GLUE = "squid"
LINE_LENGTH = 180
CODE = (".cc", ".h", ".hpp", ".c", ".py", ".sh")
#: files that cannot say under which licence they are: data, and the licence itself
UNLICENSED = re.compile(r"^(COPYING|examples/store-id\.rules|docs/(results|prove)/.*|test-suite/fuzz/corpus/.*|test-suite/coverage/least|test-suite/skips"
                        r"|packaging/debian/(changelog|source/format|.*\.alternatives))$")


class Sources:
    """The files of a tree that its version control knows, or would take, as text."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        listed = subprocess.run(["git", "-C", str(top), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                                capture_output=True, check=True, text=True).stdout
        self.names = sorted(name for name in listed.split("\0") if name and (self.top / name).is_file())
        self._texts = {}

    def text(self, name):
        if name not in self._texts:
            self._texts[name] = (self.top / name).read_bytes().decode("utf-8", "replace")
        return self._texts[name]

    def lines(self, name):
        """(number, line) of a file."""
        return enumerate(self.text(name).splitlines(), 1)

    def some(self, *endings, below=""):
        return [name for name in self.names if name.endswith(endings) and name.startswith(below)]


def table(sources, name, heading):
    """The rows, each a list of cells, of the first table below a heading of a document."""
    text = sources.text(name)
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    rows = re.findall(r"^\|(.*)\|$", found[1], re.M) if found else []
    if len(rows) < 3:
        raise SystemExit(f"{name} has no table below '{heading}'")
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def floors(sources):
    """{folder: floor}; what is on the same floor does not see each other."""
    floor_of = {}
    for floor, folders, _ in table(sources, "docs/design.md", "Floors"):
        for folder in re.findall(r"\w+", folders):
            floor_of[folder] = int(floor)
    return floor_of


def upward_includes(sources):
    floor_of = floors(sources)
    for name in sources.some(".cc", ".h", below=MODULE):
        folder = name[len(MODULE):].split("/")[0]
        if folder not in floor_of:
            yield name, 1, f"{folder}/ is not in the table of floors (docs/design.md)"
            continue
        for number, line in sources.lines(name):
            include = re.match(r'#include "(.*)"', line)
            if not include:
                continue
            within = re.match(r"fs/cluster/(\w+)/", include[1])
            if not within:
                if folder != GLUE:
                    yield name, number, f"only {GLUE}/ includes what is not of the module: {include[1]}"
            elif within[1] != folder and floor_of.get(within[1], 99) >= floor_of[folder]:
                yield name, number, f"{folder}/ does not stand above {within[1]}/ (docs/design.md, Floors)"


def includes_of_tests(sources):
    for name in sources.some(".cc", ".h", below="tools/"):
        for number, line in sources.lines(name):
            if re.match(r'#include "test-suite/', line):
                yield name, number, "tools do not include tests"


def includes_of_the_library(sources):
    for name in sources.some(".cc", ".h", below=LIBRARY):
        for number, line in sources.lines(name):
            include = re.match(r'#include "(.*)"', line)
            if include and (not include[1].startswith(("fs/cluster/", "lib/", "clusterfs/")) or include[1].startswith(f"fs/cluster/{GLUE}/")):
                yield name, number, f"the library includes the engine, and its own headers: not {include[1]}"
    for name in sources.some(".h", ".hpp", below=PUBLIC):
        for number, line in sources.lines(name):
            include = re.match(r'#include "(.*)"', line)
            if include and "/" in include[1]:
                yield name, number, f"a public header includes public headers only: not {include[1]}"


def long_lines(sources):
    for name in sources.some(*CODE):
        for number, line in sources.lines(name):
            if len(line) > LINE_LENGTH:
                yield name, number, f"the line has {len(line)} characters, more than {LINE_LENGTH}"


#: a member of a class at the first level, in the way that all of them are written
MEMBER = re.compile(r"^    (?:mutable |const )*[A-Za-z_][\w:]*(?:<.*>)?[ *&]+(?:const )?[*&]?(\w+)(?:\[\w*\])?(?: = [^()]*|\{.*\})?;")


def data_members(sources):
    """The name of private data says that it is."""
    for name in sources.some(".h", below=MODULE):
        inside = access = None
        for number, line in sources.lines(name):
            if re.match(r"class \w+[^;]*$", line):
                inside, access = True, "private"
            elif line.startswith("}"):
                inside = False
            elif inside and re.match(r"(public|protected|private):", line):
                access = line.split(":")[0]
            elif inside and "static constexpr" not in line and not re.match(r"    (using|friend|enum|struct|class|typedef|static) ", line):
                member = MEMBER.match(line)
                if member and access != "public" and not member[1].endswith("_"):
                    yield name, number, f"{member[1]} is private data, and its name does not end with _"


def licences(sources):
    for name in sources.names:
        if not UNLICENSED.match(name) and "SPDX-License-Identifier: GPL-2.0-or-later" not in sources.text(name)[:600]:
            yield name, 1, "no line with SPDX-License-Identifier: GPL-2.0-or-later at the beginning"


def former_names(sources):
    """What the glossary has given another name, in code and documents, also as part of an identifier."""
    former = {old.strip("*"): new.strip("*") for old, new, _ in table(sources, "docs/glossary.md", "Former names")}
    for name in sources.names:
        if not name.endswith(CODE + (".md", ".dot")) or name in ("docs/glossary.md", "CHANGELOG.md") or name.startswith("docs/results/"):
            continue
        for number, line in sources.lines(name):
            for word in set(re.findall(r"[A-Z]?[a-z]+", line)):
                if word.lower() in former:
                    yield name, number, f"'{word}' is called '{former[word.lower()]}' (docs/glossary.md, Former names)"


#: a call that may write to cache.log: of the engine's log, of the glue's, of Squid's, of what ends Squid
LOGGING = re.compile(r"\b(log_?(?:\(\))?|toCacheLog|debugs|fatalf?|reject)\(")
#: a piece of C++ in which brackets count, a string, or a bracket or comma
PIECE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[][(){},]')


def arguments(text, begin):
    """Of a call, whose first argument begins there: the arguments as text."""
    found, depth, start = [], 0, begin
    for piece in PIECE.finditer(text, begin):
        depth += (piece[0] in "[({") - (piece[0] in "])}")
        if depth < 0 or (depth == 0 and piece[0] == ","):
            found.append(text[start:piece.start()])
            start = piece.end()
        if depth < 0:
            break
    return found


def texts_of_messages(sources):
    """A text in such a call stands in no row of base/Messages.h; debugs() of higher levels are for developers."""
    for name in sources.some(".cc", ".h", below=MODULE):
        text = sources.text(name)
        for call in LOGGING.finditer(text):
            given = arguments(text, call.end())
            if call[1] == "debugs" and not (given[1:] and re.search(r"DBG_(CRITICAL|IMPORTANT)|^\s*[01]\s*$", given[1])):
                continue
            words = ",".join(given)
            if '"' in words or "LogLevel::" in words:
                yield name, text.count("\n", 0, call.start()) + 1, f"{call[1]}() takes its text and its level from a row of base/Messages.h"


RULES = (upward_includes, includes_of_tests, includes_of_the_library, long_lines, data_members, licences, former_names, texts_of_messages)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", default=pathlib.Path(__file__).resolve().parents[1], help="with a version control")
    sources = Sources(parser.parse_args().tree)
    broken = [found for rule in RULES for found in rule(sources)]
    for name, number, reason in broken:
        print(f"{name}:{number}: {reason}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
