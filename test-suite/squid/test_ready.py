# SPDX-License-Identifier: GPL-2.0-or-later
"""The ready configurations in examples/, each run once, with servers and clients that behave like those it is for in what
matters, and with a restart in between. Only what stands below "# Yours" is replaced."""

import re
import socket
import ssl
import threading

import pytest

from common import TOP
from squidkit.processes import free_port, run, wait_for
from testlib.site import LAST_MODIFIED, Authority, Browser, Site

FOLDER = TOP / "examples"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.conf"))]
DISK = "/dev/disk/by-id/ata-YOUR_DISK"
DAY = 86400
MONTHS = str(200 * DAY)  # the Age of answers that caches have had for long
#: what this machine, and others of a cloud, have for themselves
HERE = ("http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/")


def halves(text):
    """What stands before "# Yours", what is theirs who use the example, and the rest."""
    before, _, after = text.partition("\n# Yours: ")
    yours, _, rest = after.partition("\n# As it is.\n")
    assert yours and rest
    return before, yours, rest


def replaced(name, changes):
    """The text of an example with {text: other text} in the part that is for it. Each text has to be there."""
    before, yours, rest = halves((FOLDER / f"{name}.conf").read_text(encoding="utf-8"))
    for old, new in changes.items():
        assert old in yours, f"{name}.conf has no '{old}' below '# Yours'"
        yours = yours.replace(old, str(new))
    return f"{before}\n# Yours: {yours}\n# As it is.\n{rest}"


