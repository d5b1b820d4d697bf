# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of bench-policy: the same command gives the same figures, a cache with room for everything keeps everything,
and bad arguments are told as what they are."""

import re
import subprocess

import pytest

REFERENCES = ("LRU", "S3-FIFO", "LFUDA", "GDSF, size^0.15", "GDSF, size^0.25", "GDSF, size^0.5", "GDSF")


@pytest.fixture
def program(programs):
    return programs / "bench-policy"


def policy(program, *arguments):
    """A finished run of it."""
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def measured(program, *arguments):
    """(all it said, {what: percentage}) of the visits that count."""
    done = policy(program, *arguments)
    assert done.returncode == 0, done.stderr
    last = done.stdout[done.stdout.index("measured:"):]
    found = re.search(r"hits of requests: ([\d.]+) % \(nothing ever dropped: ([\d.]+) %\); of bytes: ([\d.]+) %", last)
    assert found, last
    shares = dict(zip(("hits", "all", "bytes"), map(float, found.groups())))
    for name, requests, nbytes in re.findall(r"^    (\S.*?) +([\d.]+) % of requests +([\d.]+) % of bytes$", last, re.M):
        shares[name] = (float(requests), float(nbytes))
    return done.stdout, shares


def test_same_figures_twice(program):
    arguments = ("--corpus-bytes", "60M", "--cache-mb", 24, "--turns", 1, "--warm", 50, "--visits", 200, "--change", 0.5,
                 "--engine", "staging=4 read-cache=4")
    said, shares = measured(program, *arguments)
    assert said == measured(program, *arguments)[0]
    assert "measured: 200 visits" in said and "stores refused 0" in said, said
    assert 10 < shares["hits"] < shares["all"], said
    assert [name for name in shares if isinstance(shares[name], tuple)] == list(REFERENCES), said
    for name in REFERENCES:
        assert 10 < shares[name][0] < shares["all"], said
    requests = [shares[name][0] for name in REFERENCES if "GDSF" in name]
    assert requests == sorted(requests) and shares["GDSF"][0] > shares["LRU"][0] + 5, said  # the more, the more size counts
    assert shares["GDSF"][1] < shares["LFUDA"][1], said


def test_room_for_everything_keeps_everything(program):
    said, shares = measured(program, "--corpus-bytes", "20M", "--cache-mb", 64, "--prepare", "fill", "--visits", 100)
    assert shares == {"hits": 100, "all": 100, "bytes": 100, **dict.fromkeys(REFERENCES, (100, 100))}, said


def test_restart(program):
    """A start finds all objects; the read cache is as it was, and with warm=off it is empty."""
    arguments = ("--corpus-bytes", "60M", "--cache-mb", 100, "--prepare", "fill", "--warm", 400, "--visits", 20, "--engine")
    reads = {}
    for name, options in (("no restart", ("read-cache=40",)), ("cold", ("read-cache=40 warm=off", "--restart")),
                          ("warm", ("read-cache=40", "--restart"))):
        said, shares = measured(program, *arguments, *options)
        assert shares["hits"] == 100, (name, said)
        last = said[said.index("measured:"):]
        reads[name] = float(re.search(r"disk reads a visit: ([\d.]+)", last).group(1))
        waited = sum(map(float, re.findall(r"reads a visit for .*?: ([\d.]+)", last)))
        reads[name + ", waited for"] = waited
    assert reads["no restart"] < reads["cold"] and reads["warm, waited for"] < reads["cold, waited for"], reads


def test_visits_are_shown_one_by_one(program):
    said, _ = measured(program, "--corpus-bytes", "60M", "--cache-mb", 24, "--turns", 1, "--warm", 50, "--visits", 200,
                       "--engine", "staging=4 read-cache=4", "--show", 2)
    shown = said[said.index("visits one by one:\n"):].splitlines()[1:]
    requests = [line for line in shown if re.fullmatch(r" +[\d.]+ ms  user \d+ wants /\S+ of .+: (a miss|from memory|from the disk), [\d.]+ ms", line)]
    disk = [line for line in shown if re.fullmatch(r" +[\d.]+ ms  disk (reads|writes) \d+ KB at [\d.]+ MB, (urgent|background): [\d.]+ ms", line)]
    assert len(requests) + len(disk) == len(shown) and len(requests) > 2, said
    assert sum("pages' own HTML" in line for line in requests) == 2, said
    assert sum("from the disk" in line for line in requests) <= len(disk), said
    times = [float(line.split()[0]) for line in shown]
    assert times == sorted(times), said


def test_bad_arguments(program):
    for arguments, words in ((("--engine", "staging"), "staging is not of the form name=value"),
                             (("--engine", "stagings=4"), "stagings"), (("--model", "tape"), "tape"),
                             (("--workload", "random", "--change", "0.5"), "--change is not for the workload random"),
                             (("--trace", "/nonexistent"), "/nonexistent")):
        done = policy(program, *arguments)
        assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1, (arguments, done.stderr)
