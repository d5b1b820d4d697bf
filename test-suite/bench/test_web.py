# SPDX-License-Identifier: GPL-2.0-or-later
"""End-to-end tests of bench-client and bench-origin, on loopback: what one says it did, the other has seen; a
wrong body, a cache, a dead proxy and bad arguments are told as what they are. Judges no speed."""

import contextlib
import gzip
import http.client
import json
import re
import signal
import socket
import socketserver
import subprocess
import threading
import time

import pytest

TRACE_HEAD = "session\tpage\tseq\tstart\turl\treferer\tstatus\tbytes\tsize_source\tkind\n"
SMALL = ("--sites", 3, "--pages", 10)


class Origin:
    """A bench-origin on a free port. Afterwards, told is what it counted."""

    def __init__(self, programs, *options):
        self.process = subprocess.Popen([programs / "bench-origin", "--port", "0", "--deadline", "60", *map(str, options)],
                                        stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        assert words[:1] == ["ready"] and len(words) == 2, f"bench-origin said {words}"
        self.place, self.told = f"127.0.0.1:{words[1]}", None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=10)
        assert self.process.returncode == 0, f"bench-origin ended with {self.process.returncode}"
        self.told = json.loads(out)


class Cache(socketserver.ThreadingTCPServer):
    """A tiny caching proxy. Keeps everything; with deaf=True, it takes connections and never answers.
    origin: where it gets everything from, whatever the host's name; None: from that host."""
    allow_reuse_address = daemon_threads = True
    request_queue_size = 512

    def __init__(self, deaf=False, close_after=1000000, origin=None):
        self.kept, self.seen, self.deaf, self.close_after = {}, [], deaf, close_after
        self.origin = origin
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.place = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class _Exchange(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self):
        for count in range(self.server.close_after):
            head = b"".join(iter(self.rfile.readline, b"\r\n") if self._more() else ())
            if not head or self.server.deaf:
                time.sleep(5 if self.server.deaf else 0)
                return
            lines = head.decode().split("\r\n")
            url, headers = lines[0].split()[1], dict(line.split(": ", 1) for line in lines[1:] if line)
            self.server.seen.append((self.client_address[0], url, headers))
            if url not in self.server.kept:
                self.server.kept[url] = _fetch(url, self.server.origin)
            self.wfile.write(self.server.kept[url])
            if count + 2 > self.server.close_after:
                time.sleep(0.01)  # so that the client may have used the connection again

    def _more(self):
        """Whether another request comes."""
        try:
            return self.rfile.peek(1) != b""
        except OSError:
            return False


def _fetch(url, origin):
    """A response of the origin, as it is to be sent on."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(origin or host, timeout=10)
    connection.request("GET", "/" + path)
    reply = connection.getresponse()
    body = reply.read()
    head = "".join(f"{name}: {value}\r\n" for name, value in reply.getheaders() if name not in ("Connection", "Transfer-Encoding"))
    if "Content-Length" not in head:
        head += f"Content-Length: {len(body)}\r\n"
    connection.close()
    return f"HTTP/1.1 {reply.status} {reply.reason}\r\n{head}\r\n".encode() + body


class Context:
    """What the tests need."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder

    def origin(self, *options):
        return Origin(self.programs, *options)

    def call(self, *options):
        return subprocess.run([self.programs / "bench-client", *map(str, options)], capture_output=True, text=True,
                              timeout=60, check=False)

    def client(self, origin, *options, proxy=None, status=0):
        """The JSON of a run of bench-client."""
        done = self.call("--proxy", proxy or origin.place, "--origin", origin.place, *options,
                         *(() if "--deadline" in options else ("--deadline", 30)))
        assert done.returncode == status, f"{options}: ended with {done.returncode}: {done.stderr}"
        self.errors = done.stderr
        return json.loads(done.stdout)

    def refused(self, *options, words, status=2):
        """The call ends with an error that has these words."""
        done = self.call(*options)
        assert done.returncode == status, f"{options} ended with {done.returncode}: {done.stdout}{done.stderr}"
        missing = [word for word in words if word not in done.stderr]
        assert not missing, f"{options}: no {missing} in: {done.stderr}"
        assert not done.stdout, done.stdout

    def file(self, name, text):
        path = self.folder / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path