class Ready:
    """A Squid with an example. hosts: the names of all sites that clients ask for; false: one whose certificate is another's."""

    def __init__(self, t, name, hosts, false="false.test"):
        self.t, self.name, self.hosts, self.false = t, name, hosts, false
        self.ours = Authority(t.dir / "ca", "proxy")
        self.theirs = Authority(t.dir / "ca", "world")
        self.web = t.closing(Site())
        self.second = t.closing(Site())
        self.tls = t.closing(Site(self.theirs.issue(*hosts)))
        self.ports = {}
        self.squid = self._make()
        self.client = Browser(self.ports.get("3128", 0), self.ours)
        self.undecrypted = Browser(self.ports.get("3128", 0), self.theirs)

    def _changes(self):
        """What this machine has in place of what the example names; ports are replaced elsewhere."""
        yours = halves((FOLDER / f"{self.name}.conf").read_text(encoding="utf-8"))[1]
        library = next((folder for folder in (self.t.prefix / "libexec", self.t.prefix / "lib" / "squid") if (folder / "log_file_daemon").exists()))
        for need, where in (("tls-cert", "security_file_certgen"), ("store_id_program", "storeid_file_rewrite")):
            if need in yours and not (library / where).exists():
                pytest.skip(f"this Squid is built without {where}")
        files = {"/usr/lib/squid": library, "/var/spool/squid/ssl_db": self.t.dir / "ssl_db", "/etc/squid/ca.pem": self.ours.pem}
        if "sslcrtd_program" in yours:
            self._follow({**files, " ca.crt": f" {self.ours.crt}", "proxy:proxy": f"--reference={self.t.dir}"})
        every = {
            **files,
            DISK: f"{self.t.image()} 200",
            "/etc/squid/www.example.com.pem": self.ours.issue("www.example.com"),
            "/etc/squid/store-id.rules": FOLDER / "store-id.rules",
            "192.0.2.10 parent 80 ": f"127.0.0.1 parent {self.web.port} ",
            "192.0.2.11 parent 80 ": f"127.0.0.1 parent {self.second.port} ",
            "acl clients src 10.0.0.0/8": "acl clients src 127.0.0.1 127.0.0.3",
            "acl workers src 10.0.0.0/8": "acl workers src 127.0.0.1 127.0.0.3",
        }
        return {old: new for old, new in every.items() if old in yours}

    @staticmethod
    def _follow(changes):
        """Runs the commands that tls-interception.conf has for the time before the first start."""
        lines = (FOLDER / "tls-interception.conf").read_text(encoding="utf-8").splitlines()
        told = "\n".join(line[4:] for line in lines if line.startswith("#   "))
        for old, new in changes.items():
            assert old in told, old
            told = told.replace(old, str(new))
        done = run("sh", "-ec", told)
        assert done.returncode == 0, f"{told}\n{done.stdout}"

    def _make(self):
        changes = self._changes()
        text = replaced(self.name, changes)
        conf = self.t.dir / "as-it-stands.conf"
        conf.write_text(text, encoding="utf-8")
        wrong = complaints(self.t.prefix / "sbin" / "squid", conf)
        assert not wrong, (self.name, wrong)

        self.ports = {port: free_port() for port in re.findall(r"^https?_port (\d+)", text, re.M)}
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        lines = [re.sub(r"^(https?_port )(\d+)", lambda found: f"{found[1]}127.0.0.1:{self.ports[found[2]]}", line) for line in lines if line]
        # each name of a site has an address that is none of this machine's, and all is asked of the test's own sites
        names = self.t.dir / "hosts"
        names.write_text(f"192.0.2.80 {' '.join(self.hosts)} {self.false}\n", encoding="utf-8")
        lines.append(f"hosts_file {names}")
        if not any(line.startswith("cache_peer") for line in lines):
            lines += [f"cache_peer 127.0.0.1 parent {self.web.port} 0 no-query no-digest originserver name=web login=PASSTHRU",
                      f"cache_peer 127.0.0.1 parent {self.tls.port} 0 no-query no-digest originserver name=tls login=PASSTHRU",
                      "acl test_tls proto HTTPS", "cache_peer_access web deny test_tls",
                      "cache_peer_access tls allow CONNECT", "cache_peer_access tls allow test_tls", "cache_peer_access tls deny all",
                      f"acl SSL_ports port {self.web.port} {self.tls.port}", f"acl Safe_ports port {self.web.port} {self.tls.port}",
                      "never_direct allow all", f"tls_outgoing_options cafile={self.theirs.crt}"]
        # what the tests' own lines set otherwise is Squid's default
        return self.t.squid(*lines, access="", max_object_mb=4).create().start()

    def secure(self, url):
        """This https: URL with the port of the test's sites."""
        return re.sub("^(https://[^/]+)", rf"\1:{self.tls.port}", url)

    def get(self, url, codes, client=None, asked=None, **headers):
        """A right answer with one of these result codes, and asked more requests at the site (of a hit none, else 1)."""
        site = self.tls if url.startswith("https:") else self.web
        before, thing = site.count(url), site.thing(url)
        reply = (client or self.client).get(url, **headers)
        code = self.squid.result(reply)
        assert code in codes.split(), f"{url}: {code}, expected {codes}"
        if asked is None:
            asked = 0 if code.endswith("HIT") else 1
        assert site.count(url) - before == asked, f"{url}: {code}, asked {site.count(url) - before} times"
        assert reply.complete and reply.status == thing.status and reply.body == thing.body, f"{url}: {reply.status} {reply.error}, {len(reply.body)} bytes"
        return reply

    def from_disk(self, url, **more):
        return self.get(url, "TCP_HIT", **more)

    def together(self, url, client=None):
        """Several clients ask before the site has answered; it is asked once. All get it."""
        site = self.tls if url.startswith("https:") else self.web
        thing, replies = site.thing(url), []
        thing.hold = threading.Event()
        threads = [threading.Thread(target=lambda: replies.append((client or self.client).get(url))) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: self.squid.mgr("active_requests").count(url.partition("?")[0]) >= len(threads), "all requests at Squid", 20)
        thing.hold.set()
        for thread in threads:
            thread.join()
        assert [reply.body == thing.body for reply in replies] == [True] * len(threads) and site.count(url) == 1, site.count(url)

    def refuses(self, *urls, tunnels=True):
        """None of these URLs is to be had, nor one by a stranger, nor the manager but from this machine; and where tunnels are
        allowed, nor another port than those of the web."""
        stranger = Browser(self.client.port, source="127.0.0.2")
        known = self.web.put(f"http://{self.hosts[0]}/known")
        assert stranger.get(known).status == 403 and self.client.get(known).status == 200
        self.hides_manager(self.squid.port, "127.0.0.1")
        if tunnels:
            urls += tuple(place.format(self.hosts[0]) for place in ("http://{}:25/", "https://{}:25/", "https://{}:80/"))
        for url in urls:
            assert self.client.status(url) == 403, url

    def hides_manager(self, port, name):
        """From clients on other machines."""
        other = Browser(port, direct=True, source="127.0.0.3")
        assert other.get(f"http://{name}/squid-internal-mgr/info").status == 403

    def log(self):
        """Squid's access.log."""
        return (self.squid.dir / "access.log").read_text(encoding="utf-8")

    def disk_was_read(self):
        values = self.squid.values()
        assert values.number("hits from disk") + values.number("windows warmed") > 0, values.text


