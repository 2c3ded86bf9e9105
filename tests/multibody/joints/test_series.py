"""Joints in series: as many freedoms as they have together, without bodies between them."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError


def shaft(**rates) -> mb.Body:
    return mb.Body("shaft", 1.0, (0.1, 0.2, 0.25), position=(0.1, 0.2, -0.5), **rates)


def test_two_crossing_hinges_are_a_universal_joint():
    # the same motion, whether the cross's angles are coordinates or not
    paths = []
    for series in (True, False):
        body = shaft(angular_velocity=(1.0, -2.0, 0.0))
        if series:
            steps = [mb.Step("out", "angle", (1, 0, 0)), mb.Step("in", "angle", (0, 1, 0))]
            joint = mb.Series("cross", mb.ground, body, at=(0, 0, 0), steps=steps)
        else:
            joint = mb.Universal("cross", mb.ground, body, at=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0)))
        mechanism = mb.Mechanism([body], [joint], [mb.Gravity((0, 0, -9.81))])
        motion = zw.simulate(mechanism.system, mechanism.start, until=1.0, samples=11)
        paths.append(mechanism.track(motion, "shaft", (0, 0, -1)).values)
        assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-10
    np.testing.assert_allclose(*paths, atol=1e-9)


def test_steps_read_what_they_are_told_and_slide_along_turned_axes():
    # a slide on an arm that turns: a free mass keeps its straight way and speed
    bead = mb.Body("bead", 1.0, (1e-3, 1e-3, 1e-3), position=(1.0, 0, 0), velocity=(0, 0.5, 0))
    steps = [
        mb.Step("turn", "angle", (0, 0, 1), at=(0, 0, 0), reading=0.3),
        mb.Step("out", "travel", (1, 0, 0), reading=1.0),
    ]
    arm = mb.Series("arm", mb.ground, bead, at=(1.0, 0, 0), steps=steps)
    mechanism = mb.Mechanism([bead], [arm])
    motion = zw.simulate(mechanism.system, mechanism.start, until=2.0, samples=5)
    found = mechanism.coordinates(motion).sel(joint="arm")
    assert found.turn[0] == pytest.approx(0.3, abs=1e-12)
    assert found.out[0] == pytest.approx(1.0, abs=1e-12)
    # kinetic energy ½ (ṙ² + r² φ̇²) + ½ I φ̇² and moment of momentum (r² + I) φ̇ are kept
    momentum = (found.out**2 + 1e-3) * found.turn_rate
    np.testing.assert_allclose(momentum, momentum[0], atol=1e-10)
    np.testing.assert_allclose(motion.energy, motion.energy[0], atol=1e-10)
    assert float(found.out[-1]) > 1.3


def test_a_damper_and_a_spring_act_on_a_step():
    body = shaft()
    arm = mb.Series("arm", mb.ground, body, at=(0.1, 0.2, -0.5), steps=[mb.Step("turn", "angle", (0, 0, 1))])
    spring = mb.JointSpring("spring", arm, stiffness=3, rest=10.0, damping=0.5)
    mechanism = mb.Mechanism([body], [arm], [spring])
    state = mechanism.start | {arm.variables[0].diff(): 0.0}
    now = zw.evaluate(mechanism.system, state)
    assert float(now.acceleration[-1]) == pytest.approx(3 * 10.0 / 0.25, rel=1e-10)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "give at least one"),
        ([mb.Step("a", "angle", (1, 0, 0)), mb.Step("a", "angle", (0, 1, 0))], "names that differ"),
        ([mb.Step("x", "angle", (1, 0, 0))], "names that differ, not x"),
        ([mb.Step("a", "twist", (1, 0, 0))], "step 'a' is of kind 'twist': choose 'angle' or 'travel'"),
        ([mb.Step("a", "angle", (0, 0, 0))], "has no direction"),
        ([mb.Step("a", "angle", (1, 0, 0), reading="0")], "step 'a': reading: '0' is text"),
        (["a"], "give a list of Steps"),
    ],
)
def test_mistakes_are_named(steps, words):
    with pytest.raises(InputError, match=words):
        mb.Series("arm", mb.ground, shaft(), at=(0, 0, 0), steps=steps).conditions()
