# SPDX-License-Identifier: GPL-2.0-or-later
"""clusterfs accelerate: the files of a folder, as the kernel shows them, with copies on a store."""

import concurrent.futures
import contextlib
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import sys
import time

import pytest
from toolkit import LIMIT, need_root, program

NOBODY = 65534
#: what the tool prints of its work
COUNTS = re.compile(r"opened (?P<opened>\d+) files: (?P<stored>\d+) from the store, (?P<missed>\d+) from the folder \((?P<changed>\d+) had "
                    r"changed, (?P<young>\d+) were changed a short while ago, (?P<large>\d+) are too large\)\n"
                    r"read (?P<bytes_stored>\d+) bytes from the store, (?P<bytes_folder>\d+) from the folder; copied (?P<copied>\d+) files, "
                    r"failed to copy (?P<failed>\d+); the store has lost (?P<lost>\d+)\n")


def content(seed, size):
    return random.Random(seed).randbytes(size)


class Mount:
    """A run of clusterfs accelerate."""

    def __init__(self, folder, tool, where="mount", options=("--settled=0",), stores=("store",)):
        self.files, self.where = folder / "files", folder / where
        self.files.mkdir(exist_ok=True)
        self.where.mkdir(exist_ok=True)
        self.log = folder / "accelerate.log"
        self._tool, self._folder = tool, folder
        self._words = [*(f"--store={name}" for name in stores), f"--mount={self.where}", *options]
        self.process = None

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self._tool, "accelerate", self.files, *self._words], cwd=self._folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)
        self.wait_for("read-only")
        return self

    def wait_for(self, text):
        for _ in range(LIMIT * 20):
            if text in self.log.read_text():
                return
            assert self.process.poll() is None, f"it ended: {self.log.read_text()}"
            time.sleep(0.05)
        pytest.fail(f"no '{text}' in: {self.log.read_text()}")

    def counts(self):
        """As SIGUSR1 has it print them."""
        before = len(COUNTS.findall(self.log.read_text()))
        self.process.send_signal(signal.SIGUSR1)
        for _ in range(LIMIT * 20):
            found = list(COUNTS.finditer(self.log.read_text()))
            if len(found) > before:
                return {name: int(value) for name, value in found[-1].groupdict().items()}
            time.sleep(0.05)
        return pytest.fail(f"no counts in: {self.log.read_text()}")

    def wait_for_copies(self, number):
        for _ in range(LIMIT * 20):
            counts = self.counts()
            if counts["copied"] + counts["failed"] >= number:
                return counts
            time.sleep(0.05)
        return pytest.fail(f"not copied: {counts}")

    def end(self):
        """Ends it in order. Returns its last counts."""
        if str(self._tool).endswith("-asan"):
            time.sleep(0.5)  # the kernel tells libfuse late that a folder was closed, which would else leak its memory
        self.process.terminate()
        assert self.process.wait(LIMIT) == 0, self.log.read_text()
        said = self.log.read_text()
        assert "Sanitizer" not in said and not os.path.ismount(self.where), said
        return {name: int(value) for name, value in list(COUNTS.finditer(said))[-1].groupdict().items()}

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT)
        subprocess.run(["umount", "-l", self.where], check=False, capture_output=True)


