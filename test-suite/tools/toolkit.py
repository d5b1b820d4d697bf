# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the clusterfs tool are given: the tool, images, and their bytes."""

import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

MIB = 1 << 20
LIMIT = 120  # seconds for one run of the tool
Done = collections.namedtuple("Done", "code out err")


def program(name):
    """The path of a system program; skips the test where it is not installed."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        pytest.skip(f"{name} is not installed")
    return path


def need_root():
    if os.geteuid() != 0:
        pytest.skip("needs root")


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


class Image:
    """A file with a cache, and its bytes."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def digest(self):
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def read(self, offset, size):
        with open(self.path, "rb") as file:
            file.seek(offset)
            return file.read(size)

    def write(self, offset, data):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def flip(self, offset):
        """Changes one byte."""
        self.write(offset, bytes([self.read(offset, 1)[0] ^ 0x55]))

    def seal(self, offset, size, crc_at):
        """Makes a checksum right that covers size bytes but for itself."""
        data = self.read(offset, size)
        crc = crc32c(data[:crc_at] + data[crc_at + 4:])
        self.write(offset + crc_at, crc.to_bytes(4, "little"))

    def copy(self, name):
        other = self.path.with_name(name)
        shutil.copyfile(self.path, other)
        other.chmod(0o600)
        return Image(other)


class Test:
    """The folder of one test, and the programs. damage: how many damaged images of each kind it is to try; seed chooses
    the damage."""
    __test__ = False  # pytest finds no tests in it

    def __init__(self, folder, tool, fill, damage, seed):
        self.dir, self.damage = folder, damage
        self.random = random.Random(seed)
        self._tool, self._fill = tool, fill

    def tool(self, *words, code=0):
        """Runs clusterfs. code: the exit code that must come; None: any but a crash."""
        done = subprocess.run([self._tool, *map(str, words)], capture_output=True, timeout=LIMIT, cwd=self.dir, check=False)
        done = Done(done.returncode, done.stdout.decode("ascii"), done.stderr.decode("utf-8", "replace"))
        expected = (0, 1, 2) if code is None else (code,)
        assert done.code in expected, f"clusterfs {' '.join(map(str, words))}: exit code {done.code}, expected {code}\n" \
            f"{done.out[-2000:]}\n{done.err[-4000:]}"
        for sign in ("Sanitizer", "runtime error", "gave up"):
            assert sign not in done.err, f"clusterfs {' '.join(map(str, words))}:\n{done.err[-4000:]}"
        return done

    def subcommands(self, operand="[A-Z]+"):
        """The names of all, as the tool lists them, or of those that take PATH, or another operand."""
        return re.findall(rf"^  clusterfs (\w+) {operand}\b", self.tool("help").out, re.M)

    def refused(self, *words, says):
        """The tool must refuse, print nothing but the reason, and name these words in it."""
        done = self.tool(*words, code=2)
        assert not done.out, done.out
        for text in [says] if isinstance(says, str) else says:
            assert text in done.err, f"{' '.join(map(str, words))}: no '{text}' in: {done.err}"
        return done

    def json(self, command, image, *words, code=0):
        return json.loads(self.tool(command, image.path, "--json", *words, code=code).out)

    def dump(self, image, code=0):
        """{URL or key: object}"""
        lines = map(json.loads, self.tool("dump", image.path, "--json", code=code).out.splitlines())
        found = {}
        for entry in lines:
            name = entry["url"] or entry["key"]
            assert name not in found, f"{name} is listed twice"
            found[name] = entry
        return found

    def problems(self, image):
        """What check complains of; its exit code and count must agree."""
        done = self.tool("check", image.path, "--json", code=None)
        report = json.loads(done.out)
        assert report["problem_count"] == len(report["problems"])
        assert done.code == (1 if report["problems"] else 0), done
        assert report["result"] == ("damaged" if report["problems"] else "clean")
        return report["problems"]

    def clean(self, image):
        found = self.problems(image)
        assert not found, found

    def path(self, name, content=None):
        path = self.dir / name
        if content is not None:
            path.write_bytes(content)
            path.chmod(0o600)
        return path

    def image(self, name="cache", megabytes=16, cluster=64):
        """A new image with clusters of so many KB."""
        image = Image(self.dir / name)
        self.tool("format", image.path, f"--size={megabytes}", f"--cluster-size={cluster}", "--object-size=4")
        return image

    def fill(self, image, *commands, options=(), crash=False):
        """Runs the engine on an image; returns its answers. Ends in order, or not."""
        text = "".join(line + "\n" for line in commands + (("crash",) if crash else ()))
        done = subprocess.run([self._fill, image.path, *options], input=text, capture_output=True,
                              timeout=LIMIT, text=True, check=False)
        assert done.returncode == 0, f"clusterfs-fill: {done.returncode}\n{done.stderr}"
        answers = done.stdout.splitlines()
        assert len(answers) == len(commands), (answers, done.stderr)
        return answers

    def filled(self, name="cache", count=40, crash=False, options=()):
        """An image with objects of all sizes, a deleted one and a replaced one: (image, {URL: size})."""
        image = self.image(name)
        wanted = {url(n): 200 + n * 700 for n in range(count)}
        wanted[url("large")] = 400000
        commands = [store(name, size) for name, size in wanted.items()]
        commands += [store(url("gone"), 3000), store(url("again"), 2000), "pack"]
        commands += ["remove " + url("gone"), store(url("again"), 2500), "pack"]
        wanted[url("again")] = 2500
        self.fill(image, *commands, crash=crash, options=options)
        return image, wanted


def url(name):
    return f"http://www.example.com/{name}"


def store(name, size, timestamp=1700000000, expires=1700003600, modified=1600000000, flags=0):
    return f"store {name} {size} {timestamp} {expires} {modified} {flags}"
