# SPDX-License-Identifier: GPL-2.0-or-later
"""The page for Prometheus, mgr:clusterfs_metrics."""

import http.client
import json
import math
import re
import subprocess

import pytest

from common import TOP
from squidkit.processes import wait_for
from testlib.metrics import Page
from testlib.prometheus import Prometheus
from testlib.suite import tool

MONITORING = TOP / "packaging" / "monitoring"
FACTORS = {"us": 1e-6, "ms": 1e-3, "s": 1, "%": 1e-2}


def page(squid):
    return Page(squid.mgr("clusterfs_metrics"))


def two_dirs(t, options=""):
    """A Squid with two cache_dirs that have objects, in memory and on the disk, and have been read."""
    squid = t.running(*(t.cache_dir(64, f"persist=1 {options}", name=name) for name in ("one", "two")))
    urls = t.urls("object", 60)
    t.fetch_all(squid, urls)
    squid.wait_packed()
    squid.restart()
    t.fetch_all(squid, urls)
    return squid, urls


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_two_cache_dirs(t):
    """A page of plain text with each family once, whose counters only grow under load."""
    squid, urls = two_dirs(t)
    connection = http.client.HTTPConnection("127.0.0.1", squid.port, timeout=60)
    connection.request("GET", "/squid-internal-mgr/clusterfs_metrics")
    reply = connection.getresponse()
    assert reply.getheader("Content-Type") == "text/plain;charset=utf-8"
    before = Page(reply.read().decode("utf-8"))
    connection.close()
    paths = {str(t.image("one")), str(t.image("two"))}
    assert {dict(labels)["path"] for _, labels in before.samples} == paths
    for path in paths:
        assert before.number("clusterfs_state", path=path, state="serving") == 1
        assert sum(before.of("clusterfs_state", path=path).values()) == 1
        assert len(before.of("clusterfs_info", path=path)) == 1
    assert sum(before.of("clusterfs_objects").values()) == len(urls), before.text
    reads = sum(before.of("clusterfs_disk_requests_total", operation="read").values())
    assert reads == sum(before.of("clusterfs_disk_request_duration_seconds_count", operation="read").values()) > 0

    for _ in range(3):
        t.fetch_all(squid, urls + t.urls("more", 40))
        after = page(squid)
        assert after.kinds.keys() >= before.kinds.keys() and after.counters().keys() == before.counters().keys()
        for key, value in before.counters().items():
            assert after.samples[key] >= value, f"{key} was {value} and is {after.samples[key]}"
        before = after
    assert sum(after.of("clusterfs_hits_total").values()) >= 3 * len(urls)


#: {line of mgr:clusterfs: why Prometheus does not get it}
LEFT_OUT = {"disk flush bytes": "always 0", "state": "see test_two_cache_dirs", "disk read latency us": "four numbers there",
            "disk write latency us": "the same", "disk flush latency us": "the same", "wait for hits us": "test_waits.py", "wait for misses us": "test_waits.py"}


def table_of_names():
    """(line, unit, name in Prometheus) of docs/metrics.md."""
    text = (TOP / "docs" / "metrics.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([^|]+) \| (?:counter|gauge|text) \|(?: ([^|]*))? \| [^|]+ \| `([^`|]+)` \|$", text, re.M)


@pytest.mark.stores("clusterfs")
def test_says_the_same_as_the_other_page(t):
    """Each line of mgr:clusterfs, by the name that docs/metrics.md gives it."""
    squid = t.running(options="persist=1")
    t.fetch_all(squid, t.urls("object", 60))
    squid.wait_packed()
    values, metrics = squid.values(), page(squid)
    later = squid.values()
    compared = set()
    for line, unit, metric in table_of_names():
        if line in LEFT_OUT or values[line] != later[line]:
            continue
        name, _, label = metric.partition("{")
        labels = dict(re.findall(r'(\w+)="(\w+)"', label))
        if name == "clusterfs_info":
            labels = dict(next(iter(metrics.of(name))))
            assert labels[label.rstrip("}")] == values[line].partition(":")[0], line
        elif values[line].startswith("none"):
            assert name not in metrics.kinds, line
        else:
            assert metrics.number(name, **labels) == pytest.approx(values.number(line) * FACTORS.get(unit, 1), abs=0.0006), line
        compared.add(line)
    assert len(compared) > 90, sorted(compared)
    assert {"objects", "bytes stored", "hits from staging", "uuid", "disk writes", "recovery time"} <= compared


