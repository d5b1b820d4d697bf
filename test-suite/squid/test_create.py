# SPDX-License-Identifier: GPL-2.0-or-later
"""squid -z: what the user that Squid runs as does in its folder turns nothing against the machine, and a bad
cache_dir costs nothing but itself, neither at squid -z, as systemd runs it before each start, nor after it."""

import os
import threading

import pytest

from squidkit.processes import effective_user, give_to_squid, run
from testlib import devices

pytestmark = pytest.mark.stores("clusterfs")

MB = 1 << 20
SECRET = b"root's own, and nobody else's\n" * 100


class Attacker:
    """Waits until squid -z works at a name, and then puts a link to another file there, again and again."""

    def __init__(self, path, victim, begun):
        self.path, self.victim, self.begun = path, victim, begun
        self.swaps = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._over.is_set():
            try:
                if not self.path.is_symlink() and self.begun(self.path.stat()):
                    self.path.unlink()
                    self.path.symlink_to(self.victim)
                    self.swaps += 1
            except FileNotFoundError:
                pass

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def attacked(t, begun, prepare):
    """Root's file stays as it is, whatever is swapped while squid -z makes the image; how often there was a swap."""
    if not effective_user():
        pytest.skip("needs root: the attacker is the user that squid -z drops to")
    victim = t.dir / "victim"
    victim.write_bytes(SECRET)
    victim.chmod(0o600)
    swaps = 0
    for number in range(12):
        folder = t.dir / f"folder{number}"
        folder.mkdir()
        give_to_squid(folder)
        path = folder / "cache.img"
        prepare(path)
        squid = t.squid(t.cache_dir(256, path=path), folder=f"squid{number}")
        with Attacker(path, victim, begun) as attacker:
            squid.create_unchecked()
        swaps += attacker.swaps
        found = victim.stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (0, 0, 0o600), f"root's file was given away: {found}"
        assert victim.read_bytes() == SECRET, "root's file was changed"
        path.unlink(missing_ok=True)
    return swaps


def test_name_of_a_new_image_is_swapped(t):
    """A new image is never given away by its name."""
    assert attacked(t, lambda _: True, lambda path: None), "the name was never swapped in time"


def test_name_of_an_empty_image_is_swapped(t):
    """An empty image that gets its space is never emptied again by its name."""
    def empty(path):
        path.write_bytes(b"")
        give_to_squid(path)
    assert attacked(t, lambda found: found.st_size > 0, empty), "the name was never swapped in time"


def test_made_as_the_user_that_uses_it(t):
    """A new image belongs to Squid's user, who makes it: in a folder of root's, squid -z makes nothing and says how
    to make one."""
    user = effective_user()
    if not user:
        pytest.skip("needs root: otherwise there is only one user")
    squid = t.running(megabytes=64)
    found = t.image().stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (user.pw_uid, user.pw_gid, 0o600), found
    squid.stop()
    closed = t.dir / "closed"
    closed.mkdir(mode=0o755)
    path = closed / "cache.img"
    squid.configure(t.cache_dir(64, path=path))
    done = squid.create_unchecked()
    said = done.stdout + squid.cache_log.text()
    assert not os.listdir(closed), os.listdir(closed)
    assert f"{path}: cannot create: Permission denied" in said and "clusterfs format" in said, said


def goes_on(t, bad, *words, megabytes=64, mode="--foreground"):
    """With a good cache_dir after a bad one: squid -z and a start as Debian's unit does them. One line says what is
    wrong with the bad one; the good one is made and gives hits; returns that Squid, running."""
    number = len(t.squids)
    squid = t.squid(t.cache_dir(megabytes, path=bad), t.cache_dir(64, name=f"good{number}"), folder=f"squid{number}")
    for order in ("first", "again"):
        mark = squid.cache_log.mark()
        done = squid.create_unchecked(mode)
        said = done.stdout + squid.cache_log.text(mark)
        assert done.returncode == 0, f"squid -z ended with {done.returncode} for {bad} ({order}):\n{said}"
        for text in (done.stdout, squid.cache_log.text(mark)):
            lines = [line for line in text.splitlines() if str(bad) in line and "Processing" not in line]
            assert len(lines) == 1 and "ERROR: cache_dir clusterfs was not made" in lines[0], f"{bad} ({order}):\n{text}"
            assert any(word in lines[0] for word in words), lines[0]
    squid.start()
    lines = squid.cache_log.lines(f"{bad}", squid.started_at)
    assert len(lines) == 1 and "ERROR: cache_dir clusterfs is not used" in lines[0], "\n".join(lines)
    urls = t.urls(f"object{number}-", 20)
    t.fetch_all(squid, urls)
    for url in urls:
        t.hit(squid, url)
    squid.restart()
    for url in urls:
        t.hit(squid, url)
    return squid


