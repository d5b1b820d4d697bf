# SPDX-License-Identifier: GPL-2.0-or-later
"""Beginnings that fail and ends of all kinds: a clear message, and nothing left behind."""

import os
import pathlib
import signal
import subprocess
import sys
import time

from benchlib.disk import DiskError
from benchlib.errors import BenchError
from disktools import MB, Device, fails, fio


def server_of(process):
    """The pid of the supervisor's only child."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 1, children
    return int(children[0])


def test_refused_beginnings(context):
    small = ("serve", "--size=1M")
    for words, *arguments in (("--size", "serve"), ("not a whole number", "serve", "--size=x"),
                              ("multiple of 4096", "serve", "--size=1048577"), ("from 1 MB", "serve", "--size=1K"),
                              ("has room for", "serve", "--size=4T"), ("needs a value", "serve", "--size"),
                              ("no model", *small, "--model=tape"), ("unknown option --speed", *small, "--speed=1"),
                              ("given twice", *small, "--size=1M"), ("--name", *small, "--name=a,b"),
                              ("power of two", *small, "--sector=513"),
                              ("cannot make a file in", *small, "--store-folder=/nowhere"),
                              ("not a regular file", *small, "--store=/dev/null"),
                              ("cannot make the write log", *small, "--record=/nowhere/log"),
                              ("a log and an image", "replay", "x"), ("not a command", "fly"),
                              ("from 1 to 4096", "predict", "--depth=0"),
                              ("too many", "predict", "--size=4T", "--set=rate=1,stroke=0.001")):
        context.refused(words, *arguments)
    with fails("cannot write nosuch", DiskError), context.disk("fast", MB, scheduler="nosuch"):
        pass
    with fails("run make bench-programs", BenchError):
        type(context)(context.folder, context.folder).disk("fast", MB)


def test_machines_without(context):
    """No root, no FUSE, no loop devices, none of them free."""
    folder, program = context.folder / "open", context.folder / "open" / "diskmodel"
    folder.mkdir(mode=0o755)
    context.folder.chmod(0o755)
    program.write_bytes(context.program.read_bytes())
    program.chmod(0o755)
    # the copy, since others may have no way to the original
    unprivileged = type(context)(folder, context.folder)
    unprivileged.refused("needs root", "serve", "--size=1M", user=65534, group=65534, extra_groups=[])

    def hidden(words, *nodes):
        script = "mount -t tmpfs none /dev; " + "; ".join(f"mknod /dev/{node}" for node in nodes) + '; exec "$@"'
        context.refused(words, "serve", "--size=1M", f"--store-folder={context.folder}", f"--name={context.name()}",
                        prefix=["unshare", "--mount", "sh", "-c", script, "sh"])

    hidden("cannot open /dev/fuse", "null c 1 3")
    hidden("cannot open /dev/loop-control", "null c 1 3", "fuse c 10 229")
    hidden("no loop device could be had", "null c 1 3", "fuse c 10 229", "loop-control c 10 237")


def test_usual_ends(context):
    with context.disk("hdd", 64 * MB) as disk:
        queue = pathlib.Path("/sys/block", pathlib.Path(disk.device).name, "queue")
        assert (queue / "rotational").read_text().strip() == "1"
        assert "[mq-deadline]" in (queue / "scheduler").read_text()
        disk.set(model="fast")
        assert (queue / "rotational").read_text().strip() == "1", "fast is for filling: the queue stays"
        disk.set(model="ssd")
        assert (queue / "rotational").read_text().strip() == "0" and "[none]" in (queue / "scheduler").read_text()
    with fails("is gone", DiskError):
        disk.stats()
    disk.close()  # a second time
    with fails("on purpose", ValueError), context.disk("ssd", 64 * MB):
        raise ValueError("on purpose")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process, _ = context.start(until_eof=False)
        process.send_signal(number)
        assert process.wait(20) == 0, f"{number}: {process.returncode}"
        process.stdout.close()
        assert not context.leftovers(), context.leftovers()


def test_the_owner_is_killed(context):
    """A Python program with a disk dies without a word, while the disk is busy."""
    script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
              "from benchlib.disk import Disk\n"
              "with Disk(model='hdd', size=1 << 26, name=sys.argv[3], programs=sys.argv[2]) as d:\n"
              "    print(d.device, flush=True)\n"
              "    sys.stdin.read()\n")
    bench = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench"
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen([sys.executable, "-c", script, bench, context.programs, context.name()],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        device = process.stdout.readline().strip()
        load = subprocess.Popen(["fio", "--name=x", f"--filename={device}", "--rw=randwrite", "--ioengine=libaio",
                                 "--direct=1", "--iodepth=8", "--time_based", "--runtime=1"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        process.send_signal(number)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        load.wait()
        left = context.leftovers(patience=15)
        assert not left, f"{signal.Signals(number).name}: {left}"


def test_parts_are_killed(context):
    """Supervisor or server die without a word: the other one cleans up."""
    process, place = context.start()
    with Device(place["device"]) as device:
        device.read(0)
        os.kill(server_of(process), signal.SIGKILL)
        assert process.wait(20) == 1
        with fails("", OSError):
            device.read(MB)
    process.stdin.close()
    process.stdout.close()
    assert not context.leftovers(patience=10), context.leftovers()

    process, place = context.start()
    fio(place["device"], "randwrite", "4k", 8, 0.5)
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert not context.leftovers(patience=15), context.leftovers()


def test_the_device_is_in_use(context):
    """A file system is still mounted, a program still has the device open."""
    mount = context.folder / "mount point"
    mount.mkdir(exist_ok=True)
    process, place = context.start("--patience=2")
    subprocess.run(["mkfs.ext4", "-q", "-F", place["device"]], check=True)
    subprocess.run(["mount", place["device"], mount], check=True)
    (mount / "file").write_bytes(bytes(MB))
    process.stdin.close()
    assert process.wait(30) == 1, "a mounted file system is not worth a word"
    process.stdout.close()
    assert not os.path.ismount(mount) and not context.leftovers(patience=5), context.leftovers()

    process, place = context.start("--patience=1")
    fd = os.open(place["device"], os.O_RDONLY)
    try:
        process.stdin.close()
        assert process.wait(30) == 1
        with fails("", OSError):
            os.pread(fd, 4096, 0)
    finally:
        os.close(fd)
    process.stdout.close()
    assert not context.leftovers(patience=10), context.leftovers()


def test_many_at_once(context):
    """Loop devices are taken from each other, and all get one."""
    started = [context.start(size=MB) for _ in range(6)]
    devices = {place["device"] for _, place in started}
    assert len(devices) == 6, devices
    for process, _ in started:
        process.stdin.close()
    for process, _ in started:
        assert process.wait(30) == 0
        process.stdout.close()
