# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs bench-papers: disks, memory limits, file systems, tables, and what is left behind."""

import dataclasses
import functools
import os
import shutil
import subprocess
import sys
import time

import pytest

from benchlib import cgroup, papers, papers_plan, papers_published as published, papers_tables, plots
from benchlib.errors import BenchError
from benchlib.papers_disk import PlainDisk
from benchlib.papers_run import Case
from benchlib.tables import Table
from common import TOP
from paperstools import TIMEOUT, leftovers, need_root

SMALL = Case("cfs", "clusterfs", 64, 8, ("--objects", 300), ("cluster-size=64",), measured=("create", "read", "delete"), model="fast")


def _disks(context):
    need_root()
    return functools.partial(PlainDisk, context.folder / "disk")


def _run(context, case):
    return papers.run_case(case, _disks(context), context.programs)


def test_clusterfs_on_a_loop_device(context):
    result = _run(context, SMALL)
    assert result["limited"] == (cgroup.problem() is None)
    created = papers_tables.phase(result, "create")
    # 300 objects of 1 KB in clusters of 64 KB
    assert created["disk"]["block"]["writes"] >= 5 and created["disk"]["block"]["writeBytes"] >= 300 << 10, created["disk"]
    assert "cluster-size=64" in result["storeSettings"], result["storeSettings"]
    assert not leftovers(), leftovers()


def test_files_on_file_systems(context):
    for store in ("ext4", "ext4-sync"):
        result = _run(context, dataclasses.replace(SMALL, store=store, options=("--objects", 300, "--cold")))
        found = {name: papers_tables.phase(result, name) for name in papers_plan.STAGES}
        assert result["checks"]["bodies"] == 300, result["checks"]
        assert found["read"]["disk"]["block"]["readBytes"] >= 300 << 10, f"the caches were not empty: {found['read']}"
        if store == "ext4-sync":
            assert found["create"]["disk"]["block"]["writes"] >= 300, found["create"]["disk"]
        assert not leftovers(), leftovers()


def test_xfs(context):
    if not shutil.which("mkfs.xfs", path="/usr/sbin:/sbin:/usr/bin:/bin"):
        pytest.skip("mkfs.xfs is not installed (Debian package xfsprogs)")
    result = _run(context, dataclasses.replace(SMALL, store="xfs", disk=320))
    assert result["checks"]["bodies"] == 300, result["checks"]


def test_memory_is_limited(context):
    """The page cache of files is not larger than what clusterfs gets."""
    need_root()
    if cgroup.problem():
        pytest.skip(cgroup.problem())
    case = Case("tfs", "ext4", 128, 4, ("--urls", 2500, "--requests", 2500, "--measure", 500), model="fast")
    result = _run(context, case)
    assert result["limited"] and 0 < result["memoryGrown"] < 8 << 20, result["memoryGrown"]


def test_program_is_no_page_cache(context):
    """Whether its file has to be read from the disk makes no difference: what is read beside what runs is not for objects."""
    need_root()
    if cgroup.problem():
        pytest.skip(cgroup.problem())
    case = dataclasses.replace(SMALL, store="ext4")
    limits = []
    for cached in (True, False):
        path = context.programs / "bench-papers"
        with open(path, "rb") as file:
            if cached:
                file.read()
            else:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        limits.append(_run(context, case)["memoryLimit"])
    assert abs(limits[1] - limits[0]) < 2 << 20, limits


def test_failures_leave_nothing(context):
    disks = _disks(context)
    for case, word in ((dataclasses.replace(SMALL, options=("--objects", 1)), "from 100 to"),
                       (dataclasses.replace(SMALL, store="ext4", options=("--wings",)), "--wings"),
                       (dataclasses.replace(SMALL, store="tape"), "tape")):
        try:
            papers.run_case(case, disks, context.programs)
        except BenchError as error:
            assert word in str(error), error
        else:
            raise AssertionError(f"{case} did not fail")
        assert not leftovers(), leftovers()
    try:
        papers.run_case(SMALL, disks, context.folder)
    except BenchError as error:
        assert "make bench-programs" in str(error), error


