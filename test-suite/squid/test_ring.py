# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs ring says which cache_peer a real Squid chooses by CARP."""

import json
import subprocess

import pytest

from common import BUILD
from squidkit.origin import Origin
from squidkit.processes import wait_for

#: options of the four cache_peer lines of each front end
RINGS = {
    "equal": ("",) * 4,
    "weights": ("weight=3", "", "weight=10", "weight=2"),
    "by host": ("carp-key=scheme,host",) * 4,
    "by path": ("carp-key=path",) * 4,
    "by port and parameters": ("carp-key=port,params weight=2", "carp-key=port,params", "carp-key=port,params", "carp-key=port,params"),
    "mixed": ("carp-key=host", "", "weight=0", "carp-key=params"),
}


def urls():
    """Of 20 hosts, with and without port, path and parameters, in upper and lower case."""
    for n in range(100):
        host = f"Www{n % 20}.Example.com" if n % 3 else f"h{n % 20}.test"
        port = ("", ":80", ":8080")[n % 3]
        query = f"?size={n}" + ("&x=%41" if n % 7 == 0 else "")
        yield f"http://{host}{port}/a/Page%20{n}.html{query if n % 5 else ''}"


@pytest.mark.stores("clusterfs")
def test_the_peer_of_each_url(t):
    """Six hundred requests, through front ends with six kinds of lines: the log's hierarchy code and the peer's port are
    those of the peer that the tool names."""
    tool = BUILD / "clusterfs"
    if not tool.exists():
        pytest.fail(f"{tool} is not there: make clusterfs")
    origins = [t.closing(Origin()) for _ in range(4)]
    log = t.dir / "squid" / "ring.log"
    fixed = ("never_direct allow all", "cache deny all", "logformat ring %{X-Test-Id}>h %Sh %<p", f"access_log stdio:{log} logformat=ring",
             t.cache_dir(16))
    squid, asked = None, list(urls())
    for name, options in RINGS.items():
        peers = [f"cache_peer 127.0.0.1 parent {origin.port} 0 no-query no-digest name=cache{n} carp {option}"
                 for n, (origin, option) in enumerate(zip(origins, options))]
        if squid is None:
            squid = t.squid(*fixed, *peers).create()
        else:
            squid.stop().configure(*fixed, *peers)
        squid.start()
        replies = [squid.client.get(url) for url in asked]
        assert all(reply.status == 200 for reply in replies), name

        def lines(wanted=replies):
            found = {line.split()[0]: line.split()[1:] for line in log.read_text(encoding="latin-1").splitlines()}
            return found if all(reply.id in found for reply in wanted) else None

        logged = wait_for(lines, "all requests in the log", 20)
        chosen = [logged[reply.id] for reply in replies]
        done = subprocess.run([tool, "ring", squid.conf, "--json", *asked], capture_output=True, text=True, timeout=60, check=True)
        names = [row["peer"] for row in json.loads(done.stdout)["urls"]]
        assert chosen == [["CARP", str(origins[int(peer.removeprefix("cache"))].port)] for peer in names], name
        assert len(set(names)) >= 3, (name, "too few peers were chosen to tell")
