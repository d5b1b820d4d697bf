# SPDX-License-Identifier: GPL-2.0-or-later
"""A seed is a world: each run of it is the same."""

import subprocess

from common import BUILD

SLOW_CLOCK = 275  # in the world of this seed, a look at the clock takes time


def test_a_seed_that_is_told_of_is_the_same_world():
    def counts(*arguments):
        done = subprocess.run([BUILD / "simulate", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-2:]

    for seed in (SLOW_CLOCK, SLOW_CLOCK + 1):
        assert counts("--seed", str(seed)) == counts("--seed", str(seed), "--verbose"), seed