def complaints(binary, conf):
    """What squid -k parse has to say of a configuration."""
    done = run(binary, "-k", "parse", "-f", conf)
    wrong = [line for line in done.stdout.splitlines() if re.search(r"ERROR|FATAL|WARNING|unrecognized|UPGRADE", line)]
    return wrong or ([] if done.returncode == 0 else [done.stdout])


pytestmark = [pytest.mark.stores("clusterfs"), pytest.mark.needs("openssl")]


def test_every_example_is_run():
    """Each has a test of its name here, and a row in operations.md."""
    page = (TOP / "docs" / "operations.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"](../examples/{name}.conf)" not in page] == []
    assert NAMES and [name for name in NAMES if f"test_{name.replace('-', '_')}" not in globals()] == []


def test_forward_proxy(t):
    """Pages and a large download are kept, HTTPS passes, and nobody gets at this machine or at other ports through it."""
    ready = Ready(t, "forward-proxy", ["www.site.test", "bank.test"])
    page = ready.web.put("http://www.site.test/index.html", Cache_Control=f"max-age={DAY}")
    pictures = [ready.web.put(f"http://www.site.test/picture{n}", size=5000 + n, Cache_Control=f"max-age={DAY}") for n in range(30)]
    film = ready.web.put("http://www.site.test/film.mp4", size=9 << 20, Last_Modified=LAST_MODIFIED)
    secret = ready.tls.put(ready.secure("https://bank.test/account"), Cache_Control="max-age=60")
    for url in [page, *pictures, film]:
        ready.get(url, "TCP_MISS", Referer=page)
    ready.squid.restart()
    for url in [page, *pictures, film]:
        ready.from_disk(url, Referer=page)
    ready.disk_was_read()
    for number in (1, 2):
        reply = ready.undecrypted.get(secret)
        assert reply.body == ready.tls.thing(secret).body and ready.tls.count(secret) == number
    ready.refuses(*HERE)


