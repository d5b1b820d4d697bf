# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of docs/hacking.md fit the sources, take no more files than it says, and work."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from common import TOP

#: heading of each example: a generated file that has to follow, and words that it then has
GENERATED = {
    "An option of cache_dir": ("docs/operations.md", "regroup=N"),
    "A policy of eviction": ("squid-patches/7/0003-clusterfs-documented.patch", "gdsf"),
    "A statistic": ("docs/metrics.md", "stores that made way"),
    "A field on the disk": ("docs/format.md", "# On-disk format, version 8\n"),
    "A command of the tool": ("docs/man/clusterfs.8", ".B clusterfs uuid\n"),
}
#: unit tests that go over all rows of a table
TABLES = {
    "test-suite/unit/api/ConfigTest.cc": "Config.*",
    "test-suite/unit/policies/EvictionPolicyTest.cc": "EvictionPolicy.*",
    "test-suite/unit/engine/StatisticsTest.cc": "Statistics.*",
    "test-suite/unit/layout/LayoutTest.cc": "LayoutTables.*:Superblock.*",
}
#: tests that go over all subcommands, and all documents that are generated
TABLE_TESTS = ("test-suite/tools/test_usage.py", "test-suite/tools/test_documents.py", "test-suite/harness/test_generated.py")
MOST_FILES = 3


def examples():
    """{heading: unified diff}"""
    _, _, text = (TOP / "docs" / "hacking.md").read_text(encoding="utf-8").partition("\n## Examples\n")
    parts = re.split(r"^### (.*)\n", text, flags=re.M)[1:]
    return {heading: re.findall(r"^```diff\n(.*?)^```", body, re.M | re.S) for heading, body in zip(parts[::2], parts[1::2])}


def files(diff):
    return re.findall(r"^\+\+\+ b/(.*)$", diff, re.M)


def patch(folder, diff):
    """Makes the change. An example that does not say what stands around it now is out of date."""
    done = subprocess.run(["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "--reject-file=-"], cwd=folder, input=diff,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"an example of docs/hacking.md does not fit the sources any more:\n{done.stdout}{done.stderr}"


def test_there_is_one_of_each_kind():
    assert {heading: len(diffs) for heading, diffs in examples().items()} == {heading: 1 for heading in GENERATED}


@pytest.mark.parametrize("heading", GENERATED)
def test_it_fits_and_takes_few_files(folder, heading):
    """Three that somebody edits, and one with the test."""
    diff, = examples()[heading]
    tests = [name for name in files(diff) if name.startswith("test-suite/")]
    others = [name for name in files(diff) if name not in tests]
    assert len(tests) == 1 and re.search(r"^\+(TEST|def test)", diff, re.M), f"its test: {tests}"
    assert 0 < len(others) <= MOST_FILES, others
    for name in files(diff):
        if (TOP / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, folder / name)
    patch(folder, diff)


def copy_of_the_sources(folder):
    """As somebody has them who has just cloned them."""
    names = subprocess.run(["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                           capture_output=True, check=True, text=True).stdout.split("\0")
    for name in names:
        if name and (TOP / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, folder / name)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


@pytest.mark.long
@pytest.mark.skipif(not (TOP / ".git").exists(), reason="no git checkout")
def test_they_work(folder):
    """All of them, one on top of the other: they build, make docs is all that they need, their tests pass and those of the
    tables. Takes 2 min 40 s of processor time, with a warm compiler cache 20 s."""
    copy_of_the_sources(folder)
    build = folder / "build"
    build.mkdir()
    env = {**os.environ, "CLUSTERFS_BUILD": str(build)}
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GTEST_OUTPUT"):
        env.pop(name, None)

    def run(*words, cwd=folder):
        done = subprocess.run(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-6000:]}"
        return done.stdout

    run("./bootstrap.sh")
    run("../configure", "CXXFLAGS=-O0", cwd=build)
    diffs = [diff for heading in GENERATED for diff in examples()[heading]]
    for diff in diffs:
        patch(folder, diff)
    jobs = f"-j{os.cpu_count()}"
    run("make", jobs, "docs", cwd=build)
    for name, words in GENERATED.values():
        assert words in (folder / name).read_text(encoding="utf-8"), f"{name} has no {words}"

    changed = {name for diff in diffs for name in files(diff) if name.startswith("test-suite/")}
    helpers = [path.relative_to(folder).as_posix() for name in ("test-suite/doubles", "tools/models") for path in (folder / name).glob("*.cc")]
    objects = [name.removesuffix(".cc") + ".o" for name in {*changed, *TABLES, *helpers} if name.endswith(".cc")]
    run("make", jobs, "clusterfs", "clusterfs-fill", "unit-tests", f"unit_tests_OBJECTS={' '.join(objects)}", cwd=build)

    own = re.findall(r"^\+TEST(?:_F)?\((\w+), (\w+)\)", "".join(diffs), re.M)
    said = run(build / "unit-tests", "--gtest_filter=" + ":".join([*TABLES.values(), *map(".".join, own)]))
    for test in own:
        assert f"[       OK ] {'.'.join(test)} " in said, said
    own = re.findall(r"^\+def (test_\w+)", "".join(diffs), re.M)
    said = run(sys.executable, "-m", "pytest", "-v", *sorted(name for name in changed if name.endswith(".py")), *TABLE_TESTS,
               "-k", " or ".join(own + [pathlib.Path(name).stem for name in TABLE_TESTS]))
    for test in own:
        assert f"::{test} PASSED" in said, said
    for check in ("test-suite/tidy.py", "tools/build/source-lists", "tools/build/documents.py"):
        run(sys.executable, check) if check.endswith(".py") else run(check)
