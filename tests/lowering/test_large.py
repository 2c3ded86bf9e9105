"""What a large system is built on is what the same system would be built on if it were small."""

from importlib.resources import files

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.engines.native.engine import compiled
from zwang.lowering import matrices
from zwang.lowering.large import choose_large, probes_of
from zwang.lowering.lowered import lower
from zwang.lowering.rolled import families
from zwang.lowering.rows import DAMPING, choose
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import first_basis, rank_of, start_of

FOLDER = files("zwang") / "examples"
EXAMPLES = sorted(f.name.removesuffix(".toml") for f in FOLDER.iterdir() if f.name.endswith(".toml"))


def both(start, monkeypatch, damped=True):
    """What is chosen at a start with dense matrices and straight code, and with sparse ones and families."""
    system, t, lowered = start.system, start.state[0], lower(start.system, start.values.inputs)
    now, found = start.polished
    small = choose(now, system.coordinate_names, "fundamental", damped, lowered, found)
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    monkeypatch.setattr(matrices, "SPARSE_FROM", 0)
    sparse = start.kernel.one(*start.state, start.p)
    ranked = rank_of(sparse, system.coordinate_names)
    return small, choose_large(sparse, ranked, lowered, probes_of(start.kernel, t, start.p), damped)


def agree(small, large):
    assert len(small.rows) == len(large.rows)
    assert small.lifted == large.lifted
    assert len(small.damping) == len(large.damping)
    if small.damping:  # which rows are called independent may differ, and how far apart these are
        same = sorted({*small.rows} & {*large.rows})
        units = np.log2(small.units)[same], np.log2(large.units)[same]
        np.testing.assert_allclose(*units, atol=1.0)  # powers of two nearby
        for basis in (small, large):
            shares = np.array(basis.damping)[list(basis.rows)] / np.array(basis.units)[list(basis.rows)]
            assert len({*shares.tolist()}) <= 1
            assert (shares <= DAMPING).all()
            others = np.setdiff1d(np.arange(len(basis.damping)), basis.rows)
            assert (np.array(basis.damping)[others] == np.array(basis.units)[others]).all()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_built_on_the_same_rows(name, monkeypatch):
    agree(*both(zw.load_model(FOLDER / f"{name}.toml").begin(), monkeypatch))


def linkage(count=3, again=True):
    sizes = (1.0, 0.2, 0.3)
    bodies = [
        mb.Body(f"b{i}", mass=1 + i, inertia=mb.inertia.box(1 + i, sizes), position=(i, 0, 0)) for i in range(count)
    ]
    joints = [mb.Revolute("j0", mb.ground, bodies[0], at=(-0.5, 0, 0), axis=(0, 0, 1))]
    for i in range(count - 1):
        joints.append(mb.Revolute(f"j{i + 1}", bodies[i], bodies[i + 1], at=(i + 0.5, 0, 0), axis=(0, 0, 1)))
    joints += [mb.Revolute("again", bodies[0], bodies[1], at=(0.5, 0, 0), axis=(0, 0, 1))] if again else []
    return mb.Mechanism(bodies, joints=joints, forces=[mb.Gravity((0, -9.81, 0))])


@pytest.mark.parametrize("again", [False, True], ids=["independent", "redundant"])
@pytest.mark.parametrize("damped", [False, True])
def test_bodies_in_space_are_lifted_by_the_norms_of_their_quaternions(again, damped, monkeypatch):
    mechanism = linkage(again=again)
    small, large = both(start_of(mechanism.system, mechanism.start), monkeypatch, damped)
    agree(small, large)
    names = mechanism.system.constraint_names
    assert [names[i] for i, _ in large.lifted] == [f"b{i}.unit" for i in range(3)]


def test_coordinates_without_mass_are_lifted_by_the_same_rows(monkeypatch):
    x, y, s, w = zw.coordinates("x y s w")
    system = zw.System(
        (x, y, s, w),
        kinetic=(zw.dot(x) ** 2 + 3 * zw.dot(y) ** 2) / 2,
        constraints={"a": x - s**2 * y, "b": y + 2 * w - s, "c": x * y + w - 2},
    )
    start = zw.assemble(system, {x: 1.0, y: 1.0, s: 1.0, w: 1.0})
    agree(*both(start_of(system, start), monkeypatch))


def test_the_volume_of_very_many_damped_rows_stays_in_range():
    mechanism = linkage(130)  # 910 coordinates; the product of its pivots would be 1e-150
    start = start_of(mechanism.system, mechanism.start)
    setup = prepare(mechanism.system, start.values, RunOptions(0.1, tol=1e-9))
    basis = first_basis(setup, start)
    program = setup.program("acceleration", basis)
    product, reciprocal = compiled(program)(**setup.named(program, start.state))["pivots"][:2]
    assert abs(np.log(product)) <= 51
    np.testing.assert_allclose(product * reciprocal, 1.0)
    assert basis.volume < -200
