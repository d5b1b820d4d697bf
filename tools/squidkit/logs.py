# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading Squid's cache.log and access.log while it runs."""

import os
import pathlib
import re

from .processes import wait_for

BAD = re.compile(r"assertion failed|FATAL|\bBUG\b|dying|[Uu]nexpected exception|terminate called|"
                 r"AddressSanitizer|runtime error:|Received Segment|Received Bus")
STAMP = re.compile(r"^\s*(\d{4}/\d\d/\d\d [\d:.]+( kid\d+)?\| *)?")


class CacheLog:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def text(self, since=0):
        try:
            with open(self.path, "rb") as log:
                log.seek(since)
                return log.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def mark(self):
        """A position: what is logged from now on lies behind it."""
        return self.path.stat().st_size if self.path.exists() else 0

    def lines(self, pattern, since=0):
        wanted = re.compile(pattern)
        return [line for line in self.text(since).splitlines() if wanted.search(line)]

    def wait(self, pattern, since=0, timeout=60):
        return wait_for(lambda: self.lines(pattern, since), f"cache.log line /{pattern}/", timeout)


def bad_lines(text, allowed):
    """Lines that speak of a crash or a defect and that no pattern in allowed matches from end to end, but for
    time and process."""
    return [line for line in text.splitlines()
            if BAD.search(line) and not any(re.fullmatch(a, STAMP.sub("", line)) for a in allowed)]


class AccessLog:
    """Result codes by the X-Test-Id of the request. Survives rotation."""

    FORMAT = "%{X-Test-Id}>h %Ss %>Hs %<st %rm %ru"

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.codes = {}
        self._inode, self._offset, self._rest = None, 0, b""

    def poll(self):
        try:
            inode = os.stat(self.path).st_ino
        except FileNotFoundError:
            return
        if self._inode not in (None, inode):
            self._read(self.path.with_name(self.path.name + ".0"))
            self._offset, self._rest = 0, b""
        self._inode = inode
        self._read(self.path)

    def _read(self, path):
        try:
            with open(path, "rb") as log:
                log.seek(self._offset)
                data = log.read()
        except FileNotFoundError:
            return
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            fields = line.decode("latin-1").split(" ")
            if len(fields) > 1:
                self.codes[fields[0]] = fields[1]

    def result(self, request_id, timeout=30):
        def look():
            self.poll()
            return self.codes.get(request_id)
        return wait_for(look, f"access.log line of request {request_id}", timeout)
