# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage that is too low is a failure."""

import importlib.util
import pathlib

RUN = pathlib.Path(__file__).resolve().parents[1] / "coverage" / "run.py"


def _module():
    spec = importlib.util.spec_from_file_location("coverage_run", RUN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _file(name, counts, branches):
    lines = [{"line_number": number, "count": count, "branches": []} for number, count in enumerate(counts)]
    lines[0]["branches"] = [{"count": count} for count in branches]
    return {"file": f"src/fs/cluster/{name}", "lines": lines}


def test_too_little_coverage_is_told(folder):
    coverage = _module()
    sums = coverage.totals([_file("one/A.cc", [1, 1, 0, 1], [1, 0]), _file("two/B.cc", [1, 1], [])])
    assert sums["one"] == [4, 3, 2, 1] and sums["all"] == [6, 5, 2, 1], sums
    least = folder / "least"
    least.write_text("# a comment\none|75|50\ntwo|100|100\nall|80|50\n")
    assert not coverage.below(sums, least)
    least.write_text("one|76|51\nall|80|50\n")
    assert coverage.below(sums, least) == ["one: 75.00% of the lines are reached, and not 76%",
                                           "one: 50.00% of the branches are reached, and not 51%"]
    for bad in ("three|1|1\n", "one|1\n", "one|1|1|1\n"):
        least.write_text(bad)
        try:
            coverage.below(sums, least)
        except SystemExit as said:
            assert str(said).startswith(f"{least}:1: not "), said
        else:
            raise AssertionError(f"{bad} is taken")


def test_the_limits_name_folders_that_there_are():
    coverage = _module()
    names = [line.split("|")[0] for line in coverage.LEAST.read_text().splitlines() if line and not line.startswith("#")]
    engine = RUN.parents[2] / coverage.ENGINE
    assert "all" in names and all(name == "all" or (engine / name).is_dir() for name in names), names
