# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the modelled disk: each model against its own arithmetic and with fio (wide margins: the machine may be
busy), data integrity, faults, power cuts, and that nothing stays behind. They need root and fio."""

import os
import shutil

import pytest

from disktools import Context


@pytest.fixture
def context(programs, folder):
    if os.geteuid() != 0 or not os.path.exists("/dev/loop-control"):
        pytest.skip("needs root and loop devices")
    if not shutil.which("fio"):
        pytest.skip("fio is not installed")
    disks = Context(programs, folder)
    yield disks
    left = disks.leftovers()
    assert not left, f"left behind: {', '.join(left)}"