def test_tls_interception(t):
    """Clients that trust the proxy's CA get HTTPS from the disk; what must not be decrypted passes with the server's own
    certificate; nothing comes from a server whose certificate is another's."""
    ready = Ready(t, "tls-interception", ["www.site.test", "login.bank.example"])
    page = ready.tls.put(ready.secure("https://www.site.test/index.html"), Cache_Control=f"max-age={DAY}")
    pictures = [ready.tls.put(ready.secure(f"https://www.site.test/picture{n}"), size=5000 + n, Cache_Control=f"max-age={DAY}") for n in range(10)]
    film = ready.tls.put(ready.secure("https://www.site.test/film.mp4"), 6 << 20, Last_Modified=LAST_MODIFIED)
    own = ready.tls.put(ready.secure("https://www.site.test/inbox"), Cache_Control="private, max-age=60")
    account = ready.tls.put(ready.secure("https://login.bank.example/account"), Cache_Control=f"max-age={DAY}")
    plain = ready.web.put("http://www.site.test/plain", Cache_Control=f"max-age={DAY}")
    for url in [page, *pictures, film, plain]:
        ready.get(url, "TCP_MISS", Referer=page)
    ready.squid.restart()
    for url in [page, *pictures, film, plain]:
        ready.from_disk(url, Referer=page)
    ready.disk_was_read()
    for _ in range(2):
        ready.get(own, "TCP_MISS")
    with pytest.raises(ssl.SSLCertVerificationError):  # it is the server's certificate, not one of the proxy
        ready.client.get(account)
    for number in (1, 2):
        assert ready.undecrypted.get(account).body == ready.tls.thing(account).body and ready.tls.count(account) == number
    with pytest.raises(ssl.SSLCertVerificationError):
        ready.undecrypted.get(page)
    false = ready.tls.put(ready.secure("https://false.test/"))
    assert ready.client.get(false).status == 503 and ready.tls.count(false) == 0
    # an intercepted client's address is known first, and the name from its TLS only
    intercepted, secret = [Browser(ready.client.port, whose, tunnel="192.0.2.80") for whose in (ready.ours, ready.theirs)]
    ready.from_disk(page, client=intercepted)
    assert secret.get(account).body == ready.tls.thing(account).body
    with socket.create_connection(("127.0.0.1", ready.client.port)) as foreign:
        foreign.sendall(f"CONNECT 192.0.2.80:{ready.web.port} HTTP/1.1\r\n\r\n".encode())
        assert foreign.recv(1000).startswith(b"HTTP/1.1 200")
        foreign.sendall(b"SSH-2.0-client\r\n")
        assert b"Bad request syntax ('SSH-2.0-client')" in foreign.recv(10000)  # so says the server, not Squid
    assert "login.bank.example" in ready.log() and "/account" not in ready.log()
    ready.refuses(*HERE)


def test_accelerator(t):
    """Both ports answer for the server: a reload does not reach it, an old page comes while it is down, it learns who is
    there over HTTPS, and nobody gets at another site."""
    ready = Ready(t, "accelerator", ["www.example.com"])
    plain, tls = Browser(ready.ports["80"], direct=True), Browser(ready.ports["443"], ready.ours, direct=True)
    page = ready.web.put("http://www.example.com/index.html", Cache_Control=f"max-age={DAY}", Last_Modified=LAST_MODIFIED)
    old = ready.web.put("http://www.example.com/news", Cache_Control="max-age=60", Age="3600", Last_Modified=LAST_MODIFIED)
    members = ready.web.put("http://www.example.com/members", needs={"Authorization": "Basic eDp5"}, Cache_Control="max-age=60")
    film = ready.web.put("http://www.example.com/film.mp4", 6 << 20, Last_Modified=LAST_MODIFIED)
    ready.get(page, "TCP_MISS", client=plain)
    ready.get(film, "TCP_MISS", client=plain)
    ready.together(ready.web.put("http://www.example.com/front", Cache_Control="max-age=60"), client=plain)
    secret = page.replace("http:", "https:")
    ready.tls = ready.web  # the server speaks HTTP only
    ready.get(secret, "TCP_MISS", client=tls, X_Forwarded_Proto="gopher")
    assert ready.web.thing(page).last["x-forwarded-proto"] == "https"
    ready.get(old, "TCP_MISS", client=plain, X_Forwarded_Proto="https")
    assert "x-forwarded-proto" not in ready.web.thing(old).last
    for _ in range(2):
        ready.get(members, "TCP_MISS", client=plain, Authorization="Basic eDp5")
    ready.squid.restart()
    ready.from_disk(page, client=plain)
    ready.from_disk(film, client=plain)
    ready.from_disk(secret, client=tls)
    ready.from_disk(page, client=plain, Cache_Control="no-cache", Pragma="no-cache")
    ready.get(old, "TCP_REFRESH_UNMODIFIED", client=plain)
    ready.disk_was_read()
    assert plain.get("http://www.elsewhere.example/index.html").status == 403
    ready.hides_manager(ready.ports["80"], "www1.example.com")
    stranger = Browser(ready.ports["80"], direct=True, source="127.0.0.2")
    assert stranger.request(page, method="PURGE").status == 403
    ready.from_disk(page, client=stranger)
    assert plain.request(page, method="PURGE").status == 200
    ready.get(page, "TCP_MISS", client=plain)
    ready.web.close()
    ready.get(old, "TCP_REFRESH_FAIL_OLD TCP_REFRESH_FAIL_OLD_ABORTED", client=plain, asked=0)


