# SPDX-License-Identifier: GPL-2.0-or-later
"""The archive of the sources is what the last commit has, and a configure that works."""

import io
import subprocess
import tarfile

import pytest
from common import TOP


def files(archive):
    """{path: bytes} of a tar archive."""
    return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}


@pytest.mark.skipif(not (TOP / ".git").exists(), reason="no git checkout")
def test_has_the_commit_and_configure(tmp_path):
    subprocess.run([TOP / "tools" / "build" / "make-dist", "clusterfs-test"], check=True, capture_output=True)
    path = TOP / "build" / "clusterfs-test.tar.xz"
    commit = subprocess.run(["git", "-C", TOP, "archive", "--prefix=clusterfs-test/", "HEAD"], capture_output=True, check=True).stdout
    try:
        with tarfile.open(path) as archive, tarfile.open(fileobj=io.BytesIO(commit)) as expected:
            packed, sources = files(archive), files(expected)
            assert {name: packed.get(name) for name in sources} == sources
            archive.extractall(tmp_path)
    finally:
        path.unlink()
    build = tmp_path / "clusterfs-test" / "build"
    build.mkdir()
    done = subprocess.run(["../configure"], cwd=build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (build / "Makefile").exists()
