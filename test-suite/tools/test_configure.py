# SPDX-License-Identifier: GPL-2.0-or-later
"""What our patch adds to Squid's configure: a Squid without the module's libraries, or none, as was asked for."""

import pathlib
import re
import subprocess

from toolkit import program

PATCHES = pathlib.Path(__file__).resolve().parents[2] / "squid-patches"
# Around the patch's own lines, as much of Squid's configure.ac as they need.
CONFIGURE_AC = """
AC_INIT([part],[1])
AC_PROG_CC
squid_storeio_module_candidates="cluster ufs rock"
AC_ARG_ENABLE([storeio],[],[
  squid_storeio_module_candidates="$enableval ufs"
{named}
])
AS_CASE([cluster],
{cluster}
[:])
AC_MSG_NOTICE([modules: $squid_storeio_module_candidates; libraries: $CLUSTER_LIBS])
AC_OUTPUT
"""
LIBRARIES = {
    "libaio": ("ac_cv_header_libaio_h", "ac_cv_lib_aio_io_submit"),
    "libisal": ("ac_cv_header_isa_l_crc_h", "ac_cv_lib_isal_crc32_iscsi"),
    "libblkid": ("ac_cv_header_blkid_blkid_h", "ac_cv_lib_blkid_blkid_new_probe"),
}


def added(series):
    """The lines of the patch that name the modules asked for, and that look for the libraries."""
    patch = (PATCHES / str(series) / "0001-storeio-cluster.patch").read_text(encoding="utf-8")
    named = re.search(r"^\+( +squid_storeio_modules_named=.*)$", patch, re.M)[1]
    cluster = re.search(r"^\+ +\[cluster\],\[\n(?:\+.*\n)+?\+    \],\n", patch, re.M)[0]
    return named, re.sub(r"^\+", "", cluster, flags=re.M)


def test_libraries(test):
    """With all of them the module is built. Without one it is left out, and configure says so; or, where it was asked for
    by name, configure fails."""
    autoconf = program("autoconf")
    assert added(6) == added(7)
    named, cluster = added(7)
    test.path("configure.ac", CONFIGURE_AC.format(named=named, cluster=cluster).encode())
    subprocess.run([autoconf], cwd=test.dir, check=True, timeout=120)

    def configure(*words):
        done = subprocess.run(["./configure", "--config-cache", *words], cwd=test.dir, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    present = [f"{variable}=yes" for both in LIBRARIES.values() for variable in both]
    for options in ([], ["--enable-storeio=ufs,cluster"]):
        code, says = configure(*present, *options)
        assert code == 0 and re.search(r"modules: .*cluster.*; libraries: -laio -lisal -lblkid\n", says), says
    for library, variables in LIBRARIES.items():
        for variable in variables:
            words = [word for word in present if not word.startswith(variable + "=")] + [variable + "=no"]
            code, says = configure(*words)
            assert code == 0 and re.search(rf"libraries and their headers: +{library} .*It is not built\n", says), says
            assert re.search(r"modules: +ufs rock;", says), says
            code, says = configure(*words, "--enable-storeio=ufs,cluster")
            assert code != 0 and re.search(rf"error: .*libraries and their headers: +{library} ", says), says