def test_cvmfs(t):
    """Files of CVMFS, its short-lived .cvmfspublished, and what is not there, are kept; Frontier's conditional requests fill
    the cache; no other server is reached."""
    ready = Ready(t, "cvmfs", ["cvmfs-stratum-one.cern.ch", "frontier.cern.ch", "www.site.test"])
    stratum = "http://cvmfs-stratum-one.cern.ch/cvmfs/atlas.cern.ch"
    files = [ready.web.put(f"{stratum}/data/{n % 256:02x}/{n:038x}", size=20000 + 997 * n, Cache_Control=f"max-age={3 * DAY}",
                           Last_Modified=LAST_MODIFIED) for n in range(60)]
    catalog = ready.web.put(f"{stratum}/data/ff/{0:038x}C", size=12 << 20, Cache_Control=f"max-age={3 * DAY}", Last_Modified=LAST_MODIFIED)
    published = ready.web.put(f"{stratum}/.cvmfspublished", size=500, Cache_Control="max-age=45")
    missing = ready.web.put(f"{stratum}/data/00/{1:038x}X", size=200, status=404)
    query = "http://frontier.cern.ch/atlr/Frontier/type=frontier_request:1:DEFAULT&encoding=BLOBzip5&p1=" + "eNorTk1OVEgpyk9S" * 40
    ready.web.put(query, Cache_Control=f"max-age={DAY}", Last_Modified=LAST_MODIFIED)
    outside = ready.web.put("http://www.site.test/")
    for url in [*files, catalog, published, missing]:
        ready.get(url, "TCP_MISS")
    reply = ready.client.get(query, If_Modified_Since=LAST_MODIFIED)
    assert reply.status == 200 and ready.web.thing(query).answers == {200: 1} and "if-modified-since" not in ready.web.thing(query).last
    ready.squid.restart()
    for url in [*files, catalog, published]:
        ready.from_disk(url)
    ready.get(missing, "TCP_NEGATIVE_HIT")
    ready.from_disk(query)
    reply = ready.client.get(query, If_Modified_Since=LAST_MODIFIED)
    assert reply.status == 304 and ready.web.count(query) == 1
    ready.disk_was_read()
    # when its time is over, a 304 makes it good again
    stale = ready.web.put(query + "x", Cache_Control="max-age=60", Age="3600", Last_Modified=LAST_MODIFIED)
    ready.get(stale, "TCP_MISS")
    ready.get(stale, "TCP_REFRESH_UNMODIFIED")
    assert ready.web.thing(stale).answers == {200: 1, 304: 1}
    ready.together(ready.web.put(f"{stratum}/data/01/{2:038x}", Cache_Control=f"max-age={DAY}"))
    ready.refuses(outside, tunnels=False)
    assert ready.undecrypted.status(ready.secure("https://frontier.cern.ch/")) == 403


