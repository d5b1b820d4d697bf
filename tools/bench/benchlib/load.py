# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin server and the load generator, as processes of our own."""

import json
import pathlib
import signal
import subprocess

from .errors import BenchError
from .processes import checked, start

#: of the responses: a proxy under more load than it can take may time out now and then, one that is set up wrongly fails
MOST_ERRORS = 0.02
#: whose hosts are the sites, all on the one origin: sites tell their pages apart, as on the web
DOMAIN = "bench.test"
TREE = pathlib.Path(__file__).resolve().parents[3]
#: where make has built the programs
BUILD = TREE / "build"


def program(name, folder=BUILD):
    """The path of one of our benchmark programs."""
    path = pathlib.Path(folder) / name
    if not path.exists():
        raise BenchError(f"{path} is not there: run make bench-programs")
    return path


def load_objects(counts, disk, programs=BUILD):
    """Stores counts["loaded"] objects by the engine itself in a formatted cache that nobody uses."""
    checked(program("bench-scale", programs), "--load", disk.device, "--objects", counts["loaded"], "--bytes", counts["loadedBytes"],
            timeout=900)


class Origin:
    """bench-origin on a port. A context."""

    def __init__(self, port, delay_ms=0, programs=BUILD, options=()):
        self.port = port
        self._command = [str(program("bench-origin", programs)), "--port", str(port), *options]
        self._process = None
        self.start(delay_ms)

    def start(self, delay_ms):
        """Starts it anew, on the same port, with another delay of each answer."""
        self.close()
        self._process = start(self._command + ["--delay", str(delay_ms)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if "ready" not in self._process.stdout.readline():
            self._process.wait(10)
            raise BenchError(f"{' '.join(self._command)}: {self._process.stderr.read().strip() or 'ended at once'}")

    def close(self):
        """Ends it; its own count of what it served, {} where it says nothing."""
        process, self._process = self._process, None
        if process is None:
            return {}
        process.send_signal(signal.SIGTERM)
        try:
            out, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
        try:
            return json.loads(out.strip().splitlines()[-1])
        except (IndexError, ValueError):
            return {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Client:
    """bench-client with one corpus, one proxy and one origin.

    corpus: its options that say what there is to visit; folder: where its results go."""

    def __init__(self, workload, corpus, origin_port, proxy_port, folder, programs=BUILD, reverse=False):
        self._base = [str(program("bench-client", programs)), "--workload", workload, *corpus]
        self._net = ["--proxy", f"127.0.0.1:{proxy_port}", "--origin", f"127.0.0.1:{origin_port}",
                     "--domain", DOMAIN]
        if reverse:
            self._net.append("--reverse")
        self._folder, self._count = pathlib.Path(folder), 0

    def describe(self):
        """{pages, objects, bytes, meanObjectsPerPage, meanPageBytes} of the corpus."""
        return json.loads(_output(self._base + ["--describe"], 120)[0])

    def run(self, *options, seed, timeout, check=True):
        """One run to its end: its JSON, with the command added. options: strings."""
        self._count += 1
        result = self._folder / f"client{self._count}.json"
        command = self._base + self._net + ["--seed", str(seed), "--check" if check else "--no-check",
                                            "--json", str(result), *map(str, options)]
        _, said = _output(command, timeout)
        try:
            numbers = json.loads(result.read_text())
        except (OSError, ValueError) as error:
            raise BenchError(f"{' '.join(command)}: no result: {error}") from None
        if numbers["errors"] > MOST_ERRORS * numbers["requests"]:
            raise BenchError(f"{' '.join(command)}: {numbers['errors']} errors, {numbers['requests']} responses: {said}")
        return numbers


def _output(command, timeout):
    """(output, errors) of a command of ours that succeeds, or a BenchError with what it says went wrong."""
    process = start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise BenchError(f"{' '.join(command)}: not done within {timeout:.0f} s") from None
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode != 0:
        raise BenchError(f"{' '.join(command)} ended with {process.returncode}: {errors.strip()[-800:]}")
    return out, errors.strip()[-800:]
