# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal that a test can read: a program in a pseudo-terminal, drawn by pyte."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte


class Terminal:
    """Runs a program. env: beside the usual environment. pyte knows what the terminal "linux" does."""
    KEYS = {"tab": b"\t", "down": b"\033[B", "up": b"\033[A", "page down": b"\033[6~"}

    def __init__(self, *words, columns=80, rows=24, env=()):
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            self._resize(0, columns, rows)
            os.environ.update(TERM="linux", LC_ALL="C.UTF-8")
            os.environ.update(env)
            os.execvp(words[0], list(map(str, words)))

    @staticmethod
    def _resize(fd, columns, rows):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self._screen.resize(rows, columns)
        self._resize(self._fd, columns, rows)

    def type(self, key):
        os.write(self._fd, self.KEYS.get(key) or key.encode())

    def lines(self):
        return [line.rstrip() for line in self._screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait_for(self, condition, what, seconds=60):
        """Until condition(text of the screen)."""
        until = time.monotonic() + seconds
        while not condition(self.text()):
            assert time.monotonic() < until and self._read(), f"no {what} on the screen:\n{self.text()}"
        return self.text()

    def _read(self):
        """False when the program has ended."""
        if select.select([self._fd], [], [], 0.2)[0]:
            try:
                self._stream.feed(os.read(self._fd, 65536))
            except OSError:
                return False
        return True

    def end(self, seconds=60):
        """Waits for the end; returns the exit code."""
        until = time.monotonic() + seconds
        while self._read() and time.monotonic() < until:
            pass
        return self._reap()

    def _reap(self):
        pid, self._pid = self._pid, None
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            self._reap()
        os.close(self._fd)
