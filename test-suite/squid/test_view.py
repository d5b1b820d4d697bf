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
    assert len(re.findall(r"^device +64.0 MB, \d+ % in use +\d\d objects of 3\d\.\d KB$", out, re.M)) == 2, out
    assert len(re.findall(r"^hits +[1-9][\d.]*( k)?/s ", out, re.M)) == 2 and len(re.findall(r"^errors +none", out, re.M)) == 2, out
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


@pytest.mark.stores("clusterfs")
def test_report(t):
    """A page of a running Squid, and one of the same cache when Squid has stopped."""
    squid, urls, page = t.running(options="persist=1"), t.urls("object", 60), t.dir / "report.html"
    words = [BUILD / "clusterfs", "report", f"http://127.0.0.1:{squid.port}", "--seconds=3", "-o", page]
    with asking(t, squid, urls):
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stdout, done
    text = page.read_text(encoding="utf-8")
    assert str(t.image()) in text and "<b>60</b><small>objects of 3" in text and re.search(r"<b>[1-9][\d.]*( k)?/s</b><small>hits</small>", text), text
    squid.stop()
    done = subprocess.run([BUILD / "clusterfs", "report", t.image(), f"--output={page}"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
    text = page.read_text(encoding="utf-8")
    assert "<b>60</b><small>objects</small>" in text and "Heat: when it was used" in text and "<b>clean</b>" in text, text
