# SPDX-License-Identifier: GPL-2.0-or-later
"""What documents.py says of documents that do not say what the engine's tables do, and what it makes of them."""

import os
import shutil
import subprocess

import pytest

from common import BUILD, TOP


@pytest.fixture
def tree(folder):
    """A copy of all that the tables' rows are written into."""
    for name in ("README.md", "docs/benchmarks.md", "docs/results/full/report.md", "docs/results/more/report.md", "docs/operations.md",
                 "docs/metrics.md", "docs/format.md", "docs/man", "include", "squid-patches", "tools/build/documents.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (TOP / name).is_dir() else shutil.copy)(TOP / name, folder / name)
    return folder


def documents(tree, *words, build=BUILD):
    return subprocess.run([tree / "tools/build/documents.py", *words], env={**os.environ, "CLUSTERFS_BUILD": str(build)},
                          capture_output=True, text=True, check=False)


def test_they_are_as_they_should_be(tree):
    done = documents(tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name, text, other", (
    ("README.md", "| hard disk, freshly filled |", "| a hard disk |"),
    ("docs/benchmarks.md", "| hdd, aged: visits/s |", "| aged: visits/s |"),
    ("docs/operations.md", "| 2 to 65536 |", "| 3 to 65536 |"),
    ("docs/operations.md", "give `locality` more memory", "ignore it"),
    ("docs/operations.md", "| error | the journal is full", "| notice | the journal is full"),
    ("docs/metrics.md", "| checksum errors | counter |", "| checksum errors | gauge |"),
    ("docs/format.md", "| 141 | 32 |", "| 141 | 31 |"),
    ("docs/format.md", "On-disk format, version ", "On-disk format, version 9"),
    ("docs/format.md", "| 2 | 0.1 |", "| 2 | 0.2 |"),
    ("docs/man/clusterfs-format.8", "by default 1024", "by default 1025"),
    ("docs/man/clusterfs-purge.8", '"" "clusterfs ', '"" "clusterfs 99.'),
    ("docs/man/clusterfs.3", "size_t name_size, const void *data", "const void *data"),
    ("docs/man/clusterfs.3", "There is no such object", "It is gone"),
    ("docs/man/clusterfs.8", "Draw a picture of a clusterfs device", "Draw a picture"),
    ("squid-patches/6/0003-clusterfs-documented.patch", "Default: closest-write.", "Default: closest."),
    ("squid-patches/7/0003-clusterfs-documented.patch", "+\tUsage:\n", ""),
    ("squid-patches/cache_dir.txt", "a raw disk", "a disk"),
))
def test_drift_is_told_and_mended(tree, name, text, other):
    path = tree / name
    good = path.read_text()
    path.write_text(good.replace(text, other, 1))
    done = documents(tree)
    assert done.returncode == 1
    line = good[:good.index(text)].count("\n") + 1
    where = "squid-patches/7/0003" if name.endswith(".txt") else f"{name}:{line}: is not what the tables say: run make docs"
    assert where in done.stdout, done.stdout
    written = documents(tree, "write")
    assert written.returncode == 0
    assert name.endswith(".txt") or written.stdout == f"{name}: written\n"
    assert documents(tree).returncode == 0
    assert name.endswith(".txt") or path.read_text() == good


def test_a_document_without_its_marks(tree):
    path = tree / "docs/operations.md"
    path.write_text(path.read_text().replace("<!-- make docs writes the options from here -->", ""))
    done = documents(tree, "write")
    assert done.returncode == 1 and "docs/operations.md: needs the lines" in done.stderr


def test_a_page_of_results_without_a_table(tree):
    path = tree / "docs/results/full/report.md"
    path.write_text(path.read_text().replace("**Goals**", "**Aims**"))
    done = documents(tree, "write")
    assert done.returncode == 1 and "docs/results/full/report.md: has no table Goals" in done.stderr


def test_wrong_use(tree):
    assert "documents.py [write]" in documents(tree, "wirte").stderr
    assert "run make clusterfs-tables" in documents(tree, build=tree).stderr
