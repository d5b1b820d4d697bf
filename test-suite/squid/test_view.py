# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs top and clusterfs report with a real Squid; test-suite/tools has more of them."""

import contextlib
import os
import re
import subprocess
import threading

import pytest

from common import BUILD


def top(*words, env=(), code=0):
    done = subprocess.run([BUILD / "clusterfs", "top", "--once", *words], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "COLUMNS": "200", **dict(env)})
    assert done.returncode == code, done
    return done.stdout


@contextlib.contextmanager
def asking(t, squid, urls):
    """Clients ask for these objects all the time, and have got all of them before."""
    ended = threading.Event()
    t.fetch_all(squid, urls)

    def ask():
        while not ended.is_set():
            t.fetch_all(squid, urls, threads=2)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.stores("clusterfs")
@pytest.mark.quick
def test_once(t):
    """While clients ask for objects, the rates of both cache_dirs are there; a Squid that is away does not disturb."""
    squid = t.running(*(t.cache_dir(64, "persist=1", name=name) for name in ("one", "two")))
    urls = t.urls("object", 60)
    with asking(t, squid, urls):
        out = top(f"http://127.0.0.1:{squid.port}", "http://127.0.0.1:1", code=1)
    for name in ("one", "two"):
        row = next(line for line in out.splitlines() if f"/{name}.img " in line and "serving" in line and "──" not in line)
        assert float(row.split("serving")[1].split()[0]) > 0 and "100 %" in row, out
    assert len(re.findall(r"^device +64.0 MB, \d+ % in use +\d\d objects of 3\d\.\d KB +\d+ in flight$", out, re.M)) == 2, out
    assert len(re.findall(r"^hits +[1-9][\d.]*( k)?/s ", out, re.M)) == 2 and len(re.findall(r"^errors +none", out, re.M)) == 2, out
    assert len(re.findall(r"^clients wait +hit: p50 \d.*, p99 \d.* +miss: p50 -, p99 -$", out, re.M)) == 2, out
    assert re.search(r"^away +connection refused", out, re.M), out


@pytest.mark.stores("clusterfs")
def test_password(t):
    """Where Squid wants one, the page is refused without it."""
    squid = t.squid()
    squid.conf.write_text(squid.conf.read_text().replace("cachemgr_passwd none all", "cachemgr_passwd sesame clusterfs_metrics"))
    squid.create().start()
    address = f"http://127.0.0.1:{squid.port}"
    assert "the password is wrong or missing" in top(address, code=1)
    assert "the password is wrong or missing" in top(address, env={"CLUSTERFS_PASSWORD": "open"}, code=1)
    assert "serving" in top(address, env={"CLUSTERFS_PASSWORD": "sesame"})


def report(t, *words, env=()):
    """The page that the command writes."""
    page = t.dir / "report.html"
    done = subprocess.run([BUILD / "clusterfs", "report", *words, "-o", page], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **dict(env)})
    assert done.returncode == 0 and not done.stdout, done
    return page.read_text(encoding="utf-8")


def squares(text):
    """What the squares of a page's map say."""
    return re.findall(r"<title>(clusters? \d[^<]*)</title>", text)


@pytest.mark.stores("clusterfs")
def test_map_in_a_report(t):
    """A running Squid's maps and ages are those of its devices after a stop."""
    squid = t.running(*(t.cache_dir(64, "persist=1", name=name) for name in ("one", "two")))
    t.fetch_all(squid, t.urls("object", 60) + [t.url("large", size=3000000)])
    squid.wait_packed()
    text = report(t, f"http://127.0.0.1:{squid.port}", "--seconds=1")
    squid.stop()
    stopped = [report(t, t.image(name)) for name in ("one", "two")]
    assert squares(text) == [square for page in stopped for square in squares(page)]
    assert sum(int(n) for n in re.findall(r", (\d+) objects", " ".join(squares(text)))) == 61, squares(text)
    for name, page in zip(("one", "two"), stopped):
        assert f"<h2>Map of {t.image(name)}</h2>" in text
        for title in ("Heat: when it was used", "When it was written", "How much of it is still needed", "Age of what is stored"):
            assert re.search(f"<section><h3>{title}.*?</section>", page, re.S)[0] in text, title


@pytest.mark.stores("clusterfs")
def test_map_with_a_password(t):
    """A report without the password of the map says so in the map's place, and has all the rest."""
    squid = t.squid()
    squid.conf.write_text(squid.conf.read_text().replace("cachemgr_passwd none all", "cachemgr_passwd sesame clusterfs_map\ncachemgr_passwd none all"))
    squid.create().start()
    words = (f"http://127.0.0.1:{squid.port}", "--seconds=1")
    text = report(t, *words)
    assert "There is no map, and no age of what is stored: the password is wrong or missing" in text and not squares(text) and "Hits and misses a second" in text
    assert "There is no map" not in report(t, *words, env={"CLUSTERFS_PASSWORD": "sesame"})


@pytest.mark.stores("clusterfs")
def test_report(t):
    """A page of a running Squid, and one of the same cache when Squid has stopped."""
    squid, urls = t.running(options="persist=1"), t.urls("object", 60)
    with asking(t, squid, urls):
        text = report(t, f"http://127.0.0.1:{squid.port}", "--seconds=3")
    assert str(t.image()) in text and "<b>60</b><small>objects of 3" in text and re.search(r"<b>[1-9][\d.]*( k)?/s</b><small>hits</small>", text), text
    squid.stop()
    text = report(t, t.image())
    assert "<b>60</b><small>objects</small>" in text and "Heat: when it was used" in text and "<b>clean</b>" in text, text
