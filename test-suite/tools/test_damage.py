# SPDX-License-Identifier: GPL-2.0-or-later
"""Damage: check finds exactly what was changed, and nothing ever crashes."""

import os
import re

from toolkit import MIB, Image, store, url

SUPERBLOCKS = (0, MIB)


def seen(problems):
    """The problems without their words."""
    return sorted((p["what"], p.get("cluster"), p.get("offset"), p.get("key")) for p in problems)


def region(test, image, name):
    return next(r["offset"] for r in test.json("inspect", image, code=None)["regions"] if r["region"] == name)


def cluster_at(test, image, number):
    report = test.json("inspect", image)
    start = next(r["offset"] for r in report["regions"] if r["region"] == "clusters")
    return start + number * report["geometry"]["cluster_bytes"]


def test_one_extent(test):
    image, wanted = test.filled()
    objects = test.dump(image)
    for name in (url(0), url(17), url(39)):
        entry = objects[name]
        at = cluster_at(test, image, entry["cluster"]) + entry["offset"]
        for inside in (0, 5, 9, 16, 32, 32 + entry["size"] // 2, 31 + entry["size"]):
            image.flip(at + inside)
            assert seen(test.problems(image)) == [("object", entry["cluster"], entry["offset"], entry["key"])], (name, inside)
            image.flip(at + inside)
        image.flip(at + 40)
        after = test.dump(image, code=1)
        assert name not in after and after[entry["key"]]["state"] == "damaged" and len(after) == len(wanted)
        image.flip(at + 40)
    test.clean(image)


def test_several_extents(test):
    image, _ = test.filled()
    chosen = test.random.sample(sorted(test.dump(image).items()), 9)
    for _, entry in chosen:
        image.flip(cluster_at(test, image, entry["cluster"]) + entry["offset"] + 32 + test.random.randrange(150))
    expected = sorted(("object", e["cluster"], e["offset"], e["key"]) for _, e in chosen)
    assert seen(test.problems(image)) == expected
    assert test.json("check", image, code=1)["damaged_objects"] == 9


def test_parts(test):
    image, _ = test.filled()
    entry = test.dump(image)[url("large")]
    references = test.json("inspect", image, f"--cluster={entry['cluster']}")["part_references"]
    for part in (references[0], references[-1]):
        number, at = part["cluster"], cluster_at(test, image, part["cluster"])
        for inside in (0, 20, 90, 4096, 4096 + part["bytes"] - 1):
            image.flip(at + inside)
            assert seen(test.problems(image)) == [("part", number, None, entry["key"])], inside
            image.flip(at + inside)
    test.clean(image)


def test_unused_bytes(test):
    """Damage of what belongs to no object: deleted ones are reported, gaps and free clusters are not."""
    image, _ = test.filled()
    objects = test.dump(image)
    used = {(e["cluster"], e["offset"]) for e in objects.values()}
    leftovers = [(number, entry) for number in {cluster for cluster, _ in used}
                 for entry in test.json("inspect", image, f"--cluster={number}")["objects"]
                 if (number, entry["offset"]) not in used]
    assert leftovers
    for number, entry in leftovers:
        at = cluster_at(test, image, number) + entry["offset"] + 50
        image.flip(at)
        assert seen(test.problems(image)) == [("leftover", number, entry["offset"], entry["key"])]
        image.flip(at)
    report = test.json("inspect", image)
    busy = {e["cluster"] for e in objects.values()}
    busy |= {p["cluster"] for n in busy for p in test.json("inspect", image, f"--cluster={n}")["part_references"]}
    free = next(n for n in range(report["geometry"]["cluster_count"]) if n not in busy)
    image.flip(cluster_at(test, image, free) + 100)
    image.flip(MIB // 2)
    test.clean(image)


def test_directory(test):
    image, wanted = test.filled()
    number = test.dump(image)[url(5)]["cluster"]
    at = cluster_at(test, image, number)
    for inside in (0, 8, 12, 30, 92, 100, 96 + 64):
        image.flip(at + inside)
        assert seen(test.problems(image)) == [("directory", number, None, None)], inside
        # the checkpoint knows where they are, and each extent has its key
        assert {name: e["size"] for name, e in test.dump(image).items()} == wanted, inside
        image.flip(at + inside)
    assert test.json("inspect", image, f"--cluster={number}")["state"] == "whole"
    image.flip(at + 100)
    assert test.json("inspect", image, f"--cluster={number}", code=1)["state"] == "damaged"


def test_older_contents(test):
    """A write that never reached the disk: the cluster is whole, but of another time."""
    image, _ = test.filled()
    number = test.dump(image)[url(5)]["cluster"]
    at, size = cluster_at(test, image, number), 65536
    older = image.copy("older")
    test.tool("purge", older.path, "--prefix=http:")
    names = [url(f"filler{n}") for n in range(400)]
    test.fill(older, *[store(name, 20000) for name in names], "pack")
    assert older.read(at, size) != image.read(at, size)
    image.write(at, older.read(at, size))
    lost = [p for p in test.problems(image)]
    assert all(p["cluster"] == number and p["what"] in ("directory", "object") for p in lost), lost
    assert "directory" in {p["what"] for p in lost} and "object" in {p["what"] for p in lost}


def test_superblocks(test):
    image, wanted = test.filled()
    for at in SUPERBLOCKS:
        for inside in (0, 16, 25, 60, 4095):
            image.flip(at + inside)
            found = test.problems(image)
            assert ("superblock", None, None, None) in seen(found) and f"byte {at}:" in found[0]["text"], found
            image.flip(at + inside)
        before = image.read(at, 4096)
        image.write(at, bytes(4096))
        assert [p["what"] for p in test.problems(image)][:1] == ["superblock"]
        assert {n: e["size"] for n, e in test.dump(image).items()} == wanted
        image.write(at, before)
    for at in SUPERBLOCKS:
        image.flip(at + 100)
    assert [p["what"] for p in test.problems(image)] == ["superblock", "superblock"]
    assert test.json("check", image, code=1)["start"] == "refused: the superblock's checksum is wrong"
    test.refused("dump", image.path, says="checksum is wrong")
    test.refused("purge", image.path, "--prefix=http:", says="checksum is wrong")
    assert "already" in test.tool("format", image.path).out
    for at in SUPERBLOCKS:
        image.write(at, bytes(4096))
    for command in ("check", "dump", "inspect"):
        test.refused(command, image.path, says="not a clusterfs device")


def test_future_version(test):
    newest = int(re.search(r"device format (\d+)", test.tool("--version").out)[1])
    image, _ = test.filled()
    for at in SUPERBLOCKS:
        image.write(at + 16, (newest + 1).to_bytes(4, "little"))
        image.seal(at, 4096, 4092)
    test.refused("dump", image.path, says=f"format version {newest + 1} is not one of the versions 1 to {newest}")
    assert [p["what"] for p in test.problems(image)] == ["superblock", "superblock"]


def log_blocks(test, image):
    """Places of the blocks of the index log from its oldest to its newest. It has not come round yet."""
    report = test.json("inspect", image, code=None)
    log = report["index_log"]
    assert log["tail"]["lap"] == log["head"]["lap"] and log["clusters"] == 0, log
    start = region(test, image, "index log")
    return [start + n * 4096 for n in range(log["tail"]["block"], log["head"]["block"])]


def test_a_block_of_the_index_log(test):
    """It takes with it what it described, and nothing else."""
    image, wanted = test.filled()
    blocks = log_blocks(test, image)
    start = region(test, image, "index log")
    lost = 0
    for block in blocks:
        at = block + test.random.randrange(4096)
        image.flip(at)
        found = test.problems(image)
        assert seen(found) == [("log", None, None, None)], found
        assert f"block {(block - start) // 4096} of the index log at byte {block} is damaged" == found[0]["text"]
        report = test.json("check", image, code=1)
        assert not report["scan"] and report["log_blocks_lost"] == 1, report
        after = test.dump(image)
        assert {n: e["size"] for n, e in after.items()}.items() <= wanted.items(), after
        assert not any("doubtful" in e["flags"] for e in after.values()), after
        lost += len(wanted) - len(after)
        image.flip(at)
    assert len(wanted) <= lost < 2 * len(wanted), f"{lost} of {len(wanted)}"  # some may be described twice
    test.clean(image)


def test_all_of_the_index_log(test):
    image, wanted = test.filled()
    for block in log_blocks(test, image):
        image.write(block, bytes(4096))
    report = test.json("check", image, code=1)
    assert report["scan"] and "by a scan of all" in report["start"], report
    # deletes are forgotten with the log, so the scan may find more
    after = test.dump(image)
    assert {n: after[n]["size"] for n in wanted} == wanted
    assert set(after) - set(wanted) <= {url("gone")}
    assert all("doubtful" in e["flags"] for e in after.values())
    test.fill(image)  # writes all anew
    test.clean(image)
    assert set(wanted) <= set(test.dump(image))


def test_both_copies_of_removals(test):
    """What was removed may come back, but only doubtful."""
    image, wanted = test.filled()
    test.fill(image, "remove " + url(5))
    log = test.json("inspect", image)["index_log"]
    blocks = log_blocks(test, image)
    start = region(test, image, "index log")
    first = start + log["newest_checkpoint"]["block"] * 4096
    assert log["removal_blocks"] == 1, log
    del wanted[url(5)]
    for copies in ([first], [blocks[-1]]):
        for at in copies:
            image.flip(at + 100)
        after = test.dump(image)
        assert {n: e["size"] for n, e in after.items()} == wanted
        assert not any("doubtful" in e["flags"] for e in after.values()), after
        for at in copies:
            image.flip(at + 100)
    for at in (first, blocks[-1]):
        image.flip(at + 100)
    after = test.dump(image)
    assert {n: after[n]["size"] for n in wanted} == wanted
    assert set(after) - set(wanted) <= {url(5), url("gone")}
    assert all("doubtful" in after[n]["flags"] for n in set(after) - set(wanted)), after
    assert "doubtful" in after[url(17)]["flags"], after[url(17)]


def test_journal(test):
    image = test.image()
    commands = []
    for turn in range(4):
        commands += [store(url(n), 500 + turn) for n in range(200)] + ["pack"]
    test.fill(image, *commands, crash=True)
    report = test.json("inspect", image)
    journals = [j for j in report["journals"] if j["blocks"]]
    assert len(journals) == 1 and journals[0]["blocks"] > 3 and journals[0]["removals"] >= 600, journals
    start = region(test, image, f"journal {journals[0]['checkpoint'] % 2}")
    last = journals[0]["blocks"] - 1
    test.clean(image)
    for block in range(last):
        at = start + block * 4096 + test.random.randrange(4096)
        image.flip(at)
        found = test.problems(image)
        assert seen(found) == [("journal", None, None, None)], found
        assert f"journal block {block} at byte {start + block * 4096} is damaged, so that {last - block} later" in found[0]["text"]
        image.flip(at)
    image.flip(start + last * 4096 + 100)  # the end looks like a torn write, which is no defect
    assert "journal" not in {p["what"] for p in test.problems(image)}


def test_truncated(test):
    image, _ = test.filled()
    whole = image.read(0, 16 * MIB)
    for size in (0, 1, 511, 4095, 4096, 8192, MIB, MIB + 4095, MIB + 4096, 2 * MIB, 5 * MIB + 1, 9 * MIB, 16 * MIB - 4096, 16 * MIB - 1):
        short = Image(test.path("short", whole[:size]))
        for command in ("inspect", "check", "dump"):
            done = test.tool(command, short.path, code=None)
            assert done.code != 0, (command, size, done)
        if size >= 4096:
            assert "formatted for 16777216 bytes, but the device has only" in test.tool("check", short.path, code=1).out
        test.tool("purge", short.path, "--prefix=http:", code=2)
        assert short.path.read_bytes() == whole[:size]
    os.truncate(image.path, 20 * MIB)
    test.clean(image)


def try_everything(test, image):
    """No command may crash, hang, or change what it only looks at."""
    before = image.digest()
    for command in ("inspect", "check", "dump"):
        test.tool(command, image.path, "--json", code=None)
    test.tool("map", image.path, code=None)
    assert image.digest() == before
    test.tool("purge", image.path, "--pattern=/[0-9]*$", code=None)


def test_fuzzed_bytes(test):
    image, _ = test.filled(crash=True)
    for turn in range(test.damage):
        copy = image.copy("fuzzed")
        where = test.random.choice(((0, 4096), (MIB, 4096), (2 * MIB, 4 * MIB), (0, 16 * MIB)))
        for _ in range(test.random.choice((1, 10, 1000))):
            copy.write(where[0] + test.random.randrange(where[1]), bytes([test.random.randrange(256)]))
        if turn % 4 == 0:
            at = test.random.randrange(15 * MIB)
            copy.write(at, bytes(test.random.randrange(MIB)))
        try_everything(test, copy)


def change(test, image, at, size):
    """Some numbers become others that are likely to hurt, or what stands beside them."""
    for _ in range(test.random.choice((1, 2, 5))):
        if test.random.randrange(3) == 0:
            width = test.random.choice((4, 8, 16, 32, 48, 64))
            if 4 * width < size:
                source, target = (at + test.random.randrange((size - width) // 4) * 4 for _ in range(2))
                image.write(target, image.read(source, width))
            continue
        width = test.random.choice((1, 2, 4, 8))
        value = test.random.choice((0, 1, 2, 2**(8 * width - 1), 2**(8 * width) - 1, test.random.randrange(2**(8 * width))))
        value = test.random.choice((value, test.random.randrange(min(2**(8 * width), 200))))
        image.write(at + test.random.randrange(0, size - width + 1), value.to_bytes(width, "little"))


def sealed_structures(test, image):
    """(offset, bytes worth changing, bytes under the checksum, place of the checksum)"""
    report = test.json("inspect", image)
    found = [[(at, 173, 4096, 4092) for at in SUPERBLOCKS]]
    index = [(at, 1200, 4096, 76) for at in log_blocks(test, image)]
    at = region(test, image, f"groups {report['groups']['generation'] % 2}")
    index += [(at + n * 262144, 1200, 262144, 60) for n in range(report["groups"]["chunks"])]
    found.append(index)
    blocks = [(region(test, image, f"journal {j['checkpoint'] % 2}") + n * 4096, 600, 4096, 44)
              for j in report["journals"] for n in range(j["blocks"])]
    found.append(blocks)
    fronts = []
    for number in range(report["geometry"]["cluster_count"]):
        cluster = test.json("inspect", image, f"--cluster={number}")
        if cluster["state"] == "whole":
            size = 96
            if cluster["kind"] == "packed":
                size += 64 * len(cluster["objects"]) + 16 * len(cluster["part_references"])
            fronts.append((cluster["offset"], size, size, 92))
    found.append(fronts)
    return [structures for structures in found if structures]


def test_a_part_named_twice(test):
    """In a directory with a right checksum, in several places."""
    image, _ = test.filled(crash=True)
    entry = test.dump(image)[url("large")]
    report = test.json("inspect", image, f"--cluster={entry['cluster']}")
    references = report["offset"] + 96 + 64 * len(report["objects"])
    count = len(report["part_references"])
    for source, target in ((0, 1), (1, 0), (0, count - 2), (2, 1), (1, 3)):
        copy = image.copy("twice")
        copy.write(references + 16 * target, image.read(references + 16 * source, 16))
        copy.seal(report["offset"], 96 + 64 * len(report["objects"]) + 16 * count, 92)
        found = test.dump(copy)
        if url("large") in found:
            assert {p["what"] for p in test.problems(copy)} == {"part"}
        assert test.fill(copy.copy("read"), "read " + url("large")) in (["gone"], ["unreadable"])
        try_everything(test, copy)


def test_fuzzed_with_right_checksums(test):
    """As an attacker with access to the disk would do it."""
    image, _ = test.filled(crash=False)
    test.fill(image, *[f"collocate {url(n)} {url(n + 1)}" for n in range(0, 20, 2)])
    test.fill(image, "remove " + url(1), store(url("large"), 300000), store(url("new"), 5000), "pack", crash=True)
    kinds = sealed_structures(test, image)
    assert len(kinds) == 4
    for structures in kinds:
        for _ in range(test.damage):
            copy = image.copy("fuzzed")
            for at, useful, size, crc_at in test.random.sample(structures, min(len(structures), test.random.choice((1, 2)))):
                change(test, copy, at, useful)
                copy.seal(at, size, crc_at)
            try_everything(test, copy)
