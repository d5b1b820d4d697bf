# SPDX-License-Identifier: GPL-2.0-or-later
"""What ./prove keeps: nothing that was played is lost or counted twice, and what failed is told with its seed."""

import json
import os
import signal
import subprocess
import sys
import time

from common import BUILD, TOP

RUN = TOP / "test-suite" / "prove" / "run.py"
PAGE = "before\n<!-- ./prove writes from here -->\nold\n<!-- to here -->\nbehind\n"
#: so short a run plays one piece of worlds, and what was left over
MOMENT = "0.0005"
SIMULATE = """#!/bin/sh
# stands for simulate: ends as the files beside it say
here=$(dirname "$0")/..
case $1 in
--help)
    echo "plays one of them; the letters: AB" >&2
    exit 2 ;;
--exhaustive)
    echo "$4" >>"$here/played"
    echo "20 starts"
    echo "exhaustive: 3 histories, 10 crashes, 0 failed"
    exit 0 ;;
esac
echo "$2 $4" >>"$here/played"
[ ! -e "$here/slow" ] || sleep 600
[ ! -e "$here/dies" ] || { dies=$(cat "$here/dies"); [ "$dies" -lt "$2" ] || [ "$dies" -ge $(($2 + $4)) ] || kill -SEGV $$; }
if [ -e "$here/breaks" ] && breaks=$(cat "$here/breaks") && [ "$breaks" -ge "$2" ] && [ "$breaks" -lt $(($2 + $4)) ]; then
    echo "BROKEN: an object is lost (seed $breaks)" >&2
    echo "  again: simulate --seed $breaks --cycles 10 --verbose" >&2
    echo "12 stores, 7 power cuts, 1 runs that became read-only"
    echo "simulate: $(($4 - 1)) passed, 1 failed"
    exit 1
fi
echo "12 stores, 7 power cuts, 1 runs that became read-only"
echo "simulate: $4 passed, 0 failed"
"""


