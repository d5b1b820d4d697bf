# SPDX-License-Identifier: GPL-2.0-or-later
"""Crashes and damaged media: objects may be lost, none may be wrong."""

import os
import random
import shutil
import signal

import pytest

from squidkit.processes import wait_for
from testlib.load import Load
from testlib.stores import LIVELY

MB = 1 << 20


def mixture(t, prefix, count):
    """Small, middle and large objects, with and without announced length."""
    sizes = (300, 5000, 20000, 90000, 270000, 1500000)
    urls = []
    for n in range(count):
        how = {"chunked": 1} if n % 3 == 0 else {}
        urls.append(t.url(f"{prefix}{n}", size=sizes[5 if n % 30 == 5 else n % 5] + n, **how))
    return urls


@pytest.mark.quick
def test_kill_under_load(t):
    """kill -9 while clients load and replace objects, three times over."""
    squid = t.running("client_db off", megabytes=256, options=t.by_store("", clusterfs=LIVELY))
    urls, seen = mixture(t, "object", 250), []
    for round_number in range(3):
        order = random.Random(round_number).sample(urls, len(urls))
        load = Load(squid.port, order * 2, threads=10, tolerant=True,
                    headers={"Cache-Control": "no-cache"} if round_number else {})
        wait_for(lambda: load.done + load.broken >= 150, "some load")
        squid.kill()
        load.stop().join()
        squid.start()
        found = t.survivors(squid, urls)
        seen.append(len(found))
        for url in urls[round_number::4]:
            t.origin.change(url)
    t.fetch_all(squid, urls)
    squid.restart()
    found = len(t.survivors(squid, urls))
    assert found >= len(urls) * t.by_store(1, rock=0.9), f"{found} of {len(urls)} after a clean restart; {seen}"


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_packed_objects_survive(t):
    """What was packed is a hit after kill -9."""
    squid = t.running(megabytes=256, options=LIVELY)
    urls = mixture(t, "object", 150)
    t.fetch_all(squid, urls)
    squid.wait_packed()
    squid.kill().start()
    for url in urls:
        t.hit(squid, url)


@pytest.mark.stores("clusterfs", "ufs")
def test_killed_worker_comes_back(t):
    """The master starts a new worker, which serves what the old one had packed."""
    squid = t.running(megabytes=256, options=t.by_store("", clusterfs=LIVELY))
    urls = mixture(t, "object", 60)
    t.fetch_all(squid, urls)
    if t.store == "clusterfs":
        squid.wait_packed()
    old = squid.worker()
    assert old != squid.process.pid
    squid.started_at = squid.cache_log.mark()
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: squid.worker() not in (old, squid.process.pid), "a new worker")
    squid.wait_ready()
    found = t.survivors(squid, urls)
    assert len(found) == len(urls), f"{len(found)} of {len(urls)}"


@pytest.mark.stores("clusterfs")
def test_image_copied_under_load(t):
    """A copy of the image made in the middle of writing is like a disk after a power cut."""
    squid = t.running(megabytes=128, options=LIVELY)
    urls = mixture(t, "object", 1500)
    t.fetch_all(squid, urls[:100])
    squid.wait_packed()
    load = Load(squid.port, urls[100:], threads=6)
    copies = []
    for number in range(3):
        wait_for(lambda n=number: load.done >= 300 * (n + 1), "some load")
        copy = t.image(f"copy{number}")
        shutil.copyfile(t.image(), copy)
        shutil.copystat(t.image(), copy)
        stat = os.stat(t.image())
        if os.geteuid() == 0:
            os.chown(copy, stat.st_uid, stat.st_gid)
        copies.append(copy)
    load.join()
    squid.stop()
    for number, copy in enumerate(copies):
        other = t.squid(t.cache_dir(128, LIVELY, path=copy), folder=f"copy{number}").start()
        assert other.values().number("objects") > 0, "nothing was recovered from a copy of a lively image"
        t.fetch_damaged(other, urls)
        other.stop()


def change_image(path, change, seed):
    """Applies change(random, bytes) to pieces of the image; change returns the new bytes."""
    chance = random.Random(seed)
    with open(path, "r+b") as image:
        size = image.seek(0, 2)
        for _ in range(400):
            at = chance.randrange(size // 4096) * 4096
            image.seek(at)
            old = image.read(4096)
            image.seek(at)
            image.write(change(chance, old))


def flip(chance, old):
    at = chance.randrange(len(old))
    return old[:at] + bytes([old[at] ^ (1 << chance.randrange(8))]) + old[at + 1:]


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_flipped_bits(t):
    """Damaged clusters cost hits; wrong bytes never reach a client."""
    urls = mixture(t, "object", 300)
    squid = t.running(megabytes=64, options=LIVELY)
    for seed in range(2):
        t.fetch_all(squid, urls)
        squid.stop()
        change_image(t.image(), flip, seed)
        squid.start()
        t.fetch_damaged(squid, urls)


@pytest.mark.stores("clusterfs")
def test_zeroed_and_exchanged_pieces(t):
    """Lost and misdirected writes."""
    urls = mixture(t, "object", 300)
    squid = t.running(megabytes=64, options=LIVELY)
    t.fetch_all(squid, urls)
    squid.stop()
    pieces = []

    def exchange(_, old):
        pieces.append(old)
        return pieces[len(pieces) // 2]

    change_image(t.image(), lambda _, old: bytes(len(old)), 1)
    change_image(t.image(), exchange, 2)
    squid.start()
    t.fetch_damaged(squid, urls)


@pytest.mark.stores("clusterfs")
def test_old_image_pieces(t):
    """Half of the image is as it was before the objects were replaced: old or new, never mixed."""
    urls = mixture(t, "object", 200)
    squid = t.running(megabytes=64, options=LIVELY)
    t.fetch_all(squid, urls)
    squid.stop()
    old = t.image().read_bytes()
    squid.start()
    for url in urls:
        t.origin.change(url)
    Load(squid.port, urls, headers={"Cache-Control": "no-cache"}).join()
    squid.stop()
    with open(t.image(), "r+b") as image:
        for at in range(0, len(old), 2 * MB):
            image.seek(at)
            image.write(old[at:at + MB])
    squid.start()
    t.fetch_damaged(squid, urls)


@pytest.mark.stores("clusterfs")
def test_truncated_image(t):
    """An image that lost its end: Squid runs and serves, with or without it."""
    squid = t.running(megabytes=64, options=LIVELY)
    urls = mixture(t, "object", 60)
    t.fetch_all(squid, urls)
    squid.stop()
    for size in (40 * MB, 4096, 0):
        os.truncate(t.image(), size)
        squid.start(wait=False)
        squid.wait_ready()
        t.fetch_damaged(squid, urls)
        squid.stop()
        assert squid.cache_log.lines("clusterfs", squid.started_at), "no word about the damaged image"
