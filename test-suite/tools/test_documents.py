# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents and programs say the same: options, their values, what is live, and usages."""

import re

from common import TOP
from toolkit import Image

OPERATIONS = "docs/operations.md"


def text(name):
    return (TOP / name).read_text(encoding="utf-8")


def code_options():
    """{option: live} as the parser has them."""
    source = text("src/fs/cluster/api/Config.cc")
    found = {name: live == "true" for name, live in re.findall(r'\{"([a-z-]+)", &Config::\w+,.*?, (true|false)\}', source)}
    assert len(found) > 10, found
    return found


def code_choices(name):
    """The values that an option with names for values has."""
    return re.findall(r'"([a-z-]+)"', re.search(rf"{name}Names\[\] = \{{(.*?)\}}", text("src/fs/cluster/api/Config.cc"))[1])


def documented():
    """{option: (values, live)} of the table of operations.md, without the options of all cache_dirs."""
    rows = re.findall(r"^\| ([a-z-]+)=([^|]*) \| [^|]+ \| (yes|no)[^|]*\|", text(OPERATIONS), re.M)
    return {name: (values, live == "yes") for name, values, live in rows}


def conf_text(series):
    """{option: (values, live)} of squid.conf's own documentation."""
    patch = text(f"squid-patches/{series}/0003-clusterfs-documented.patch")
    lines = [line[1:].strip() for line in patch.splitlines() if line.startswith("+")]
    found, live = {}, None
    for line in lines:
        if line.startswith("Options that"):
            live = "reconfiguration" in line
        if live is None:
            continue
        for name, values in re.findall(r"([a-z-]+)=([A-Za-z|-]+)(?=[:,])", line):
            found[name] = (values, live)
    return found


def test_options_are_the_same_everywhere():
    """The parser's table, operations.md, and what squid.conf says in both series of Squid."""
    live = code_options()
    pages = {OPERATIONS: documented(), "series 6": conf_text(6), "series 7": conf_text(7)}
    by_name = {"replacement", "layout", "list"}
    for page, options in pages.items():
        assert set(options) == set(live) | by_name, f"{page}: {sorted(set(options) ^ (set(live) | by_name))}"
        for name, is_live in live.items():
            assert options[name][1] == is_live, f"{page}: whether {name} is live"
        for name, listed in (("replacement", "Replacement"), ("layout", "Layout")):
            values = re.split(r"[|, ]+", options[name][0])
            assert values == code_choices(listed), f"{page}: {name} has {values}"
    assert conf_text(6) == conf_text(7)


def test_manual_pages_have_the_usages(test):
    """Each option of each subcommand is in its page, and no other; no page has an empty section."""
    overview = test.tool("help").out
    for command in ("format", "inspect", "check", "dump", "map", "purge"):
        page = text(f"docs/man/clusterfs-{command}.8").replace("\\-", "-")
        usage = test.tool("help", command).out
        options = set(re.findall(r"--([a-z][a-z-]+)", usage.split("\n\n")[0]))
        described = set(re.findall(r"^\.[BI]+R? \[?\"?--([a-z][a-z-]+)", page, re.M))
        assert options == described, f"clusterfs-{command}.8 describes {described}, not {options}"
        assert f"clusterfs {command} PATH" in overview
    for path in sorted((TOP / "docs" / "man").glob("*.8")):
        empty = re.findall(r"^\.SH (.*)\n(?=\.SH|\Z)", path.read_text(), re.M)
        assert not empty, f"{path.name}: nothing in {empty}"


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
