# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the raw results of ./bench as text: what is written of them, what is read again, ./bench keep and report, and
that the pages of docs/results are what their raw results give. They need neither root nor a Squid."""

import copy
import json
import re
import subprocess
import sys

import pytest

from benchlib import figures, overview, plans, rawtext, report, results, scale
from benchlib.errors import BenchError
from benchlib.results import Results
from common import TOP

KEPT = TOP / "docs" / "results"
SETS = sorted(path.parent for path in KEPT.glob("**/runs"))


def bench(*arguments):
    """A finished ./bench, without the builds before it."""
    return subprocess.run([sys.executable, TOP / "tools" / "bench" / "bench.py", *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=120)


def refused(*arguments, words):
    """It ends with an error that has these words, and no traceback."""
    done = bench(*arguments)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
    assert all(str(word) in done.stderr for word in words), done.stderr


def bounds(values):
    """A histogram as bench-client gives it: the ends of buckets of 64 to a power of two, in nine digits."""
    longest, counts = max(values), {}
    for nanos in values:
        width = 1 << max(0, nanos.bit_length() - 7)
        top = min(nanos // width * width + width - 1, longest)
        counts[top] = counts.get(top, 0) + 1
    return [[float(f"{top / 1e9:.9g}"), count] for top, count in sorted(counts.items())]


def summary(values):
    ordered = sorted(value / 1e9 for value in values)
    return {"count": len(ordered), "mean": sum(ordered) / len(ordered), "max": float(f"{ordered[-1]:.9g}"),
            **{name: ordered[int(share * (len(ordered) - 1))] for name, share in
               (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999))}}


def phase(name, scale_of_time):
    """A phase as measured() gives it."""
    hit = [70000 + 13 * number * number * scale_of_time for number in range(900)]
    miss = [20_000_000 + 977 * number for number in range(100)]
    visit = [1_200_000_000 + 70_000_001 * number for number in range(40)]
    client = {"command": ["/somewhere/bench-client", "--json", "/somewhere/build/bench-run-ab12/client1.json"], "users": 4,
              "seconds": 2.0, "visits": 40, "requests": 1000, "hits": 900, "bytes": 10_000_000, "hitBytes": 9_000_000, "errors": 0,
              "badBodies": 0, "visitsPerSecond": 20.0, "requestsPerSecond": 500.0, "rate": 3.0, "clientCpu": 0.1,
              "hit": summary(hit), "miss": summary(miss), "all": summary(hit + miss), "visit": summary(visit),
              "timeline": [{"t": 0, "requests": 600, "hits": 520, "bytes": 6, "hitBytes": 5},
                           {"t": 1, "requests": 400, "hits": 380, "bytes": 4, "hitBytes": 3}],
              "histogram": {"hit": bounds(hit), "miss": bounds(miss), "visit": bounds(visit)}}
    disk = {"reads": 12, "readBytes": 120000, "writes": 0, "writeBytes": 0, "busySeconds": 0.1000000000001, "flushes": 0,
            "queueDepthMean": -0.1, "lateMaxMicros": 3.0}
    memory = {"used": 1 << 26, "process": 1 << 25, "shared": 0, "pageCache": 1 << 20, "peak": 1 << 26, "killed": 0}
    return {"name": name, "seconds": 2.0123456789012, "client": client, "disk": disk, "cpuSeconds": 0.3, "memory": memory}


def a_result(store):
    """A result as a run gives it."""
    part = next(part for part in plans.parts("tiny") if part.name == "pages-hdd-fresh")
    return {"scale": "tiny", "parameters": part.settings(), "seed": 1, "command": ["/somewhere/bench.py", "tiny", "--out", "/somewhere/results"],
            "machine": {"cpu": "one", "cores": 2, "memoryMb": 4000, "kernel": "6", "system": "Debian", "load": 0.5},
            "versions": {"clusterfs": "abc", "squid": "7"}, "mark": "m" + store, "started": "2026-01-01T00:00:00+00:00",
            "seconds": 12.5, "order": [0, 0], "memoryLimit": 1 << 27, "limit": None, "times": {}, "cacheMb": 64, "memoryMb": 64,
            "corpus": {"pages": 30, "objects": 900, "bytes": 9_000_000, "meanObjectsPerPage": 30.0, "meanPageBytes": 3e5},
            "settings": [f"cache_dir {store} /somewhere/build/bench-run-ab12/{store}0/mount 64"],
            "index": {"bytes": 36000, "objects": 900},
            "phases": [phase("fill", 1), phase("closed 1/1", 2), phase("open 1/1", 3)]}


def old_folder(path):
    """Results as they were written before they were text."""
    (path / "runs").mkdir(parents=True)
    for store in ("clusterfs", "aufs"):
        (path / "runs" / f"pages-hdd-fresh.{store}.json").write_text(
            json.dumps({"format": 1, "part": "pages-hdd-fresh", "store": store, **a_result(store)}))
    (path / "limits.json").write_text('{"hdd 64 4": {}}')
    return Results(path)


# text

def test_text_is_json_in_short_lines_of_the_same_order():
    value = {"b": [1, 2, 3] * 60, "a": {"long": "word " * 20, "zero": 0, "none": None, "nested": [{"x": 1.5}] * 40}, "e": [], "f": {}}
    written = rawtext.text(value)
    assert json.loads(written) == value and list(json.loads(written)) == ["b", "a", "e", "f"]
    assert max(map(len, written.splitlines())) <= rawtext.WIDTH


def test_one_changed_figure_changes_one_line():
    value = rawtext.packed(a_result("aufs"))
    other = copy.deepcopy(value)
    other["phases"][1]["client"]["hits"] = 901
    before, after = (rawtext.text(one).splitlines() for one in (value, other))
    assert len(before) == len(after) and sum(one != two for one, two in zip(before, after)) == 1


@pytest.mark.parametrize("values", ([0], [5], [63, 64, 127, 128, 129], [70655, 70655, 95231, 35_534_010], [1_090_519_039, 1_090_600_000],
                                    list(range(1000, 9_000_000_000, 7_654_321))))
def test_histograms_come_back_as_they_were(values):
    pairs = bounds(values)
    found = rawtext.histogram_of(rawtext.histogram_text(pairs, rawtext.FINE), pairs[-1][0])
    assert [count for _, count in found] == [count for _, count in pairs]
    assert all(one == pytest.approx(two, rel=1e-8) for (one, _), (two, _) in zip(found, pairs))


def test_coarse_histograms_lose_no_count():
    pairs = bounds(list(range(1000, 9_000_000_000, 7_654_321)))
    lines = rawtext.histogram_text(pairs, rawtext.COARSE)
    found = rawtext.histogram_of(lines, pairs[-1][0])
    assert sum(count for _, count in found) == sum(count for _, count in pairs) and found[-1][0] == pairs[-1][0]
    assert rawtext.histogram_text(found, rawtext.COARSE) == lines, "written once more, they are others"
    for upper, _ in found[:-1]:
        assert sum(count for bound, count in found if bound <= upper) == sum(count for bound, count in pairs if bound <= upper * (1 + 1e-8))


# save and read

def test_what_is_saved_is_what_the_report_reads(tmp_path):
    folder, result = Results(tmp_path).create(), a_result("aufs")
    folder.save("pages-hdd-fresh", "aufs", copy.deepcopy(result))
    found, = folder.all()
    assert found["part"] == "pages-hdd-fresh" and found["store"] == "aufs" and found["format"] == results.FORMAT
    for name in ("machine", "versions", "seed", "parameters", "corpus", "memoryLimit", "index", "mark"):
        assert found[name] == json.loads(json.dumps(result[name])), name
    for one, two in zip(found["phases"], result["phases"]):
        assert one["memory"] == two["memory"]
        assert one["disk"] == {"reads": 12, "readBytes": 120000, "writes": 0, "writeBytes": 0, "busySeconds": 0.1}
        for name in ("visits", "requests", "hits", "bytes", "hitBytes", "hit", "miss", "visit", "visitsPerSecond"):
            assert one["client"][name] == pytest.approx(two["client"][name], rel=1e-8), name
        assert [(point["t"], point["hits"], point["requests"]) for point in one["client"]["timeline"]] == [(0, 520, 600), (1, 380, 400)]
    assert "histogram" not in found["phases"][0]["client"], "of filling, with the disk in RAM"
    assert len(figures.merged_histogram(found, "open", "hit")) == len(figures.merged_histogram(result, "open", "hit"))
    text = folder.file("pages-hdd-fresh", "aufs").read_text()
    assert "/somewhere" not in text and "cache_dir aufs aufs0/mount 64" in text


def test_a_set_goes_on_from_a_kept_folder(tmp_path):
    results.keep(old_folder(tmp_path / "old"), Results(tmp_path / "kept"))
    kept = Results(tmp_path / "kept")
    assert kept.has("pages-hdd-fresh", "aufs", "maufs") and not kept.has("pages-hdd-fresh", "aufs", "another")
    assert not kept.has("pages-hdd-fresh", "rock", "mrock")
    assert (tmp_path / "kept" / "limits.json").read_text() == '{"hdd 64 4": {}}'


def test_keep_changes_no_figure(tmp_path):
    old = old_folder(tmp_path / "old")
    done = bench("keep", tmp_path / "old", tmp_path / "kept")
    assert done.returncode == 0 and "2 results" in done.stdout, done
    kept = Results(tmp_path / "kept")
    gone = rawtext.TEMPORARY.sub("", report.markdown(old.all()))
    assert report.markdown(kept.all()) == gone
    compared = bench("compare", tmp_path / "old", tmp_path / "kept")
    assert compared.returncode == 0 and "within the spread" in compared.stdout and "| worse |" not in compared.stdout, compared
    texts = {path.name: path.read_text() for path in kept.runs.iterdir()}
    assert bench("keep", tmp_path / "kept", tmp_path / "kept").returncode == 0
    assert texts == {path.name: path.read_text() for path in kept.runs.iterdir()}, "kept once more, it is another text"


def test_keep_leaves_other_parts_alone(tmp_path):
    Results(tmp_path / "kept").create().save("random", "ufs", a_result("ufs"))
    results.keep(old_folder(tmp_path / "old"), Results(tmp_path / "kept"))
    assert [path.name for path in sorted((tmp_path / "kept" / "runs").iterdir())] == [
        "pages-hdd-fresh.aufs.json", "pages-hdd-fresh.clusterfs.json", "random.ufs.json"]


# what is wrong

def test_keep_of_what_is_no_folder_of_results(tmp_path):
    refused("keep", tmp_path / "nowhere", tmp_path / "kept", words=["nowhere", "not a folder of results"])
    (tmp_path / "empty" / "runs").mkdir(parents=True)
    refused("keep", tmp_path / "empty", tmp_path / "kept", words=["has no results"])
    old_folder(tmp_path / "old")
    (tmp_path / "file").write_text("")
    refused("keep", tmp_path / "old", tmp_path / "file", words=[tmp_path / "file", "another folder"])
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("text, word", (
    ("{", "Expecting"), ("[]", "not a result"), ('{"format": 9}', "format 1 or 2"), ('{"format": 1, "part": "p"}', "has no store"),
    ("\udcff", "decode")))
def test_keep_names_the_file_that_is_damaged(tmp_path, text, word):
    old_folder(tmp_path / "old").file("pages-hdd-fresh", "aufs").write_bytes(text.encode("utf-8", "surrogateescape"))
    refused("keep", tmp_path / "old", tmp_path / "kept", words=["pages-hdd-fresh.aufs.json", word])


@pytest.mark.parametrize("damage", (
    lambda result: result["phases"][0].pop("client"), lambda result: result["phases"][0]["client"].update(timeline=[{"t": 3}]),
    lambda result: result["phases"][1]["client"].update(histogram={"hit": [1, 2]}), lambda result: result.update(phases=[7])))
def test_phases_that_cannot_be_read(tmp_path, damage):
    path = old_folder(tmp_path / "old").file("pages-hdd-fresh", "aufs")
    result = json.loads(path.read_text())
    damage(result)
    path.write_text(json.dumps(result))
    refused("keep", tmp_path / "old", tmp_path / "kept", words=["pages-hdd-fresh.aufs.json", "cannot be read"])


def test_text_that_was_damaged(tmp_path):
    folder = Results(tmp_path).create()
    folder.save("pages-hdd-fresh", "aufs", a_result("aufs"))
    path = folder.file("pages-hdd-fresh", "aufs")
    path.write_text(re.sub(r'"timeline": "\d+/', '"timeline": "', path.read_text()))
    with pytest.raises(BenchError, match="aufs.json: its phases cannot be read"):
        folder.all()
    assert not folder.has("pages-hdd-fresh", "aufs", "maufs"), "it has to be measured again"


def test_what_bench_scale_did_not_write(tmp_path):
    (tmp_path / "one.json").write_text('{"measured": [{"hat": 1}]}')
    for verb in (("report", tmp_path), ("keep", tmp_path, tmp_path / "kept")):
        refused(*verb, words=["one.json", "bench-scale"])


# the pages of docs/results

@pytest.mark.parametrize("folder", SETS, ids=lambda path: str(path.relative_to(KEPT)))
def test_pages_are_what_raw_results_give(folder):
    assert (folder / "report.md").read_text(encoding="utf-8") == report.markdown(Results(folder).all()), \
        f"run ./bench report {folder.relative_to(TOP)}"


@pytest.mark.parametrize("folder", SETS, ids=lambda path: str(path.relative_to(KEPT)))
def test_pictures_are_drawn_from_the_raw_results(folder):
    mark = report.picture_mark(Results(folder).all())
    assert bool(mark) == (folder == KEPT / "full")
    if mark:
        assert (folder / "pages.svg").read_text(encoding="utf-8").startswith(mark + "\n<svg"), \
            f"run ./bench report {folder.relative_to(TOP)}"


def test_page_of_large_disks_is_what_raw_results_give():
    assert (KEPT / "scale" / "report.md").read_text(encoding="utf-8") == scale.markdown(KEPT / "scale"), \
        "run ./bench report docs/results/scale"


@pytest.mark.parametrize("path", sorted(KEPT.glob("**/*.json")), ids=lambda path: str(path.relative_to(KEPT)))
def test_raw_results_are_as_they_are_kept(path):
    text = path.read_text(encoding="utf-8")
    if path.name != "limits.json":
        assert text == rawtext.text(json.loads(text)) + "\n", f"run ./bench keep on the folder of {path.relative_to(TOP)}"
    assert not rawtext.TEMPORARY.search(text)


def test_report_draws_what_is_kept(tmp_path):
    pytest.importorskip("matplotlib")
    results.keep(Results(KEPT / "hits"), Results(tmp_path))
    done = bench("report", tmp_path)
    assert done.returncode == 0, done
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg") == 2 and (tmp_path / "report.md").read_text() == (KEPT / "hits" / "report.md").read_text()


# docs/benchmarks.md

def cells_with_part(page):
    """[(part, store, cell)] of the tables of a page that have a column part: cells that give results, of parts that are kept."""
    for table in re.findall(r"^\|.*\| part \|\n\|[-:| ]+\|\n(?:\|.*\|\n)+", page, re.M):
        heads, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        for row in (dict(zip(heads, cells)) for cells in rows):
            for head in ("clusterfs", "ufs", "aufs", "rock", "Traffic Server", "Varnish", "nginx", "best other"):
                if row["part"] and row.get(head) and "†" not in row[head]:
                    yield row["part"], row[head].split()[0] if head == "best other" else head, row[head]


def tables_in_benchmarks(folder, elsewhere):
    """The tables of the whole set in this folder: docs/benchmarks.md has all but those elsewhere."""
    page = (TOP / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    found = overview.tables(Results(KEPT / folder).all())
    lines = {table.title: table.markdown().split("\n\n")[1].strip() for table in found}
    for title in lines.keys() - elsewhere:
        assert lines[title] in page, f"docs/benchmarks.md has another table: run make docs\n{lines[title]}"
    return found, lines


def test_the_page_has_the_tables_of_the_whole_set():
    found, lines = tables_in_benchmarks("full", {"In brief", "Processor ms a request, closed loop"})
    assert len(lines) == 7
    for table in found[:2]:
        assert lines[table.title] in (TOP / "README.md").read_text(encoding="utf-8"), f"README.md has another table: {lines[table.title]}"


def test_the_page_has_the_tables_of_other_sizes():
    found, lines = tables_in_benchmarks("more", {"Processor ms a request, closed loop"})
    assert len(lines) == 5 and {row[-1] for table in found for row in table.rows} >= {"sizes-4k", "sizes-100k", "onehit"}


def test_the_table_in_brief_has_all_other_stores_in_one_cell():
    def group(**times):
        return {store: {"store": store, "starts": {"killed": [{"firstHit": first, "whole": whole} for first, whole in each]}}
                for store, each in times.items()}
    loaded = group(clusterfs=[(9, 9)])["clusterfs"]
    found = overview.brief({"restart": group(clusterfs=[(0.25, 1)], rock=[(4, 5), (6, 7), (5, 9)], ufs=[(2, 3)]) | {"clusterfs-loaded": loaded}})
    assert found.columns == ["figure", "clusterfs", "other stores", "part"]
    assert [row[1:] for row in found.rows] == [["0.25; 1.00", "ufs 2.00; 3.00 / rock 5.00; 7.00", "restart"]]


def a_group(**rates):
    """Results of a part, of a store for each rate."""
    return {store: {"store": store, "phases": [{"name": f"closed {number}", "client": {"visitsPerSecond": rate}}
                                               for number, rate in enumerate(each)]} for store, each in rates.items()}


@pytest.mark.parametrize("limit, least, said", [
    (3, False, "yes, 4.00 x"), (5, False, "**no**, 4.00 x"), (1, True, "**no**, 4.00 x"), (5, True, "yes, 4.00 x")])
def test_goals_say_what_was_reached(limit, least, said):
    parts = {"one": a_group(clusterfs=[70, 80, 90], aufs=[19, 20, 21], ufs=[20] if least else [5], memory=[500])}
    goal = overview.Goal("visits", "one", lambda result: figures.over(result, "closed", overview.VISITS), limit, "so much", "best", least=least)
    assert goal.row(parts) == ["visits", "80.0 (70.0 to 90.0)", "aufs 20.0 (19.0 to 21.0)", "so much", said, "one"]
    assert goal.row({}) is None and goal.row({"one": a_group(clusterfs=[1])}) is None


def test_goals_of_equality_take_the_spread_into_account():
    goal = overview.Goal("visits", "one", lambda result: figures.over(result, "closed", overview.VISITS), 1, "not below", "best")
    said = [goal.row({"one": a_group(clusterfs=own, aufs=[9, 10, 11])})[4] for own in ([8, 9, 10], [7, 8, 8.5], [10, 12, 13])]
    assert said == ["within the spread, 0.9 x", "**no**, 0.8 x", "yes, 1.20 x"]


def numbers(text):
    return [found.replace(",", "") for found in re.findall(r"(?<![\w^])\d(?:[\d,]*\d)?(?:\.\d+)?", text)]


def test_figures_of_the_page_are_those_of_the_raw_results():
    """Each is among those of this store and part in the generated page, which may have more digits."""
    generated = "\n".join(report.markdown(Results(KEPT / name).all()) for name in ("full", "more"))
    sections = dict(re.findall(r"^## ([a-z0-9-]+): (.*?)(?=^## |^# |\Z)", generated, re.M | re.S))
    cells = list(cells_with_part((TOP / "docs" / "benchmarks.md").read_text(encoding="utf-8")))
    assert len(cells) > 100 and {part for part, *_ in cells} == set(sections)
    for part, store, cell in cells:
        rows = "\n".join(re.findall(rf"^\| {store}.*", sections[part], re.M)) if part != "papers" else sections[part]
        known = [float(number) for number in numbers(rows)]
        for number in numbers(cell):
            half = 0.5001 * 10 ** -len(number.partition(".")[2])
            assert any(abs(float(number) - one) <= half for one in known), f"{part}, {store}: no {number} in the generated page"


def test_a_part_that_has_moved_has_the_command_of_its_set():
    assert [plans.set_of(name, "full") for name in ("papers", "random", "gone")] == ["more", "full", "full"]


def test_other_proxies_are_only_in_parts_that_they_can_have():
    found = {part.name: "ats" in plans.with_stores(part, None, ["ats"]).stores for part in plans.parts("more")}
    assert {name for name, has in found.items() if has} == {"sizes-4k", "sizes-100k", "sizes-10x", "onehit", "workers-hdd", "workers-ssd"}


@pytest.mark.parametrize("zipf, share", [(0.0, 0.25), (1.0, (1 + 1 / 2) / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5 + 1 / 6 + 1 / 7 + 1 / 8))])
def test_bound_of_the_disk_is_the_transfer_of_what_memory_cannot_have(zipf, share):
    """Eight pages of a megabyte, memory for two of them, a disk that transfers 100 MB/s."""
    result = {"corpus": {"pages": 8, "bytes": 8 << 20}, "memoryMb": 2, "parameters": {"zipf": zipf},
              "limit": {"disk": {"bandwidth": 100e6}},
              "phases": [{"name": "closed 1/1", "client": {"visits": 10, "hitBytes": 5_000_000}}]}
    assert figures.in_memory(result) == pytest.approx(share)
    assert figures.disk_bound(result) == pytest.approx(200 / (1 - share)), "half a megabyte of each visit are hits"
    assert figures.disk_bound({**result, "memoryMb": 8}) is None and figures.disk_bound({**result, "limit": None}) is None


def test_commands_name_no_folder_of_the_measurer():
    typed = ["/somewhere/bench.py", "full", "churn", "--out", "/a", "--again", "--programs", "/b", "--squid", "/c", "--polygraph", "/d", "--stores", "rock"]
    assert rawtext.packed({"command": typed})["command"] == ["./bench", "full", "churn", "--again", "--stores", "rock"]
    run = {"command": ["/somewhere/build/bench-papers", "cfs", "--at", "/dev/loop0"]}
    assert rawtext.packed({"runs": [run]})["runs"] == [{"command": ["bench-papers", "cfs", "--at", "/dev/loop0"]}]
