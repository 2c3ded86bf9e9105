"""What acts along hinges is the same by families as it is written out, hinge by hinge."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.multibody import mechanism as where
from zwang.multibody.hinges import effort_of, hinge_shares

k = zw.parameters("k")


def chain(count=20):
    """Rods on hinges about several axes, with dampers, friction and motors in them."""
    rods = [mb.Body(f"rod{i}", 1.0, (0.01, 1 / 12, 1 / 12), position=(i + 0.5, 0, 0)) for i in range(count)]
    before, axes = [mb.ground, *rods], ((0, 1, 0), (0, 0, 1), (0, 0.6, 0.8))
    joints = [mb.Revolute(f"h{i}", before[i], r, at=(i, 0, 0), axis=axes[i % 3]) for i, r in enumerate(rods)]
    forces = [mb.Gravity((0, 0, -9.81))]
    for i, joint in enumerate(joints):
        if i % 3 == 0:
            forces.append(mb.JointSpring(f"d{i}", joint, damping=0.3 + i))
        elif i % 3 == 1:
            forces.append(mb.JointFriction(f"f{i}", joint, k if i % 2 else 0.2))
        if i % 2:
            forces.append(mb.Actuator(f"m{i}", joint, effort=i - 3))
    forces.append(mb.JointSpring("s", joints[4], stiffness=3, damping=1))  # written out
    forces.append(mb.Actuator("pull", joints[5], effort=sp.sin(zw.t)))
    return mb.Mechanism(rods, joints, forces, parameters={k: 0.7})


@pytest.fixture
def moving():
    mechanism, rng = chain(), np.random.default_rng(1)
    state = {key: value + 0.2 * rng.normal() for key, value in mechanism.guess.items()}
    return zw.assemble(mechanism.system, state)


def test_forces_are_those_that_are_written_out(moving, monkeypatch):
    ours = zw.evaluate(chain().system, moving)
    monkeypatch.setattr(where, "hinge_shares", lambda elements: ([], list(elements)))
    plain = zw.evaluate(chain().system, moving)
    for name in ("acceleration", "nonideal_force"):
        expected = getattr(plain, name)
        assert np.abs(expected).max() > 0.1
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_what_is_no_number_times_a_rate_is_written_out():
    mechanism = chain()
    shares, rest = hinge_shares(mechanism.forces)
    assert [element.name for element in rest] == ["gravity", "s", "pull"]
    assert {share.place for share in shares} == {"forces", "nonideal"}
    assert effort_of(mb.Actuator("u", mechanism.joints[0], zw.Signal([0, 1], [0, 1]))) is None
    wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    assert effort_of(mb.JointSpring("t", mb.Revolute("pin", mb.ground, wheel, at=(0, 0)), damping=1)) is None


def test_the_system_still_says_its_forces():
    written = chain().system.forces
    assert any(e.has(sp.Derivative) for e in written)
