"""The sparse factorisation with what multipliers push beside their rows, against dense linear algebra."""

import numpy as np
import pytest
import symengine as se

from zwang.compile import Program, compile_program
from zwang.lowering.saddle import Steps, factorise_saddle
from zwang.lowering.skew import factorise_skew


def sparse(rng, m, n, density):
    return np.where(rng.random((m, n)) < density, rng.normal(size=(m, n)), 0.0)


class Symbols:
    """Numbers by symbols, so that nothing is known of them when the program is made."""

    def __init__(self):
        self.values = {}

    def of(self, letter, X):
        made = [{j: se.Symbol(f"{letter}{i}_{j}") for j in np.flatnonzero(row).tolist()} for i, row in enumerate(X)]
        self.values |= {s: X[i, j] for i, row in enumerate(made) for j, s in row.items()}
        return made


def random_system(seed, n, m, pushing):
    rng = np.random.default_rng(seed)
    X = sparse(rng, n, n, 0.2)
    S = 0.3 * sparse(rng, m, n, 0.4)
    S[pushing:] = 0.0
    return X @ X.T + np.eye(n), sparse(rng, m, n, 0.3) + np.eye(m, n), S, rng.normal(size=n), rng.normal(size=m)


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize(("n", "m", "pushing"), [(1, 1, 1), (4, 2, 1), (9, 5, 5), (14, 9, 4), (12, 6, 0)])
@pytest.mark.parametrize("seed", range(3))
def test_it_solves_the_unsymmetric_system(seed, n, m, pushing, damped):
    M, A, S, Q, b = random_system(seed, n, m, pushing)
    symbols, steps = Symbols(), Steps(se.Symbol, se.Add)
    mu = np.random.default_rng(seed).uniform(0.5, 1.0, m) if damped else np.zeros(m)
    pushes = {c: row for c, row in enumerate(symbols.of("S", S)) if row}
    skew = factorise_skew(symbols.of("M", M), symbols.of("A", A), pushes, steps, [se.RealDouble(e) for e in mu])
    given = symbols.of("Q", Q[None]), symbols.of("b", b[None])
    x, lam = skew.solve([given[0][0][j] for j in range(n)], [given[1][0][j] for j in range(m)])
    inputs, outputs = {"all": tuple(symbols.values)}, {"z": (*x, *lam)}
    found = compile_program(Program(inputs, outputs, {}, tuple(steps.done)))(all=list(symbols.values.values()))["z"]
    # M q̈ − (A + S)ᵀλ = Q, A q̈ + μλ = b
    dense = np.block([[M, -(A + S).T], [A, np.diag(mu)]])
    truth = np.linalg.solve(dense, np.concatenate([Q, b]))
    assert found == pytest.approx(truth, rel=1e-9, abs=1e-10 * np.abs(truth).max())


def chain_lines(k):
    """Lines for k beads on a row of rods; each rubs on a corner of its own."""
    M = [{i: se.Symbol(f"m{i}")} for i in range(2 * k)]
    A = [{i: se.Symbol(f"n{i}")} for i in range(k)]
    A += [{j: se.Symbol(f"r{i}_{j}") for j in (i, i + 1, k + i, k + i + 1)} for i in range(k - 1)]
    steps = Steps(se.Symbol, se.Add)
    factorise_skew(M, A, {i: {k + i: se.Symbol(f"t{i}")} for i in range(k)}, steps)
    return len(steps.done)


def test_lines_grow_as_a_chain_does():
    assert chain_lines(200) < 2.2 * chain_lines(100)


def test_without_pushes_it_is_the_symmetric_one():
    M, A, _, Q, b = random_system(5, 8, 4, 0)
    both = []
    for factorise in (lambda *given: factorise_saddle(*given), lambda M, A, steps: factorise_skew(M, A, {}, steps)):
        symbols, steps = Symbols(), Steps(se.Symbol, se.Add)
        saddle = factorise(symbols.of("M", M), symbols.of("A", A), steps)
        saddle.solve([se.RealDouble(e) for e in Q], [se.RealDouble(e) for e in b])
        both.append(len(steps.done))
    assert both[0] == both[1]
