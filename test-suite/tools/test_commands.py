# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that README.md and docs/ tell people to type: each is run here, or named here with the reason why not."""

import functools
import os
import re
import shutil
import subprocess
import sys

from common import TOP
from toolkit import need_root, program

# What makes a line of a block, or a word in backticks, a command.
PROGRAMS = re.compile(
    r"(\./|build/(simulate|unit-tests|library-tests|bench|squid)|tools/|python3 |pytest |make |clusterfs (" +
    "|".join(path.stem.partition("-")[2] for path in (TOP / "docs" / "man").glob("clusterfs-*.8")) + r"|help)\b|bench-|squid( |$)|squidclient |"
    r"curl |git |truncate |chown |wipefs )")

IN_THE_CHECKOUT = ("./bench list", "./bench compare docs/results/full docs/results/hits", "./prove --show", "tools/build/build-squid --help")
ON_AN_IMAGE = (
    "clusterfs format --size=MB --owner=proxy PATH", "clusterfs format --owner=proxy PATH",
    "clusterfs format --force --owner=proxy PATH", "clusterfs check PATH", "clusterfs setup PATH --apply",
    "clusterfs format PATH", "clusterfs probe PATH", "clusterfs grow PATH", "clusterfs report PATH -o report.html", "clusterfs inspect cache.img --cluster=0")
# Parts of commands, of which the tool's help must know every word.
IN_PART = ("clusterfs inspect", "clusterfs check", "clusterfs dump", "clusterfs map", "clusterfs purge", "clusterfs format", "clusterfs format --force",
           "clusterfs setup", "clusterfs probe", "clusterfs grow", "clusterfs find", "clusterfs accelerate")
# By patterns of the whole command.
NOT_RUN = {
    "compiles, and ./check does the same": (
        "./bootstrap.sh && mkdir -p build && cd build && ../configure && make && make check", "make squid", "./check", "make coverage",
        "make check-mutants", "make check-more-asan",
        "make check-fuzz", r"make fuzz TARGET=(image SECONDS=(600|3600)|\.\.\.)", "make diskmodel", "make check-programs", "make squid-7",
        "./bootstrap.sh", "make help", "make check", "make check-library", "make installcheck", "./check (engine|mutants)",
        "make example-proxy", "pytest test-suite/mutation -k older-copies"),
    "installs": ("make install", r"\./quickstart( --own-squid)?", "tools/build/install-packages test"),
    "hours": ("./prove", "./prove 6", r"./prove \[HOURS\]", "pytest test-suite/squid -m long"),
    "a measurement": (
        "./bench quick", "./bench full", "./bench full --out docs/results/full", "./bench full --with ats,varnish,nginx",
        "./bench full random-ssd",
        r"./bench more( papers| polygraph --polygraph DIR|( workers| sizes onehit)? --with ats)?", "./bench full large", "./bench full pages-ssd-aged --stores clusterfs",
        "./bench full pages-hdd-aged --stores clusterfs,aufs --with library,nginx",
        "./bench full pages-hdd-aged --stores clusterfs,aufs,aufs-gdsf,aufs-lfuda,ufs,rock",
        "./bench full pages-hdd-aged pages-ssd-aged --stores clusterfs,clusterfs-small,aufs-gdsf",
        "pytest test-suite/bench/diskmodel -m long", r"tools/bench/(accelerate|papers)/run\.py( .*)?"),
    "the benchmarks' programs are built later; test-suite/bench runs them": (
        r"(.* && )?(\./)?bench-[a-z]+( .*)?", r"\./diskmodel .*", r"truncate -s 110G IMAGE && .*"),
    "runs what is built; make check does the same": (
        r"build/simulate --(seed|history) .*", r"build/unit-tests --gtest_filter=.*", "python3 test-suite/tidy.py", "tools/build/lint",
        r"tools/build/lint-engine( src/fs/cluster/engine/Open\.cc| FILE\.\.\.)?", "pytest test-suite/tools",
        "pytest test-suite/harness/test_examples.py -k fits", "build/unit-tests --gtest_brief=1", r"build/library-tests( --gtest_(brief|filter)=\S+)?"),
    "raw results; test-suite/bench/test_results.py does it": (
        r"\./bench report( DIR| docs/results/full)?", "./bench compare A B", "./bench keep DIR FOLDER"),
    "test-suite/harness runs it": ("make dist",),
    "needs a log; test_whatif.py runs it": ("clusterfs whatif( LOG --disk-gb=500,1000,2000)?",),
    "goes on until it is ended; test_accelerate.py runs it": ("clusterfs accelerate FOLDER --store=PATH --mount=PLACE",),
    "needs a squid.conf; test_ring.py runs it": (r"clusterfs ring squid\.conf( URL)?",),
    "needs a Squid; test-suite/squid/test_view.py runs it": (
        "clusterfs top http://localhost:3128", "clusterfs report http://localhost:3128 -o report.html"),
    "writes into the sources": ("make docs",),
    "needs a Debian 13; test-suite/packages installs what it makes": ("make deb", "make check-packages( RELEASE=forky)?"),
    "needs a Squid; test-suite/squid runs it": (
        "pytest --help", "pytest test-suite/tools -k manual_pages",
        "pytest test-suite/squid/test_machines.py -s",
        r"pytest test-suite/squid(/test_cluster.py -k hash_of_the_host -s| -m quick| -k same_second --keep| --lf|/test_basic.py --store aufs| --squid (build/squid-6|/usr) -n 3)",
        "pytest test-suite/squid --workers 3 -n 3",
        "squid", r"squid -n (one|two|front) -f /etc/squid/\1\.conf( -k shutdown)?",
        "squid -z", "squid --foreground -z", "squid -S", "squid -k reconfigure", "squidclient mgr:clusterfs",
        "curl http://localhost:3128/squid-internal-mgr/clusterfs"),
    "not ours": ("git clone ... clusterfs && cd clusterfs", "chown proxy /dev/disk/by-id/ata-YOUR_DISK", "wipefs -a"),
}


