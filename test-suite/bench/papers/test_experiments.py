# SPDX-License-Identifier: GPL-2.0-or-later
"""Each experiment on each store: complete results, counts that add up, contents as they were stored."""

from paperstools import check_result, check_summary

STORES = ("clusterfs", "files")
#: small clusters and caches, so that little suffices to get to the disk
OPTIONS = ("--option", "cluster-size=64")


def _options(store):
    return OPTIONS if store == "clusterfs" else ()


def _hummingbird(context, store, *more):
    result = context.run("hummingbird", *context.place(store), *_options(store), "--requests", 4000, "--memory", 5,
                         "--measure", 500, *more)
    found = check_result(result, "hummingbird", ("fill", "measure"))
    for phase in found.values():
        assert phase["requests"] == 2000 and 0.2 < phase["hitRatio"] < 0.95, phase
        assert phase["fsRead"]["count"] == phase["hits"], phase
        assert phase["hits"] + phase["fsWrite"]["count"] + phase["tooLarge"] + phase["joined"] == 2000, phase
        assert 0 < phase["hitBytes"] < phase["bytes"], phase
    check_summary(found["measure"]["fsRead"], found["measure"]["hits"])
    memory_hits = sum(phase["memoryHits"] for phase in found.values())
    assert (memory_hits > 0) == (store == "files"), memory_hits
    assert result["checks"]["bodies"] == sum(phase["hits"] for phase in found.values()) - memory_hits, result["checks"]
    return result


def test_hummingbird(context):
    for store in STORES:
        result = _hummingbird(context, store)
        assert result["workload"]["requests"] == 4000


def test_hummingbird_threads(context):
    for store in STORES:
        assert _hummingbird(context, store, "--threads", 4)["settings"]["threads"] == 4


def test_hummingbird_large_ones_left_out(context):
    for store in STORES:
        found = _hummingbird(context, store, "--largest", 4096)["phases"]
        assert all(phase["tooLarge"] > 100 for phase in found), found


def test_both_stores_see_the_same_requests(context):
    results = [_hummingbird(context, store, "--seed", 5) for store in STORES]
    assert results[0]["workload"] == results[1]["workload"]
    # nothing had to go from either, so the hits are the same
    assert [phase["hits"] for phase in results[0]["phases"]] == [phase["hits"] for phase in results[1]["phases"]]
    assert _hummingbird(context, "clusterfs", "--seed", 6)["workload"] != results[0]["workload"]


def test_replacement(context):
    """A device that is too small for the trace: both stores make room, and keep what they have right."""
    image = context.image(16)
    result = context.run("hummingbird", "--at", image, *OPTIONS, "--requests", 12000, "--memory", 5)
    found = check_result(result, "hummingbird", ("measure",))["measure"]
    assert result["storeFigures"]["counters"]["objects evicted"] > 100, result["storeFigures"]
    assert 0.3 < found["hitRatio"] < result["workload"]["unlimitedHitRatio"], found["hitRatio"]


def test_cfs(context):
    for store in STORES:
        for cold in ((), ("--cold",)):
            result = context.run("cfs", *context.place(store), *_options(store), "--objects", 2500, "--memory", 8, *cold)
            found = check_result(result, "cfs", ("create", "read", "delete"))
            for phase in found.values():
                assert phase["operations"] == 2500 and len(phase["points"]) == 3, phase
                check_summary(phase["operation"], 2500)
            assert result["checks"]["bodies"] == 2500 and result["checks"]["missing"] == 0, result["checks"]
            assert result["storeFigures"]["counters"]["objects"] == 0, result["storeFigures"]


def test_cfs_day(context):
    for store in STORES:
        result = context.run("cfs-day", *context.place(store), *_options(store), "--requests", 3000, "--memory", 5)
        found = check_result(result, "cfs-day", ("trace",))["trace"]
        assert found["requests"] == 3000 and 0 < found["stale"] < found["hits"] < 3000, found
        assert found["create"]["count"] == 3000 - found["hits"] + found["stale"], found
        check_summary(found["read"], found["hits"])
        check_summary(found["delete"], found["stale"])


def test_damelo(context):
    for store in STORES:
        for ordering in ("sequential", "random", "zipf-1:8", "zipf-1:4", "zipf-3:8"):
            result = context.run("damelo", *context.place(store), *_options(store), "--ordering", ordering, "--objects", 400,
                                 "--reads", 300, "--threads", 3, "--memory", 16)
            found = check_result(result, "damelo", ("create", "read", "delete"))
            for name, count in (("create", 400), ("read", 300), ("delete", 400)):
                assert found[name]["operations"] == count, found[name]
                check_summary(found[name]["operation"], count)
            assert result["checks"]["bodies"] == 300 and result["checks"]["missing"] == 0, result["checks"]


def test_damelo_cluster_sizes(context):
    for size in (16, 32, 64, 128, 256):
        result = context.run("damelo", "--at", context.image(), "--option", f"cluster-size={size}", "--objects", 300,
                             "--memory", 16)
        check_result(result, "damelo", ("create", "read", "delete"))
        assert result["storeFigures"]["options"]["cluster-size"] == str(size)


def test_tfs(context):
    for store in STORES:
        result = context.run("tfs", *context.place(store, in_front=True), *_options(store), "--urls", 800, "--requests", 3000, "--memory", 8,
                             "--threads", 2)
        found = check_result(result, "tfs", ("load", "warm", "measure"))
        # three quarters and more of the thousandths that are measured by default
        assert found["warm"]["requests"] == 900 and found["measure"]["requests"] == 2100, found
        assert found["measure"]["fsRead"]["count"] == 2100 and result["checks"]["missing"] == 0, found["measure"]
        assert found["load"]["fsWrite"]["count"] == result["workload"]["objects"] or \
            found["load"]["fsWrite"]["count"] == result["settings"]["objects"], found["load"]


def test_bandwidth(context):
    result = context.run("bandwidth", "--at", context.image(), *OPTIONS, "--megabytes", 16, "--size", 20000, "--memory", 5)
    found = check_result(result, "bandwidth", ("pack", "read"))
    objects = (16 << 20) // 20000
    assert found["pack"]["bytes"] == found["read"]["bytes"] == objects * 20000, found
    assert result["checks"]["bodies"] == objects, result["checks"]


def test_foreign_content_is_noticed(context):
    """Files that change behind the store's back are wrong bodies, and the program says so."""
    folder = context.empty()

    def damage():
        for number, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())[:5]):
            with open(path, "r+b") as file:
                file.seek(100 * number)
                file.write(b"\x00damage\xff")

    code, _, result, said = context.attended("cfs", "--store", "files", "--at", folder, "--objects", 200,
                                             on={"@begin read": damage})
    assert code == 1 and "not read as they were stored" in said, (code, said)
    assert result["checks"]["bad"] == 5 and result["checks"]["bodies"] == 195, result["checks"]


def test_damaged_store_misses(context):
    """Its own checks turn damage into misses."""
    image = context.image(32)

    def damage():
        with open(image, "r+b") as file:
            for at in range(8 << 20, 16 << 20, 16384):  # of half of the clusters: those that fail often are used no more
                file.seek(at)
                file.write(b"\x00damage\xff")

    code, _, result, said = context.attended("cfs", "--at", image, *OPTIONS, "--objects", 4000, "--size", 4000, "--cold",
                                             "--memory", 5, on={"@begin read": damage})
    assert code == 0, (code, said)
    assert result["checks"]["bad"] == 0 and result["checks"]["missing"] > 500, result["checks"]
