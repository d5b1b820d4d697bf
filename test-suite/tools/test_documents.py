# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents and programs say the same: usages, memory, examples. tools/build/documents.py compares all that tables have."""

import re

from common import TOP
from toolkit import Image

OPERATIONS = "docs/operations.md"


def text(name):
    return (TOP / name).read_text(encoding="utf-8")


def test_manual_pages_have_the_usages(test):
    """Each option of each subcommand is in its page, and no other; no page has an empty section."""
    overview = test.tool("help").out
    for command in test.subcommands():
        page = text(f"docs/man/clusterfs-{command}.8").replace("\\-", "-")
        usage = test.tool("help", command).out
        options = set(re.findall(r"--([a-z][a-z-]+)", usage.split("\n\n")[0]))
        described = set(re.findall(r"^\.[BI]+R? \[?\"?--([a-z][a-z-]+)", page, re.M))
        assert options == described, f"clusterfs-{command}.8 describes {described}, not {options}"
        assert usage.split("\n")[0] in overview
    for path in sorted((TOP / "docs" / "man").glob("*.8")):
        empty = re.findall(r"^\.SH (.*)\n(?=\.SH|\Z)", path.read_text(), re.M)
        assert not empty, f"{path.name}: nothing in {empty}"


def test_states_of_clusters_are_the_same_everywhere():
    """The states, the transitions that the cluster table allows, those that Catalog.h explains, and the picture's."""
    compare_transitions("catalog/ClusterTable", "catalog/Catalog.h", "states.dot")


def test_states_of_relocations_are_the_same_everywhere():
    """The same of moving objects out of a cluster."""
    compare_transitions("space/Relocation", "space/Relocation.h", "relocation.dot")


def test_states_of_checkpoints_are_the_same_everywhere():
    """The same of writing a checkpoint."""
    compare_transitions("recovery/Checkpoint", "recovery/Checkpoint.h", "checkpoint.dot")


def compare_transitions(source, header, picture):
    """Compares the transitions between the states of a source, as its table has them, as a header explains them, and a picture's."""
    enum = re.search(r"enum class \w*State : uint8_t \{(.*?)\n? *\};", text(f"src/fs/cluster/{source}.h"), re.S)[1]
    states = re.findall(r"\b[a-z]\w*", re.sub(r"///.*", "", enum))
    rows = re.findall(r"^    /\* (\w+) \*/ (.*),$", text(f"src/fs/cluster/{source}.cc"), re.M)
    assert len(states) > 8 and [state for state, _ in rows] == states, rows
    allowed = {(state, after) for state, afters in rows for after in re.findall(r"bit\(\w+::(\w+)\)", afters)}
    assert len(allowed) > 10, rows
    words = r"(\w+(?:,? \w+)*)"  # one or several
    lines = re.findall(rf"^ \*  {words} -> {words}  ", text(f"src/fs/cluster/{header}"), re.M)
    assert allowed == pairs(lines)
    edges = re.findall(rf"^    \{{?{words}\}}? -> \{{?{words}\}}? \[", text(f"docs/pictures/{picture}"), re.M)
    assert allowed == pairs(edges)


def pairs(rows):
    """{(state, after)} of rows that name several of either."""
    return {(state, after) for states, afters in rows for state in re.findall(r"\w+", states) for after in re.findall(r"\w+", afters)}


def test_memory_of_the_tool(test):
    """What the tool needs for the index is in its page, its help and operations.md, and is what Squid needs."""
    of_squid = re.search(r"The index takes (\d+) bytes for each object.*?(\d+) bytes and two bits a cluster",
                         " ".join(text(OPERATIONS).split()))
    pages = {"clusterfs.8": text("docs/man/clusterfs.8"), OPERATIONS: text(OPERATIONS), "help": test.tool("help").out}
    for name, page in pages.items():
        said = re.search(r"index(?: in memory, as [^:]*)?: (\d+) bytes (?:an|for each) object(?:,| and) (\d+) (?:for each|a) cluster",
                         " ".join(page.split()))
        assert said, f"{name}: nothing of memory"
        assert said.groups() == of_squid.groups(), f"{name}: {said[0]}"


def test_example_of_the_format(test):
    """format.md's example: the bytes that a cluster begins with."""
    image, _ = test.filled()
    page = text("docs/format.md")
    assert "inspect cache.img --cluster=0" in page
    start = bytes.fromhex(re.search(r"^00000000  ((?:[0-9a-f]{2} +){16})", page, re.M)[1])
    at = test.json("inspect", image, "--cluster=0")
    assert at["state"] == "whole", at
    clusters = next(r for r in test.json("inspect", image)["regions"] if r["region"] == "clusters")
    assert Image(image.path).read(clusters["offset"], 8) == start[:8]


def test_both_superblocks_damaged(test):
    """What operations.md advises: format leaves it alone, and --force makes a new cache of it."""
    image, _ = test.filled()
    for offset in (0, 1 << 20):
        image.flip(offset + 40)
    says = test.tool("format", image.path).out
    assert "already and was left as it is" in says, says
    assert "refused: the superblock's checksum is wrong" in test.tool("check", image.path, code=1).out
    test.tool("format", image.path, "--force", "--cluster-size=64")
    test.clean(image)
