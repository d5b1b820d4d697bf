# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs setup and clusterfs probe: what they say of disks and files, what setup makes, and what it leaves alone."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import pwd
import re
import shutil
import subprocess

import pytest

from common import TOP
from toolkit import MIB, Image, need_root, program

RULE = "65-clusterfs.rules"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def says(done):
    """{first word: the rest} of setup's lines; a line that begins with spaces belongs to the one before."""
    found, name = {}, None
    for line in done.out.splitlines():
        match = re.match(r"(\S+)\s+(.*)", line)
        name = match[1] if match else name
        found[name] = found.get(name, "") + ("" if match else "\n") + (match[2] if match else line.strip())
    return found


@contextlib.contextmanager
def loop_device(backing):
    need_root()
    if not os.path.exists("/dev/loop-control"):
        pytest.skip("the kernel has no loop devices")
    losetup = program("losetup")
    device = subprocess.run([losetup, "--find", "--show", backing], capture_output=True, text=True, check=True).stdout.strip()
    before = os.stat(device)
    try:
        os.chown(device, 0, 0)  # whoever had the number before may have given it to Squid's user
        yield device
    finally:
        os.chown(device, before.st_uid, before.st_gid)
        subprocess.run([losetup, "--detach", device], check=True)


def somebody():
    """Squid's user, as setup finds it."""
    for name in ("proxy", "squid"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return pytest.skip("there is no user proxy or squid")


def reachable(test):
    """Lets Squid's user into the folder of the test, as setup formats as this user."""
    for folder in (test.dir, *test.dir.parents):
        if not folder.stat().st_mode & 0o001:
            pytest.skip(f"{folder} is closed to Squid's user")
    return test.dir


def test_changes_nothing_unless_told(test):
    path = test.path("blank", bytes(64 * MIB))
    found = says(test.tool("setup", path, "--owner=nobody", "--cluster-size=64", "--object-size=4"))
    assert found["device"] == f"{path}: a file, 64 MB" and "clusters of 64 KB" in found["content"], found
    # the whole device and its index, since the machine has more than four times that
    assert found["squid.conf"] == f"cache_dir clusterfs {path} memory=64" and "--apply" in found["Nothing"], found
    assert path.read_bytes() == bytes(64 * MIB) and path.stat().st_uid == os.geteuid()
    found = says(test.tool("setup", test.dir / "new", "--owner=nobody", "--size=64"))
    assert "a file that will be made" in found["device"] and found["squid.conf"].endswith("/new 64 memory=64"), found
    assert [p.name for p in test.dir.iterdir()] == ["blank"]


def test_makes_a_file(test):
    need_root()
    user = somebody()
    path = reachable(test) / "cache"
    found = says(test.tool("setup", path, "--size=64", "--cluster-size=64", "--apply"))
    assert "Nothing" not in found and found["owner"] == user.pw_name, found
    image = Image(path)
    state = path.stat()
    assert (state.st_uid, state.st_mode & 0o777, state.st_size) == (user.pw_uid, 0o600, 64 * MIB)
    assert test.json("inspect", image)["geometry"]["cluster_bytes"] == 65536
    test.clean(image)
    before = image.digest()
    os.chown(path, 0, 0)
    assert says(test.tool("setup", path, "--apply"))["content"] == "a clusterfs cache, which stays as it is"
    assert image.digest() == before and path.stat().st_uid == user.pw_uid


def test_formats_as_the_user(test):
    """A folder that Squid's user may not enter is found out, and nothing is left in it."""
    need_root()
    somebody()
    closed = test.path("closed")
    closed.mkdir()
    closed.chmod(0o700)
    test.refused("setup", closed / "cache", "--size=16", "--apply", says="Permission denied")
    assert not list(closed.iterdir())


def test_memory_is_that_of_the_documents(test):
    """A full disk of 1 TB, by the figures of operations.md; the file is sparse."""
    page = " ".join((TOP / "docs/operations.md").read_text().split())
    figures = re.search(r"The index takes (\d+) bytes for each object, (\d+) bytes for each 2 of them, (\d+) bytes and two bits a cluster", page)
    record, buckets, cluster = map(int, figures.groups())
    path = test.path("large", b"")
    try:
        os.truncate(path, 1 << 40)
    except OSError:
        pytest.skip("no file of 1 TB here")
    found = says(test.tool("setup", path, "--owner=nobody"))
    clusters = int(re.search(r"(\d+) clusters of 1024 KB", found["content"])[1])
    objects = (1 << 40) // (13 << 10)
    index = (objects * record + objects // 2 * buckets + clusters * cluster + clusters // 4) // MIB
    assert f"{index} MB for the index of {objects} objects of 13 KB" in found["memory"], found
    assert found["memory"].startswith(f"{index + 80} MB when it is full"), found
    machine = int(re.search(r"^MemTotal: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.M)[1])
    assert found["squid.conf"] == f"cache_dir clusterfs {path} memory={machine // 4 // 1024}", "a quarter of this machine's"


def test_leaves_other_data_alone(test):
    text = test.path("text", b"precious\n" * (2 * MIB))
    ext4 = test.path("ext4", bytes(16 * MIB))
    subprocess.run([program("mkfs.ext4"), "-q", "-F", ext4], check=True)
    swap = test.path("swap", bytes(16 * MIB))
    subprocess.run([program("mkswap"), "-q", swap], check=True)
    damaged = test.image("damaged")
    for offset in (0, MIB):
        damaged.flip(offset + 40)
    for path, reason in ((text, "holds data that is not a clusterfs cache"), (ext4, "a file system (ext4)"), (swap, "swap space"),
                         (damaged.path, "checksum is wrong")):
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        for words in ((), ("--apply",)):
            test.refused("setup", path, "--owner=nobody", *words, says=reason)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before, path
        assert path.stat().st_uid == os.geteuid()
    test.refused("setup", text, "--force", says="unknown option --force")


def test_refuses_what_is_in_use(test):
    image = test.image()
    with open(image.path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        for words in ((), ("--apply",)):
            test.refused("setup", image.path, "--owner=nobody", *words, says="locked by another process")
    assert image.path.stat().st_uid == os.geteuid()


def test_disk(test):
    """A loop device: given to Squid's user, formatted, and known to udev by a rule."""
    user = somebody()
    backing = test.path("backing", bytes(64 * MIB))
    rules = test.path("rules")
    rules.mkdir()
    with loop_device(backing) as device:
        found = says(test.tool("setup", device, f"--rules={rules}"))
        queue = f"/sys/block/{os.path.basename(device)}/queue"
        with open(f"{queue}/rotational", encoding="ascii") as file:
            assert (", rotating" if file.read() == "1\n" else ", not rotating") in found["device"], found
        with open(f"{queue}/scheduler", encoding="ascii") as file:
            assert "scheduler " + re.search(r"\[(.*)\]", file.read())[1] in found["device"], found
        assert f"{rules / RULE} will be written" in found["udev"] and not list(rules.iterdir())
        assert f"After={device[1:].replace('/', '-')}.device" in found["systemd"]
        assert os.stat(device).st_uid != user.pw_uid and backing.read_bytes() == bytes(64 * MIB)

        found = says(test.tool("setup", device, f"--rules={rules}", "--apply"))
        assert f"{rules / RULE} was written" in found["udev"], found
        assert os.stat(device).st_uid == user.pw_uid
        test.clean(Image(device))
        rule = (rules / RULE).read_text()
        found = says(test.tool("setup", device, f"--rules={rules}", "--apply"))
        assert found["udev"] == f"{rules / RULE} gives it to {user.pw_name}", found
        assert (rules / RULE).read_text() == rule and [p.name for p in rules.iterdir()] == [RULE]
        # the same line that rule has for another user is none for this one
        test.tool("setup", device, f"--rules={rules}", "--owner=nobody", "--apply")
        assert (rules / RULE).read_text() == rule.replace(f'OWNER="{user.pw_name}"', 'OWNER="nobody"')


def test_disk_with_other_data(test):
    backing = test.path("backing", bytes(64 * MIB))
    subprocess.run([program("mkfs.ext4"), "-q", "-F", backing], check=True)
    before = hashlib.sha256(backing.read_bytes()).hexdigest()
    with loop_device(backing) as device:
        owner = os.stat(device).st_uid
        for words in ((), ("--apply",)):
            test.refused("setup", device, "--owner=nobody", *words, says=["a file system (ext4)", "wipefs"])
        test.refused("setup", backing, "--owner=nobody", "--apply", says="is attached as loop device")
        assert os.stat(device).st_uid == owner
    assert hashlib.sha256(backing.read_bytes()).hexdigest() == before


def test_zoned_disk(test):
    """A disk of which the kernel says that it has zones: neither setup nor format takes it, not even by force."""
    need_root()
    unshare = program("unshare")
    backing = test.path("backing", bytes(64 * MIB))
    with loop_device(backing) as device:
        zoned = os.path.realpath(f"/sys/block/{os.path.basename(device)}/queue/zoned")
        for kind, refused in (("host-managed", True), ("host-aware", False)):
            shown = test.path(kind, kind.encode() + b"\n")
            shown.chmod(0o444)  # as the kernel's own
            for words in (("setup", device), ("setup", device, "--apply"), ("format", device), ("format", device, "--force")):
                script = f"mount --bind {shown} {zoned} && exec \"$@\""
                done = subprocess.run([unshare, "--mount", "sh", "-c", script, "sh", test._tool, *words, "--cluster-size=64"],
                                      capture_output=True, text=True, timeout=60, check=False)
                if refused:
                    assert done.returncode == 2 and "is a zoned disk (host-managed" in done.stderr, done
                    assert backing.read_bytes() == bytes(64 * MIB)
                else:
                    assert done.returncode == 0, done


def test_probe(test):
    image, _ = test.filled()
    uuid = test.json("inspect", image)["superblock"]["uuid"]
    version = test.json("inspect", image)["superblock"]["version"]
    wanted = f"ID_FS_TYPE=clusterfs\nID_FS_USAGE=other\nID_FS_VERSION={version}\nID_FS_UUID={uuid}\nCLUSTERFS_UUID={uuid}\n"
    assert re.fullmatch(UUID, uuid)
    assert test.tool("probe", image.path, "--udev").out == wanted
    assert uuid in test.tool("probe", image.path).out
    with open(image.path, "rb") as other:  # Squid has it
        fcntl.flock(other, fcntl.LOCK_EX)
        assert test.tool("probe", "--udev", image.path).out == wanted
    image.flip(40)
    assert test.tool("probe", "--udev", image.path).out == wanted, "the second copy is whole"
    image.flip(MIB + 40)
    done = test.tool("probe", "--udev", image.path, code=1)
    assert not done.out and "checksum is wrong" in done.err, done
    test.refused("probe", "--udev", test.path("blank", bytes(16 * MIB)), says="not a clusterfs device")


def test_probe_of_a_later_version(test):
    """The user of Squid gets the disk all the same, and Squid says that it is too new."""
    image = test.image()
    for offset in (0, MIB):
        image.write(offset + 16, (1000).to_bytes(4, "little"))
        image.seal(offset, 4096, 4092)
    assert "ID_FS_VERSION=1000\n" in test.tool("probe", "--udev", image.path).out


def test_probe_reads_little(test):
    """udev waits for it, so it must not read the disk through."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("strace is not installed")
    image, _ = test.filled()
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # leaks cannot be looked for under strace
    done = subprocess.run([strace, "-e", "trace=pread64", test._tool, "probe", "--udev", image.path], env=env, capture_output=True, text=True, check=True)
    reads = [int(n) for n in re.findall(r"pread64\(.*, (\d+), \d+\) = 4096", done.stderr)]
    assert reads == [4096], done.stderr


def rule_lines(text):
    """[[(key, operator, value)]] of a file of rules, as udev(7) has them."""
    token = r'([A-Z]+(?:\{[^}"]+\})?)(==|!=|\+=|:=|=)"([^"]*)"'
    lines = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            assert re.fullmatch(rf"{token}(, {token})*", line), line
            lines.append(re.findall(token, line))
    return lines


def test_rule(test):
    """The package's rule is the one that setup writes; it is one that udev can read; and what it asks probe for is there."""
    user = somebody()
    backing, rules = test.path("backing", bytes(16 * MIB)), test.path("rules")
    rules.mkdir()
    with loop_device(backing) as device:
        test.tool("setup", device, f"--rules={rules}", "--apply")
        written = (rules / RULE).read_text()
        packaged = (TOP / "packaging/udev" / RULE).read_text()
        assert written.replace(os.path.realpath(test._tool), "/usr/sbin/clusterfs").replace(user.pw_name, "proxy") == packaged
        lines = rule_lines(written)
        labels = {value for line in lines for key, _, value in line if key == "LABEL"}
        assert labels == {value for line in lines for key, _, value in line if key == "GOTO"}
        command = next(value for line in lines for key, _, value in line if key == "IMPORT{program}")
        done = subprocess.run(command.replace("$devnode", device).split(), capture_output=True, text=True, check=True)
        properties = dict(re.fullmatch(r"([A-Z_]+)=([\w.-]+)", line).groups() for line in done.stdout.splitlines())
        keys = {key for line in lines for _, _, value in line for key in re.findall(r"\$env\{(\w+)\}", value)}
        keys |= {key[4:-1] for line in lines for key, operator, _ in line if key.startswith("ENV{CLUSTERFS") and operator in ("==", "!=")}
        assert keys == {"CLUSTERFS_UUID"} and re.fullmatch(UUID, properties["CLUSTERFS_UUID"])
        final = next(line for line in lines if line[0][0] == "OWNER")
        assert ("MODE", "=", "0600") in final and ("OWNER", "=", user.pw_name) in final
