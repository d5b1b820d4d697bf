# SPDX-License-Identifier: GPL-2.0-or-later
"""Many clients at once, each body checked."""

import collections
import threading

from squidkit.client import BROKEN, Client, WrongBytes


class Load:
    """Threads that fetch the URLs of an iterable. Limits: its length, and stop().

    tolerant: cut connections and error pages are counted, not failures (Squid is being killed);
    wrong bytes always are.
    """

    def __init__(self, port, urls, threads=8, tolerant=False, headers=None):
        self._urls, self._lock = iter(urls), threading.Lock()
        self._client = Client(port, keep_alive=True)
        self._tolerant, self._headers = tolerant, headers or {}
        self._stop = threading.Event()
        self.done, self.bytes, self.broken = 0, 0, 0
        self.replies = collections.deque(maxlen=100000)  # (url, version, request id)
        self.failure = None
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _next(self):
        with self._lock:
            return next(self._urls, None)

    def _work(self):
        try:
            while not self._stop.is_set() and (url := self._next()) is not None:
                self._one(url)
        except Exception as error:  # pylint: disable=broad-except -- handed to join()
            self.failure = self.failure or error
            self._stop.set()
        finally:
            self._client.reset()

    def _one(self, url):
        try:
            reply = self._client.request(url, **self._headers)
            if self._tolerant and (not reply.complete or reply.status != 200):
                if reply.status == 200:
                    reply.check_prefix()
                raise ConnectionError(reply.error)
            reply.check()
        except WrongBytes:
            raise
        except BROKEN:
            if not self._tolerant:
                raise
            with self._lock:
                self.broken += 1
            return
        with self._lock:
            self.done += 1
            self.bytes += len(reply.body)
            self.replies.append((url, reply.version, reply.id))

    def stop(self):
        self._stop.set()
        return self

    def join(self, timeout=300):
        """Waits for the end and raises the first failure."""
        for thread in self._threads:
            thread.join(timeout)
            if thread.is_alive():
                self._stop.set()
                raise AssertionError(f"clients still at work after {timeout} s")
        if self.failure:
            raise self.failure
        return self


def fetch_all(port, urls, threads=8, **options):
    """Fetches every URL once and checks every byte."""
    return Load(port, urls, threads, **options).join()
