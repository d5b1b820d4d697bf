#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Installs, upgrades, removes and purges the packages of "make deb" in a fresh Debian of the release that they were built
for, and asks its Squid for objects in between: the cache is used where the module is, Squid goes on where it is not, and
no step changes the cache's file but Squid itself. Other versions of Debian's Squid are tried, too. The files for udev,
systemd and AppArmor are tried with these programs. Needs root, loop devices, debootstrap and a Debian mirror. Everything
is below build/packages."""

import argparse
import hashlib
import http.server
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
WORK = BUILD / "packages"
KNOWN_SQUIDS = pathlib.Path(__file__).with_name("known-squids")
IMAGE = "var/spool/squid/clusterfs"
LINE = f"cache_dir clusterfs /{IMAGE} 200\n"
URLS = [f"http://127.0.0.1:8001/object{n}" for n in range(40)]
MISFIT = "ERROR: cache_dir clusterfs is not used: its module does not fit "
UNKNOWN = "This proxy does not support the 'clusterfs' cache type"


def body_of(path):
    return hashlib.sha256(path.encode()).hexdigest().encode() * 500


class Origin(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Origin.asked += 1
        body = body_of(self.path)
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=86400")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(*command, **options):
    """Runs a command; its output is returned, and shown where it fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


# inside, where there is no network but loopback

