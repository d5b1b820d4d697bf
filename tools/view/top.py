# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs top: the figures of running Squids, one after the other as text or in a terminal. clusterfs-top(8) describes it."""

import argparse
import concurrent.futures
import locale
import os
import shutil
import sys
import threading
import time

from . import screen
from .metrics import Address, BadRequest, Source, password_of

try:
    import curses
except ImportError:  # some systems have it apart
    curses = None

SOON = 1  # seconds after which the second question comes, if that is sooner than the interval: the first has no rates


def once(sources, interval, drawing, width):
    """Prints what has happened in an interval; 1 where a Squid cannot be read."""
    with concurrent.futures.ThreadPoolExecutor(len(sources)) as pool:
        list(pool.map(Source.read, sources))
        time.sleep(interval)
        list(pool.map(Source.read, sources))
    listed = screen.rows(sources)
    blocks = [screen.table(listed, None, drawing, width)] if len(listed) > 1 else []
    blocks += [screen.details(source, dir_, drawing, width) for source, dir_ in listed]
    print(drawing.plain("\n\n".join("\n".join("".join(text for text, _ in line).rstrip() for line in block) for block in blocks)))
    return 1 if any(source.error for source in sources) else 0


class Asking:
    """Asks a Squid again and again, in a thread that ends with the program."""

    def __init__(self, source, interval, paused):
        self._source, self._interval, self._paused = source, interval, paused
        self.answers = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            began = time.monotonic()
            self._source.read()
            self.answers += 1
            wait = min(SOON, self._interval) if self.answers == 1 else self._interval
            time.sleep(max(0, began + wait - time.monotonic()))
            while self._paused.is_set():
                time.sleep(0.1)


class Live:
    """The screen in a terminal, until q is typed."""
    COLOURS = {"good": "GREEN", "warn": "YELLOW", "bad": "RED", "title": "CYAN",
               "part0": "CYAN", "part1": "BLUE", "part2": "YELLOW", "part3": "WHITE", "part4": "WHITE"}

    def __init__(self, window, sources, interval, drawing):
        self._window, self._sources, self._interval, self._drawing = window, sources, interval, drawing
        self._view = screen.View(drawing)
        self._paused = threading.Event()
        window.timeout(100)
        try:
            curses.curs_set(0)
        except curses.error:
            pass  # this terminal cannot hide it
        self._marks = {"": 0, "dim": curses.A_DIM, "head": curses.A_BOLD, "chosen": curses.A_BOLD, "bar": curses.A_REVERSE}
        colours = curses.has_colors()
        if colours:
            curses.use_default_colors()
        for number, (mark, colour) in enumerate(self.COLOURS.items(), 1):
            if colours:
                curses.init_pair(number, getattr(curses, f"COLOR_{colour}"), -1)
            bold = 0 if mark.startswith("part") else curses.A_BOLD
            self._marks[mark] = bold | (curses.color_pair(number) if colours else 0)

    def run(self):
        asking = [Asking(source, self._interval, self._paused) for source in self._sources]
        shown = None
        while True:
            now = (time.strftime("%H:%M:%S"), [a.answers for a in asking])
            if now != shown:
                self._show()
                shown = now
            key = self._window.getch()
            if key in (ord("q"), ord("Q")):
                return
            if key != -1:
                self._obey(key)
                shown = None

    def _obey(self, key):
        step = {curses.KEY_DOWN: 1, ord("j"): 1, ord("\t"): 1, curses.KEY_UP: -1, ord("k"): -1, curses.KEY_BTAB: -1}.get(key, 0)
        if step:
            self._view.choose(self._sources, step)
        elif key in (ord("p"), ord("P"), ord(" ")):
            (self._paused.clear if self._paused.is_set() else self._paused.set)()
        elif key in (curses.KEY_NPAGE, curses.KEY_PPAGE):
            self._view.scroll(1 if key == curses.KEY_NPAGE else -1)

    def _show(self):
        height, width = self._window.getmaxyx()
        width -= 1  # the last place of the window cannot be written
        state = "paused" if self._paused.is_set() else f"every {self._interval:g} s"
        self._window.erase()
        for row, line in enumerate(self._view.frame(self._sources, time.strftime("%H:%M:%S"), state, width, height)):
            column = 0
            for text, mark in line:
                if column < width:
                    self._window.addstr(row, column, self._drawing.plain(text[:width - column]), self._marks[mark])
                column += len(text)
        self._window.refresh()


def live(sources, interval, drawing):
    if not curses:
        raise BadRequest("this Python has no curses: use --once, or install it")
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        raise BadRequest("standard input and output are no terminal: use --once")
    try:
        curses.wrapper(lambda window: Live(window, sources, interval, drawing).run())
    except curses.error as error:
        raise BadRequest(f"the terminal '{os.environ.get('TERM', '')}' does not suit: {error}; use --once") from error
    except KeyboardInterrupt:
        pass
    return 0


def main(words):
    parser = argparse.ArgumentParser(prog="top")
    parser.add_argument("--interval", type=float, required=True)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--password-file", default="")
    parser.add_argument("urls", nargs="+")
    given = parser.parse_args(words)
    locale.setlocale(locale.LC_ALL, "")
    drawing = screen.Drawing("utf" in locale.nl_langinfo(locale.CODESET).lower())
    try:
        password = password_of(given.password_file, os.environ)
        sources = [Source(Address(url), password) for url in dict.fromkeys(given.urls)]
        if given.once:
            return once(sources, given.interval, drawing, max(screen.LEAST, shutil.get_terminal_size((100, 24)).columns))
        return live(sources, given.interval, drawing)
    except BadRequest as error:
        print(f"clusterfs: top: {error} (clusterfs help top)", file=sys.stderr)
        return 2
