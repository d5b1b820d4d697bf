# SPDX-License-Identifier: GPL-2.0-or-later
"""A small ICAP server (RFC 3507) that hands every response back as it came, byte for byte, while it comes."""

import re
import socketserver
import threading

_TAG = b'ISTag: "clusterfs-test"\r\n'


class _Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    timeout = 120

    def handle(self):
        try:
            while (head := self._head()) is not None:
                if head.startswith(b"OPTIONS "):
                    self.wfile.write(b"ICAP/1.0 200 OK\r\nMethods: RESPMOD\r\n" + _TAG + b"Encapsulated: null-body=0\r\n\r\n")
                else:
                    self._give_back(head)
        except (ConnectionError, TimeoutError):
            return  # the proxy went away: its business

    def _head(self):
        lines = []
        while (line := self.rfile.readline(65537)) not in (b"\r\n", b""):
            lines.append(line)
        return b"".join(lines) or None

    def _give_back(self, head):
        parts = re.search(rb"(?im)^Encapsulated:\s*(.*?)\s*$", head)[1].decode("ascii")
        starts = {name: int(start) for name, start in (part.strip().split("=") for part in parts.split(","))}
        body = "res-body" if "res-body" in starts else "null-body"
        headers = self.rfile.read(starts[body])[starts["res-hdr"]:]
        self.server.served += 1
        self.wfile.write(b"ICAP/1.0 200 OK\r\n" + _TAG +
                         f"Encapsulated: res-hdr=0, {body}={len(headers)}\r\n\r\n".encode() + headers)
        size = 1 if body == "res-body" else 0
        while size:
            line = self.rfile.readline(1000)
            size = int(line.partition(b";")[0], 16)
            self.wfile.write(line + self.rfile.read(size + 2))


class IcapServer(socketserver.ThreadingTCPServer):
    """served: how many responses it has handed back."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", port), _Handler)
        self.served = 0
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()
