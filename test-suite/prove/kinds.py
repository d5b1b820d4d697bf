# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of work. Each is cut into pieces, one command each; a piece is what is written down of it (JSON)."""

import dataclasses
import re
import subprocess
import sys

FIRST_SEED = 1000000  # ./check plays those below 11,000
CYCLES = 10  # runs of the engine in a world, as simulate has it by default
BROKEN = re.compile(r"^BROKEN: (.*)(?:\n  .*?)*?\n  again: (.*)$", re.MULTILINE)
PYTEST = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
SKIPPED = re.compile(r"^SKIPPED \[\d+\] \S+ (.*)$", re.MULTILINE)


def verdicts(output):
    """{passed, failed, skipped ...: how many} of the last line of pytest."""
    last = re.findall(r"^=*\s*(\d+ \w+.* in [\d.]+s.*)$", output, re.MULTILINE)
    return {name: int(count) for count, name in re.findall(r"(\d+) (\w+)", last[-1].partition(" in ")[0])} if last else {}


@dataclasses.dataclass
class Result:
    """What came of a piece."""
    figures: dict = dataclasses.field(default_factory=dict)  # what adds up
    failures: list = dataclasses.field(default_factory=list)  # (what, the command that repeats it)
    instead: list = dataclasses.field(default_factory=list)  # smaller pieces, to find out which part of this one it was
    skipped: str = ""  # why it can't be run here


class Kind:
    """One kind of work. share: of the time, beside the others'. seconds: for a piece, until some were seen. limit: for a
    piece, beyond which it counts as hung. exclusive: no two of the same word are under way together."""
    name, share, seconds, limit, exclusive, needs = "", 1, 60, 3600, "", ()
    real_squid = False  # its figures belong to the glue, too
    of_commit = False  # its failures may be of anything in the tree

    def __init__(self, place):
        self.place = place  # Place

    def prepare(self, part, earlier):
        """Looks at the figures so far, and those of other engines, before the first piece."""

    def take(self, part, seconds):
        """A new piece that takes no longer than so many seconds, when that is in its power; None when all is done."""
        raise NotImplementedError

    def command(self, piece):
        """(words, additions to the environment)"""
        raise NotImplementedError

    def read(self, piece, status, output):
        """Result of a piece that ended by itself, or (status None) was hung."""
        raise NotImplementedError

    def shown(self, piece):
        """The piece in a few words."""
        raise NotImplementedError

    def described(self, part):
        """(command, what it did) for the table"""
        raise NotImplementedError

    def again(self, piece):
        words, environment = self.command(piece)
        return " ".join([*(f"{name}={value}" for name, value in environment.items()), *words])

    def ended_badly(self, piece, status, output):
        """A failure of the whole piece."""
        what = "did not end in time" if status is None else f"ended with {status}"
        last = next((line for line in reversed(output.splitlines()) if line.strip()), "no output")
        return Result(failures=[(f"{what}: {last.strip()[:300]}", self.again(piece))])


@dataclasses.dataclass
class Place:
    """Where the programs are. Commands are run at the top of the project."""
    top: object
    simulate: str = "build/simulate"
    fuzz: str = "build/clusterfs-fuzz"
    squid: str = "build/squid-7"


