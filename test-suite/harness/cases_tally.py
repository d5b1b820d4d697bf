# SPDX-License-Identifier: GPL-2.0-or-later
"""How verdicts are added up."""

import contextlib
import io
import os
import subprocess
import sys

import runner
import tally

LOG = """\
[ RUN      ] Device.one
test-suite/unit/DeviceTest.cc:235: Skipped
no partitions on the moon

[  SKIPPED ] Device.one (11 ms)
[ RUN      ] Device.two
[       OK ] Device.two (0 ms)
[  PASSED  ] 6 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Device.one
[  FAILED  ] 2 tests, listed below:
 2 FAILED TESTS
simulate: 750 passed, 0 failed
simulate: 749 passed, 1 failed
exhaustive: 20 histories, 300 crashes, 0 failed
exhaustive: 20 histories, 300 crashes, 5 failed
skip  faults.all[clusterfs] (0.0 s)
      the kernel has no loop devices
skipped: faults.all[clusterfs]: the kernel has no loop devices
100 passed, 3 failed, 1 skipped
4 passed, 1 failed
the 5 passed, 6 failed of another sentence
"""
BRIEF = "../test-suite/unit/DeviceTest.cc:235: Skipped\nno partitions on the moon\n[  PASSED  ] 1 test.\n"


def command(folder, text, *options, **environment):
    """(status, output) of the tally of one log."""
    log = folder / "log"
    log.write_text(text)
    done = subprocess.run([sys.executable, tally.__file__, *options, log], capture_output=True, text=True, check=False,
                          env={"PATH": os.environ["PATH"], **environment})
    return done.returncode, done.stdout


def case_all_kinds_are_counted(_):
    total = tally.Sum()
    total.add(LOG)
    assert (total.passed, total.failed) == (6 + 2 + 100 + 4, 2 + 2 + 3 + 1), total
    assert total.skipped == [("Device.one", "no partitions on the moon"),
                             ("faults.all[clusterfs]", "the kernel has no loop devices")], total.skipped


def case_a_brief_log_names_the_line(_):
    total = tally.Sum()
    total.add(BRIEF)
    assert total.skipped == [("DeviceTest.cc:235", "no partitions on the moon")] and total.passed == 1, total


def case_a_needless_skip_fails_where_ci_is_true(folder):
    status, out = command(folder, BRIEF)
    assert status == 0 and out.endswith("\n1 passed, 0 failed, 1 skipped\n") and "need not skip" in out, out
    status, out = command(folder, BRIEF, CI="true")
    assert status == 1 and out.endswith("\n1 passed, 1 failed, 1 skipped\n"), out


def case_a_skip_that_must_be_does_not_fail(folder):
    status, out = command(folder, BRIEF.replace("no partitions on the moon", "the sanitizer ends the process instead"), CI="true")
    assert status == 0 and out.endswith("\n1 passed, 0 failed, 1 skipped\n") and "need not" not in out, out


def case_an_excuse_holds_only_under_its_condition(folder):
    excuse = folder / "excuses"
    excuse.write_text("# nothing\nno disk.*|[ -e /dev/null ] || false|why\nno tape|[ -e /nowhere ]|why\n")
    allowed = tally.excuses(excuse)
    assert tally.must("no disk at all", allowed) and not tally.must("there is no disk", allowed)
    assert not tally.must("no tape", allowed)
    assert tally.excuses()  # those of the project can be read


def case_an_untold_failure_counts_once(folder):
    assert command(folder, BRIEF, "--failed", "1")[1].endswith("\n1 passed, 1 failed, 1 skipped\n")
    assert command(folder, BRIEF + "1 passed, 2 failed, 0 skipped\n", "--failed", "1")[1].endswith("2 passed, 2 failed, 1 skipped\n")


def case_the_runner_names_skips_and_judges(_):
    def fine(_):
        pass

    def broken(_):
        raise AssertionError("broken")

    def absent(_):
        raise runner.Skip("no such\nmachine")

    for cases, status, wanted in (([fine, absent], 0, "1 passed, 0 failed, 1 skipped\n"), ([fine, broken], 1, "1 passed, 1 failed, 0 skipped\n"),
                                  ([], 1, "0 passed, 0 failed, 0 skipped\n")):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            assert runner.run_all(cases, "", None) == status, wanted
        assert said.getvalue().endswith(wanted), said.getvalue()
        assert ("skipped: absent: no such machine\n" in said.getvalue()) == (absent in cases), said.getvalue()
