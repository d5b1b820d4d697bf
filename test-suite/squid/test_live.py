# SPDX-License-Identifier: GPL-2.0-or-later
"""Showing and removing objects while Squid runs: the pages clusterfs_find, clusterfs_list, clusterfs_map,
clusterfs_purge, clusterfs_clear and clusterfs_job of the cache manager."""

import json
import re

import pytest

from common import BUILD
from squidkit.processes import run, wait_for
from testlib.live import answer, ask, finished
from testlib.load import Load

pytestmark = [pytest.mark.stores("clusterfs")]


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


def tool(*words, code=0):
    done = run(BUILD / "clusterfs", *words)
    assert done.returncode == code, done.stdout
    return done.stdout


def objects(text):
    """{URL: what clusterfs says} of the lines of dump or list; each URL is there once."""
    found = [json.loads(line) for line in text.splitlines()]
    by_url = {entry["url"]: entry for entry in found}
    assert len(by_url) == len(found), text
    return by_url


@pytest.mark.quick
def test_list(t):
    """What list says while Squid runs, dump says after a stop; and those that are staged are in the list, too."""
    squid = t.running(options="persist=2")
    address = f"http://127.0.0.1:{squid.port}"
    packed = t.urls("packed", 30, size=9000) + [t.url("packed-large", size=3000000)]
    t.fetch_all(squid, packed)
    squid.wait_packed()
    squid.client.request(packed.pop(), method="PURGE")
    squid.conf.write_text(squid.conf.read_text().replace("persist=2", "persist=600"))
    squid.reconfigure("persist now 600")
    staged = t.urls("staged", 5, size=9000) + [t.url("staged-large", size=900000)]
    for url in staged:
        t.store_object(squid, url)
    # Squid may hand over the last bytes of an object after its client has them
    wait_for(lambda: len(objects(tool("list", address, "--json"))) == len(packed + staged), "a list of all objects")
    listed = objects(tool("list", address, "--json"))
    assert set(listed) == set(packed + staged)
    assert {url for url, entry in listed.items() if entry["cluster"] is None} == set(staged)
    lines = tool("list", address, f"--dir={t.image()}").splitlines()
    assert sorted(line.split("\t")[1] for line in lines) == sorted(listed)
    squid.stop()
    dumped = objects(tool("dump", t.image(), "--json"))
    assert set(dumped) == set(listed)
    for url, entry in listed.items():
        places = ("state",) if url in packed else ("state", "cluster", "offset")  # a stop packs what is staged
        expected = {**dumped[url], **{name: None for name in places}}
        assert entry == expected, f"{entry} but {expected}"


def test_list_under_load(t):
    """Objects that stay are listed once, whatever clients store meanwhile."""
    squid = t.running()
    kept = t.urls("kept", 200, size=30000)
    t.fetch_all(squid, kept)
    squid.wait_packed()
    load = Load(squid.port, t.urls("other", 2000, size=5000), threads=2)
    lines = [line.split("\t")[1] for line in tool("list", f"http://127.0.0.1:{squid.port}").splitlines()]
    load.stop()
    load.join()
    assert sorted(url for url in lines if "/kept" in url) == sorted(kept)


def titles(picture):
    return re.findall(r"<title>(.*?)</title>", picture)


@pytest.mark.quick
def test_map(t):
    """The picture of a running Squid is that of the device after a stop: each square, and what it says."""
    squid = t.running(options="persist=1")
    for url in t.urls("small", 60, size=30000) + [t.url("large", size=5000000)]:
        t.store_object(squid, url)
    squid.wait_packed()
    picture = tool("map", f"http://127.0.0.1:{squid.port}")
    squid.stop()
    assert titles(picture) == titles(tool("map", t.image()))
    assert sum("large objects" in title for title in titles(picture)) >= 4, picture
    assert sum(int(n) for n in re.findall(r": (\d+) objects", "\n".join(titles(picture)))) == 61, titles(picture)


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


def test_purge_follows_what_is_packed(t):
    """Objects that are staged when the search begins come to clusters that it has passed, before it looks at staging."""
    squid = t.running(megabytes=96, options="persist=1 delete-time=1 layout=overwrite")
    first, middle, last = t.urls("first", 100, size=100000), t.urls("middle", 500, size=100000), t.urls("last", 120, size=100000)
    t.fetch_all(squid, first + middle)
    squid.wait_packed()
    answer(squid, "purge", prefix=prefix(t, "first"))
    finished(squid)
    t.fetch_all(squid, last)  # the end of the device is full now
    squid.wait_packed()
    places = {entry["url"]: entry["cluster"] for entry in objects(tool("list", f"http://127.0.0.1:{squid.port}", "--json")).values()}
    assert places[last[-1]] < places[middle[0]] < places[last[0]], places
    doomed = t.urls("doomed", 20)
    t.fetch_all(squid, doomed)
    answer(squid, "purge", prefix=prefix(t, "doomed"))
    assert finished(squid).number("objects removed") == len(doomed)
    assert not t.survivors(squid, doomed)


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
    t.needs_several_processes()
    squid = t.running(t.cache_dir(64, "persist=1"), t.cache_dir(64, "max-size=1", name="rock", store="rock"))
    url = t.url("object", size=9000)
    t.store_object(squid, url)
    assert answer(squid, "find", url=url)["cache_dir"] == str(t.image())
    address = f"http://127.0.0.1:{squid.port}"
    assert set(objects(tool("list", address, "--json"))) == {url}
    assert len(titles(tool("map", address))) == answer(squid, "map").number("clusters")
    # until rock has loaded its index, Squid puts releases off, and the page refuses
    wait_for(lambda: "error" not in ask(squid, "purge", prefix=prefix(t, "object"))[1], "start of the purge")
    assert finished(squid).number("objects removed") == 1
    gone(t, squid, [url])


