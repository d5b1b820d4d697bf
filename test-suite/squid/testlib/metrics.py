# SPDX-License-Identifier: GPL-2.0-or-later
"""The page mgr:clusterfs_metrics: a strict reader of Prometheus' text format, version 0.0.4.

See https://prometheus.io/docs/instrumenting/exposition_formats/. What a lenient reader passes over is an AssertionError
here: a blank line, a comment of another kind, a family in two places, a sample without TYPE, a label twice."""

import math
import re

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)')
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf)|NaN")
_ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
PARTS = ("_bucket", "_sum", "_count")


def _labels(text):
    labels, at = {}, 0
    while at < len(text):
        found = _LABEL.match(text, at)
        assert found, f"bad labels: {text[at:]!r}"
        assert found[1] not in labels, f"label {found[1]} twice: {text!r}"
        labels[found[1]] = re.sub(r"\\.", lambda m: _ESCAPED[m[0]], found[2])
        at = found.end()
    return labels


class Page:
    """kinds: {family: TYPE}; samples: {(name, ((label, value), ...)): number}, the labels sorted."""

    def __init__(self, text):
        self.text, self.kinds, self.helps, self.samples = text, {}, {}, {}
        assert text.endswith("\n"), "the last line has no end"
        family = None
        for line in text.splitlines():
            if line.startswith("# HELP "):
                found = re.fullmatch(rf"# HELP ({_NAME}) (\S.*)", line)
                assert found, line
                family = found[1]
                assert family not in self.helps, f"twice: {line}"
                self.helps[family] = found[2]
            elif line.startswith("# TYPE "):
                found = re.fullmatch(rf"# TYPE ({_NAME}) (counter|gauge|histogram|summary|untyped)", line)
                assert found and found[1] == family and family not in self.kinds, f"not behind its HELP, or twice: {line}"
                self.kinds[family] = found[2]
            else:
                self._add_sample(family, line)
        for name in self.kinds:
            if self.kinds[name] == "histogram":
                self._check_histogram(name)

    def _add_sample(self, family, line):
        found = _SAMPLE.fullmatch(line)
        assert found and _NUMBER.fullmatch(found[3]), f"no sample: {line!r}"
        name = found[1]
        kind = self.kinds.get(family)
        own = [family + part for part in PARTS] if kind == "histogram" else [family]
        assert kind and name in own, f"not behind the TYPE of its family: {line}"
        key = (name, tuple(sorted(_labels(found[2] or "").items())))
        assert key not in self.samples, f"twice: {line}"
        self.samples[key] = float(found[3])

    def _check_histogram(self, family):
        """Buckets of each set of labels grow, and the last is the count."""
        series = {}
        for (name, labels), value in self.samples.items():
            if name == family + "_bucket":
                rest = tuple(item for item in labels if item[0] != "le")
                series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
        assert series, family
        for labels, buckets in series.items():
            assert buckets == sorted(buckets) and [n for _, n in buckets] == sorted(n for _, n in buckets), (family, labels, buckets)
            assert buckets[-1] == (math.inf, self.samples[family + "_count", labels]), (family, labels)
            assert (family + "_sum", labels) in self.samples, (family, labels)

    def of(self, name, **labels):
        """The samples of that name whose labels include these: {labels: number}."""
        return {has: value for (sample, has), value in self.samples.items() if sample == name and labels.items() <= dict(has).items()}

    def number(self, name, **labels):
        """The only sample with these labels."""
        found = self.of(name, **labels)
        assert len(found) == 1, f"{name}{labels}: {found}"
        return next(iter(found.values()))

    def counters(self):
        """{key: number} of what may only grow."""
        growing = [f for f, kind in self.kinds.items() if kind == "counter"]
        growing += [f + part for f, kind in self.kinds.items() if kind == "histogram" for part in PARTS]
        return {key: value for key, value in self.samples.items() if key[0] in growing}
