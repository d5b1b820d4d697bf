# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs whatif: logs whose hits can be counted by hand, what is left out, all formats, and bad input."""

import gzip
import json

OBJECTS, SIZE = 600, 50000  # 30 MB, of which 0.02 GB hold no round


def squid_line(at, url, client="10.0.0.1", code="TCP_MISS/200", size=SIZE, method="GET"):
    return f"{at:.3f}      5 {client} {code} {size} {method} {url} - HIER_DIRECT/192.0.2.1 image/png\n"


def rounds(count, line=squid_line):
    """Each object once, over and over, ten a second: what LRU is worst at where one round does not fit."""
    return "".join(line(1700000000 + (turn * OBJECTS + n) / 10, f"http://host{n % 7}.example/{n}.png") for turn in range(count) for n in range(OBJECTS))


def whatif(test, text, *options, disks="0.02,0.2", name="access.log"):
    """The JSON that it prints of a log."""
    path = test.path(name, text if isinstance(text, bytes) else text.encode())
    return json.loads(test.tool("whatif", path, f"--disk-gb={disks}", "--memory-gb=0.01", "--json", *options).out)


def test_hits_counted_by_hand(test):
    """A disk that holds less than a round has no hit, since all of an object's cluster has gone when it comes back; one
    that holds a round has all but the first. The simple LRU beside it has the same."""
    found = whatif(test, rounds(3))
    assert found["requests"] == 3 * OBJECTS and found["objects"] == OBJECTS and found["bytes"] == 3 * OBJECTS * SIZE, found
    assert found["seconds"] == (3 * OBJECTS - 1) // 10 and found["hits_in_log"] is None, found
    small, large = found["disks"]
    assert (small["disk_gb"], small["hits"], small["lru_hits"], small["not_stored"]) == (0.02, 0, 0, 0), small
    assert small["disk_written_bytes"] > 3 * OBJECTS * SIZE, small
    assert large["hits"] == large["lru_hits"] == 2 * OBJECTS and large["hit_bytes"] == large["lru_hit_bytes"] == 2 * OBJECTS * SIZE, large
    assert 0 < large["disk_reads"] <= 2 * OBJECTS and large["disk_read_bytes"] > OBJECTS * SIZE, large
    assert large["disk_written_bytes"] < 2 * OBJECTS * SIZE, large
    # 3.8 ms a request and 105 bytes a microsecond, of the 179 s that the log took; closing comes behind
    requests = large["disk_reads"] + large["disk_written_bytes"] / (1 << 20)
    assert large["load_mean_percent"] > 100 * requests * 0.0038 / found["seconds"], large
    assert large["load_worst_hour_percent"] == large["load_mean_percent"], "a log of less than an hour"


def test_the_disk_decides_the_load(test):
    text = rounds(3)
    slow, = whatif(test, text, disks="0.2")["disks"]
    quick, = whatif(test, text, "--disk=ssd", disks="0.2")["disks"]
    assert slow["hits"] == quick["hits"] and quick["load_mean_percent"] < slow["load_mean_percent"] / 4, (slow, quick)


def test_options_are_those_of_the_cache_dir(test):
    """admit=2 stores from the second request on, so that the third round has the first hits."""
    found = whatif(test, rounds(3), "--options=admit=2 locality=0", disks="0.2")
    assert "locality=0" in found["options"] and found["disks"][0]["hits"] == OBJECTS, found
    assert found["disks"][0]["not_stored"] == OBJECTS, found


def test_formats_say_the_same(test):
    """Native with seconds and with dates, common, combined, compressed, and with lines that are none."""
    wanted = whatif(test, rounds(2))

    def dated(at, url):
        seconds = int(at) - 1700000000
        return f"[14/Nov/2023:22:{13 + (20 + seconds) // 60:02d}:{(20 + seconds) % 60:02d} +0000]"

    def common(at, url):
        return f'10.0.0.1 - - {dated(at, url)} "GET {url} HTTP/1.1" 200 {SIZE}\n'

    logs = {
        "dates": rounds(2, lambda at, url: dated(at, url) + squid_line(0, url).removeprefix("0.000")),
        "common": rounds(2, common),
        "combined": rounds(2, lambda at, url: common(at, url).rstrip() + ' "-" "curl/8"\n'),
        "gzip": gzip.compress(rounds(2).encode()),
    }
    for name, text in logs.items():
        found = whatif(test, text, name=name)
        assert [disk["hits"] for disk in found["disks"]] == [disk["hits"] for disk in wanted["disks"]] == [0, OBJECTS], name
        assert abs(found["seconds"] - wanted["seconds"]) <= 1, name
    found = whatif(test, "# a heading\n" + rounds(2) + "\0x\n".replace("\0", "") + "broken line\n")
    assert found["left_out"]["bad_lines"] == 3 and found["disks"] == wanted["disks"], found