def test_packages(t):
    """Packages are hits after months, lists are asked for each time, and a new list is taken at once."""
    ready = Ready(t, "packages", ["deb.debian.org", "dl.rockylinux.org", "www.site.test"])
    debian, rocky = "http://deb.debian.org/debian", "http://dl.rockylinux.org/pub/rocky/9/BaseOS/x86_64/os"
    packages = [ready.web.put(f"{debian}/pool/main/h/hello/hello_2.{n}-1_amd64.deb", size=40000 + n, Age=MONTHS, Last_Modified=LAST_MODIFIED)
                for n in range(20)]
    packages += [ready.web.put(f"{debian}/pool/main/l/linux/linux-image-6.12_amd64.deb", size=15 << 20, Age=MONTHS, Last_Modified=LAST_MODIFIED),
                 ready.web.put(f"{debian}/dists/trixie/main/binary-amd64/by-hash/SHA256/{7:064x}", Age=MONTHS, Last_Modified=LAST_MODIFIED),
                 ready.web.put(f"{rocky}/Packages/b/bash-5.1.8-9.el9.x86_64.rpm", Age=MONTHS, Last_Modified=LAST_MODIFIED),
                 ready.web.put(f"{rocky}/repodata/{8:064x}-primary.xml.gz", Age=MONTHS, Last_Modified=LAST_MODIFIED)]
    lists = [ready.web.put(url, Last_Modified=LAST_MODIFIED, ETag='"first"') for url in (
        f"{debian}/dists/trixie/InRelease", f"{debian}/dists/trixie/Release.gpg", f"{debian}/dists/trixie/main/binary-amd64/Packages.xz",
        f"{rocky}/repodata/repomd.xml")]
    short = ready.web.put(f"{debian}/pool/main/s/short/short_1_all.deb", Age=MONTHS, Cache_Control=f"max-age={30 * DAY}", Last_Modified=LAST_MODIFIED)
    for url in [*packages, *lists, short]:
        ready.get(url, "TCP_MISS")
    ready.squid.restart()
    for url in packages:
        reply = ready.from_disk(url)
        assert int(reply.headers["Age"]) >= int(MONTHS)
    ready.disk_was_read()
    for url in [*lists, short]:
        ready.get(url, "TCP_REFRESH_UNMODIFIED")
        assert ready.web.thing(url).answers == {200: 1, 304: 1}
    for url in lists:
        ready.web.put(url, seed=url + " the next day", Last_Modified="Tue, 02 Jan 2024 00:00:00 GMT", ETag='"second"')
        ready.get(url, "TCP_REFRESH_MODIFIED")
        reply = ready.client.get(url, If_Modified_Since="Tue, 02 Jan 2024 00:00:00 GMT")
        assert reply.status == 304 and ready.web.count(url) == 2  # a client's own question is Squid's, too
    ready.together(ready.web.put(f"{debian}/pool/main/n/new/new_1_all.deb", Last_Modified=LAST_MODIFIED))
    ready.refuses("http://www.site.test/")


def test_registry(t):
    """Two machines pull an image. The registry passes undecrypted, with their tokens; a layer is a hit under another
    signature, from the disk and without a connection to its host; what is asked for with a token is no one else's."""
    hub, blobs, quay = "registry-1.docker.io", "production.cloudflare.docker.com", "cdn01.quay.io"
    ready = Ready(t, "registry", [hub, blobs, quay], false="west.data.mcr.microsoft.com")

    def blob(host, digest, signature, **more):
        url = ready.secure(f"https://{host}/registry-v2/docker/registry/v2/blobs/sha256/{digest[:2]}/{digest}/data?verify={signature}")
        return ready.tls.put(url, seed=digest, Last_Modified=LAST_MODIFIED, **{"Age": MONTHS, **more})

    def pull(digest, signature, size, code):
        """Asks the registry, and follows its redirect as clients do: without the token."""
        layer = blob(blobs, digest, signature, size=size)
        url = ready.tls.put(ready.secure(f"https://{hub}/v2/library/debian/blobs/sha256:{digest}"), status=307, needs={"Authorization": "Bearer t"},
                            Location=layer, Cache_Control="no-cache")
        reply = ready.undecrypted.get(url, Authorization="Bearer t")
        assert reply.status == 307 and ready.tls.thing(url).answers == {307: 1}
        ready.get(reply.headers["Location"], code)

    layers = {f"{n:02x}" * 32: 30000 + 2000003 * n for n in range(1, 7)}
    for digest, size in layers.items():
        pull(digest, "first", size, "TCP_MISS")
    assert ready.undecrypted.get(ready.secure(f"https://{hub}/v2/library/debian/blobs/sha256:{digest}")).status == 401
    ready.squid.restart()
    for digest, size in layers.items():
        pull(digest, "second", size, "TCP_HIT")
    assert hub in ready.log() and "/v2/library" not in ready.log()
    ready.disk_was_read()
    strange = ready.web.put(f"http://{blobs}/blobs/sha256:{digest}", seed="by HTTP, anybody could put in this", Cache_Control="max-age=60")
    ready.get(strange, "TCP_MISS")
    ready.get(blob(blobs, digest, "again", size=size), "TCP_HIT")
    private, public = ("aa" * 32, "no-transform"), ("bb" * 32, f"public, max-age={DAY}")
    for (digest, control), second in ((private, "TCP_MISS"), (public, "TCP_HIT")):
        for code in ("TCP_MISS", second):
            ready.get(blob(quay, digest, code, Cache_Control=control, Age="1"), code, Authorization="Bearer t")
    ready.together(blob(blobs, "cc" * 32, "first"))
    false = blob(ready.false, "dd" * 32, "first")
    assert ready.client.get(false).status == 503 and ready.tls.count(false) == 0
    ready.refuses(*HERE)
    ready.tls.close()
    digest, size = layers.popitem()
    ready.tls.put(ready.secure(f"https://{blobs}/registry-v2/docker/registry/v2/blobs/sha256/{digest[:2]}/{digest}/data?verify=third"), seed=digest, size=size)
    ready.from_disk(ready.secure(f"https://{blobs}/registry-v2/docker/registry/v2/blobs/sha256/{digest[:2]}/{digest}/data?verify=third"))


