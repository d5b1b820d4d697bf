# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of ./bench: a set of seconds, its results, its errors, and that it leaves nothing behind. Judges no speed."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest

from benchlib import machine, papers_plan, plans, polygraph
from benchlib.cgroup import Cgroup
from benchlib.errors import BenchError
from benchlib.setup import Setup
from common import BUILD, TOP

BENCH = TOP / "tools" / "bench" / "bench.py"
PORT, ORIGIN_PORT = 14128, 19080


def python():
    """A Python that has matplotlib, as ./bench looks for it."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([candidate, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0:
            return candidate
    return sys.executable


class Context:
    """What the tests need: how to call ./bench, and what it must not leave behind."""

    def __init__(self, programs, squid, folder):
        self.programs, self.squid, self.folder = programs, squid, folder
        self._python = python()

    def command(self, *arguments):
        return [self._python, str(BENCH), *map(str, arguments)]

    def options(self, out):
        return ("--programs", self.programs, "--squid", self.squid, "--port", PORT, "--origin-port", ORIGIN_PORT,
                "--out", self.folder / out)

    def bench(self, *arguments, timeout=300, **how):
        return subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False, **how)

    def refused(self, *arguments, words, **how):
        """The call ends at once with an error that has these words, and no traceback."""
        done = self.bench(*arguments, timeout=60, **how)
        assert done.returncode == 2, f"{arguments} ended with {done.returncode}:\n{done.stdout}"
        assert "Traceback" not in done.stdout, done.stdout
        missing = [word for word in words if word not in done.stdout]
        assert not missing, f"{arguments}: no {missing} in:\n{done.stdout}"


def leftovers():
    """Everything on this machine that looks like ours: mounts, loop devices, cgroups, processes, folders. Other
    benchmarks and tests may be running: their names and ports are others."""
    found = {f"mount {line.split()[1]}" for line in pathlib.Path("/proc/mounts").read_text().splitlines()
             if "bench" in line.split()[1]}
    loops = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=False).stdout
    found |= {f"loop {line}" for line in loops.splitlines() if "bench" in line}
    found |= {f"cgroup {path}" for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory")
              for path in pathlib.Path(root).glob("clusterfs-bench-*")}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = path.read_bytes().decode(errors="replace").replace("\0", " ")
            if any(word in line for word in ("bench-run-", "--name=bench", f":{ORIGIN_PORT}", f"--port {ORIGIN_PORT}")):
                found.add(f"process {path.parent.name} {line[:100]}")
    for base, pattern in (("/dev/shm", "*bench*"), (BUILD, "bench-run-*"), (tempfile.gettempdir(), "bench-run-*")):
        found |= {f"file {path}" for path in pathlib.Path(base).glob(pattern)}
    return found


@pytest.fixture
def context(programs, request, folder):
    before = leftovers()
    yield Context(programs, request.config.getoption("squid").resolve(), folder)
    left = leftovers() - before
    assert not left, "left behind:\n" + "\n".join(sorted(left))


def test_bad_arguments(context):
    context.refused("tiny", "nonsense", words=["'nonsense' is not a part", "pages-hdd-fresh"])
    context.refused("tiny", "--stores", "clusterfs,floppy", words=["'floppy' is not a store", "aufs"])
    context.refused("tiny", "--with", "aufs", words=["--with aufs"])
    context.refused("more", "polygraph", words=["--polygraph"])
    context.refused("report", context.folder / "nowhere", words=["nowhere", "not a folder of results"])
    context.refused("compare", context.folder / "nowhere", context.folder, words=["not a folder of results"])
    done = context.bench("sideways")
    assert done.returncode == 2 and "invalid choice" in done.stdout, done.stdout


def test_list_shows_the_parts(context):
    done = context.bench("list")
    assert done.returncode == 0, done.stdout
    for word in ("quick", "full", "more", "pages-hdd-aged", "restart", "clusterfs", "varnish"):
        assert word in done.stdout, f"no {word} in:\n{done.stdout}"


def test_missing_programs(context):
    context.refused("tiny", "--programs", context.folder, "--squid", context.folder, "--trace", "no-such-trace",
                    words=["diskmodel", "make bench-programs", "make squid-7", "no-such-trace"])


@pytest.mark.parametrize("scale", sorted(plans.SCALES))
def test_each_set_says_what_it_needs(scale):
    """The largest ones are never run by a test, so that nothing else would tell that they cannot start."""
    setup = Setup(squid=pathlib.Path("/nowhere/sbin/squid"), programs=pathlib.Path("/nowhere/build"), polygraph=pathlib.Path("/nowhere"))
    with pytest.raises(BenchError, match="(?s)cannot measure here:.*/nowhere/sbin/squid"):
        machine.check(setup, scale, plans.parts(scale))


@pytest.mark.parametrize("module", (papers_plan, polygraph))
def test_experiments_have_the_numbers_of_their_sets(module):
    kind = module.__name__.rpartition(".")[2].partition("_")[0]
    sets = {scale for scale in plans.SCALES if any(part.kind == kind for part in plans.parts(scale))}
    assert sets and sets <= set(module.SCALES)


def test_bad_trace(context):
    trace = context.folder / "bad.tsv"
    trace.write_text("this is\nnot a trace\n")
    context.refused("tiny", *context.options("trace"), "--trace", trace, words=["bad.tsv"])


def test_missing_root(context):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        copy = pathlib.Path(folder) / "copy"
        shutil.copytree(TOP / "tools", copy / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        for path in [pathlib.Path(folder), *copy.rglob("*"), copy]:
            path.chmod(0o755)
        done = subprocess.run([context.command()[0], str(copy / "tools/bench/bench.py"), "tiny"], user=65534, cwd="/",
                              env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True,
                              text=True, check=False)
    if "Permission denied" in done.stderr and "bench.py" not in done.stderr:
        pytest.skip("this Python is root's own")
    assert done.returncode == 2 and "not root" in done.stderr, done.stdout + done.stderr


def test_port_in_use(context):
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", ORIGIN_PORT))
        taken.listen()
        context.refused("tiny", *context.options("port"), words=[str(ORIGIN_PORT), "--origin-port"])


def test_full_dev_shm(context):
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    command = " ".join(f"'{word}'" for word in context.command("tiny", *context.options("shm")))
    done = subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=20m tmpfs /dev/shm && {command}"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "/dev/shm has" in done.stderr, done.stdout + done.stderr


def need_disk_and_limit():
    """Skips where this machine gives no modelled disk, or no limit of memory, whoever asks."""
    absent = [device for device in ("/dev/fuse", "/dev/loop-control") if not os.path.exists(device)]
    if absent:
        pytest.skip(f"there is no {' and no '.join(absent)}")
    try:
        with Cgroup("tests"):
            pass
    except BenchError as error:
        pytest.skip(str(error))


def test_a_whole_set(context):
    need_disk_and_limit()
    done = context.bench("tiny", *context.options("tiny"), timeout=900)
    assert done.returncode == 0, done.stdout
    assert "left" in done.stdout, "no estimate of what is left"
    _check_results(context.folder / "tiny")
    again = context.bench("tiny", *context.options("tiny"))
    assert again.returncode == 0 and "are already in" in again.stdout, again.stdout
    compared = context.bench("compare", context.folder / "tiny", context.folder / "tiny")
    assert compared.returncode == 0 and "within the spread" in compared.stdout, compared.stdout
    _check_parts_stay_together(context, context.folder / "tiny")
    damaged = next((context.folder / "tiny" / "runs").glob("*.json"))
    damaged.write_text("{")
    context.refused("report", context.folder / "tiny", words=[damaged.name])


def _check_parts_stay_together(context, out):
    """However the parts were run."""
    for path in (out / "runs").glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"order": [0, 0]}))
    done = context.bench("report", out)
    assert done.returncode == 0, done.stdout
    heads = [line for line in (out / "report.md").read_text().splitlines() if line.startswith("## ")]
    assert len(heads) == len(set(heads)) >= 5, heads


def _check_results(out):
    for name in ("report.md", "report.html"):
        assert (out / name).stat().st_size > 2000, f"{name} is too short"
    page = (out / "report.html").read_text()
    assert page.count("<svg") >= 3 and "src=" not in page, "the page lacks plots, or is not self-contained"
    for part, store in (("pages-hdd-fresh", "clusterfs"), ("pages-hdd-fresh", "aufs"), ("pages-ssd-aged", "clusterfs"),
                        ("pages-ssd-aged", "aufs"), ("hits", "memory"), ("hits", "aufs"), ("restart", "clusterfs"),
                        *(("workers-hits", f"{store}-w{count}") for store, count in (("memory", 2), ("clusterfs", 2), ("aufs", 2), ("carp", 3)))):
        run = json.loads((out / "runs" / f"{part}.{store}.json").read_text())
        for key in ("machine", "versions", "settings", "seed", "command", "parameters", "corpus", "memoryLimit", "phases"):
            assert key in run, f"{part}.{store} has no {key}"
        for phase in run["phases"]:
            client = phase["client"]
            assert client["requests"] > 0 and not client["badBodies"], f"{part}.{store} {phase['name']}: {client}"
            assert client["errors"] == 0, f"{part}.{store} {phase['name']}: {client['errors']} errors"
            assert phase["memory"]["used"] > 0, f"{part}.{store} {phase['name']}: {phase}"
        # the kernel counts in hundredths, of which a phase of a moment may need none
        seconds = [phase["cpuSeconds"] for phase in run["phases"]]
        assert sum(seconds) > 0 or not seconds, f"{part}.{store}: {run['phases']}"
    run = json.loads((out / "runs" / "pages-ssd-aged.aufs.json").read_text())
    names = [phase["name"] for phase in run["phases"]]
    assert run["times"]["age"]["turns"] >= 3 and any(name.startswith("age") for name in names), names
    assert {"closed 1/1", "open 1/1"} <= set(names), names
    for store, policy in (("aufs", []), ("aufs-gdsf", ["cache_replacement_policy heap GDSF"])):
        settings = json.loads((out / "runs" / f"pages-ssd-aged.{store}.json").read_text())["settings"]
        assert [line for line in settings if line.startswith("cache_replacement")] == policy, settings
    assert run["limit"]["disk"]["bandwidth"] > 0 and run["phases"][-1]["disk"]["reads"] >= 0
    start = json.loads((out / "runs" / "restart.aufs.json").read_text())["starts"]["killed"][0]
    assert 0 < start["port"] <= start["firstHit"] and start["whole"] > 0, start
    _check_workers(out / "runs")


def _check_workers(runs):
    """Of stores with several workers: who did the work, and the end of the process that has the disk."""
    run = json.loads((runs / "workers-hits.clusterfs-w2.json").read_text())
    assert "workers 2" in run["settings"], run["settings"]
    names = {name.rstrip("0123456789)") for phase in run["phases"] for name in phase["processes"]}
    assert {"(squid-", "(squid-disk-", "(squid-coord-"} <= names, run["phases"]
    assert not any("/" in name for name in names), f"a folder of this machine: {names}"
    dirs = [line for line in json.loads((runs / "workers-hits.carp-w3.json").read_text())["settings"] if line.startswith("cache_dir aufs")]
    assert len(dirs) == 2, dirs
    page = (runs.parent / "report.md").read_text()
    assert "**Who did the work**" in page and "aufs behind CARP, 3 workers" in page
    starts = json.loads((runs / "workers-restart.clusterfs-w2.json").read_text())["starts"]
    assert 0 < starts["owner"][0]["firstHit"] <= starts["owner"][0]["whole"], starts


def test_signals_leave_nothing(context):
    need_disk_and_limit()
    for number, delay in ((signal.SIGINT, 1.0), (signal.SIGTERM, 4.0), (signal.SIGINT, 7.0)):
        process = subprocess.Popen(context.command("tiny", "--again", *context.options("signals")), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(delay)
        process.send_signal(number)
        try:
            out, _ = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail(f"{number} after {delay} s did not end it:\n{process.communicate()[0]}")
        assert process.returncode == 130 and "goes on from there" in out, f"{number} after {delay} s: " \
            f"{process.returncode}\n{out}"
