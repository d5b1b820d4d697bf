# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the modelled disk are given: disks, direct I/O, fio, and a look at what is left behind."""

import contextlib
import functools
import itertools
import json
import mmap
import os
import pathlib
import subprocess
import tempfile
import time

from benchlib import disk as disks

MB = 1 << 20
BLOCK = 4096


def timed(function):
    """For a test of speed: other programs may spoil it, so it may fail twice."""
    @functools.wraps(function)
    def tried(context):
        for left in (2, 1, 0):
            try:
                return function(context)
            except AssertionError as error:
                if not left:
                    raise
                print(f"again: {error}")
    return tried


def between(what, value, least, most):
    assert least <= value <= most, f"{what}: {value:.4g} is not between {least:.4g} and {most:.4g}"


@contextlib.contextmanager
def fails(words, kind=Exception):
    """What is done inside fails with a message that has these words."""
    try:
        yield
    except kind as error:
        assert words in str(error), f"'{words}' is not in: {error}"
        return
    raise AssertionError(f"nothing failed with '{words}'")


class Device:
    """Direct reads and writes of whole blocks, so that no page cache is in between. A context."""

    def __init__(self, path):
        self._path, self._fd = path, None

    def __enter__(self):
        self._fd = os.open(self._path, os.O_RDWR | os.O_DIRECT)
        return self

    def __exit__(self, *_):
        os.close(self._fd)

    def read(self, offset, size=BLOCK):
        """What is there; may be shorter than asked for."""
        with mmap.mmap(-1, size) as buffer:
            count = os.preadv(self._fd, [buffer], offset)
            return buffer[:count]

    def write(self, offset, data):
        with mmap.mmap(-1, len(data)) as buffer:
            buffer[:] = data
            assert os.pwritev(self._fd, [buffer], offset) == len(data)

    def flush(self):
        os.fsync(self._fd)


def pattern(number, size=BLOCK):
    """Bytes that no other number has, different in each sector."""
    return b"".join(f"{number:015d}.{sector:015d}.".encode() * 16 for sector in range(size // 512))


class Context:
    """For one test. programs: the folder of diskmodel."""
    _count = itertools.count(1)

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.program = programs / "diskmodel"
        self._name = f"t{os.getpid()}x"

    def name(self):
        """A name for a disk that no other has."""
        return f"{self._name}{next(self._count)}"

    def disk(self, model="hdd", size=1 << 30, **how):
        """A modelled disk, to be used as a context."""
        return disks.Disk(model=model, size=size, name=self.name(), programs=self.programs, **how)

    def predict(self, **load):
        """Requests a second and MB a second that the model gives in simulated time."""
        found = disks.predict(programs=self.programs, **load)
        return found["requestsPerSecond"], found["megabytesPerSecond"]

    def start(self, *options, size=64 * MB, until_eof=True):
        """The program itself, running: (process, what it printed). The caller ends it."""
        command = [str(self.program), "serve", f"--size={size}", f"--name={self.name()}", *options]
        command += ["--until-eof"] * until_eof
        process = subprocess.Popen(command, stdin=subprocess.PIPE if until_eof else subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        return process, json.loads(process.stdout.readline())

    def refused(self, words, *arguments, prefix=(), **how):
        """The program ends at once with an error that has these words."""
        done = subprocess.run([*prefix, str(self.program), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, **how)
        assert done.returncode == 2 and words in done.stderr, f"{done.returncode} {done.stderr!r} has no '{words}'"

    def leftovers(self, patience=0.0):
        """Everything that looks like a disk of this run."""
        limit = time.monotonic() + patience
        while (found := self._leftovers()) and time.monotonic() < limit:
            time.sleep(0.05)
        return found

    def _leftovers(self):
        found = [f"mount {line.split()[1]}" for line in pathlib.Path("/proc/mounts").read_text().splitlines()
                 if self._name in line]
        for path in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
            with contextlib.suppress(OSError):
                if self._name in path.read_text():
                    found.append(f"loop device {path.parts[3]}")
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if f"--name={self._name}" in path.read_bytes().decode(errors="replace"):
                    found.append(f"process {path.parent.name}")
        base = pathlib.Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
        return found + [f"folder {path}" for path in base.glob(f"diskmodel-{self._name}*")]


def fio(path, rw, block, depth, seconds=2.5, options=("--norandommap",)):
    """(requests a second, MB a second, mean response in ms) of a load on a device."""
    command = ["fio", "--name=load", f"--filename={path}", f"--rw={rw}", f"--bs={block}", f"--iodepth={depth}",
               "--ioengine=libaio", "--direct=1", "--time_based", f"--runtime={seconds * 1000:.0f}ms", "--randrepeat=0",
               "--allow_mounted_write=1", "--output-format=json", *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-500:]} {done.stderr[-500:]}"
    job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]
    side = job["read"] if job["read"]["io_bytes"] else job["write"]
    return side["iops"], side["bw_bytes"] / 1e6, side["clat_ns"]["mean"] / 1e6
