"""Programs with loops give what the same sums and factorisations give when they are written out."""

import numpy as np
import pytest
from symengine import symbols

from zwang.compile import Program
from zwang.compile.rolled.kernel import compile_rolled
from zwang.compile.rolled.program import Factorise, Largest, Products, Repeat, RolledProgram, Substitute

x, y = symbols("x y")
COPY = Program({"x": (x,)}, {"y": (x,)})


def places(*numbers):
    return np.array(numbers, dtype=np.int64)


def test_outputs_are_added_up_over_all_places():
    both = Program({"x": (x, y)}, {"y": (x * y, x + y)})
    stage = Repeat(both, places([0, 1], [2, 3]), places([4, 5], [4, 5]))
    program = RolledProgram({"a": symbols("a0:4")}, {"product": places(4), "sum": places(5)}, np.zeros(2), (stage,))
    kernel = compile_rolled(program)
    for _ in range(2):  # nothing is left from the call before
        out = kernel(a=[[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0]])
        assert out["product"].tolist() == [[14.0], [2.0]]
        assert out["sum"].tolist() == [[10.0], [4.0]]


def test_what_a_workspace_holds_at_first_stands_behind_the_inputs():
    program = RolledProgram({"a": symbols("a0:1")}, {"b": places(1, 0)}, np.array([7.5]), ())
    assert compile_rolled(program)(a=[3.0])["b"].tolist() == [7.5, 3.0]


def test_products_are_added_with_a_factor():
    stages = (
        Products(places([0], [1]), places(3, 3), -1.0),
        Products(places([0, 1], [1, 2]), places(4, 4), 0.5),
    )
    program = RolledProgram({"a": symbols("a0:3")}, {"found": places(3, 4)}, np.array([10.0, 0.0]), stages)
    assert compile_rolled(program)(a=[1.0, 2.0, 3.0])["found"].tolist() == [7.0, 4.0]


@pytest.mark.parametrize("density", [0.1, 0.4, 1.0])
def test_a_factorisation_solves_what_numpy_solves(density):
    rng, nodes = np.random.default_rng(7), 12
    lower = np.tril(rng.normal(size=(nodes, nodes)) * (rng.random((nodes, nodes)) < density), -1) + np.eye(nodes)
    D = rng.normal(size=nodes)
    matrix = lower @ np.diag(D) @ lower.T  # indefinite, and without fill beyond what L has
    held = [np.flatnonzero(np.abs(matrix[k, : k + 1]) + (np.arange(k + 1) == k)) for k in range(nodes)]
    below = filled_in(matrix)
    rows, begins = (np.concatenate([[0], np.cumsum([len(part) for part in each])]) for each in (held, below))
    entries = np.concatenate([matrix[k, columns] for k, columns in enumerate(held)])
    at = np.cumsum([0, nodes, len(entries), begins[-1], nodes, 2 * nodes, nodes])  # b, matrix, L, D, scratch, solution
    factors = Factorise(
        nodes, rows, np.concatenate(held), begins, np.concatenate(below).astype(np.int64),
        entries=at[1], lower=at[2], pivots=at[3], scratch=at[4],
    )  # fmt: skip
    right = np.arange(at[5], at[6])
    stages = (Repeat(COPY, np.arange(nodes)[:, None], right[:, None]), factors, Substitute(factors, at[5]))
    initial = np.zeros(at[6] - nodes)
    initial[: len(entries)] = entries
    outputs = {"x": right, "pivots": np.arange(at[3], at[3] + nodes)}
    kernel = compile_rolled(RolledProgram({"b": symbols(f"b0:{nodes}")}, outputs, initial, stages))
    b = rng.normal(size=nodes)
    out = kernel(b=b)
    np.testing.assert_allclose(out["pivots"], D, rtol=1e-11)
    np.testing.assert_allclose(matrix @ out["x"], b, atol=1e-9 * np.abs(out["x"]).max())


def filled_in(matrix):
    """The rows of L in each column, from the graph of a matrix."""
    nodes = len(matrix)
    beside = [{i for i in range(k + 1, nodes) if matrix[i, k] != 0} for k in range(nodes)]
    for k in range(nodes):
        if beside[k]:
            beside[min(beside[k])] |= beside[k] - {min(beside[k])}
    return [np.array(sorted(each), dtype=np.int64) for each in beside]


@pytest.mark.parametrize(
    ("given", "found"), [([1.0, -3.0, 2.0], 3.0), ([0.0, 0.0, -0.0], 0.0), ([1.0, np.nan, 2.0], np.nan)]
)
def test_the_largest_magnitude_is_told_and_nothing_hides_what_is_not_a_number(given, found):
    stage = Largest(places(0, 1, 2), 3)
    program = RolledProgram({"a": symbols("a0:3")}, {"largest": places(3)}, np.zeros(1), (stage,))
    np.testing.assert_equal(compile_rolled(program)(a=given)["largest"][0], found)
