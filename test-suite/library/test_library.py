# SPDX-License-Identifier: GPL-2.0-or-later
"""The library as another program sees it: what it exports, a program in C11, and what make install installs."""

import os
import re
import subprocess

from common import BUILD, TOP

SHARED = BUILD / "libclusterfs.so.0.1"


def words(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def listed():
    lines = (TOP / "src" / "lib" / "symbols").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_it_exports_what_the_list_says_and_nothing_else():
    exported = [line.split()[-1] for line in words("nm", "-D", "--defined-only", SHARED).splitlines()]
    assert exported[0] == "CLUSTERFS_0", "the version of the ABI"
    assert sorted(exported[1:]) == [f"{name}@@CLUSTERFS_0" for name in listed()]


def test_the_headers_declare_what_the_list_says():
    declared = set()
    for path in (TOP / "include" / "clusterfs").glob("*.h"):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        declared |= set(re.findall(r"^\w[^/\n(]*?\b(clusterfs_\w+)\(", code, re.M))
    assert sorted(declared) == listed()


def test_its_name_is_that_of_its_abi():
    assert "[libclusterfs.so.0]" in words("readelf", "-d", SHARED)
    for link, target in (("libclusterfs.so.0", "libclusterfs.so.0.1"), ("libclusterfs.so", "libclusterfs.so.0")):
        assert os.readlink(BUILD / link) == target


def test_a_program_in_c(folder):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD)}
    assert words(BUILD / "library-c-test", folder / "store", env=environment) == "fine\n"


def test_what_is_installed_is_enough_to_build_and_run_the_examples():
    done = words("make", "-C", BUILD, "installcheck", env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")})
    assert "the examples of the library were built and work" in done


def test_what_is_uninstalled_is_gone(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    words("make", "-C", BUILD, "install", f"DESTDIR={folder}", env=environment)
    installed = {path.name for path in folder.rglob("*") if not path.is_dir()}
    assert {"libclusterfs.so", "libclusterfs.so.0", "libclusterfs.so.0.1", "libclusterfs.a", "clusterfs.pc", "clusterfs.h",
            "clusterfs.hpp", "accelerator.h", "cfs.h", "damelo.h", "hummingbird.h", "clusterfs"} <= installed
    words("make", "-C", BUILD, "uninstall", f"DESTDIR={folder}", env=environment)
    assert [path for path in folder.rglob("*") if not path.is_dir()] == []
