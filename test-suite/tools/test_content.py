# SPDX-License-Identifier: GPL-2.0-or-later
"""What inspect, check and dump say of a cache that is whole."""

import collections
import re
import xml.etree.ElementTree

from toolkit import crc32c, store, url


def agree(test, image, wanted):
    """dump lists exactly these, as they were stored, and check counts the same."""
    found = test.dump(image)
    assert {name: entry["size"] for name, entry in found.items()} == wanted
    for entry in found.values():
        assert entry["state"] == "whole", entry
        assert (entry["timestamp"], entry["expires"], entry["last_modified"]) == (1700000000, 1700003600, 1600000000), entry
    report = test.json("check", image)
    assert report["objects"] == len(wanted) and report["object_bytes"] == sum(wanted.values()), report
    assert report["damaged_objects"] == 0 and report["problems"] == [], report
    return report


def test_checksum_of_the_tests():
    assert crc32c(b"123456789") == 0xE3069283


def test_after_a_clean_stop(test):
    image, wanted = test.filled()
    report = agree(test, image, wanted)
    assert report["start"].startswith("after a clean stop, from checkpoint ") and report["clean"] and not report["scan"], report


def test_after_a_crash(test):
    image, wanted = test.filled(crash=True)
    report = agree(test, image, wanted)
    assert report["start"].startswith("after a crash") and not report["clean"] and not report["scan"], report
    assert report["deletes_replayed"] > 0 and report["clusters_read_at_start"] > 0, report
    test.fill(image)
    agree(test, image, wanted)


def test_crash_after_a_checkpoint(test):
    image, wanted = test.filled()
    test.fill(image, "remove " + url(3), store(url(4), 7777), store(url("late"), 90000), "pack", "checkpoint",
              "remove " + url(5), store(url("later"), 1234), "pack", crash=True)
    del wanted[url(3)], wanted[url(5)]
    wanted.update({url(4): 7777, url("late"): 90000, url("later"): 1234})
    agree(test, image, wanted)


def test_with_keys_in_the_index_log(test):
    image, wanted = test.filled(options=("list=on",))
    assert test.json("inspect", image)["index_log"]["keys"] is True
    agree(test, image, wanted)


def test_with_groups(test):
    image, wanted = test.filled()
    assert test.json("inspect", image)["groups"]["group_records"] == 0
    commands = [f"collocate {url(n)} {url(n + 1)} {url(n + 2)}" for n in range(0, 30, 3)]
    test.fill(image, *commands)
    groups = test.json("inspect", image)["groups"]
    assert (groups["group_records"], groups["member_records"]) == (10, 20), groups
    agree(test, image, wanted)
    test.fill(image)  # a run that learns nothing
    report = test.json("inspect", image)
    assert report["groups"]["group_records"] == 10, report
    start = next(r["offset"] for r in report["regions"] if r["region"] == f"groups {report['groups']['generation'] % 2}")
    image.flip(start + 100)
    assert test.json("inspect", image)["groups"]["group_records"] == 0
    agree(test, image, wanted)  # no problem: nothing depends on them


def test_looking_changes_nothing(test):
    image, _ = test.filled(crash=True)
    before = image.digest()
    for words in (("inspect",), ("inspect", "--cluster=0"), ("check",), ("dump",), ("map",), ("purge", "--prefix=http:", "--dry-run")):
        test.tool(words[0], image.path, *words[1:])
    assert image.digest() == before


def test_a_map_agrees(test):
    """Four squares for each cluster, with the numbers of the objects that dump lists there."""
    image, _ = test.filled()
    places = collections.Counter(entry["cluster"] for entry in test.dump(image).values())
    count = test.json("inspect", image)["geometry"]["cluster_count"]
    picture = xml.etree.ElementTree.fromstring(test.tool("map", image.path).out)
    titles = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == count and picture.find("{http://www.w3.org/2000/svg}text").text.startswith(str(image.path)), titles
    shown = {}
    for title in titles:
        found = re.fullmatch(r"cluster (\d+)(?:: (\d+) objects, \d+ of them in \d+ groups|: 1 of large objects)?(?:, written .* UTC)?", title)
        assert found, title
        if found[2]:
            shown[int(found[1])] = int(found[2])
    assert shown == places, (shown, places)
    assert sum("large objects" in title for title in titles) == test.json("check", image)["part_clusters"], titles
    assert sum(1 for _ in picture.iter("{http://www.w3.org/2000/svg}rect")) == 1 + 4 * count + 6 + 3 * 3


def test_a_start_agrees(test):
    """Every object that dump lists can be read, and those it does not list are gone."""
    image, wanted = test.filled(crash=True)
    answers = test.fill(image, *["read " + name for name in wanted], "read " + url("gone"))
    assert answers == ["right"] * len(wanted) + ["gone"], answers


