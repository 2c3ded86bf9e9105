"""Reactions are written as calls, and read back as what they were."""

import sympy as sp

from zwang.files.language.printer import expression_text
from zwang.files.language.reactions import with_calls
from zwang.model.event import constraint_force, multiplier


def test_names_that_are_not_plain_are_quoted():
    both = multiplier("rod") - 3 * multiplier("a rod") + constraint_force("x")
    assert expression_text(with_calls(both)) == "constraint_force(x) - 3*multiplier('a rod') + multiplier(rod)"


def test_other_symbols_stay():
    g = sp.Symbol("g")
    assert with_calls(2 * g) == 2 * g