def test_what_is_left_out_is_said(test):
    at, url = 1700000000, "http://h.example/a"
    text = (squid_line(at, url, size=1000) + squid_line(at + 1, url, size=200, code="TCP_MISS/304") + squid_line(at + 2, url, code="TCP_HIT/200", size=1000)
            + squid_line(at + 3, "h.example:443", method="CONNECT", code="TCP_TUNNEL/200") + squid_line(at + 4, url, method="POST")
            + squid_line(at + 5, url, code="TCP_MISS/404") + squid_line(at + 6, "http://h.example/never", code="TCP_MISS/304"))
    found = whatif(test, text + "garbage\n")
    assert found["left_out"] == {"other_methods": 2, "other_statuses": 1, "no_size": 1, "bad_lines": 1, "behind_the_last_request": False}, found
    assert found["requests"] == 3 and found["bytes"] == 3000 and found["hits_in_log"] == 1, found
    assert [disk["hits"] for disk in found["disks"]] == [2, 2], found
    found = whatif(test, text, "--requests=2")
    assert found["requests"] == 2 and found["left_out"]["behind_the_last_request"], found
    path = test.path("access.log", (text + "garbage\n").encode())
    said = test.tool("whatif", path, "--disk-gb=0.1").out
    for words in ("3 requests of 1 objects", "2 lines of other methods than GET, 1 of other statuses", "1 without a size", "line 8: has 1 words",
                  "hits that the log itself has: 33.3 % of requests", "      0.1      66.7    66.7       66.7    66.7 "):
        assert words in said, said


def test_pauses_are_cut(test):
    """A log whose clock was set years ahead ends, too."""
    url = "http://h.example/a"
    found = whatif(test, squid_line(1700000000, url) + squid_line(1700000000 + 4e8, url))
    assert found["seconds"] == 3600 and [disk["hits"] for disk in found["disks"]] == [1, 1], found


def test_a_terabyte_takes_little_memory(test):
    """Neither disk nor memory of that size is needed; a file of objects is not either."""
    found = whatif(test, rounds(2), disks="1000")
    assert found["disks"][0]["hits"] == OBJECTS, found
    assert not [path for path in test.dir.iterdir() if path.name != "access.log"]


def test_bad_input(test):
    good = test.path("good.log", squid_line(1700000000, "http://h/").encode())
    empty, text = test.path("empty", b""), test.path("text", b"hello\nworld\n")
    posts = test.path("posts", squid_line(1700000000, "http://h/", method="POST").encode())
    cut = test.path("cut.gz", gzip.compress(rounds(1).encode())[:-2000])
    for words, says in (((), "name one log"), ((good,), "--disk-gb=LIST is missing"), ((good, good, "--disk-gb=1"), "name one log"),
                        ((good, "--disk-gb=1,x"), "--disk-gb=x is not a number"), ((good, "--disk-gb=0.001"), "--disk-gb=0.001 is not a number from 0.016"),
                        ((good, "--disk-gb=1,"), "--disk-gb"), ((good, "--disk-gb=1", "--disk=tape"), "tape"),
                        ((good, "--disk-gb=1", "--options=stagings=4"), "stagings"), ((good, "--disk-gb=1", "--options=staging"), "staging is not of the form name=value"),
                        ((good, "--disk-gb=1", "--memory-gb=-1"), "--memory-gb"), ((test.dir / "missing", "--disk-gb=1"), "No such file"),
                        ((test.dir, "--disk-gb=1"), "is a folder"), ((empty, "--disk-gb=1"), "no request in it can be replayed"),
                        ((text, "--disk-gb=1"), "2 lines are bad, the first is"), ((posts, "--disk-gb=1"), "1 are no GET"),
                        ((text, "--disk-gb=1", "--log-format=squid"), "has 1 words"), ((cut, "--disk-gb=1"), "the file is cut short")):
        test.refused("whatif", *words, says=says)
