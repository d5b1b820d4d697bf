# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding and removing objects while Squid runs: the pages clusterfs_find, clusterfs_purge, clusterfs_clear and
clusterfs_job of the cache manager."""

import base64
import http.client
import json
import pathlib
import re

import pytest

from common import BUILD
from squidkit.mgr import Values
from squidkit.processes import give_to_squid, run, wait_for

pytestmark = [pytest.mark.stores("clusterfs")]


def encoded(text):
    """Percent-encoded to the last letter."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def ask(squid, page, password=None, whole=None, **query):
    """A page with parameters: (status, its values). whole: the URL to ask for instead."""
    words = "&".join(f"{name}={encoded(value)}" for name, value in query.items())
    connection = http.client.HTTPConnection("127.0.0.1", squid.port, timeout=60)
    try:
        headers = {} if password is None else {"Authorization": "Basic " + base64.b64encode(f"admin:{password}".encode()).decode()}
        path = whole or f"/squid-internal-mgr/clusterfs_{page}" + (f"?{words}" if words else "")
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, Values(response.read().decode())
    finally:
        connection.close()


def answer(squid, page, **query):
    status, values = ask(squid, page, **query)
    assert status == 200 and "error" not in values, f"{status} {values.text}"
    return values


def finished(squid):
    """The values of the job, when it is over."""
    wait_for(lambda: answer(squid, "job")["state"] != "running", "end of the job", 60)
    values = answer(squid, "job")
    assert values["state"] == "done", values.text
    return values


def gone(t, squid, urls):
    """The origin has new bytes for each, and clients get them, once from there and then from the cache."""
    for url in urls:
        t.origin.change(url)
        t.miss(squid, url, version=1)
        t.hit(squid, url, version=1)


def hits(t, squid, urls):
    """The origin has new bytes for each, and clients still get the old ones."""
    for url in urls:
        t.origin.change(url)
        t.hit(squid, url, version=0)


def prefix(t, name):
    return t.url(name, size=1).partition(name)[0] + name


@pytest.mark.quick
def test_find(t):
    """What find says while Squid runs, dump says after a stop."""
    squid = t.running()
    url = t.url("there", size=30000)
    t.store_object(squid, url)
    found = answer(squid, "find", url=url)
    assert found["cache_dir"] == str(t.image()) and found["in memory"] == "no" and found["url"] == url, found.text
    assert "cache_dir" not in answer(squid, "find", url=url + "x")
    squid.stop()
    done = run(BUILD / "clusterfs", "dump", t.image(), "--json")
    dumped, = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    assert dumped["url"] == url
    for there, here in (("key", "key"), ("size", "size"), ("timestamp", "timestamp"), ("expires", "expires"), ("last_modified", "last modified")):
        assert str(dumped[there]) == found[here], f"{there}: {dumped} but {found.text}"


def mixed(t, squid):
    """Objects that a purge by prefix shall remove, and others, of several sizes, on the disk and staged."""
    doomed = t.urls("doomed", 8, size=9000) + [t.url("doomed-large", size=900000)]
    kept = t.urls("kept", 8, size=9000) + [t.url("kept-large", size=900000)]
    for url in doomed[::2] + kept[::2]:
        t.store_object(squid, url)
    squid.wait_packed()
    for url in doomed[1::2] + kept[1::2]:
        t.store_object(squid, url)
    return doomed, kept


@pytest.mark.quick
@pytest.mark.parametrize("memory", [0, 64], ids=["disk", "memory"])
def test_purge_by_prefix(t, memory):
    """Half of the objects are on the disk. The others are staged until all clusters are read."""
    squid = t.running(megabytes=32, options="persist=4 delete-time=1", mem_object_kb=memory)
    doomed, kept = mixed(t, squid)
    answer(squid, "purge", prefix=prefix(t, "doomed"))
    assert finished(squid).number("objects removed") == len(doomed)
    hits(t, squid, kept)
    gone(t, squid, doomed)


@pytest.mark.quick
def test_purge_of_memory(t):
    """Objects that no cache_dir takes."""
    squid = t.running(megabytes=32, options="persist=1 min-size=20000", mem_object_kb=64)
    doomed, kept = t.urls("doomed", 2, size=9000), t.urls("kept", 2, size=9000)
    for url in doomed + kept:
        t.store_object(squid, url)
    assert answer(squid, "find", url=doomed[0])["in memory"] == "yes"
    answer(squid, "purge", prefix=prefix(t, "doomed"))
    assert finished(squid).number("objects removed") == len(doomed)
    hits(t, squid, kept)
    gone(t, squid, doomed)


