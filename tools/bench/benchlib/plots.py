# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots as SVG text."""

import io

import matplotlib
import matplotlib.patches
import matplotlib.ticker

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "clusterfs", "font.size": 9, "axes.grid": True,
                            "grid.alpha": 0.3, "axes.axisbelow": True, "axes.spines.top": False,
                            "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402  pylint: disable=wrong-import-position

from . import figures, papers_plan, papers_tables  # noqa: E402  pylint: disable=wrong-import-position
from .stores import diskless  # noqa: E402  pylint: disable=wrong-import-position
from .tables import number, title  # noqa: E402  pylint: disable=wrong-import-position

COLOURS = {"clusterfs": "#c0392b", "ufs": "#2471a3", "aufs": "#5dade2", "diskd": "#17a589", "rock": "#7d3c98",
           "rock-n": "#bb8fce", "null": "#909497", "memory": "#424949", "ats": "#ca6f1e", "varnish": "#f1c40f",
           "nginx": "#229954", "clusterfs-loaded": "#e6b0aa", "clusterfs-middle": "#e59866", "clusterfs-small": "#f1948a",
           "ufs-gdsf": "#1a5276", "ufs-lfuda": "#7fb3d5", "aufs-gdsf": "#154360", "aufs-lfuda": "#a9cce3",
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


def _plain(axis):
    """A logarithmic axis with figures instead of powers of ten."""
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5) if axis.axis_name == "y" else (1,), numticks=12))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def _bars(axes, results, value, what):
    """One bar for each store, with whiskers over its rounds."""
    pairs = [(result, found) for result in results if (found := value(result))]
    for place, (result, found) in enumerate(pairs):
        axes.barh(place, found.median, color=colour(result), height=0.7,
                  xerr=[[found.median - found.low], [found.high - found.median]], ecolor="#333333", capsize=2)
        axes.text(found.high, place, f"  {number(found.median)}", va="center", fontsize=8)
    axes.set_yticks(range(len(pairs)), [title(result) for result, _ in pairs])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.18)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda tick, _: f"{tick:,g}"))
    axes.set_title(what)
    return pairs


def _throughput(axes, results):
    disks = [result for result in results if result["store"] != "memory"]
    pairs = _bars(axes, disks, lambda r: figures.over(r, "closed", figures.client("visitsPerSecond")),
                  "visits/s, closed loop")
    bound = next(filter(None, map(figures.disk_bound, results)), None)
    if bound:
        near = bound < FAR * max(found.median for _, found in pairs)
        if near:
            axes.axvline(bound, color="black", linestyle="--", linewidth=1)
        axes.set_title(f"visits/s, closed loop ({'dashed: ' if near else ''}bound of the disk, {number(bound)})")


def _few(value):
    return number(value) if value == 0 or value >= 0.01 else "<0.01"


def _requests(axes, results):
    disks = [result for result in results if not diskless(result["store"])]
    pairs = [(r, figures.over(r, "closed", figures.per("reads", "visits")),
              figures.over(r, "closed", figures.per("writes", "visits"))) for r in disks]
    pairs = [pair for pair in pairs if pair[1]]
    for place, (result, reads, writes) in enumerate(pairs):
        axes.barh(place, reads.median, color=colour(result), height=0.7)
        axes.barh(place, writes.median, left=reads.median, color=colour(result), height=0.7, alpha=0.4, hatch="//")
        axes.text(reads.median + writes.median, place, f"  {_few(reads.median)} + {_few(writes.median)}", va="center", fontsize=8)
    axes.set_yticks(range(len(pairs)), [title(pair[0]) for pair in pairs])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.35 * max([reads.median + writes.median for _, reads, writes in pairs], default=1))
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
    _plain(axes.xaxis)
    axes.set_title("share of hits that take longer, open loop")


def _hit_ratio(axes, results):
    for result in results:
        points = figures.timeline(result)
        if points:
            axes.plot([t for t, _ in points], [100 * ratio for _, ratio in points], color=colour(result), linewidth=1)
    axes.set(xlabel="s of fill or ageing, warm-up, closed loops", ylim=(0, 102))
    axes.set_title("hit ratio over time, % of requests")