class Place:
    """A project with a simulate that is none."""

    def __init__(self, folder, name):
        self.top = folder / name
        (self.top / "src" / "fs" / "cluster").mkdir(parents=True)
        self.source("one engine")
        self.simulate = self.top / "build" / "simulate"
        self.simulate.parent.mkdir()
        self.simulate.write_text(SIMULATE)
        self.simulate.chmod(0o755)
        self.page = self.top / "page"
        self.page.write_text(PAGE)
        self.state = self.top / "state"

    def source(self, text):
        (self.top / "src" / "fs" / "cluster" / "Engine.cc").write_text(text)

    def note(self, name, text):
        (self.top / name).write_text(str(text))

    def words(self, *options):
        return [sys.executable, str(RUN), MOMENT, "--top", str(self.top), "--state", str(self.state), "--page", str(self.page),
                "--no-build", "--jobs", "2", *options]

    def run(self, *options, kinds="worlds"):
        """(status, output)"""
        done = subprocess.run(self.words("--only", kinds, *options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        return done.returncode, done.stdout

    def records(self):
        return [json.loads(path.read_text()) for path in self.state.glob("*.json")]

    def record(self):
        known = self.records()
        assert len(known) == 1, known
        return known[0]

    def played(self):
        """The seeds that simulate was asked for, in order, those of each call."""
        calls = [tuple(map(int, line.split())) for line in (self.top / "played").read_text().splitlines()]
        return [list(range(first, first + count)) for first, count in calls]


def test_prove_goes_on_where_it_stopped(folder):
    place = Place(folder, "goes-on")
    for number in (1, 2, 3):
        status, output = place.run()
        assert status == 0 and "worlds: seeds" in output, output
        assert place.record()["runs"] == number
    seeds = [seed for call in place.played() for seed in call]
    assert sorted(seeds) == list(range(1000000, 1000000 + len(seeds))), seeds
    figures = place.record()["parts"]["worlds"]["figures"]
    assert figures == {"worlds": len(seeds), "stores": 12 * len(place.played()), "power cuts": 7 * len(place.played())}, figures
    row = f"{10 * len(seeds)} runs of the engine in {len(seeds)} worlds: {figures['stores']} stores, {figures['power cuts']} power cuts | 0 |"
    page = place.page.read_text()
    assert row in page.replace(",", "").replace("stores ", "stores, ") and "in 3 runs of" in page and "old" not in page, page
    assert page.startswith("before\n") and page.endswith("\nbehind\n"), page
    assert place.run("--show")[1] in page


def test_prove_keeps_what_failed(folder):
    place = Place(folder, "fails")
    place.note("breaks", 1000001)
    for _ in (1, 2):  # the second one plays other seeds
        status, output = place.run()
        assert status == 1 and "simulate --seed 1000001 --cycles 10 --verbose" in output, output
    failure = place.record()["parts"]["worlds"]["failures"]
    assert [f["what"] for f in failure] == ["an object is lost (seed 1000001)"], failure
    assert "an object is lost (seed 1000001)" in place.page.read_text()
    assert len(list(place.state.glob("worlds-*.log"))) == 1, "what the failed piece said is not kept"


def test_prove_keeps_engines_apart(folder):
    place = Place(folder, "engines")
    place.note("breaks", 1000001)
    assert place.run()[0] == 1
    place.source("another engine")
    (place.top / "breaks").unlink()
    before = len(place.played())
    status, output = place.run()
    assert status == 0, output
    assert [1000001] in place.played()[before:before + 2], "what failed with the other engine was not played first, beside another piece"
    assert sorted(len(record["parts"]["worlds"]["failures"]) for record in place.records()) == [0, 1], place.records()
    assert "Failed" not in place.page.read_text()
    place.source("one engine")
    assert "Failed" in place.run("--show")[1]


def test_prove_knows_code_from_comments(folder):
    place = Place(folder, "comments")
    place.source('const char *name = "a // b"; // why\nint x = 1;\n')
    engine = _engine_of(place)
    for same in ('const char *name = "a // b";\n\n/* another\nreason */ int x = 1;\n', 'const char *name = "a // b"; int  x = 1;'):
        place.source(same)
        assert _engine_of(place) == engine, same
    for other in ('const char *name = "a"; // b\nint x = 1;\n', 'const char *name = "a // b"; /* int x = 1; */', "char c = '\"'; // why"):
        place.source(other)
        assert _engine_of(place) != engine, other
    place.source("char c = '\"'; // why")
    engine = _engine_of(place)
    place.source("char c = '\"';")
    assert _engine_of(place) == engine


def test_prove_keeps_worlds_when_the_glue_changes(folder):
    place = Place(folder, "glue")
    assert place.run()[0] == 0
    worlds, engine = place.record()["parts"]["worlds"], _engine_of(place)

    def with_kills(glue):
        record = place.record()
        record["parts"]["kills"] = {"pieces": 1, "seconds": 9, "next": 1, "figures": {"kills": 50}, "glue": glue}
        (place.state / f"{engine}.json").write_text(json.dumps(record))
        return "50 kills |" in place.run("--show")[1]
    assert with_kills(place.record()["parts"]["kills"]["glue"])
    glue = place.top / "src" / "fs" / "cluster" / "squid"
    glue.mkdir()
    (glue / "SwapDir.cc").write_text("int other;")
    assert not with_kills(place.record()["parts"]["kills"]["glue"]), "kills of another glue were counted"
    assert _engine_of(place) == engine and place.record()["parts"]["worlds"] == worlds


def test_prove_tries_again_what_another_commit_may_have_mended(folder):
    place = Place(folder, "mended")
    assert place.run()[0] == 0
    engine, now = _engine_of(place), place.record()["commits"][-1]

    def shown(kind, commit):
        record = place.record()
        record["parts"] = {kind: {"pieces": 1, "seconds": 9, "next": 1, "total": 1,
                                  "failures": [{"what": "a leak", "again": "make that", "commit": commit}]}}
        (place.state / f"{engine}.json").write_text(json.dumps(record))
        return "a leak" in place.run("--show")[1]
    assert shown("more-sanitizers", now), "nothing has been mended"
    assert not shown("more-sanitizers", "0123456789")
    assert shown("worlds", "0123456789"), "the engine is what it was"


def test_prove_keeps_worlds_when_workers_share_the_engine(folder):
    place = Place(folder, "sharing")
    assert place.run()[0] == 0
    engine = _engine_of(place)
    sharing = place.top / "src" / "fs" / "cluster" / "sharing"
    sharing.mkdir()
    (sharing / "Ring.cc").write_text("int other;")
    assert _engine_of(place) == engine


def test_prove_finds_the_world_that_kills_the_simulation(folder):
    place = Place(folder, "dies")
    place.note("dies", 1000002)
    for _ in range(40):
        status, output = place.run()
        part = place.record()["parts"]["worlds"]
        if part["failures"] and not part["open"]:
            break
    assert status == 1, output
    assert [failure["again"] for failure in part["failures"]] == ["build/simulate --seed 1000002 --worlds 1"], part
    assert part["figures"]["worlds"] == part["next"] - 1, part


def test_prove_repeats_what_was_interrupted(folder):
    place = Place(folder, "interrupted")
    assert place.run()[0] == 0
    before = len(place.played())
    place.note("slow", "")
    with subprocess.Popen(place.words("--only", "worlds"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        while len(place.played()) == before:
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    part = place.record()["parts"]["worlds"]
    assert len(part["open"]) == 1 and part["figures"]["worlds"] < part["next"], part
    assert "| so far " in place.page.read_text()
    (place.top / "slow").unlink()
    assert place.run()[0] == 0
    part = place.record()["parts"]["worlds"]
    assert not part["open"] and part["figures"]["worlds"] == part["next"], part
    assert "| so far " not in place.page.read_text()
    assert place.played().count(place.played()[before]) == 2, place.played()


def test_prove_plays_each_history_once(folder):
    place = Place(folder, "histories")
    state = {"parts": {"histories": {"pieces": 1, "seconds": 0.1, "next": 1, "open": [], "figures": {"histories": 3}}}}
    place.state.mkdir()
    (place.state / f"{_engine_of(place)}.json").write_text(json.dumps(state))
    assert place.run(kinds="histories")[0] == 0
    assert place.run(kinds="histories")[0] == 0
    assert (place.top / "played").read_text() == "B\n"
    assert "all: 6 histories, 10 crashes, 20 starts" in place.page.read_text(), place.page.read_text()


def _engine_of(place):
    return place.run("--show")[1].split()[1].rstrip(":")


def test_prove_refuses_what_it_cannot_do(folder):
    place = Place(folder, "refuses")
    assert "there is no nonsense" in place.run(kinds="nonsense")[1]
    place.page.write_text("no marks")
    status, output = place.run()
    assert status == 1 and "needs the lines" in output and not place.state.exists(), output


def test_prove_understands_the_simulation(folder):
    """The real one: what it prints is read as figures."""
    place = Place(folder, "real")
    place.simulate.unlink()
    os.symlink(BUILD / "simulate", place.simulate)
    status, output = place.run()
    assert status == 0, output
    part = place.record()["parts"]["worlds"]
    assert not part["open"] and part["figures"]["worlds"] == part["next"] > 0, part
    assert {"stores", "reads", "deletes", "kills", "power cuts", "starts in use"} <= set(part["figures"]), part
    done = subprocess.run([BUILD / "simulate", "--exhaustive", "1", "--first", "K"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "exhaustive: 3 histories" in done.stdout, done.stdout