def test_purge_under_load(t):
    """Clients store so much meanwhile that the engine evicts and moves the objects that the purge looks for."""
    squid = t.running(megabytes=32, options="persist=1 delete-time=1 staging=4 read-cache=2")
    doomed = t.urls("doomed", 100, size=20000)
    t.fetch_all(squid, doomed)
    answer(squid, "purge", prefix=prefix(t, "doomed"))
    turn = 0
    while answer(squid, "job")["state"] == "running":
        for url in doomed[turn % 100::7]:  # those in use are moved and not evicted
            squid.client.cached(url)
        t.fetch_all(squid, t.urls(f"other{turn}-", 30, size=30000))
        turn += 1
    finished(squid)
    assert not t.survivors(squid, doomed)


def test_purge_by_pattern(t):
    """Objects stay away after a crash, too, once delete-time is over."""
    squid = t.running(options="persist=1 delete-time=1")
    doomed, kept = mixed(t, squid)
    squid.wait_packed()
    answer(squid, "purge", pattern="^http://[0-9.:]+/doomed(-large|[0-9]+)\\?size=[0-9]+$")
    assert finished(squid).number("objects removed") == len(doomed)
    wait_for(lambda: squid.values().number("deletes not logged yet") == 0, "deletes in the journal")
    squid.kill().start()
    assert not t.survivors(squid, doomed)
    hits(t, squid, kept)


@pytest.mark.quick
def test_purge_of_a_url(t):
    """At once, from memory, too; the variants of a Vary object go with all=."""
    squid = t.running(megabytes=32, options="persist=1 delete-time=1", mem_object_kb=64)
    one, other = t.urls("object", 2)
    several = t.url("several", size=5000, vary="Accept-Language")
    for url in (one, other):
        t.store_object(squid, url)
    for language in ("de", "fr"):
        t.miss(squid, several, Accept_Language=language)
        t.hit(squid, several, Accept_Language=language)
    assert answer(squid, "purge", url=one).number("objects removed") == 1
    assert answer(squid, "purge", url=one).number("objects removed") == 0
    gone(t, squid, [one])
    answer(squid, "purge", all=several)
    assert finished(squid).number("objects removed") == 3  # with the marker, which knows the names of the headers
    for language in ("de", "fr"):
        t.miss(squid, several, Accept_Language=language)
    hits(t, squid, [other])


@pytest.mark.quick
@pytest.mark.parametrize("memory", [0, 64], ids=["disk", "memory"])
def test_clear(t, memory):
    """One of two cache_dirs: its objects are gone from memory, too, and after a crash. It stores again."""
    lines = [t.cache_dir(64, "persist=1 max-size=50000", name="small"), t.cache_dir(64, "persist=1 min-size=50001", name="large")]
    squid = t.running(*lines, mem_object_kb=memory)
    small, large = t.urls("small", 12, size=9000), t.urls("large", 3, size=400000)
    for url in small + large:
        t.store_object(squid, url)
    wait_for(lambda: re.findall(r"staged objects: +(\d+)", squid.mgr("clusterfs")) == ["0", "0"], "everything packed")
    small.append(t.url("small-staged", size=9000))
    t.store_object(squid, small[-1])
    answer(squid, "clear", dir=str(t.image("small")))
    assert memory or not t.survivors(squid, small), "a clear takes effect at once"
    values = finished(squid)
    assert values.number("objects removed") == 13 and values.number("objects left") == 0, values.text
    assert not t.survivors(squid, small)
    squid.kill().start()
    hits(t, squid, large)
    gone(t, squid, small)
    assert answer(squid, "find", url=small[0])["cache_dir"] == str(t.image("small"))


def test_beside_rock(t):
    """Rock's disker makes Squid several processes. The pages come from the one that uses our cache_dir."""
    sockets = pathlib.Path(t.prefix).resolve() / "var" / "run" / "squid"
    if not sockets.is_dir():
        pytest.skip(f"{sockets}, where the processes of this Squid meet, does not exist")
    give_to_squid(sockets)
    squid = t.running(t.cache_dir(64, "persist=1"), t.cache_dir(64, "max-size=1", name="rock", store="rock"))
    url = t.url("object", size=9000)
    t.store_object(squid, url)
    assert answer(squid, "find", url=url)["cache_dir"] == str(t.image())
    # until rock has loaded its index, Squid puts releases off, and the page refuses
    wait_for(lambda: "error" not in ask(squid, "purge", prefix=prefix(t, "object"))[1], "start of the purge")
    assert finished(squid).number("objects removed") == 1
    gone(t, squid, [url])


