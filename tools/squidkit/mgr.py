# SPDX-License-Identifier: GPL-2.0-or-later
"""Cache manager pages and their `name: value` lines."""

import http.client
import re

_LINE = re.compile(r"^\s*([A-Za-z][^:{}]*?)\s*:\s+(.*?)\s*$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def fetch(port, page, timeout=60, host="127.0.0.1"):
    """The text of a page; an AssertionError where Squid has no such page."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        connection.request("GET", f"/squid-internal-mgr/{page}")
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
    finally:
        connection.close()
    assert response.status == 200, f"mgr:{page}: status {response.status}"
    return text


class Values:
    """The values of a page, looked up by name without regard to case."""

    def __init__(self, text):
        self.text = text
        self.all = {}
        for line in text.splitlines():
            found = _LINE.match(line)
            if found:
                self.all.setdefault(found[1].lower(), found[2])

    def __contains__(self, name):
        return name.lower() in self.all

    def __getitem__(self, name):
        assert name.lower() in self.all, f"no value '{name}' on the page:\n{self.text}"
        return self.all[name.lower()]

    def number(self, name):
        """The first number of a value."""
        found = _NUMBER.search(self[name])
        assert found, f"value '{name}' has no number: {self[name]!r}"
        return float(found[0]) if "." in found[0] else int(found[0])
