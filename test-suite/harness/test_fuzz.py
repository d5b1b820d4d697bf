# SPDX-License-Identifier: GPL-2.0-or-later
"""A fuzzer that crashed, ended early or did nothing has not passed."""

import subprocess
import sys

from common import TOP

PROGRAM = """#!/bin/sh
# stands for clusterfs-fuzz: says what the test wants
for word; do
    case $word in
    --list) echo some; exit 0 ;;
    --write-seeds=*) echo one >"${word#*=}/1"; echo two >"${word#*=}/2"; exit 0 ;;
    -artifact_prefix=*) prefix=${word#*=} ;;
    esac
done
"""
WELL = "echo '#2	INITED cov: 17 ft: 18'; echo '#30	DONE   cov: 19 ft: 20'; echo 'Done 30 runs in 1 second(s)'"


def verdict(folder, name, says):
    """(status, output) of a run of a fuzzer that says that."""
    program = folder / f"{name}-fuzz"
    program.write_text(PROGRAM + says + "\n")
    program.chmod(0o755)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider", TOP / "test-suite" / "fuzz",
                           "--fuzz-program", program, "--fuzz-kept", folder / name, "--fuzz-seconds", "1"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    return done.returncode, done.stdout


def test_a_fuzzer_that_is_done_has_passed(folder):
    status, output = verdict(folder, "well", WELL)
    assert status == 0 and "some: 30 runs, cov 19" in output and "1 passed" in output, output


def test_a_fuzzer_that_is_not_done_has_failed(folder):
    for name, says, why in (
            ("crash", f"{WELL}; exit 77", "ended with 77"),
            ("silent", "exit 0", "reached nothing; did not say that it is done with its 2 seeds"),
            ("early", "echo '#1	INITED cov: 17 ft: 18'; exit 0", "did not say that it is done"),
            ("few", "echo '#1	DONE cov: 17 ft: 18'; echo 'Done 1 runs in 1 second(s)'", "did not say that it is done"),
            ("nothing", WELL.replace("cov: 17", "cov: 0").replace("cov: 19", "cov: 0"), "reached nothing"),
            ("kept", f"{WELL}; echo x >${{prefix}}crash-1", "kept some-crash-1")):
        status, output = verdict(folder, name, says)
        assert status == 1 and why in output and "1 failed" in output, (name, output)