@pytest.fixture
def context(programs, folder):
    return Context(programs, folder)


def same(origin, result, *, but_hits=True):
    """Origin and client agree."""
    assert origin.told["errors"] == 0, origin.told
    misses = result["requests"] - (result["hits"] if but_hits else 0)
    assert origin.told["requests"] == misses, f"{origin.told} but {misses} misses"
    assert origin.told["bytes"] == result["bytes"] - (result["hitBytes"] if but_hits else 0), origin.told
    clean(result)


def clean(result):
    assert result["errors"] == result["badBodies"] == result["failedVisits"] == 0, result
    assert result["stopped"] == "" and result["requests"] > 0, result


def test_counts_agree(context):
    for options in ((), ("--chunked",), ("--threads", 2), ("--delay", 3)):
        with context.origin(*options) as origin:
            result = context.client(origin, *SMALL, "--visits", 40)
        same(origin, result)
        assert result["visits"] == 40 and result["hits"] == 0, result
        assert result["visit"]["count"] == 40 and result["all"]["count"] == result["requests"], result
        assert sum(row["requests"] for row in result["timeline"]) == result["requests"]
        assert sum(count for _, count in result["histogram"]["miss"]) == result["miss"]["count"]
        if "--delay" in options:
            assert result["all"]["p50"] >= 0.003, result["all"]


def test_every_workload(context):
    for options in (("--workload", "pages", "--change", 0.5, "--drift", 0.1, "--revisit", 0.3, *SMALL),
                    ("--workload", "random", "--objects", 500), ("--workload", "random", "--object-bytes", 1000),
                    ("--workload", "large", "--min-bytes", "1M", "--max-bytes", "3M"),
                    ("--workload", "onehit", "--flood", 0.5, *SMALL), ("--workload", "churn", "--objects", 2000)):
        with context.origin() as origin:
            result = context.client(origin, *options, "--visits", 20, "--seed", 3)
        same(origin, result)
        assert result["workload"] == options[1] and result["visits"] == 20 and result["seed"] == 3


def test_once_is_the_whole_corpus(context):
    what = json.loads(context.call("--describe", *SMALL).stdout)
    assert set(what) == {"pages", "objects", "bytes", "meanObjectsPerPage", "meanPageBytes"} and what["pages"] == 30, what
    with context.origin() as origin, Cache() as cache:
        result = context.client(origin, *SMALL, "--order", "once", "--users", 1, proxy=cache.place)
        again = context.client(origin, *SMALL, "--order", "once", "--users", 4, "--seed", 2, proxy=cache.place)
    same(origin, result)
    assert result["visits"] == 30 and origin.told["requests"] == what["objects"] and origin.told["bytes"] == what["bytes"]
    assert abs(result["bytes"] / 30 - what["meanPageBytes"]) < 1 and result["hits"] > 0
    clean(again)
    assert again["hits"] == again["requests"] == result["requests"] and again["hitBytes"] == result["bytes"]
    assert again["hit"]["count"] == again["hits"] and again["miss"]["count"] == 0


def test_requests_are_those_of_browsers(context):
    with context.origin() as origin, Cache() as cache:
        context.client(origin, *SMALL, "--visits", 12, "--users", 3, proxy=cache.place)
    site = f"http://{origin.place}"
    kinds, parents = {}, set()
    for address, url, headers in cache.seen:
        assert url.startswith(site) and headers["Host"] == origin.place
        assert address.startswith("127.0.1."), address
        kinds.setdefault(headers["Sec-Fetch-Dest"], []).append(headers)
        if headers["Sec-Fetch-Dest"] == "document":
            assert "Referer" not in headers and headers["Sec-Fetch-Site"] == "none"
        else:
            assert headers["Referer"].startswith(site) and headers["Sec-Fetch-Site"] == "same-origin"
            parents.add(headers["Referer"].rsplit(".", 1)[1])
    assert {"document", "style", "script", "image"} <= set(kinds), set(kinds)
    assert len(kinds["document"]) == 12 and parents == {"html", "css"}, parents
    assert len({address for address, _, _ in cache.seen}) == 3
    with context.origin() as origin, Cache() as cache:
        context.client(origin, *SMALL, "--visits", 2, "--one-address", "--referer", "none", "--reverse", proxy=origin.place)
        context.client(origin, "--workload", "random", "--visits", 5, "--one-address", proxy=cache.place)
    assert {address for address, _, _ in cache.seen} == {"127.0.0.1"}
    assert not any("Referer" in headers or "Sec-Fetch-Dest" in headers for _, _, headers in cache.seen)


