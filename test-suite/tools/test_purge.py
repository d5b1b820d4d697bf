# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs purge: what it removes stays gone, and nothing else goes."""

from toolkit import store, url

PAGES = {
    "http://a.example/": 900, "http://a.example/style.css": 5000, "http://a.example/film": 300000,
    "http://a.example.org/": 700, "http://b.example/a.example/": 800, "https://a.example/": 600, "http://b.example/x?y=1": 65000}


def pages(test, crash=False, options=()):
    image = test.image()
    test.fill(image, *[store(name, size) for name, size in PAGES.items()], "pack", crash=crash, options=options)
    return image


def purged(test, image, option, expected, **others):
    """Purges, and looks in every way whether exactly these are gone."""
    before = test.dump(image)
    lines = test.tool("purge", image.path, option, **others).out.splitlines()
    assert lines[-1] == f"removed {len(expected)} objects, {sum(PAGES[name] for name in expected)} bytes", lines
    assert sorted(lines[:-1]) == sorted(f"{before[n]['key']}\t{PAGES[n]}\t{n}" for n in expected), lines
    left = {name: size for name, size in PAGES.items() if name not in expected}
    assert {name: e["size"] for name, e in test.dump(image).items()} == left
    test.clean(image)
    report = test.json("check", image)
    assert report["clean"] and report["objects"] == len(left), report
    for crash in (True, False):  # two more starts, the first one without a proper end
        answers = test.fill(image, *["read " + name for name in PAGES], crash=crash)
        assert answers == ["gone" if name in expected else "right" for name in PAGES], answers
    assert {name: e["size"] for name, e in test.dump(image).items()} == left


def test_by_url(test):
    purged(test, pages(test), "--url=http://a.example/", ["http://a.example/"])


def test_large_object(test):
    purged(test, pages(test), "--url=http://a.example/film", ["http://a.example/film"])


def test_by_prefix(test):
    purged(test, pages(test), "--prefix=http://a.example/",
           ["http://a.example/", "http://a.example/style.css", "http://a.example/film"])


def test_by_pattern(test):
    purged(test, pages(test), "--pattern=^https?://a\\.example/$", ["http://a.example/", "https://a.example/"])


def test_everything(test):
    purged(test, pages(test), "--pattern=.", list(PAGES))


def test_after_a_crash(test):
    purged(test, pages(test, crash=True), "--prefix=http://b.", ["http://b.example/a.example/", "http://b.example/x?y=1"])


def test_keeps_keys(test):
    image = pages(test, options=("list=on",))
    purged(test, image, "--prefix=https:", ["https://a.example/"])
    test.tool("purge", image.path, "--url=http://a.example/")
    assert test.json("inspect", image)["index_log"]["keys"] is True


def test_a_replaced_object(test):
    image = pages(test)
    test.fill(image, store("http://a.example/", 1900), store("http://a.example/", 2900), "pack")
    assert "removed 1 objects, 2900 bytes" in test.tool("purge", image.path, "--url=http://a.example/").out
    assert test.fill(image, "read http://a.example/") == ["gone"]
    test.fill(image, store("http://a.example/", 3900), "pack")
    assert test.fill(image, "read http://a.example/") == ["right"]
    assert test.dump(image)["http://a.example/"]["size"] == 3900


def test_dry_run(test):
    image = pages(test, crash=True)
    before = image.digest()
    lines = test.tool("purge", image.path, "--prefix=http://a.example/", "--dry-run").out.splitlines()
    assert lines[-1] == "would remove 3 objects, 305900 bytes" and len(lines) == 4, lines
    assert image.digest() == before


def test_nothing_to_remove(test):
    image = pages(test, crash=True)
    before = image.digest()
    for option in ("--url=http://a.example", "--prefix=ftp:", "--pattern=^$"):
        assert test.tool("purge", image.path, option).out == "removed 0 objects, 0 bytes\n"
    assert image.digest() == before


def test_many(test):
    image = test.image(megabytes=32)
    names = [url(n) for n in range(3000)]
    test.fill(image, *[store(name, 400 + len(name)) for name in names], "pack")
    found = test.dump(image)
    assert len(found) == len(names)
    assert f"removed {len(names)} objects" in test.tool("purge", image.path, "--prefix=http:").out
    assert not test.dump(image)
    test.clean(image)
    assert set(test.fill(image, *["read " + name for name in names[::50]])) == {"gone"}


def test_damaged_objects(test):
    image = pages(test)
    entry = test.dump(image)["http://a.example/style.css"]
    report = test.json("inspect", image, f"--cluster={entry['cluster']}")
    image.flip(report["offset"] + entry["offset"] + 60)
    done = test.tool("purge", image.path, "--prefix=http://a.example/", code=1)
    assert "1 damaged objects were not looked at" in done.err
    assert done.out.endswith("removed 2 objects, 300900 bytes\n"), done.out
    answers = test.fill(image, "read http://a.example/style.css", "read http://a.example/", "read http://a.example.org/")
    assert answers == ["unreadable", "gone", "right"], answers
