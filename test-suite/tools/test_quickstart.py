# SPDX-License-Identifier: GPL-2.0-or-later
"""Which Squid ./quickstart shows, on each Debian. Here nothing is installed or built: the programs that would do it are
replaced by others that say how they were called."""

import os
import shutil
import subprocess

import pytest

from common import TOP
from toolkit import need_root

POLICY = """squid:
  Installed: (none)
  Candidate: {}
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def checkout(folder):
    """A checkout with the scripts, and a folder bin in front of the PATH."""
    need_root()  # else quickstart calls sudo
    shutil.copytree(TOP / "tools" / "build", folder / "tools" / "build")
    shutil.copy2(TOP / "quickstart", folder)
    script(folder / "bin" / "apt-get", 'echo "called: $*"; exit 1')
    return folder


def run(checkout, command, **more):
    env = {**os.environ, "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "CCACHE_DISABLE": "1", **more}
    for name in {"SQUID_SOURCE", "SQUID_CONFIGURE_FLAGS"} - more.keys():
        env.pop(name, None)
    done = subprocess.run([checkout / command[0], *command[1:]], cwd=checkout, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("candidate, version", [("5.7-2+deb12u6", "5.7"), ("6.12-1", "6.12"), ("8.1-1", "8.1")])
def test_debian_without_a_squid_that_the_module_fits(checkout, candidate, version):
    script(checkout / "bin" / "apt-cache", f"echo '{POLICY.format(candidate)}'")
    code, said = run(checkout, ["tools/build/stock-squid"])
    assert code == 3 and f"Debian's own Squid is {version} here" in said and "building a Squid" in said, said
    assert "called:" not in said and not (checkout / "build").exists(), said


def test_debian_whose_lists_name_no_squid(checkout):
    """apt gets its lists first."""
    script(checkout / "bin" / "apt-cache", f"echo '{POLICY.format('(none)')}'")
    script(checkout / "bin" / "apt-get", 'echo "$*" >>build/asked')
    code, said = run(checkout, ["tools/build/stock-squid"])
    assert code == 3 and "Debian's own Squid is not to be had here" in said, said
    assert (checkout / "build" / "asked").read_text().split()[-1] == "update"


@pytest.mark.parametrize("candidate", ["6.13-2+deb13u4", "6.14-1", "7.7-1"])
def test_debian_with_a_squid_that_the_module_fits(checkout, candidate):
    """It is downloaded, and not installed. Where that fails, no other Squid is built."""
    script(checkout / "bin" / "apt-cache", f"echo '{POLICY.format(candidate)}'")
    script(checkout / "bin" / "apt-get", f'echo "$*" >>{checkout}/asked; case "$*" in *download*) exit 1; esac')
    code, said = run(checkout, ["tools/build/stock-squid"])
    asked = (checkout / "asked").read_text().splitlines()
    assert code == 1 and f"unpacking Debian's own Squid, {candidate.split('-')[0]}," in said and "this failed" in said, said
    assert [line.split("=300 ")[1] for line in asked] == ["update", "download squid"], asked


OWN, STOCK = "squid-7", "stock/usr"


@pytest.mark.parametrize("status, options, settings, squid", [
    (0, [], {}, STOCK),
    (3, [], {}, OWN),
    (1, [], {}, None),
    (0, ["--own-squid"], {}, OWN),
    (0, ["--pages", "3"], {"SQUID_SOURCE": "squid.tar"}, OWN),
    (0, ["--pages", "3"], {"SQUID_CONFIGURE_FLAGS": "--enable-icmp"}, OWN),
])
def test_choice(checkout, status, options, settings, squid):
    """status: the exit status of stock-squid. squid: the Squid that is shown; None: the command fails."""
    build = checkout / "build"
    build.mkdir()
    (build / "config.status").write_text("configured\n")
    script(build / "squid-7" / "sbin" / "squid", "")
    script(checkout / "tools" / "build" / "install-packages", "")
    script(checkout / "tools" / "build" / "stock-squid", f"echo stock-squid; exit {status}")
    script(checkout / "bin" / "make", 'echo "make $*"')
    script(checkout / "bin" / "python3", 'echo "shows $*"')
    code, said = run(checkout, ["./quickstart", *options], **settings)
    assert ("stock-squid" in said.splitlines()) == (options != ["--own-squid"] and not settings), said
    assert (f"make -C {build} squid" in said.splitlines()) == (squid == OWN), said
    if squid:
        words = " ".join(["tools/demo/quickstart.py", "--build", str(build / squid), "--work", str(build / "quickstart"), *options])
        assert code == 0 and f"shows {words}" in said.splitlines(), said
    else:
        assert code == 1 and "./quickstart --own-squid builds a Squid" in said and "shows" not in said, said
