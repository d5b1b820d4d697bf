# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver of Web Polygraph, with stand-ins for its programs: none of them is needed here."""

import pathlib
import socket
import sys

from benchlib import polygraph
from benchlib.errors import BenchError

#: as polygraph-lx prints: values, then bins of whole milliseconds
FIGURES = """name:\t measure
baseline.req.rate:\t 40.00
baseline.rptm.count:  \t 400
baseline.rptm.mean:   \t 30.50
baseline.rptm.max:    \t 120
baseline.rep.size.sum:    \t 4000000.00
offered.hit.ratio.obj: \t 55.00
hit.ratio.obj: \t 54.50
hit.rptm.count:  \t 200
hit.rptm.mean:   \t 2.50
hit.rptm.max:    \t 40
hit.size.sum:    \t 1500000.00
miss.rptm.count:  \t 0
miss.rptm.mean:   \t -1.00
page.rptm.count:  \t 50
page.rptm.mean:   \t 100.00
page.rptm.max:    \t 200
err_xact.count:\t 2
duration:\t 10.00
hit.rptm.count:  \t 9999
hit.rptm.hist:
# bin   min   max   count     %   acc%
    1     0     1     100 50.00  50.00
    3     2     4      80 40.00  90.00
   10    20    40      20 10.00 100.00

miss.rptm.hist:

other.rptm.hist:
# bin   min   max   count     %   acc%
    1     0     1       1 100.00 100.00
"""
SERVER = """
import socket, time
socks = [socket.create_server(("127.0.0.1", port)) for port in range({port}, {port} + 4)]
time.sleep(60)
"""
CLIENT = """
import sys, time, pathlib
assert pathlib.Path("settings.pg").exists()
console = open(sys.argv[sys.argv.index("--console") + 1], "w", buffering=1)
for word in ("i-fill 5", "p-fill 100", "p-warm 20", "i-measure1 30", "p-measure1 400", "p-measure2 400", "p-measure3 400",
             "p-cool 1"):
    console.write("000.10| " + word + " 1.0\\n")
    time.sleep(0.3)
"""
FAILING = "import sys\nsys.exit('no such workload')\n"


def _prefix(context, client=CLIENT, port=9):
    """A folder that looks like an installed Polygraph."""
    prefix = context.folder / "polygraph"
    includes = prefix / "share/polygraph/workloads/include"
    includes.mkdir(parents=True)
    (includes / "contents.pg").write_text("")
    (prefix / "bin").mkdir()
    for name, text in (("server", SERVER.format(port=port)), ("client", client), ("lx", f"print('''{FIGURES}''')")):
        path = prefix / "bin" / f"polygraph-{name}"
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)
    return prefix


def _free_ports():
    """The first of several free ports that follow each other."""
    for port in range(21000, 29000, 10):
        try:
            for each in range(port, port + polygraph.ORIGINS):
                with socket.create_server(("127.0.0.1", each)):
                    pass
            return port
        except OSError:
            continue
    raise AssertionError("no free ports")


def test_polygraph_not_installed(context):
    for folder in (context.folder, context.folder / "absent"):
        try:
            polygraph.Installation(folder)
        except BenchError as error:
            for word in (str(folder), "polygraph-client", "--polygraph", "Install"):
                assert word in str(error), error
        else:
            raise AssertionError(f"Polygraph was found in {folder}")


def test_polygraph_figures(context):
    del context
    found = polygraph.client_figures(FIGURES, polygraph.SCALES["tiny"])
    assert found["requests"] == 400 and found["requestsPerSecond"] == 40 and found["errors"] == 2, found
    assert found["hits"] == 200 and found["hitBytes"] == 1500000 and abs(found["hitRatio"] - 0.545) < 1e-9, found
    hit = found["hit"]
    assert hit == {"count": 200, "mean": 0.0025, "max": 0.04, "p50": 0.001, "p90": 0.004, "p99": 0.04, "p99.9": 0.04}, hit
    assert found["miss"] == {"count": 0}, found["miss"]
    assert found["histogram"]["hit"] == [[0.001, 100], [0.004, 80], [0.04, 20]], found["histogram"]


def test_polygraph_workloads(context):
    """The workload files are there, and name every setting that the driver writes."""
    del context
    text = polygraph.settings(polygraph.SCALES["more"], 9090, 3128)
    files = {path.name: path.read_text() for path in polygraph.WORKLOADS.glob("*.pg")}
    assert set(files) == {"one-machine.pg", "polymix-4.pg", "traffic.pg"}, sorted(files)
    used = files["one-machine.pg"] + files["traffic.pg"]
    for line in text.strip().splitlines():
        name = line.split()[1]
        assert used.count(name) > 1, f"{name} is written, and not used"
    assert "'127.0.0.1:3128'" in text and "'127.0.0.1:9090-9093'" in text, text
    assert "Proxies = [];" in polygraph.settings(polygraph.SCALES["more"], 9090, None)


def test_polygraph_run(context):
    port = _free_ports()
    installation = polygraph.Installation(_prefix(context, port=port))
    steps = []
    found = polygraph.PolygraphRun(installation, polygraph.SCALES["tiny"], context.folder, port).run(steps.append)
    assert steps == ["fill", "measure 1/3", "measure 2/3", "measure 3/3"] and found["client"]["requests"] == 400, (steps, found)
    found["rounds"][0]["client"]["hit"]["mean"] = 0.001
    table = polygraph.table({"null": found})
    assert all(len(row) == len(table["columns"]) for row in table["rows"]), table
    assert table["rows"][0][table["columns"].index("hit mean ms")] == "2.5 (1 to 2.5)", table


def test_polygraph_fails(context):
    port = _free_ports()
    installation = polygraph.Installation(_prefix(context, client=FAILING, port=port))
    try:
        polygraph.PolygraphRun(installation, polygraph.SCALES["tiny"], context.folder, port).run(lambda what: None)
    except BenchError as error:
        assert "no such workload" in str(error) and "polygraph-client" in str(error), error
    else:
        raise AssertionError("a client that fails went unnoticed")
    left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if str(context.folder).encode() in _read(path)]
    assert not left, left


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
