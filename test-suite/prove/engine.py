# SPDX-License-Identifier: GPL-2.0-or-later
"""Which engine it is that is proved: commits that change neither the engine nor the simulation share their figures."""

import hashlib
import subprocess

#: what the figures depend on, below the top of the project
FOLDERS = ("src/fs/cluster", "test-suite/doubles", "test-suite/simulate", "tools/models")
SOURCES = (".cc", ".h", ".am")


def fingerprint(top):
    """A name for the sources in FOLDERS: equal for equal ones."""
    total = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                total.update(f"{path.relative_to(top)}\0{path.stat().st_size}\0".encode())
                total.update(path.read_bytes())
    return total.hexdigest()[:12]


def commit(top):
    """The commit that is checked out, with a word when FOLDERS have something else than it."""
    def git(*words):
        done = subprocess.run(["git", "-C", str(top), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None
    name = git("rev-parse", "--short=10", "HEAD")
    if not name:
        return "no commit"
    return f"{name}, changed" if git("status", "--porcelain", "--", *FOLDERS) else name
