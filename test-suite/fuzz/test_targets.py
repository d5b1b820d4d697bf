# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the fuzzers: each tries its seeds and its folder of corpus/, then what libFuzzer makes of them. What makes one fail
is kept in build/fuzz. A fuzzer passes that says it is done, with all its seeds tried and nothing new kept there that made
it fail."""

import os
import pathlib
import re
import subprocess

import pytest

CORPUS = pathlib.Path(__file__).with_name("corpus")
PROGRESS = re.compile(r"^#(\d+)\s.*\bcov: (\d+)", re.MULTILINE)
DONE = re.compile(r"^Done (\d+) runs in \d+ second", re.MULTILINE)
SLOW = {"image": 10}  # parts of the time, of targets that do few runs a second; others have one
REPEATABLE = ["-seed=1", "-runs=1000000"]
LIMITS = ["-max_len=8192", "-rss_limit_mb=1024", "-malloc_limit_mb=256", "-timeout=60"]
GRACE = 600  # seconds beyond those asked for: seeds are tried in any case


def _targets(program):
    listed = subprocess.run([program, "--list"], check=True, stdout=subprocess.PIPE, text=True, timeout=GRACE)
    return sorted(listed.stdout.split())


def pytest_generate_tests(metafunc):
    program = metafunc.config.getoption("fuzz_program")
    if not os.access(program, os.X_OK):
        pytest.fail(f"{program} is not a program: make fuzz-programs")
    metafunc.parametrize("target", _targets(program))


@pytest.fixture
def seconds(request, target):
    """For this target: its share of --fuzz-seconds among all that were chosen."""
    chosen = {item.callspec.params["target"] for item in request.session.items if "target" in getattr(item, "fixturenames", ())}
    share = request.config.getoption("fuzz_seconds") / sum(SLOW.get(name, 1) for name in chosen)
    return share * SLOW.get(target, 1)


def test_hostile_input(request, folder, target, seconds):
    program, kept, goes_on = (request.config.getoption(name) for name in ("fuzz_program", "fuzz_kept", "fuzz_on"))
    kept.mkdir(parents=True, exist_ok=True)
    seeds, found = folder / "seeds", kept / target if goes_on else folder / "found"
    folders = [found, seeds] + [corpus for corpus in [CORPUS / target] if corpus.is_dir()]
    for each in (found, seeds):
        each.mkdir(parents=True, exist_ok=True)
    subprocess.run([program, f"--target={target}", f"--write-seeds={seeds}"], check=True, timeout=GRACE)
    inputs = sum(path.stat().st_size > 0 for each in folders for path in each.iterdir())
    command = [program, f"--target={target}", *LIMITS, f"-max_total_time={max(1, round(seconds))}", f"-artifact_prefix={kept / target}-",
               *([] if goes_on else REPEATABLE), *folders]

    def artifacts():
        """What made the target fail, ever."""
        return {path.name for kind in ("crash", "leak", "oom", "timeout") for path in kept.glob(f"{target}-{kind}-*")}

    before = artifacts()
    try:
        # small stacks and a short memory for what was freed make runs faster
        done = subprocess.run(command, env={**os.environ, "ASAN_OPTIONS": "malloc_context_size=8:quarantine_size_mb=32"}, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds + GRACE)
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, status = (late.stdout or b"").decode(errors="replace"), -1
    progress, done, new = PROGRESS.findall(output), DONE.search(output), artifacts() - before
    wrong = []
    if status != 0:
        wrong.append(f"ended with {status}")
    if not progress or not int(progress[-1][1]):
        wrong.append("reached nothing")
    if not done or int(done[1]) < max(1, inputs):
        wrong.append(f"did not say that it is done with its {inputs} seeds")
    if new:
        wrong.append(f"kept {', '.join(sorted(new))}")
    assert not wrong, f"{'; '.join(wrong)}; try one input again: {program} --target={target} FILE\n{output[-6000:]}"
    print(f"{target}: {progress[-1][0]} runs, cov {progress[-1][1]}")