def with_password(squid, line):
    text = squid.conf.read_text()
    squid.conf.write_text(text.replace("cachemgr_passwd none all", line))
    return squid.create().start()


@pytest.mark.quick
def test_password(t):
    squid = with_password(t.squid(), "cachemgr_passwd open-sesame clusterfs_purge clusterfs_clear")
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    for password in (None, "close-sesame", ""):
        for page, query in (("purge", {"url": url}), ("clear", {"dir": str(t.image())})):
            assert ask(squid, page, password, **query)[0] == 401
    t.hit(squid, url)
    version = squid.command("-v").stdout
    if "--disable-auth" not in version:
        status, values = ask(squid, "purge", "open-sesame", url=url)
    elif "Version 6" in version:
        status, values = ask(squid, "purge", whole="cache_object://localhost/clusterfs_purge@open-sesame?url=" + encoded(url))
    else:
        pytest.skip("this Squid is built without Basic authentication, and takes no password")
    assert status == 200 and values.number("objects removed") == 1
    gone(t, squid, [url])


def test_without_password(t):
    """squid.conf gives none: Squid hides what changes something, as its own shutdown."""
    squid = with_password(t.squid(), "")
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    for page, query in (("purge", {"url": url}), ("clear", {"dir": str(t.image())}), ("purge", {"prefix": "http:"})):
        assert ask(squid, page, **query)[0] == 404
    assert answer(squid, "find", url=url)["cache_dir"] == str(t.image())
    assert answer(squid, "job")["job"] == "none"
    t.hit(squid, url)


def test_wrong_questions(t):
    squid = t.running()
    for page, query, says in (
            ("find", {}, "give url=VALUE"),
            ("find", {"dir": "/"}, "give url=VALUE"),
            ("purge", {}, "give one of url=URL"),
            ("purge", {"prefix": "a", "pattern": "b"}, "give one of url=URL"),
            ("purge", {"pattern": "("}, "pattern=(: this is not a POSIX extended regular expression"),
            ("clear", {"dir": "/nowhere"}, f"there is no cache_dir clusterfs /nowhere; there are: {t.image()}"),
            ("find", {"url": "a\0b"}, "NUL")):
        status, values = ask(squid, page, **query)
        assert status == 200 and says in values["error"], values.text
    text = squid.mgr("clusterfs_find?url=http:/%zz")
    assert text.startswith("error: 'http:/%zz' is not percent-encoded"), text


def test_stop(t):
    """Squid ends with a purge under way, and a purge can be stopped."""
    squid = t.running(options="persist=60")
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    answer(squid, "purge", prefix="https://nobody")
    status, values = ask(squid, "clear", dir=str(t.image()))
    assert status == 200 and "another purge or clear is running" in values["error"], values.text
    assert answer(squid, "purge", stop="yes")["state"] == "stopped"
    answer(squid, "purge", prefix="https://nobody")
    squid.restart()
    t.hit(squid, url)


@pytest.mark.quick
def test_by_the_tool(t):
    """clusterfs find, purge and clear, with the answers of a real Squid."""
    squid = t.running(options="persist=1")
    address = f"http://127.0.0.1:{squid.port}"

    def tool(*words, code=0):
        done = run(BUILD / "clusterfs", *words, "--json")
        assert done.returncode == code, done.stdout
        return json.loads(done.stdout)

    doomed, kept, last = t.urls("doomed", 4), t.urls("kept", 2), t.url("last", size=9000)
    for url in [*doomed, *kept, last]:
        t.store_object(squid, url)
    assert [place["cache_dir"] for place in tool("find", address, f"--url={doomed[0]}")["found"]] == [str(t.image())]
    assert tool("purge", address, f"--url={last}")["objects_removed"] == 1
    assert "found" not in tool("find", address, f"--url={last}", code=1)
    assert tool("purge", address, f"--prefix={prefix(t, 'doomed')}")["objects_removed"] == len(doomed)
    hits(t, squid, kept)
    gone(t, squid, [*doomed, last])
    assert tool("clear", address, f"--dir={t.image()}")["objects_left"] == 0
    assert not t.survivors(squid, [*doomed, *kept, last])
