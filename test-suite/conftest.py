# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of the tests, and a folder for each test that uses one. docs/hacking.md says how to run them."""

import os
import pathlib
import shutil
import signal
import tempfile

import pytest

from common import BUILD, FAILED
from squidkit.processes import share_ports
from testlib import stores


def pytest_addoption(parser):
    group = parser.getgroup("clusterfs")
    group.addoption("--squid", metavar="PREFIX", type=pathlib.Path, default=BUILD / "squid-7",
                    help="the installed Squid that is tested: PREFIX/sbin/squid (default build/squid-7)")
    group.addoption("--store", default="clusterfs", choices=stores.ALL + ("all",),
                    help="the store whose behaviour is tested (default clusterfs)")
    group.addoption("--workers", metavar="N", type=int, default=1, help="of each Squid that does not say otherwise (default 1)")
    group.addoption("--asan", action="store_true", help="test the clusterfs tool that was built with sanitizers")
    group.addoption("--damage", metavar="N", type=int, default=15, help="damaged images of each kind for the tool (default 15)")
    group.addoption("--damage-seed", metavar="N", type=int, default=1, help="chooses the damage (default 1)")
    group.addoption("--mutant-worlds", metavar="N", type=int, default=400, help="that a mistake has to be noticed in (default 400)")
    group.addoption("--fuzz-program", metavar="PATH", type=pathlib.Path, default=BUILD / "clusterfs-fuzz")
    group.addoption("--fuzz-seconds", metavar="N", type=float, default=60, help="for all targets together (default 60)")
    group.addoption("--fuzz-on", action="store_true", help="begin at random, and with what earlier runs of this kind have kept")
    group.addoption("--fuzz-kept", metavar="FOLDER", type=pathlib.Path, default=BUILD / "fuzz",
                    help="for inputs that make a target fail (default build/fuzz)")
    group.addoption("--keep", action="store_true", help="keep the folders of tests that passed, too")


def pytest_configure(config):
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that fixtures take away their devices and processes
    worker = getattr(config, "workerinput", None)  # of pytest -n
    if worker:
        share_ports(int(worker["workerid"].removeprefix("gw")), worker["workercount"])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.failed:
        item.stash[FAILED] = True


@pytest.fixture(scope="session")
def work():
    """A folder for the folders of tests, which Squid's user can reach."""
    base = os.environ.get("TMPDIR") or (BUILD if BUILD.is_dir() else None)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tests-", dir=base))
    folder.chmod(0o755)
    yield folder
    if not any(folder.iterdir()):
        folder.rmdir()


@pytest.fixture
def folder(request, work):
    """An empty folder. It stays when the test fails."""
    path = work / "".join(c if c.isalnum() else "-" for c in request.node.name)[:100].strip("-")
    path.mkdir()
    yield path
    if request.node.stash.get(FAILED, False):
        print(f"the test's folder is {path}")
    elif not request.config.getoption("keep"):
        shutil.rmtree(path, ignore_errors=True)
