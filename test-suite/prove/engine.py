# SPDX-License-Identifier: GPL-2.0-or-later
"""Which engine it is that is proved: commits that change neither the engine nor the simulation share their figures. Those
that were found with a real Squid belong to its glue, too."""

import hashlib
import re
import subprocess

GLUE = "src/fs/cluster/squid"
#: what the figures depend on, below the top of the project
FOLDERS = ("src/fs/cluster", "test-suite/doubles", "test-suite/simulate", "tools/models")
#: the lists of sources which lie beside the engine's
GLUE_LIST = "src/fs/cluster/glue.am"
#: what lets several workers use an engine, which itself knows nothing of that
SHARING = "src/fs/cluster/sharing"
SHARING_LIST = "src/fs/cluster/sharing.am"
#: what those depend on besides that are found with a real Squid
GLUE_FOLDERS = (GLUE, SHARING, "squid-patches")
SOURCES = (".cc", ".h", ".am", ".patch")
#: a literal, which is kept, or a comment
_LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def _code(path):
    """A source as the compiler sees it: comments and the width of blank space make no difference."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    if path.suffix in (".cc", ".h"):
        text = _LITERAL_OR_COMMENT.sub(lambda found: " " if found[0].startswith("/") else found[0], text)
    return " ".join(text.split()).encode("utf-8", "surrogateescape")


def _named(top, folders, without=()):
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted((top / folder).rglob("*")):
            name = path.relative_to(top).as_posix()
            if path.suffix in SOURCES and path.is_file() and not name.startswith(without):
                code = _code(path)
                total.update(f"{name}\0{len(code)}\0".encode())
                total.update(code)
    return total.hexdigest()[:12]


def fingerprint(top):
    """A name for the engine and its simulation: equal for equal code."""
    return _named(top, FOLDERS, without=(GLUE + "/", GLUE_LIST, SHARING + "/", SHARING_LIST))


def glue_fingerprint(top):
    """A name for that which ties the engine to Squid."""
    return _named(top, GLUE_FOLDERS)


def commit(top):
    """The commit that is checked out, with a word when its folders have something else than it."""
    def git(*words):
        done = subprocess.run(["git", "-C", str(top), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None
    name = git("rev-parse", "--short=10", "HEAD")
    if not name:
        return "no commit"
    return f"{name}, changed" if git("status", "--porcelain", "--", *FOLDERS, *GLUE_FOLDERS) else name
