"""The table of forms: each has what it declares."""

import re
from pathlib import Path

import pytest
import sympy as sp

import zwang as zw
from zwang.formulations.forms import DEFAULT, FORMS, Elimination, integrable

M, Q, A, b = [[5, 4, 1], [4, 6, 4], [1, 4, 5]], [1, 0, 0], [[1, 1, 0], [2, 2, 0]], [1, 2]
WANTED = [sp.Rational(1, 2), sp.Rational(1, 2), -sp.Rational(1, 2)]  # by hand: docs/papers.md, whole numbers
THEORY = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMS)
def test_every_form_has_its_equation_for_arrays_and_for_symbols(name):
    assert zw.solve(M, Q, A, b, form=name).acceleration == pytest.approx([float(e) for e in WANTED], abs=1e-13)
    exact = FORMS[name].exact(*(sp.ImmutableMatrix(given) for given in (M, Q, A, b)), rows=(0,))
    assert list(exact) == WANTED


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_in_the_theory(name):
    numbers, heading = FORMS[name].theory
    anchors = [re.sub(r"[^\w\- ]", "", line[3:].lower()).replace(" ", "-") for line in THEORY.splitlines()
               if line.startswith("## ")]  # fmt: skip
    assert heading in anchors
    for number in re.findall(r"\d+", numbers):
        assert rf"\tag{{{number}}}" in THEORY


@pytest.mark.parametrize("name", FORMS)
def test_choices_that_a_form_declares_are_taken_and_others_refused(name):
    given = {"equation": "S3 24", "eliminate": [0], "inverse": None}
    for key, value in given.items():
        if key in FORMS[name].choices:
            assert zw.solve(M, Q, A, b, form=name, **{key: value}).rank == 1
        else:
            with pytest.raises(zw.errors.InputError, match=f"form '{name}' takes no '{key}'"):
                zw.solve(M, Q, A, b, form=name, **{key: value})


def test_the_default_serves_everywhere():
    assert integrable()[0] == DEFAULT
    assert FORMS[DEFAULT].elimination is Elimination.ROWS_BETWEEN
    assert [name for name, form in FORMS.items() if form.solve is None] == [DEFAULT]
