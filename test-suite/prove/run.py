#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests that are too long for ./check, for some hours: random worlds, all short histories, kills and power cuts of
a real Squid, soak, fuzzers, scale. A run goes on where the last one ended, as long as the engine is the same (its code and
that of the simulation; for parts with a real Squid, the glue's code and patches, too), and writes the sum into
docs/recovery.md. It shows a failure with the command that repeats it, and docs/prove keeps the failure. The exit status is 1
as long as this engine has a failure."""

import argparse
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

import engine
import kinds
import table
from record import Part, Record, alone

TOP = pathlib.Path(__file__).resolve().parents[2]
GRACE = 60  # seconds that a piece may go on beyond the end


def arguments():
    names = [kind.name for kind in kinds.ALL]
    parser = argparse.ArgumentParser(prog="prove", description=__doc__)
    parser.add_argument("hours", metavar="HOURS", nargs="?", type=float, default=6, help="hours after which it ends (default 6); 0.1 is 6 minutes")
    parser.add_argument("--only", metavar="KINDS", default=",".join(names), help=f"only these kinds, of {','.join(names)}")
    parser.add_argument("--show", action="store_true", help="print the table of this engine so far, and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pieces of work at once (default: one for each processor)")
    parser.add_argument("--state", metavar="FOLDER", type=pathlib.Path, default=TOP / "docs" / "prove")
    parser.add_argument("--page", metavar="FILE", type=pathlib.Path, default=TOP / "docs" / "recovery.md",
                        help="the page that has the table between marks")
    parser.add_argument("--top", metavar="FOLDER", type=pathlib.Path, default=TOP, help=argparse.SUPPRESS)
    parser.add_argument("--no-build", action="store_true", help="do not build the programs")
    args = parser.parse_args()
    args.chosen = [kind for kind in kinds.ALL if kind.name in args.only.split(",")]
    unknown = set(args.only.split(",")) - set(names)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if not 0 < args.hours <= 1000 or args.jobs < 1:
        parser.error("HOURS is a number above 0, at most 1000; --jobs at least 1")
    return args


class Piece:
    """A piece of work under way."""

    def __init__(self, kind, piece, args):
        self.kind, self.piece = kind, piece
        self.begin = time.monotonic()
        self.log = args.state / f"{kind.name}-{os.getpid()}-{time.monotonic_ns()}.log"
        words, environment = kind.command(piece)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(words, cwd=args.top, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def seconds(self):
        return time.monotonic() - self.begin

    def late(self):
        return self.seconds() > self.kind.limit

    def stop(self):
        """Ends the command and what it started: gently, then not."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(20)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self.process.wait()

    def result(self, hung):
        output = self.log.read_text(errors="replace")
        return self.kind.read(self.piece, None if hung else self.process.returncode, output)


class Proof:
    """One run of the command."""

    def __init__(self, args):
        self.args = args
        self.record = Record(args.state, engine.fingerprint(args.top))
        self.glue = engine.glue_fingerprint(args.top)
        self.commit = engine.commit(args.top)
        place = kinds.Place(args.top)
        self.every = [kind(place) for kind in kinds.ALL]
        for kind in self.every:
            if kind.real_squid and self.record.parts[kind.name].glue != self.glue:
                self.record.parts[kind.name] = Part({"glue": self.glue})
            # a part that tests more than the engine is tried again when another commit may have mended what failed
            failures = self.record.parts[kind.name].failures
            if kind.of_commit and failures and all(failure["commit"] != self.commit for failure in failures):
                self.record.parts[kind.name] = Part({"glue": self.record.parts[kind.name].glue})
        self.kinds = [kind for kind in self.every if type(kind) in args.chosen]
        self.running = []
        self.before = self.record.seconds
        self.begin = self.end = 0.0
        self.stopping = False

    def text(self):
        if not self.record.runs:
            return f"Engine {self.record.engine}: nothing yet."
        return "\n".join(table.lines(self.record, self.every, os.cpu_count()))

    def build(self):
        wanted = sorted({target for kind in self.kinds for target in kind.needs})
        print("== building", *wanted, flush=True)
        log = self.args.state / "make.log"
        for target in wanted:  # one after the other: some have makes of their own
            with open(log, "ab") as out:
                done = subprocess.run(["make", f"-j{self.args.jobs}", target], cwd=self.args.top / "build", stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                sys.exit(f"make {target} failed, see {log}")

    def prepare(self):
        others = self.record.others()
        for kind in self.every:
            if kind in self.kinds:
                self.record.parts[kind.name].skipped = ""
                kind.prepare(self.record.parts[kind.name], [old.parts[kind.name] for old in others])
        if self.commit not in self.record.commits:
            self.record.commits.append(self.commit)
        self.record.runs += 1
        self.begin = time.monotonic()
        self.end = self.begin + self.args.hours * 3600

    def save(self):
        self.record.seconds = self.before + time.monotonic() - self.begin
        self.record.save()

    def next(self):
        """(kind, piece) that is due, or None: of the kind that had least of its share, and fits into what is left."""
        left = self.end - time.monotonic()
        busy = {piece.kind.exclusive for piece in self.running}
        for kind in sorted(self.kinds, key=lambda kind: self.spent(kind) / kind.share):
            part = self.record.parts[kind.name]
            if part.skipped or (kind.exclusive and kind.exclusive in busy):
                continue
            usual = part.seconds / part.pieces if part.pieces else kind.seconds
            if left < usual and not isinstance(kind, kinds.Worlds):
                continue
            waiting = [piece for piece in part.open if not self.under_way(kind, piece)]
            piece = waiting[0] if waiting else kind.take(part, left)
            if piece is None:
                continue
            if not waiting:
                part.open.append(piece)
            return kind, piece
        return None

    def spent(self, kind):
        return self.record.parts[kind.name].seconds + sum(piece.seconds() for piece in self.running if piece.kind is kind)

    def under_way(self, kind, piece):
        return any(other.kind is kind and other.piece == piece for other in self.running)

    def take_result(self, done, hung):
        part = self.record.parts[done.kind.name]
        result = done.result(hung)
        part.open.remove(done.piece)
        part.open.extend(result.instead)
        if result.skipped:
            part.open.append(done.piece)  # the next run may find what this one lacks
        part.figures.update(result.figures)
        part.seconds += done.seconds()
        part.pieces += not result.skipped
        part.skipped = result.skipped
        known = {failure["again"] for failure in part.failures}
        part.failures += [{"what": what, "again": again, "commit": self.commit} for what, again in result.failures if again not in known]
        self.save()
        self.tell(done, result)
        if not result.failures:
            done.log.unlink()

    def tell(self, done, result):
        passed = time.monotonic() - self.begin
        verdict = "FAIL" if result.failures else "skip" if result.skipped else "again" if result.instead else "ok"
        print(f"[{passed / 3600:.2f} h of {self.args.hours:g}] {verdict:5} {done.kind.name}: {done.kind.shown(done.piece)} "
              f"({done.seconds():.0f} s); failed so far: {self.record.failed()}", flush=True)
        if result.skipped:
            print(f"      {result.skipped}")
        for what, again in result.failures:
            print(f"      {what}\n      again: {again}\n      it said: {shlex.quote(str(done.log))}", flush=True)

    def same_engine(self):
        return engine.fingerprint(self.args.top) == self.record.engine and engine.glue_fingerprint(self.args.top) == self.glue

    def run(self):
        """Until the time is up, all is done, or somebody ends it. Returns whether the sources stayed what they were."""
        while not self.stopping:
            for done in [piece for piece in self.running if piece.process.poll() is not None or piece.late()]:
                hung = done.process.poll() is None
                done.stop()
                if not self.same_engine():
                    return False
                self.take_result(done, hung)
                self.running.remove(done)
            if time.monotonic() > self.end + GRACE:
                break
            while len(self.running) < self.args.jobs and time.monotonic() < self.end and (due := self.next()):
                self.save()
                self.running.append(Piece(*due, self.args))
            if not self.running:
                break
            time.sleep(0.1)
        return True

    def close(self):
        """What is under way begins anew in the next run."""
        for piece in self.running:
            piece.stop()
            piece.log.unlink(missing_ok=True)
        self.save()
        table.put(self.args.page, self.text())


def main():
    args = arguments()
    proof = Proof(args)
    if args.show:
        print(proof.text())
        return 0
    table.around(args.page)  # better now than after hours

    def stop(*_):
        proof.stopping = True
    try:
        with alone(args.state):
            if not args.no_build:
                proof.build()
            proof.prepare()
            for sign in (signal.SIGINT, signal.SIGTERM):
                signal.signal(sign, stop)
            try:
                same = proof.run()
            finally:
                proof.close()
    except BlockingIOError:
        sys.exit(f"another ./prove is at work in {args.state}")
    print(proof.text())
    if not same:
        sys.exit("the sources of the engine changed meanwhile: figures from then on were not counted")
    return 1 if proof.record.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