def test_missing_dirs_beside_a_good_one(t):
    """No such device, no such file, no such folder."""
    for path, megabytes, words in (("/dev/clusterfs-none", "", ("does not exist",)),
                                   ("/dev/clusterfs-none", 64, ("no such device",)),
                                   (t.dir / "no.img", "", ("does not exist",)),
                                   (t.dir / "no" / "folder.img", 64, ("create this directory first",)),
                                   (t.dir / "large.img", 1 << 26, ("has only",))):
        goes_on(t, path, *words, megabytes=megabytes).stop()
    assert not (t.dir / "no.img").exists() and not (t.dir / "large.img").exists()


@pytest.mark.quick
def test_foreign_dirs_beside_a_good_one(t):
    """Somebody else's data, a cache whose superblocks were overwritten, a folder: left as they are."""
    foreign = t.dir / "foreign.img"
    foreign.write_bytes(b"The only copy of something.\n" * 300000)
    ours = t.dir / "ours.img"
    t.squid(t.cache_dir(64, path=ours), folder="maker").create()
    with open(ours, "r+b") as image:
        image.write(b"overwritten!" * 200000)
    folder = t.dir / "folder"
    folder.mkdir()
    for path, words in ((foreign, ("holds data that is not a clusterfs cache",)),
                        (ours, ("holds data that is not a clusterfs cache",)), (folder, ("is a directory",))):
        give_to_squid(path)
        before = path.read_bytes() if path.is_file() else os.listdir(path)
        goes_on(t, path, *words).stop()
        assert before == (path.read_bytes() if path.is_file() else os.listdir(path)), f"{path} was changed"


def test_unreadable_dirs_beside_a_good_one(t):
    """A device that this user may not open."""
    if not effective_user():
        pytest.skip("needs root: the image has to belong to another user")
    path = t.dir / "closed.img"
    path.write_bytes(bytes(64 * MB))
    path.chmod(0o600)
    goes_on(t, path, "Permission denied")
    assert path.read_bytes() == bytes(64 * MB)


@pytest.mark.needs("loop")
def test_zoned_disk(t):
    """A blank disk of which the kernel says that it takes writes only in order: squid -z leaves it alone, and says so."""
    device = t.loop(64)
    squid = t.squid(t.cache_dir(path=device.path, megabytes=""))
    zoned = os.path.realpath(f"/sys/block/{os.path.basename(device.path)}/queue/zoned")
    (t.dir / "kind").write_text("host-managed\n")
    (t.dir / "kind").chmod(0o444)  # as the kernel's own
    order = f"mount --bind {t.dir / 'kind'} {zoned} && exec \"$@\""
    done = run("unshare", "--mount", "sh", "-c", order, "sh", squid.binary, "-n", squid.name, "-f", squid.conf, "-z", "-N")
    lines = [line for line in squid.cache_log.text().splitlines() if "is a zoned disk (host-managed" in line]
    assert done.returncode == 0 and len(lines) == 1 and "ERROR: cache_dir clusterfs was not made" in lines[0], done.stdout
    assert device.backing.read_bytes() == bytes(64 * MB)


@pytest.mark.needs("loop")
def test_failing_device_beside_a_good_one(t):
    """A disk that answers each request with an error."""
    loop = t.loop(64)
    os.truncate(loop.backing, 0)
    goes_on(t, loop.path, "cannot read it", megabytes="")


def test_interrupted_image_is_finished(t):
    """An image that is blank and too short, as squid -z leaves it when it is killed, gets its whole length."""
    for number, length in enumerate((0, 4096, 10 * MB + 4096)):
        path = devices.sparse_file(t.dir / f"short{number}.img", length)
        give_to_squid(path)
        squid = t.squid(t.cache_dir(64, path=path), folder=f"squid{number}").create().start()
        assert path.stat().st_size == 64 * MB and path.stat().st_blocks * 512 >= 64 * MB, path.stat()
        url = t.url(f"object{number}", size=30000)
        t.miss(squid, url)
        t.hit(squid, url)
        squid.stop()
    path = t.dir / "notes.img"
    path.write_bytes(bytes(MB) + b"not blank" + bytes(MB))
    give_to_squid(path)
    before = path.read_bytes()
    goes_on(t, path, "bytes; at least")
    assert path.read_bytes() == before
