# SPDX-License-Identifier: GPL-2.0-or-later
"""A modelled disk as a context: tools/diskmodel below a loop device.

The program owns everything: FUSE mount, folder, loop device, store. It ends, and takes all of that with it,
when its standard input ends. So nothing stays behind, however this program ends."""

import contextlib
import json
import os
import pathlib
import select
import subprocess
import tempfile

from .errors import BenchError
from .load import BUILD, program
from .processes import shielded

START_SECONDS = 30
END_SECONDS = 60  # it gives others time to close the device, too
SPINNING = ("hdd", "hdd10k")


class DiskError(BenchError):
    """A disk that cannot be had, or does not do what it should; the message says why."""


class Disk:
    """A block device that takes as long as a disk would. device: its path; file: the same as a file, without the
    loop device in between; folder: where that is.

    model: hdd, hdd10k, ssd or fast; size: bytes; record: a file that all writes are recorded in, for replay();
    store: a file that keeps the contents (default: memory); programs: the folder of diskmodel; options: more
    options of "diskmodel serve", as strings; parameters: of the model, as ncq=1."""

    def __init__(self, model="hdd", size=8 << 30, name="disk", record=None, store=None, scheduler=None,
                 programs=BUILD, options=(), **parameters):
        self._program = program("diskmodel", programs)
        self._command = [str(self._program), "serve", "--until-eof", f"--model={model}", f"--size={size}",
                         f"--name={name}", *options]
        if parameters:
            self._command.append("--set=" + _settings(parameters))
        for option, value in (("record", record), ("store", store), ("scheduler", scheduler)):
            if value is not None:
                self._command.append(f"--{option}={value}")
        self.size, self.record = size, record
        self.device = self.folder = self.file = None
        self._process = self._errors = None
        self._spinning, self._scheduler = model in SPINNING, scheduler

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            with contextlib.suppress(DiskError):
                self.close()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except DiskError:
            if kind is None:  # or else that one says more
                raise

    def _start(self):
        self._errors = tempfile.TemporaryFile("w+")
        try:
            # a session of its own: Ctrl-C is for us, who may have to unmount first
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._errors, start_new_session=True)
        except OSError as error:
            raise DiskError(f"cannot start {self._program}: {error.strerror}") from None
        ready, _, _ = select.select([self._process.stdout], [], [], START_SECONDS)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            self._end()
            raise DiskError(self._said() or f"{self._program} did not start within {START_SECONDS} s")
        place = json.loads(line)
        self.folder, self.file = pathlib.Path(place["folder"]), pathlib.Path(place["file"])
        self.device = place.get("device")

    def _said(self):
        self._errors.seek(0)
        return self._errors.read().strip()[-1000:]

    def _end(self):
        """Waits for the program, which unmounts and detaches."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its server cleans up then
            self._process.wait()
        self._process.stdout.close()

    def close(self):
        """Takes the disk away; file systems must be unmounted before. May be called twice."""
        with shielded():
            process, errors = self._process, self._errors
            if process and process.returncode is None:
                self._end()
            said = self._said() if errors else ""
            if errors:
                errors.close()
            self._process = self._errors = None
        if process and process.returncode != 0 and self.folder:
            raise DiskError(f"the modelled disk ended with {process.returncode}: {said}")

    def command(self, line):
        """Says a line to the program: see diskmodel --help."""
        self._check()
        with open(self.folder / "ctl", "wb", buffering=0) as ctl:
            try:
                ctl.write(line.encode())
                return
            except OSError:
                pass  # the file itself says why
        raise DiskError(f"the modelled disk was told '{line}': {(self.folder / 'ctl').read_text().strip()}")

    def _check(self):
        if not self._process or self._process.poll() is not None:
            raise DiskError(f"the modelled disk is gone: {self._said() if self._errors else 'it was closed'}")

    def set(self, **parameters):
        """Changes the model (model="fast") or its parameters while it runs; the data stay. The block device passes
        for a spinning one, and gets the scheduler for that, if the last model but fast is one: so make a disk as
        what it will be measured as, and fill it in the fast model after."""
        self.command("set " + _settings(parameters))
        model = parameters.get("model", "fast")
        if model != "fast" and self.device and (model in SPINNING) != self._spinning:
            self._spinning = model in SPINNING
            self._queue("rotational", "1" if self._spinning else "0")
            if not self._scheduler:
                self._queue("scheduler", "mq-deadline" if self._spinning else "none")

    def _queue(self, name, value):
        path = pathlib.Path("/sys/block", pathlib.Path(self.device).name, "queue", name)
        try:
            path.write_text(value)
        except OSError as error:
            raise DiskError(f"cannot write {value} to {path}: {error.strerror}") from None

    def stats(self):
        """{name: number or text} of everything that the disk counts; see docs/diskmodel.md."""
        self._check()
        return json.loads((self.folder / "stats").read_text())

    def reset(self):
        """Counts anew."""
        self.command("reset")

    def fault(self, op, kind, **how):
        """Injects faults: op read, write or flush; kind error, corrupt, short, torn, lost, delay; how: offset,
        length (bytes), count, probability, value."""
        self.command(" ".join(["fault", op, kind, *(f"{name}={value}" for name, value in how.items())]))

    def clear_faults(self):
        """No faults any more."""
        self.command("clear")

    def cut(self):
        """Power fails: all requests fail from now on, nothing is stored."""
        self.command("cut")

    def revive(self):
        """Power is back, with everything that was stored. For what a power cut leaves, see replay()."""
        self.command("revive")

    def mark(self, number):
        """Puts a mark into the record of writes."""
        self.command(f"mark {number}")

    def replay(self, image, mode="subset", **options):
        """Makes an image of what a power cut would have left on the disk, from its record; options: upto, mark,
        fraction, seed, base. Returns what was done."""
        return replay(self.record, image, mode, programs=self._program.parent, **options)


def replay(record, image, mode="subset", programs=BUILD, **options):
    """The same, of a disk that is gone."""
    return json.loads(_run(program("diskmodel", programs), "replay", record, image, f"--mode={mode}",
                           *(f"--{name}={value}" for name, value in options.items())))


def predict(model="hdd", size=8 << 30, programs=BUILD, write=False, sequential=False, block=4096, depth=1,
            requests=2000, seed=1, **parameters):
    """What the model itself says of a load, in simulated time: {requestsPerSecond, megabytesPerSecond, ...}."""
    flags = ["--write"] * bool(write) + ["--sequential"] * bool(sequential)
    settings = ["--set=" + _settings(parameters)] if parameters else []
    return json.loads(_run(program("diskmodel", programs), "predict", f"--model={model}", f"--size={size}",
                           f"--block={block}", f"--depth={depth}", f"--requests={requests}", f"--seed={seed}",
                           *flags, *settings))


def _settings(parameters):
    first = [name for name in parameters if name == "model"]  # it changes all the others
    return ",".join(f"{name}={parameters[name]}" for name in first + [name for name in parameters if name != "model"])


def _run(*command):
    try:
        done = subprocess.run([os.fspath(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        raise DiskError(f"{' '.join(map(str, command))}: not done within 600 s") from None
    if done.returncode != 0:
        raise DiskError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout
