# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages of the cache manager that show and remove objects while Squid runs."""

import base64
import http.client

from squidkit.mgr import Values
from squidkit.processes import wait_for


def encoded(text):
    """Percent-encoded to the last letter."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def ask(squid, page, password=None, whole=None, **query):
    """A page with parameters: (status, its values). whole: the URL to ask for instead."""
    words = "&".join(f"{name}={encoded(value)}" for name, value in query.items())
    connection = http.client.HTTPConnection("127.0.0.1", squid.port, timeout=60)
    try:
        headers = {} if password is None else {"Authorization": "Basic " + base64.b64encode(f"admin:{password}".encode()).decode()}
        path = whole or f"/squid-internal-mgr/clusterfs_{page}" + (f"?{words}" if words else "")
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, Values(response.read().decode())
    finally:
        connection.close()


def answer(squid, page, **query):
    status, values = ask(squid, page, **query)
    assert status == 200 and "error" not in values, f"{status} {values.text}"
    return values


def finished(squid):
    """The values of the job, when it is over."""
    wait_for(lambda: answer(squid, "job")["state"] != "running", "end of the job", 60)
    values = answer(squid, "job")
    assert values["state"] == "done", values.text
    return values
