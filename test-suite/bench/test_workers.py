# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of bench-workers: each line has its figures, and bad arguments are refused. Judges no speed."""

import re
import subprocess

from common import BUILD


def run(*arguments):
    return subprocess.run([BUILD / "bench-workers", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)


def test_all_of_it_once(programs, folder):
    assert (programs / "bench-workers").exists()
    done = run("--records", 1000, "--objects", 1000, "--rounds", 1, "--path", folder / "image")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    measured = set()
    for line in lines:
        found = re.fullmatch(r"(\S.*?) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) (ns|us|us of processor time|for each object)", line)
        assert found and float(found[3]) <= float(found[2]) <= float(found[4]), line
        # of a few objects, the kernel may count no processor time at all
        assert float(found[2]) > 0 or found[5] in ("for each object", "us of processor time"), line
        assert found[1] not in measured, f"twice: {line}"
        measured.add(found[1])
    assert {"look-up by a worker while records come and go all the time", "engine: hit from memory",
            "owner and worker: store, 16 at a time: wake-ups"} <= measured, done.stdout


def test_bad_arguments(programs, folder):
    assert (programs / "bench-workers").exists()
    (folder / "foreign").write_bytes(b"somebody's data" + bytes(64 << 20))
    for words, says in ((("--records", "few"), "--records"), (("--rounds", 0), "--rounds"), (("--what",), "--what")):
        done = run(*words)
        assert done.returncode == 1 and says in done.stderr, done.stderr
    done = run("--records", 1000, "--objects", 1000, "--rounds", 1, "--path", folder / "foreign")
    assert done.returncode == 1 and "holds data" in done.stderr, done.stderr
    assert (folder / "foreign").read_bytes()[:15] == b"somebody's data"
