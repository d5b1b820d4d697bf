# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP/1.1 origin server on loopback that does what a URL's query asks of it.

The query of a URL says how the response looks; the rest is state that a test sets.
    size=N        body length in bytes
    chunked=1     length not announced, chunked      close=1   length not announced, ended by closing
    gate=NAME&gateat=N    stop at body byte N (-1: before the headers) until the test opens the gate
    delay=MS      wait MS before the headers
    abort=N       cut the connection after N body bytes, as long as change() was not called
    drip=N&pause=MS       send N bytes, wait MS, and so on
    vary=HEADER   Vary: HEADER, and another body for each value of it
    maxage=S      Cache-Control: max-age (default 3600)      cc=TEXT   Cache-Control in whole
    noetag=1      no ETag and no Last-Modified       hdr=N     N bytes of further response headers
    location=PATH&clocation=PATH   Location and Content-Location
    type=TEXT     Content-Type
"""

import collections
import copy
import dataclasses
import socket
import socketserver
import struct
import threading
import time
import urllib.parse

from . import content

PIECE = 65536
GATE_TIMEOUT = 120
LAST_MODIFIED = "Mon, 01 Jan 2024 00:00:00 GMT"


@dataclasses.dataclass
class Recipe:
    """A parsed query."""
    size: int = 0
    chunked: int = 0
    close: int = 0
    gate: str = ""
    gateat: int = 0
    abort: int = -1
    drip: int = 0
    pause: int = 0
    delay: int = 0
    vary: str = ""
    maxage: int = 3600
    cc: str = ""
    noetag: int = 0
    status: int = 200
    hdr: int = 0
    location: str = ""
    clocation: str = ""
    type: str = "application/octet-stream"

    @classmethod
    def parse(cls, path):
        known = {f.name: type(f.default) for f in dataclasses.fields(cls)}
        query = urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query)
        return cls(**{key: known[key](value) for key, value in query if key in known})


class Gate:
    """A place in a body where the origin waits for the test."""

    def __init__(self):
        self.reached = threading.Event()  # the origin has sent all bytes before the gate
        self._open = threading.Event()

    def wait_reached(self, timeout=60):
        if not self.reached.wait(timeout):
            raise AssertionError(f"the origin did not reach the gate within {timeout} s")

    def open(self):
        self._open.set()

    def pass_through(self):
        self.reached.set()
        self._open.wait(GATE_TIMEOUT)


class Request:
    """One request as read from the wire."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    timeout = 120

    def handle(self):
        try:
            while (request := self._read_request()) is not None:
                if not self._answer(request):
                    return
        except (ConnectionError, TimeoutError, ValueError):
            return  # the proxy went away: its business

    def _read_request(self):
        line = self.rfile.readline(65537)
        if not line.strip():
            return None
        method, target, _ = line.decode("latin-1").split(" ", 2)
        headers = {}
        while (line := self.rfile.readline(65537)) not in (b"\r\n", b"\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        parts = urllib.parse.urlsplit(target)
        path = parts.path + ("?" + parts.query if parts.query else "")
        return Request(method, path, headers, body)

    def _answer(self, request):
        """Sends the response; false where the connection must not go on."""
        origin = self.server.origin
        recipe = Recipe.parse(request.path)
        state = copy.copy(origin.note(request))  # it may change while we answer
        if recipe.gateat < 0:
            origin.gate(recipe.gate).pass_through()
        if recipe.delay:
            time.sleep(recipe.delay / 1000)
        head = origin.headers_for(request.path, recipe, state)
        if request.method not in ("GET", "HEAD"):
            return self._send_short(recipe, head, request)
        if origin.is_current(request, recipe, state):
            self._send_head(304, "Not Modified", head)
            return True
        variant = request.headers.get(recipe.vary.lower(), "") if recipe.vary else ""
        head["X-Variant"] = variant
        head["Content-Type"] = recipe.type
        start, end = self._range(request, recipe)
        status = (recipe.status, "OK" if recipe.status == 200 else "Other")
        if (start, end) != (0, recipe.size):
            status = (206, "Partial Content")
            head["Content-Range"] = f"bytes {start}-{end - 1}/{recipe.size}"
        if recipe.chunked:
            head["Transfer-Encoding"] = "chunked"
        elif recipe.close:
            head["Connection"] = "close"
        else:
            head["Content-Length"] = str(end - start)
        self._send_head(*status, head)
        if request.method == "HEAD":
            return not recipe.close
        seed = content.seed(request.path, state.version, variant)
        if state.version:
            recipe.abort = -1
        return self._send_body(recipe, seed, start, end)

    def _send_short(self, recipe, head, request):
        reply = f"{request.method} done\n".encode()
        head["Content-Length"] = str(len(reply))
        head["Cache-Control"] = "no-store"
        for name, value in (("Location", recipe.location), ("Content-Location", recipe.clocation)):
            if value:
                head[name] = self.server.origin.absolute(value)
        self._send_head(200, "OK", head)
        self.wfile.write(reply)
        return True

    def _send_head(self, status, reason, head):
        lines = [f"HTTP/1.1 {status} {reason}"] + [f"{k}: {v}" for k, v in head.items()]
        self.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    @staticmethod
    def _range(request, recipe):
        """The single byte range that was asked for, or the whole body."""
        unit, _, spec = request.headers.get("range", "").partition("=")
        first, dash, last = spec.partition("-")
        if unit != "bytes" or "," in spec or not dash:
            return 0, recipe.size
        if not first:
            return max(0, recipe.size - int(last)), recipe.size
        if int(first) >= recipe.size:
            return 0, recipe.size
        return int(first), min(recipe.size, int(last) + 1) if last else recipe.size

    def _send_body(self, recipe, seed, at, end):
        stops = {recipe.gateat} if recipe.gate and recipe.gateat >= 0 else set()
        if 0 <= recipe.abort < end:
            end = recipe.abort
        while True:
            if at in stops:
                stops.clear()
                self.server.origin.gate(recipe.gate).pass_through()
            if at >= end:
                break
            step = min([end, at + (recipe.drip or PIECE)] + [s for s in stops if s > at]) - at
            data = content.piece(seed, at, step)
            self.wfile.write(b"%x\r\n%s\r\n" % (step, data) if recipe.chunked else data)
            at += step
            if recipe.pause:
                time.sleep(recipe.pause / 1000)
        if end == recipe.abort:
            self._reset()
            return False
        if recipe.chunked:
            self.wfile.write(b"0\r\n\r\n")
        return not recipe.close

    def _reset(self):
        """Closes with a RST: the peer must not take it for the end of the body."""
        time.sleep(0.05)  # what was sent has to arrive before the reset overtakes it
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class State:
    """What the origin knows of one path."""

    def __init__(self):
        self.version = 0
        self.headers = {}
        self.counts = collections.Counter()  # by method, and "304"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass  # a handler that fails shows as a cut connection, which the tests notice


class Origin:
    def __init__(self, port=0, host="127.0.0.1"):
        self._lock = threading.Lock()
        self._states = collections.defaultdict(State)
        self._gates = {}
        self._server = _Server((host, port), Handler)
        self._server.origin = self
        self.host = host
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        for gate in list(self._gates.values()):
            gate.open()
        self._server.shutdown()
        self._server.server_close()

    def url(self, name, **recipe):
        query = urllib.parse.urlencode(recipe)
        return self.absolute(f"/{name}" + ("?" + query if query else ""))

    def absolute(self, path):
        return f"http://{self.host}:{self.port}{path}"

    @staticmethod
    def path(url):
        parts = urllib.parse.urlsplit(url)
        return parts.path + ("?" + parts.query if parts.query else "")

    def gate(self, name):
        with self._lock:
            return self._gates.setdefault(name, Gate())

    def shut(self, name):
        """Another gate in place of one that was opened."""
        with self._lock:
            self._gates[name] = Gate()

    def state(self, url):
        with self._lock:
            return self._states[self.path(url)]

    def count(self, url, kind="GET"):
        """How many requests of this kind (a method, or "304") reached the origin."""
        return self.state(url).counts[kind]

    def total(self):
        with self._lock:
            return sum(s.counts["GET"] + s.counts["HEAD"] for s in self._states.values())

    def change(self, url):
        """The resource gets a new body and ETag."""
        self.state(url).version += 1

    def set_headers(self, url, **headers):
        """Headers of every further response to this URL, the 304 included; _ stands for -."""
        self.state(url).headers = {k.replace("_", "-"): v for k, v in headers.items()}

    def note(self, request):
        state = self.state(request.path)
        with self._lock:
            state.counts[request.method] += 1
        return state

    def is_current(self, request, recipe, state):
        """Whether a conditional request is answered by 304."""
        if recipe.noetag:
            return False
        etags = request.headers.get("if-none-match")
        if etags is not None:
            current = f'"v{state.version}"' in etags
        else:
            current = state.version == 0 and request.headers.get("if-modified-since") == LAST_MODIFIED
        if current:
            with self._lock:
                state.counts["304"] += 1
        return current

    @staticmethod
    def headers_for(path, recipe, state):
        head = {
            "Date": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()),
            "Cache-Control": recipe.cc or f"max-age={recipe.maxage}",
            "X-Version": str(state.version),
        }
        if not recipe.noetag:
            head["ETag"] = f'"v{state.version}"'
            head["Last-Modified"] = LAST_MODIFIED
        if recipe.vary:
            head["Vary"] = recipe.vary
        for number in range(0, recipe.hdr, 1000):
            length = min(1000, recipe.hdr - number)
            head[f"X-Filler-{number}"] = content.body(f"{path}|{number}", length // 2).hex()
        head.update(state.headers)
        return head
