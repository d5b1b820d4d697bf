# SPDX-License-Identifier: GPL-2.0-or-later
"""Several cache_dirs in one Squid, of one type and of several."""

from testlib.processes import wait_for
from testlib.stores import ROCK_INDEX
from testlib.suite import around_restart, case


def some(t, count=200):
    return [t.url(f"object{n}", size=(n * 7919) % 80000) for n in range(count)]


def all_hit_after_restart(t, squid, urls, at_least):
    t.fetch_all(squid, urls)
    for _ in around_restart(squid):
        found = wait_for(lambda: len(t.survivors(squid, urls)) >= at_least, f"{at_least} objects in the cache")
        assert found


@case(quick=True, known=ROCK_INDEX)
def two_of_a_kind(t):
    squid = t.running(t.cache_dir(96, name="first"), t.cache_dir(96, name="second"))
    urls = some(t)
    all_hit_after_restart(t, squid, urls, t.by_store(len(urls), rock=190))


@case(only="clusterfs")
def both_are_used(t):
    """Round robin spreads over two images; each survives without the other."""
    lines = [t.cache_dir(64, name="first"), t.cache_dir(64, name="second")]
    squid = t.running(*lines, "store_dir_select_algorithm round-robin")
    urls = some(t)
    t.fetch_all(squid, urls)
    squid.stop()
    counts = []
    for line in lines:
        squid.configure(line)
        squid.start()
        counts.append(len(t.survivors(squid, urls)))
        squid.stop()
    assert min(counts) > len(urls) // 4 and sum(counts) == len(urls), counts


@case(only="clusterfs")
def beside_ufs(t):
    squid = t.running(t.cache_dir(96, "min-size=20000"), t.cache_dir(96, "max-size=19999", store="ufs", name="folder"))
    urls = some(t)
    all_hit_after_restart(t, squid, urls, len(urls))


@case(only="clusterfs")
def beside_rock(t):
    squid = t.running(t.cache_dir(96, "min-size=20000"),
                      t.cache_dir(96, "max-size=19999", store="rock", name="folder"), mode="-N")
    urls = some(t)
    all_hit_after_restart(t, squid, urls, 190)


@case(only="clusterfs")
def one_of_two_missing(t):
    """A dead cache_dir does not take the other one with it."""
    squid = t.running(t.cache_dir(64, name="first"), t.cache_dir(64, name="second"))
    squid.stop()
    t.image("second").unlink()
    squid.start(wait=False)
    squid.wait_ready()
    urls = some(t, 50)
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    squid.restart()
    for url in urls:
        t.hit(squid, url)


@case(only="clusterfs")
def no_other_files(t):
    """The image is all there is: no swap.state, nothing beside it."""
    squid = t.running()
    urls = some(t, 50)
    t.fetch_all(squid, urls)
    squid.stop()
    beside = sorted(p.name for p in t.image().parent.iterdir() if p.name != "squid")
    assert beside == [t.image().name], beside
    assert not list(squid.dir.glob("swap.state*"))
    squid.start()
    for url in urls:
        t.hit(squid, url)
