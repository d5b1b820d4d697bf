# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores the pages of a site with what they embed, and reads them back, a page's objects together.

    python3 crawl.py STORE URL [PAGES]

STORE is a file or a disk; a file that does not exist is made, with 64 MB. PAGES: how many at most (default 10). What the
store has is not fetched again. Needs the library and its module for Python: see docs/library.md. The parts can be run one
by one where an editor knows the marks."""

# %% What a page links and embeds
import html.parser
import re
import sys
import urllib.parse
import urllib.request

import clusterfs


class Page(html.parser.HTMLParser):
    """The links of a page, what it embeds, and its title."""

    def __init__(self, url, text):
        super().__init__()
        self.url, self.links, self.embedded = url, [], []
        self.title = " ".join(re.findall(r"<title>(.*?)</title>", text, re.S)[:1]).strip()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        name = {"a": "href", "img": "src", "script": "src", "link": "href"}.get(tag)
        if values.get(name):
            url = urllib.parse.urldefrag(urllib.parse.urljoin(self.url, values[name])).url
            (self.links if tag == "a" else self.embedded).append(url)


# %% Fetching what the store does not have
class Crawl:
    def __init__(self, store, start, most):
        self.store, self.most = store, most
        self.host = urllib.parse.urlsplit(start).netloc
        self.fetched = self.found = 0
        self.pages, self.waiting = [], [start]

    def bytes_of(self, url):
        data = self.store.get(url)
        if data is not None:
            self.found += 1
            return data
        with urllib.request.urlopen(url, timeout=10) as answer:
            data = answer.read(1 << 24)
        self.store[url] = data
        self.fetched += 1
        return data

    def run(self):
        seen = set()
        while self.waiting and len(self.pages) < self.most:
            url = self.waiting.pop(0)
            if url in seen or urllib.parse.urlsplit(url).netloc != self.host:
                continue
            seen.add(url)
            page = Page(url, self.bytes_of(url).decode("utf-8", "replace"))
            embedded = [one for one in page.embedded if urllib.parse.urlsplit(one).netloc == self.host]
            # side by side on the disk, so that one request reads all of the page
            self.store.collocate(url, embedded)
            for one in embedded:
                if one not in seen:
                    seen.add(one)
                    self.bytes_of(one)
            self.pages.append(page)
            self.waiting += page.links


# %% A crawl
def main(path, start, most):
    clusterfs.format(path, 64 << 20)
    with clusterfs.Store(path) as store:
        crawl = Crawl(store, start, most)
        crawl.run()
        print(f"{crawl.fetched} fetched, {crawl.found} found in the store")
        # %% Reading it back
        print(f"{len(crawl.pages)} pages:")
        for page in crawl.pages:
            size = sum(len(store.get(url, b"")) for url in (page.url, *page.embedded))
            print(f"{size:10} bytes  {page.title}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10)
