# SPDX-License-Identifier: GPL-2.0-or-later
"""cache_dir options: what is taken, what is refused and how, what they do."""

import time
from email.utils import formatdate

import pytest

from squidkit.processes import wait_for
from testlib.suite import around_restart

BAD = (
    ("cluster-size=3", "cluster-size"), ("cluster-size=300", "cluster-size"), ("cluster-size=0", "cluster-size"),
    ("cluster-size=99999999", "cluster-size"), ("cluster-size=1M", "cluster-size"), ("cluster-size=", "cluster-size"),
    ("cluster-size=-1", "cluster-size"), ("cluster-size=16 staging=0", "staging"), ("staging=banana", "staging"),
    ("cluster-size=16384 staging=4", "staging"), ("cluster-size=16384 staging=64 read-cache=4", "read-cache"),
    ("memory=3", "memory"), ("memory=49 staging=32 locality=16", "memory"), ("memory=half", "memory"), ("memory=1048577", "memory"),
    ("read-cache=1.5", "read-cache"), ("persist=0", "persist"), ("persist=99999999999999999999", "persist"),
    ("checkpoint=never", "checkpoint"), ("delete-count=0", "delete-count"), ("delete-time=-5", "delete-time"),
    ("replacement=heap", "replacement"), ("replacement=gd", "replacement"), ("size-weight=101", "size-weight"),
    ("size-weight=0.5", "size-weight"), ("write-budget=51", "write-budget"), ("replicas=51", "replicas"),
    ("packing=fifo", "packing"), ("warm=yes", "warm"), ("replacement=", "replacement"), ("layout=random", "layout"),
    ("admit=0", "admit"), ("admit=8", "admit"), ("admit=second", "admit"),
    ("file-lifetime=x", "file-lifetime"), ("cluster-lifetime=4000000001", "cluster-lifetime"), ("depth=0", "depth"),
    ("depth=1000", "depth"), ("list=maybe", "list"), ("clustersize=64", "clustersize"), ("nonsense", "nonsense"),
    ("min-size=abc", "min-size"), ("max-size=-3", "max-size"),
)

GOOD = (
    "cluster-size=16", "cluster-size=16384 staging=64 read-cache=32", "memory=0", "memory=4", "memory=50 staging=32 locality=16", "memory=2000", "staging=8", "read-cache=8",
    "persist=1", "persist=86400", "checkpoint=60", "delete-count=10", "delete-time=1", "replacement=lru",
    "replacement=fifo", "replacement=s3fifo", "replacement=lfuda", "replacement=gdsf size-weight=0", "size-weight=100", "write-budget=0",
    "write-budget=50", "replicas=0", "replicas=50", "replacement=gds", "packing=gds", "packing=lru", "warm=off", "warm=on", "admit=1", "admit=7",
    "layout=closest", "layout=closest-write", "layout=overwrite", "layout=middle", "file-lifetime=3600",
    "cluster-lifetime=3600", "depth=1", "depth=128", "list=on", "list=off", "no-store", "min-size=100",
    "max-size=100000", "object-size=64",
)


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_bad_options(t):
    """squid -k parse refuses each, naming option and value."""
    squid = t.squid()
    wrong = []
    for options, name in BAD:
        squid.configure(f"cache_dir clusterfs {t.image()} 64 {options}")
        done = squid.command("-k", "parse")
        value = next(o for o in options.split() if o.startswith(name)).partition("=")[2]
        if done.returncode == 0:
            wrong.append(f"{options}: accepted")
        elif name not in done.stdout or value not in done.stdout:
            wrong.append(f"{options}: message does not name both: {done.stdout.strip()[-300:]}")
    for line in ("cache_dir clusterfs", f"cache_dir clusterfs {t.image()} -5", f"cache_dir clusterfs {t.image()} 12x"):
        squid.configure(line)
        if squid.command("-k", "parse").returncode == 0:
            wrong.append(f"{line}: accepted")
    assert not wrong, "\n".join(wrong)


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_good_options(t):
    """Each is taken and shown by mgr:config."""
    squid = t.squid()
    for options in GOOD:
        squid.configure(f"cache_dir clusterfs {t.image()} 64 {options}")
        done = squid.command("-k", "parse")
        assert done.returncode == 0, f"{options}: {done.stdout}"
    # What stands at its default need not be shown; these do not.
    shown = ("cluster-size=64 memory=77 staging=8 locality=3 read-cache=4 persist=11 checkpoint=61 delete-count=12 delete-time=3 "
             "replacement=lfuda size-weight=33 write-budget=18 replicas=7 packing=gds warm=off admit=2 layout=overwrite file-lifetime=3601 cluster-lifetime=3602 depth=7 list=on "
             "min-size=10 max-size=100000")
    squid.configure(f"cache_dir clusterfs {t.image()} 64 {shown}")
    squid.create().start()
    line = next(line for line in squid.mgr("config").splitlines() if line.startswith("cache_dir"))
    assert line.split()[:3] == ["cache_dir", "clusterfs", str(t.image())], line
    for option in shown.split():
        assert option in line.split(), f"{option} is not in: {line}"
    squid.configure(line)
    assert squid.command("-k", "parse").returncode == 0, "mgr:config shows a line that squid.conf does not take"


@pytest.mark.stores("clusterfs", "ufs", "rock")
def test_no_store(t):
    """no-store: what is there is served, nothing is added."""
    squid = t.running()
    old, new = t.url("old", size=40000), t.url("new", size=40000)
    t.store_object(squid, old)
    squid.stop()
    squid.configure(t.cache_dir(options="no-store"))
    squid.start()
    for _ in around_restart(squid):
        t.hit(squid, old)
        t.miss(squid, new)


