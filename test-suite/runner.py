# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs cases one after the other, and says at the end what came of them, as ./check reads it."""

import time
import traceback


class Skip(Exception):
    """Why a case cannot be run here."""


def closing(passed, failed, skipped=()):
    """Prints what was skipped and how many passed, failed and were skipped. skipped: (name, reason) pairs.
    Returns the exit status: 0 when nothing failed and there was something."""
    for name, reason in skipped:
        print(f"skipped: {name}: {' '.join(reason.split()) or 'it gives no reason'}")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped", flush=True)
    return 0 if not failed and (passed or skipped) else 1


def run_one(function, context, leftovers):
    """(verdict, why) of a case; what it left behind is a failure."""
    before, begin, verdict, said = leftovers(), time.monotonic(), "ok", ""
    try:
        function(context)
        left = leftovers() - before
        if left:
            verdict, said = "FAIL", "left behind:\n" + "\n".join(sorted(left))
    except Skip as reason:
        verdict, said = "skip", str(reason)
    except Exception:  # pylint: disable=broad-except -- any failure is a finding
        verdict, said = "FAIL", traceback.format_exc()
    print(f"{verdict:5} {function.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    if said:
        print(said, flush=True)
    return verdict, said


def run_all(cases, only, context, leftovers=set):
    """Runs the cases whose name contains only (all, when that is empty), names those that were skipped and says how many
    passed, failed and were skipped.
    leftovers: called for the set of what is there that a case must take away. Returns the exit status."""
    done = [(function.__name__, *run_one(function, context, leftovers))
            for function in cases if not only or only in function.__name__]
    verdicts = [verdict for _, verdict, _ in done]
    return closing(verdicts.count("ok"), verdicts.count("FAIL"), [(name, why) for name, verdict, why in done if verdict == "skip"])
