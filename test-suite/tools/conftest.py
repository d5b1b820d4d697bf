# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the clusterfs tool: images that the tool itself makes, filled through the engine by clusterfs-fill, damaged
byte by byte, and the answers of the tool. A test gets `test`, a toolkit.Test."""

import os

import pytest

from common import BUILD
from toolkit import Test


@pytest.fixture(scope="session")
def programs(request):
    """The tool, and the program that fills images."""
    suffix = "-asan" if request.config.getoption("asan") else ""
    paths = BUILD / f"clusterfs{suffix}", BUILD / f"clusterfs-fill{suffix}"
    for path in paths:
        if not os.access(path, os.X_OK):
            pytest.fail(f"{path} is not a program: make {path.name}")
    return paths


@pytest.fixture
def test(request, folder, programs):
    option = request.config.getoption
    return Test(folder, *programs, damage=option("damage"), seed=option("damage_seed"))
