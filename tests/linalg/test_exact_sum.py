"""Sums and residuals to twice the working precision, compared with rational arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zwang.linalg.exact_sum import accurate_sum, halves, residual, two_product, two_sum

numbers = st.floats(-1e30, 1e30, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-30)


@given(numbers, numbers)
def test_sum_and_product_lose_nothing(x, y):
    s, e = two_sum(np.float64(x), np.float64(y))
    assert Fraction(float(s)) + Fraction(float(e)) == Fraction(x) + Fraction(y)
    p, e = two_product(halves(np.array([[[x]]])), np.array([[[y]]]))
    assert Fraction(p.item()) + Fraction(e.item()) == Fraction(x) * Fraction(y)


@given(st.lists(numbers, max_size=20))
def test_sum_is_as_good_as_twice_the_digits(terms):
    wanted = sum(map(Fraction, terms), Fraction(0))
    size = sum((abs(Fraction(x)) for x in terms), Fraction(0))
    got = Fraction(float(accurate_sum(np.array(terms, dtype=float))))
    assert abs(got - wanted) <= abs(wanted) * Fraction(2) ** -52 + size * Fraction(2) ** -95


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 9))
def test_residual_of_a_nearly_solved_system(seed, i, j):
    draw = np.random.default_rng(seed)
    X, x, Y, y = (
        draw.normal(size=(2, i, j)),
        draw.normal(size=(2, j)),
        draw.normal(size=(2, j, i)),
        draw.normal(size=(2, j)),
    )
    c = -np.einsum("kij,kj->ki", X, x) - np.einsum("kji,kj->ki", Y, y)  # leaves rounding only
    got = residual(c, (halves(X), x), (halves(Y).transposed, y))
    for k in range(2):
        for row in range(i):
            wanted = Fraction(c[k, row])
            wanted += sum(Fraction(X[k, row, t]) * Fraction(x[k, t]) for t in range(j))
            wanted += sum(Fraction(Y[k, t, row]) * Fraction(y[k, t]) for t in range(j))
            assert abs(Fraction(got[k, row]) - wanted) <= abs(wanted) * Fraction(2) ** -50 + Fraction(2) ** -95
