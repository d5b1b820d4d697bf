# SPDX-License-Identifier: GPL-2.0-or-later
"""squid -z: makes a cache once, keeps what is there, and refuses what is not ours."""

import hashlib
import os
import pathlib

import pytest

from squidkit.processes import effective_user, give_to_squid
from testlib import devices, stores
from testlib.stores import ROCK_INDEX

MB = 1 << 20


def digest(path):
    hasher = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(MB):
            hasher.update(data)
    return hasher.hexdigest()


def refused(t, path, *words, look=None):
    """squid -z must say why not, and leave alone what look(path) shows; so must a start."""
    look = look or (digest if not os.path.isdir(path) else lambda p: sorted(os.listdir(p)))
    before = look(path)
    squid = t.squid(stores.cache_dir("clusterfs", path, 64), folder=f"refused{len(t.squids)}")
    mark = squid.cache_log.mark()
    done = squid.create_unchecked()
    said = done.stdout + squid.cache_log.text(mark)
    assert done.returncode == 0 and "ERROR: cache_dir clusterfs was not made" in said, f"squid -z took {path}:\n{said}"
    assert str(path) in said, f"the refusal does not name {path}:\n{said}"
    assert any(word in said for word in words), f"the refusal says none of {words}:\n{said}"
    squid.start(wait=False)
    squid.wait_ready()
    squid.client.get(t.url("object", size=1000)).check()
    squid.stop()
    assert look(path) == before, f"{path} was changed"


@pytest.mark.known(ROCK_INDEX)
@pytest.mark.quick
def test_create_again_keeps_content(t):
    squid = t.running()
    urls = [t.url(f"object{n}", size=n * 2011) for n in range(30)]
    t.fetch_all(squid, urls)
    for url in urls:
        t.settle(squid, url)
    squid.stop().create().start()
    for url in urls:
        t.hit(squid, url)


def test_create_in_each_mode(t):
    for number, mode in enumerate((("-N",), ("--foreground",), ("-N", "-S"))):
        if t.store == "rock" and mode == ("--foreground",):
            continue
        squid = t.squid(t.cache_dir(64, name=f"cache{number}"), folder=f"squid{number}").create(*mode).start()
        url = t.url("object", size=100000)
        squid.client.get(url).check()
        t.settle(squid, url)
        t.hit(squid, url)
        squid.stop()


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("mkfs.ext4", "mkswap")
@pytest.mark.quick
def test_refuses_foreign_images(t):
    """In files: a file system, swap, a partition table, text."""
    makers = {"ext4": devices.make_ext4, "swap": devices.make_swap, "partition": devices.make_partition_table}
    for name, make in makers.items():
        path = devices.sparse_file(t.dir / f"{name}.img", 64 * MB)
        make(path)
        refused(t, path, name, "dos", "partition table")
    path = t.dir / "notes.txt"
    path.write_text("The only copy of something.\n" * 3000)
    give_to_squid(path)
    refused(t, path, "data", "not empty", "not a clusterfs", "refus")


@pytest.mark.stores("clusterfs")
@pytest.mark.needs("loop", "mkfs.ext4", "mkswap", "mount")
def test_refuses_foreign_devices(t):
    """On block devices: the same, and a device that is mounted."""
    for name, make in (("ext4", devices.make_ext4), ("swap", devices.make_swap),
                       ("partition", devices.make_partition_table)):
        loop = t.loop(64, f"{name}.disk")
        make(loop.path)
        refused(t, loop.path, name, "dos", "partition table")
    loop = t.loop(64, "mounted.disk")
    devices.make_ext4(loop.path)
    mounted = t.closing(devices.Mount(loop.path, t.dir / "mountpoint"))
    (mounted.path / "file").write_text("kept")
    # The kernel writes to it meanwhile, so that only the content can be compared.
    refused(t, loop.path, "ext4", "mounted", "busy", "in use", look=lambda _: (mounted.path / "file").read_text())


