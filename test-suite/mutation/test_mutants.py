# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the simulation, or the unit tests, with one mistake after the other in the engine (mutants.py), and fails where
they do not notice it. Works on copies of the tree, which must be built: one for each worker of pytest -n."""

import os
import pathlib
import shutil
import subprocess
import threading

import pytest

from common import BUILD, TOP
from mutants import MUTANTS

ENGINE = pathlib.Path("src/fs/cluster")
#: what a copy has of the folder that make works in
BUILT = ("Makefile", "config.status", "config.log", "libclusterfs.a", "simulate", "unit-tests", "src", "test-suite", "tools")
#: and what it can do without: what others than these two programs are made of
LEFT_OUT = shutil.ignore_patterns("*-asan*", "*_asan*", "*_tsan*", "clusterfs_fuzz-*", "__pycache__", ".git")
GRACE = 900  # seconds for a build
PATIENCE = 600  # seconds for tests: with a mistake, they may never end, which nobody would wait for


@pytest.fixture(scope="session")
def tree(work):
    """A copy of the project and of what is built, to make mistakes in."""
    copy = work / "tree"
    shutil.copytree(TOP, copy, symlinks=True, ignore=lambda folder, names: LEFT_OUT(folder, names) | (
        {"build"} if pathlib.Path(folder) == TOP else set()))
    (copy / "build").mkdir()
    for name in BUILT:
        found = BUILD / name
        if found.is_dir():
            shutil.copytree(found, copy / "build" / name, symlinks=True, ignore=LEFT_OUT)
        elif found.exists():
            shutil.copy2(found, copy / "build" / name)
        else:
            pytest.fail(f"{found} is not there: make check-programs")
    yield copy
    shutil.rmtree(copy)


def build(tree, program):
    """Fails with what the compiler said."""
    # a mistake may leave something unused, which is no error here
    done = subprocess.run(["make", "-s", "CXXFLAGS=-O1 -g0 -Wno-error", program], cwd=tree / "build", check=False, timeout=GRACE,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"is not compiled: {done.stdout[-1000:]}"


def complaint(words, telling):
    """What a program first complained about, in a line that begins with one of telling; None where it passed, or did not end."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        stopped = threading.Event()
        late = threading.Timer(PATIENCE, lambda: (stopped.set(), process.kill()))
        late.start()
        last = ""
        try:
            for line in process.stdout:
                last = line.strip() or last
                if line.startswith(telling):
                    return last
            return None if process.wait() == 0 or stopped.is_set() else f"ended with {process.returncode}: {last}"
        finally:
            late.cancel()
            process.kill()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mistake_is_noticed(mutant, tree, request):
    """Makes the mistake, looks, and takes it back."""
    worlds = request.config.getoption("mutant_worlds")
    path = tree / ENGINE / mutant.file
    compiled = (tree / "build" / ENGINE / mutant.file).with_name(f"libclusterfs_a-{path.stem}.o")
    if not compiled.exists():  # not of the engine's library, but of the programs that have workers
        compiled = compiled.with_name(f"{path.stem}.o")
    right, times, before = path.read_text(), path.stat(), compiled.read_bytes()
    places = right.count(mutant.before)
    assert places == 1, f"{ENGINE / mutant.file} has the mutant's text {places} times: bring mutants.py up to date"
    path.write_text(right.replace(mutant.before, mutant.after))
    try:
        if mutant.tests:
            build(tree, "unit-tests")
            said = complaint([tree / "build" / "unit-tests", "--gtest_brief=1", f"--gtest_filter={mutant.tests}"], ("[  FAILED  ]",))
        else:
            build(tree, "simulate")
            said = complaint([tree / "build" / "simulate", "--worlds", str(worlds)], ("BROKEN:",))
    finally:
        # what is compiled from the right text is still there: no need to do that again
        path.write_text(right)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        compiled.write_bytes(before)
    assert said, f"not noticed by {mutant.tests or f'{worlds} worlds'}"
    print(said)