@pytest.mark.stores("clusterfs")
def test_lookups_of_a_request(t):
    """How often Squid asks for an object: as docs/metrics.md says it of the line lookups."""
    text = (TOP / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert "A hit takes 1, with `Vary` in the response 2" in text and "A miss takes 4 as a rule, with `Vary` 5 or 6" in text
    squid = t.running()
    plain, varied = (t.url("object", size=9000, **words) for words in ({}, {"vary": "Accept-Language"}))

    def lookups(fetch, url, **headers):
        before = page(squid).number("clusterfs_lookups_total")
        fetch(squid, url, **headers)
        return page(squid).number("clusterfs_lookups_total") - before

    ours = lookups(lambda *_: None, "")
    assert ours == 1, "that of the manager's page"
    assert lookups(t.miss, plain) == 4 + ours
    assert lookups(t.miss, varied, Accept_Language="de") == 5 + ours, "it is not known yet that the response varies"
    assert lookups(t.miss, varied, Accept_Language="en") == 6 + ours
    squid.restart()
    assert lookups(t.hit, plain) == 1 + ours
    assert lookups(t.hit, varied, Accept_Language="de") == 2 + ours


@pytest.mark.stores("clusterfs")
@pytest.mark.parametrize("locality", ("", "locality=0"))
def test_pages_opened(t, locality):
    """A page counts once, hit or miss, however often Squid asks for it, and in how many cache_dirs."""
    squid = t.running(*(t.cache_dir(64, locality, name=name) for name in ("one", "two")), mem_object_kb=64)

    def opened(fetch, url, **headers):
        before = page(squid).of("clusterfs_pages_opened_total")
        fetch(squid, url, **headers)
        after = page(squid).of("clusterfs_pages_opened_total")
        assert len(after) == 2 and len(set(after.values())) == 1, after
        return next(iter(after.values())) - next(iter(before.values()))

    document, plain, varied, private = t.url("page", size=9000), t.url("plain/", size=100000), t.url("varied", size=100000, vary="Accept-Language"), t.url("mine", cc="private")
    browser, old = {"Sec_Fetch_Dest": "document"}, {"Accept": "text/html,*/*"}
    assert opened(t.miss, document, **browser) == 1
    assert opened(t.miss, plain, **old) == opened(t.miss, private, **browser) == 1
    for language in ("de", "en"):
        assert opened(t.miss, varied, Accept_Language=language, **browser) == 1
    assert opened(t.hit, document, **browser) == 1, "which is in cache_mem, too"
    assert opened(t.miss, t.url("image.png"), Sec_Fetch_Dest="image", Referer=document) == 0
    assert opened(t.hit, document, Sec_Fetch_Dest="iframe") == 0
    for _ in range(2):
        assert opened(t.hit, plain, **old) == opened(t.hit, varied, Accept_Language="en", **browser) == 1
        squid.restart()


@pytest.mark.stores("clusterfs")
def test_unused_device(t):
    """A cache_dir without its device has only its state; the other one is whole."""
    squid = t.squid(t.cache_dir(64, name="one"), t.cache_dir(64, name="two")).create()
    t.image("two").write_bytes(b"something else" * 1000)
    t.allow(r".*(ERROR|WARNING): cache_dir clusterfs.*two.*", r".*two.* is not used.*")
    squid.start()
    metrics = page(squid)
    assert metrics.number("clusterfs_state", path=str(t.image("one")), state="serving") == 1
    assert metrics.number("clusterfs_state", path=str(t.image("two")), state="unused") == 1
    assert not metrics.of("clusterfs_objects", path=str(t.image("two"))) and metrics.of("clusterfs_objects", path=str(t.image("one")))


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("promtool")
def test_promtool_finds_nothing(t):
    squid, _ = two_dirs(t)
    done = subprocess.run([tool("promtool"), "check", "metrics"], input=squid.mgr("clusterfs_metrics"),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout


def dashboard_queries():
    """{query: title of its panel} of the dashboard for Grafana, with its variables as Grafana would fill them in."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    assert {"instance", "path"} <= names
    queries = {}
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            query = target["expr"].replace("$__rate_interval", "8s")
            for name in names:
                query = query.replace(f"${name}", ".*")
            assert "$" not in query, query
            queries[query] = panel["title"]
    return queries


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("promtool", "prometheus")
def test_prometheus_scrapes_it(t):
    """A real Prometheus takes the page, evaluates the alert rules, and has data for each query of the dashboard."""
    squid, urls = two_dirs(t, "checkpoint=1 read-cache=2")
    prometheus = t.closing(Prometheus(t.dir / "prometheus", squid.port, MONITORING / "alerts.yml"))
    queries, rounds = dashboard_queries(), iter(range(1000))
    assert len(set(queries.values())) >= 12

    def without_data():
        """The queries that have none while clients store and read."""
        number = next(rounds)
        squid.client.get(t.url(f"page{number}"), Sec_Fetch_Dest="document").check()
        t.fetch_all(squid, urls + t.urls(f"round{number}-", 20))
        found = {query: [value for _, value in prometheus.query(query) if math.isfinite(value)] for query in queries}
        return [(title, query) for query, title in queries.items() if not found[query]]

    wait_for(lambda: not without_data(), "data for each query", 60)
    assert not without_data()
    assert prometheus.target()["health"] == "up", prometheus.target()
    assert dict(prometheus.query('count by (path) (clusterfs_state == 1)')[0][0])["path"] in (str(t.image("one")), str(t.image("two")))
    rules = prometheus.rules()
    assert len(rules) >= 6 and all(rule["health"] == "ok" and rule["state"] == "inactive" for rule in rules), rules
    # the sums of the last scrape are those of the page, now that nobody asks
    total = page(squid).counters()
    stored = sum(value for (name, _), value in total.items() if name == "clusterfs_objects_stored_total")
    wait_for(lambda: prometheus.query("sum(clusterfs_objects_stored_total)")[0][1] == stored, "the last scrape", 20)
