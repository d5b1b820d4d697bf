# SPDX-License-Identifier: GPL-2.0-or-later
"""What each disk model can do, measured once for each size and depth and kept with the results."""

import json

from . import probe
from .disk import Disk
from .plans import MB, disk_mb


class Limits:
    """path: the JSON file that keeps them; programs: the folder of diskmodel."""

    def __init__(self, path, programs):
        self._path, self._programs = path, programs
        self._known = json.loads(path.read_text()) if path.exists() else {}

    def of(self, model, cache_mb, depth):
        """{positionings, bandwidth, depth, bytes}: see probe.measure()."""
        key = f"{model} {cache_mb} {depth}"
        if key not in self._known:
            with Disk(model=model, size=disk_mb(cache_mb) * MB, name="benchlimit", programs=self._programs) as disk:
                self._known[key] = probe.measure(disk.device, cache_mb * MB, depth)
            self._path.write_text(json.dumps(self._known, indent=1))
        return self._known[key]
