# SPDX-License-Identifier: GPL-2.0-or-later
"""Web sites of many names on one port of loopback, with or without TLS: each URL has the answer that a test gives it.
(squidkit's origin server follows the query of a URL. Real URLs, whose ends configurations look at, have none.)"""

import collections
import contextlib
import http.client
import http.server
import re
import socket
import ssl
import subprocess
import threading
import urllib.parse

from squidkit import content
from squidkit.client import Client

LAST_MODIFIED = "Mon, 01 Jan 2024 00:00:00 GMT"
WAIT = 60


class Authority:
    """A certificate authority of the test's own, below a folder. pem: its certificate and key, crt: its certificate."""

    def __init__(self, folder, name):
        folder.mkdir(exist_ok=True)
        self._folder, self._name = folder, name
        self.pem, self.crt = folder / f"{name}.pem", folder / f"{name}.crt"
        self._openssl("-x509", "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", self.pem, "-out", self.crt)
        self.pem.write_bytes(self.pem.read_bytes() + self.crt.read_bytes())

    def issue(self, *hosts):
        """The path of a certificate for these hosts, with its key."""
        pem, crt = self._folder / f"{self._name}-{hosts[0]}.pem", self._folder / "issued.crt"
        names = "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts)
        self._openssl("-x509", "-CA", self.crt, "-CAkey", self.pem, "-subj", f"/CN={hosts[0]}", "-addext", names,
                      "-addext", "basicConstraints=CA:FALSE", "-keyout", pem, "-out", crt)
        pem.write_bytes(pem.read_bytes() + crt.read_bytes())
        return pem

    @staticmethod
    def _openssl(*arguments):
        command = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"


class Thing:
    """What is under one URL. hold: an event that the answer waits for, held: how many bytes of its body are sent before (None:
    not even its head)."""

    def __init__(self, body, status, headers, needs):
        self.body, self.status, self.headers, self.needs = body, status, headers, needs
        self.hold, self.held = None, None
        self.answers = collections.Counter()  # by status
        self.last = {}  # headers of the latest request, names in lower case

    def current(self, asked):
        """Whether a conditional request is answered by 304."""
        if "if-none-match" in asked:
            return asked["if-none-match"] == self.headers.get("ETag")
        return "Last-Modified" in self.headers and asked.get("if-modified-since") == self.headers["Last-Modified"]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        thing = self.server.site.find(self.headers["Host"] + self.path)
        asked = {name.lower(): value for name, value in self.headers.items()}
        body, status, more = thing.body, thing.status, dict(thing.headers)
        thing.last = asked
        unit, _, spec = asked.get("range", "").partition("=")
        if any(asked.get(name.lower()) != value for name, value in thing.needs.items()):
            status, body, more = 401, b"who are you?", {}
        elif thing.current(asked):
            status, body = 304, b""
        elif unit == "bytes" and status == 200:
            first, _, last = spec.partition("-")
            end = int(last) + 1 if last else len(body)
            status, more["Content-Range"] = 206, f"bytes {first}-{end - 1}/{len(body)}"
            body = body[int(first):end]
        thing.answers[status] += 1
        if thing.hold and thing.held is None:
            thing.hold.wait(WAIT)
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        at = thing.held or 0
        self.wfile.write(body[:at])
        if thing.hold:
            thing.hold.wait(WAIT)
        self.wfile.write(body[at:])

    do_HEAD = do_GET  # no test asks for it


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, site, pem):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site, self._tls, self._open = site, None, []
        if pem:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(pem)

    def get_request(self):
        connection, address = super().get_request()
        if self._tls:  # the handshake comes with the first read, in the thread of the connection
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self._open.append(connection)
        return connection, address

    def hang_up(self):
        """Ends all connections."""
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, client_address):
        pass  # a handler that fails shows as a cut connection, which the tests notice


class Site:
    """All sites of a test. pem: their certificate and key, for TLS."""

    def __init__(self, pem=None):
        self._things = {}
        self._server = _Server(self, pem)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()
        self._server = None

    def put(self, url, size=20000, status=200, seed=None, needs=None, **headers):
        """What is under this URL from now on; _ in names of headers stands for -. The body is that of the seed (else the
        URL's); needs: headers that a request must have. Returns the URL."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._things[url.partition("://")[2]] = Thing(content.body(seed or url, size), status, named, needs or {})
        return url

    def find(self, place):
        return self._things[place]

    def thing(self, url):
        return self._things[url.partition("://")[2]]

    def count(self, url):
        """How many requests of this URL came here."""
        return self.thing(url).answers.total()


class Browser(Client):
    """A client for https:, too, that trusts one authority alone. direct: its port is a web server's and not a proxy's.
    source: the address that it has, of this machine's. tunnel: the address that CONNECT names, as of an intercepted client,
    where TLS alone has the name."""

    def __init__(self, port, authority=None, direct=False, source="127.0.0.1", tunnel=None):
        super().__init__(port)
        self._source, self._tunnel = (source, 0), tunnel
        self._tls = ssl.create_default_context(cafile=authority.crt) if authority else None
        if self._tls:
            # on in Python from 3.13: refuses what Squid issues before it has seen the server's certificate, for lack of an AKI
            self._tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self._direct = direct

    def _connect(self, url):
        if not url.startswith("https:"):
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout, source_address=self._source)
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout, source_address=self._source)
        if not self._direct:
            connection.set_tunnel(self._tunnel or parts.hostname, parts.port or 443)
        connection.connect()
        connection.sock = self._tls.wrap_socket(connection.sock, server_hostname=parts.hostname)
        return connection

    def _target(self, url):
        return "/" + url.split("/", 3)[3] if self._direct or url.startswith("https:") else url

    def status(self, url):
        """The status of an answer, be it to the request, or to its CONNECT."""
        try:
            return self.get(url).status
        except OSError as error:
            refused = re.match(r"Tunnel connection failed: (\d+)", str(error))
            if not refused:
                raise
            return int(refused[1])
