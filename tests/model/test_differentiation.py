"""Derivatives that remember are those of SymPy, form for form."""

import pytest
import sympy as sp

from zwang.equations.derivation import derive_plain
from zwang.equations.languages import in_sympy
from zwang.files.read import load_model
from zwang.model.differentiation import differentiator

x, y, t = sp.symbols("x y t")
u = sp.Function("u")

EXPRESSIONS = [
    sp.S.One, y, x, 3 * x * y * (x + y), (x + y) ** 7 / x, sp.sqrt(x**2 + y**2), x**y, y**x,
    sp.sin(x * y) ** 3 * sp.cos(x),
    sp.atan2(y, x) * sp.exp(-x / 2), sp.Abs(x) + sp.Max(x, y), sp.Piecewise((x**2, x > y), (x * y, True)) * x,
    u(x, y) * x, u(t) * sp.log(x), sp.Derivative(u(x), x) * x, 2 * (x + 1) * (y + 2), sp.pi**x / (1 + 1 / x),
]  # fmt: skip


@pytest.mark.parametrize("f", EXPRESSIONS, ids=str)
def test_derivatives_are_those_of_sympy(f):
    diff = differentiator()
    for s in (x, y, t):
        assert diff(f, s) == f.diff(s)
        assert diff(diff(f, s), x) == f.diff(s).diff(x)


def test_a_system_is_derived_as_sympy_would():
    description, _ = in_sympy(load_model("andrews").system)
    found = derive_plain(description)
    for (f, _), row in zip(description.constraints, found.A, strict=True):
        assert row == {i: d for i, s in enumerate(description.axes.q) if (d := f.diff(s)) != 0}
