# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP client that talks through the proxy and checks what it receives byte for byte."""

import concurrent.futures
import http.client
import itertools
import socket
import threading

from . import content
from .origin import Origin, Recipe

_ids = itertools.count(1)
TIMEOUT = 60
http.client._MAXHEADERS = 10000  # pylint: disable=protected-access -- as many as Squid passes on
BROKEN = (http.client.HTTPException, ConnectionError, TimeoutError)


class WrongBytes(AssertionError):
    """A complete response whose body is not what the origin sent under this version."""


class Reply:
    """A response that was read to its end, or to where it broke."""

    def __init__(self, url, fetch, body, error):
        self.url, self.id, self.status, self.headers = url, fetch.id, fetch.status, fetch.headers
        self.body, self.error = body, error

    @property
    def complete(self):
        return self.error is None

    @property
    def version(self):
        return int(self.headers.get("X-Version", -1))

    def expected(self):
        """The whole body that this URL has under the version and variant which the reply names."""
        seed = content.seed(Origin.path(self.url), self.version, self.headers.get("X-Variant", ""))
        return content.body(seed, Recipe.parse(self.url).size)

    def check(self, version=None):
        """A 200 whose every byte is right."""
        assert self.complete, f"{self.url}: cut after {len(self.body)} bytes: {self.error}"
        assert self.status == 200, f"{self.url}: status {self.status}, expected 200"
        if version is not None:
            assert self.version == version, f"{self.url}: version {self.version}, expected {version}"
        self.same(self.body, self.expected())
        return self

    def check_prefix(self):
        """Whatever arrived of the body is right, be it all or a part."""
        self.same(self.body, self.expected()[:len(self.body)])
        return self

    def check_range(self, start, end):
        """A 206 with exactly this range of the body."""
        assert self.complete and self.status == 206, f"{self.url}: status {self.status}, {self.error}"
        want = self.expected()
        assert self.headers["Content-Range"] == f"bytes {start}-{end - 1}/{len(want)}", \
            f"{self.url}: Content-Range {self.headers['Content-Range']}, expected {start}-{end - 1}"
        self.same(self.body, want[start:end])
        return self

    def same(self, got, want):
        if got != want:
            at = content.first_difference(got, want)
            raise WrongBytes(f"{self.url}: {len(got)} bytes received, {len(want)} expected, "
                             f"first difference at byte {at}: {got[at:at + 16].hex()} instead of "
                             f"{want[at:at + 16].hex()}; headers {dict(self.headers)}")


class Fetch:
    """A response whose headers are here and whose body is read as the test likes."""

    def __init__(self, connection, url, request_id, response):
        self.connection, self.url, self.id, self._response = connection, url, request_id, response
        self.status, self.headers = response.status, response.headers

    def read(self, length):
        """The next bytes: exactly so many, or fewer where the response ends or breaks."""
        parts = []
        while length > 0 and (data := self._response.read(min(length, 65536))):
            parts.append(data)
            length -= len(data)
        return b"".join(parts)

    def abort(self):
        self.connection.close()
        self._response.close()

    def finish(self, already=b""):
        """Reads the rest; a broken body is a reply with an error, not an exception."""
        parts, error = [already], None
        try:
            while data := self._response.read(65536):
                parts.append(data)
            if self._response.length:
                error = f"{self._response.length} bytes missing"
        except http.client.IncompleteRead as broken:
            parts.append(broken.partial)
            error = "ends before its announced end"
        except BROKEN as broken:
            error = repr(broken)
        return Reply(self.url, self, b"".join(parts), error)


def finish_all(fetches):
    """Reads several responses to their ends at the same time, as clients do: one that waits would hold
    up Squid's reading from the origin for all. fetches: (fetch, bytes already read). Returns the replies."""
    with concurrent.futures.ThreadPoolExecutor(len(fetches)) as pool:
        return list(pool.map(lambda pair: pair[0].finish(pair[1]), fetches))


class Client:
    """Requests through one proxy at host:port. keep_alive: one connection per thread, used again.
    receive_buffer: so few bytes wait in the kernel that Squid notices when this client pauses."""

    def __init__(self, port, keep_alive=False, timeout=TIMEOUT, receive_buffer=None, host="127.0.0.1"):
        self.host, self.port, self.keep_alive, self.timeout = host, port, keep_alive, timeout
        self.receive_buffer = receive_buffer
        self._local = threading.local()

    def _connect(self, url):  # pylint: disable=unused-argument -- a subclass may need it
        """A new connection for a request of this URL."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)
        if self.receive_buffer:
            connection.sock = socket.socket()
            connection.sock.settimeout(self.timeout)
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
            connection.sock.connect((self.host, self.port))
        return connection

    def _connection(self, url):
        connection = getattr(self._local, "connection", None) if self.keep_alive else None
        if connection is None:
            connection = self._local.connection = self._connect(url)
        return connection

    @staticmethod
    def _target(url):
        """What the request line names; a proxy takes the whole URL."""
        return url

    def open(self, url, method="GET", body=None, **headers):
        """Sends a request and reads the response headers. Header names: _ stands for -."""
        request_id = f"r{next(_ids)}"
        connection = self._connection(url)
        connection.putrequest(method, self._target(url), skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", url.split("/")[2])
        connection.putheader("X-Test-Id", request_id)
        if not self.keep_alive:
            connection.putheader("Connection", "close")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return Fetch(connection, url, request_id, connection.getresponse())

    def request(self, url, method="GET", body=None, **headers):
        try:
            fetch = self.open(url, method, body, **headers)
            reply = fetch.finish()
        except BROKEN:
            self.reset()
            raise
        if not self.keep_alive or not reply.complete:
            self.reset()
        return reply

    def get(self, url, **headers):
        return self.request(url, **headers)

    def cached(self, url, **headers):
        """What the cache has under this URL, without asking the origin; None where it has nothing."""
        reply = self.request(url, Cache_Control="only-if-cached", **headers)
        return None if reply.status == 504 else reply

    def reset(self):
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None
