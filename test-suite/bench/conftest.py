# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of what measures. None of them judges the speed of clusterfs; those of the modelled disk judge the model's."""

import os

import pytest

from common import BUILD


def pytest_collection_modifyitems(items):
    """These take many minutes."""
    for item in items:
        if item.path.parent.name in ("diskmodel", "papers"):
            item.add_marker(pytest.mark.long)


@pytest.fixture
def programs():
    """The folder with the benchmarks' programs."""
    for name in ("diskmodel", "bench-origin", "bench-client", "bench-papers", "bench-policy", "bench-scale", "bench-workers"):
        if not os.access(BUILD / name, os.X_OK):
            pytest.fail(f"{BUILD / name} is not there: make bench-programs")
    return BUILD