class Worlds(Kind):
    """Random worlds. A piece is [first seed, worlds]."""
    name, share, seconds, needs = "worlds", 40, 60, ("simulate",)
    least = 5  # seconds for which another piece is worth its while
    #: what the table has of that which simulate counts
    told = ("stores", "reads", "reads by another process", "deletes", "evictions", "clean stops", "kills", "power cuts", "starts in use",
            "faults", "hung requests", "scans", "changes of options")
    verdict = re.compile(r"^simulate: (\d+) passed, (\d+) failed$", re.MULTILINE)

    def __init__(self, place):
        super().__init__(place)
        self.took = False

    def prepare(self, part, earlier):
        """What failed with an earlier engine comes first."""
        if part.pieces or part.open:
            return
        seeds = {int(found[1]) for old in earlier for failure in old.failures
                 if (found := re.search(r"--seed (\d+)", failure["again"]))}
        part.open.extend([seed, 1] for seed in sorted(seeds))

    def take(self, part, seconds):
        if seconds < self.least and self.took:
            return None
        self.took = True
        rate = part.figures["worlds"] / part.seconds if part.seconds > 5 else 4
        count = max(1, min(1000, round(rate * min(seconds, self.seconds))))
        piece = [FIRST_SEED + part.next, count]
        part.next += count
        return piece

    def command(self, piece):
        return [self.place.simulate, "--seed", str(piece[0]), "--worlds", str(piece[1])], {}

    def read(self, piece, status, output):
        verdict = self.verdict.search(output)
        broken = BROKEN.findall(output)
        if status in (0, 1) and verdict and int(verdict[2]) == len(broken):
            said = output[:verdict.start()].rstrip("\n").rpartition("\n")[2]
            counts = {name: int(number) for number, name in re.findall(r"(\d+) ([a-z -]+)(?=,|$)", said)}
            return Result({"worlds": piece[1], **{name: counts[name] for name in self.told if name in counts}}, broken)
        if piece[1] == 1:
            return self.ended_badly(piece, status, output)
        half = piece[1] // 2
        return Result(instead=[[piece[0], half], [piece[0] + half, piece[1] - half]])

    def shown(self, piece):
        return f"seeds {piece[0]} to {piece[0] + piece[1] - 1}"

    def described(self, part):
        worlds = part.figures["worlds"]
        counts = ", ".join(f"{part.figures[name]:,} {name}" for name in self.told if part.figures[name])
        return (f"`simulate --seed {FIRST_SEED} --worlds {part.next}`",
                f"{'so far ' if part.open else ''}{worlds * CYCLES:,} runs of the engine in {worlds:,} worlds: {counts}")


class Histories(Kind):
    """All short histories of three operations. A piece is the first letter of some."""
    name, share, seconds, needs = "histories", 20, 120, ("simulate",)
    operations = 3
    verdict = re.compile(r"^exhaustive: (\d+) histories, (\d+) crashes, (\d+) failed$", re.MULTILINE)
    starts = re.compile(r"^(\d+) starts$", re.MULTILINE)

    def __init__(self, place):
        super().__init__(place)
        self.letters = ""

    def prepare(self, part, earlier):
        usage = subprocess.run([self.place.simulate, "--help"], cwd=self.place.top, capture_output=True, text=True, check=False)
        self.letters = re.search(r"the letters: (\w+)", usage.stderr)[1]
        part.total = len(self.letters)

    def take(self, part, seconds):
        if part.next >= part.total:
            return None
        part.next += 1
        return self.letters[part.next - 1]

    def command(self, piece):
        return [self.place.simulate, "--exhaustive", str(self.operations), "--first", piece], {}

    def read(self, piece, status, output):
        verdict, starts = self.verdict.search(output), self.starts.search(output)
        if status not in (0, 1) or not verdict or not starts:
            return self.ended_badly(piece, status, output)
        broken = BROKEN.findall(output)
        if int(verdict[3]) and not broken:
            return self.ended_badly(piece, status, output)
        return Result({"histories": int(verdict[1]), "crashes": int(verdict[2]), "starts": int(starts[1])}, broken)

    def shown(self, piece):
        return f"of {self.operations} operations, the first is {piece}"

    def described(self, part):
        return (f"`simulate --exhaustive {self.operations}`",
                f"{'all' if part.whole() else 'some, not yet all'}: {part.figures['histories']:,} histories, "
                f"{part.figures['crashes']:,} crashes, {part.figures['starts']:,} starts")


class Fuzzer(Kind):
    """Hostile input for longer. A piece is the name of a target."""
    name, share, seconds, limit, exclusive, needs = "fuzzers", 12, 120, 1800, "fuzzers", ("fuzz-programs",)
    said = re.compile(r"^\w[\w-]*: (\d+) runs, cov (\d+)$", re.MULTILINE)
    kept = re.compile(r"Test unit written to (\S+)")

    def __init__(self, place):
        super().__init__(place)
        self.targets = []

    def prepare(self, part, earlier):
        listed = subprocess.run([self.place.fuzz, "--list"], cwd=self.place.top, capture_output=True, text=True, check=True)
        self.targets = sorted(listed.stdout.split())

    def take(self, part, seconds):
        part.next += 1
        return self.targets[(part.next - 1) % len(self.targets)]

    def command(self, piece):
        return [*PYTEST, "-rP", "test-suite/fuzz", "--fuzz-program", self.place.fuzz, "--fuzz-on", "-k", f"[{piece}]",
                "--fuzz-seconds", str(self.seconds)], {}

    def read(self, piece, status, output):
        found = self.said.search(output)
        if status == 0 and found:
            return Result({"inputs": int(found[1]), f"{piece} s": self.seconds})
        result = self.ended_badly(piece, status, output)
        kept = self.kept.search(output)
        if kept:
            result.failures = [(f"{piece} fails", f"{self.place.fuzz} --target={piece} {kept[1]}")]
        return result

    def shown(self, piece):
        return piece

    def described(self, part):
        times = [value for name, value in part.figures.items() if name.endswith(" s")]
        return ("`make fuzz TARGET=...`, each in turn",
                f"{part.figures['inputs']:,} inputs to {len(times)} targets in {sum(times) / 60:,.0f} min")


