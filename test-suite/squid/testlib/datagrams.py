# SPDX-License-Identifier: GPL-2.0-or-later
"""A small client of ICP, which Squid speaks over UDP."""

import socket
import struct

ICP_QUERY, ICP_HIT, ICP_MISS = 1, 2, 3


def ask(port, datagram, timeout=20):
    """Sends one datagram to loopback and returns the answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(timeout)
        sock.sendto(datagram, ("127.0.0.1", port))
        return sock.recv(65536)


def icp_query(port, url):
    """The opcode of the answer."""
    payload = struct.pack("!I", 0) + url.encode() + b"\0"
    head = struct.pack("!BBHIIII", ICP_QUERY, 2, 20 + len(payload), 7, 0, 0, 0)
    return ask(port, head + payload)[0]
