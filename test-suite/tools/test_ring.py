# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs ring: what it takes from a squid.conf, and how much moves. test-suite/squid/test_ring.py compares its choice
with a real Squid's."""

import json


def conf(test, *lines, name="squid.conf"):
    return test.path(name, "".join(line + "\n" for line in lines).encode())


def peer(name, more=""):
    return f"cache_peer {name}.example.com parent 3128 0 carp name={name} {more}"


def ring(test, path, *words):
    return json.loads(test.tool("ring", path, "--json", *words).out)


def shares(found):
    return {row["name"]: row["percent"] for row in found["peers"]}


def test_how_much_moves(test):
    """A peer that is dead, or whose line is last, moves its own share; a line in front of others moves most of all."""
    four = conf(test, *map(peer, ("c1", "c2", "c3", "c4")))
    found = ring(test, four)
    assert list(shares(found)) == ["c1", "c2", "c3", "c4"] and all(24 < share < 26 for share in shares(found).values()), found
    for row in found["peers"]:
        assert row["moved_when_dead_percent"] == row["percent"], row
    first, last = found["peers"][0], found["peers"][-1]
    assert last["moved_without_line_percent"] == last["percent"] and first["moved_without_line_percent"] > 70, found
    assert 19 < found["moved_by_one_more_behind_percent"] < 21 and found["moved_by_one_more_in_front_percent"] > 75, found
    five = conf(test, *map(peer, ("c1", "c2", "c3", "c4", "c5")), name="five.conf")
    assert 18 < ring(test, four, f"--against={five}")["moved_against_percent"] < 22
    turned = conf(test, *map(peer, ("c4", "c3", "c2", "c1")), name="turned.conf")
    assert ring(test, four, f"--against={turned}")["moved_against_percent"] > 70
    assert ring(test, four, f"--against={four}")["moved_against_percent"] == 0
    said = test.tool("ring", four, f"--against={five}").out
    assert "c1 " in said and "one more peer moves" in said and f"{five} has " in said, said


def test_lines(test):
    """Weights, peers that are not by CARP, includes, comments and lines that go on."""
    test.path("more.conf", (peer("c3", "weight=2") + "\n").encode())
    path = conf(test, "# cache_peer x parent 1 0 carp", peer("c1", "weight=2 # not carp-key=x"), "cache_peer sibling sibling 3128 3130 proxy-only",
                "cache_peer c2.example.com parent 3128 0 \\", "  carp weight=4", peer("light", "weight=0"), f"include {test.dir}/more*.conf")
    found = shares(ring(test, path))
    assert list(found) == ["light", "c1", "c3", "c2.example.com"], found
    assert all(abs(found[name] - want) < 1 for name, want in (("light", 11), ("c1", 22), ("c3", 22), ("c2.example.com", 44))), found


def test_urls(test):
    """What decides is the key, and Squid's form of the URL."""
    by_host = conf(test, *(peer(name, "carp-key=scheme,host") for name in ("c1", "c2", "c3")))
    same = ("http://www.example.com/a?b", "HTTP://user@WWW.example.com:80", "http://www.example.com:8080/c")
    out = test.tool("ring", by_host, *same, "http://other.example.net/").out
    lines = [line.split("\t") for line in out.splitlines()]
    assert [line[0] for line in lines] == [*same, "http://other.example.net/"] and len({line[1] for line in lines[:3]}) == 1, out
    whole = conf(test, *map(peer, ("c1", "c2", "c3")), name="whole.conf")
    rows = ring(test, whole, *(f"http://www.example.com/{n}" for n in range(40)), f"--against={by_host}")["urls"]
    assert len({row["peer"] for row in rows}) == 3 and {row["peer_against"] for row in rows} == {lines[0][1]}, rows


def test_bad_input(test):
    good = conf(test, peer("c1"))
    none = conf(test, "http_port 3128", "cache_peer a parent 3128 0 default", name="none.conf")
    loop = test.path("loop.conf", f"include {test.dir}/loop.conf\n".encode())
    for words, says in (((), "name a squid.conf"), ((test.dir / "missing",), "No such file"), ((test.dir,), "cannot be read"), ((none,), "no cache_peer line has carp"),
                        ((loop,), "more than 16 times"), ((good, "www.example.com/x"), "it has no scheme"), ((good, "http:///x"), "it has no host"),
                        ((good, "http://h/" + "x" * 9000), "Squid takes 8192"), ((good, "--against=/missing"), "No such file")):
        test.refused("ring", *words, says=says)
    for line, says in ((peer("c1", "carp-key=url"), '"url" is not one of scheme'), ("cache_peer c parent", "line 1: a cache_peer has"),
                       (peer("c1", "weight=x"), "weight"), (peer("c1").replace("parent", "sibling"), "carp is for parents"),
                       ("cache_peer c parent 1 0 carp-key=host carp", "stands before carp"), (f"{peer('c1')}\n{peer('c1')}", "two peers with the name"),
                       ("include /missing/*.conf", "there is no such file")):
        test.refused("ring", conf(test, line, name="bad.conf"), says=says)
