# SPDX-License-Identifier: GPL-2.0-or-later
"""End-to-end tests: a real Squid with clusterfs (or, to compare, ufs, aufs or rock) between an origin server and clients
on loopback. Every body is compared byte for byte. A test gets `t`, a suite.Test, and runs with each store that its mark
`stores` names (all where it has none), of those that --store chooses."""

import os

import pytest

from common import FAILED
from testlib import stores, suite, workers


def pytest_generate_tests(metafunc):
    if "t" not in metafunc.fixturenames:
        return
    chosen = metafunc.definition.get_closest_marker("stores")
    known = metafunc.definition.get_closest_marker("known")
    reasons = known.args[0] if known else {}
    metafunc.parametrize("store", [
        pytest.param(store, marks=pytest.mark.xfail(reason=reasons[store], raises=AssertionError, strict=False) if store in reasons else ())
        for store in (chosen.args if chosen else stores.ALL)])


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("store")
    others = [item for item in items if hasattr(item, "callspec") and item.callspec.params.get("store", wanted) != wanted]
    if wanted != "all" and others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def prefix(request):
    """Where the Squid is installed."""
    path = request.config.getoption("squid").resolve()
    if not os.access(path / "sbin" / "squid", os.X_OK):
        pytest.fail(f"{path / 'sbin' / 'squid'} is not a program: make squid-7, or give the prefix of an installed Squid by --squid")
    return path


@pytest.fixture(scope="session")
def refusals(prefix, work):
    """{store: why this Squid does not take it, or None}, of those that were asked for."""
    return suite.Refusals(prefix, work)


@pytest.fixture
def t(request, prefix, store, refusals, folder):
    """A suite.Test. Defects that its Squids reported fail the test in the end."""
    for need in request.node.iter_markers("needs"):
        for reason in filter(None, map(suite.missing, need.args)):
            pytest.skip(reason)
    if request.config.getoption("workers") > 1 and workers.reason(request.node.originalname):
        pytest.skip(workers.reason(request.node.originalname))
    if refusals[store]:
        (pytest.fail if store == "clusterfs" else pytest.skip)(refusals[store])
    test = suite.Test(prefix, store, folder, request.config.getoption("workers"))
    request.node.stash[suite.TEST] = test
    try:
        yield test
        test.judge()
    except BaseException:
        request.node.stash[FAILED] = True
        raise
    finally:
        test.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    test = item.stash.get(suite.TEST, None)
    if report.failed and test:
        report.sections.append(("Squid", test.tails()))
