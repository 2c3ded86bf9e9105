"""Symbolic results at a stated rank: what was assumed, how to choose, what is refused."""

import pytest
import sympy as sp

import zwang as zw
from tests.equations.algebra import agree, same
from zwang import dot
from zwang.errors import InputError, UndeterminedError
from zwang.formulations import FORMS
from zwang.linalg import exact

t = zw.t
x, y, z = zw.coordinates("x y z")
m, g, k = zw.parameters("m g k")
T = m * (dot(x) ** 2 + dot(y) ** 2) / 2


def test_the_assumption_is_said_in_words():
    rows = {"a": x - y, "b": 2 * x - 2 * y, "c": dot(x) - dot(y), "d": x + y}
    assert zw.derive(zw.System((x, y), kinetic=T, constraints=rows)).assumption == (
        "rank 2 of 4 rows assumed; independent: 'a', 'd'"
    )
    assert zw.derive(zw.System((x, y), kinetic=T)).assumption == "rank 0 of 0 rows assumed; independent: none"


def test_rows_that_depend_only_while_the_constraints_hold_are_chosen_by_hand():
    system = zw.System((x, y), kinetic=T, potential=m * g * y, constraints={"line": x - y, "squares": x**2 - y**2})
    equations = zw.derive(system)
    assert equations.rank == 2  # off the constraints the rows are independent
    alone = zw.derive(zw.System((x, y), kinetic=T, potential=m * g * y, constraints={"line": x - y}))
    chosen = equations.with_rows("line")
    assert chosen.rank == 1
    on_line = {x: y, dot(x): dot(y)}
    for form in FORMS:
        assert same(chosen.acceleration(form).subs(on_line), alone.acceleration())
    assert same(chosen.constraint_force().subs(on_line), alone.constraint_force())
    null = chosen.null_space()
    assert null.shape == (2, 1)  # of the rank assumed, not of the rank off the constraints
    assert same((equations.A.T * null).subs(on_line), sp.zeros(2, 1))
    assert "'squares' agrees with them only where" in chosen.assumption


def test_a_choice_of_rows_is_checked():
    equations = zw.derive(zw.System((x, y), kinetic=T, constraints={"a": x - y, "b": 2 * x - 2 * y, "c": x + y}))
    with pytest.raises(InputError, match="no constraint 'd': there are 'a', 'b', 'c'"):
        equations.with_rows("d")
    with pytest.raises(InputError, match="rows are dependent: 'b' follows from the others"):
        equations.with_rows("b", "a")
    assert same(equations.with_rows("b", "c").acceleration(), equations.acceleration())
    assert equations.with_rows("c", "b").rows == (1, 2)


def test_a_singular_mass_that_no_constraint_makes_up_for():
    system = zw.System((x, y, z), mass=sp.diag(m, 0, 0), constraints={"one": x - y})
    equations = zw.derive(system)
    for form in FORMS:
        with pytest.raises(UndeterminedError, match=r"rank \[M; A\] = 2 < 3"):
            equations.acceleration(form)


def test_a_singular_mass_has_no_free_acceleration():
    equations = zw.derive(zw.System((x, y), mass=sp.diag(m, 0), forces=(g, k), constraints={"one": x - y}))
    assert same(equations.acceleration(), [(g + k) / m, (g + k) / m])
    assert same(equations.constraint_force(), [k, -k])
    for ask in (equations.free_acceleration, equations.error, equations.deviation, equations.gaussian):
        with pytest.raises(UndeterminedError, match="M is singular"):
            ask()


@pytest.mark.parametrize(
    ("matrix", "rows"),
    [
        ([[x, y], [2 * x, 2 * y], [x, 0]], (0, 2)),
        ([[0, 0], [1, 2]], (1,)),
        ([[sp.sin(x) ** 2 + sp.cos(x) ** 2, 1], [2, 2]], (0,)),  # dependent by an identity
        ([[sp.sqrt(x - 5), 0], [0, sp.asin(3 + y)], [1, 1]], (0, 1)),  # real nowhere near the points tried
        ([[sp.log(-x), 1], [2 * sp.log(-x), 2]], (0,)),
        ([[sp.Abs(x), sp.Max(y, 0)], [sp.sign(x), sp.Piecewise((1, y > 0), (2, True))]], (0, 1)),
        ([[1e-12 * x, 1e-12], [1e12 * x, 1e12], [0, 1]], (0, 2)),
        ([[sp.Function("h")(x).diff(x), 1], [2 * sp.Function("h")(x).diff(x), 2]], (0,)),
        ([[m * x, k], [m, k]], (0, 1)),
    ],
)
def test_independent_rows(matrix, rows):
    assert exact.independent_rows(sp.Matrix(matrix)) == rows


def test_moore_penrose_satisfies_the_four_conditions():
    A = sp.Matrix([[x, y, 1], [2 * x, 2 * y, 2], [0, x, y], [x, x + y, 1 + y]])
    P = exact.moore_penrose(A, exact.independent_rows(A))
    for left, right in ((A * P * A, A), (P * A * P, P), ((A * P).T, A * P), ((P * A).T, P * A)):
        assert agree(left, right)


def test_solve_null_space_and_factor():
    M = sp.Matrix([[2, m, 0], [m, 3, 1], [0, 1, 4]])
    assert same(exact.inverse(M) * M, sp.eye(3))
    A = sp.Matrix([[1, x, y], [0, 1, x]])
    Z = exact.null_space(A, (0, 1))
    assert Z.shape == (3, 1)
    assert same(A * Z, sp.zeros(2, 1))
    for matrix in (sp.diag(m, 4, 1), sp.Matrix([[4, 2], [2, 10]])):
        X = exact.factor(matrix)
        assert same(X.T * X, matrix)
    assert exact.solve(sp.zeros(0, 0), sp.zeros(0, 2)).shape == (0, 2)
    assert exact.solve(sp.eye(2), sp.zeros(2, 0)).shape == (2, 0)
