# SPDX-License-Identifier: GPL-2.0-or-later
"""Made traces against the papers' figures, and traces and logs that are read."""

import gzip

from benchlib import papers_trace
from benchlib.errors import BenchError

SQUID = """1700000000.123    250 10.0.0.1 TCP_MISS/200 5120 GET http://a.example/ - HIER_DIRECT/10.9.9.9 text/html
1700000000.300     20 10.0.0.1 TCP_MISS/200 900 GET http://a.example/a.gif - HIER_DIRECT/10.9.9.9 image/gif
1700000001.300     20 10.0.0.2 TCP_MISS/404 900 GET http://a.example/none - HIER_DIRECT/10.9.9.9 text/html
1700000001.400     20 10.0.0.2 TCP_MISS/200 900 POST http://a.example/form - HIER_DIRECT/10.9.9.9 text/html
1700000002.300      1 10.0.0.2 TCP_HIT/200 900 GET http://a.example/a.gif - HIER_NONE/- image/gif
"""
COMMON = """10.0.0.1 - - [29/Aug/1995:23:53:25 -0400] "GET /index.html HTTP/1.0" 200 1497
10.0.0.1 - - [29/Aug/1995:23:53:26 -0400] "GET /logo.gif HTTP/1.0" 200 2624
10.0.0.2 - frank [29/Aug/1995:23:53:27 -0400] "GET /index.html HTTP/1.0" 304 0 "-" "Mozilla"
10.0.0.2 - - [29/Aug/1995:23:53:28 -0400] "GET /gone.html HTTP/1.0" 304 0
10.0.0.2 - - [29/Aug/1995:23:53:29 -0400] "GET /other HTTP/1.0" 200 -
nonsense
"""
COLUMNS = "time\tclient\turl_sha1_16\treferer_sha1_16\tstatus\tbytes\tkind\n" \
          "1.0\tc1\tu1\t-\t200\t1000\thtml\n1.1\tc1\tu2\tu1\t200\t2000\timage\n1.2\tc2\tu1\t-\t200\t1000\thtml\n"


def _describe(context, *words):
    return context.run("describe", *words)["workload"]


def test_made_proxy_trace(context):
    """Like the ISP's log in Hummingbird 2.1; the margins are for the short length."""
    found = _describe(context, "--requests", 300000)
    for name, low, high in (("requestMedian", 1700, 2200), ("requestMean", 5000, 7000), ("requestsUpTo8K", 0.87, 0.93),
                            ("requestsAbove1M", 0.00005, 0.0006), ("unlimitedHitRatio", 0.63, 0.73)):
        assert low < found[name] < high, f"{name}: {found[name]}"
    assert 0.42 < found["uniqueBytes"] / found["bytes"] < 0.6, found
    sets = found["sets"]
    for name, wanted in (("upTo32K", 0.42), ("upTo64K", 0.62), ("upTo96K", 0.73), ("upTo128K", 0.80), ("askedForAgain", 0.47)):
        assert abs(sets[name] - wanted) < 0.08, f"{name}: {sets[name]}"


def test_made_traces_follow_the_seed(context):
    for workload in ("proxy", "server"):
        same = [_describe(context, "--workload", workload, "--requests", 5000, "--seed", 3) for _ in range(2)]
        assert same[0] == same[1]
        assert _describe(context, "--workload", workload, "--requests", 5000, "--seed", 4) != same[0]


def _converted(context, text, packed=False):
    source, target = context.folder / "log", context.folder / "trace"
    source.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return papers_trace.convert(source, target), target


def test_squid_log(context):
    found, path = _converted(context, SQUID)
    assert found == {"requests": 3, "skipped": 2, "objects": 2}, found
    assert path.read_text() == "0 0 5120 html\n0 1 900 other\n1 1 900 other\n", path.read_text()


def test_common_log(context):
    found, path = _converted(context, COMMON, packed=True)
    assert found == {"requests": 3, "skipped": 3, "objects": 2}, found
    assert path.read_text() == "0 0 1497 html\n0 1 2624 other\n1 0 0 html\n", path.read_text()
    workload = _describe(context, "--trace", path)
    assert workload["requests"] == 3 and workload["objects"] == 2 and workload["clients"] == 2, workload
    assert workload["uniqueBytes"] == 1497 + 2624, workload


def test_columns(context):
    found, path = _converted(context, COLUMNS, packed=True)
    assert found == {"requests": 3, "skipped": 0, "objects": 2}, found
    result = context.run("hummingbird", *context.place("clusterfs"), "--trace", path)
    phase = result["phases"][0]
    assert phase["requests"] == 3 and phase["hits"] == 1 and phase["fsWrite"]["count"] == 2, phase


def test_bad_logs(context):
    for text, word in (("", "first line"), ("hello\n", "first line"), (SQUID.replace("/200", "/500"), "none of its")):
        try:
            _converted(context, text)
        except BenchError as error:
            assert word in str(error), error
        else:
            raise AssertionError(f"{text!r} was taken for a log")
    try:
        papers_trace.convert(context.folder / "absent", context.folder / "trace")
    except BenchError as error:
        assert "No such file" in str(error), error
    else:
        raise AssertionError("a log that is not there was read")


def test_bad_traces(context):
    path = context.folder / "trace"
    for text, words in (("", "no requests"), ("0 0 10 html\n0 0 10\n", "line 2"), ("0 0 10 page\n", "'page'"),
                        ("0 1 10 html\n", "leaves out"), ("1 0 10 html\n", "leaves out"), ("0 0 -5 html\n", "line 1"),
                        ("0 0 99999999999 html\n", "line 1"), ("0 0 10 html \n", "line 1"), ("99999999 0 10 html\n", "line 1")):
        path.write_text(text)
        context.refused("describe", "--trace", path, says=words, code=1)
    context.refused("describe", "--trace", context.folder / "absent", says="No such file", code=1)


def test_stale_requests_replace(context):
    path = context.folder / "trace"
    path.write_text("0 0 5000 html\n0 0 5000 other\n0 0 5000 html-stale\n0 0 5000 other\n")
    for store in ("clusterfs", "files"):
        found = context.run("cfs-day", *context.place(store), "--trace", path)["phases"][0]
        assert found["hits"] == 3 and found["stale"] == 1 and found["create"]["count"] == 2, found
        found = context.run("hummingbird", *context.place(store), "--trace", path)["phases"][0]
        assert found["hits"] == 2 and found["fsWrite"]["count"] == 2, found
