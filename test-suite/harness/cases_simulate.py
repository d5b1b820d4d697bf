# SPDX-License-Identifier: GPL-2.0-or-later
"""A seed is a world: each run of it is the same."""

import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
SLOW_CLOCK = 275  # in the world of this seed, a look at the clock takes time


def case_a_seed_that_is_told_of_is_the_same_world(_folder):
    def counts(*arguments):
        done = subprocess.run([TOP / "simulate", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-2:]

    for seed in (SLOW_CLOCK, SLOW_CLOCK + 1):
        assert counts("--seed", str(seed)) == counts("--seed", str(seed), "--verbose"), seed
