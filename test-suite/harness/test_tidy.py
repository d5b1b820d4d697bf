# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule of tidy.py finds what breaks it, and nothing in a tree that keeps them all."""

import pathlib
import subprocess
import sys

TIDY = pathlib.Path(__file__).resolve().parents[1] / "tidy.py"
SPDX = "SPDX-License-Identifier: GPL-2.0-or-later"
TREE = {
    "docs/design.md": f"<!-- {SPDX} -->\n## Floors\n\n| floor | folders | what |\n|---|---|---|\n| 3 | squid/ | glue |\n"
                      "| 2 | upper/ beside/ | |\n| 1 | lower/ | |\n\n## More\n",
    "docs/glossary.md": f"<!-- {SPDX} -->\n## Former names\n\n| not | but | |\n|---|---|---|\n| **ancient** | modern | |\n",
    "src/fs/cluster/squid/Glue.cc": f'// {SPDX}\n#include "squid.h"\n#include "fs/cluster/upper/A.h"\n',
    "src/fs/cluster/upper/A.h": f'// {SPDX}\n#include "fs/cluster/lower/B.h"\n#include "fs/cluster/upper/C.h"\nclass A\n{{\npublic:\n'
                                "    int size() const { return size_; }\n\nprivate:\n    static constexpr int most = 3;\n"
                                "    int size_ = 0; ///< bytes\n};\n",
    "src/fs/cluster/upper/B.cc": f'// {SPDX}\nvoid f()\n{{\n    say<Message::full>(log, "a");\n    catalog("a");\n'
                                 '    log(rowOf(m).level, text);\n    log_(context);\n}\n',
    "src/fs/cluster/squid/Log.cc": f'// {SPDX}\nvoid f()\n{{\n    debugs(47, 3, "for developers" << a(1, 0));\n'
                                   '    debugs(47, DBG_IMPORTANT, messageLine<Message::full>(e));\n'
                                   '    fatal(messageText<Message::full>(path).c_str());\n}\n',
    "tools/cli/main.cc": f'// {SPDX}\n#include "fs/cluster/upper/A.h"\n',
    "src/lib/Store.cc": f'// {SPDX}\n#include "lib/Store.h"\n#include "fs/cluster/upper/A.h"\n#include "clusterfs/clusterfs.h"\n',
    "include/clusterfs/clusterfs.hpp": f'// {SPDX}\n#include "clusterfs.h"\n',
}


def told(folder, changes):
    """What tidy.py says of TREE with other files, or other texts."""
    top = folder / "tree"
    top.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    for name, text in {**TREE, **changes}.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, str(TIDY), str(top)], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if done.stdout else 0) and not done.stderr, done
    return done.stdout.splitlines()


def test_what_keeps_the_rules_is_tidy(folder):
    assert told(folder, {}) == []


def test_each_rule_is_enforced(folder):
    for number, (name, text, wanted) in enumerate((
            ("src/fs/cluster/lower/B.h", '#include "fs/cluster/upper/A.h"\n', "2: lower/ does not stand above upper/ (docs/design.md, Floors)"),
            ("src/fs/cluster/upper/A.h", '#include "fs/cluster/beside/B.h"\n', "2: upper/ does not stand above beside/ (docs/design.md, Floors)"),
            ("src/fs/cluster/upper/A.cc", '#include "squid.h"\n', "2: only squid/ includes what is not of the module: squid.h"),
            ("src/fs/cluster/lower/B.h", '#include "tools/cli/Image.h"\n', "2: only squid/ includes what is not of the module: tools/cli/Image.h"),
            ("src/fs/cluster/attic/D.h", "\n", "1: attic/ is not in the table of floors (docs/design.md)"),
            ("tools/cli/main.cc", '#include "test-suite/doubles/FaultyDevice.h"\n', "2: tools do not include tests"),
            ("src/lib/Jobs.cc", '#include "tools/base/Text.h"\n', "2: the library includes the engine, and its own headers: not tools/base/Text.h"),
            ("src/lib/Jobs.cc", '#include "fs/cluster/squid/A.h"\n', "2: the library includes the engine, and its own headers: not fs/cluster/squid/A.h"),
            ("include/clusterfs/a.h", '#include "lib/Store.h"\n', "2: a public header includes public headers only: not lib/Store.h"),
            ("tools/a.py", "#" * 181 + "\n", "2: the line has 181 characters, more than 180"),
            ("src/fs/cluster/lower/E.h", "class E\n{\n    std::vector<int> all;\n};\n",
             "4: all is private data, and its name does not end with _"),
            ("src/fs/cluster/upper/D.cc", 'void\nf()\n{\n    context.log(row.level,\n        std::to_string(n) + " more");\n}\n',
             "5: log() takes its text and its level from a row of base/Messages.h"),
            ("src/fs/cluster/upper/D.cc", "void f(Log &l) { log_(LogLevel::error, text); }\n",
             "2: log_() takes its text and its level from a row of base/Messages.h"),
            ("src/fs/cluster/squid/D.cc", 'void f() { log()(level, "a)"); }\n',
             "2: log()() takes its text and its level from a row of base/Messages.h"),
            ("src/fs/cluster/squid/D.cc", 'void f() { debugs(47, many(1, 2) ? DBG_IMPORTANT : 3, a <<\n    "b"); }\n',
             "2: debugs() takes its text and its level from a row of base/Messages.h"),
            ("src/fs/cluster/squid/D.cc", 'void f() { debugs(47, 1, "b" << c); }\n',
             "2: debugs() takes its text and its level from a row of base/Messages.h"),
            ("src/fs/cluster/squid/D.cc", 'void f() { fatalf("%s\\n", text); }\n',
             "2: fatalf() takes its text and its level from a row of base/Messages.h"),
            ("tools/b.py", "ancient_bytes = 1\n", "2: 'ancient' is called 'modern' (docs/glossary.md, Former names)"),
            ("docs/more.md", "An ancient thing.\n", "2: 'ancient' is called 'modern' (docs/glossary.md, Former names)"))):
        own = folder / str(number)
        own.mkdir()
        found = told(own, {name: f"// {SPDX}\n{text}"})
        assert found == [f"{name}:{wanted}"], (name, found)
    assert told(folder, {"docs/more.md": "Nobody's.\n"}) == [f"docs/more.md:1: no line with {SPDX} at the beginning"]


def test_a_table_that_is_gone_is_told(folder):
    top = folder / "tree"
    try:
        told(folder, {"docs/design.md": f"<!-- {SPDX} -->\n"})
    except AssertionError as said:
        assert "has no table below 'Floors'" in str(said), said
    else:
        raise AssertionError(f"{top} has no table of floors, and nothing was said")