def serve(root, expect):
    """Starts Squid as its unit does and asks for all objects; expect: "hits", "misses", or "no cache". Prints when the
    first hit came."""
    run("ip", "link", "set", "lo", "up")
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 8001), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    (root / "run/squid").mkdir(exist_ok=True)
    shutil.chown(root / "run/squid", 13, 13)
    run("chroot", root, "/usr/sbin/squid", "--foreground", "-z")
    log = root / "var/log/squid/cache.log"
    begin = log.stat().st_size
    squid = subprocess.Popen(["chroot", root, "/usr/sbin/squid", "--foreground", "-sYC"], stderr=subprocess.DEVNULL)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))

    def wait_for_index():
        """A request that comes before the index is loaded is a miss."""
        until = time.monotonic() + 60
        while "index is complete" not in log.read_text(errors="replace")[begin:]:
            if squid.poll() is not None or time.monotonic() > until:
                sys.exit(f"Squid does not load the index:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)

    def fetch(url):
        until = time.monotonic() + 60
        while True:
            try:
                return opener.open(url, timeout=20).read()
            except OSError:  # Squid is not up yet
                if squid.poll() is not None or time.monotonic() > until:
                    sys.exit(f"Squid does not answer:\n{log.read_text()[-3000:]}")
                time.sleep(0.1)

    def fetch_all():
        before = Origin.asked
        for url in URLS:
            assert fetch(url) == body_of(url[len("http://127.0.0.1:8001"):]), f"{url}: another body"
        return Origin.asked - before

    try:
        if expect != "no cache":
            wait_for_index()
        first = fetch_all()
        wanted = 0 if expect == "hits" else len(URLS)
        assert first == wanted, f"expected {expect}: the origin was asked {first} times for {len(URLS)} objects"
        if expect == "no cache":
            return
        before = Origin.asked
        fetch(URLS[0])
        assert Origin.asked == before, f"{URLS[0]}: not a hit"
        print(time.monotonic())
        assert fetch_all() == 0, "the second time is not all hits"
    finally:
        squid.terminate()
        squid.wait(120)


def meet_udev(root, device):
    """Runs udev with the packages' rules, in a /dev that has one disk: setup gives the disk to Squid's user; after a loss of
    the owner, as at a start of the machine, udev does; a disk with a file system stays root's. (In a PID namespace of its own,
    udev would hear of nothing.)"""
    numbers = (pathlib.Path("/sys/class/block") / device / "dev").read_text().strip().split(":")
    dev, node = root / "dev", root / "dev" / device
    run("mount", "-t", "sysfs", "sysfs", root / "sys")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "dev", dev)
    run("mknod", "-m", "660", node, "b", *numbers)
    run("mknod", "-m", "666", dev / "null", "c", "1", "3")
    run("mknod", "-m", "444", dev / "urandom", "c", "1", "9")

    def inside(*command):
        return run("chroot", root, *command)

    def state():
        links = dev / "disk" / "by-clusterfs"
        return node.stat().st_uid, node.stat().st_mode & 0o777, [os.readlink(link) for link in links.iterdir()] if links.exists() else []

    def again():
        os.chown(node, 0, 6)
        node.chmod(0o660)
        inside("udevadm", "trigger", "--action=change", "--settle", f"--name-match=/dev/{device}")
        return state()

    (root / "run/udev").mkdir(exist_ok=True)
    udev = subprocess.Popen(["chroot", root, "/usr/lib/systemd/systemd-udevd"], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while not any((root / "run/udev" / name).is_socket() for name in ("control", "io.systemd.Udev")):  # the latter: newer ones
            assert udev.poll() is None and time.monotonic() < until, "udev does not start"
            time.sleep(0.1)
        said = inside("clusterfs", "setup", f"/dev/{device}", "--apply")
        assert "/usr/lib/udev/rules.d/65-clusterfs.rules gives it to proxy" in said, said
        ours = (13, 0o600, [f"../../{device}"])
        assert state() == ours, state()
        assert again() == ours, state()
        inside("mkfs.ext4", "-q", "-F", f"/dev/{device}")
        assert again() == (0, 0o660, []), state()
    finally:
        udev.terminate()
        udev.wait(30)


# outside

class Root:
    """A Debian in a folder."""

    def __init__(self, path):
        self.path = path
        self.log = path / "var/log/squid/cache.log"
        self.printed = ""  # by the last serve() inside

    def run(self, *command):
        return run("chroot", self.path, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", *command)

    def install(self, *packages):
        self.run("apt-get", "-q", "-y", "--no-install-recommends", "--allow-downgrades", "install", *packages)

    def version(self, package):
        return self.run("dpkg-query", "-W", "-f", "${Version}", package)

    def image(self):
        """What the cache's file holds."""
        with open(self.path / IMAGE, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def serve(self, expect):
        """\\returns what Squid wrote to cache.log meanwhile"""
        before = self.log.stat().st_size if self.log.exists() else 0
        self.printed = run("unshare", "--net", "--pid", "--fork", "--kill-child", sys.executable, __file__, "--serve", expect, self.path)
        return self.log.read_text(errors="replace")[before:]


def check_misfit(root):
    """Squid goes on without the cache. \\returns which program the module does not fit, and why"""
    before = root.image()
    log = root.serve("no cache")
    assert UNKNOWN in log, log
    reasons = re.findall(f"{MISFIT}(.*)", log)
    # once for each process that reads squid.conf, in front of Squid's own line
    assert reasons == reasons[:1] * log.count(UNKNOWN), reasons
    assert log.index(MISFIT) < log.index(UNKNOWN), log[:2000]
    assert root.image() == before, "a Squid that the module does not fit changed the cache"
    return reasons[0]


def known_deb(digest, path, addresses):
    """\\returns the file of a package, whose checksum apt compares, or nothing when no mirror has it; keeps it for the next time"""
    deb = WORK / "squids" / path.rpartition("/")[2]
    deb.parent.mkdir(exist_ok=True)
    for address in addresses:
        if not deb.exists():
            subprocess.run(["/usr/lib/apt/apt-helper", "download-file", f"{address.rstrip('/')}/{path}", deb, f"SHA256:{digest}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return deb if deb.exists() else None


def other_squids(root, release):
    """{version: its packages for apt-get, or nothing if they cannot be had} of Squids that are not installed: those of
    known-squids that have the same version but for Debian's part, and those that apt knows."""
    installed = root.version("squid")
    ours = (f"_{root.run('dpkg', '--print-architecture').strip()}.deb", "_all.deb")
    addresses = sorted({address for address, _ in repositories(release)})
    debs = {}
    for digest, path in (line.split() for line in KNOWN_SQUIDS.read_text().splitlines() if not line.startswith("#")):
        version = path.split("_")[1]
        if version != installed and version.partition("-")[0] == installed.partition("-")[0] and path.endswith(ours):
            debs.setdefault(version, []).append(known_deb(digest, path, addresses))
    found = {}
    for version, files in debs.items():
        found[version] = []
        if all(files):
            for file in files:
                shutil.copy(file, root.path / "packages")
                found[version].append(f"/packages/{file.name}")
    for line in root.run("apt-cache", "madison", "squid-openssl").splitlines():
        version = line.split("|")[1].strip()
        source = re.sub(r"\+b[0-9]+$", "", version)  # squid-common is not built again with the others
        if version != installed:
            found[version] = [f"squid={version}", f"squid-openssl={version}", f"squid-common={source}"]
    return found


def check_other_squids(root, release):
    """With each other version of Squid, the module either has hits or says that it does not fit."""
    others = other_squids(root, release)
    for version, packages in others.items():
        if not packages:
            say(f"Squid {version}: no mirror of this machine has it as known-squids names it; not tried")
            continue
        root.install(*packages)
        assert root.version("squid") == root.version("squid-openssl") == version
        for flavour in ("squid-openssl", "squid-gnutls"):  # the first goes before the other
            if MISFIT in root.run("/usr/sbin/squid", "-k", "parse"):
                say(f"Squid {version}: the module does not fit {check_misfit(root)}; Squid goes on")
            else:
                root.serve("hits")
                say(f"Squid {version}: with {flavour} all are hits")
            if flavour == "squid-openssl":
                root.run("apt-get", "-q", "-y", "remove", flavour)
    if not any(others.values()):
        say(f"no other Squid than {root.version('squid')} can be had")
    root.install("squid", "squid-openssl", "squid-common")


def check_udev(root):
    """udev verifies the rule, and does what it says."""
    root.run("udevadm", "verify", "/usr/lib/udev/rules.d/65-clusterfs.rules")
    disk = WORK / "disk"
    with open(disk, "wb") as file:
        file.truncate(64 << 20)
    device = pathlib.Path(run("losetup", "--find", "--show", disk).strip())
    try:
        run("unshare", "--mount", sys.executable, __file__, "--udev", device.name, root.path)
    finally:
        run("losetup", "--detach", device)


def check_systemd(root):
    """systemd understands squid.service with the drop-ins, and finds a mistake in one."""
    folder = root.path / "etc/systemd/system/squid.service.d"
    folder.mkdir(parents=True)
    example = "usr/share/doc/squid-clusterfs/examples/clusterfs-disk.conf"
    shutil.copy(root.path / example, folder)
    verify = "systemd-analyze verify --man=no squid.service || true"  # a small Debian lacks /bin/kill, which is no matter here
    said = root.run("sh", "-c", verify)
    assert "squid.service.d" not in said, said
    (folder / "mistake.conf").write_text("[Service]\nPrivateDevice=no\n")
    assert "squid.service.d/mistake.conf" in root.run("sh", "-c", verify)
    shutil.rmtree(folder)


def check_examples(root):
    """Debian's Squid takes the configurations that come with the package, and need no file of their own, without a word."""
    for name in ("forward-proxy", "cvmfs", "packages", "tiles"):
        said = root.run("/usr/sbin/squid", "-k", "parse", "-f", f"/usr/share/doc/squid-clusterfs/examples/{name}.conf")
        assert not re.search("ERROR|WARNING", said), said


def check_apparmor(root):
    """Squid's own profile takes the lines for the module. Debian has it disabled, which counts for its name alone."""
    profile, local = "/etc/apparmor.d/enabled.squid", root.path / "etc/apparmor.d/local/usr.sbin.squid"
    root.run("cp", "/etc/apparmor.d/usr.sbin.squid", profile)
    before = local.read_text()
    assert "/proc/swaps" not in root.run("apparmor_parser", "--preprocess", profile).replace("@{PROC}", "/proc")
    local.write_text("include <abstractions/squid-clusterfs>\n")
    assert "/proc/swaps" in root.run("apparmor_parser", "--preprocess", profile).replace("@{PROC}", "/proc")
    root.run("apparmor_parser", "--skip-kernel-load", "--skip-cache", profile)
    local.write_text(before)
    root.run("rm", profile)


def check_library(root, debs):
    """C, C++ and Python find what the library's packages have installed."""
    root.install(*debs, "gcc", "g++", "libc6-dev", "pkgconf")
    inside = root.path / "packages"
    shutil.copytree(TOP / "test-suite/library", inside / "test-suite/library")
    shutil.copytree(TOP / "examples/library", inside / "examples/library")
    folder = "/usr/lib/" + root.run("gcc", "-print-multiarch").strip()
    said = root.run("/packages/test-suite/library/installed", "/", folder, "cc", "c++")
    assert "the examples of the library were built and work" in said, said
    script = """import clusterfs
assert clusterfs.format("/packages/store", 64 << 20)
with clusterfs.Store("/packages/store") as store:
    store["name"] = b"bytes"
with clusterfs.Store("/packages/store") as store:
    assert store["name"] == b"bytes"
"""
    root.run("python3", "-c", script)
    root.run("apt-get", "-q", "-y", "purge", *(deb.rpartition("/")[2].split("_")[0] for deb in debs))
    left = [path for path in (root.path / "usr").rglob("*clusterfs*") if path.name.startswith("libclusterfs") or path.name == "clusterfs.pc"]
    assert not left, left


def repositories(release):
    """[(address, suite)] of that Debian where this machine's apt has those of its own release."""
    here = platform.freedesktop_os_release()["VERSION_CODENAME"]
    listed = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    rows = {tuple(line.split()) for line in listed.splitlines()}
    found = sorted((address, suite.replace(here, release, 1)) for address, suite, component in rows
                   if component == "main" and suite.split("-")[0] == here)
    if release not in (suite for _, suite in found):
        sys.exit(f"apt's sources do not name the suite {here}: run apt-get update, or name it there by its code name")
    return found


def fresh_root(release):
    """A copy of a Debian that debootstrap has made."""
    sources = repositories(release)
    base, path = WORK / release, WORK / "root"
    if not (base / "made").exists():
        shutil.rmtree(base, ignore_errors=True)
        mirror = next(address for address, suite in sources if suite == release)
        run("debootstrap", "--variant=minbase", release, base, mirror, "/usr/share/debootstrap/scripts/sid")  # that of all newer ones
        (base / "made").touch()
    shutil.rmtree(path, ignore_errors=True)
    run("cp", "-a", base, path)
    (path / "etc/apt/sources.list").write_text("".join(f"deb {address} {suite} main\n" for address, suite in sources))
    policy = path / "usr/sbin/policy-rc.d"  # the services of packages are not started
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    run("mount", "-t", "proc", "proc", path / "proc")
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "shm", path / "dev/shm")  # Squid's shared memory
    root = Root(path)
    # the lists of testing expire after a week; a mirror that is a copy of some day is good enough here
    root.run("apt-get", "-q", "-o", "Acquire::Check-Valid-Until=false", "update")
    return root


def newer(deb):
    """The same package with a higher version."""
    folder = WORK / "newer"
    shutil.rmtree(folder, ignore_errors=True)
    run("dpkg-deb", "-R", deb, folder)
    control = folder / "DEBIAN/control"
    text = control.read_text()
    control.write_text(text.replace("\nVersion: ", "\nVersion: 99:", 1))
    path = WORK / f"newer-{deb.name}"
    run("dpkg-deb", "-b", folder, path)
    return path


def say(text):
    print(f"== {text}", flush=True)


def check(release):
    packages = {deb.name.split("_")[0]: deb for deb in (BUILD / "deb").glob("*.deb")}
    if "squid-clusterfs" not in packages:
        sys.exit("there are no packages in build/deb: make deb first")
    debs = [packages["squid-clusterfs"], packages["clusterfs"]]
    WORK.mkdir(exist_ok=True)
    root = fresh_root(release)
    inside = root.path / "packages"
    inside.mkdir()
    library = [packages[name] for name in ("libclusterfs0", "libclusterfs-dev", "python3-clusterfs")]
    for deb in debs + library + [newer(deb) for deb in debs]:
        shutil.copy(deb, inside)
    names = [f"/packages/{deb.name}" for deb in debs]

    begin = time.monotonic()
    root.install(*names)
    (root.path / "etc/squid/conf.d/clusterfs.conf").write_text(LINE)
    root.serve("misses")
    say(f"from apt-get install to the first hit, with one line in squid.conf and {len(URLS)} misses between: "
        f"{float(root.printed.split()[-1]) - begin:.0f} s")
    say("Squid is " + root.version("squid"))
    # from here on Squid does not wait 30 s at its end for clients that might still come
    (root.path / "etc/squid/conf.d/end.conf").write_text("shutdown_lifetime 1 second\n")
    assert os.readlink(root.path / "etc/alternatives/squid") == "/usr/sbin/squid-clusterfs"
    root.serve("hits")
    root.run("clusterfs", "check", f"/{IMAGE}")
    say("after a restart all are hits")

    before = root.image()
    root.install(*(f"/packages/newer-{deb.name}" for deb in debs))
    assert root.image() == before, "the upgrade changed the cache"
    root.serve("hits")
    say("after an upgrade all are hits")

    root.install("squid-openssl")
    root.serve("hits")
    say("with squid-openssl, installed later, all are hits")

    check_other_squids(root, release)
    root.serve("hits")

    root.install("udev", "apparmor", "systemd", "e2fsprogs")
    before = root.image()
    check_udev(root)
    check_systemd(root)
    check_examples(root)
    check_apparmor(root)
    assert root.image() == before, "one of these changed the cache"
    say("udev, systemd, AppArmor and Squid do with the packages' files what they should")

    check_library(root, [f"/packages/{deb.name}" for deb in library])
    say("programs in C, C++ and Python work with the library's packages, of which nothing is left when they are purged")

    modules = root.path / "usr/lib/squid-clusterfs"
    (modules / "squid-openssl.so").rename(modules / "kept")
    shutil.copy(modules / "squid-gnutls.so", modules / "squid-openssl.so")
    assert check_misfit(root) == "/usr/sbin/squid-openssl: its configuration has another size"
    (modules / "kept").replace(modules / "squid-openssl.so")
    say("a module of another Squid is not used, and Squid goes on")

    root.run("apt-get", "-q", "-y", "remove", "squid-clusterfs")
    assert os.readlink(root.path / "etc/alternatives/squid") == "/usr/sbin/squid-openssl"
    log = root.serve("no cache")
    assert UNKNOWN in log, log
    assert root.image() == before, "removing the package changed the cache"
    say("removed: Squid goes on without the cache, whose file is as it was")

    root.install(*names)
    root.serve("hits")
    say("installed again: all are hits")

    before = root.image()
    root.run("apt-get", "-q", "-y", "purge", "squid-clusterfs", "clusterfs")
    assert root.image() == before, "purging the packages changed the cache"
    assert (root.path / "etc/squid/conf.d/clusterfs.conf").read_text() == LINE
    for left in ("usr/lib/squid-clusterfs", "usr/lib/udev/rules.d/65-clusterfs.rules", "usr/lib/systemd/system/squid.service.d",
                 "etc/apparmor.d/abstractions/squid-clusterfs"):
        assert not (root.path / left).exists(), f"{left} is left"
    say("purged: the cache's file is as it was")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", metavar="NAME", default="trixie", help="the Debian's code name (default trixie, Debian 13)")
    parser.add_argument("--serve", choices=("hits", "misses", "no cache"), help=argparse.SUPPRESS)
    parser.add_argument("--udev", metavar="DEVICE", help=argparse.SUPPRESS)
    parser.add_argument("root", nargs="?", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.root, arguments.serve)
        return
    if arguments.udev:
        meet_udev(arguments.root, arguments.udev)
        return
    if os.environ.get("CLUSTERFS_NAMESPACE") != "packages":  # mounts that vanish with this program
        os.environ["CLUSTERFS_NAMESPACE"] = "packages"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    check(arguments.release)


if __name__ == "__main__":
    main()
