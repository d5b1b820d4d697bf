# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of a page are learned, packed side by side, and read back in one request."""

import concurrent.futures

import pytest

from squidkit.client import Client

pytestmark = pytest.mark.stores("clusterfs")

PAGES, MEMBERS = 24, 15
OPTIONS = "persist=1 checkpoint=2 warm=off"  # or a restart would leave hardly anything to read


def visit(t, client, page, how):
    """Fetches a page and what it embeds, as a browser does; every byte is compared."""
    document = t.url(f"page{page}", size=3000 + page)
    client.get(document, Sec_Fetch_Dest="document", Accept="text/html").check()
    for number in range(MEMBERS):
        headers = {"Sec_Fetch_Dest": "image", "Accept": "image/*"}
        if how == "referer":
            headers["Referer"] = document
        elif how == "origin":
            headers["Referer"] = "/".join(document.split("/")[:3]) + "/"
        client.get(t.url(f"page{page}-{number}", size=2000 + 700 * number + page), **headers).check()


def visit_all(t, squid, how, at_once):
    """Several browsers visit all pages."""
    def browse(first):
        client = Client(squid.port)
        for page in range(first, PAGES, at_once):
            visit(t, client, page, how)
    with concurrent.futures.ThreadPoolExecutor(at_once) as browsers:
        list(browsers.map(browse, range(at_once)))


def reads_per_page(t, how, options="", at_once=6):
    """How many times a page's object had to wait for the disk, after all were visited and Squid restarted.
    On a disk where a request costs much, so that reading groups always pays."""
    disk = t.modelled_disk(256, "readLatency=4000")
    squid = t.running(t.cache_dir("", f"{OPTIONS} {options}", path=disk.path))
    visit_all(t, squid, how, at_once)
    squid.wait_packed()
    squid.restart()
    visit_all(t, squid, how, 1)
    values = squid.values()
    assert values.number("lookups found") >= PAGES * (MEMBERS + 1), values.text
    return values.number("hits from disk") / PAGES, values


@pytest.mark.needs("modelled disk")
@pytest.mark.quick
def test_pages_are_read_in_one_request(t):
    """With Referers: one read a page, or two where it lies in two clusters; a busy machine makes the disk's costs look
    different now and then, so that some objects are read alone."""
    reads, values = reads_per_page(t, "referer")
    assert reads <= 4, f"{reads} reads a page\n{values.text}"
    assert values.number("group reads") + values.number("prefetch reads") >= PAGES / 2, values.text
    assert values.number("objects prefetched") >= PAGES * MEMBERS / 2, values.text
    assert values.number("members by referer") > 0, values.text
    assert values.number("groups known before") >= PAGES, values.text


@pytest.mark.needs("modelled disk")
def test_nothing_is_learned_when_told_so(t):
    reads, values = reads_per_page(t, "referer", "locality=0")
    assert reads > MEMBERS / 2, f"{reads} reads a page\n{values.text}"
    assert values.number("group reads") == 0, values.text
    assert values.number("groups known") == 0, values.text


@pytest.mark.needs("modelled disk")
def test_pages_without_referers(t):
    """Privacy settings hide the Referer: time tells, when one browser's pages come one after the other."""
    reads, values = reads_per_page(t, "nothing", at_once=1)
    assert reads <= 4, f"{reads} reads a page\n{values.text}"


@pytest.mark.quick
def test_only_what_clients_want_is_learned(t):
    """While a response comes in, Squid looks for others of its URL, such as one to a HEAD: nobody has asked for these."""
    squid = t.running(options=OPTIONS)
    visit_all(t, squid, "referer", 1)
    values = squid.values()
    assert values.number("members known") == PAGES * MEMBERS, values.text
    assert values.number("groups known") == PAGES, values.text


def test_hostile_referers(t):
    """A client that claims everything for one page, and one with odd Referers, do no harm but to the gain."""
    squid = t.running(options=OPTIONS)
    client = Client(squid.port)
    page = t.url("everything", size=5000)
    odd = ("", "x", "http://", "http://" + "a" * 3000 + "/", "\xff\xfe", "//", "http://[::", page + "#" * 100, "about:blank")
    for number in range(400):
        client.get(t.url(f"o{number}", size=1000 + number * 13), Sec_Fetch_Dest="image",
                   Referer=odd[number % len(odd)] if number % 2 else page).check()
    visit_all(t, squid, "referer", 4)
    squid.restart()
    for number in range(400):
        t.hit(squid, t.url(f"o{number}", size=1000 + number * 13))
    visit_all(t, squid, "referer", 4)
