# SPDX-License-Identifier: GPL-2.0-or-later
"""How verdicts are added up."""

import os
import subprocess
import sys

import tally
from common import BUILD

LOG = """\
simulate: 750 passed, 0 failed
simulate: 749 passed, 1 failed
exhaustive: 20 histories, 300 crashes, 0 failed
exhaustive: 20 histories, 300 crashes, 5 failed
the simulate: 5 passed, 6 failed of another sentence
"""
#: what pytest is asked to do
TESTS = """\
import pytest

@pytest.fixture
def broken_end():
    yield
    assert False

@pytest.fixture
def broken_begin():
    assert False

def test_fine(): pass
def test_fails(): assert False
def test_fails_twice(broken_end): assert False
def test_fails_in_the_end(broken_end): pass
def test_fails_at_once(broken_begin): pass
def test_skips(): pytest.skip("no such\\nmachine")
@pytest.mark.xfail(reason="known", raises=AssertionError)
def test_known(): assert False
"""
ACCOUNT = """<testsuites><testsuite name="x"><testcase classname="Device" name="one"/>
<testcase classname="Device" name="two">{}</testcase></testsuite></testsuites>"""
SKIPPED = '<skipped message="{}"/>'


def command(folder, account, *options, **environment):
    """(status, output) of the tally of one account."""
    path = folder / "account.xml"
    path.write_text(account)
    done = subprocess.run([sys.executable, tally.__file__, *options, path], capture_output=True, text=True, check=False,
                          env={"PATH": os.environ["PATH"], **environment})
    return done.returncode, done.stdout


def test_the_simulation_is_counted():
    total = tally.Sum()
    total.add_log(LOG)
    assert (total.passed, total.failed) == (2, 2), total


def test_what_pytest_says_is_counted(folder):
    (folder / "test_some.py").write_text(TESTS)
    account = folder / "account.xml"
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", folder, "-p", "no:cacheprovider", folder,
                    f"--junit-xml={account}"], capture_output=True, check=False, timeout=120)
    total = tally.Sum()
    total.add_account(account.read_text())
    assert (total.passed, total.failed) == (1, 4), (total, account.read_text())
    assert total.skipped == [("test_some.test_skips", "no such machine"), ("test_some.test_known", "known")], total


def test_what_googletest_says_is_counted(folder):
    """The real unit tests: one that passes, and one that skips where there is no such process."""
    account = folder / "unit.xml"
    done = subprocess.run([BUILD / "unit-tests", "--gtest_filter=HistogramTest.*", f"--gtest_output=xml:{account}"], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    total = tally.Sum()
    total.add_account(account.read_text())
    assert total.passed > 1 and not total.failed and not total.skipped, account.read_text()
    # as version 1.12 writes one that skips
    total.add_account(ACCOUNT.format('<skipped message="DeviceTest.cc:235&#x0A;no partitions on the moon"/>'))
    assert total.skipped == [("Device.two", "no partitions on the moon")], total


def test_a_needless_skip_fails_where_ci_is_true(folder):
    account = ACCOUNT.format(SKIPPED.format("no partitions on the moon"))
    status, out = command(folder, account)
    assert status == 0 and out.endswith("\n1 passed, 0 failed, 1 skipped\n") and "need not skip" in out, out
    assert out.startswith("skipped: Device.two: no partitions on the moon"), out
    status, out = command(folder, account, CI="true")
    assert status == 1 and out.endswith("\n1 passed, 1 failed, 1 skipped\n"), out


def test_a_skip_that_must_be_does_not_fail(folder):
    status, out = command(folder, ACCOUNT.format(SKIPPED.format("the sanitizer ends the process instead")), CI="true")
    assert status == 0 and out.endswith("\n1 passed, 0 failed, 1 skipped\n") and "need not" not in out, out


def test_an_excuse_holds_only_under_its_condition(folder):
    excuse = folder / "excuses"
    excuse.write_text("# nothing\nno disk.*|[ -e /dev/null ] || false|why\nno tape|[ -e /nowhere ]|why\n")
    allowed = tally.excuses(excuse)
    assert tally.must("no disk at all", allowed) and not tally.must("there is no disk", allowed)
    assert not tally.must("no tape", allowed)
    assert tally.excuses()  # those of the project can be read


def test_an_untold_failure_counts_once(folder):
    assert command(folder, ACCOUNT.format(""), "--failed", "1")[1].endswith("2 passed, 1 failed, 0 skipped\n")
    assert command(folder, ACCOUNT.format("<failure/>"), "--failed", "1")[1].endswith("1 passed, 1 failed, 0 skipped\n")


def test_an_account_that_is_cut_fails(folder):
    assert command(folder, ACCOUNT[:40])[0] == 1