def test_tiles(t):
    """Tiles are hits, and a 304 makes an old one good again; a changed one comes at once; an old one comes while the
    renderer is too busy; another renders while it is down; what is no tile is not asked for."""
    ready = Ready(t, "tiles", ["tile.example.com"])
    client = Browser(ready.ports["80"], direct=True)
    page = "https://map.example.com/"
    views = [[f"http://tile.example.com/14/{8800 + 4 * view + x}/{5370 + y}.png" for x in range(4) for y in range(3)] for view in range(4)]
    for url in sum(views, []):
        ready.web.put(url, size=10000 + len(url), Cache_Control=f"max-age={DAY}", ETag=f'"{url[-20:]}"')
    silent = ready.web.put("http://tile.example.com/3/1/2.png", ETag='"silent"')
    old = ready.web.put("http://tile.example.com/0/0/0.png", Cache_Control="max-age=60", Age=str(20 * DAY), ETag='"world"')
    for url in [*sum(views, []), old, silent]:
        ready.get(url, "TCP_MISS", client=client, Referer=page)
    ready.squid.restart()
    for url in [*sum(views, []), silent]:
        ready.from_disk(url, client=client, Referer=page, Cache_Control="no-cache")
    ready.disk_was_read()
    ready.get(old, "TCP_REFRESH_UNMODIFIED", client=client)
    assert ready.web.thing(old).answers == {200: 1, 304: 1}
    ready.web.put(old, seed="a new street", Cache_Control="max-age=60", Age=str(20 * DAY), ETag='"the world now"')
    reply = ready.get(old, "TCP_REFRESH_MODIFIED", client=client)
    ready.web.put(old, status=503)
    again = client.get(old)
    assert again.status == 200 and again.body == reply.body and ready.squid.result(again) == "TCP_REFRESH_FAIL_OLD"
    ready.together(ready.web.put("http://tile.example.com/1/0/0.png", Cache_Control="max-age=60"), client=client)
    assert client.request(silent, method="PURGE").status == 403
    for path in ("14/8800/5370.png/status", "14/8800/5370.png/dirty", "14/8800/5370.png?x=1", "index.html"):
        assert client.get(f"http://tile.example.com/{path}").status == 403, path
    assert client.get("http://www.elsewhere.example/14/8800/5370.png").status == 403
    ready.hides_manager(ready.ports["80"], "tile1.example.com")
    ready.web.close()
    ready.web = ready.second
    ready.get(ready.web.put("http://tile.example.com/2/0/0.png", Cache_Control="max-age=60"), "TCP_MISS", client=client)


