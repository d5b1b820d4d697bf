# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs top: how it reads the page of metrics, what it makes of two of them, and its screen. test-suite/squid/test_view.py
asks a real Squid."""

import os
import re
import shutil
import subprocess

import pytest

import pages
from common import BUILD, TOP
from view import figures, metrics, screen


@pytest.fixture
def server(request):
    """Makes servers that end with the test."""
    def make(*answers, **options):
        made = pages.Server(*answers, **options)
        request.addfinalizer(made.close)
        return made
    return make


def source(*texts, name="http://cache1.example.org:3128"):
    """A Squid that has given these pages, ten seconds apart."""
    found = metrics.Source(metrics.Address(name))
    for n, text in enumerate(texts):
        found.take(metrics.parse(text), "", 1000 + n * pages.SECONDS)
    return found


def away(name="http://cache9.example.org"):
    found = metrics.Source(metrics.Address(name))
    found.take({}, "connection refused", 1000)
    return found


def plain(lines):
    return ["".join(text for text, _ in line) for line in lines]


def said(found, width=100):
    """All that there is to say of the first cache_dir, as one text."""
    return "\n".join(plain(screen.details(found, found.dirs[0], screen.Drawing(True), width)))


# figures


def test_rates_of_a_real_page():
    """Each is the difference of two pages, divided by the time between them."""
    dir_ = source(pages.BEFORE, pages.AFTER).dirs[0]
    assert dir_.path == pages.PATH and dir_.state() == "serving" and dir_.used() and dir_.changes
    assert dir_.of("objects") == pages.number(pages.AFTER, "objects") > 1000
    by_place = [pages.grown("hits_total", f',from="{place}"') for place in metrics.PLACES]
    assert sum(by_place) > 100 and dir_.rate("hits_total") == pytest.approx(sum(by_place) / pages.SECONDS)
    assert dir_.rate("hits_total", **{"from": "disk"}) == by_place[2] / pages.SECONDS
    misses = sum(pages.grown(name) for name in metrics.MISSES)
    assert misses > 10 and dir_.misses() == misses / pages.SECONDS
    assert dir_.hit_rate() == pytest.approx(sum(by_place) / (sum(by_place) + misses))
    assert sum(dir_.space().values()) == pages.number(pages.AFTER, "clusters") and dir_.space()["large objects"] > 0
    for counter in ("pages_opened_total", "hits_total"):
        whole = pages.grown(counter) if counter.startswith("pages") else sum(by_place)
        assert dir_.reads_for(counter) == pytest.approx(pages.grown("disk_requests_total", ',operation="read"') / whole)
    assert f"{dir_.reads_for('pages_opened_total'):.2f} reads a page, {dir_.reads_for('hits_total'):.2f} a hit" in said(source(pages.BEFORE, pages.AFTER))
    without = re.sub(r".*pages_opened.*\n", "", pages.AFTER)
    assert source(without, without).dirs[0].reads_for("pages_opened_total") is None, "of an older clusterfs"
    assert dir_.history[-1][1]["reads"] == pages.grown("disk_requests_total", ',operation="read"') / pages.SECONDS


def test_percentiles_of_the_difference():
    """Those of the requests between two pages, not of all since the start."""
    dir_ = source(pages.BEFORE, pages.AFTER).dirs[0]
    buckets = dir_.buckets("read")
    requests = pages.grown("disk_requests_total", ',operation="read"')
    assert len(buckets) == 21 and sum(n for _, n in buckets) == requests > 50
    for share in (0.5, 0.9, 0.99):
        time = dir_.percentile("read", share)
        up_to = sum(n for bound, n in buckets if bound <= time)
        through = up_to + next(n for bound, n in buckets if bound > time)
        assert up_to <= share * requests <= through, (share, time)
    assert metrics.percentile([(1, 10), (2, 0), (4, 10), (float("inf"), 0)], 0.75) == 3
    assert metrics.percentile([(1, 0), (float("inf"), 3)], 0.5) == 1, "the last bucket has no end"
    assert metrics.percentile([(1, 0)], 0.5) is None


def test_waits_of_clients():
    """Those of hits and of misses, of the time between two pages; nothing of an older clusterfs."""
    found = source(pages.BEFORE, pages.AFTER)
    dir_ = found.dirs[0]
    for answer in metrics.ANSWERS:
        assert sum(n for _, n in dir_.buckets(answer)) == pages.grown("client_wait_seconds_count", f',answer="{answer}"') > 100
    assert 0.065 < dir_.percentile("miss", 0.5) < 0.262 and dir_.percentile("hit", 0.5) < 0.001 < dir_.percentile("hit", 0.99)
    shown = [figures.span(dir_.percentile(answer, share)) for answer in metrics.ANSWERS for share in (0.5, 0.99)]
    assert re.search("^clients wait +hit: p50 {}, p99 {} +miss: p50 {}, p99 {}$".format(*shown), said(found), re.M), said(found)
    older = [re.sub(r"(# \w+ )?clusterfs_client_wait.*\n", "", page) for page in (pages.BEFORE, pages.AFTER)]
    assert not source(*older).dirs[0].has_waits() and "clients wait" not in said(source(*older))


def test_first_answer_and_restart():
    """There are no rates without two answers of one run of Squid."""
    for found in (source(pages.BEFORE), source(pages.AFTER, pages.BEFORE)):  # counters that have become less
        dir_ = found.dirs[0]
        assert not dir_.changes and dir_.rate("hits_total") is None and dir_.misses() is None and dir_.hit_rate() is None
        assert dir_.percentile("read", 0.5) is None and dir_.of("objects") > 0
        text = said(found)
        assert re.search(r"^hits +-/s|^hits +- ", text, re.M) and "none since Squid's start" in text, text
    again = source(pages.AFTER, pages.BEFORE, pages.AFTER).dirs[0]
    assert again.changes and len(again.history) == 3


def test_figures():
    for value, text in ((None, "-"), (0, "0"), (3.25, "3.2"), (7, "7"), (9999, "9999"), (12345, "12.3 k"), (84e6, "84.0 M"), (2e9, "2.0 G")):
        assert figures.count(value) == text
    for value, text in ((0, "0 B"), (1023, "1023 B"), (1536, "1.5 KB"), (200 << 20, "200 MB"), (3 << 40, "3.0 TB")):
        assert figures.size(value) == text
    for value, text in ((31e-6, "31 us"), (0.0042, "4.2 ms"), (0.25, "250 ms"), (2.5, "2.5 s"), (42, "42 s"), (125, "2 min 5 s"), (90000, "1 d 1 h")):
        assert figures.span(value) == text
    assert figures.per_second("-") == "-" and figures.share(None) == "-" and figures.part(1, 3) == "33 %" and figures.part(1, 0) == "-"
    assert [figures.bound(((1 << n) - 1) / 1e6) for n in (5, 9, 10, 18, 20, 24)] == ["32 us", "512 us", "1 ms", "262 ms", "1 s", "16 s"]


def test_errors_and_unused_devices():
    """Errors of the last seconds stand out; a device that is not in use has only its state."""
    worse = pages.AFTER.replace('read_errors_total{path="' + pages.PATH + '"} 0', 'read_errors_total{path="' + pages.PATH + '"} 3')
    found = source(pages.BEFORE, worse)
    assert found.dirs[0].errors() == [("read errors", 3, 3)] and "3 read errors, 3 of them now" in said(found)
    assert "3 read errors\n" in said(source(worse, worse)) + "\n"
    unused = "".join(f'clusterfs_state{{path="/dev/sdz",state="{state}"}} {int(state == "unused")}\n' for state in ("serving", "unused"))
    found = source(unused, unused)
    assert found.dirs[0].state() == "unused" and "the device is not in use" in said(found)
    assert "/dev/sdz" in "\n".join(plain(screen.table(screen.rows([found]), 0, screen.Drawing(True), 80)))


# the screen


def others():
    """Pages that are none of a healthy Squid's: huge numbers, no numbers, buckets without bounds, a path with control
    characters, nothing but a state."""
    huge, large = (re.sub(r"} [1-9]\d*$", f"}} {value}", pages.AFTER, flags=re.M) for value in ("1e308", "9e19"))
    odd = pages.AFTER.replace('le="3.1e-05"', 'le="x"').replace("} 0\n", "} NaN\n").replace(pages.PATH, r"/dev/\\x\n" + "\033[2J" + "ä" * 90)
    return [source(huge), source(pages.BEFORE, huge), source(pages.BEFORE, large), source(odd, odd), source('clusterfs_state{path="/x",state="serving"} 1\n'), away(),
            metrics.Source(metrics.Address("http://[::1]:3129"))]


@pytest.mark.parametrize("blocks", (True, False))
def test_fits_any_terminal(blocks):
    """No line is longer than the terminal, from 70 columns on; no line is cut; nothing fails in smaller ones."""
    several = [source(pages.BEFORE, pages.AFTER, name=f"http://cache{n}.example.org") for n in range(9)]
    for sources in (several[:1], several, *([other] for other in others()), several[:2] + others()):
        view = screen.View(screen.Drawing(blocks))
        for width in (1, 70, 79, 80, 99, 100, 250):
            for height in (1, 3, 10, 24, 50, 90):
                for _ in range(2):
                    view.choose(sources, 1)
                    lines = plain(view.frame(sources, "12:00:00", "every 2 s", width, height))
                    assert len(lines) <= height and all(line.isprintable() for line in lines)
                    assert blocks or sources[-1] not in several or "".join(lines).isascii()
                    if width >= 70 and sources[-1] in several:
                        assert max(map(len, lines)) <= width, (width, max(lines, key=len))


def test_all_figures_fit_24_lines_of_80():
    """A real page, of three Squids: nothing is left out in the usual terminal."""
    sources = [source(pages.BEFORE, pages.AFTER, name=f"http://cache{n}.example.org") for n in (1, 2)] + [away()]
    lines = plain(screen.View(screen.Drawing(True)).frame(sources, "12:00:00", "every 2 s", 79, 24))
    assert lines[-1].startswith("errors") and "q: quit" in lines[0] and "tab: next" in lines[0], lines
    assert sum(line.startswith(("  cache", "▶ cache")) for line in lines) == 3
    assert any(re.fullmatch(r"  cache9\S*:3128 +away: connection refused", line) for line in lines), lines


def test_choosing_goes_along():
    """The chosen row stays chosen when its Squid goes away and comes back, and when others do."""
    sources = [source(pages.BEFORE, name="http://a"), source(pages.BEFORE, name="http://b"), source(pages.BEFORE, name="http://c")]
    view = screen.View(screen.Drawing(True))
    view.choose(sources, -1)

    def chosen():
        return next(line for line in plain(view.frame(sources, "", "", 100, 40)) if line.startswith("▶"))

    assert " c:3128 " in chosen()
    sources[2].take({}, "connection refused", 2000)
    assert " c:3128 away" in chosen()
    sources[0].take({}, "connection refused", 2000)
    sources[2].take(metrics.parse(pages.AFTER), "", 3000)
    assert " c:3128 " in chosen() and "away" not in chosen() and not sources[2].dirs[0].changes
    view.choose(sources, 1)
    assert " a:3128 away" in chosen()


def test_bars():
    """Parts are seen however small, and together they are as long as the bar."""
    for blocks in (True, False):
        drawing = screen.Drawing(blocks)
        for parts in ((1, 0, 0), (1, 1, 1), (1000, 1, 1), (0, 0, 1), (1, 1000000, 0, 3), (5, 4, 3, 2, 1)):
            text = "".join(piece for piece, _ in drawing.bar(parts, 12))
            assert len(text) == 12 and [fill in text for fill in drawing.fills[:len(parts)]] == [part > 0 for part in parts], (parts, text)
        assert drawing.bar((0, 0), 5) == [(" " * 5, "")]


def test_shortened_at_a_boundary():
    drawing = screen.Drawing(True)
    for text, width, short in (("/dev/disk/by-id/ata-EXAMPLE", 20, "…/by-id/ata-EXAMPLE"), ("cache1.example.org:3128", 20, "cache1.example…:3128"),
                               ("cache1.example.org:3128", 16, "cache1…:3128"), ("no answer within 10 seconds", 20, "no answer within 10…"), ("short", 9, "short")):
        assert drawing.shorten(text, width) == short


# answers


def test_bad_answers(server):
    """Each gives one line of words, within the time."""
    for answer, says in (
            (pages.endless, "more than 1 MB"), (pages.slow, "no whole answer within 1 seconds"), (lambda c: pages.time.sleep(3), "no whole answer within 1 seconds"),
            (b"", "no answer of a Squid"), (b"SSH-2.0-OpenSSH\r\n\r\n", "no answer of a Squid"), (pages.status(401), "password"), (pages.status(403), "http_access"),
            (pages.status(404), "no cache_dir clusterfs"), (pages.status(503), "status 503"), (pages.ok("<html>hello</html>"), "no metrics of clusterfs"),
            (pages.ok("clusterfs_objects 5\nclusterfs_objects{} x\n"), "no metrics of clusterfs"), (pages.ok('squid_up{path="/x"} 1\n'), "no metrics of clusterfs")):
        with pytest.raises(metrics.Away, match=says):
            metrics.parse(metrics.fetch(metrics.Address(server(answer).url), timeout=1, most=1 << 20))
    with pytest.raises(metrics.Away, match="connection refused"):
        metrics.fetch(metrics.Address("http://127.0.0.1:1"))


def test_addresses():
    for text, name in (("http://a", "a:3128"), ("http://a:80/", "a:80"), ("http://[::1]", "[::1]:3128"), (f"http://a:1{metrics.PAGE}", "a:1")):
        assert metrics.Address(text).name == name
    for text in ("", "a", "a:3128", "https://a", "http://", "http://a:0", "http://a:x", "http://a:99999", "http://u@a", "http://a/b", "http://a?b", "http://a\r\nx", "http://ä"):
        with pytest.raises(metrics.BadRequest, match="give http://HOST:PORT"):
            metrics.Address(text)


# the command


def top(*words, env=(), code=0):
    """The command's output, in a locale of UTF-8."""
    done = subprocess.run([BUILD / "clusterfs", "top", *words], capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL,
                          timeout=120, check=False, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100", **dict(env)})
    assert done.returncode == code, done
    return done.stdout if code < 2 else done.stderr


def test_once(server):
    """Two Squids and one that is away: the figures of those that answer, and one line for the other."""
    one, two = (server(pages.ok(pages.BEFORE), pages.ok(pages.AFTER)) for _ in range(2))
    out = top("--once", "--interval=0.2", one.url, two.url, one.url, "http://127.0.0.1:1", code=1)
    rows = out.split("\n\n")[0].splitlines()
    assert len(rows) == 4 and rows[0].split()[:3] == ["Squid", "cache_dir", "state"] and rows[3].split() == ["127.0.0.1:1", "away:", "connection", "refused"], out
    assert len(re.findall(r"^hits +\d", out, re.M)) == 2 and len(re.findall(r"^away +connection refused \(since", out, re.M)) == 1, out
    assert re.search(r"^errors +none since Squid's start$", out, re.M), out
    assert top("--once", "--interval=0.2", one.url).startswith(f"── 127.0.0.1:{one.port} {pages.PATH}  serving ──")
    ascii_ = top("--once", "--interval=0.2", server(pages.ok(pages.AFTER.replace("EXAMPLE", "ä"))).url, env={"LC_ALL": "C"})
    assert ascii_.isascii() and "ata-?" in ascii_, ascii_


def test_password(server, folder):
    """It goes to Squid as Basic has it, from a file or the environment; the command line takes none."""
    squid, file = server(pages.ok(pages.AFTER)), folder / "password"
    file.write_text("open sesame\nnot this\n")
    for words, env, sent in (((f"--password-file={file}",), {"CLUSTERFS_PASSWORD": "other"}, "Y2x1c3RlcmZzOm9wZW4gc2VzYW1l"),
                             ((), {"CLUSTERFS_PASSWORD": "x"}, "Y2x1c3RlcmZzOng="), ((), {}, None)):
        squid.requests.clear()
        top("--once", "--interval=0.2", *words, squid.url, env=env)
        assert len(squid.requests) == 2
        for request in squid.requests:
            assert request.startswith("GET /squid-internal-mgr/clusterfs_metrics HTTP/1.0\r\n")
            assert re.findall(r"^Authorization: Basic (.*)\r$", request, re.M) == ([sent] if sent else []), request
    assert "no password can be read" in top("--once", f"--password-file={folder}/none", squid.url, code=2)


def test_refusals(test):
    test.refused("top", says="name a running Squid")
    test.refused("top", "--interval=0", "http://a", says="--interval=0")
    test.refused("top", "--once", "localhost:3128", says="give http://HOST:PORT")
    test.refused("top", "http://127.0.0.1:1", says="no terminal: use --once")


def test_without_python(folder):
    """What is missing is said in one line."""
    line = top("--once", "http://a", env={"PATH": str(folder)}, code=2)
    assert line == "clusterfs: top: python3 cannot be started: No such file or directory; install it (Debian package python3)\n"
    (folder / "sbin").mkdir()
    copy = shutil.copy(BUILD / "clusterfs", folder / "sbin")
    done = subprocess.run([copy, "top", "http://a"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "its Python files are missing" in done.stderr, done


def test_installed(folder, server):
    """make install brings all Python files, where the program finds them; running it leaves nothing there."""
    subprocess.run(["make", "-C", BUILD, "install-viewDATA", f"DESTDIR={folder}", "prefix=/usr"], check=True, stdout=subprocess.DEVNULL, timeout=120)
    (folder / "usr" / "sbin").mkdir()
    copy = shutil.copy(BUILD / "clusterfs", folder / "usr" / "sbin")
    place = folder / "usr" / "share" / "clusterfs" / "view"
    wanted = {path.name for path in (TOP / "tools" / "view").glob("*.py")}
    assert {path.name for path in place.iterdir()} == wanted
    words = [copy, "top", "--once", "--interval=0.2", server(pages.ok(pages.AFTER)).url]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "EXAMPLE" in done.stdout, done
    assert {path.name for path in place.iterdir()} == wanted


# in a terminal


@pytest.fixture
def terminal(request):
    pytest.importorskip("pyte", reason="pyte is not installed")
    from terminal import Terminal  # pylint: disable=import-outside-toplevel -- needs pyte

    def make(*words, **options):
        made = Terminal(BUILD / "clusterfs", "top", "--interval=0.3", *words, **options)
        request.addfinalizer(made.close)
        return made
    return make


def test_in_a_terminal(server, terminal):
    """What is typed is done; a Squid that is away comes back by itself; the terminal may change its size."""
    one, two = server(pages.ok(pages.BEFORE), pages.ok(pages.AFTER)), server(pages.ok(pages.AFTER))
    shown = terminal(one.url, two.url, "http://127.0.0.1:1")
    shown.wait_for(lambda text: text.count("serving") == 3 and "away: connection refused" in text and "errors  " in text, "three Squids")
    assert re.search(r"^hits  .*^space  .*^errors  ", shown.text(), re.M | re.S), shown.text()

    shown.type("tab")
    shown.wait_for(lambda text: f"▶ {two.url[7:]}" in text and f"── {two.url[7:]} " in text, "the second")
    shown.type("up")
    shown.wait_for(lambda text: f"▶ {one.url[7:]}" in text, "the first")
    shown.type("p")
    shown.wait_for(lambda text: "paused" in text, "pause")
    shown.type("p")
    shown.wait_for(lambda text: "every 0.3 s" in text, "end of the pause")

    one.close()
    shown.wait_for(lambda text: f"▶ {one.url[7:]} away: connection refused" in " ".join(text.split()), "loss")
    server(pages.ok(pages.AFTER), port=one.port)
    shown.wait_for(lambda text: text.count("serving") == 3, "return")
    shown.resize(160, 50)
    shown.wait_for(lambda text: "bytes written a second" in text and "misses/s" in text, "curves")
    shown.resize(60, 12)
    shown.wait_for(lambda text: "PgDn:" in text, "less room")
    shown.type("page down")
    shown.type("q")
    assert shown.end() == 0


def test_bad_terminal(terminal):
    shown = terminal("http://127.0.0.1:1", env={"TERM": "no-such-terminal"}, columns=150)
    assert shown.end() == 2 and "the terminal 'no-such-terminal' does not suit" in shown.text(), shown.text()
