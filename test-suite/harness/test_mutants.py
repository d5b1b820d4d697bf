# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of mistakes that the tests must notice fits the engine. Whether they notice them takes longer: make check-mutants."""

import pytest

from common import TOP
from mutants import MUTANTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_its_text_is_there_once(mutant):
    text = (TOP / "src" / "fs" / "cluster" / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.before) == 1, f"{mutant.file} has the mutant's text {text.count(mutant.before)} times"
    assert mutant.before != mutant.after


def test_each_has_a_name_of_its_own():
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) and len(names) > 80
