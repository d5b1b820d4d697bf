# SPDX-License-Identifier: GPL-2.0-or-later
"""What ends ./bench with a message instead of a traceback."""


class BenchError(Exception):
    """A message that names the thing, the value and the way out."""
