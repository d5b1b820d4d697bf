# SPDX-License-Identifier: GPL-2.0-or-later
"""What all runs of one ./bench share: programs, ports, folders, options."""

import dataclasses
import pathlib
import re
import shutil
import tempfile

from .disk import Disk
from .load import BUILD, Client, Origin
from .plans import MB, disk_mb, program_mb
from .processes import shielded
from .stores import Place, diskless


@dataclasses.dataclass
class Setup:
    """Given once, from the command line."""
    squid: pathlib.Path
    programs: pathlib.Path = BUILD
    port: int = 13128
    origin_port: int = 18080
    trace: pathlib.Path | None = None
    polygraph: pathlib.Path | None = None
    seed: int = 1
    check_bodies: bool = True

    def corpus_options(self, part):
        """bench-client's options that say what there is to visit in a part."""
        trace = ("--trace", str(self.trace)) if self.trace and part.workload == "pages" else ()
        return (*part.corpus, *trace)


class Bench:
    """The folder, origin and load generator of one run, and the disks of its stores. A context."""

    def __init__(self, setup, part, delay_ms=0):
        self.setup, self.part, self._delay = setup, part, delay_ms
        base = setup.programs / "build"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-run-", dir=base if base.is_dir() else None))
        self.folder.chmod(0o755)  # Squid's user must get through
        self.origin = None

    def __enter__(self):
        try:
            self.origin = Origin(self.setup.origin_port, self._delay, self.setup.programs)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with shielded():
            if self.origin:
                self.origin.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, port=None, reverse=False):
        """The load generator for the proxy on this port."""
        return Client(self.part.workload, self.setup.corpus_options(self.part), self.setup.origin_port,
                      port or self.setup.port, self.folder, self.setup.programs, reverse)

    def place(self, store, cache_mb, memory_mb, number=0):
        """Where a store's proxy runs. memory_mb: what its cache may use beside the program."""
        return Place(store, number, self.folder / f"{store}{number}", self.setup.port + number, self.setup.origin_port,
                     self.setup.squid, cache_mb, (memory_mb + program_mb(self.part.processes)) * MB, self.part.workload)

    def disk(self, store, cache_mb, number=0):
        """A new modelled disk for it, which passes for one of the part's model; nothing where it needs none."""
        if diskless(store):
            return NoDisk()
        return Disk(model=self.part.model, size=disk_mb(cache_mb) * MB, programs=self.setup.programs,
                    name=f"bench{number}{re.sub('[^a-z]', '', store)}")


class NoDisk:
    """Stands for the disk of a store without one."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def stats(self):
        """No counters."""
        return {}

    def set(self, **_):
        """Nothing to set."""
