# SPDX-License-Identifier: GPL-2.0-or-later
"""The library for Python, in the interpreter that runs the tests."""

import os
import random
import select
import subprocess
import sys
import threading

import pytest

from common import BUILD, TOP

SMALL = {"cluster-size": 64, "object-size": 4, "staging": 4, "read-cache": 2, "locality": 1}


def content(seed, size):
    return random.Random(seed).randbytes(size)


@pytest.fixture(scope="module")
def clusterfs():
    os.environ["CLUSTERFS_LIBRARY"] = str(BUILD / "libclusterfs.so.0")
    sys.path.insert(0, str(BUILD / "python"))
    import clusterfs as module  # pylint: disable=import-outside-toplevel
    yield module
    sys.path.remove(str(BUILD / "python"))


@pytest.fixture
def paths(clusterfs, folder):
    made = [folder / "device0", folder / "device1"]
    for path in made:
        assert clusterfs.format(path, 32 << 20, SMALL)
        assert not clusterfs.format(path, 32 << 20, SMALL), "it is one already"
    return made


def test_objects(clusterfs, paths):
    wanted = {"": b"", "page": b"bytes", "ä": content(1, 100000), b"\x00\xff": content(2, 3000001)}
    with clusterfs.Store(paths, SMALL) as store:
        assert store.devices == 2
        for name, data in wanted.items():
            store[name] = data
        for name, data in wanted.items():
            assert store[name] == data and name in store and store.length(name) == len(data)
            with store.read(name) as found:
                assert len(found) == len(data) and found.read(10, 50) == data[10:60] and found.read(len(data), 5) == b""
        assert dict(store.items()) == {name.encode() if isinstance(name, str) else name: len(data) for name, data in wanted.items()}
        assert sorted(store) == sorted(name.encode() if isinstance(name, str) else name for name in wanted)
        store.write("page", memoryview(bytearray(b"other")))
        store.sync()
        assert sum(store.statistic("objects", device) for device in range(2)) == 4
        assert "\nobjects: " in store.report() and isinstance(store.messages(1), str)
    with clusterfs.Store(reversed(paths), SMALL) as store:
        assert store["page"] == b"other" and store.get("ä") == wanted["ä"]
        del store["ä"]
        assert store.get("ä") is None and store.get("ä", b"none") == b"none" and not store.remove("ä") and "ä" not in store
        assert store.length("ä") is None
        with pytest.raises(clusterfs.NotFound, match="not found"):
            store.read("ä")
        with pytest.raises(KeyError):
            del store["ä"]


def test_pieces(clusterfs, paths):
    data = content(1, 1000000)
    with clusterfs.Store(paths, SMALL) as store:
        with store.create("object", size=len(data)) as writer:
            for at in range(0, len(data), 99999):
                writer.write(data[at:at + 99999])
            assert "object" not in store
        assert store["object"] == data
        with pytest.raises(ZeroDivisionError):
            with store.create("broken") as writer:
                writer.write(b"bytes")
                print(1 / 0)
        assert "broken" not in store
        writer = store.create("twice")
        writer.commit()
        with pytest.raises(clusterfs.Error) as raised:
            writer.commit()
        assert raised.value.code == clusterfs.ERRORS["ARGUMENT"] and store["twice"] == b""
        store.create("forgotten").abort()
        del writer
        store.create("dropped").write(b"bytes")
        assert "dropped" not in store and "forgotten" not in store


def test_objects_outlive_their_name_and_the_store(clusterfs, paths):
    store = clusterfs.Store(paths[0], SMALL)
    store["small"], store["large"] = b"bytes", content(1, 2000000)
    small, large = store.read("small"), store.read("large")
    store["small"] = b"other"
    assert store.remove("large")
    assert bytes(small) == b"bytes" and bytes(large) == content(1, 2000000)
    store.close()
    store.close()
    assert bytes(small) == b"bytes"
    with pytest.raises(clusterfs.Error, match="closed"):
        bytes(large)
    with pytest.raises(clusterfs.Error, match="not valid"):
        store["small"]  # pylint: disable=pointless-statement


def test_what_belongs_together(clusterfs, paths):
    with clusterfs.Store(paths[0], SMALL) as store:
        members = [f"member{n}" for n in range(5)]
        store.collocate("leader", members)
        for n, name in enumerate(["leader", *members]):
            store[name] = content(n, 2000)
            store[f"stranger of {name}"] = content(n, 2000)
        store.sync()
        assert store.statistic("objects packed in groups") == 5
        store.write("one", b"x" * 2000, group=7)
        store.write("once", b"z", cached=False)
        assert store.get("once") == b"z" and store.group("once") is None
        store["two"] = b"x" * 2000
        store.assign(7, "two")
        store.love(7)
        store.hate(7)
        store.unmark(7)
        store.persist(7, None)
        store.persist(7, 0)
        assert store.group("two") == 7 and store.group("three") is None
        assert dict(store.members(7)) == {b"one": 2000, b"two": 2000}
        store["four"] = b"y"
        store.assign(8, "four")
        assert store.unassign("four") and not store.unassign("four")
        assert store.dissolve(7) and not store.dissolve(7) and not list(store.members(7))
        store.assign(7, "one")
        store.assign(7, "two")
        for name in members:
            assert store.note(1, f"noted {name}", "page")
        store.sync()
        assert store.statistic("objects packed in groups") == 6
        assert store.statistic("members by referer") == 5
        assert store.note(1, "noted alone")
        assert store.note_http(2, "a page", "http://site.test/", fetch_dest="document")
        assert store.note_http(2, "an image", "http://site.test/a.png", referer="http://site.test/", accept="image/*")


