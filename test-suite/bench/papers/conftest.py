# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of bench-papers and of what runs it: each experiment at tiny scale, its counts, its checks of what is read, its
errors, and that nothing stays behind."""

import os
import pathlib
import tempfile

import pytest

from paperstools import Context, leftovers


@pytest.fixture
def context(programs, folder):
    before = leftovers()
    with tempfile.TemporaryDirectory(prefix="papers-tests-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else folder) as memory:
        own = folder / "papers-tests-"  # as leftovers() knows it
        own.mkdir()
        yield Context(programs, own, pathlib.Path(memory))
    left = leftovers() - before
    assert not left, f"left behind: {', '.join(sorted(left))}"