def test_sites_may_be_hosts(context):
    with context.origin() as origin, Cache(origin=origin.place) as cache:
        context.client(origin, *SMALL, "--visits", 12, "--domain", "sites.test", proxy=cache.place)
    hosts = set()
    for _, url, headers in cache.seen:
        host, site = re.fullmatch(r"http://(s\d+\.sites\.test)/(s\d+)/.*", url).groups()
        assert host == headers["Host"] == f"{site}.sites.test"
        assert headers.get("Referer", f"http://{host}/").startswith(f"http://{host}/"), headers
        hosts.add(host)
    assert len(hosts) > 1


def test_wrong_bodies_are_found(context):
    with context.origin("--wrong-every", 50) as origin:
        result = context.client(origin, *SMALL, "--visits", 20, status=1)
    assert result["badBodies"] == origin.told["requests"] // 50 > 0, (result["badBodies"], origin.told)
    assert "of the body is wrong" in context.errors and "wrong body" in context.errors, context.errors
    with context.origin("--wrong-every", 50) as origin:
        clean(context.client(origin, *SMALL, "--visits", 20, "--no-check"))
    # what a cache keeps under a wrong name is wrong, too
    with context.origin() as origin, Cache() as cache:
        context.client(origin, *SMALL, "--order", "once", proxy=cache.place)
        urls = sorted(url for url in cache.kept if url.endswith(".png"))
        cache.kept[urls[0]] = cache.kept[urls[1]]
        result = context.client(origin, *SMALL, "--order", "once", proxy=cache.place, status=1)
    assert result["badBodies"] > 0 and urls[0].removeprefix(f"http://{origin.place}") in context.errors, context.errors


def test_open_loop_counts_from_when_it_was_due(context):
    with context.origin("--delay", 20) as origin:
        calm = context.client(origin, "--workload", "random", "--rate", 100, "--seconds", 1.5)
        late = context.client(origin, "--workload", "random", "--rate", 100, "--seconds", 1.5, "--users", 1, "--drain", 1)
    clean(calm)
    assert calm["rate"] == 100 and calm["visits"] > 0 and calm["unfinished"] == 0 and calm["all"]["p50"] >= 0.02, calm
    # one user manages less than 50 visits a second: the others wait, and that is seen
    assert late["requestsPerSecond"] < 51 and late["unfinished"] > 0, late
    assert late["all"]["p50"] > 0.2 and late["visit"]["max"] > 1, late["all"]


def test_seconds_warmup_and_timeline(context):
    with context.origin("--delay", 5) as origin:
        result = context.client(origin, *SMALL, "--warmup", 0.5, "--seconds", 1, "--interval", 0.25)
    clean(result)
    # however slow the machine is: not before its time, and with no interval left out
    assert result["seconds"] >= 0.999 and abs(len(result["timeline"]) - result["seconds"] / 0.25) <= 2, result
    assert origin.told["requests"] > result["requests"], "the warm-up does not count"
    # what was under way at the end is counted, and not in the rate
    assert sum(step["requests"] for step in result["timeline"]) == result["requests"], result
    assert 0 < result["requestsPerSecond"] * result["seconds"] <= result["requests"] + 1, result
    assert result["clientCpu"] > 0


