"""Force elements that make no sense are refused, each with its own message."""

import pytest

from zwang import multibody as mb
from zwang.errors import InputError, ModelError

PARTICLE = mb.Particle("bob", 1, position=(0, 0, 1))
PLATE = mb.PlanarBody("plate", 1, 1)
PLATE2 = mb.PlanarBody("plate2", 1, 1, position=(1, 0))
BLOCK = mb.Body("block", 1, (1, 1, 1))
PIN = mb.Revolute("pin", mb.ground, BLOCK, at=(0, 0, 0))
BALL = mb.Spherical("ball", mb.ground, BLOCK, at=(0, 0, 0))
SLEEVE = mb.Cylindrical("sleeve", mb.ground, BLOCK, at=(0, 0, 0), axis=(0, 0, 1))
G = mb.ground

BAD = [
    (lambda: mb.Spring("s", G, PARTICLE, stiffness=-1), "'s': its stiffness is -1, but no stiffness is negative"),
    (lambda: mb.Spring("s", G, PARTICLE, damping=-1), "'s': its damping is -1, but no damping is negative"),
    (lambda: mb.Spring("s", G, PARTICLE, stiffness=1, rest=-1), "'s': its rest length is -1"),
    (lambda: mb.Spring("s", G, PARTICLE), "'s' does nothing: give a stiffness, a damping or a force"),
    (lambda: mb.Spring("s", G, PARTICLE, force=mb.length, stiffness=1), "'s': give either force or stiffness"),
    (lambda: mb.Spring("s", G, PARTICLE, force="length"), "'s': force: 'length' is text"),
    (lambda: mb.Spring("s", G, PARTICLE, end=(0, 0, 2), stiffness=1), "away from the particle 'bob'"),
    (lambda: mb.Spring("s", G, PARTICLE, start=(0, 0, 1), stiffness=1), "'s': its ends meet at the start: give rest=0"),
    (lambda: mb.Spring("s", G, BLOCK, start=(0, 0), stiffness=1), r"'s': start: \(0, 0\) is not a vector: give 3"),
    (lambda: mb.Spring("s", G, BLOCK, at=(0, 0, 1), stiffness=1), "'s': give start and end in the world, or at="),
    (lambda: mb.Spring("s", G, G, stiffness=1), "'s' joins 'ground' to 'ground': neither can move"),
    (lambda: mb.Spring("s", BLOCK, BLOCK, stiffness=1), "'s' joins 'block' to itself"),
    (lambda: mb.Spring("s", PLATE, BLOCK, stiffness=1), "'s' joins a body in the plane to one in space"),
    (lambda: mb.Spring("s", G, "block", stiffness=1), "'s': 'block' is not a body: give a body, or ground"),
    (lambda: mb.Force("f", G, (0, 0, 1)), "'f' acts on 'ground', which no force can move"),
    (lambda: mb.Force("f", "block", (0, 0, 1)), "'f': 'block' is not a body"),
    (lambda: mb.Force("f", BLOCK, (0, 1)), r"'f': components: \(0, 1\) is not a vector of 3 entries"),
    (lambda: mb.Force("f", BLOCK, (0, 1, "x")), "'f': components: 'x' is text"),
    (lambda: mb.Force("f", BLOCK, (0, 1, 0), point=(0, 1)), r"'f': point: \(0, 1\) is not a vector"),
    (lambda: mb.Force("f", PARTICLE, (0, 1, 0), point=(0, 1, 0)), "away from the particle 'bob'"),
    (lambda: mb.Force("f", BLOCK, (0, 1, 0), frame="joint"), "'f': frame='joint' is unknown: choose 'world' or 'body'"),
    (lambda: mb.Torque("f", BLOCK, (0, 1, 0), frame="joint"), "'f': frame='joint' is unknown"),
    (lambda: mb.Torque("f", BLOCK, 1), "'f': components: 1 is not a vector of 3 entries"),
    (lambda: mb.Torque("f", PLATE, (0, 0, 1)), "'f': components: .* is not a scalar expression"),
    (lambda: mb.Torque("f", PARTICLE, (0, 0, 1)), "'f' acts on the particle 'bob', which does not turn"),
    (lambda: mb.Drag("air", BLOCK), "'air' does nothing: give linear, quadratic or turning"),
    (lambda: mb.Drag("air", BLOCK, linear=-1), "'air': its linear drag is -1, but no linear drag is negative"),
    (lambda: mb.Drag("air", PARTICLE, turning=1), "'air' acts on the particle 'bob', which does not turn"),
    (lambda: mb.Drag("air", mb.Moving("table"), linear=1), "'air' acts on 'table', which no force can move"),
    (lambda: mb.Actuator("m", BALL, 1), "'m': joint 'ball' leaves no coordinate free"),
    (lambda: mb.Actuator("m", BLOCK, 1), "'m': .* is not a joint"),
    (
        lambda: mb.Actuator("m", SLEEVE, 1),
        "'m': joint 'sleeve' has several coordinates: choose coordinate= ",
    ),
    (
        lambda: mb.Actuator("m", SLEEVE, 1, coordinate="turn"),
        "'m': joint 'sleeve' has no coordinate 'turn': choose",
    ),
    (lambda: mb.Actuator("m", PIN, "1"), "'m': effort: '1' is text"),
    (lambda: mb.JointFriction("c", PIN, -1), "'c': its coefficient is -1"),
    (lambda: mb.JointFriction("c", BALL, 1), "'c': joint 'ball' leaves no coordinate free"),
    (lambda: mb.JointSpring("k", PIN), "'k' does nothing: give a stiffness or a damping"),
    (lambda: mb.JointSpring("k", PIN, stiffness=-2), "'k': its stiffness is -2"),
    (
        lambda: mb.JointSpring("k", PIN, stiffness=1, rest=4),
        "'k': its rest is 4 rad away from the start of joint 'p",
    ),
]


@pytest.mark.parametrize(("build", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_input_has_its_own_message(build, message):
    with pytest.raises(InputError, match=f"force element {message}" if message.startswith("'") else message):
        build()


def test_elements_of_strangers():
    stranger = mb.Body("stranger", 1, (1, 1, 1))
    forces = [mb.Force("push", stranger, (1, 0, 0)), mb.Actuator("motor", PIN, 1)]
    with pytest.raises(ModelError) as caught:
        mb.Mechanism([BLOCK], forces=forces)
    first, second = caught.value.mistakes
    assert first == "force element 'push' acts on body 'stranger', which is not in the mechanism: add it to bodies"
    assert second == "force element 'motor' acts along joint 'pin', which is not in the mechanism: add it to joints"


def test_gravity_of_the_wrong_size():
    with pytest.raises(InputError, match="gravity has 2 entries, but body 'block' lives in 3"):
        mb.Mechanism([BLOCK], forces=[mb.Gravity((0, -9.81))]).system  # noqa: B018
