"""Large mechanisms: what is described by kinds of bodies and joints is the mechanism that is written out."""

import pickle

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError, ModelError
from zwang.lowering.cache import Kept
from zwang.lowering.rolled import families
from zwang.multibody.mechanism import Mechanism

m, g = sp.symbols("m g")


def in_space() -> Mechanism:
    """A tree of all kinds of joints that are written once, with numbers of many kinds, and one that is not."""
    rng = np.random.default_rng(3)
    bodies = [
        mb.Body(
            f"b{i}",
            mass=m if i == 2 else 1.0 + i,
            inertia=(0.1 + i / 10, 0.3, 0.35) if i % 2 else [[0.3, 0.01 * i, 0], [0.01 * i, 0.4, 0], [0, 0, 0.5]],
            position=tuple(rng.uniform(-1, 1, 3)),
            orientation=tuple(rng.normal(size=4)),
        )
        for i in range(7)
    ]
    bead = mb.Particle("bead", 0.5, position=(2.0, 0.5, 0.25))
    joints = [
        mb.Revolute("r0", mb.ground, bodies[0], at=(0.1, 0.2, 0.3), axis=(0, 1, 0)),
        mb.Revolute("r1", bodies[0], bodies[1], at=(0.5, -0.2, 0.3), axis=(1, 2, 0.5)),
        mb.Revolute("r2", bodies[1], bodies[2], at=(0.7, -0.1, 0.0), axis=(0.3, -2, 0.5)),
        mb.Spherical("s", bodies[1], bodies[3], at=(0.4, 0.4, 0.1)),
        mb.Fixed("f", bodies[3], bodies[4], at=(0.6, 0.1, -0.4)),
        mb.Prismatic("p", bodies[2], bodies[5], at=(0.2, 0.9, 0.5), axis=(1, 1, 0)),
        mb.Rod("rod", bodies[0], bead, start=(0.5, 0.5, 0.5), end=(2.0, 0.5, 0.25)),
        mb.Universal("u", bodies[5], bodies[6], at=(0.2, 0.1, 0.5), axes=((1, 0, 0), (0, 1, 0))),
    ]
    forces = [mb.Gravity((0.5, 0, -g)), mb.Spring("coil", bodies[6], bead, stiffness=20, damping=0.5)]
    return mb.Mechanism([*bodies, bead], joints=joints, forces=forces, parameters={m: 3.5, g: 9.81})


def in_the_plane() -> Mechanism:
    """Pendulums side by side, coupled by a spring, with a condition of the user's own."""
    rods = [mb.PlanarBody(f"rod{i}", 1.0 + i, 0.1 * (i + 1), position=(i + 0.5, 0.0), angle=0.2 * i) for i in range(3)]
    pins = [mb.Revolute(f"pin{i}", mb.ground, rod, at=(float(i), 0.0)) for i, rod in enumerate(rods)]
    spring = mb.Spring("spring", rods[0], rods[1], start=(1.0, 0.2), end=(1.2, 0.1), stiffness=30)
    return mb.Mechanism(
        rods, joints=pins, forces=[mb.Gravity((0, -9.81)), spring],
        constraints={"tie": rods[2].coordinates[2] - rods[1].coordinates[2] - 0.2},
    )  # fmt: skip


@pytest.fixture
def rolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is large."""
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    for memory in ("zwang.lowering.matrices._KERNELS", "zwang.motion.setup._PROGRAMS", "zwang.motion.start._BASES"):
        monkeypatch.setattr(memory, Kept())


@pytest.mark.by_size(reason="it compares both kinds of code itself")
@pytest.mark.parametrize("build", [in_space, in_the_plane])
def test_kinds_of_parts_move_as_the_mechanism_written_out(build, rolled, monkeypatch) -> None:
    large = build()
    assert large.system.families is not None
    start = dict(large.start)
    here = zw.evaluate(large, start)
    motion = zw.simulate(large, start, until=0.2, samples=3, tol=1e-11)
    monkeypatch.undo()
    small = build()
    assert small.system.families is None
    there = zw.evaluate(small, start)
    np.testing.assert_allclose(here.acceleration, there.acceleration, rtol=1e-10, atol=1e-10)
    other = zw.simulate(small, start, until=0.2, samples=3, tol=1e-11)
    for what in ("q", "v", "energy", "multiplier"):
        np.testing.assert_allclose(motion[what], other[what], atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("build", [in_space, in_the_plane])
def test_a_large_mechanism_reads_as_it_did(build, monkeypatch) -> None:
    small = build().system
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    large = build().system
    assert large == small
    assert large.symbols == small.symbols
    assert [c.order for c in large.constraints] == [c.order for c in small.constraints]
    assert pickle.loads(pickle.dumps(large)) == small


def test_describing_many_bodies_writes_a_few_templates(monkeypatch) -> None:
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    monkeypatch.setattr("zwang.multibody.families._TEMPLATES", Kept())  # others may have made them already
    written: list[str] = []
    asked = mb.Revolute.conditions
    monkeypatch.setattr(mb.Revolute, "conditions", lambda self: written.append(self.name) or asked(self))
    bodies = [mb.Body(f"b{i}", 1.0 + i, (0.1, 0.2, 0.2), position=(i + 0.5, 0.0, 0.0)) for i in range(30)]
    joints = [
        mb.Revolute(f"j{i}", bodies[i - 1] if i else mb.ground, b, at=(float(i), 0.0, 0.0), axis=(0, 1, 0))
        for i, b in enumerate(bodies)
    ]
    chain = mb.Mechanism(bodies, joints=joints, forces=[mb.Gravity((0, 0, -9.81))])
    assert len(chain.system.constraint_names) == 180
    assert len(written) == 2  # the first hangs on the ground
    assert chain.rows["j3"] == ("j3.x", "j3.y", "j3.z", "j3.axis1", "j3.axis2")


def test_what_is_wrong_with_a_joint_is_still_said_at_once() -> None:
    bead = mb.Particle("bead", 1, position=(1, 0, 0))
    with pytest.raises(InputError, match="holds axes of 'bead'"):
        mb.Revolute("pin", mb.ground, bead, at=(1, 0, 0))
    rod = mb.PlanarBody("rod", 1, 1, position=(1, 0))
    with pytest.raises(InputError, match="a pin in the plane turns about its normal"):
        mb.Revolute("pin", mb.ground, rod, at=(0, 0), axis=(1, 0, 0))
    with pytest.raises(InputError, match="joins bodies in space only"):
        mb.Spherical("ball", mb.ground, rod, at=(0, 0))
    with pytest.raises(InputError, match="its ends start in one place"):
        mb.Rod("rod", mb.ground, bead, start=(1, 0, 0), end=(1, 0, 0))


def test_gravity_of_another_dimension_is_refused_in_a_large_mechanism(monkeypatch) -> None:
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    flat = mb.Mechanism([mb.PlanarBody("rod", 1, 1)], forces=[mb.Gravity((0, 0, -9.81))])
    with pytest.raises((InputError, ModelError), match="gravity has 3 entries, but body 'rod'"):
        _ = flat.system
