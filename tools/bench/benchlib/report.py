# SPDX-License-Identifier: GPL-2.0-or-later
"""report.md and report.html of a folder of results."""

import hashlib
import html
import itertools

from . import figures, overview, plans, tables
from .plans import MB
from .tables import Table, number, title

STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:.4rem 0 1rem;font-size:13px}td,th{padding:.15rem .6rem;border-bottom:1px solid #ddd;
text-align:right}td:first-child,th:first-child{text-align:left}th{background:#f4f4f4;vertical-align:bottom}h2{margin-top:2.5rem;
border-bottom:2px solid #c0392b}h4{margin:1rem 0 .2rem}code,pre{background:#f4f4f4;font-size:12px;padding:.1rem .3rem}
pre{padding:.6rem;overflow-x:auto}svg{max-width:100%;height:auto}.note{color:#555;font-size:13px;max-width:60rem}"""


class Section:
    """A part's results: text, tables, settings, and the name of the function of plots.py that draws them, if any."""

    def __init__(self, heading, command, results):
        self.heading, self.command, self.results = heading, command, results
        self.text, self.blocks, self.plot, self.settings = [_origin(results)], [], None, {}


def _origin(results):
    """When and with which sources a part was measured."""
    stores = {}
    for result in results:
        known = f"{result['started'][:10]}, clusterfs {result['versions'].get('clusterfs', 'unknown')}"
        stores.setdefault(known, []).append(title(result))
    if len(stores) == 1:
        return f"Measured on {next(iter(stores))}."
    return "Measured on " + "; ".join(f"{known}: {', '.join(names)}" for known, names in stores.items()) + "."


def _conditions(result):
    """What was the same for all stores of a part, in sentences."""
    part, corpus = result["parameters"], result["corpus"]
    single = corpus["meanObjectsPerPage"] == 1
    what = "single objects" if single else f"pages of {number(corpus['meanObjectsPerPage'])} objects and"
    lines = [f"Model of the disk: {part['model']}. Workload: {part['workload']}, {corpus['pages']:,} {what} "
             f"{'of ' if single else ''}{number(corpus['meanPageBytes'] / 1000)} KB on average, "
             f"{number(corpus['bytes'] / MB)} MB in all. Cache {result['cacheMb']} MB, memory {result['memoryMb']} MB "
             f"and {plans.program_mb(part.get('processes', 1))} MB for the program itself."]
    turns = (result.get("times") or {}).get("age")
    if part["kind"] == "load":
        lines.append(("The cache was filled and then replaced "
                      f"{turns['turns']:.1f} times over by random visits, " if turns else "The cache was filled in order, ")
                     + "with the disk in RAM. Then the proxy was restarted with a cold page cache and warmed up by the "
                     "visits that are measured, which is excluded.")
        lines.append(f"{part['rounds']} rounds: closed loop with {part['users']} users for {part['seconds']:g} s, open loop "
                     f"with {part['rate']:g} visits/s for {part['seconds']:g} s. The origin takes {part['delay_ms']} ms for "
                     "each answer.")
    if part["kind"] == "hits":
        lines.append(f"{part['rounds']} rounds over all stores in turn, {part['users']} users, {part['seconds']:g} s each.")
    return lines


def _bound_text(results):
    found = next((result for result in results if figures.disk_bound(result)), None)
    if not found:
        return []
    disk = found["limit"]["disk"]
    return [f"The bound that no store can pass is B / (V (1 - m)): the disk only transfers, one after the other, the bytes of hits that "
            f"memory cannot have. B = {number(disk['bandwidth'] / 1e6)} MB/s (sequential reads, the mean of outer, middle and inner "
            f"tracks), V are the bytes of hits in a visit, and m = {number(figures.in_memory(found))}, the share of the visits to "
            "those most popular pages that fit into memory. The bound of "
            f"{title(found)} is {number(figures.disk_bound(found))} visits/s. Each read costs a positioning, too: the model does "
            f"{number(disk['positionings'])} random reads of 4 KB a second at depth {disk['depth']}. \"Disk busy\" is the share of "
            "the time in which the disk had something to do."]


def _load_section(section, results):
    section.text += _conditions(results[0]) + _bound_text(results)
    section.blocks += [tables.throughput(results), tables.response_times(results, "hit"),
                       tables.response_times(results, "miss"), tables.disk(results), tables.cost(results), tables.workers(results)]
    section.plot = "load_part"


def _hits_section(section, results):
    section.text += _conditions(results[0])
    section.blocks += [tables.hits(results), tables.cost(results), tables.workers(results)]
    section.plot = "hits_part"


def _restart_section(section, results):
    section.text += _conditions(results[0])
    section.text.append(f"{results[0]['parameters']['rounds']} rounds. Killed while 8 users were visiting. Cold page cache, "
                        f"{results[0]['parameters']['model']} model. First hit: the first of 24 objects, asked for in turn.")
    section.blocks.append(tables.restarts(results))
    section.plot = "restart_part"


def _generic_section(section, results):
    """Results that bring their own tables and plots."""
    for result in results:
        section.text += result.get("text", [])
        section.blocks += [Table(t["title"], t["columns"], t["rows"], t.get("note", "")) for t in result.get("tables", [])]
        if result["parameters"]["kind"] == "papers":
            section.plot = "papers_part"


BUILDERS = {"load": _load_section, "hits": _hits_section, "restart": _restart_section}


def sections(results):
    """One for each part."""
    out = []
    for name, group in itertools.groupby(results, key=lambda result: result["part"]):
        group = list(group)
        part = group[0]["parameters"]
        section = Section(f"{name}: {part['title']}", f"./bench {plans.set_of(name, group[0]['scale'])} {name}", group)
        BUILDERS.get(part["kind"], _generic_section)(section, group)
        section.settings = {title(result): result["settings"] for result in group if result.get("settings")}
        out.append(section)
    return out


def _head(results):
    loads = [result["machine"]["load"] for result in results]
    machines = {f"{m['cpu']}, {m['cores']} cores, {m['memoryMb']:,} MB, {m['system']}, kernel {m['kernel']}": None
                for m in (result["machine"] for result in results)}
    versions = {}
    for result in results:
        for name, version in result["versions"].items():
            versions.setdefault(name, {})[version] = None
    return [f"{'; '.join(machines)}. Load average when the runs ended: {min(loads):.1f} to {max(loads):.1f}.",
            "Versions: " + "; ".join(f"{name} {', '.join(found)}" for name, found in sorted(versions.items())) + ".",
            f"Measured from {min(r['started'] for r in results)} on, {sum(r['seconds'] for r in results) / 60:.0f} minutes "
            f"in all, seed {results[0]['seed']}.",
            "Client, origin, proxy and disk model share the machine. Settings are those that each store's documentation "
            "advises, listed with each part; cache_mem is 8 MB and keeps no objects but for the row \"all in cache_mem\", "
            "so that all caching in memory is the store's (clusterfs: staging and read-cache; the others: the page cache), "
            "within the same memory limit."]


def _settings(settings):
    """As a list: first what is the same for all stores. The parts that are one run have lines with names of their own."""
    common = [line for line in next(iter(settings.values())) if all(line in lines for lines in settings.values())]
    if list(settings) == [""]:
        return [f"- `{line}`" for line in settings[""]]
    rest = {store: [line for line in lines if len(settings) == 1 or line not in common] for store, lines in settings.items()}
    named = {"all": common, **rest} if len(settings) > 1 and common else rest
    return [f"- {store}: " + "; ".join(f"`{line}`" for line in lines) for store, lines in named.items() if lines]


def markdown(results):
    """report.md of what Results.all() gives."""
    lines = ["# Benchmark report", "", "`./bench report` made this page from the raw results in the folder runs beside it.\n"]
    lines += [line + "\n" for line in _head(results)]
    if whole := overview.tables(results):
        lines += ["## The whole set", ""] + [table.markdown() for table in whole]
    for section in sections(results):
        lines += [f"## {section.heading}", "", f"    {section.command}", ""] + [line + "\n" for line in section.text]
        lines += [block.markdown() for block in section.blocks if block.rows]
        if section.settings:
            lines += ["Settings:", "", *_settings(section.settings), ""]
    return "\n".join(lines)


def picture_mark(results):
    """What the picture of a set says it was drawn from; empty where the set has none."""
    drawn = "\n".join(tables.throughput(group).markdown() for group in overview.pages(results))
    return f"<!-- SPDX-License-Identifier: GPL-2.0-or-later; drawn from figures {hashlib.sha256(drawn.encode()).hexdigest()[:16]} -->" \
        if drawn else ""


def _html(results):
    """report.html, with plots."""
    from . import plots  # pylint: disable=import-outside-toplevel -- it needs matplotlib, the text does not
    out = ["<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>clusterfs: benchmark report</title>"
           f"<style>{STYLE}</style></head><body><h1>Benchmark report</h1>"]
    out += [f"<p>{html.escape(line)}</p>" for line in _head(results)]
    if whole := overview.tables(results):
        out += ["<h2>The whole set</h2>"] + [table.html() for table in whole]
    for section in sections(results):
        out += [f"<h2>{html.escape(section.heading)}</h2>", f"<p><code>{html.escape(section.command)}</code></p>"]
        out += [f"<p>{html.escape(line)}</p>" for line in section.text]
        out += [getattr(plots, section.plot)(section.results)] if section.plot else []
        out += [block.html() for block in section.blocks if block.rows]
        if section.settings:
            chosen = "\n\n".join(f"{store}\n    " + "\n    ".join(lines) for store, lines in section.settings.items())
            out.append(f"<details><summary>Settings</summary><pre>{html.escape(chosen)}</pre></details>")
    return "\n".join(out + ["</body></html>\n"])


def write(results):
    """Writes the files of a Results. Returns their paths."""
    from . import plots  # pylint: disable=import-outside-toplevel -- it needs matplotlib, the text does not
    found = results.all()
    files = {results.path / "report.md": markdown(found), results.path / "report.html": _html(found)}
    if mark := picture_mark(found):
        files[results.path / "pages.svg"] = f"{mark}\n{plots.pages(overview.pages(found))}"
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return list(files)