def test_traces(context):
    trace = context.file("trace.tsv.gz", TRACE_HEAD + "s\tp\t1\t-\thome\t-\t200\t5000\tcl\thtml\n"
                         "s\tp\t2\t-\tstyle\thome\t200\t700\tcl\tcss\ns\tp\t3\t-\tlogo\tstyle\t200\t300\tcl\timage\n")
    options = ("--trace", trace, "--sites", 2, "--pages", 5, "--shared", 0)
    assert json.loads(context.call("--describe", *options).stdout) == {
        "pages": 10, "objects": 30, "bytes": 60000, "meanObjectsPerPage": 3, "meanPageBytes": 6000}
    with context.origin() as origin:
        result = context.client(origin, *options, "--order", "once")
    same(origin, result)
    assert result["requests"] == 30 and result["bytes"] == 60000
    bad = context.file("bad.tsv", TRACE_HEAD + "s\tp\t1\t-\thome\t-\t200\t5k\tcl\thtml\n")
    context.refused("--trace", bad, "--describe", words=[f"{bad}: line 2: bytes", "5k"])
    context.refused("--trace", context.folder / "none", "--describe", words=["none", "No such file"])
    context.refused("--trace", context.folder, "--describe", words=["is a folder"])
    cut = context.file("cut.tsv.gz", TRACE_HEAD + "s\tp\t1\t-\thome\t-\t200\t5000\tcl\thtml\n" * 1000)
    cut.write_bytes(cut.read_bytes()[:-20])
    context.refused("--trace", cut, "--describe", words=["cut.tsv.gz"])


def test_logs(context):
    squid = "".join(f"{1000 + i / 100:.3f} 1 10.0.0.{i % 7} TCP_MISS/200 {500 + i % 9} GET http://h/{i % 9}.gif - X/- -\n" for i in range(60))
    common = "".join(f'10.0.0.{i % 7} - - [10/Oct/2000:13:55:{i // 30:02} +0000] "GET /{i % 9}.html HTTP/1.0" 200 {500 + i % 9} '
                     f'"http://h/1.html" "x"\n' for i in range(60))
    table = "time\tclient\turl\treferer\tstatus\tbytes\tkind\n" + "".join(
        f"{i / 100}\tc{i % 7}\tu{i % 9}\t-\t200\t{500 + i % 9}\temb\n" for i in range(60))
    for name, text in (("squid.log", squid), ("common.log.gz", common), ("table.tsv.gz", table)):
        path = context.file(name, text)
        for timing in ("throttle", "real", "fast"):
            options = ("--workload", "log", "--log", path, "--timing", timing)
            with context.origin() as origin, Cache() as cache:
                result = context.client(origin, *options, proxy=cache.place)
            assert origin.told["errors"] == 0 and len(cache.kept) == 9, (name, timing, origin.told)
            clean(result)
            assert result["requests"] == 60 and result["bytes"] == sum(500 + i % 9 for i in range(60)), result
            assert len({address for address, _, _ in cache.seen}) == 7
            if timing == "real":
                assert result["seconds"] > 0.5, f"{name}: {result['seconds']} s"
            if name.startswith("common"):
                assert sum(headers.get("Referer", "").endswith("-501-v1.html") for _, _, headers in cache.seen) > 50
    bad = context.file("bad.log", squid + "rubbish\n")
    context.refused("--workload", "log", "--log", bad, words=[f"{bad}: line 61", "--skip-bad-lines"])
    context.refused("--workload", "log", words=["--log FILE"])
    with context.origin() as origin:
        result = context.client(origin, "--workload", "log", "--log", bad, "--skip-bad-lines", "--log-entries", 70)
    assert result["log"] == {"entries": 60, "clients": 7, "skipped": 0, "badLines": 1}, result["log"]


def test_closed_connections_are_used_again(context):
    with context.origin() as origin, Cache(close_after=3) as cache:
        result = context.client(origin, *SMALL, "--visits", 15, proxy=cache.place)
    clean(result)


