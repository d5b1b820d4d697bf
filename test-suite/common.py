# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the project is, where make has built its programs (build/, or as CLUSTERFS_BUILD in the environment says), and
what conftest.py notes of a test."""

import os
import pathlib

import pytest

TOP = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("CLUSTERFS_BUILD") or TOP / "build").resolve()
#: in the stash of a test that failed: its folder stays
FAILED = pytest.StashKey[bool]()
