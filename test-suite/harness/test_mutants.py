# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of mistakes that the tests must notice fits the engine. Whether they notice them takes longer: make check-mutants."""

import importlib.util

import pytest

from common import TOP

_SPEC = importlib.util.spec_from_file_location("mutants", TOP / "test-suite" / "mutation" / "mutants.py")
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)


@pytest.mark.parametrize("mutant", _MODULE.MUTANTS, ids=lambda mutant: mutant.name)
def test_its_text_is_there_once(mutant):
    text = (TOP / "src" / "fs" / "cluster" / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.before) == 1, f"{mutant.file} has the mutant's text {text.count(mutant.before)} times"
    assert mutant.before != mutant.after


def test_each_has_a_name_of_its_own():
    names = [mutant.name for mutant in _MODULE.MUTANTS]
    assert len(names) == len(set(names)) and len(names) > 80
