#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""screens.py [write]: checks that the pictures in docs/pictures of what tools/view shows are those of the program as it
is now, or draws them anew. The figures are those of the tests: two pages of a real Squid, and the survey of its device."""

import html
import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools"))
from view import charts, metrics, report, screen  # noqa: E402

COLUMNS, ROWS = 104, 22
WIDTH, HEIGHT, SIZE = 8, 17, 13  # of a letter, in pixels
BACK, FRONT = "#15191e", "#d6d9dc"
#: {mark: (colour, bold)}, of a terminal with a dark background
COLOURS = {"": (FRONT, False), "dim": ("#9aa1a9", False), "head": (FRONT, True), "chosen": ("#ffffff", True), "title": ("#4fc3d9", True),
           "good": ("#62c462", True), "warn": ("#e5c24a", True), "bad": ("#ff7b72", True),
           "part0": ("#4fc3d9", False), "part1": ("#6f9bff", False), "part2": ("#e5c24a", False), "part3": (FRONT, False), "part4": (FRONT, False)}


def data(name):
    return (TOP / "test-suite" / "tools" / name).read_text(encoding="utf-8")


def sources():
    """One Squid with real figures, ten seconds apart, and one that is away."""
    one = metrics.Source(metrics.Address("http://cache1.example.org"))
    for n, name in enumerate(("before", "after")):
        one.take(metrics.parse(data(f"metrics-{name}.txt")), "", 10.0 * n)
    two = metrics.Source(metrics.Address("http://cache2.example.org"))
    two.take({}, "connection refused", 10.0)
    return [one, two]


def top():
    """The screen of clusterfs top as SVG: each piece of a line is a text as wide as its letters are to be."""
    lines = screen.View(screen.Drawing(True)).frame(sources(), "12:00:00", "every 10 s", COLUMNS, ROWS)
    width, height = COLUMNS * WIDTH + 16, len(lines) * HEIGHT + 14
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}">',
             "<!-- SPDX-License-Identifier: GPL-2.0-or-later; drawn by tools/build/screens.py write -->",
             f'<rect width="{width}" height="{height}" rx="6" fill="{BACK}"/>']
    for row, line in enumerate(lines):
        x, y = 8, 8 + row * HEIGHT
        for text, mark in line:
            colour, bold = (BACK, False) if mark == "bar" else COLOURS[mark]
            if mark == "bar":
                parts.append(f'<rect x="{x}" y="{y}" width="{len(text) * WIDTH}" height="{HEIGHT}" fill="{FRONT}"/>')
            lead = len(text) - len(text.lstrip(" "))
            shown = text.strip(" ")
            if shown:
                weight = "bold" if bold else "normal"
                parts.append(f'<text x="{x + lead * WIDTH}" y="{y + 13}" fill="{colour}" font-weight="{weight}" textLength="{len(shown) * WIDTH}" '
                             f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{html.escape(shown)}</text>')
            x += len(text) * WIDTH
    return "\n".join((*parts, "</svg>", ""))


#: sections of the pages, in rows
SHOWN = (("Hits by source, all of the time", "How long requests took", "Sizes of objects"), ("Contents", "Heat: when it was used", "How much of it is still needed"))
PANEL, HEAD, GAP = 300, 30, 16


def report_charts():
    """Some charts of both pages of clusterfs report as one SVG: those of a page are SVGs themselves."""
    looks = [(10.0 * n, metrics.parse(data(f"metrics-{name}.txt"))) for n, name in enumerate(("before", "after"))]
    pages = report.running(looks, "cache1.example.org:3128", 0, {}) + report.device(json.loads(data("survey.json")), 0)
    found = dict(re.findall(r"<section><h3>([^<]*)</h3>(<svg .*?</svg>)", pages, re.S))
    parts, y = [], GAP
    for row in SHOWN:
        tallest = 0
        for n, title in enumerate(row):
            x = GAP + n * (PANEL + GAP)
            tall = float(re.search(r'viewBox="0 0 \d+ (\d+)"', found[title])[1]) * PANEL / charts.WIDTH
            drawing = found[title].replace("<svg ", f'<svg x="{x}" y="{y + HEAD}" width="{PANEL}" height="{tall:.0f}" ', 1)
            parts += [charts.text(x, y + 14, title, colour=charts.INK, size=14), drawing]
            tallest = max(tallest, tall)
        y += HEAD + round(tallest) + GAP
    width = GAP + len(SHOWN[0]) * (PANEL + GAP)
    return "\n".join((f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" font-family="DejaVu Sans, Arial, sans-serif">',
                      "<!-- SPDX-License-Identifier: GPL-2.0-or-later; drawn by tools/build/screens.py write -->",
                      f'<rect width="{width}" height="{y}" fill="#fff"/>', *parts, "</svg>", ""))


PICTURES = {"docs/pictures/top.svg": top, "docs/pictures/report.svg": report_charts}


def main():
    if sys.argv[1:] not in ([], ["write"]):
        sys.exit(__doc__)
    differences = 0
    for name, draw in PICTURES.items():
        path, text = TOP / name, draw()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
            print(f"{name}: written")
        else:
            print(f"{name} is not what the program shows: run make docs", file=sys.stderr)
            differences += 1
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