def test_flags_and_times(test):
    image = test.image()
    test.fill(image, store(url("a"), 300, flags=5), store(url("b"), 300, timestamp=-1, expires=-1, modified=-1),
              store(url("c"), 300, flags=2), store(url("d"), 200000, flags=8), "pack")
    found = test.dump(image)
    assert found[url("a")]["flags"] == ["revalidate-always", "negative"]
    assert (found[url("b")]["timestamp"], found[url("b")]["expires"], found[url("b")]["last_modified"]) == (-1, -1, -1)
    assert found[url("c")]["flags"] == ["revalidate-stale"] and found[url("d")]["flags"] == ["bad-length", "parted"]
    lines = {line.split("\t")[1]: line.split("\t") for line in test.tool("dump", image.path).out.splitlines()}
    key = found[url("a")]["key"]
    place = [str(found[url("a")]["cluster"]), str(found[url("a")]["offset"])]
    assert lines[url("a")] == [key, url("a"), "300", "1700000000", "1700003600", "1600000000",
                               "revalidate-always,negative", *place, "whole"], lines[url("a")]
    assert lines[url("b")][3:7] == ["-1", "-1", "-1", "-"]


def test_clusters_agree_with_dump(test):
    image, wanted = test.filled()
    found = test.dump(image)
    count = test.json("inspect", image)["geometry"]["cluster_count"]
    seen, parts, packed = {}, {}, 0
    for number in range(count):
        report = test.json("inspect", image, f"--cluster={number}")
        assert report["cluster"] == number
        if report["state"] == "never written":
            continue
        assert report["state"] == "whole", report
        if report["kind"] == "part":
            parts.setdefault(report["key"], []).append((report["part_number"], number))
            continue
        packed += 1
        for entry in report["objects"]:
            seen[number, entry["offset"]] = entry
    for name, entry in found.items():
        inside = seen[entry["cluster"], entry["offset"]]
        assert inside["key"] == entry["key"] and inside["size"] == wanted[name], (entry, inside)
    assert len(seen) > len(found)  # the deleted and the replaced one are still there
    large = found[url("large")]
    assert [number for number, _ in sorted(parts[large["key"]])] == list(range(seen[large["cluster"], large["offset"]]["parts"]))
    home = test.json("inspect", image, f"--cluster={large['cluster']}")
    assert [p["cluster"] for p in home["part_references"]] == [number for _, number in sorted(parts[large["key"]])]
    assert test.json("check", image)["part_clusters"] == len(parts[large["key"]])


def field(kind, value):
    return bytes([kind]) + len(value).to_bytes(4, "little", signed=True) + value


def meta(*fields, size=None):
    body = b"".join(fields)
    return b"\x03" + (len(body) + 5 if size is None else size).to_bytes(4, "little", signed=True) + body


def test_strange_objects(test):
    """What does not begin like Squid's objects has no URL; nothing in it harms."""
    web = field(4, b"http://x/\0")
    strange = {
        "plain": b"x" * 300, "magic": b"\x03", "short": b"\x03\x10", "zero": meta(web, size=0), "negative": meta(web, size=-5),
        "huge": meta(web, size=2**31 - 1), "beyond": meta(web, size=len(web) + 6), "nothing": meta(), "cut": meta(web[:-1]),
        "length": meta(b"\x04" + b"\xff\xff\xff\xff" + b"abc"), "longest": meta(b"\x04" + b"\xff\xff\xff\x7f" + b"abc"),
        "header": meta(field(3, b"k" * 16), b"\x04\x00"), "no-url": meta(field(3, b"k" * 16), field(9, b"s" * 40)),
        "inside": meta(field(9, b"s" * 40), size=20) + web, "wrong-magic": b"\x04" + meta(web)[1:]}
    named = {
        "first": meta(web), "later": meta(field(3, b"k" * 16), field(99, b""), field(4, b"http://later/\0")) + b"HTTP/1.1 200 OK",
        "open": meta(field(4, b"http://open/")), "empty": meta(field(4, b"\0")),
        "odd": meta(field(4, b"http://\tq\"\\\x1b[31m\xc3\xa9\n/\0more"))}
    image = test.image()
    test.fill(image, *[f"raw {name} {data.hex()}" for name, data in {**strange, **named}.items()], "pack")
    found = sorted(entry["url"] or "" for entry in test.dump(image).values() if entry["url"] is not None)
    assert found == sorted(["http://x/", "http://later/", "http://open/", "", "http://\tq\"\\\x1b[31m\xc3\xa9\n/"]), found
    lines = test.tool("dump", image.path).out.splitlines()
    assert len(lines) == len(strange) + len(named) and all(line.count("\t") == 9 for line in lines), lines
    assert sum(line.split("\t")[1] == "-" for line in lines) == len(strange)
    assert any("http://\\x09q\"\\x5c\\x1b[31m\\xc3\\xa9\\x0a/" in line for line in lines), lines
    test.clean(image)
