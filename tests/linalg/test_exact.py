"""Exact linear algebra on SymPy matrices, and the symbolic formulations at their edges."""

import pytest
import sympy as sp
from sympy.abc import x, y, z

from zwang.errors import InputError, UndeterminedError
from zwang.formulations import fundamental, gauss, generalized_inverse, gibbs_appell, lagrange
from zwang.linalg import exact

M = sp.Matrix([[5, 4, 1], [4, 6, 4], [1, 4, 5]])
Q = sp.Matrix([1, 0, 0])
FORMS = [fundamental, gauss, generalized_inverse, gibbs_appell, lagrange]
forms = pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__.split(".")[-1])


def vanishes(X) -> bool:
    return sp.simplify(sp.Matrix(X)).is_zero_matrix


def test_solve_in_lowest_terms():
    X = sp.Matrix([[x, 1], [1, y]])
    assert vanishes(X * exact.solve(X, sp.Matrix([x, y])) - sp.Matrix([x, y]))
    assert exact.solve(sp.diag(x, x), sp.Matrix([x**2, x * y])) == sp.Matrix([x, y])
    assert exact.solve(sp.zeros(0, 0), sp.zeros(0, 1)).shape == (0, 1)
    assert exact.solve(sp.eye(2), sp.zeros(2, 0)).shape == (2, 0)


def test_inverse():
    X = sp.Matrix([[x, 1], [1, y]])
    assert vanishes(X * exact.inverse(X) - sp.eye(2))


def test_rank_holds_almost_everywhere():
    A = sp.Matrix([[x, y, 0], [2 * x, 2 * y, 0], [0, 0, 0], [x * z, y * z, 0], [0, x - y, 1]])
    assert exact.independent_rows(A) == (0, 4)
    assert exact.independent_rows(sp.zeros(3, 2)) == ()
    assert exact.independent_rows(sp.zeros(0, 2)) == ()
    assert exact.independent_rows(sp.Matrix([[sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, 0], [0, 1]])) == (1,)


def test_moore_penrose_of_symbols():
    A = sp.Matrix([[x, y, 1], [2 * x, 2 * y, 2]])
    Y = exact.moore_penrose(A, exact.independent_rows(A))
    for defect in (A * Y * A - A, Y * A * Y - Y, A * Y - (A * Y).T, Y * A - (Y * A).T):
        assert vanishes(defect)
    assert exact.moore_penrose(sp.zeros(2, 3), ()) == sp.zeros(3, 2)


def test_null_space_of_symbols():
    A = sp.Matrix([[x, y, 1], [2 * x, 2 * y, 2]])
    Z = exact.null_space(A, (0,))
    assert Z.shape == (3, 2)
    assert vanishes(A * Z)
    assert Z.rank() == 2
    assert exact.null_space(sp.zeros(1, 2), ()) == sp.eye(2)


def test_factor():
    X = exact.factor(M)
    assert vanishes(X.T * X - M)
    assert exact.factor(sp.diag(4, 9)) == sp.diag(2, 3)


def test_singular_mass_is_made_up_for_or_refused():
    singular = sp.diag(1, 0)
    assert exact.regular(sp.eye(2), sp.Matrix([[0, 1]])) == sp.eye(2)
    assert exact.independent_rows(exact.regular(singular, sp.Matrix([[0, 1]]))) == (0, 1)
    with pytest.raises(UndeterminedError, match=r"rank \[M; A\] = 1 < 2"):
        exact.regular(singular, sp.Matrix([[1, 0]]))


@forms
def test_no_rows_leave_the_free_acceleration(form):
    for A, b in ((sp.zeros(0, 3), sp.zeros(0, 1)), (sp.zeros(2, 3), sp.zeros(2, 1))):
        assert vanishes(form.exact(M, Q, A, b, ()) - M.LUsolve(Q))


@forms
def test_as_many_independent_rows_as_coordinates_fix_everything(form):
    A, b = sp.Matrix([[1, 1, 0], [0, 1, 1], [1, 0, 2], [2, 2, 0]]), sp.Matrix([3, 5, 7, 6])
    assert vanishes(A * form.exact(M, Q, A, b, (0, 1, 2)) - b)


@forms
def test_symbols_in_every_place(form):
    A, b = sp.Matrix([[x, 1, 0], [2 * x, 2, 0]]), sp.Matrix([y, 2 * y])
    mass = sp.diag(z, 2, 3)
    found = form.exact(mass, Q, A, b, (0,))
    assert vanishes(A * found - b)
    force = mass * sp.Matrix(found) - Q
    assert vanishes(exact.null_space(A, (0,)).T * force)


def test_inadmissible_inverses_are_refused():
    A, b = sp.Matrix([[1, 1, 0], [2, 2, 0]]), sp.Matrix([1, 2])
    with pytest.raises(InputError, match=r"C\^\(1,4\) is not a \{1,4\}-inverse: Penrose condition \(1\) fails"):
        generalized_inverse.exact(M, Q, A, b, (0,), equation="S3 24", inverse=sp.zeros(3, 2))
    with pytest.raises(InputError, match=r"has shape \(2, 2\), but \(3, 2\) is needed"):
        generalized_inverse.exact(M, Q, A, b, (0,), equation="S3 24", inverse=sp.zeros(2, 2))


@pytest.mark.parametrize("eliminate", [(2,), (0, 1), (7,), (0.5,), 3])
def test_inadmissible_eliminations_are_refused(eliminate):
    A, b = sp.Matrix([[1, 1, 0], [2, 2, 0]]), sp.Matrix([1, 2])
    with pytest.raises(InputError, match="eliminate="):
        gibbs_appell.exact(M, Q, A, b, (0,), eliminate=eliminate)


def test_jumps_have_no_impulse_at_almost_every_point():
    """The slope of sign(x) is 2δ(x), which is zero but at one point."""
    x = sp.Symbol("x", real=True)
    jumping = sp.Matrix([[1, sp.diff(sp.sign(x), x)], [0, sp.diff(sp.sign(x), x, 2)]])
    assert exact.independent_rows(jumping) == (0,)
