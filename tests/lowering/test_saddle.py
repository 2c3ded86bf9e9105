"""The symbolic sparse factorisation against dense linear algebra."""

import numpy as np
import pytest
import symengine as se

from zwang.compile import Program, compile_program
from zwang.lowering.saddle import Steps, factorise_saddle


def sparse(rng, m, n, density):
    return np.where(rng.random((m, n)) < density, rng.normal(size=(m, n)), 0.0)


def systems():
    rng = np.random.default_rng(4)
    for kind in ("diagonal", "banded", "dense"):
        for n, m in ((1, 0), (1, 1), (4, 2), (9, 5), (14, 14)):
            X = rng.normal(size=(n, n))
            if kind == "diagonal":
                M = np.diag(rng.uniform(0.5, 2.0, n))
            elif kind == "banded":
                M = 4 * np.eye(n) + np.diag(rng.normal(size=n - 1), 1) + np.diag(np.zeros(n - 1), -1)
                M = (M + M.T) / 2
            else:
                M = X @ X.T + n * np.eye(n)
            A = sparse(rng, m, n, 0.4) + np.eye(m, n)
            yield pytest.param(M, A, rng.normal(size=n), rng.normal(size=m), id=f"{kind}-{n}-{m}")


def solved(M, A, Q, b, coordinates_first=False):
    """q̈, λ and the pivots through symbols, so that nothing is known of the values when the program is made."""
    n, m = len(M), len(A)
    symbols = {}

    def rows(X, letter):
        made = [{j: se.Symbol(f"{letter}{i}_{j}") for j in range(n) if row[j]} for i, row in enumerate(X)]
        symbols.update({s: X[i, j] for i, row in enumerate(made) for j, s in row.items()})
        return made

    steps = Steps(se.Symbol, se.Add)
    saddle = factorise_saddle(rows(M, "M"), rows(A, "A"), steps, coordinates_first)
    given = [se.Symbol(f"Q{i}") for i in range(n)], [se.Symbol(f"b{i}") for i in range(m)]
    symbols |= dict(zip(given[0], Q, strict=True)) | dict(zip(given[1], b, strict=True))
    x, lam = saddle.solve(*given)
    outputs = {"x": tuple(x), "lam": tuple(lam), "pivots": tuple(saddle.constraint_pivots())}
    kernel = compile_program(Program({"in": tuple(symbols)}, outputs, {}, tuple(steps.done)))
    return kernel(**{"in": list(symbols.values())}), len(steps.done)


@pytest.mark.parametrize("coordinates_first", [False, True])
@pytest.mark.parametrize(("M", "A", "Q", "b"), list(systems()))
def test_solves_the_saddle_point_system(M, A, Q, b, coordinates_first):
    m = len(A)
    whole = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    expected = np.linalg.solve(whole, np.concatenate([Q, b]))
    out, _ = solved(M, A, Q, b, coordinates_first)
    bound = 1e-13 * np.linalg.cond(whole)
    assert np.allclose(np.concatenate([out["x"], out["lam"]]), expected, rtol=bound, atol=bound)


def test_pivots_are_positive_exactly_while_rows_are_independent():
    M = np.diag([1.0, 2.0, 4.0])  # powers of two: no rounding
    independent = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    out, _ = solved(M, independent, np.zeros(3), np.zeros(2))
    assert (out["pivots"] > 0.1).all()
    dependent = np.array([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0]])
    out, _ = solved(M, dependent, np.zeros(3), np.zeros(2))
    assert abs(out["pivots"]).min() == 0.0
    # a coordinate that happens to be zero in a row makes no pivot vanish: all of a row's coordinates come first
    out, _ = solved(M, np.array([[1e-300, 1.0, 0.0]]), np.zeros(3), np.zeros(1))
    assert out["pivots"][0] == 0.5


def test_the_program_of_a_chain_grows_linearly():
    lengths = []
    for links in (20, 40, 80):
        A = np.eye(links) - np.eye(links, k=-1)
        lengths.append(solved(np.eye(links), A, np.zeros(links), np.ones(links))[1])
    assert abs((lengths[2] - lengths[1]) - 2 * (lengths[1] - lengths[0])) <= 2


def test_structural_zeros_stay_zeros():
    steps = Steps(se.Symbol, se.Add)
    saddle = factorise_saddle([{0: se.Integer(1)}, {1: se.Integer(1)}], [{0: se.Symbol("a")}], steps)
    x, lam = saddle.solve([None, None], [se.Symbol("b")])
    assert x[1] is None
    assert x[0] is not None
    assert lam[0] is not None
