# SPDX-License-Identifier: GPL-2.0-or-later
"""Response bodies as a function of a seed: origin and client compute them, nobody stores them.

Every 64 KB of a body differ from every other, so that a piece which is stored or read at a wrong
place, or which belongs to another object or version, is a wrong body and not a lucky one.
"""

import functools
import hashlib

BLOCK = 65536


def _make(seed, index, length):
    return hashlib.shake_128(b"%s#%d" % (seed.encode(), index)).digest(length)


@functools.lru_cache(maxsize=256)
def _block(seed, index):
    return _make(seed, index, BLOCK)


def piece(seed, start, length):
    """Bytes start .. start+length of the endless body of this seed."""
    if start == 0 and length < BLOCK:
        return _make(seed, 0, length)
    parts = []
    end = start + length
    while start < end:
        index, skip = divmod(start, BLOCK)
        take = min(BLOCK - skip, end - start)
        block = _block(seed, index)
        parts.append(block if take == BLOCK else block[skip:skip + take])
        start += take
    return b"".join(parts)


def body(seed, size):
    """The whole body."""
    return piece(seed, 0, size)


def seed(path, version, variant=""):
    """The seed of one response: what was asked for, which version of it, which variant."""
    return f"{path}|{version}|{variant}"


def first_difference(got, want):
    """Where two byte strings differ first, for messages."""
    for offset, (a, b) in enumerate(zip(got, want)):
        if a != b:
            return offset
    return min(len(got), len(want))
