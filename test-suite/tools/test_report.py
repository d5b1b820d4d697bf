# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs report: what the tool finds on a device, and the pages that are made of that and of a running Squid's metrics.
test-suite/squid/test_view.py asks a real Squid."""

import copy
import html.parser
import json
import os
import re
import stat
import subprocess
import xml.dom.minidom

import pytest

import pages
from common import BUILD
from toolkit import url
from view import charts, metrics, report

SURVEY = json.loads((pages.HERE / "survey.json").read_text(encoding="utf-8"))


#: a page clusterfs_map, as MapText writes it: of a free cluster, ten that share a square, one of a large object, a bad one
COLUMNS = "columns: first last small large bad log objects grouped groups live_bytes written used latest\n"
MAP = ("cache_dir: /dev/z\nobjects: 41\nclusters: 13\ncluster bytes: 65536\n" + COLUMNS + "cell: 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
       "cell: 1 10 8 0 0 1 40 30 6 262144 6 2e-05 1700000000\ncell: 11 11 0 1 0 0 0 0 0 65536 1 1 1699990000\ncell: 12 12 0 0 1 0 0 0 0 0 0 0 0\n"
       "age: 60 8 262144\nage: 600 0 0\nage: 86400 1 65536\nage: - 0 0\nlongest turn: 70\nend: yes\n")


def running(path=pages.PATH, found=None):
    """The page of a Squid that has given the two pages of metrics, and of its cache_dir the map."""
    looks = [(n * pages.SECONDS, metrics.parse(text.replace(pages.PATH, path))) for n, text in enumerate((pages.BEFORE, pages.AFTER))]
    return report.running(looks, "cache1.example.org:3128", 0, {path: found or metrics.parse_map(MAP)})


class Structure(html.parser.HTMLParser):
    """Tags must be closed in order."""
    VOID = ("meta", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())


def sound(text):
    """A whole page: each tag is closed, each picture is XML, and nothing comes from elsewhere or is run."""
    seen = Structure(text).seen
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(tag for tag, _ in seen)
    assert not any(name.startswith("on") or name in ("src", "href") for _, attributes in seen for name in attributes)
    drawings = re.findall(r"<svg .*?</svg>", text, re.S)
    for drawing in drawings:
        xml.dom.minidom.parseString(drawing)
    assert "nan" not in text.lower().split() and "NaN" not in text and "None" not in text, text
    return drawings


def shown(text):
    """{name: value} of the tiles and tables of a page."""
    found = {name: value for value, name in re.findall(r"<b>([^<]*)</b><small>([^<]*)</small>", text)}
    found.update(re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", text))
    return found


# a running Squid


def test_running():
    """The figures are the differences of the pages."""
    text = running()
    assert len(sound(text)) == 19  # three of them in keys
    found = shown(text)
    hits = sum(pages.grown("hits_total", f',from="{place}"') for place in metrics.PLACES)
    misses = sum(pages.grown(name) for name in metrics.MISSES)
    assert found["hit rate"] == f"{100 * hits / (hits + misses):.0f} %" and found["hits"].startswith(f"{hits / pages.SECONDS:.0f}"), found
    assert found["errors since Squid&#x27;s start"] == "none" and found["group reads"].endswith("/s") and found["last stop"] in ("clean", "crash")
    reads = int(pages.grown("disk_requests_total", ',operation="read"'))
    assert found["reads of the disk a page"] == f"{reads / pages.grown('pages_opened_total'):.2f}"
    assert found["reads of the disk a hit"] == f"{reads / hits:.2f}"
    assert f"reads: {reads}, p50 " in text and pages.PATH in text


def test_waits_of_clients():
    """A picture with the curves of both; none of an older clusterfs."""
    text = running()
    assert "<h3>How long clients wait</h3>" in text and all(name in text for name in ("hit, p50", "hit, p99", "miss, p50", "miss, p99"))
    older = [(when, {path: {key: value for key, value in samples.items() if not key[0].startswith(metrics.WAITS)} for path, samples in dirs.items()})
             for when, dirs in ((0, metrics.parse(pages.BEFORE)), (10, metrics.parse(pages.AFTER)))]
    text = report.running(older, "x", 0, {})
    sound(text)
    assert "How long clients wait" not in text


def test_names_are_not_html():
    text = running("/dev/<script>alert(1)</script>&")
    sound(text)
    assert "<script" not in text and "/dev/&lt;script&gt;" in text
    other = copy.deepcopy(SURVEY)
    other["path"] = "<script>\033[2J"
    text = report.device(other, 0)
    sound(text)
    assert "&lt;script&gt;?[2J" in text


def test_odd_metrics():
    """A Squid that was started anew, one without requests, a device that is not in use, errors."""
    first, second = (metrics.parse(text) for text in (pages.BEFORE, pages.AFTER))
    again = report.running([(0, second), (10, first)], "x", 0, {})
    assert "started anew meanwhile" in again and shown(again)["hit rate"] == "-"
    idle = report.running([(0, second), (10, second)], "x", 0, {})
    assert shown(idle)["hits"] == "0/s" and "No requests in this time." in idle
    unused = report.running([(0, {"/dev/z": {("state", (("state", "unused"),)): 1}})] * 2, "x", 0, {})
    assert "cache.log has the reason" in unused
    worse = metrics.parse(pages.AFTER.replace('read_errors_total{path="' + pages.PATH + '"} 0', 'read_errors_total{path="' + pages.PATH + '"} 7'))
    errors = report.running([(0, first), (10, worse)], "x", 0, {})
    assert '<div class=bad><b>7</b><small>errors' in errors and shown(errors)["read errors"] == "7"
    for text in (again, idle, unused, errors):
        sound(text)


def test_map_of_a_running_squid():
    """The squares are those of the page clusterfs_map, drawn like those of a device, and the ages with them."""
    found = metrics.parse_map(MAP)
    assert [cell["written"] for cell in found["cells"]] == [0, 0.75, 1, 0] and found["cells"][1]["used"] == 2.5e-06
    assert found["ages"][2] == {"up_to": 86400, "clusters": 1, "bytes": 65536} and found["ages"][3]["up_to"] is None
    text = running("/dev/<z>")
    assert "<h2>Map of /dev/&lt;z&gt;</h2>" in text and "Heat: when it was used" in text and "a square is 10 of 64.0 KB" in text
    assert re.findall(r"<title>(clusters? [^<]*)</title>", text) == [
        "cluster 0", "clusters 1 to 10, 40 objects, 30 of them in groups, 1 of the index log, written 2023-11-14 22:13 UTC",
        "cluster 11, 1 of large objects, written 2023-11-14 19:26 UTC", "cluster 12, 1 bad"]
    assert re.findall(r"<title>([^<]*: [^<]* KB)</title>", text)[-2:] == ["1 min: 256 KB", "1 d: 64.0 KB"]
    parts = re.search("(<h2>Map of .*)</main>", text, re.S)[1].replace("Map of /dev/&lt;z&gt;", "Map of the device")
    drawn = report.device({**SURVEY, **found}, 0)
    assert parts.strip() in drawn, "as of a device"
    assert report._age_section(found) in text and report._age_section(found) in drawn


def test_no_map_of_a_running_squid():
    """Where the page is not there, not allowed, or something else, its place says so."""
    for text, says in (
            ("error: there is no cache_dir clusterfs /dev/z\n", "there is no cache_dir clusterfs /dev/z"), ("", "breaks off"), (MAP[:-9], "breaks off"),
            (MAP.replace(COLUMNS, ""), "older than this command"), (MAP.replace("40 30", "x 30"), "no map"), (MAP.replace("40 30", "-4 30"), "no map"),
            (MAP.replace(" 1700000000", ""), "no map"), (MAP.replace("0 10 8", "9 10 8").replace("cell: 1 10", "cell: 9 10"), "no map"),
            (MAP.replace("65536\ncol", "0\ncol"), "no map"), (MAP.replace("age: 60 8", "age: 60"), "no map"), (re.sub("cell: .*\n", "", MAP), "no map"),
            (MAP.replace("cell: 0 0 ", "cell: 0 0 " + "9" * 5000), "no map"), (MAP.replace("cell: 11", "cell: 1 1 0 0 0 0 0 0 0 0 0 0 0\n" * 2500 + "cell: 11"), "no map")):
        with pytest.raises(metrics.Away, match=says):
            metrics.parse_map(text)
    text = running(found="<the password> is wrong")
    sound(text)
    assert "There is no map, and no age of what is stored: &lt;the password&gt; is wrong." in text and "Heat" not in text and "Age of what" not in text


def test_maps_take_a_bounded_time():
    """All of them together; what one Squid does not tell costs only its own map."""
    clock, given = [0.0], []

    def look(_address, path, password, timeout):
        given.append((path, password, timeout))
        clock[0] += timeout
        if path == "/b":
            raise metrics.Away("no whole answer")
        return path

    assert report.maps_of(None, "open", ["/a", "/b", "/c"], 50, look, lambda: clock[0]) == {"/a": "/a", "/b": "no whole answer", "/c": "/c"}
    assert given == [("/a", "open", 50), ("/b", "open", 1), ("/c", "open", 1)]


def test_watching():
    """It asks at equal distances; an answer in between may be missing, the first and the last may not."""
    clock = [0.0]

    def watch(*answers, seconds=4):
        answers = list(answers)

        def look(_address, _password):
            answer = answers.pop(0)
            if answer is None:
                raise metrics.Away("connection refused")
            return answer

        def sleep(time):
            clock[0] += time

        return report.watch(None, "", seconds, look, sleep, lambda: clock[0])

    found = watch(pages.BEFORE, None, pages.AFTER, pages.AFTER, pages.AFTER)
    assert [when for when, _ in found] == [0, 2, 3, 4]
    steps, whole = report.series(found, pages.PATH)
    assert len(steps) == 3 and steps[0].rate("objects_stored_total") == pages.grown("objects_stored_total") / 2
    assert whole.rate("objects_stored_total") == pages.grown("objects_stored_total") / 4
    for answers in ((None,), (pages.BEFORE, pages.BEFORE, pages.BEFORE, pages.BEFORE, None)):
        with pytest.raises(metrics.Away):
            watch(*answers)
    assert len(watch(*[pages.AFTER] * 200, seconds=3600)) == report.MOST_LOOKS + 1


# a device


def survey(test, image):
    """What the tool hands to Python: here, cat is called so."""
    python = test.path("bin")
    python.mkdir(exist_ok=True)
    (python / "python3").write_text("#!/bin/sh\nexec /bin/cat\n")
    (python / "python3").chmod(0o755)
    done = subprocess.run([BUILD / "clusterfs", "report", image.path], capture_output=True, timeout=60, check=False, env={**os.environ, "PATH": str(python)})
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def test_survey(test):
    """It agrees with the list of all objects."""
    image, wanted = test.filled(count=120)
    found, objects = survey(test, image), test.dump(image)
    assert found["objects"] == len(objects) == len(wanted) and found["live_bytes"] == sum(o["size"] for o in objects.values())
    assert found["path"] == str(image.path) and found["cluster_bytes"] == 65536 and found["clean"] is True
    assert sum(row["count"] for row in found["sizes"]) == len(objects) and sum(row["bytes"] for row in found["sizes"]) == found["live_bytes"]
    for row in found["sizes"]:
        assert row["count"] == sum(row["up_to"] / 2 < o["size"] <= row["up_to"] for o in objects.values()), row
    cells, states = found["cells"], found["states"]
    assert [(cell["first"], cell["last"]) for cell in cells] == [(n, n) for n in range(found["clusters"])]
    assert sum(states.values()) == found["clusters"] and states["large objects"] == sum(cell["large"] for cell in cells) >= 6
    assert sum(cell["objects"] for cell in cells) == len(objects)
    for cell in cells:
        assert cell["objects"] == sum(o["cluster"] == cell["first"] for o in objects.values()), cell
    ranks = sorted(cell["written"] for cell in cells if cell["small"] or cell["large"])
    assert ranks[0] == 0 and ranks[-1] == 1 and len(set(ranks)) == len(ranks) == states["small objects"] + states["large objects"]
    assert sum(row["bytes"] for row in found["ages"]) == sum(cell["live_bytes"] for cell in cells) > 0
    assert sum(row["objects"] for row in found["groups"]) == len(objects)
    assert url("large") not in json.dumps(found)
    for field in SURVEY:  # what the pictures and other tests are made of has the same fields
        assert field == "licence" or field in found, field


def test_neighbours_share_a_square(test):
    """A device of more than 2,500 clusters."""
    image = test.image(megabytes=200, cluster=16)
    found = survey(test, image)
    cells = found["cells"]
    assert found["clusters"] > 10000 and 2000 < len(cells) <= 2500 and cells[0]["last"] > 3
    assert all(a["last"] + 1 == b["first"] for a, b in zip(cells, cells[1:])) and cells[-1]["last"] + 1 == found["clusters"]


def test_page_of_a_device(test):
    image, wanted = test.filled(count=120)
    done = test.tool("report", image.path, "-o", "page.html")
    assert not done.out and not done.err
    text = (test.dir / "page.html").read_text(encoding="utf-8")
    assert len(sound(text)) == 12  # three of them in keys
    found = shown(text)
    assert found["objects"] == str(len(wanted)) and found["bad clusters"] == "none" and str(image.path) in text
    assert found["size of the device"] == "16.0 MB" and found["last stop"] == "clean"
    assert test.tool("report", image.path, "--output=page.html").code == 0, "a page is written over"
    empty = report.device(survey(test, test.image("empty")), 0)
    assert "Nothing is stored." in empty and shown(empty)["objects"] == "0"
    sound(empty)


def test_charts_of_a_real_device():
    text = report.device(SURVEY, 0)
    sound(text)
    titles = re.findall(r"<title>(clusters? [^<]*)</title>", text)
    assert len(titles) == len(SURVEY["cells"]) and titles[0].startswith("cluster 0, 60 objects, 52 of them in groups, written 2"), titles[0]
    bad = copy.deepcopy(SURVEY)
    bad["cells"][5]["bad"], bad["states"]["bad"] = 1, 1
    text = report.device(bad, 0)
    sound(text)
    assert "<div class=bad><b>1</b><small>bad clusters" in text and text.count(charts.RED) > report.device(SURVEY, 0).count(charts.RED)


def test_axes():
    """The top of an axis is a round number above all values, and not far above."""
    for value in (0.003, 0.9, 1, 7, 12, 99, 100, 1500, 12345678):
        assert value <= charts.ceiling(value) * 1.001 and charts.ceiling(value) <= 2 * value
    assert charts.ceiling(0) == 1 and charts.ceiling(3 << 20, binary=True) == 3 << 20 and charts.ceiling(900 << 10, binary=True) == 1000 << 10
    assert charts.ramp(0) == "#00224e" and charts.ramp(1) == "#fee838" and charts.ramp(7) == charts.ramp(1)


def test_colours_differ_without_colour():
    """The states of clusters, and the ends of the ramp, are told apart by brightness, too; the ramp only grows."""
    def light(colour):
        red, green, blue = (int(colour[n:n + 2], 16) for n in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    ramp = [light(charts.ramp(n / 20)) for n in range(21)]
    assert ramp == sorted(ramp) and ramp[-1] - ramp[0] > 150
    states = sorted(light(report.STATES[name]) for name in ("small objects", "large objects", "free"))
    assert all(b - a > 40 for a, b in zip(states, states[1:])), states


# what is refused


def test_refusals(test):
    image = test.image()
    before = image.digest()
    test.refused("report", image.path, "--seconds=3", says="--seconds and --password-file are for a running Squid")
    test.refused("report", "http://127.0.0.1:1", "--seconds=0", says="--seconds=0")
    test.refused("report", "http://127.0.0.1:1", says="http://127.0.0.1:1: connection refused")
    test.refused("report", "http://u@a", says="give http://HOST:PORT")
    test.refused("report", image.path, "-o", image.path, says="is no HTML page")
    test.refused("report", image.path, "-o", "/dev/null", says="/dev/null is no regular file")
    test.refused("report", image.path, "-o", "/nonexistent/page", says="No such file")
    assert image.digest() == before and stat.S_ISCHR(os.stat("/dev/null").st_mode)
