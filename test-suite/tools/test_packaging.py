# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that packages bring for other programs: systemd and AppArmor must understand them. udev's rule is in test_setup.py;
test-suite/packages looks at all of them in a Debian 13."""

import re
import subprocess

from common import TOP
from toolkit import program

PACKAGING = TOP / "packaging"
SERVICE = """[Unit]
Description=Squid
After=local-fs.target
[Service]
Type=notify
ExecStart=/bin/true
"""


def verified(folder, drop_ins):
    """What systemd says of squid.service with these drop-ins, {name: text}."""
    unit = folder / "squid.service"
    unit.write_text(SERVICE)
    below = folder / "squid.service.d"
    below.mkdir(exist_ok=True)
    for name, text in drop_ins.items():
        (below / name).write_text(text)
    done = subprocess.run([program("systemd-analyze"), "verify", "--man=no", unit], capture_output=True, text=True, timeout=60, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if "squid.service" in line]


def test_systemd(folder):
    """The drop-ins, also with the lines that are comments."""
    texts = {path.name: path.read_text() for path in sorted((PACKAGING / "systemd").glob("*.conf"))}
    assert set(texts) == {"clusterfs.conf", "clusterfs-disk.conf"}
    assert verified(folder, texts) == []
    texts["clusterfs.conf"] = re.sub(r"^#(\w+=)", r"\1", texts["clusterfs.conf"], flags=re.M)
    assert "\nIOWeight=" in texts["clusterfs.conf"]
    assert verified(folder, texts) == []
    assert verified(folder, {"clusterfs.conf": "[Service]\nPrivateDevice=no\n"}), "systemd says nothing of a mistake"


def needs():
    """Paths in /proc and /sys that the checks of a device read, as the sources have them."""
    text = (TOP / "src/fs/cluster/device/DeviceInUse.cc").read_text()
    found = set(re.findall(r'"(/(?:proc|sys)[\w/]*)"', text))
    assert {"/proc/self/mountinfo", "/proc/swaps", "/sys/block"} <= found, found
    return found


def test_apparmor_has_all_that_the_checks_read():
    text = (PACKAGING / "apparmor" / "squid-clusterfs").read_text()
    rules = dict(re.findall(r"^  (\S+) (\w+),$", text, re.M))
    for need in needs():
        path = need.replace("/proc/self/", "@{PROC}/@{pid}/").replace("/proc/", "@{PROC}/").rstrip("/")
        assert "r" in rules.get(path, "") or "r" in rules.get(path + "/", ""), f"{need} is not allowed by {sorted(rules)}"
    assert rules["/sys/devices/**/block/**"] == "r", "links of /sys/block lead there"
    assert rules["/dev/{sd,vd,xvd,nvme,mmcblk,dm-,md,loop}*"] == "rwk", "read, write, and lock"


def test_apparmor_understands_it(folder):
    parser = program("apparmor_parser")
    for rules, understood in (((PACKAGING / "apparmor" / "squid-clusterfs").read_text(), True), ("/dev/sd* rwz,\n", False)):
        profile = folder / "profile"
        profile.write_text(f"include <tunables/global>\nprofile squid-test /usr/sbin/squid-test {{\n{rules}}}\n")
        done = subprocess.run([parser, "--skip-kernel-load", "--skip-cache", profile], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode == 0) == understood, done


def test_module_names_classes_that_there_are():
    """Fit.cc has their linker names, which no compiler compares with anything."""
    fit = (PACKAGING / "module" / "Fit.cc").read_text()
    sources = fit + "".join(path.read_text() for path in sorted((TOP / "src/fs/cluster/squid").glob("*.h")))
    found = {name[:int(length)] for length, name in re.findall(r"9ClusterFs(\d+)([A-Z]\w+)", fit)}
    assert len(found) == 3, found
    for name in found:
        assert re.search(rf"^class {name}\b", sources, re.M), f"there is no class {name} that others can see"


def test_start_takes_the_squid_beside_it(folder):
    """squid-clusterfs, also by a link to it, starts the Squid of its own folder, OpenSSL's before the other, with the loader."""
    sbin, loader = folder / "sbin", folder / "lib" / "squid-clusterfs" / "load.so"
    sbin.mkdir()
    (sbin / "squid").symlink_to("squid-clusterfs")
    subprocess.run([program("g++"), "-std=c++17", "-o", sbin / "squid-clusterfs", PACKAGING / "module" / "Start.cc"], check=True)

    def started():
        return subprocess.run([sbin / "squid", "-v"], capture_output=True, text=True, timeout=60, check=False)

    done = started()
    assert done.returncode == 1 and f"cannot start {sbin}/squid-gnutls: No such file" in done.stderr, done
    for name in ("squid-gnutls", "squid-openssl"):
        (sbin / name).write_text('#!/bin/sh\necho "$0 $* $LD_PRELOAD"\n')
        (sbin / name).chmod(0o755)
        assert started().stdout == f"{sbin / name} -v {loader}\n"