def commands(page):
    """The commands of a page: of a line in a block, what stands before a wide gap or a comment."""
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^```.*?\n(.*?)^```", re.M | re.S)
    lines = [line for block in fence.findall(text) for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    lines = [re.split(r"\s{2,}|\s#\s", re.sub(r"^(\$|\w+:) +", "", line))[0] for line in lines]
    inline = re.findall(r"`([^`]+)`", fence.sub("", text))
    return {" ".join(found.split()) for found in lines + inline if PROGRAMS.match(found)}


def all_commands():
    return set().union(*map(commands, (TOP / "README.md", *(TOP / "docs").glob("*.md"))))


def test_each_is_run_or_named():
    """A new command in a page has to be sorted in above, and an old one that no page has any more goes."""
    run = {*IN_THE_CHECKOUT, *ON_AN_IMAGE, *IN_PART}
    named = all_commands()
    assert run <= named, f"in no page: {sorted(run - named)}"
    left, counts = named - run, {}
    for why, patterns in NOT_RUN.items():
        for pattern in patterns:
            found = {command for command in left if re.fullmatch(pattern, command)}
            assert found, f"in no page: {pattern}"
            left -= found
            counts[why] = counts.get(why, 0) + len(found)
    assert not left, f"neither run nor named: {sorted(left)}"
    print(f"      {len(named)} commands, not run: " + "; ".join(f"{count} ({why})" for why, count in counts.items()))


def fresh_checkout(folder):
    """What somebody has who has just got the sources: nothing built, nothing configured."""
    built = shutil.ignore_patterns("__pycache__", "*.o", "*.a", ".deps", ".dirstamp")
    for name in ("src", "tools", "test-suite", "docs", "squid-patches"):
        shutil.copytree(TOP / name, folder / name, ignore=built)
    for name in ("README.md", "Makefile.am", "configure.ac", "bootstrap.sh", "bench", "check", "prove", "quickstart"):
        shutil.copy2(TOP / name, folder / name)
    return folder


def typed(command, checkout, home):
    """Runs a command as in a new shell of somebody whose home is empty."""
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(home), "TERM": "dumb"}
    return subprocess.run(["bash", "-c", command], cwd=checkout, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False)


