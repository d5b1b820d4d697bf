# SPDX-License-Identifier: GPL-2.0-or-later
"""lint-engine names a mistake with file and line, is silent about good code, and fails where clang-tidy is missing."""

import shutil
import subprocess

from common import TOP

GOOD = "#include <string>\n\nsize_t\nlengthOf(const std::string &text)\n{\n    return text.size();\n}\n"


def lint(*words, path="/usr/bin:/bin"):
    return subprocess.run([TOP / "tools" / "build" / "lint-engine", *words], env={"PATH": path}, capture_output=True, text=True, check=False)


def test_a_mistake_is_told(folder):
    shutil.copy(TOP / ".clang-tidy", folder)
    (folder / "good.cc").write_text(GOOD)
    done = lint(folder / "good.cc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (folder / "bad.cc").write_text(GOOD.replace("const std::string &text", "const std::string text"))
    done = lint(folder / "good.cc", folder / "bad.cc")
    assert done.returncode == 1
    assert f"{folder}/bad.cc:4:" in done.stdout and "[performance-unnecessary-value-param" in done.stdout, done.stdout
    assert "good.cc" not in done.stdout and done.stderr.count("\n") == 1 and "clang-tidy has found something" in done.stderr, done


def test_without_clang_tidy(folder):
    programs = folder / "bin"
    programs.mkdir()
    for name in ("bash", "basename", "dirname", "realpath", "nproc", "env"):
        (programs / name).symlink_to(shutil.which(name))
    done = lint(path=str(programs))
    assert (done.returncode, done.stdout) == (1, "") and "clang-tidy is not installed (Debian package clang-tidy)" in done.stderr, done
    assert done.stderr.count("\n") == 1, done.stderr
