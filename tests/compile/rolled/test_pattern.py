"""What accelerations depend on, by structure: of a row of springs the neighbours, of a row of rods everything."""

import numpy as np

import zwang as zw
from zwang.compile.rolled.pattern import dependence, parts_of
from zwang.lowering.lowered import lower
from zwang.lowering.rolled.families import families_of
from zwang.lowering.rolled.programs import acceleration_program
from zwang.lowering.rows import RowBasis

COUNT = 9
s = zw.coordinates("s", shape=COUNT)
u, w = zw.coordinates("u w")


def row(constraints=None, rows=0):
    """Masses in a row, each on a spring to the next, with what holds some together."""
    system = zw.System(
        s,
        kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: s}),
        potential=zw.family((u - w) ** 4, {u: s[1:], w: s[:-1]}),
        constraints=constraints or {},
    )
    return acceleration_program(families_of(lower(system, {})), RowBasis(tuple(range(rows))), False, None)


def test_a_mass_depends_on_its_neighbours():
    found = dependence(row(), "acceleration").toarray()
    expected = np.abs(np.subtract.outer(np.arange(COUNT), np.arange(COUNT))) <= 1
    assert (found[:, 1 : 1 + COUNT].astype(bool) == expected).all()
    assert not found[:, 1 + COUNT :].any()


def test_what_constraints_hold_together_depends_on_all_that_enters_there():
    program = row({"pair": zw.family(u * w - 1, {u: s[[0]], w: s[[4]]})}, rows=1)
    found = dependence(program, "acceleration").toarray()[:, 1:].astype(bool)
    together = {0, 1, 3, 4, 5}  # 0 and 4 with their neighbours
    for i in range(COUNT):
        near = together if i in (0, 4) else {j for j in (i - 1, i, i + 1) if 0 <= j < COUNT}
        assert set(np.flatnonzero(found[i, :COUNT])) == near
        assert set(np.flatnonzero(found[i, COUNT:])) == ({0, 4} if i in (0, 4) else set())


def test_parts_of_a_matrix_are_told_apart():
    program = row({"pair": zw.family(u * w - 1, {u: s[[0]], w: s[[4]]})}, rows=1)
    factors = next(stage for stage in program.stages if hasattr(stage, "panels"))
    assert sorted(np.bincount(parts_of(factors)).tolist()) == [1] * (COUNT - 2) + [3]