def test_tables(context):
    """All tables from one tiny run of each experiment."""
    disks = _disks(context)
    cases = [case for case in papers_plan.cases("tiny") if case.store != "ext4-sync" and case.label not in ("5", "cold", "sequential")]
    if papers.missing(cases):
        cases = [case for case in cases if case.experiment != "bandwidth"]
    runs, failed = papers.run_cases(cases, disks, lambda what: None, context.programs)
    assert not failed, failed
    result = papers.result_of(runs, failed, "fast")
    titles = [table["title"] for table in result["tables"]]
    for word in ("Hummingbird, table 2", "CFS: objects", "CFS: a day", "Damelo: create", "Damelo: read", "Damelo: delete", "TFS"):
        assert any(title.startswith(word) for title in titles), f"no table of {word}: {titles}"
    for table in result["tables"]:
        assert table["rows"] and all(len(row) == len(table["columns"]) for row in table["rows"]), table
        assert all(isinstance(cell, str) for row in table["rows"] for cell in row), table
        Table(table["title"], table["columns"], table["rows"], table["note"]).markdown()
    assert any("Scale, damelo" in line for line in result["text"]), result["text"]
    birds = next(table for table in result["tables"] if table["title"].startswith("Hummingbird, table 2"))
    assert not any("paper's" in row[0] for row in birds["rows"]), "the paper has no disk of 64 GB"
    panels = plots.papers_part([result])
    assert panels.startswith("<svg"), panels[:100]


def test_lines_of_the_paper():
    """Each run of the largest scale that the paper has stands beside its line; ratios follow from its times."""
    cases = [case for case in papers_plan.cases("more", ["hummingbird"], xfs=True)]
    assert {case.label for case in cases} == {"2", "3", "4", "5"}
    for case in cases:
        row = published.hummingbird(case.label, case.store, *case.paper)
        assert row and (row.disk_gb, row.memory) == case.paper[:2], case
    row = published.hummingbird("3", "clusterfs", 4, 256)
    assert (row.ios, row.seconds) == (1349175, 6362) and abs(published.hummingbird_times("3", row) - 25510 / 6362) < 1e-9
    xfs = published.hummingbird("4", "xfs", 15, 256, own_percent=20)
    assert xfs.own == 50 and published.hummingbird_times("4", xfs) == 60943 / 63371
    assert published.hummingbird("2", "clusterfs", 5, 256) is None
    assert published.hummingbird_times("2", published.hummingbird("2", "clusterfs", 8, 256)) is None, "it gives no times"


def test_table_beside_the_paper():
    """Made figures: what is measured, and the paper's line below it."""
    def run(store, seconds, own=50):
        measured = {"name": "measure", "seconds": seconds, "syncSeconds": 0, "requests": 1000, "hitRatio": 0.5, "disk": {},
                    "fsRead": {"count": 1, "mean": 0.001}, "fsWrite": {"count": 1, "mean": 0.002}}
        return {"case": {"experiment": "hummingbird", "store": store, "label": "4", "paper": (9, 256, own), "disk": 768, "memory": 21},
                "phases": [measured], "memoryGrown": 0}

    rows = papers_tables.hummingbird([run("clusterfs", 10), run("xfs", 50), run("xfs", 40, own=20)], "4")["rows"]
    assert [row[0] for row in rows] == ["clusterfs", "the paper's Hummingbird", "XFS, 50 % for the proxy", "the paper's XFS",
                                        "XFS, 20 % for the proxy", "the paper's XFS"]
    assert [row[-2] for row in rows] == ["4x", "5.5x", "0.8x", "1x", "1x", "0.93x"], rows
    assert rows[1][3:8] == ["0.66", "3.3", "0.21", "0.214", "10.8"], rows[1]


def test_interrupted_run_leaves_nothing(context):
    """SIGTERM in the middle of a run."""
    need_root()
    script = TOP / "tools" / "bench" / "papers" / "run.py"
    command = [sys.executable, str(script), "hummingbird", "--scale", "tiny", "--stores", "ext4", "--on", str(context.folder / "disk"),
               "--programs", str(context.programs)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 30
        while not any("mount" in name for name in leftovers(process.pid)) and time.monotonic() < end:
            time.sleep(0.02)
        assert leftovers(process.pid), "the run did not start"
        process.terminate()
        said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130 and "SIGTERM" in said[1] and "Traceback" not in said[1], (process.returncode, said)
    assert not leftovers(process.pid), leftovers(process.pid)


def test_command(context):
    """tools/bench/papers/run.py: its errors."""
    script = TOP / "tools" / "bench" / "papers" / "run.py"
    for words, says in ((("swim",), "'swim'"), (("cfs", "--stores", "tape"), "'tape'"), (("cfs", "--divide", "0"), "--divide 0")):
        done = subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr, done