class Squid(Kind):
    """A long test of test-suite/squid. A piece is its seed."""
    exclusive, needs = "squid", ("diskmodel", "clusterfs", "squid-7")
    real_squid = True
    case, size, count = "", "", 1  # what the test is called, which variable says how much it does, how much a piece is
    unit = ""
    more = re.compile(r"(?!)")  # further figures in what it prints: number, name

    def take(self, part, seconds):
        part.next += 1
        return part.next

    def command(self, piece):
        return ([*PYTEST, "-s", "test-suite/squid", "--squid", self.place.squid, "-m", "long", "-k", self.case],
                {self.size: str(self.count), "CLUSTERFS_SEED": str(piece)})

    def read(self, piece, status, output):
        found = verdicts(output)
        if status == 0 and found.get("skipped"):
            return Result(skipped=SKIPPED.search(output)[1])
        if status != 0 or found.get("passed") != 1:
            return self.ended_badly(piece, status, output)
        return Result({self.name: self.count, **{name: int(number) for number, name in self.more.findall(output)}})

    def shown(self, piece):
        return f"{self.count} with seed {piece}"

    def described(self, part):
        return f"`test-suite/squid -m long -k {self.case}`", f"{part.figures[self.name]:,} {self.unit or self.name}"


class Kills(Squid):
    """kill -9 of a real Squid."""
    name, share, seconds = "kills", 8, 150
    case, size, count = "killed_many_times", "CLUSTERFS_KILLS", 50


class Cuts(Squid):
    """The disk of a real Squid, as a power cut leaves it."""
    name, share, seconds = "cuts", 8, 150
    case, size, count = "many_power_cuts", "CLUSTERFS_CUTS", 250
    unit = "power cuts"


class Minutes(Squid):
    """So many minutes of a test."""

    def shown(self, piece):
        return f"{self.count} minutes with seed {piece}"


class Soak(Minutes):
    """A real Squid under churn."""
    name, share, seconds = "soak", 8, 660
    case, size, count = "soak", "CLUSTERFS_SOAK_MINUTES", 10
    more = re.compile(r"(\d+) (requests|MB)(?=[,;])")

    def described(self, part):
        return (f"`test-suite/squid -m long -k {self.case}`",
                f"{part.figures['soak']:,} minutes: {part.figures['requests']:,} requests, {part.figures['MB'] / 1024:,.0f} GB")


class Workers(Minutes):
    """Several workers and their owner, killed and stopped under load."""
    name, share, seconds = "workers", 12, 660
    case, size, count = "workers_in_trouble", "CLUSTERFS_WORKERS_MINUTES", 10
    more = re.compile(r"(\d+) (requests|kills|stops|probes)(?=,|$)", re.MULTILINE)

    def described(self, part):
        figures = part.figures
        return (f"`test-suite/squid -m long -k {self.case}`",
                f"{figures['workers']:,} minutes: {figures['requests']:,} requests by three workers, {figures['kills']:,} kills and "
                f"{figures['stops']:,} stops of workers and owners, {figures['probes']:,} looks for something stale")


class Purges(Squid):
    """What one worker removes, and others look for at once."""
    name, share, seconds = "purges", 6, 120
    case, size, count = "many_purges_by_workers", "CLUSTERFS_PURGES", 20000
    unit = "removals by one of three workers, and looks of all three"


