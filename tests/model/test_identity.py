"""Whether expressions vanish and of which degree they are is answered rightly, and soon, however long they are."""

import time

import pytest
import sympy as sp

import zwang as zw
from zwang.errors import ModelError
from zwang.model.identity import degree_at_most, is_zero

x, y, z = sp.symbols("x y z", real=True)
h = sp.Function("h")(x)

ZERO = [
    sp.S.Zero, sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, (x + y) ** 2 - x**2 - 2 * x * y - y**2,
    sp.sqrt(sp.exp(2 * x)) - sp.exp(x), sp.tan(x) * sp.cos(x) - sp.sin(x), sp.sin(2 * x) - 2 * sp.sin(x) * sp.cos(x),
    h * (x + 1) - h * x - h, h.diff(x) * x - x * h.diff(x), sp.sqrt(2) * sp.sqrt(3) - sp.sqrt(6),
    sp.Piecewise((x, x > 0), (-x, True)) - sp.Abs(x), sp.Max(x, y) + sp.Min(x, y) - x - y,
    sp.cosh(x) ** 2 - sp.sinh(x) ** 2 - 1, sp.atan2(sp.sin(y / 4), sp.cos(y / 4)) - y / 4,
]  # fmt: skip
NOT_ZERO = [
    sp.S.One, x, sp.sin(x) ** 2 + sp.cos(x) ** 2 - sp.Rational(10**9 - 1, 10**9), x - sp.Abs(x), h - h.diff(x),
    sp.exp(-200) * x, sp.exp(-500 - x**2), sp.sqrt(x**2) - x, sp.sin(x) - x + x**3 / 6,
    sp.pi - sp.Rational(884279719003555, 281474976710656), 10**-40 * x**9, sp.zoo, sp.nan,
]  # fmt: skip


@pytest.mark.parametrize("expression", ZERO, ids=str)
def test_what_vanishes_is_found_out(expression):
    assert is_zero(expression)


@pytest.mark.parametrize("expression", NOT_ZERO, ids=str)
def test_what_is_small_does_not_vanish(expression):
    assert not is_zero(expression)


@pytest.mark.parametrize(
    ("expression", "most", "expected"),
    [
        ((x + y) ** 2, 2, True),
        ((x + y) ** 3, 2, False),
        ((x + 1) ** 3 - x**3, 2, True),
        ((x**4 - y**4) / (x**2 + y**2), 2, True),
        (sp.sqrt(1 + x**2), 2, False),
        (x * sp.Abs(x), 2, False),
        (sp.Piecewise((x, x > 1000), (y, True)), 2, False),
        (z * sp.sin(z) * x, 1, True),
        (sp.Function("f")(x), 5, False),
        (h.subs(x, z) * y + sp.Function("f")(z).diff(z) * x, 1, True),
        (sp.exp(sp.log(x)) * y, 1, False),
        (((x + y + z) ** 90) / (x + y + z) ** 88, 2, True),
    ],
)
def test_the_degree_counts_what_cancels(expression, most, expected):
    assert degree_at_most(expression, [x, y], most) == expected


def test_long_expressions_take_no_time():
    q = zw.coordinates("q0:30")
    rates = [zw.dot(f) for f in q]
    begin = time.process_time()
    with pytest.raises(ModelError, match="not quadratic"):
        zw.System(q, kinetic=sp.Add(*rates) ** 90 + sp.Add(*[r**2 for r in rates]))
    linear = sp.Add(*[r.diff(zw.t) for r in rates]) ** 3
    with pytest.raises(ModelError, match="nonlinear in the accelerations"):
        zw.System(q, kinetic=sp.Add(*[r**2 for r in rates]), constraints={"cube": linear})
    assert zw.Constraint(sp.Add(*rates) ** 40 - 1).kinds[-1] == "nonlinear in velocity"
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("inside", [(y, sp.sqrt(x)), (sp.sqrt(x), y), (sp.log(x), sp.sqrt(x))])
def test_a_direction_of_what_is_not_real_has_no_value_there(inside):
    assert not degree_at_most(x**2 + sp.atan2(*inside), [x], 2)
    assert is_zero(sp.atan2(*inside) * (sp.sin(y) ** 2 + sp.cos(y) ** 2 - 1))
