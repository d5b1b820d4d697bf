# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of bench-scale: all of it with few objects, a crashed cache of known objects, and bad arguments. Judges no speed."""

import json
import subprocess

import pytest

pytestmark = pytest.mark.long


def run(program, *arguments):
    """A finished run of it."""
    return subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)


def test_all_of_it_with_few_objects(programs, folder):
    out = folder / "out.json"
    done = run(programs / "bench-scale", "--quick", "--folder", folder, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert [path.name for path in folder.iterdir()] == ["out.json"], "an image was left"
    assert found["machine"]["cores"] > 0 and found["machine"]["storesPerSecond"] > 0, found["machine"]
    measured = {one["what"]: one for one in found["measured"]}
    disk = {what.partition(": ")[2]: one for what, one in measured.items() if what.startswith("1 TB, 100000 objects")}
    damaged, used, stopped, crashed = (disk[what] for what in (
        "start with a damaged block", "start, checkpoints, stop", "start after the stop, crash", "start after the crash"))
    assert damaged["blocks lost"] == 1 and damaged["objects lost"] == damaged["objects that they described"] > 0, damaged
    assert damaged["of these, others than they described"] == damaged["doubtful objects"] == 0, damaged
    assert used["clean"] == 1 and used["objects"] == 100000 and used["bytes written while nothing happens"] == 0, used
    assert used["bytes of a checkpoint"] > 28 * 10000, used
    # with ten thousand objects, what does not fill blocks is some of it
    assert used["bytes of it for each byte that there was to say"] < 2.1, used
    # three times what is stored between checkpoints, less a tenth of that, and then once more
    assert stopped["clean"] == 1 and stopped["objects"] == 139000, stopped
    assert crashed["clean"] == 0 and crashed["objects"] == 148000, crashed
    for one in measured.values():
        assert all(turns["calls"] > 0 and turns["longestMs"] > 0 for name, turns in one.items() if name.startswith("turns ")), one
    moving = [one for what, one in measured.items() if what.endswith("start with two copies of some")]
    assert [one["clean"] for one in moving] == [0, 0] and [one["objects"] for one in moving] == [100000, 100000], moving
    evicting = [one for what, one in measured.items() if what.endswith("eviction")]
    assert len(evicting) == 2 and all(one["objects evicted"] > 0 for one in evicting), evicting


def test_a_crashed_cache(programs, folder):
    image = folder / "image"
    image.touch(mode=0o600)
    with open(image, "r+b") as file:
        file.truncate(200 << 20)
    for command in ((programs / "clusterfs", "format", image), (programs / "bench-scale", "--load", image, "--objects", 5000, "--bytes", 3000)):
        done = run(*command)
        assert done.returncode == 0, done.stderr
    assert "stored 5000 objects of 3000 bytes" in done.stdout, done.stdout
    found = json.loads(run(programs / "clusterfs", "check", image, "--json").stdout)
    assert (found["objects"], found["object_bytes"], found["clean"], found["problem_count"]) == (5000, 15000000, False, 0), found


def test_bad_arguments(programs):
    for arguments, words in ((("--load", "/nonexistent"), "/nonexistent"), (("--quick", "--folder", "/nonexistent"), "/nonexistent"),
                             (("--objects", "0"), "--objects"), (("--terabytes", "x"), "--terabytes")):
        done = run(programs / "bench-scale", *arguments)
        assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1, (arguments, done.stderr)
