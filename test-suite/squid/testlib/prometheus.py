# SPDX-License-Identifier: GPL-2.0-or-later
"""A Prometheus of the test's own, on loopback."""

import json
import pathlib
import subprocess
import urllib.parse
import urllib.request

from squidkit.processes import free_port, wait_for

from .devices import tool

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: squid-clusterfs
    metrics_path: /squid-internal-mgr/clusterfs_metrics
    static_configs: [{{targets: ["127.0.0.1:{squid}"]}}]
"""


class Prometheus:
    """Scrapes a Squid each second, until close()."""

    def __init__(self, folder, squid_port, rules):
        self.port = free_port()
        folder = pathlib.Path(folder)
        folder.mkdir()
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.format(rules=rules, squid=squid_port), encoding="utf-8")
        self._log = folder / "log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [tool("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--web.external-url=http://127.0.0.1/"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self._ready, "Prometheus answering", 60)

    def _ready(self):
        assert self._process.poll() is None, self._log.read_text(errors="replace")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as reply:
                return reply.status == 200
        except OSError:
            return False

    def _ask(self, path, **words):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(url, timeout=30) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression):
        """[(labels, number)] of an expression now."""
        return [(row["metric"], float(row["value"][1])) for row in self._ask("query", query=expression)["result"]]

    def rules(self):
        """All alert rules, as Prometheus describes them."""
        return [rule for group in self._ask("rules")["groups"] for rule in group["rules"]]

    def target(self):
        """The state of the only Squid that it scrapes."""
        targets = self._ask("targets")["activeTargets"]
        assert len(targets) == 1, targets
        return targets[0]

    def close(self):
        """Ends it; bounded in time."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