@pytest.mark.stores("clusterfs")
def test_others_may_read_it(t):
    """An image that other users may read holds what people have looked at: one warning at each start that finds it so."""
    squid = t.squid().create()
    for mode, count in ((0o644, 1), (0o640, 1), (0o600, 0)):
        t.image().chmod(mode)
        squid.start()
        t.fetch_all(squid, t.urls("object", 5))
        lines = squid.cache_log.lines("lets other users read", squid.started_at)
        assert len(lines) == count and all(f"{t.image()}: its mode {mode:04o} " in line and "WARNING" in line for line in lines), lines
        squid.stop()


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_second_squid_on_one_image(t):
    """The second one says so and serves without the cache; the first is not disturbed."""
    first = t.running()
    urls = [t.url(f"object{n}", size=20000 + n) for n in range(20)]
    t.fetch_all(first, urls)
    second = t.squid(folder="second").start(wait=False)
    second.wait_ready()
    t.fetch_all(second, urls)
    assert second.cache_log.lines("clusterfs.*(in use|lock|another|busy)"), second.tail()
    second.create_unchecked("-N")
    assert not second.cache_log.lines("formatted"), "-z formatted an image in use"
    second.stop()
    for url in urls:
        t.hit(first, url)
    first.restart()
    for url in urls:
        t.hit(first, url)


@pytest.mark.stores("clusterfs")
def test_file_lifetime(t):
    """An object that is too old, by its Date, is gone from staging and from the disk; from cache_mem it is used
    when the origin has confirmed it."""
    squid = t.running(options="file-lifetime=1000")
    old, new = t.url("old", size=30000), t.url("new", size=30000)
    t.origin.set_headers(old, Date=formatdate(time.time() - 2000, usegmt=True), Cache_Control="max-age=9000")
    for _ in around_restart(squid):
        t.store_object(squid, old)
        assert squid.client.cached(old) is None
    t.store_object(squid, new)
    t.hit(squid, new)
    squid.configure(t.cache_dir(options="file-lifetime=0"), mem_object_kb=512)
    squid.restart()
    t.hit(squid, old, codes=("TCP_HIT",))
    t.hit(squid, old, codes=("TCP_MEM_HIT",))
    squid.configure(t.cache_dir(options="file-lifetime=1000"))
    begin = squid.cache_log.mark()
    squid.control("reconfigure")
    squid.cache_log.wait("Accepting HTTP Socket connections", begin)
    for date in (time.time() - 1900, time.time()):
        t.origin.set_headers(old, Date=formatdate(date, usegmt=True), Cache_Control="max-age=9000")
        reply = squid.client.get(old).check()
        assert squid.result(reply) == "TCP_REFRESH_UNMODIFIED", squid.result(reply)
    t.hit(squid, old, codes=("TCP_MEM_HIT",))
    t.hit(squid, new)


@pytest.mark.stores("clusterfs")
def test_cluster_lifetime(t):
    squid = t.running(options="cluster-lifetime=1000 persist=1")
    urls = [t.url(f"object{n}", size=30000) for n in range(10)]
    for url in urls:
        t.store_object(squid, url)
    squid.wait_packed()
    for _ in around_restart(squid):
        assert len(t.survivors(squid, urls)) == 10
    squid.configure(t.cache_dir(options="cluster-lifetime=1 persist=1"))
    squid.restart()
    wait_for(lambda: not t.survivors(squid, urls), "the end of the clusters' lifetime", 30, pause=0.2)


@pytest.mark.stores("clusterfs")
def test_stored_at_the_second_request(t):
    """admit=2: the first response is served and not written; the second one is, and stays."""
    squid = t.running(options="admit=2")
    urls = [t.url(f"object{n}", size=(n * 7919) % 90000) for n in range(20)]
    for url in urls:
        t.miss(squid, url)
    assert not t.survivors(squid, urls)
    values = squid.values()
    assert values.number("stores not admitted") == len(urls) and values.number("objects stored") == 0, values.text
    for url in urls[:10]:
        t.miss(squid, url)
    for _ in around_restart(squid):
        for url in urls[:10]:
            t.hit(squid, url)
        assert not t.survivors(squid, urls[10:])


@pytest.mark.stores("clusterfs")
def test_each_policy(t):
    """Replacement and layout policies in every combination, through replacement and a restart."""
    for number, (replacement, layout) in enumerate(
            [(r, n) for r in ("gdsf", "lfuda", "lru", "fifo") for n in ("closest", "closest-write", "overwrite", "middle")] +
            [("s3fifo", "closest-write"), ("s3fifo", "overwrite")]):
        line = t.cache_dir(32, f"cluster-size=64 staging=16 read-cache=2 persist=1 replacement={replacement} layout={layout}",
                           name=f"cache{number}")
        squid = t.running(line, folder=f"squid{number}")
        urls = [t.url(f"{replacement}-{layout}-{n}", size=(n * 7919) % 90000) for n in range(1200)]
        for first in range(0, len(urls), 300):  # 13 MB of them: staging has room, however slow the disk is
            t.fetch_all(squid, urls[first:first + 300])
            squid.wait_packed()
        assert len(t.survivors(squid, urls[-100:])) >= 90, f"{replacement} {layout}: the newest objects are gone"
        squid.restart()
        assert len(t.survivors(squid, urls[-100:])) >= 90, f"{replacement} {layout}: lost by a restart"
        squid.stop()
