# SPDX-License-Identifier: GPL-2.0-or-later
"""What is being done, and how long the rest will take."""

import sys
import time


def text(seconds):
    """Seconds for people."""
    seconds = round(seconds)
    if seconds < 100:
        return f"{seconds} s"
    if seconds < 5400:
        return f"{(seconds + 30) // 60} min"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


class Progress:
    """estimates: seconds of each run to come, in order."""

    def __init__(self, estimates, out=sys.stdout):
        self._estimates, self._out = list(estimates), out
        self._done, self._begin = 0, time.monotonic()
        self._planned = self._taken = 0.0
        self._run_begin, self._label = self._begin, ""
        self._live = out.isatty()

    def left(self):
        """Seconds that the runs to come will take, as far as those done tell."""
        pace = self._taken / self._planned if self._planned > 20 else 1.0
        current = max(0.0, (self._estimates[self._done] if self._done < len(self._estimates) else 0) * pace -
                      (time.monotonic() - self._run_begin))
        return sum(self._estimates[self._done + 1:]) * pace + current

    def begin(self, label):
        """The next run."""
        self._label, self._run_begin = label, time.monotonic()
        self.step("start")

    def step(self, what):
        """What the current run does now."""
        line = (f"[{self._done + 1}/{len(self._estimates)}] {self._label}: {what}; "
                f"{text(time.monotonic() - self._begin)} so far, about {text(self.left())} left")
        if self._live:
            print(f"\r\033[K{line}", end="", file=self._out, flush=True)
        else:
            print(line, file=self._out, flush=True)

    def end(self, verdict):
        """The current run is over."""
        took = time.monotonic() - self._run_begin
        self._planned += self._estimates[self._done]
        self._taken += took
        self._done += 1
        print(f"{chr(13) + chr(27) + '[K' if self._live else ''}[{self._done}/{len(self._estimates)}] {self._label}: "
              f"{verdict}, {text(took)}", file=self._out, flush=True)