def test_updates(t):
    """Pieces of a large file come from one download, which goes on without its client; the file is a hit under other
    hosts and signatures, as are chunks of Steam; a reload is a question."""
    ready = Ready(t, "updates", ["a.dl.delivery.mp.microsoft.com", "b.tlu.dl.delivery.mp.microsoft.com", "download.windowsupdate.com",
                                 "cache1.steamcontent.com", "cache9-fra1.steamcontent.com", "www.site.test"])
    size = 40 << 20
    first, second = [ready.web.put(
        f"http://{host}/filestreamingservice/files/e56b5b40-3d30-449c-a72d-5ce7c0423f05?P1={n}&P2=404&P3=2&P4=DgQodfR4av4dn{n}%3d", size, seed="update",
        Age=MONTHS, Last_Modified=LAST_MODIFIED) for n, host in enumerate(ready.hosts[:2])]
    body = ready.web.thing(first).body
    more = threading.Event()
    ready.web.thing(first).hold, ready.web.thing(first).held = more, 1 << 20

    def piece(url, start, end, client):
        reply = client.get(url, Range=f"bytes={start}-{end - 1}")
        assert reply.status == 206 and reply.headers["Content-Range"] == f"bytes {start}-{end - 1}/{size}", (reply.status, dict(reply.headers))
        assert reply.body == body[start:end], f"{url}: bytes {start} to {end}"
        return reply

    piece(first, 0, 100000, ready.client)  # this client goes, and the download stays
    far = [threading.Thread(target=piece, args=(url, size - 300000 * (n + 1), size - 300000 * n, Browser(ready.client.port)))
           for n, url in enumerate((first, second, first, second))]
    for thread in far:
        thread.start()
    more.set()
    for thread in far:
        thread.join()
    assert (ready.web.count(first), ready.web.count(second)) == (1, 0)
    wait_for(lambda: ready.client.cached(first), "the whole file in the cache", 60)
    chunks = [[ready.web.put(f"http://{host}/depot/228983/chunk/{n:040x}", 900000 + n, seed=f"chunk {n}", Cache_Control="max-age=31536000")
               for host in ready.hosts[3:5]] for n in range(8)]
    cab = ready.web.put("http://download.windowsupdate.com/c/msdownload/update/software/secu/2026/11/kb.cab", 500000, Age=MONTHS, Last_Modified=LAST_MODIFIED)
    left = ready.web.put("http://download.windowsupdate.com/c/left.cab", 9 << 20, Last_Modified=LAST_MODIFIED)
    ready.web.thing(left).hold, ready.web.thing(left).held = threading.Event(), 1 << 20
    fetch = ready.client.open(left)
    fetch.read(100000)
    fetch.abort()
    wait_for(lambda: left not in ready.squid.mgr("active_requests"), "Squid knows that the client is gone")
    ready.web.thing(left).hold.set()
    wait_for(lambda: ready.client.cached(left), "the file that its client has left")
    for url, _ in chunks:
        ready.get(url, "TCP_MISS")
    ready.get(cab, "TCP_MISS")
    ready.squid.restart()
    for start in (size - 100000, 20 << 20, 5, (1 << 20) - 1):
        assert ready.squid.result(piece(second, start, start + 70000, ready.client)) == "TCP_HIT"
    for _, url in chunks:
        ready.from_disk(url)
    for url in (first, second, cab, left):
        ready.get(url, "TCP_HIT")
    ready.disk_was_read()
    ready.get(cab, "TCP_REFRESH_UNMODIFIED", Pragma="no-cache", Cache_Control="no-cache")
    assert ready.web.thing(cab).answers == {200: 1, 304: 1}
    ready.together(ready.web.put("http://download.windowsupdate.com/c/next.cab", Last_Modified=LAST_MODIFIED))
    ready.refuses("http://www.site.test/")
