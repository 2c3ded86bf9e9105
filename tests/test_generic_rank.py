"""The verdict on a system in sparse matrices is the one in dense ones, rank at states nearby included."""

from importlib.resources import files

import pytest
import sympy as sp

import zwang as zw
from zwang.lowering import matrices

FOLDER = files("zwang") / "examples"
EXAMPLES = sorted(f.name.removesuffix(".toml") for f in FOLDER.iterdir() if f.name.endswith(".toml"))


def both(system, state, monkeypatch, t=0.0):
    dense = zw.diagnose(system, state, t)
    monkeypatch.setattr(matrices, "SPARSE_FROM", 0)
    return dense, zw.diagnose(system, state, t)


def agree(dense, sparse):
    for name in ("rank", "generic_rank", "inconsistent", "redundant", "violated", "inactive", "unique_multipliers"):
        assert getattr(sparse, name) == getattr(dense, name), name


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_the_same_verdict(name, monkeypatch):
    start = zw.load_model(FOLDER / f"{name}.toml").begin()
    t, q, v = start.state
    state = dict(zip(start.system.coordinates, q, strict=True)) | dict(zip(start.system.velocities, v, strict=True))
    agree(*both(start.system, state, monkeypatch, t))


def lattice(k, braced):
    """Points of a grid in the plane on links; with both diagonals of each cell, one of these follows from the rest."""
    place = {(i, j): zw.coordinates(f"x{i}_{j} y{i}_{j}") for i in range(k) for j in range(k)}
    ways = [(1, 0), (0, 1), *([(1, 1), (1, -1)] if braced else [])]
    links = [((i, j), (i + a, j + b)) for i, j in place for a, b in ways if (i + a, j + b) in place]
    rules = {}
    for p, q in links:
        length = (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2
        rules[f"{p}{q}"] = sum((a - b) ** 2 for a, b in zip(place[p], place[q], strict=True)) - length
    flat = [c for point in place.values() for c in point]
    system = zw.System(flat, kinetic=sum(zw.dot(c) ** 2 for c in flat) / 2, constraints=rules)
    at = {c: float(x) for key, point in place.items() for c, x in zip(point, key, strict=True)}
    return system, at | {zw.dot(c): 0.0 for c in flat}


@pytest.mark.parametrize("braced", [False, True])
def test_a_lattice_has_the_same_verdict(braced, monkeypatch):
    dense, sparse = both(*lattice(4, braced), monkeypatch)
    agree(dense, sparse)
    assert sparse.rank == (2 * 16 - 3 if braced else 2 * 4 * 3)
    assert len(sparse.redundant) == (13 if braced else 0)


def masses(q):
    return sp.Add(*[zw.dot(c) ** 2 / 2 for c in q])


def test_thousands_of_coordinates_have_a_verdict_in_seconds():
    q = zw.coordinates(" ".join(f"x{i}" for i in range(3000)))
    ring = q[0] ** 2 + q[1] ** 2 - 1
    system = zw.System(q, kinetic=masses(q), constraints={"one": ring, "again": ring / 2})
    verdict = zw.diagnose(system, dict.fromkeys([*q, *map(zw.dot, q)], 0.0) | {q[0]: 1.0})
    assert (verdict.rank, verdict.generic_rank, dict(verdict.redundant)) == (1, 1, {"again": ("one",)})


def test_a_long_chain_that_is_stretched_between_walls_is_stuck_and_says_so():
    count = 150
    points = [zw.coordinates(f"x{i} y{i}") for i in range(count)]
    links = {}
    for i, (x, y) in enumerate(points):
        a, b = points[i - 1] if i else (0.0, 0.0)
        links[f"l{i}"] = (x - a) ** 2 + (y - b) ** 2 - 1
    x, y = points[-1]
    links["wall"] = (x - count - 1) ** 2 + y**2 - 1  # just within reach
    q = [c for point in points for c in point]
    state = {c: float(i + 1) if k == 0 else 0.0 for i, point in enumerate(points) for k, c in enumerate(point)}
    verdict = zw.diagnose(zw.System(q, kinetic=masses(q), constraints=links), state | {zw.dot(c): 0.0 for c in q})
    assert (verdict.rank, dict(verdict.redundant)) == (count, {"wall": tuple(f"l{i}" for i in range(count))})
