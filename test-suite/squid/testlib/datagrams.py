# SPDX-License-Identifier: GPL-2.0-or-later
"""Small clients of what Squid speaks over UDP: ICP, HTCP and SNMP."""

import socket
import struct

ICP_QUERY, ICP_HIT, ICP_MISS, ICP_MISS_NOFETCH = 1, 2, 3, 21
HTCP_TST, HTCP_CLR = 1, 4
HTCP_HERE, HTCP_NOT_HERE = 0, 1  # answers to TST
HTCP_CLEARED, HTCP_NOTHING_TO_CLEAR = 0, 2  # answers to CLR
# numbers of SQUID-MIB behind its root
SNMP_STORED_KB, SNMP_OBJECTS, SNMP_SWAP_MOST_MB = (1, 2, 0), (3, 1, 7, 0), (2, 5, 2, 0)
_SNMP_ROOT = (1, 3, 6, 1, 4, 1, 3495, 1)
_INTEGER, _STRING, _NULL, _OID, _SEQUENCE, _GET = 0x02, 0x04, 0x05, 0x06, 0x30, 0xA0


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


def _counted(text):
    return struct.pack("!H", len(text)) + text.encode()


def htcp(port, opcode, url):
    """The response code of the answer to a TST or CLR of a GET (RFC 2756)."""
    specifier = _counted("GET") + _counted(url) + _counted("HTTP/1.1") + _counted("")
    reason = b"\0\0" if opcode == HTCP_CLR else b""
    wants_answer = 0x02
    data = struct.pack("!BBI", opcode << 4, wants_answer, 7) + reason + specifier
    data = struct.pack("!H", len(data) + 2) + data
    authentication = struct.pack("!H", 2)  # none
    answer = ask(port, struct.pack("!HBB", 4 + len(data) + len(authentication), 0, 1) + data + authentication)
    assert answer[6] >> 4 == opcode and answer[8:12] == data[4:8], answer[:16].hex()
    return answer[6] & 0x0F


def _encoded(tag, content):
    length = len(content)
    return bytes([tag]) + (bytes([length]) if length < 128 else b"\x82" + struct.pack("!H", length)) + content


def _name(numbers):
    parts = bytearray([numbers[0] * 40 + numbers[1]])
    for number in numbers[2:]:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.insert(0, 0x80 | (number & 0x7F))
        parts += bytes(digits)
    return _encoded(_OID, bytes(parts))


def _decoded(data):
    """[(tag, content)] of a run of encoded values."""
    values = []
    while data:
        tag, length, begin = data[0], data[1], 2
        if length & 0x80:
            begin = 2 + (length & 0x7F)
            length = int.from_bytes(data[2:begin], "big")
        values.append((tag, data[begin:begin + length]))
        data = data[begin + length:]
    return values


def snmp_get(port, numbers, community="public"):
    """The number that SNMP version 1 gives for one variable of Squid's."""
    variable = _encoded(_SEQUENCE, _name(_SNMP_ROOT + numbers) + _encoded(_NULL, b""))
    request = b"".join(_encoded(_INTEGER, bytes([n])) for n in (7, 0, 0)) + _encoded(_SEQUENCE, variable)
    message = _encoded(_INTEGER, b"\0") + _encoded(_STRING, community.encode()) + _encoded(_GET, request)
    (_, answer), = _decoded(ask(port, _encoded(_SEQUENCE, message)))
    _, error, _, variables = _decoded(_decoded(answer)[2][1])
    assert error[1] == b"\0", f"SNMP error {error[1].hex()} for {numbers}"
    (_, pair), = _decoded(variables[1])
    _, (_, value) = _decoded(pair)
    return int.from_bytes(value, "big")