@pytest.fixture
def mounts(test, programs):
    """A function that makes a Mount in the test's folder; the store is there."""
    need_root()
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no /dev/fuse")
    if subprocess.run([program("unshare"), "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("cannot mount here")
    made = []

    def make(**options):
        for name in options.get("stores", ("store",)):
            if not (test.dir / name).exists():
                test.tool("format", name, "--size=64")
        made.append(Mount(test.dir, programs[0], **options))
        return made[-1]
    yield make
    for mount in made:
        mount.close()


def test_files_are_those_of_the_folder_and_come_from_the_store_the_second_time(mounts):
    mount = mounts().start()
    (mount.files / "sub" / "folder").mkdir(parents=True)
    wanted = {f"sub/folder/file{n}": content(n, size) for n, size in enumerate((0, 1, 4096, 100000, 262144, 262145, 3000001))}
    for name, data in wanted.items():
        (mount.files / name).write_bytes(data)
    for name, data in wanted.items():
        assert (mount.where / name).read_bytes() == data, name
    counts = mount.wait_for_copies(len(wanted))
    assert counts["stored"] == 0 and counts["copied"] == len(wanted) and counts["failed"] == 0, counts
    for name, data in wanted.items():
        assert (mount.where / name).read_bytes() == data, name
    total = sum(map(len, wanted.values()))
    counts = mount.end()
    assert counts["opened"] == 2 * len(wanted) and counts["stored"] == len(wanted) and counts["changed"] == 0, counts
    assert counts["bytes_stored"] == total and counts["bytes_folder"] >= total, counts
    # another run has the copies of the first
    mount = mounts().start()
    for name, data in wanted.items():
        assert (mount.where / name).read_bytes() == data, name
    counts = mount.end()
    assert counts["stored"] == len(wanted) and counts["bytes_folder"] == 0, counts


def test_a_changed_file_is_never_read_as_it_was(mounts):
    mount = mounts().start()
    path, shown = mount.files / "file", mount.where / "file"
    for size in (5000, 5000, 4000, 9000, 300000, 300000, 0):
        before = mount.counts()["copied"]
        data = content(size + before, size)
        path.write_bytes(data)
        assert shown.read_bytes() == data and shown.stat().st_size == size
        mount.wait_for_copies(before + 1)
        assert shown.read_bytes() == data
    path.with_name("other").write_bytes(b"other")
    os.rename(path.with_name("other"), path)
    assert shown.read_bytes() == b"other"
    path.unlink()
    time.sleep(1.1)  # the kernel may know a name for a second
    assert not shown.exists()
    with pytest.raises(FileNotFoundError):
        shown.read_bytes()
    assert mount.end()["changed"] > 0


def test_a_name_that_is_gone_cannot_be_opened_even_while_the_kernel_knows_it(mounts):
    mount = mounts().start()
    (mount.files / "file").write_bytes(b"bytes")
    assert (mount.where / "file").read_bytes() == b"bytes"
    (mount.files / "file").unlink()
    with pytest.raises(FileNotFoundError):
        (mount.where / "file").read_bytes()


def test_names_and_attributes_are_those_of_the_folder(mounts):
    mount = mounts().start()
    (mount.files / "folder").mkdir(mode=0o750)
    (mount.files / "folder" / "ä file").write_bytes(b"bytes")
    os.chmod(mount.files / "folder" / "ä file", 0o640)
    os.utime(mount.files / "folder" / "ä file", ns=(10**18 + 1, 10**18 + 7))
    os.symlink("folder/ä file", mount.files / "link")
    os.symlink("/etc/hostname", mount.files / "away")
    os.mkfifo(mount.files / "fifo")
    assert sorted(os.listdir(mount.where)) == ["away", "fifo", "folder", "link"]
    assert os.listdir(mount.where / "folder") == ["ä file"]
    for name in ("folder", "folder/ä file", "link", "away", "fifo"):
        theirs, ours = os.lstat(mount.files / name), os.lstat(mount.where / name)
        for field in ("st_mode", "st_ino", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_ctime_ns"):
            assert getattr(theirs, field) == getattr(ours, field), (name, field)
    assert os.readlink(mount.where / "away") == "/etc/hostname"
    assert (mount.where / "link").read_bytes() == b"bytes"
    assert os.statvfs(mount.where).f_blocks == os.statvfs(mount.files).f_blocks
    # the kernel follows links, to where they lead anybody
    assert (mount.where / "away").read_bytes() == pathlib.Path("/etc/hostname").read_bytes()


def test_nobody_can_write(mounts):
    mount = mounts().start()
    (mount.files / "file").write_bytes(b"bytes")
    for action in (lambda: (mount.where / "file").write_bytes(b"x"), lambda: (mount.where / "new").write_bytes(b"x"),
                   (mount.where / "file").unlink, (mount.where / "folder").mkdir, lambda: os.chmod(mount.where / "file", 0o600)):
        with pytest.raises(OSError, match="Read-only"):
            action()
    assert (mount.files / "file").read_bytes() == b"bytes" and os.listdir(mount.files) == ["file"]


def test_modes_bind_others(mounts, folder):
    """The command reads as root, and its users may read what they could read in the folder."""
    mount = mounts().start()
    for parent in (folder, *folder.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            os.chmod(parent, parent.stat().st_mode | stat.S_IXOTH)
    for name, mode in (("open", 0o644), ("closed", 0o640), ("group", 0o040)):
        (mount.files / name).write_bytes(name.encode())
        os.chmod(mount.files / name, mode)
        assert (mount.where / name).read_bytes() == name.encode()  # by root: now it is in the store
    os.chown(mount.files / "group", 0, NOBODY)
    (mount.files / "hidden").mkdir(mode=0o700)
    (mount.files / "hidden" / "file").write_bytes(b"hidden")

    def as_nobody(name):
        script = "import sys; sys.stdout.write(open(sys.argv[1]).read())"
        done = subprocess.run([program("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", sys.executable, "-c", script,
                               str(mount.where / name)], capture_output=True, text=True, check=False, timeout=LIMIT)
        return done.stdout if done.returncode == 0 else done.stderr.strip().splitlines()[-1].split(":")[0]
    assert as_nobody("open") == "open"
    assert as_nobody("group") == "group"
    for name in ("closed", "hidden/file"):
        assert as_nobody(name) == "PermissionError"
    os.chmod(mount.files / "open", 0o600)
    assert as_nobody("open") == "PermissionError"


def test_many_readers_at_once(mounts):
    mount = mounts(stores=("store", "second")).start()
    wanted = {f"file{n}": content(n, 1000 * n if n % 4 else 300000 + n) for n in range(40)}
    for name, data in wanted.items():
        (mount.files / name).write_bytes(data)

    def read(n):
        name = f"file{n * 7 % 40}"
        return (mount.where / name).read_bytes() == wanted[name]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(pool.map(read, range(800)))
    counts = mount.end()
    assert counts["opened"] == 800 and counts["stored"] > 400 and counts["lost"] == 0, counts


def test_it_may_cover_the_folder_itself(mounts):
    mount = mounts(where="files")
    (mount.files / "file").write_bytes(b"bytes")
    mount.start()
    assert os.path.ismount(mount.files)
    assert [(mount.files / "file").read_bytes() for _ in range(2)] == [b"bytes"] * 2
    assert mount.end()["stored"] == 1
    assert (mount.files / "file").read_bytes() == b"bytes"


def test_umount_ends_it(mounts):
    mount = mounts().start()
    subprocess.run(["umount", mount.where], check=True)
    assert mount.process.wait(LIMIT) == 0
    assert COUNTS.search(mount.log.read_text())


def test_a_kill_loses_nothing_but_what_was_new(mounts):
    """The next run takes the place of a mount that nobody answers any more."""
    mount = mounts().start()
    data = content(1, 100000)
    (mount.files / "file").write_bytes(data)
    assert (mount.where / "file").read_bytes() == data
    mount.process.kill()
    mount.process.wait(LIMIT)
    subprocess.run(["umount", "-l", mount.where], check=True)
    mount.start()
    assert [(mount.where / "file").read_bytes() for _ in range(2)] == [data] * 2
    assert mount.end()["stored"] >= 1


def test_it_ends_while_files_are_open(mounts):
    mount = mounts().start()
    (mount.files / "film").write_bytes(content(1, 3000000))
    film = os.open(mount.where / "film", os.O_RDONLY)
    assert os.read(film, 5) == content(1, 3000000)[:5]
    mount.end()
    with contextlib.suppress(OSError):  # it is not connected any more
        os.close(film)


def test_files_are_left_alone_for_a_minute(mounts):
    mount = mounts(options=()).start()
    (mount.files / "young").write_bytes(b"bytes")
    assert (mount.where / "young").read_bytes() == b"bytes"
    assert mount.end()["young"] == 1


def test_what_is_trusted_is_not_looked_at_again(mounts):
    mount = mounts(options=("--settled=0", "--trusted=3600", "--paths=1000")).start()
    (mount.files / "folder").mkdir()
    path, shown = mount.files / "folder" / "file", mount.where / "folder" / "file"
    path.write_bytes(b"first")
    assert [shown.read_bytes() for _ in range(2)] == [b"first"] * 2
    path.write_bytes(b"a second one")
    (mount.files / "folder" / "other").write_bytes(b"new")
    assert shown.read_bytes() == b"first" and shown.stat().st_size == 5
    assert (mount.where / "folder" / "other").read_bytes() == b"new"
    assert sorted(os.listdir(mount.where / "folder")) == ["file", "other"]
    counts = mount.end()
    assert counts["opened"] == 4 and counts["stored"] == 2 and counts["changed"] == 0, counts
    mount = mounts(options=("--settled=0",)).start()
    assert shown.read_bytes() == b"a second one"
    assert mount.end()["changed"] == 1


def test_large_files_can_be_left_out(mounts):
    mount = mounts(options=("--settled=0", "--largest=1K", "--option=read-cache=4")).start()
    for name, size in (("small", 1024), ("large", 1025)):
        (mount.files / name).write_bytes(b"x" * size)
        assert (mount.where / name).read_bytes() == b"x" * size
    counts = mount.end()
    assert counts["large"] == 1 and counts["copied"] == 1, counts


def test_refuses(test):
    (test.dir / "files").mkdir()
    (test.dir / "mount").mkdir()
    test.refused("accelerate", "files", "--mount=mount", says="no --store")
    test.refused("accelerate", "files", "--store=none", says="no --mount")
    test.refused("accelerate", "--store=none", "--mount=mount", says="there is no path")
    test.refused("accelerate", "files", "--store=none", "--mount=mount", says="none: No such file or directory; give an existing")
    test.tool("format", "store", "--size=16")
    test.refused("accelerate", "none", "--store=store", "--mount=mount", says="none: No such file or directory")
    test.refused("accelerate", "store", "--store=store", "--mount=mount", says="store: Not a directory")
    test.refused("accelerate", "files", "--store=store", "--mount=mount", "--option=staging", says="--option: 'staging' has no =")
    test.refused("accelerate", "files", "--store=store", "--mount=mount", "--option=staging=none", says="staging")
    test.refused("accelerate", "files", "--store=store", "--mount=none", says=["none", "can't be mounted"])
