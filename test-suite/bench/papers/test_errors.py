# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong is said: the thing, the value, the way out."""

import subprocess


def test_usage(context):
    for words, says in (((), "which experiment"), (("fly",), "'fly'"), (("cfs", "--wings"), "--wings"),
                        (("cfs", "--objects"), "needs a value"), (("cfs", "--objects", "many"), "from 100 to"),
                        (("cfs", "--objects", "1"), "from 100 to"), (("cfs", "--objects=200", "--objects=300"), "twice"),
                        (("cfs", "--cold=yes"), "takes no value"), (("cfs", "here"), "'here'"), (("cfs",), "--at"),
                        (("cfs", "--store", "tape"), "clusterfs|files"), (("cfs", "--at", ""), "empty"),
                        (("cfs", "--at", "x", "--threads", 0), "--threads"), (("cfs", "--at", "x", "--threads", 4), "one thread"),
                        (("cfs", "--at", "x", "--option", "depth"), "NAME=VALUE"),
                        (("cfs", "--at", "x", "--store", "files", "--option", "depth=3"), "--store clusterfs"),
                        (("bandwidth", "--at", "x", "--store", "files"), "fio"), (("damelo", "--ordering", "zipf"), "zipf-1:8")):
        context.refused(*words, says=says)


def test_help(context):
    for words in (("--help",), ("help",), ("cfs", "--help"), ("hummingbird", "--help")):
        done = subprocess.run(context.command(*words), capture_output=True, text=True, timeout=20, check=True)
        assert "--" in done.stdout and not done.stderr, done


def test_places(context):
    full = context.empty()
    (full / "precious").write_text("x")
    context.refused("cfs", "--store", "files", "--at", full, says=("not empty", "precious"), code=1)
    context.refused("cfs", "--store", "files", "--at", context.folder / "absent", says="No such file", code=1)
    context.refused("cfs", "--at", context.folder / "absent", says="absent", code=1)
    context.refused("cfs", "--at", context.folder, says=str(context.folder), code=1)
    foreign = context.image(8)
    with open(foreign, "r+b") as file:
        file.seek(1000)
        file.write(b"somebody's data" * 100)
    before = foreign.read_bytes()
    context.refused("cfs", "--at", foreign, says="--force", code=1)
    assert foreign.read_bytes() == before
    context.run("cfs", "--at", foreign, "--force", "--objects", 100, "--option", "cluster-size=64")


def test_limits(context):
    context.refused("cfs", "--at", context.image(8), "--option", "cluster-size=16384", says=("too little", "smaller clusters"), code=1)
    context.refused("cfs", "--at", context.image(8), "--option", "cluster-size=3", says="cluster-size=3", code=1)
    context.refused("cfs", "--at", context.image(8), "--option", "speed=9", says="'speed'", code=1)
    context.refused("cfs", "--at", context.image(5), says="too small", code=1)


def test_result_cannot_be_written(context):
    context.refused("describe", "--requests", 1000, "--json", context.folder / "absent" / "out.json", says="could not be written", code=1)


def test_attendant_goes(context):
    """Without an answer, the program ends; with a wrong one, too."""
    for answer in ("", "no\n"):
        done = subprocess.run(context.command("cfs", *context.place("files"), "--objects", 100, "--attended"), input=answer,
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "--attended" in done.stderr, done


def test_attendant_hears_all(context):
    code, said, result, _ = context.attended("cfs", *context.place("files"), "--objects", 100, "--cold")
    assert code == 0 and result, said
    assert [line.split()[0] for line in said] == ["@drop", "@ready", "@begin", "@end", "@drop", "@begin", "@end", "@begin", "@end"], said
    assert int(said[1].split()[1]) > 1 << 20, said[1]