def _against_load(axes, results, value, what, **look):
    """The medians of value(phase) over the loads that were offered; bars where there was one load only."""
    rates = sorted({rate for result in results for rate, _ in figures.ladder(result)})
    if len(rates) < 2:
        at = f" at {rates[0]:g} visits/s" if rates else ""
        _bars(axes, results, lambda result: figures.over(result, "open", value), f"{what}{at}, ms")
        return
    for result in results:
        points = [(rate, found.median) for rate, phases in figures.ladder(result)
                  if (found := figures.Spread.of([value(phase) for phase in phases]))]
        if points:
            axes.plot(*zip(*points), color=colour(result), marker="o", markersize=3, linewidth=1.2)
    axes.set(xscale="log", xlabel="offered visits/s", ylabel="ms", **look)
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set_xticks([], minor=True)
    if look.get("yscale") == "log":
        _plain(axes.yaxis)
    axes.set_title(f"{what} against load")


def _ladder(axes, results):
    _against_load(axes, results, figures.latency("hit", "p99"), "p99 of hits", yscale="log")


def _cpu_against_load(axes, results):
    disks = [result for result in results if not diskless(result["store"])]
    _against_load(axes, disks, figures.cpu_per_request, "processor time a request", ylim=(0, None))


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


def pages(groups):
    """The picture of a set: visits/s of its parts about pages, a panel each. groups: see overview.pages()."""
    rows = (len(groups) + 1) // 2
    figure, grid = plt.subplots(rows, 2, figsize=(11, 2.6 * rows), layout="constrained", squeeze=False)
    for axes in grid.flat[len(groups):]:
        axes.axis("off")
    for axes, results in zip(grid.flat, groups):
        _bars(axes, results, lambda r: figures.over(r, "closed", figures.client("visitsPerSecond")), results[0]["parameters"]["title"])
        axes.set_xlabel("visits/s")
    return svg(figure)


def hits_part(results):
    """Rates and processor time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 0.4 * len(results) + 1.2), layout="constrained")
    _bars(left, results, lambda r: figures.over(r, "closed", figures.client("requestsPerSecond")), "requests/s")
    _bars(right, results, lambda r: figures.over(r, "closed", figures.cpu_per_request), "processor ms a request")
    return svg(figure)


def restart_part(results):
    """First hit and whole index."""
    figure, all_axes = plt.subplots(1, 2, figsize=(12, 0.4 * len(results) + 1.4), layout="constrained", sharey=True)
    for axes, how, what in ((all_axes[0], "clean", "after a clean stop"), (all_axes[1], "killed", "after kill -9")):
        for place, result in enumerate(results):
            for key, offset, alpha in (("firstHit", -0.2, 1), ("whole", 0.2, 0.45)):
                found = figures.Spread.of([start.get(key) for start in result["starts"][how]])
                axes.barh(place + offset, found.median, height=0.38, color=colour(result), alpha=alpha)
                axes.text(found.median, place + offset, f"  {found.median:.2f}", va="center", fontsize=8)
        axes.set_yticks(range(len(results)), [title(result) for result in results])
        axes.set_xlabel("s")
        axes.set_title(f"{what}: first hit, whole index (pale)")
        axes.margins(x=0.15)
        axes.grid(axis="y", visible=False)
    all_axes[0].invert_yaxis()
    return svg(figure)


def _course(axes, runs, stage):
    """How long operations took in the course of a stage, each store and cluster size a line."""
    for run in runs:
        found = papers_tables.phase(run, stage)
        clusterfs = run["case"]["store"] == "clusterfs"
        label = run["case"]["settings"][0].partition("=")[2] + " KB" if clusterfs else run["case"]["store"]
        shares = [100 * (place + 0.5) / len(found["points"]) for place in range(len(found["points"]))]
        axes.plot(shares, [max(point * 1000, 1e-3) for point in found["points"]], label=label, linewidth=1.2,
                  **({} if clusterfs else {"color": "black", "linestyle": "--"}))
    axes.set(yscale="log")
    _plain(axes.yaxis)


def papers_part(results):
    """Damelo's figures 8 to 25: its fifteen microbenchmarks as they went on."""
    runs = [run for run in results[0].get("runs", []) if run["case"]["experiment"] == "damelo" and "points" in run["phases"][0]]
    orderings = [name for name in papers_plan.ORDERINGS if any(run["case"]["label"] == name for run in runs)]
    if not orderings:
        return ""
    figure, grid = plt.subplots(len(papers_plan.STAGES), len(orderings), figsize=(3 * len(orderings) + 1, 8), layout="constrained",
                                squeeze=False, sharex=True)
    for row, stage in zip(grid, papers_plan.STAGES):
        for axes, ordering in zip(row, orderings):
            _course(axes, [run for run in runs if run["case"]["label"] == ordering], stage)
            axes.set_title(f"{stage}, {ordering}")
        row[0].set_ylabel("ms of an operation")
    for axes in grid[-1]:
        axes.set_xlabel("% of the stage")
    grid[0][0].legend(fontsize=7)
    return svg(figure)
