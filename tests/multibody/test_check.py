"""Mistakes of parts and mechanisms: each says in which argument it was made."""

import pytest

from zwang import multibody as mb
from zwang.errors import InputError, ModelError

FLAT = mb.PlanarBody("flat", 1, 1)
BLOCK = mb.Body("block", 1, (1, 1, 1))
BOB = mb.Particle("bob", 1, (0, 0, 0))
PIN = mb.Revolute("pin", mb.ground, FLAT, at=(0, 0))
HINGE = mb.Revolute("hinge", mb.ground, BLOCK, at=(0, 0, 0), axis=(0, 0, 1))
STEPS = [mb.Step("a", "angle", (1, 0, 0)), mb.Step("b", "angle", (0, 0, 0))]

ARGUMENTS = [
    (lambda: mb.Body("b", -1, (1, 1, 1)), ("mass",)),
    (lambda: mb.Body("b", 1, (1, 1, 3)), ("inertia",)),
    (lambda: mb.Body("b", 1, (1, 1, 1), orientation=(0, 0, 0, 0)), ("orientation",)),
    (lambda: mb.Body("b", 1, (1, 1, 1), angular_velocity=(1, 2)), ("angular_velocity",)),
    (lambda: mb.PlanarBody("b", 1, 1, spin="fast"), ("spin",)),
    (lambda: mb.PlanarBody("b", 1, 1, position=(1, 2, 3)), ("position",)),
    (lambda: mb.Particle("ground", 1), ("name",)),
    (lambda: mb.Revolute("j", mb.ground, FLAT, at=(0, 0, 0)), ("at",)),
    (lambda: mb.Revolute("j", mb.ground, BLOCK, at=(0, 0, 0), axis=(0, 0, 0)), ("axis",)),
    (lambda: mb.Universal("j", mb.ground, BLOCK, at=(0, 0, 0), axes=((1, 0, 0), (1, 0, 0))), ("axes",)),
    (lambda: mb.Series("j", mb.ground, BLOCK, at=(0, 0, 0), steps=STEPS), ("steps", 1, "axis")),
    (lambda: mb.Screw("j", mb.ground, BLOCK, at=(0, 0, 0), axis=(0, 0, 1), pitch=0), ("pitch",)),
    (lambda: mb.Driver("d", PIN), ("motion",)),
    (lambda: mb.Driver("d", PIN, motion=1, coordinate="travel"), ("coordinate",)),
    (lambda: mb.Driver("d", FLAT, motion=1), ("joint",)),
    (lambda: mb.Gear("g", PIN, (PIN, "travel"), 2), ("second",)),
    (lambda: mb.Coupling("c", {PIN: 0}), ("factors",)),
    (lambda: mb.Condition("c", {"one": FLAT.coordinates[0], "two": "x"}), ("expressions", "two")),
    (lambda: mb.Condition("c", "x"), ("expressions",)),
    (lambda: mb.Spring("s", mb.ground, FLAT, start=(1, 0), stiffness=-1), ("stiffness",)),
    (lambda: mb.Spring("s", mb.ground, FLAT, start=(1, 0), stiffness=1, rest=-1), ("rest",)),
    (lambda: mb.Drag("d", FLAT, quadratic=-1), ("quadratic",)),
    (lambda: mb.Force("f", mb.ground, (1, 0)), ("body",)),
    (lambda: mb.Force("f", FLAT, (1, 0, 0)), ("components",)),
    (lambda: mb.Force("f", BOB, (1, 0, 0), point=(1, 0, 0)), ("point",)),
    (lambda: mb.Torque("f", BLOCK, (1, 0, 0), frame="own"), ("frame",)),
    (lambda: mb.BallDamper("f", PIN, 1), ("joint",)),
    (lambda: mb.Actuator("f", PIN, "x"), ("effort",)),
]


@pytest.mark.parametrize(
    ("build", "where"), ARGUMENTS, ids=[f"{i} {'.'.join(map(str, w))}" for i, (_, w) in enumerate(ARGUMENTS)]
)
def test_what_a_part_refuses_is_an_argument_of_it(build, where):
    with pytest.raises(InputError) as caught:
        build()
    assert [mistake.where for mistake in caught.value.mistakes] == [where]


def test_what_a_mechanism_refuses_is_one_of_its_parts():
    stranger, twin = mb.Body("stranger", 1, (1, 1, 1)), mb.Body("block", 1, (1, 1, 1), position=(1, 0, 0))
    joints = [mb.Spherical("block", BLOCK, stranger, at=(0, 0, 0))]
    forces = [mb.Force("push", stranger, (1, 0, 0)), mb.Actuator("motor", HINGE, 1)]
    with pytest.raises(ModelError) as caught:
        mb.Mechanism([BLOCK, twin], joints, forces, constraints={"block.x": BLOCK.coordinates[0]})
    assert [mistake.where for mistake in caught.value.mistakes] == [
        ("bodies", "block"),
        ("joints", "block"),
        ("constraints", "block.x"),
        ("joints", "block"),
        ("forces", "push"),
        ("forces", "motor"),
    ]


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (([FLAT, "block"],), ("bodies", 1)),
        (([FLAT], [PIN, 3]), ("joints", 1)),
        (([],), ("bodies",)),
        (([FLAT, BLOCK],), ("bodies", "flat")),
        (([mb.PlanarBody("rod", 1, 0)],), ("bodies", "rod")),
    ],
)
def test_a_mechanism_says_where(arguments, where):
    with pytest.raises(ModelError) as caught:
        mb.Mechanism(*arguments)
    assert [mistake.where for mistake in caught.value.mistakes] == [where]


def test_a_start_that_cannot_be_is_told_at_its_joint():
    rods = [mb.Rod(name, mb.ground, FLAT, start=(x, 0), end=(0, 0), length=1) for name, x in (("near", 1), ("far", 9))]
    with pytest.raises(Exception, match="cannot be put together as described") as caught:
        mb.Mechanism([FLAT], rods).start  # noqa: B018
    assert caught.value.mistakes[0].where[0] == "constraints"
    assert caught.value.mistakes[0].where[1] in ("near.length", "far.length")