def test_calls_that_do_not_wait(clusterfs, paths):
    with clusterfs.Store(paths, SMALL) as store, clusterfs.Queue(store, 8) as queue:
        for n in range(8):
            queue.write(f"object{n}", content(n, 10000 * n), tag=("written", n))
        with pytest.raises(clusterfs.Error) as raised:
            queue.read("object0")
        assert raised.value.code == clusterfs.ERRORS["BUSY"]
        assert len(queue) == 8
        tags = set()
        while len(queue):
            assert select.select([queue], [], [], 60)[0]
            for answer in queue.wait(60, most=3):
                assert answer.result is None
                tags.add(answer.tag)
        assert tags == {("written", n) for n in range(8)}
        for n in range(7):
            queue.read(f"object{n}", tag=n)
        queue.read("none", tag="none")
        found = {}
        while len(queue):
            for answer in queue.wait():
                found[answer.tag] = answer
        for n in range(7):
            assert bytes(found[n].result) == content(n, 10000 * n)
        with pytest.raises(clusterfs.NotFound):
            found["none"].result  # pylint: disable=pointless-statement
        queue.remove("object1", tag="gone")
        queue.sync(tag="synced")
        assert {answer.tag for _ in range(2) for answer in queue.wait(60, most=1)} == {"gone", "synced"}
        assert "object1" not in store and queue.wait(0) == []


def test_threads(clusterfs, paths):
    wrong = []
    with clusterfs.Store(paths, SMALL) as store:
        def work(thread):
            for n in range(50):
                name = f"object{thread}-{n}"
                store[name] = content(n, 1000 * n)
                if store.get(name) != content(n, 1000 * n):
                    wrong.append(name)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_an_accelerator(clusterfs, paths, folder):
    (folder / "files").mkdir()
    data = content(1, 50000)
    (folder / "files" / "file").write_bytes(data)
    with clusterfs.Store(paths, SMALL) as store, clusterfs.Accelerator(store, folder / "files", settled=0) as accelerator:
        for stored in (False, True):
            with accelerator.open("file", client=1) as file:
                assert file.stored == stored and file.read() == data and file.read(7, 11) == data[7:18]
        with pytest.raises(FileNotFoundError):
            accelerator.open("none")
        counts = accelerator.counts()
        assert counts["opened"] == 2 and counts["stored"] == 1 and counts["copied"] == 1
        kept = accelerator.open("file")
    with pytest.raises(clusterfs.Error):
        kept.read()  # closed with the store
    with pytest.raises(FileNotFoundError):
        clusterfs.Accelerator(clusterfs.Store(paths, SMALL), folder / "none")


def test_errors(clusterfs, paths, folder):
    with pytest.raises(clusterfs.Error, match="staging") as raised:
        clusterfs.Store(paths, {"staging": "none"})
    assert raised.value.code == clusterfs.ERRORS["ARGUMENT"]
    (folder / "foreign").write_bytes(b"somebody's data" + bytes(16 << 20))
    with pytest.raises(clusterfs.Error) as raised:
        clusterfs.format(folder / "foreign")
    assert raised.value.code == clusterfs.ERRORS["FOREIGN"]
    with pytest.raises(clusterfs.Error, match="none"):
        clusterfs.Store(folder / "none")
    assert clusterfs.format(folder / "foreign", force=True)
    assert clusterfs.version() in (TOP / "src/fs/cluster/base/Version.h").read_text(encoding="utf-8")


def test_the_library_stays_while_its_threads_run(clusterfs, paths):
    """A program may unload it with a store open, as Python does at its end."""
    program = ("import clusterfs, sys, time\nstore = clusterfs.Store(sys.argv[1], {'staging': 4, 'read-cache': 2})\nstore['a'] = b'b'\n"
               "clusterfs._ffi.dlclose(clusterfs._lib)\ntime.sleep(0.5)\nprint('done')\n")
    done = subprocess.run([sys.executable, "-c", program, paths[0]], env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
                          capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_the_example_stores_a_crawl_and_reads_it(clusterfs, folder):
    site = folder / "site"
    site.mkdir()
    for n in range(3):
        (site / f"page{n}.html").write_text(f'<title>Page {n}</title><a href="page{(n + 1) % 3}.html">next</a><img src="image{n}.png">'
                                            '<link rel="stylesheet" href="style.css"><a href="http://elsewhere.invalid/">away</a>', encoding="utf-8")
        (site / f"image{n}.png").write_bytes(content(n, 5000))
    (site / "style.css").write_text("body {}", encoding="utf-8")
    server = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", site, "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    try:
        port = int(server.stdout.readline().split("port ")[1].split()[0])
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        for n, asked in enumerate(("7 fetched, 0 found", "0 fetched, 7 found")):
            done = subprocess.run([sys.executable, TOP / "examples/library/crawl.py", folder / "store", f"http://127.0.0.1:{port}/page0.html"],
                                  env=environment, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            assert asked in done.stdout, (n, done.stdout)
            assert "3 pages" in done.stdout and "Page 2" in done.stdout, done.stdout
    finally:
        server.kill()
        server.wait()
    with clusterfs.Store(folder / "store") as store:
        assert store[f"http://127.0.0.1:{port}/image1.png"] == content(1, 5000)
        assert store.length(f"http://127.0.0.1:{port}/page0.html") == (site / "page0.html").stat().st_size