def test_failing_proxies(context):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        context.refused("--proxy", f"127.0.0.1:{unused.getsockname()[1]}", "--visits", 1, words=["no proxy at", "refused"], status=1)
    with context.origin() as origin:
        with Cache(deaf=True) as cache:
            result = context.client(origin, *SMALL, "--visits", 2, "--timeout", 1, "--max-errors", 2, proxy=cache.place, status=1)
        assert result["stopped"] == "errors" and result["errors"] == 2 and "no response within 1 seconds" in context.errors
        with Cache(deaf=True) as cache:
            result = context.client(origin, *SMALL, "--visits", 2, "--deadline", 1.5, proxy=cache.place, status=1)
        assert result["stopped"] == "deadline" and result["visits"] < 2, result
        # an origin that dies in the middle
        process = subprocess.Popen([context.programs / "bench-client", "--proxy", origin.place, "--origin", origin.place,
                                    "--seconds", "20", "--max-errors", "20"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and json.loads(out)["stopped"] == "errors" and "gave up after" in errors, errors


def test_a_signal_ends_it(context):
    with context.origin() as origin:
        process = subprocess.Popen([context.programs / "bench-client", "--proxy", origin.place, "--origin", origin.place,
                                    "--seconds", "30", *map(str, SMALL)], stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    result = json.loads(out)
    assert process.returncode == 0 and result["stopped"] == "signal" and 0 < result["seconds"] < 30, result


def test_origin_answers(context):
    with context.origin("--max-age", 77) as origin:
        connection = http.client.HTTPConnection(origin.place, timeout=5)

        def ask(path, method="GET", **headers):
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            reply = connection.getresponse()
            return reply, reply.read()

        before = time.monotonic_ns()
        reply, body = ask("/a/x-1000-v1.css")
        assert reply.status == 200 and len(body) == 1000 and reply.headers["Cache-Control"].endswith("max-age=77")
        assert reply.headers["Content-Type"] == "text/css" and before <= int(reply.headers["X-Generated"]) <= time.monotonic_ns()
        assert ask("/a/x-1000-v1.css")[1] == body != ask("/a/x-1000-v2.css")[1]
        assert ask(f"http://{origin.place}/a/x-1000-v1.css")[1] == body
        assert ask("/a/x-1000-v1.css", If_None_Match=reply.headers["ETag"])[0].status == 304
        head, nothing = ask("/a/x-1000-v1.css", "HEAD")
        assert head.headers["Content-Length"] == "1000" and not nothing
        assert ask("/favicon.ico")[0].status == 404 and ask("/a/x-1-v1.css", "DELETE")[0].status == 405
        assert len(ask("/a/x-0-v1.css")[1]) == 0 and len(ask("/a/x-5000000-v1.bin")[1]) == 5000000
        with contextlib.closing(socket.create_connection(origin.place.split(":"), 5)) as raw:
            raw.sendall(b"GET /a/x-10-v1.css HTTP/1.1\r\n\r\n" * 3 + b"rubbish\r\n\r\n")
            reply = b"".join(iter(lambda: raw.recv(65536), b""))
        assert reply.count(b"200 OK") == 3 and b"400 Bad Request" in reply, reply
    taken = subprocess.run([context.programs / "bench-origin", "--port", "99999"], capture_output=True, text=True, check=False)
    assert taken.returncode == 2 and "--port" in taken.stderr, taken
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = subprocess.run([context.programs / "bench-origin", "--port", str(listener.getsockname()[1])], capture_output=True,
                               text=True, timeout=10, check=False)
    assert taken.returncode == 1 and "cannot listen" in taken.stderr, taken


def test_bad_arguments(context):
    visits = ("--visits", 1)
    for options, word in (
            (("--seed", 1), "--seconds or --visits"), (("--sites", 0, *visits), "--sites"), (("--rate", "x", *visits), "--rate"),
            (("--workload", "video", *visits), "video"), (("--nonsense",), "--nonsense"), (("--proxy", "squid", *visits), "--proxy"),
            (("--sites", 20000000, "--pages", 2, *visits), "20000000 pages"), (("--corpus-bytes", "1048576G", *visits), "corpus of"),
            (("--workload", "random", "--sites", 3, *visits), "--sites"), (("--sites", 3, "--corpus-bytes", "1G", *visits), "--corpus-bytes"),
            (("--workload", "large", "--min-bytes", "2M", "--max-bytes", "1M", *visits), "--min-bytes"),
            (("--rate", 5, "--think", 1, *visits), "--think"), (("--speedup", 2, *visits), "--speedup"),
            (("--check", "--no-check", *visits), "contradict"), (("--trace", "x", "--objects", 3, *visits), "--objects"),
            (("--objects", 5000, *visits), "--objects"), (("--workload", "random", "--objects", 2.5, *visits), "whole number"),
            (("--users", 60000, "--connections", 64, *visits), "descriptors"), (("--origin", "a b", *visits), "--origin"),
            (("--domain", "a b", *visits), "--domain")):
        context.refused(*options, words=[word])
    with context.origin() as origin:
        done = context.call("--proxy", origin.place, "--origin", origin.place, *SMALL, *visits, "--json", context.folder / "no" / "file")
        assert done.returncode == 1 and "cannot write" in done.stderr, done
