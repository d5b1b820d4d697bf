# SPDX-License-Identifier: GPL-2.0-or-later
"""The alert rules and the dashboard of packaging/monitoring; test-suite/squid/test_metrics.py runs them on a Squid."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from common import BUILD, TOP
from view import metrics

MONITORING = TOP / "packaging" / "monitoring"
TESTS = pathlib.Path(__file__).with_name("alerts.yml")


def promtool(*words):
    program = shutil.which("promtool", path=f"{os.environ.get('PATH', '')}:{BUILD}/prometheus/usr/bin")
    if not program:
        pytest.skip("promtool is not installed")
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout


def test_alerts_fire_when_they_should():
    promtool("check", "rules", MONITORING / "alerts.yml")
    promtool("test", "rules", TESTS)


def test_each_alert_is_tested():
    rules = set(re.findall(r"- alert: (\w+)", (MONITORING / "alerts.yml").read_text(encoding="utf-8")))
    tests = TESTS.read_text(encoding="utf-8")
    fired = set(re.findall(r"^ +- alertname: (\w+)$", tests, re.M))
    silent = set(re.findall(r"\{alertname: (\w+), [^}]*exp_alerts: \[\]\}", tests))
    assert len(rules) >= 6 and rules == fired == silent


def test_names_of_metrics():
    """Alerts and dashboard speak of metrics that docs/metrics.md has."""
    known = set(re.findall(r"`(clusterfs_\w+)", (TOP / "docs" / "metrics.md").read_text(encoding="utf-8")))
    for name in ("alerts.yml", "dashboard.json"):
        used = set(re.findall(r"(?<!:)\bclusterfs_\w+", (MONITORING / name).read_text(encoding="utf-8")))
        used = {re.sub(r"_bucket$", "", metric) for metric in used}
        assert used and used <= known, used - known


def test_dashboard():
    """Panels have titles, units, descriptions and legends, and do not cover each other."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    covered, ids = set(), set()
    for panel in dashboard["panels"]:
        assert panel["id"] not in ids and panel["title"] and panel["description"].endswith("."), panel
        ids.add(panel["id"])
        assert panel["fieldConfig"]["defaults"]["unit"] and all(target["legendFormat"] for target in panel["targets"]), panel
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert max(x for x, _ in cells) < 24 and not cells & covered, panel["title"]
        covered |= cells


def test_hit_ratio_counts_requests():
    """The lookups do not tell it, because a miss takes several: docs/metrics.md."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    query = next(panel["targets"][0]["expr"] for panel in dashboard["panels"] if panel["title"] == "Hit ratio")
    used = re.findall(r"clusterfs_(\w+)", query)
    assert used[0] == used[1] == "hits_total" and tuple(used[2:]) == metrics.MISSES
