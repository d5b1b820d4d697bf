# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs cases one after the other."""

import time
import traceback


def run_one(function, context, leftovers):
    """Whether a case passed; what it left behind is a failure too."""
    before, begin, problem = leftovers(), time.monotonic(), ""
    try:
        function(context)
        left = leftovers() - before
        if left:
            problem = "left behind:\n" + "\n".join(sorted(left))
    except Exception:  # pylint: disable=broad-except -- any failure is a finding
        problem = traceback.format_exc()
    print(f"{'FAIL ' if problem else 'ok   '} {function.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    if problem:
        print(problem, flush=True)
    return not problem


def run_all(cases, only, context, leftovers=set):
    """Runs the cases whose name contains only (all, when that is empty) and says how many passed and failed.
    leftovers: called for the set of what is there that a case must take away. Returns the exit status."""
    verdicts = [run_one(function, context, leftovers) for function in cases if not only or only in function.__name__]
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed")
    return 0 if verdicts and all(verdicts) else 1
