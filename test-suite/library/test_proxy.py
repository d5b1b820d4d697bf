# SPDX-License-Identifier: GPL-2.0-or-later
"""The example that is a caching proxy, between a client and an origin server, on this machine."""

import contextlib
import email.utils
import http.client
import http.server
import random
import signal
import socket
import subprocess
import threading
import time

import pytest

from common import BUILD

PROGRAM = BUILD / "example-proxy"
FRESH = {"Cache-Control": "public, max-age=600"}


def content(path, size):
    return random.Random(path).randbytes(size)


class Origin:
    """Answers as the tests say, and counts what it is asked for."""

    def __init__(self):
        self.asked = []
        self.said = {}  # path: (fields, body)
        self.chunked = set()
        self.broken = set()  # paths whose bodies end in their middle
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                origin.asked.append((self.path, dict(self.headers.items())))
                fields, body = origin.said[self.path]
                self.send_response(200)
                for name, value in fields.items():
                    self.send_header(name, value)
                if self.path in origin.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for at in range(0, len(body), 30000):
                        piece = body[at:at + 30000]
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.write(b"0\r\n\r\n")
                    return
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body[:len(body) // 2] if self.path in origin.broken else body)
                if self.path in origin.broken:
                    self.close_connection = True

            do_HEAD = do_GET

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def count(self, path):
        return sum(asked == path for asked, _ in self.asked)


class Proxy:
    """The example, on a store in a folder."""

    def __init__(self, folder, origin):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.words = [PROGRAM, folder / "store", "64", str(self.port), f"127.0.0.1:{origin}", "staging=4", "read-cache=2", "locality=1",
                      "cluster-size=64", "persist=1", "warm=off"]
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL)  # pylint: disable=consider-using-with
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5):
                return
            assert self.process.poll() is None
            time.sleep(0.05)
        raise AssertionError("does not listen")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)

    def ask(self, path, method="GET", body=None, **fields):
        """(status, fields, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Host": "site.test", **{name.replace("_", "-"): value for name, value in fields.items()}})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()

    def get(self, path, **fields):
        """(whether it was a hit, body)"""
        status, said, body = self.ask(path, **fields)
        assert status == 200
        return said["X-Cache"] == "HIT", body


@pytest.fixture
def origin():
    started = Origin()
    yield started
    started.server.shutdown()
    started.server.server_close()


@pytest.fixture
def proxy(folder, origin):
    started = Proxy(folder, origin.port)
    yield started
    if started.process.poll() is None:
        assert started.stop() == 0


def test_the_second_time_it_comes_from_the_store(origin, proxy):
    wanted = {f"/{size}": content(str(size), size) for size in (0, 1, 5000, 70000, 400000, 3000001)}
    for path, body in wanted.items():
        origin.said[path] = ({**FRESH, "Content-Type": "text/x"}, body)
    for hit in (False, True, True):
        for path, body in wanted.items():
            assert proxy.get(path) == (hit, body), path
    assert all(origin.count(path) == 1 for path in wanted)
    status, fields, body = proxy.ask("/70000", "HEAD")
    assert (status, fields["Content-Length"], fields["Content-Type"], fields["X-Cache"], body) == (200, "70000", "text/x", "HIT", b"")
    assert 0 <= int(fields["Age"]) < 60


def test_many_clients_on_connections_that_stay(origin, proxy):
    for n in range(40):
        origin.said[f"/{n}"] = (FRESH, content(str(n), 100 + n * 5000))
    wrong = []

    def client(seed):
        order = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
        with contextlib.closing(connection):
            for _ in range(60):
                n = order.randrange(40)
                connection.request("GET", f"/{n}")
                if connection.getresponse().read() != origin.said[f"/{n}"][1]:
                    wrong.append(n)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_body_of_unknown_length(origin, proxy):
    origin.said["/a"] = (FRESH, content("a", 500000))
    origin.chunked.add("/a")
    for hit in (False, True):
        assert proxy.get("/a") == (hit, origin.said["/a"][1])
    with socket.create_connection(("127.0.0.1", proxy.port), 60) as old:  # it knows no chunks
        old.sendall(b"GET /a HTTP/1.0\r\nHost: other.test\r\n\r\n")
        head, _, body = b"".join(iter(lambda: old.recv(65536), b"")).partition(b"\r\n\r\n")
        assert b"chunked" not in head and body == origin.said["/a"][1]


@pytest.mark.parametrize("fields", [
    {}, {"Cache-Control": "no-store, max-age=60"}, {"Cache-Control": "private, max-age=60"}, {"Cache-Control": "max-age=60, no-cache"},
    {"Cache-Control": "max-age=0"}, {"Cache-Control": "max-age=60, s-maxage=0"}, {"Cache-Control": "max-age=60", "Vary": "Cookie"},
    {"Cache-Control": "max-age=60", "Age": "60"}, {"Expires": "0"}, {"Expires": email.utils.formatdate(1000000000, usegmt=True)},
], ids=str)
def test_not_stored(origin, proxy, fields):
    origin.said["/a"] = (fields, b"first")
    assert proxy.get("/a") == (False, b"first")
    origin.said["/a"] = (fields, b"second")
    assert proxy.get("/a") == (False, b"second")


@pytest.mark.parametrize("fields", [
    {"Cache-Control": "s-maxage=60, max-age=0"}, {"cache-control": "Public , MAX-AGE=60"}, {"Cache-Control": 'max-age="60"'},
    {"Expires": email.utils.formatdate(4000000000, usegmt=True)}], ids=str)
def test_stored(origin, proxy, fields):
    origin.said["/a"] = (fields, b"first")
    assert proxy.get("/a") == (False, b"first")
    assert proxy.get("/a") == (True, b"first")


def test_what_is_stale_or_refused_is_fetched_anew(origin, proxy):
    origin.said["/a"] = ({"Cache-Control": "max-age=1"}, b"first")
    assert proxy.get("/a") == (False, b"first")
    origin.said["/a"] = (FRESH, b"second")
    deadline = time.monotonic() + 60
    while proxy.get("/a")[1] == b"first":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert proxy.get("/a") == (True, b"second")
    origin.said["/a"] = (FRESH, b"third")
    assert proxy.get("/a", Cache_Control="no-cache") == (False, b"third")
    assert proxy.get("/a") == (True, b"third")


def test_variants_and_hosts_are_kept_apart(origin, proxy):
    origin.said["/a"] = ({**FRESH, "Vary": "Accept-Encoding"}, b"plain")
    assert proxy.get("/a", Accept_Encoding="identity") == (False, b"plain")
    origin.said["/a"] = ({**FRESH, "Vary": "Accept-Encoding"}, b"packed")
    assert proxy.get("/a", Accept_Encoding="gzip") == (False, b"packed")
    assert proxy.get("/a", Accept_Encoding="identity") == (True, b"plain")
    origin.said["/a"] = (FRESH, b"elsewhere")
    assert proxy.get("/a", Accept_Encoding="identity", Host="other.test") == (False, b"elsewhere")


def test_conditions_and_parts_give_all(origin, proxy):
    origin.said["/a"] = (FRESH, content("a", 9000))
    for hit in (False, True):
        assert proxy.get("/a", Range="bytes=5-9", If_None_Match='"x"') == (hit, content("a", 9000))
    assert not any("Range" in fields or "If-None-Match" in fields for _, fields in origin.asked)


def test_what_breaks_off_is_not_stored(origin, proxy):
    origin.said["/a"] = (FRESH, content("a", 300000))
    origin.broken.add("/a")
    with pytest.raises(http.client.IncompleteRead):
        proxy.get("/a")
    origin.broken.clear()
    assert proxy.get("/a") == (False, content("a", 300000))
    assert proxy.get("/a") == (True, content("a", 300000))


def test_what_it_does_not_do(origin, proxy):
    origin.said["/a"] = (FRESH, b"bytes")
    assert proxy.ask("/a", "POST", b"x" * 1000)[0] == 405
    assert proxy.ask("/a", "GET", b"x" * 1000)[0] == 413
    assert proxy.get("/a") == (False, b"bytes")
    with socket.create_connection(("127.0.0.1", proxy.port), 60) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert client.recv(100) == b""
    assert proxy.get("/a") == (True, b"bytes")


def test_a_server_that_is_gone(origin, proxy):
    origin.said["/a"] = (FRESH, b"bytes")
    assert proxy.get("/a") == (False, b"bytes")
    origin.server.shutdown()
    origin.server.server_close()
    assert proxy.get("/a") == (True, b"bytes")
    assert proxy.ask("/b")[0] == 502


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_restarts(origin, proxy, how):
    wanted = {f"/{n}": content(str(n), 20000) for n in range(50)}
    for path, body in wanted.items():
        origin.said[path] = (FRESH, body)
        assert proxy.get(path) == (False, body)
    time.sleep(2)  # persist=1
    proxy.stop(how)
    proxy.start()
    assert [proxy.get(path) for path in wanted] == [(True, body) for body in wanted.values()]


@pytest.mark.parametrize("how", ["bytes", "end"])
def test_a_damaged_disk_costs_time_alone(origin, proxy, folder, how):
    wanted = {f"/{n}": content(str(n), 20000) for n in range(50)}
    for path, body in wanted.items():
        origin.said[path] = (FRESH, body)
        assert proxy.get(path) == (False, body)
    proxy.stop()
    proxy.start()
    with open(folder / "store", "r+b") as store:  # all but the superblocks
        if how == "bytes":
            store.seek(1 << 20)
            store.write(random.Random(1).randbytes((64 << 20) - (1 << 20)))
        else:
            store.truncate(1 << 20)
    assert [proxy.get(path) for path in wanted] == [(False, body) for body in wanted.values()]


def test_wrong_arguments(folder):
    for words, told in ((["store"], "usage"), (["store", "x", "80", "a:1"], "MB and PORT are numbers"),
                        (["store", "64", "80", "here"], "HOST:PORT"), (["store", "64", "0", "a:1", "nonsense=1"], "nonsense")):
        done = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (1, 2) and told in done.stderr
    assert not list(folder.iterdir())
