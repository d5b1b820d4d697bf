# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots as SVG text."""

import io
import math

import matplotlib
import matplotlib.patches
matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "clusterfs", "font.size": 9, "axes.grid": True,
                            "grid.alpha": 0.3, "axes.axisbelow": True, "axes.spines.top": False,
                            "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402  pylint: disable=wrong-import-position

from . import figures  # noqa: E402  pylint: disable=wrong-import-position
from .stores import DISKLESS  # noqa: E402  pylint: disable=wrong-import-position
from .tables import title  # noqa: E402  pylint: disable=wrong-import-position

COLOURS = {"clusterfs": "#c0392b", "ufs": "#2471a3", "aufs": "#5dade2", "diskd": "#17a589", "rock": "#7d3c98",
           "rock-n": "#bb8fce", "null": "#909497", "memory": "#424949", "ats": "#ca6f1e", "varnish": "#f1c40f",
           "nginx": "#229954", "clusterfs-loaded": "#e6b0aa", "clusterfs-middle": "#e59866",
           "clusterfs-calm": "#e6b0aa", "clusterfs-checkpoints": "#c0392b"}
#: a limit beyond this many times the highest bar is said, not drawn
FAR = 4


def colour(result):
    return COLOURS.get(result["store"], "#000000")


def svg(figure):
    """The figure as an <svg> element, without the prologue that only a file has."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    return text[text.index("<svg"):]


def _bars(axes, results, value, what, form="{:.3g}"):
    """One bar for each store, with whiskers over its rounds."""
    pairs = [(result, found) for result in results if (found := value(result))]
    for place, (result, found) in enumerate(pairs):
        axes.barh(place, found.median, color=colour(result), height=0.7,
                  xerr=[[found.median - found.low], [found.high - found.median]], ecolor="#333333", capsize=2)
        axes.text(found.high, place, "  " + form.format(found.median), va="center", fontsize=8)
    axes.set_yticks(range(len(pairs)), [title(result) for result, _ in pairs])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.18)
    axes.set_title(what)
    return pairs


def _throughput(axes, results):
    disks = [result for result in results if result["store"] != "memory"]
    pairs = _bars(axes, disks, lambda r: figures.over(r, "closed", figures.client("visitsPerSecond")),
                  "visits/s, closed loop")
    limit = next((result["limit"]["visitsPerSecond"] for result in results if result.get("limit")), None)
    if limit and limit < FAR * max(found.median for _, found in pairs):
        axes.axvline(limit, color="black", linestyle="--", linewidth=1)
        axes.annotate("limit of the disk", (limit, 1), xycoords=("data", "axes fraction"), ha="right", va="top",
                      rotation=90, fontsize=7)
    elif limit:
        axes.annotate(f"limit of the disk: {limit:.3g}", (1, 0.01), xycoords="axes fraction", ha="right", fontsize=8)


def _requests(axes, results):
    disks = [result for result in results if result["store"] not in DISKLESS]
    pairs = [(r, figures.over(r, "closed", figures.per("reads", "visits")),
              figures.over(r, "closed", figures.per("writes", "visits"))) for r in disks]
    pairs = [pair for pair in pairs if pair[1]]
    for place, (result, reads, writes) in enumerate(pairs):
        axes.barh(place, reads.median, color=colour(result), height=0.7)
        axes.barh(place, writes.median, left=reads.median, color=colour(result), height=0.7, alpha=0.4, hatch="//")
        axes.text(reads.median + writes.median, place, f"  {reads.median:.3g} + {writes.median:.3g}", va="center", fontsize=8)
    axes.set_yticks(range(len(pairs)), [title(pair[0]) for pair in pairs])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.25)
    axes.set_title("disk requests a visit: reads + writes (hatched)")


def _latencies(axes, results):
    for result in results:
        histogram = figures.merged_histogram(result, "open", "hit")
        total, seen, xs, ys = sum(count for _, count in histogram), 0, [], []
        for upper, count in histogram:
            # the share that takes longer, before the last one
            seen += count
            if seen < total:
                xs.append(max(upper, 0.01))
                ys.append(1 - seen / total)
        if xs:
            axes.plot(xs, ys, color=colour(result), label=title(result), linewidth=1.4)
    axes.set(xscale="log", yscale="log", ylim=(5e-4, 1.2), xlabel="ms")
    axes.set_yticks([1, 0.5, 0.1, 0.01, 0.001], ["all", "50 %", "10 %", "1 %", "0.1 %"])
    axes.set_title("share of hits that take longer, open loop")


def _hit_ratio(axes, results):
    for result in results:
        points = figures.timeline(result)
        if points:
            axes.plot([t for t, _ in points], [100 * ratio for _, ratio in points], color=colour(result), linewidth=1)
    axes.set(xlabel="s since the cache was empty (fill or ageing, warm-up, closed loops)", ylim=(0, 102))
    axes.set_title("hit ratio over time, % of requests")


def _offered(axes, results):
    """The axis of loads: their own figures instead of powers of ten."""
    rates = sorted({rate for result in results for rate, _ in figures.ladder(result)})
    axes.set(xscale="log", xlabel="offered visits/s")
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set_xticks([], minor=True)


def _ladder(axes, results):
    for result in results:
        points = []
        for rate, phases in figures.ladder(result):
            found = figures.Spread.of([figures.latency("hit", "p99")(phase) for phase in phases])
            if found:
                points.append((rate, found.median))
        if points:
            axes.plot(*zip(*points), color=colour(result), marker="o", markersize=3, linewidth=1.2)
    axes.set(yscale="log", ylabel="ms")
    _offered(axes, results)
    axes.set_title("p99 of hits against load")


def _cpu_against_load(axes, results):
    for result in results:
        if result["store"] in DISKLESS:
            continue
        points = []
        for rate, phases in figures.ladder(result):
            found = figures.Spread.of([figures.cpu_per_request(phase) for phase in phases])
            if found and not math.isnan(found.median):
                points.append((rate, found.median))
        if points:
            axes.plot(*zip(*points), color=colour(result), marker="o", markersize=3, linewidth=1.2)
    axes.set(ylim=(0, None), ylabel="ms")
    _offered(axes, results)
    axes.set_title("processor time a request against load")


def load_part(results):
    """The figure of a part with loads: six panels."""
    figure, axes = plt.subplot_mosaic([["throughput", "requests", "latencies"], ["hits", "ladder", "cpu"], ["legend"] * 3],
                                      figsize=(15, 8.6), layout="constrained", height_ratios=[1, 1, 0.05])
    for panel, name in ((_throughput, "throughput"), (_requests, "requests"), (_latencies, "latencies"),
                        (_hit_ratio, "hits"), (_ladder, "ladder"), (_cpu_against_load, "cpu")):
        panel(axes[name], results)
    patches = [matplotlib.patches.Patch(color=colour(result), label=title(result)) for result in results]
    axes["legend"].axis("off")
    axes["legend"].legend(handles=patches, loc="center", ncols=len(patches), frameon=False)
    return svg(figure)


def hits_part(results):
    """Rates and processor time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 0.4 * len(results) + 1.2), layout="constrained")
    _bars(left, results, lambda r: figures.over(r, "closed", figures.client("requestsPerSecond")), "requests/s", "{:,.0f}")
    _bars(right, results, lambda r: figures.over(r, "closed", figures.cpu_per_request), "processor ms a request")
    return svg(figure)


def restart_part(results):
    """First hit and whole index, on a logarithmic axis."""
    figure, all_axes = plt.subplots(1, 2, figsize=(12, 0.4 * len(results) + 1.4), layout="constrained", sharey=True)
    for axes, how, what in ((all_axes[0], "clean", "after a clean stop"), (all_axes[1], "killed", "after kill -9")):
        for place, result in enumerate(results):
            for key, offset, alpha in (("firstHit", -0.2, 1), ("whole", 0.2, 0.45)):
                found = figures.Spread.of([start.get(key) for start in result["starts"][how]])
                axes.barh(place + offset, found.median, height=0.38, color=colour(result), alpha=alpha)
                axes.text(found.median, place + offset, f"  {found.median:.2f}", va="center", fontsize=8)
        axes.set_yticks(range(len(results)), [title(result) for result in results])
        axes.set(xscale="log", xlabel="s")
        axes.set_title(f"{what}: first hit, whole index (pale)")
        axes.margins(x=0.2)
        axes.grid(axis="y", visible=False)
    all_axes[0].invert_yaxis()
    return svg(figure)
