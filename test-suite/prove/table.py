# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of what was proved, and its place in a document."""

BEGIN = "<!-- ./prove writes from here -->"
END = "<!-- to here -->"


def duration(seconds):
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def lines(record, kinds, processors):
    """The table in Markdown, with the sentence before it and the failures behind it."""
    commits = record.commits[0] if len(record.commits) == 1 else f"{record.commits[0]} to {record.commits[-1]}"
    yield (f"Engine {record.engine} (commit {commits}), {processors} processors, {duration(record.seconds)} "
           f"in {record.runs} run{'s' if record.runs != 1 else ''} of `./prove`:")
    yield ""
    yield "| command | what it did | failed |"
    yield "|---|---|---|"
    for kind in kinds:
        part = record.parts[kind.name]
        if part.pieces:
            command, did = kind.described(part)
            yield f"| {command} | {did} | {len(part.failures)} |"
        elif part.skipped:
            yield f"| {kind.name} | not run: {part.skipped} | |"
    failures = [failure for part in record.parts.values() for failure in part.failures]
    if failures:
        yield ""
        yield "Failed:"
        yield ""
    for failure in failures:
        yield f"- `{failure['again']}` (commit {failure['commit']}): {failure['what']}"


def around(path):
    """What a document has before and behind the marks. Ends the program when they are not there."""
    page = path.read_text() if path.is_file() else ""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise SystemExit(f"{path}: needs the lines {BEGIN} and {END}, once each")
    before, rest = page.split(BEGIN)
    return before, rest.split(END)[1]


def put(path, text):
    """Replaces what is between the marks of a document."""
    before, behind = around(path)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{behind}")