class Once(Kind):
    """Tests of ./check that an hour has no room for. One piece."""
    of_commit = True
    share, seconds, limit = 4, 900, 7200
    target, done = "", ""  # of make, and what the table says when it passed

    def take(self, part, seconds):
        if part.next:
            return None
        part.next = 1
        return "all"

    def command(self, piece):
        return ["make", "-C", "build", self.target], {}

    def read(self, piece, status, output):
        return Result({"done": 1}) if status == 0 else self.ended_badly(piece, status, output)

    def shown(self, piece):
        return self.done

    def described(self, part):
        return f"`make {self.target}`", self.done


class Mutants(Once):
    """Mistakes in the engine."""
    name, needs = "mutants", ("check-programs",)
    target, done = "check-mutants", "every mistake is noticed"


class Coverage(Once):
    """What the tests reach."""
    name = "coverage"
    target, done = "coverage", "as much is reached as test-suite/coverage/least asks for"


class MoreSanitizers(Once):
    """The library's threads, the simulation and the tool."""
    name, needs = "more-sanitizers", ("more-asan-programs",)
    target, done = "check-more-asan", "library, simulation, tool: ThreadSanitizer, AddressSanitizer and UBSan silent"


class Lint(Once):
    """clang-tidy on each source of the engine and the library."""
    name, done = "lint-engine", "clang-tidy finds nothing"

    def command(self, piece):
        return ["tools/build/lint-engine"], {}

    def described(self, part):
        return "`tools/build/lint-engine`", self.done


class Examples(Once):
    """The examples of docs/hacking.md."""
    name, done = "examples", "the examples of docs/hacking.md are built, and their tests pass"

    def command(self, piece):
        return [*PYTEST, "-m", "long", "test-suite/harness"], {}

    def described(self, part):
        return "`test-suite/harness -m long`", self.done


class EveryCase(Once):
    """All end-to-end cases with another build of Squid than that of ./check."""
    exclusive = "squid"
    real_squid = True
    squid, found = "", ""  # which build it is, and what the table says of its tests

    def command(self, piece):
        return [*PYTEST, "-n", "2", "test-suite/squid", "--squid", f"build/squid-{self.squid}"], {}

    def read(self, piece, status, output):
        found = verdicts(output)
        if status != 0 or not found.get("passed"):
            return self.ended_badly(piece, status, output)
        return Result({"cases": found["passed"]})

    def shown(self, piece):
        return "all cases"

    def described(self, part):
        return f"`test-suite/squid --squid build/squid-{self.squid}`", f"{part.figures['cases']:,} end-to-end tests{self.found}"


class Sanitized(EveryCase):
    """With a module that AddressSanitizer and UBSan watch."""
    name, needs = "sanitized", ("diskmodel", "bench-client", "bench-origin", "clusterfs", "squid-asan")
    squid, found = "asan", ", AddressSanitizer and UBSan silent"


class OlderSquid(EveryCase):
    """With Squid 6, of whose tests ./check has the short selection."""
    name, needs = "squid-6", ("diskmodel", "bench-client", "bench-origin", "clusterfs", "squid-6")
    squid, found = "6", ""


class Scale(Kind):
    """Many objects on a sparse image of a large disk. A piece is [TB, objects]."""
    name, share, seconds, exclusive, needs = "scale", 4, 180, "scale", ("clusterfs", "bench-scale")
    sizes = ([1, 1000000], [8, 1000000], [1, 10000000], [8, 10000000])

    def take(self, part, seconds):
        if part.next >= len(self.sizes):
            return None
        part.next += 1
        return list(self.sizes[part.next - 1])

    def command(self, piece):
        return [sys.executable, "test-suite/prove/scale.py", "--terabytes", str(piece[0]), "--objects", str(piece[1])], {}

    def read(self, piece, status, output):
        if status != 0 or not output.rstrip().endswith("all are there"):
            return self.ended_badly(piece, status, output)
        return Result({f"{piece[1] // 1000000} M objects on {piece[0]} TB": 1})

    def shown(self, piece):
        return f"{piece[1]:,} objects on {piece[0]} TB"

    def described(self, part):
        return "`test-suite/prove/scale.py`", "stored, killed, checked, all there: " + ", ".join(sorted(part.figures))


ALL = (Worlds, Histories, Kills, Cuts, Soak, Workers, Purges, Fuzzer, Scale, Sanitized, OlderSquid, Mutants, Lint, Coverage, MoreSanitizers, Examples)