def test_in_a_fresh_checkout(test):
    """What needs nothing built works at once; scripts that are not run say how they are used, with the options of the pages."""
    home = test.path("home")
    home.mkdir()
    checkout = test.path("checkout")
    checkout.mkdir()
    fresh_checkout(checkout)
    for command in IN_THE_CHECKOUT:
        done = typed(command, checkout, home)
        assert done.returncode == 0 and done.stdout.strip(), f"{command}: {done}"

    @functools.lru_cache(None)
    def usage(script):
        done = typed(script + " --help", checkout, home)
        assert done.returncode == 0 and len(done.stdout) > 60, f"{script} --help: {done}"
        return done.stdout

    for command in sorted(all_commands()):
        for part in command.split(" && "):
            words = part.split()
            script = words[1] if words[0] == "python3" else words[0]
            if not (checkout / script).is_file():
                continue
            if script.startswith("./bench") and len(words) > 1:
                words[0] = f"{words[0]} {words.pop(1)}"
            elif script in ("./check", "./bootstrap.sh"):  # they take no options
                assert not any(word.startswith("-") for word in words), command
                continue
            options = [word.partition("=")[0] for word in words if word.startswith("--") and word != "--help"]
            text = usage(" ".join(words[:2]) if words[0] == "python3" else words[0])
            assert all(option in text for option in options), f"{command}: an option is not in\n{text}"


def test_pytest_finds_tests(folder):
    """Each pytest X of the pages names tests that there are, by options that there are."""
    for command in sorted(all_commands()):
        if command.startswith("pytest test-suite"):
            done = subprocess.run([sys.executable, "-m", *command.split(), "--collect-only", "-q", "-o", f"cache_dir={folder}"], cwd=TOP,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_targets_of_make():
    """Each make X of the pages is a target."""
    rules = (TOP / "Makefile.am").read_text(encoding="utf-8")
    targets = {name for line in re.findall(r"^([\w -]+):(?!=)", rules, re.M) for name in line.split()}
    targets |= {"check", "install", "installcheck", "diskmodel", "example-proxy"}  # automake's, and programs
    for command in sorted(all_commands()):
        for target in re.findall(r"\bmake ([a-z][\w-]*)", command):
            assert target in targets, f"{command}: no such target"


def test_on_an_image(test):
    """Those of the clusterfs tool."""
    need_root()
    for command in ON_AN_IMAGE:
        image = test.path("cache.img")
        if "--size" not in command and not image.exists():
            test.image("cache.img")
        words = [{"PATH": str(image), "--size=MB": "--size=16"}.get(word, word) for word in command.split()[1:]]
        test.tool(*words)
        if "--size" in command:
            image.unlink()


def test_in_part(test):
    """Words that the pages give without a path."""
    for command in IN_PART:
        _, name, *options = command.split()
        usage = test.tool("help", name).out
        assert all(option in usage for option in options), f"{command}: {usage}"


def test_nothing_changes_outside(test):
    """The build scripts, in a folder that Squid's user may not enter, for somebody without a compiler cache: Squid's
    user gets in, and nothing is left in the home or in the folder for temporary files."""
    need_root()
    program("unshare")
    closed, home, temporary = (test.path(name) for name in ("closed", "home", "temporary"))
    checkout = closed / "inner" / "checkout"
    for folder in (checkout, home, temporary):
        folder.mkdir(parents=True)
    shutil.copytree(TOP / "tools" / "build", checkout / "tools" / "build")
    (checkout / "one.cc").write_text("int one() { return 1; }\n")
    (checkout / "text").write_text("here\n")
    (closed / "beside").write_text("seen\n")
    closed.chmod(0o700)
    script = f"""set -e
        runuser -u proxy -- cat {checkout}/text
        cat {closed}/beside
        . {checkout}/tools/build/common.sh
        c++ -c -o {checkout}/one.o {checkout}/one.cc"""
    env = {**os.environ, "HOME": str(home), "TMPDIR": str(temporary)}
    for name in ("CCACHE_DIR", "XDG_CACHE_HOME", "CLUSTERFS_NAMESPACE"):
        env.pop(name, None)
    done = subprocess.run([checkout / "tools" / "build" / "let-squid-in", "bash", "-c", script], cwd=checkout, env=env,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout == "here\nseen\n", done
    assert (checkout / "one.o").exists()
    left = [str(path) for folder in (home, temporary) for path in folder.rglob("*")]
    left += [str(path) for path in closed.iterdir() if path.name not in ("inner", "beside")]
    assert not left, left
