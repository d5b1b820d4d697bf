# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of the papers (Hummingbird, CFS, Damelo, TFS), by the calls of each paper and on files: part papers."""

import json
import pathlib
import re
import tempfile

from . import cgroup, papers_plan, papers_tables
from .errors import BenchError
from .load import BUILD
from .papers_run import MB, SLACK_MB, MemoryExhausted, PapersRun
from .processes import checked, tool

#: fio's jobs beside the phases of experiment bandwidth: what, block size (None: what an object takes), depth
FIO = {"pack": ("write", MB, 8), "read": ("randread", None, 32)}
BLOCK = 4096  # bytes
FIO_TIMEOUT = 900


def missing(cases):
    """What must be installed for these cases and is not."""
    wanted = {"mkfs.ext4": any(case.store.startswith("ext4") for case in cases),
              "mkfs.xfs": any(case.store == "xfs" for case in cases),
              "fio": any(case.experiment == "bandwidth" for case in cases)}
    packages = {"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs", "fio": "fio"}
    return [f"{name} is not installed (Debian package {packages[name]})"
            for name, needed in wanted.items() if needed and not tool(name)]


def fio(device, offset, size, job, block, depth):
    """Bytes a second of one fio job with direct, asynchronous I/O on a part of a device, the flush at its end included."""
    out = checked("fio", f"--name={job}", f"--filename={device}", f"--rw={job}", f"--bs={block}", f"--iodepth={depth}",
                  f"--offset={offset}", f"--size={size}", "--ioengine=libaio", "--direct=1", "--end_fsync=1",
                  "--output-format=json", timeout=FIO_TIMEOUT)
    try:
        return json.loads(out[out.index("{"):])["jobs"][0]["write" if job == "write" else "read"]["bw_bytes"]
    except (ValueError, KeyError, IndexError) as error:
        raise BenchError(f"fio's output cannot be read: {error}: {out[-300:]}") from None


def _fio_beside(case, disk, run):
    """What fio does on the device for the phases of a bandwidth run, on that device."""
    workload, start = run["workload"], 0
    blocks = workload["size"] // BLOCK + 1  # an object with its header does not end where a block does
    out = {}
    disk.set(model=case.model)
    for name, (job, size, depth) in FIO.items():
        size = size or blocks * BLOCK
        useful = 1 if job == "write" else workload["size"] / size
        speed = fio(disk.device, start, workload["objects"] * workload["size"], job, size, depth)
        out[name] = {"what": f"{job} bs={size // 1024}k iodepth={depth}", "bytesPerSecond": speed * useful}
    disk.set(model="fast")
    return out


def run_case(case, disk_class, programs=BUILD, seed=1, extra=()):
    """One run on a disk of its own: the JSON of PapersRun.run(), for bandwidth with fio's figures."""
    for slack in SLACK_MB:
        try:
            result = _attempt(case, disk_class, programs, seed, extra, slack)
            break
        except MemoryExhausted:
            if slack == SLACK_MB[-1]:
                raise
    wrong = result["checks"]["bad"]
    if wrong:
        raise BenchError(f"{case.experiment} on {case.store}: {wrong} objects were not read as they were stored")
    return result


def _attempt(case, disk_class, programs, seed, extra, slack):
    base = pathlib.Path(programs) / "build"
    name = f"papers{re.sub('[^a-z]', '', case.store)}"
    with tempfile.TemporaryDirectory(prefix="bench-papers-", dir=base if base.is_dir() else None) as folder, \
            disk_class(model=case.model, size=case.disk * MB, name=name, programs=programs) as disk:
        disk.set(model="fast")
        result = PapersRun(case, disk, folder, programs, seed, extra, slack).run()
        if case.experiment == "bandwidth":
            result["fio"] = _fio_beside(case, disk, result)
    return result


def run_cases(cases, disk_class, step, programs=BUILD, seed=1, extra=()):
    """All of them. Returns (results, messages of those that failed). step: called with what is done."""
    runs, failed = [], []
    for number, case in enumerate(cases):
        step(f"{case.experiment} {case.label} {case.store} {' '.join(case.settings[:1])}".rstrip() + f" ({number + 1}/{len(cases)})")
        try:
            runs.append(run_case(case, disk_class, programs, seed, extra))
        except BenchError as error:
            failed.append(f"{case.experiment} {case.label} on {case.store}: {error}")
    if not runs:
        raise BenchError("; ".join(failed) or "no experiment was chosen")
    return runs, failed


def result_of(runs, failed, model):
    """What goes into the folder of results and the report."""
    text = [f"Each store has the same modelled disk ({model}) and the same memory for objects: staging, read "
            "cache and locality, or the proxy's memory cache and the page cache, in a memory cgroup. What only fills a store or empties it is "
            "done with the disk in its fast model. Every object that was read was compared with what was stored.",
            "clusterfs is used by the calls of each paper: hummingbird.h with collocate_files() for the objects of the page that a client "
            "asked for last, and its daemons; cfs.h with sync() after each call; damelo.h with love() for the groups of popular objects and "
            "hate() for the others; accelerator.h in front of the files of ext4, on the same disk; a queue of clusterfs.h."]
    text += [f"Scale, {experiment}: {scale}." for experiment, scale in
             dict.fromkeys((run["case"]["experiment"], run["case"]["scale"]) for run in runs)]
    if cgroup.problem():
        text.append(f"Memory was NOT limited: {cgroup.problem()}.")
    if not tool("mkfs.xfs"):
        text.append("XFS was left out: mkfs.xfs is not installed (Debian package xfsprogs).")
    text += [f"{run['case']['experiment']} {run['case']['label']} on {run['case']['store']} had {run['slack'] // MB} MB more than "
             "its memory, since with less it was killed at the limit." for run in runs if run["slack"] > SLACK_MB[0] * MB]
    text += [f"Failed: {message}" for message in failed]
    settings = {}
    for run in runs:
        settings.setdefault(f"{run['case']['experiment']} on {run['case']['store']}", run["storeSettings"])
    return {"text": text, "tables": papers_tables.all_tables(runs), "runs": runs, "failed": failed,
            "settings": [f"{name}: {'; '.join(lines)}" for name, lines in settings.items()]}


def run_part(setup, part, scale, step):
    """Part papers of ./bench: {"": result}."""
    from .disk import Disk  # what only a run needs
    del part
    cases = papers_plan.cases(scale, xfs=bool(tool("mkfs.xfs")))
    absent = missing(cases)
    if absent:
        raise BenchError("part papers: " + "; ".join(absent))
    runs, failed = run_cases(cases, Disk, step, setup.programs, setup.seed)
    return {"": result_of(runs, failed, papers_plan.SCALES[scale].model)}
