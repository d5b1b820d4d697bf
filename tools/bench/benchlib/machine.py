# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine and the programs that figures belong to, and whether they suffice."""

import hashlib
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess

from . import cgroup, others, stores
from .errors import BenchError
from .load import TREE, Client
from .plans import MB, OTHER_PROXIES
from .processes import port_problem, tool

PROGRAMS = ("diskmodel", "bench-origin", "bench-client", "bench-scale")
#: of /dev/shm, for the disks of all parts but papers, and for the largest of those of part restart
SHM_MB = {"tiny": 700, "quick": 2500, "full": 6000, "more": 9000}
MEMORY_MB = {"tiny": 1000, "quick": 3500, "full": 9000, "more": 12000}


def _first(path, pattern):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(), re.M)
    except OSError:
        return None
    return found[1].strip() if found else None


def facts():
    """What a reader of the figures needs to know of this machine."""
    return {"cpu": _first("/proc/cpuinfo", r"^model name\s*:\s*(.*)$"), "cores": os.cpu_count(),
            "memoryMb": int(_first("/proc/meminfo", r"^MemTotal:\s*(\d+)") or 0) // 1024,
            "kernel": platform.release(), "system": _first("/etc/os-release", r'^PRETTY_NAME="(.*)"$'),
            "load": os.getloadavg()[0]}


def _output(*command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20,
                              check=False).stdout
    except OSError:
        return ""


def versions(setup, names):
    """{program: version} of what takes part."""
    out = {"clusterfs": _output("git", "-C", str(TREE), "describe", "--always", "--dirty").strip() or "no git",
           "python": platform.python_version()}
    found = re.search(r"Version (\S+)", _output(str(setup.squid / "sbin" / "squid"), "-v"))
    out["squid"] = found[1] if found else "?"
    for name in names:
        if name in others.CLASSES:
            out[name] = others.CLASSES[name](_Nowhere, None).version()
    return out


class _Nowhere:
    """Stands for a Place where only the version is wanted."""
    name, port, folder = "", 0, ""


def squid_mark(setup):
    """Tells one build of Squid from another."""
    stat = (setup.squid / "sbin" / "squid").stat()
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def mark(*values):
    """A short name for settings: results of others are not taken for theirs."""
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


# what is missing

def _root():
    if os.geteuid() != 0:
        return ["this is not root: modelled disks, file systems and memory cgroups need root"]
    return []


def _devices():
    out = []
    if not pathlib.Path("/dev/fuse").exists():
        out.append("/dev/fuse is not there: the disk model needs FUSE in the kernel")
    if not pathlib.Path("/dev/loop-control").exists():
        out.append("/dev/loop-control is not there: the disk model needs loop devices in the kernel")
    return out


def _programs(setup, names):
    out = [f"{setup.programs / name} is not there: run make bench-programs" for name in PROGRAMS
           if not (setup.programs / name).exists()]
    if not os.access(setup.squid / "sbin" / "squid", os.X_OK):
        out.append(f"{setup.squid}/sbin/squid is not a program: run make squid-7, or give an installed Squid by --squid")
    needed = {"losetup": "the disk model", **stores.programs(names)}
    out += [f"{name} is not installed, needed by {why}" for name, why in needed.items() if not tool(name)]
    try:
        others.check([name for name in names if name in OTHER_PROXIES])
    except BenchError as error:
        out.append(str(error))
    return out


def _experiments(setup, scale, parts):
    """What the parts papers and polygraph need beside."""
    kinds, out = {part.kind for part in parts}, []
    if "papers" in kinds:
        from . import papers, papers_plan  # pylint: disable=import-outside-toplevel -- only here
        out += papers.missing(papers_plan.cases(scale, xfs=bool(tool("mkfs.xfs"))))
        if not (setup.programs / "bench-papers").exists():
            out.append(f"{setup.programs / 'bench-papers'} is not there: run make bench-programs")
    if "polygraph" in kinds:
        from . import polygraph  # pylint: disable=import-outside-toplevel -- only here
        try:
            polygraph.Installation(setup.polygraph)
        except BenchError as error:
            out.append(str(error))
    return out


def _space(scale):
    out = []
    try:
        free = shutil.disk_usage("/dev/shm").free // MB
    except OSError as error:
        return [f"/dev/shm: {error.strerror}: the disks are modelled there"]
    if free < SHM_MB[scale]:
        out.append(f"/dev/shm has {free} MB free, the modelled disks take up to {SHM_MB[scale]} MB: remove what is there, "
                   "or mount -o remount,size=... /dev/shm")
    available = int(_first("/proc/meminfo", r"^MemAvailable:\s*(\d+)") or 0) // 1024
    if available < MEMORY_MB[scale]:
        out.append(f"{available} MB of memory are available, {MEMORY_MB[scale]} MB are needed (the disks lie in memory)")
    return out


def _trace(setup):
    """The load generator judges a trace; it says what is wrong with it."""
    if not setup.trace:
        return []
    if not setup.trace.is_file():
        return [f"--trace {setup.trace}: there is no such file"]
    if not (setup.programs / "bench-client").exists():
        return []
    try:
        Client("pages", ("--trace", str(setup.trace)), 0, 0, ".", setup.programs).describe()
    except BenchError as error:
        return [str(error)]
    return []


def _matplotlib():
    if importlib.util.find_spec("matplotlib"):
        return []
    return ["Python has no matplotlib, which draws the report: apt-get install python3-matplotlib"]


def check(setup, scale, parts):
    """A BenchError with everything that is missing, before anything was started."""
    names = sorted({store for part in parts for store in part.stores})
    problems = (_root() + _devices() + _programs(setup, names) + _experiments(setup, scale, parts) + _space(scale)
                + _matplotlib())
    if not problems:
        problems = [problem for problem in [cgroup.problem()] if problem]
    most = max([len(part.stores) if part.kind == "hits" else 1 for part in parts], default=1)
    ports = [(setup.origin_port, "--origin-port")] + [(setup.port + n, "--port") for n in range(most)]
    problems += [problem for port, option in ports if (problem := port_problem(port, option))]
    problems += _trace(setup)
    if problems:
        raise BenchError("cannot measure here:\n" + "\n".join(f"  - {problem}" for problem in problems))
