"""Programs with loops give what the same sums and factorisations give when they are written out."""

from dataclasses import replace

import numpy as np
import pytest
from symengine import symbols

from zwang.compile import Program
from zwang.compile.rolled import kinds
from zwang.compile.rolled.elimination import elimination
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
@pytest.mark.parametrize("nodes", [1, 12, 40])
def test_a_factorisation_solves_what_numpy_solves(density, nodes):
    rng = np.random.default_rng(7)
    lower = np.tril(rng.normal(size=(nodes, nodes)) * (rng.random((nodes, nodes)) < density), -1) * 0.3 + np.eye(nodes)
    D = rng.uniform(1, 2, size=nodes) * rng.choice([-1, 1], size=nodes)
    matrix = lower @ np.diag(D) @ lower.T  # indefinite
    found = elimination(nodes, 0, *np.nonzero(matrix), late=False)
    factors = Factorise(found.first, found.begins, found.below, panels=0, pivots=0)
    at = np.cumsum([0, nodes, nodes, factors.offsets[-1], nodes])  # b, solution, L, D
    factors = replace(factors, panels=int(at[2]), pivots=int(at[3]))
    initial = np.zeros(at[4])
    permuted = matrix[np.ix_(found.order, found.order)]
    i, j = np.nonzero(np.tril(permuted))
    initial[factors.at(i, j)] = permuted[i, j]
    position = np.argsort(found.order)
    right = at[1] + position
    stages = (Repeat(COPY, np.arange(nodes)[:, None], right[:, None]), factors, Substitute(factors, int(at[1])))
    outputs = {"x": right, "pivots": at[3] + np.arange(nodes)}
    kernel = compile_rolled(RolledProgram({"b": symbols(f"b0:{nodes}")}, outputs, initial[nodes:], stages))
    b = rng.normal(size=nodes)
    for _ in range(2):
        out = kernel(b=b)
        np.testing.assert_allclose(np.prod(out["pivots"]), np.linalg.det(matrix), rtol=1e-10)
        np.testing.assert_allclose(matrix @ out["x"], b, atol=1e-9 * np.abs(out["x"]).max())
    assert (np.sort(np.concatenate([found.order])) == np.arange(nodes)).all()


@pytest.mark.parametrize(
    ("given", "found"), [([1.0, -3.0, 2.0], 3.0), ([0.0, 0.0, -0.0], 0.0), ([1.0, np.nan, 2.0], np.nan)]
)
def test_the_largest_magnitude_is_told_and_nothing_hides_what_is_not_a_number(given, found):
    stage = Largest(places(0, 1, 2), 3)
    program = RolledProgram({"a": symbols("a0:3")}, {"largest": places(3)}, np.zeros(1), (stage,))
    np.testing.assert_equal(compile_rolled(program)(a=given)["largest"][0], found)


def test_many_places_at_once_give_what_each_gives():
    """In lanes, with a last group that is not full, places that are shared, and constants."""
    rng, count = np.random.default_rng(1), 21
    z = symbols("z")
    program = Program({"x": (x, y, z)}, {"y": (x * y + z, x / (1 + y * y))})
    reads = rng.integers(0, 5, size=(count, 2))
    adds = rng.integers(5, 8, size=(count, 2))
    constants = rng.normal(size=(count, 1))
    stage = Repeat(program, reads, adds, constants)
    rolled = RolledProgram({"a": symbols("a0:5")}, {"found": places(5, 6, 7)}, np.zeros(3), (stage,))
    a, expected = rng.normal(size=5), np.zeros(8)
    for (i, j), to, (c,) in zip(reads, adds, constants, strict=True):
        expected[to[0]] += a[i] * a[j] + c
        expected[to[1]] += a[i] / (1 + a[j] ** 2)
    np.testing.assert_allclose(compile_rolled(rolled)(a=a)["found"], expected[5:], rtol=1e-14)


def test_a_kind_is_compiled_once_on_a_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path))
    odd = Program({"x": (x, y)}, {"y": (x**3 * y - 0.12345,)})
    kinds.kind_of(odd, 1)
    assert len(list((tmp_path / "native").glob("kind-*.o"))) == 1
    monkeypatch.setattr(kinds, "_ENGINES", {})
    monkeypatch.setattr(kinds, "_OBJECTS", {})
    monkeypatch.setattr(kinds, "plain_object_code", None)  # a new process finds it on disk
    assert kinds.kind_of(odd, 1).address