@pytest.mark.stores("clusterfs")
def test_refuses_other_caches(t):
    """The folder of a ufs or rock cache, a rock file, and an empty folder."""
    for store in ("ufs", "rock"):
        line = t.cache_dir(64, store=store, name=f"{store}-cache")
        other = t.squid(line, folder=f"make-{store}", mode=stores.run_mode(store)).create().start()
        t.fetch_all(other, [t.url(f"object{n}", size=20000) for n in range(50)])
        other.stop()
        refused(t, t.dir / f"{store}-cache", "directory", "regular file", "block device")
    refused(t, t.dir / "rock-cache" / "rock", "data", "not empty", "not a clusterfs", "rock", "refus")
    (t.dir / "folder").mkdir()
    give_to_squid(t.dir / "folder")
    refused(t, t.dir / "folder", "directory", "regular file", "block device")


@pytest.mark.stores("clusterfs")
def test_size_of_a_new_image(t):
    """The size is needed where the file does not exist; too small a size is refused."""
    path = t.dir / "new.img"
    squid = t.squid(f"cache_dir clusterfs {path}")
    t.allow("FATAL: cache_dir clusterfs .*", "FATAL: Bungled .*")
    done = squid.create_unchecked()
    said = done.stdout + squid.cache_log.text()
    assert "ERROR: cache_dir clusterfs was not made" in said and str(path) in said and "MB" in said, said
    assert not path.exists()
    squid.configure(f"cache_dir clusterfs {path} 1")
    done = squid.create_unchecked()
    said = done.stdout + squid.cache_log.text()
    assert done.returncode != 0 and "small" in said, said
    squid.configure(t.cache_dir(64, path=path))
    squid.create()
    assert path.stat().st_size == 64 * MB and path.stat().st_blocks * 512 >= 64 * MB, "not preallocated"
    squid.configure(f"cache_dir clusterfs {path}")
    squid.start()
    url = t.url("object", size=1000)
    t.miss(squid, url)
    t.hit(squid, url)


@pytest.mark.stores("clusterfs")
def test_empty_and_zeroed_images(t):
    """An existing file of zeros is formatted by -z; without -z Squid says what to do, and serves."""
    for number, how in enumerate(("zeros", "sparse", "empty")):
        path = devices.sparse_file(t.dir / f"{how}.img", 0 if how == "empty" else 64 * MB)
        if how == "zeros":
            path.write_bytes(bytes(64 * MB))
        squid = t.squid(t.cache_dir(64, path=path), folder=f"squid{number}").start(wait=False)
        squid.wait_ready()
        url = t.url(how, size=30000)
        t.miss(squid, url)
        squid.stop()
        assert squid.cache_log.lines(f"{path}.*-z|-z.*{path}"), f"no advice about squid -z:\n{squid.tail()}"
        squid.create().start()
        t.miss(squid, url)
        t.hit(squid, url)
        squid.stop()


@pytest.mark.stores("clusterfs")
def test_mistyped_device(t):
    """A name in /dev that does not exist is a mistake: squid -z makes no file there, which would be memory."""
    path = pathlib.Path(f"/dev/clusterfs-{os.getpid()}")
    squid = t.squid(stores.cache_dir("clusterfs", path, 8))
    try:
        done = squid.create_unchecked()
        assert not path.exists(), "squid -z made a file in /dev"
        said = done.stdout + squid.cache_log.text()
        assert f"ERROR: cache_dir clusterfs was not made, and Squid does without it: {path}" in said, said
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.stores("clusterfs")
def test_no_permission(t):
    """An image that Squid's user may not open: one clear message, and Squid serves without it."""
    if not effective_user():
        pytest.skip("needs root: the image has to belong to another user")
    squid = t.squid().create()
    os.chown(t.image(), 0, 0)
    os.chmod(t.image(), 0o600)
    squid.start(wait=False)
    squid.wait_ready()
    url = t.url("object", size=30000)
    t.miss(squid, url)
    t.miss(squid, url)
    lines = squid.cache_log.lines("clusterfs.*[Pp]ermission")
    assert lines and str(t.image()) in lines[0], squid.tail()
    squid.stop()
    give_to_squid(t.image())
    squid.start()
    t.miss(squid, url)
    t.hit(squid, url)