def changed(squid, old, new):
    """The Squid, running with another line in squid.conf."""
    text = squid.conf.read_text()
    assert old in text
    squid.conf.write_text(text.replace(old, new))
    return squid.create().start()


def with_password(squid, line):
    return changed(squid, "cachemgr_passwd none all", line)


ASKED = (("list", {}), ("map", {}), ("purge", {"prefix": "http:"}), ("clear", None), ("find", None), ("job", {}))


def pages(t, url):
    """(page, query) of each page."""
    special = {"clear": {"dir": str(t.image())}, "find": {"url": url}}
    return [(page, special[page] if query is None else query) for page, query in ASKED]


@pytest.mark.quick
def test_password(t):
    """A client without the password of squid.conf gets nothing and changes nothing; with it, it does."""
    squid = with_password(t.squid(), "cachemgr_passwd open-sesame " + " ".join(f"clusterfs_{page}" for page, _ in ASKED))
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    for password in (None, "close-sesame", ""):
        for page, query in pages(t, url):
            status, values = ask(squid, page, password, **query)
            assert status == 401 and "object" not in values.text, f"{page}: {status} {values.text}"
    t.hit(squid, url)
    assert f"\t{url}\t" in ask(squid, "list", "open-sesame")[1].text
    assert "cell" in ask(squid, "map", "open-sesame")[1]
    status, values = ask(squid, "purge", "open-sesame", url=url)
    assert status == 200 and values.number("objects removed") == 1
    gone(t, squid, [url])


def test_without_password(t):
    """squid.conf gives none: Squid hides what changes something and the list of all URLs, as its own shutdown."""
    squid = with_password(t.squid(), "")
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    for page, query in pages(t, url):
        assert ask(squid, page, **query)[0] == (404 if page in ("list", "purge", "clear") else 200), page
    assert answer(squid, "find", url=url)["cache_dir"] == str(t.image())
    assert answer(squid, "job")["job"] == "none"
    t.hit(squid, url)


def test_normal_client(t):
    """One whom http_access keeps away from the manager gets none of the pages, and can use the cache."""
    squid = changed(t.squid(), "http_access allow localhost", "http_access deny manager\nhttp_access allow localhost")
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    for page, query in pages(t, url):
        status, values = ask(squid, page, **query)
        assert status == 403 and "cell" not in values and "key" not in values and "job" not in values, f"{page}: {status}"
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
    """Squid ends with a purge under way, and a purge can be stopped. It reads at most 64 MB a second."""
    squid = t.running()
    url = t.url("object", size=5000)
    t.store_object(squid, url)
    t.fetch_all(squid, t.urls("much", 400, size=100000))
    squid.wait_packed()
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

    def answered(*words, code=0):
        return json.loads(tool(*words, "--json", code=code))

    doomed, kept, last = t.urls("doomed", 4), t.urls("kept", 2), t.url("last", size=9000)
    for url in [*doomed, *kept, last]:
        t.store_object(squid, url)
    assert [place["cache_dir"] for place in answered("find", address, f"--url={doomed[0]}")["found"]] == [str(t.image())]
    assert answered("purge", address, f"--url={last}")["objects_removed"] == 1
    assert "found" not in answered("find", address, f"--url={last}", code=1)
    assert answered("purge", address, f"--prefix={prefix(t, 'doomed')}")["objects_removed"] == len(doomed)
    hits(t, squid, kept)
    gone(t, squid, [*doomed, last])
    assert answered("clear", address, f"--dir={t.image()}")["objects_left"] == 0
    assert not t.survivors(squid, [*doomed, *kept, last])


def test_several_dirs(t):
    """list and map want to know which."""
    lines = [t.cache_dir(64, "max-size=50000", name="small"), t.cache_dir(64, "min-size=50001", name="large")]
    squid = t.running(*lines)
    small, large = t.url("small", size=9000), t.url("large", size=90000)
    for url in (small, large):
        t.store_object(squid, url)
    for page in ("list", "map"):
        assert "there are several cache_dirs clusterfs" in ask(squid, page)[1]["error"]
        assert f"there is no cache_dir clusterfs /x; there are: {t.image('small')}" in ask(squid, page, dir="/x")[1]["error"]
    address = f"http://127.0.0.1:{squid.port}"
    assert set(objects(tool("list", address, f"--dir={t.image('large')}", "--json"))) == {large}
    assert str(t.image("small")) in tool("map", address, f"--dir={t.image('small')}")


def test_requests_go_on_during_a_purge(t):
    """A purge that has only memory to look at, and so waits for nothing, lets Squid look at its connections meanwhile."""
    squid = t.running(options="persist=1000")
    t.fetch_all(squid, t.urls("staged", 4000, size=400))

    def seen():
        """Whether a page that is asked for when the purge runs comes before its end."""
        assert answer(squid, "purge", prefix="https://nobody")["state"] == "running"
        state = answer(squid, "job")["state"]
        finished(squid)
        return state == "running"

    assert any(seen() for _ in range(5))
