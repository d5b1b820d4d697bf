# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache manager's pages."""

import pathlib
import re

import pytest

from squidkit.processes import run, wait_for
from testlib.stores import ROCK_INDEX
from testlib.suite import around_restart


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_clusterfs_page(t):
    """Sane values before, during and after use."""
    squid = t.running(options="persist=1")
    values = squid.values()
    assert values.number("objects") == 0, values.text
    assert str(t.image()) in values.text, values.text
    urls = [t.url(f"object{n}", size=30000) for n in range(50)]
    t.fetch_all(squid, urls)
    squid.wait_packed()
    values = squid.values()
    assert values.number("objects") == 50, values.text
    squid.restart()
    t.fetch_all(squid, urls)
    values = squid.values()
    assert values.number("objects") == 50, values.text
    for page in ("clusterfs", "storedir", "info", "counters", "store_io", "io", "filedescriptors", "events", "mem"):
        assert squid.mgr(page).strip(), f"mgr:{page} is empty"


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("curl")
def test_by_curl_and_squidclient(t):
    """The page as operations.md has people ask for it. squidclient, which ended with Squid 6, asks as of a proxy: Squid
    takes localhost and its own name for itself, and no address."""
    squid = t.running()
    tools = [("curl", "-s", f"http://localhost:{squid.port}/squid-internal-mgr/clusterfs")]
    if "Version 6" in squid.command("-v").stdout and t.patched():  # Debian's package asks at [::1] alone, where this Squid is not
        tools.append((pathlib.Path(t.prefix) / "bin" / "squidclient", "-p", squid.port, "mgr:clusterfs"))
    for words in tools:
        done = run(*words)
        assert done.returncode == 0 and f"cache_dir #0: clusterfs {t.image()}" in done.stdout, done.stdout
        assert re.search(r"^state: +serving$", done.stdout, re.M), done.stdout


@pytest.mark.known(ROCK_INDEX)
@pytest.mark.quick
def test_storedir_page(t):
    squid = t.running()
    urls = [t.url(f"object{n}", size=30000) for n in range(50)]
    t.fetch_all(squid, urls)
    for url in urls:
        t.settle(squid, url)
    values = squid.values("storedir")
    assert str(t.image()) in values.text, values.text
    assert 1000 <= values.number("current store swap size") <= 128 * 1024, values.text
    assert values.number("maximum swap size") == 128 * 1024, values.text
    assert values.number("store entries") >= 50 or t.store in ("rock", "clusterfs"), values.text


@pytest.mark.stores("clusterfs", "ufs")
def test_objects_page(t):
    """mgr:objects lists what is stored (for clusterfs with list=on)."""
    # With the default of 16 KB, Squid never finishes a longer page, whatever the store.
    t.needs_lists()
    squid = t.running("read_ahead_gap 16 MB",
                      options=t.by_store("", clusterfs="list=on"))
    urls = [t.url(f"object{n}", size=3000) for n in range(30)]
    t.fetch_all(squid, urls)
    for _ in around_restart(squid):
        page = squid.mgr("objects")
        stored = page.count("Swap Dir 0,")
        assert stored == 30, f"{stored} objects on the page:\n{page[:2000]}"


@pytest.mark.stores("clusterfs")
def test_unlisted_objects(t):
    """list=off, the default: objects are hits, and neither mgr:objects nor the digest has them. mgr:clusterfs says so,
    and an object takes 16 bytes less than with list=on."""
    squids = {}
    for name in ("off", "on"):
        line = t.cache_dir(128, "" if name == "off" else "list=on", name=name)
        squids[name] = t.running("read_ahead_gap 16 MB", "digest_rebuild_period 1 second", line, folder=name)
    count = 8000
    urls = [t.url(f"object{n}", size=300) for n in range(count)]
    digested = "--enable-cache-digests" in squids["on"].command("-v").stdout
    memory = {}
    for name, squid in squids.items():
        t.fetch_all(squid, urls)
        for url in urls[::100]:
            t.hit(squid, url)
        squid.restart()
        listed = squid.mgr("objects").count("Swap Dir 0,")
        lists = name == "on" and t.patched()  # another Squid has no way to ask
        assert listed == (count if lists else 0), f"list={name}: {listed} objects listed"
        values = squid.values()
        assert values["objects listed"].startswith("yes" if lists else "no (list=off"), values.text
        assert values.number("objects") == count, values.text
        memory[name] = values.number("index bytes")
    each = (memory["on"] - memory["off"]) / count
    assert 15 <= each <= 18, memory

    def entries(name):
        values = squids[name].values("store_digest")
        return values.number("entries") if "entries" in values else 0

    if digested:
        if t.patched():
            wait_for(lambda: entries("on") >= count, "all in the digest", 30)
        assert entries("off") < 100, f"{entries('off')}: more than Squid's own icons"


@pytest.mark.stores("clusterfs", "ufs")
def test_store_digest(t):
    """The digest that peers fetch knows our objects (for clusterfs with list=on)."""
    t.needs_lists()
    squid = t.running("digest_rebuild_period 1 second", "digest_rewrite_period 1 second",
                      options=t.by_store("", clusterfs="list=on"))
    if "--enable-cache-digests" not in squid.command("-v").stdout:
        pytest.skip("this Squid is built without --enable-cache-digests")
    t.fetch_all(squid, [t.url(f"object{n}", size=3000) for n in range(30)])

    def entries():
        values = squid.values("store_digest")
        return "entries" in values and values.number("entries") >= 30

    wait_for(entries, "30 entries in the store digest", 30)
