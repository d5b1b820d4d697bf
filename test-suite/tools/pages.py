# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of clusterfs_metrics without a Squid: those of a real one, ten seconds apart, and a server that gives any
answer. The number of opened pages and the waits of clients were added by hand: that Squid did not count them yet."""

import pathlib
import re
import socket
import threading
import time

HERE = pathlib.Path(__file__).parent
BEFORE, AFTER = ((HERE / f"metrics-{name}.txt").read_text(encoding="utf-8") for name in ("before", "after"))
SECONDS = 10
PATH = "/dev/disk/by-id/ata-EXAMPLE"


def number(page, name, labels=""):
    """Of a page, the plain way: the sample with these labels behind the path."""
    return float(re.search(rf'^clusterfs_{name}{{path="[^"]*"{labels}}} (\S+)$', page, re.M)[1])


def grown(name, labels=""):
    return number(AFTER, name, labels) - number(BEFORE, name, labels)


def ok(body):
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body.encode()


def status(code):
    return f"HTTP/1.1 {code} No\r\n\r\nsome page".encode()


class Server:
    """Gives the answers one after the other, and the last one again and again. An answer: bytes, or what is called with the
    connection. requests: what was asked."""

    def __init__(self, *answers, port=0):
        self._answers, self.requests = list(answers), []
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            threading.Thread(target=self._answer, args=(connection, answer), daemon=True).start()

    def _answer(self, connection, answer):
        with connection:
            self.requests.append(connection.recv(65536).decode())
            try:
                if callable(answer):
                    answer(connection)
                else:
                    connection.sendall(answer)
            except OSError:
                pass  # who asks has hung up

    def close(self):
        if self._socket.fileno() >= 0:
            self._socket.shutdown(socket.SHUT_RDWR)  # close() alone leaves accept() waiting
        self._socket.close()


def endless(connection):
    """An answer without an end."""
    connection.sendall(ok("clusterfs_objects 1\n"))
    while True:
        connection.sendall(b"# more and more\n" * 1000)


def slow(connection):
    """A byte now and then."""
    while True:
        connection.sendall(b"H")
        time.sleep(0.05)
