# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of bench-papers share: running bench-papers, what it must not leave behind."""

import json
import os
import pathlib
import subprocess

import pytest

MB = 1 << 20
#: seconds for one run of the program
TIMEOUT = 180


def leftovers(pid=os.getpid()):
    """Loop devices, mounts and cgroups that the runs of a process have made; other benchmarks may be running."""
    found = set()
    loops = []
    for path in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            backing = path.read_text().strip()
        except OSError:
            continue
        if "/papers-tests-" in backing:
            loops.append(f"/dev/{path.parts[3]}")
            found.add(f"{loops[-1]} of {backing}")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        if line.split()[0] in loops:
            found.add(f"mount {line.split()[1]}")
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory"):
        found |= {str(path) for path in pathlib.Path(root).glob(f"clusterfs-bench-{pid}-*")}
    return found


def need_root():
    """Skips where no devices can be made."""
    if os.geteuid() != 0 or not pathlib.Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")


class Context:
    """programs: the folder of bench-papers; folder: for this test, on a disk; memory: another, in memory where that can
    be (making 4096 folders is slow on some disks)."""

    def __init__(self, programs, folder, memory):
        self.programs, self.folder, self._memory = programs, folder, memory
        self._count = 0

    def image(self, megabytes=64):
        """A new, empty file for clusterfs."""
        self._count += 1
        path = self.folder / f"image{self._count}"
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, megabytes * MB)
        return path

    def empty(self):
        """A new, empty folder for files."""
        self._count += 1
        path = self._memory / f"files{self._count}"
        path.mkdir()
        return path

    def place(self, store, in_front=False):
        """Options that give a store a new place. in_front: clusterfs stands in front of files."""
        return ("--store", store, "--at", self.image() if store == "clusterfs" and not in_front else self.empty())

    def command(self, *words):
        return [str(self.programs / "bench-papers"), *map(str, words)]

    def run(self, *words, code=0):
        """Runs the program, which must end with this code. Returns its JSON; for code 2, what it said."""
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
        assert done.returncode == code, f"{words} ended with {done.returncode}: {done.stdout[-500:]} {done.stderr}"
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr

    def refused(self, *words, says, code=2):
        """The program refuses, with this code, and says these words in one message."""
        said = self.run(*words, code=code)
        assert isinstance(said, str), f"{words} gave a result"
        assert said.startswith("bench-papers: "), said
        for word in (says,) if isinstance(says, str) else says:
            assert word in said, f"{words}: '{word}' is not in: {said}"

    def attended(self, *words, on=None):
        """Runs the program with its attendant. on: {message: function} called before the answer.
        Returns (exit code, messages in order, JSON or None, what it said on standard error)."""
        out = self.folder / "attended.json"
        out.unlink(missing_ok=True)
        said = []
        with subprocess.Popen(self.command(*words, "--attended", "--json", out), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                said.append(line.strip())
                action = (on or {}).get(line.strip())
                if action:
                    action()
                process.stdin.write("ok\n")
                process.stdin.flush()
            process.stdin.close()
            errors = process.stderr.read()
            code = process.wait(TIMEOUT)
        return code, said, json.loads(out.read_text()) if out.exists() else None, errors


def phases(result):
    """{name: phase} of a result."""
    return {phase["name"]: phase for phase in result["phases"]}


def check_result(result, experiment, names):
    """What every result must have. Returns its phases."""
    assert result["program"] == "bench-papers" and result["experiment"] == experiment
    for key in ("store", "settings", "phases", "checks", "storeFigures", "workload"):
        assert key in result, f"no {key} in {sorted(result)}"
    found = phases(result)
    assert list(found) == list(names), f"phases {list(found)}, not {list(names)}"
    for phase in found.values():
        for key in ("seconds", "syncSeconds", "cpuSeconds"):
            assert phase[key] >= 0, f"{key} of {phase['name']}: {phase[key]}"
    assert result["checks"]["bad"] == 0, result["checks"]
    assert result["checks"]["refused"] == 0, result["checks"]
    return found


def check_summary(summary, count):
    """A distribution of that many operations, in order."""
    assert summary["count"] == count, f"{summary} is not of {count}"
    if count:
        order = [summary[name] for name in ("p50", "p90", "p99", "p99.9", "max")]
        assert order == sorted(order) and 0 < summary["mean"] <= summary["max"] * 1.001, summary
