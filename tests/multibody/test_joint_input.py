"""Bad input to joints: every mistake has its own message, and is told where the joint is written down."""

import numpy as np
import pytest
import sympy as sp

from zwang import multibody as mb
from zwang import t
from zwang.errors import InputError

u, X, Y, Z = sp.symbols("u X Y Z")
BOX = mb.Body("box", 1, (1, 1, 1), position=(0, 0, 1))
LID = mb.Body("lid", 1, (1, 1, 1), position=(1, 0, 1))
BEAD = mb.Particle("bead", 1, position=(1, 0, 0))
BAR = mb.PlanarBody("bar", 1, 1, position=(0, 1))
ARM = mb.PlanarBody("arm", 1, 1, position=(2, 1))
DOT = mb.Particle("dot", 1, position=(1, 0))
O2, O3 = (0, 0), (0, 0, 0)
PIN = mb.Revolute("pin", mb.ground, BAR, at=O2)
SLIDE = mb.Prismatic("slide", mb.ground, ARM, at=O2, axis=(1, 0))
BALL = mb.Spherical("ball", mb.ground, BOX, at=O3)
SLEEVE = mb.Cylindrical("sleeve", mb.ground, BOX, at=O3, axis=(0, 0, 1))
G, UP = mb.ground, (0, 0, 1)

MISTAKES = {
    "gear of one joint": (lambda: mb.Gear("g", PIN, PIN, ratio=2), "gear 'g' joins a coordinate to itself: name each"),
    "blade along the normal": (
        lambda: mb.Skate("j", G, BOX, at=O3, direction=UP),
        "joint 'j': its blade points along the normal of the plane",
    ),
    "zero axis": (lambda: mb.Revolute("j", G, BOX, at=O3, axis=O3), "joint 'j': axis: .* has no direction"),
    "zero axis in the plane": (lambda: mb.Prismatic("j", G, BAR, at=O2, axis=O2), "has no direction"),
    "two entries in space": (lambda: mb.Revolute("j", G, BOX, at=O2), "at: .* is not a vector: give 3 numbers"),
    "three entries in the plane": (lambda: mb.Revolute("j", G, BAR, at=O3), "at: .* is not a vector: give 2 numbers"),
    "axis in the plane": (lambda: mb.Prismatic("j", G, BAR, at=O2, axis=UP), "axis: .* give 2 numbers"),
    "text for a place": (lambda: mb.Spherical("j", G, BOX, at="abc"), "'abc' is not a vector"),
    "no body": (lambda: mb.Revolute("j", G, "box", at=O3), "'box' is not a body"),
    "two grounds": (lambda: mb.Revolute("j", G, G, at=O2), "joins 'ground' to 'ground': neither can move"),
    "itself": (lambda: mb.Revolute("j", BOX, BOX, at=O3), "joins 'box' to itself"),
    "plane and space": (lambda: mb.Revolute("j", BAR, BOX, at=O3), "a body in the plane to one in space"),
    "no name": (lambda: mb.Revolute("", G, BOX, at=O3), "'' is not a name for a Revolute"),
    "universal axes": (
        lambda: mb.Universal("j", G, BOX, at=O3, axes=((1, 0, 0), (1, 1, 0))),
        r"the axes \(1, 0, 0\) and \(1, 1, 0\) are not perpendicular",
    ),
    "one universal axis": (lambda: mb.Universal("j", G, BOX, at=O3, axes=UP), "give two directions"),
    "rod of no length": (lambda: mb.Rod("j", G, BOX, start=O3, end=O3), "it has no length"),
    "rod of negative length": (
        lambda: mb.Rod("j", G, BOX, start=O3, end=UP, length=-1),
        "length is -1, but it must be positive",
    ),
    "rod with one end": (lambda: mb.Rod("j", G, BOX, start=O3), "give start and end in the world, or at="),
    "rod with both": (lambda: mb.Rod("j", G, BOX, O3, UP, at=(O3, O3)), "give start and end in the world, or at="),
    "pitch": (lambda: mb.Screw("j", G, BOX, at=O3, axis=UP, pitch=0), "its pitch is 0, so it cannot travel"),
    "ball radius": (lambda: mb.RollingBall("j", G, BOX, radius=0), "radius is 0, but it must be positive"),
    "disc radius": (lambda: mb.RollingDisc("j", G, BOX, radius=-1, axis=(1, 0, 0)), "radius is -1"),
    "wheel radius": (lambda: mb.RollingWheel("j", G, BAR, radius=-0.5), "radius is -0.5"),
    "wheel radii": (lambda: mb.WheelOnWheel("j", BAR, ARM, radii=(1, 0)), "radii is 0"),
    "one radius": (lambda: mb.WheelOnWheel("j", BAR, ARM, radii=(1,)), "give two, of the first and of the second"),
    "wheel in an equal wheel": (lambda: mb.WheelOnWheel("j", BAR, ARM, radii=(1, 1), inside=True), "that differ"),
    "concentric wheels": (
        lambda: mb.WheelOnWheel("j", BAR, mb.PlanarBody("b", 1, 1, position=(0, 1)), radii=(1, 1)),
        "both wheels start with one centre",
    ),
    "behind the plane": (
        lambda: mb.RollingBall("j", G, BOX, radius=1, normal=(0, 0, -1)),
        "its centre starts 1 behind the plane: turn the normal round",
    ),
    "belt on one wheel": (lambda: mb.Belt("b", PIN, PIN, radii=(1, 2)), "belt 'b' joins a coordinate to itself"),
    "coupling of one": (lambda: mb.Coupling("c", {PIN: 1, (PIN, "angle"): 2}), "'c' joins a coordinate to itself"),
    "pair of several": (
        lambda: mb.Gear("g", PIN, mb.Universal("u", G, BOX, at=O3, axes=((1, 0, 0), (0, 1, 0))), ratio=2),
        r"has several angles: choose \(joint, name\) with the name 'angle1' or 'angle2'",
    ),
    "axis of a pin in the plane": (
        lambda: mb.Revolute("j", G, BAR, at=O2, axis=(0, 0, -1)),
        r"axis=\(0, 0, -1\): a pin in the plane turns about its normal \(0, 0, 1\): leave it out",
    ),
    "flat disc": (
        lambda: mb.RollingDisc("j", G, BOX, radius=1, axis=UP),
        "joint 'j': the disc starts flat on the plane",
    ),
    "rod with a start and both": (
        lambda: mb.Rod("j", G, BOX, start=O3, at=(O3, O3)),
        "give start and end in the world",
    ),
    "reading in text": (lambda: mb.Revolute("j", G, BOX, at=O3, reading="x").freedoms, "reading: 'x' is text"),
    "curve start in text": (
        lambda: mb.PointOnCurve("j", G, BAR, curve=(u, u), parameter=u, start="0"),
        "joint 'j': start: '0' is text",
    ),
    "axis on a body turned by a parameter": (
        lambda: mb.Revolute("j", mb.Moving("m", axis=(1, 0, 0), angle=u + t), BOX, at=O3),
        "where its axis points on a body depends on parameters: give it as",
    ),
    "weld to a body turned by a parameter": (
        lambda: mb.Fixed("j", mb.Moving("m", axis=(1, 0, 0), angle=u + t), BOX, at=O3),
        "turned against each other at the start depends on parameters",
    ),
    "belt radii": (
        lambda: mb.Belt("b", PIN, PIN, radii=(1, -2)),
        r"its radii are \(1, -2\), but both must be positive",
    ),
    "rack radius": (lambda: mb.Rack("r", PIN, SLIDE, radius=0), "its radius is 0"),
    "gear ratio": (lambda: mb.Gear("g", PIN, PIN, ratio=0), "its ratio is 0"),
    "gear without angles": (
        lambda: mb.Gear("g", PIN, SLIDE, ratio=2),
        "gear 'g': joint 'slide' leaves no angle free, only 'travel'",
    ),
    "gear of bodies": (lambda: mb.Gear("g", BAR, PIN, ratio=2), "gear 'g': .* is not a joint"),
    "rack without travel": (
        lambda: mb.Rack("r", PIN, PIN, radius=1),
        "joint 'pin' leaves no travel free, only 'angle'",
    ),
    "driver with both": (lambda: mb.Driver("d", PIN, motion=t, speed=1), "is given both motion and speed"),
    "driver with neither": (lambda: mb.Driver("d", PIN), "is given neither motion nor speed"),
    "driver without freedom": (lambda: mb.Driver("d", BALL, motion=t), "joint 'ball' leaves no coordinate free$"),
    "driver of several": (
        lambda: mb.Driver("d", SLEEVE, motion=t),
        "joint 'sleeve' has several coordinates: choose coordinate= 'travel' or 'angle'",
    ),
    "driver of another": (
        lambda: mb.Driver("d", PIN, motion=t, coordinate="travel"),
        "joint 'pin' has no coordinate 'travel': choose 'angle'",
    ),
    "driver with text": (lambda: mb.Driver("d", PIN, motion="t"), "driver 'd': motion: 't' is text"),
    "empty coupling": (lambda: mb.Coupling("c", {}), "give {joint: factor"),
    "coupling by nothing": (lambda: mb.Coupling("c", {PIN: 0}), "a factor is 0"),
    "empty condition": (lambda: mb.Condition("c", {}), "asks for nothing"),
    "condition in text": (lambda: mb.Condition("c", "x = 0"), "condition 'c': 'x = 0' is text"),
    "cylindrical in the plane": (lambda: mb.Cylindrical("j", G, BAR, at=O2, axis=(1, 0)), "in space only"),
    "spherical in the plane": (lambda: mb.Spherical("j", G, BAR, at=O2), "use Revolute in the plane"),
    "universal in the plane": (lambda: mb.Universal("j", G, BAR, at=O2, axes=((1, 0), (0, 1))), "in space only"),
    "planar in the plane": (lambda: mb.Planar("j", G, BAR, at=O2, normal=(1, 0)), "in space only"),
    "screw in the plane": (lambda: mb.Screw("j", G, BAR, at=O2, axis=(1, 0), pitch=1), "in space only"),
    "point on plane in the plane": (lambda: mb.PointOnPlane("j", G, BAR, at=O2, normal=(1, 0)), "use PointOnLine"),
    "disc in the plane": (lambda: mb.RollingDisc("j", G, BAR, radius=1, axis=(1, 0)), "in space only"),
    "ball in the plane": (lambda: mb.RollingBall("j", G, BAR, radius=1), "in space only"),
    "wheel in space": (lambda: mb.RollingWheel("j", G, BOX, radius=1), "in the plane only; use RollingDisc"),
    "wheel on wheel in space": (lambda: mb.WheelOnWheel("j", BOX, LID, radii=(1, 1)), "in the plane only; use Gear"),
    "particle on a hinge": (lambda: mb.Revolute("j", G, BEAD, at=(1, 0, 0)), "a particle has none; use Spherical"),
    "point beside a particle": (
        lambda: mb.Spherical("j", G, BEAD, at=O3),
        r"the point \(-1, 0, 0\) is away from the particle 'bead'",
    ),
    "rod beside a particle": (lambda: mb.Rod("j", G, DOT, start=O2, end=(2, 0)), "away from the particle 'dot'"),
    "particle that slides": (lambda: mb.Prismatic("j", G, DOT, at=O2, axis=(1, 0)), "use PointOnLine"),
    "particle with a line": (lambda: mb.PointOnLine("j", DOT, BAR, at=O2, axis=(1, 0)), "give the line to a body"),
    "particle that rolls": (lambda: mb.RollingWheel("j", G, DOT, radius=1), "a particle cannot roll"),
    "particle with a blade": (lambda: mb.Skate("j", G, DOT, at=(1, 0), direction=(1, 0)), "a body that turns"),
    "curve without symbol": (
        lambda: mb.PointOnCurve("j", G, BAR, curve=(u, u), parameter="u"),
        "give the symbol that the curve runs with",
    ),
    "curve of too few": (lambda: mb.PointOnCurve("j", G, BOX, curve=(u, u), parameter=u), "curve: .* give 3"),
    "curve at rest": (lambda: mb.PointOnCurve("j", G, BAR, curve=(1, 2), parameter=u), "does not depend on its param"),
    "surface symbols": (lambda: mb.PointOnSurface("j", G, BOX, surface=X, symbols=(X, Y)), "give 3 symbols"),
    "surface of nothing": (lambda: mb.PointOnSurface("j", G, BAR, surface=Z, symbols=(X, Y)), "depends on none of X"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake):
    make, message = MISTAKES[mistake]
    with pytest.raises(InputError, match=message):
        make()


def test_rod_between_places_that_depend_on_parameters_needs_its_length():
    a = sp.Symbol("a")
    crane = mb.Moving("crane", position=(a, 0))
    with pytest.raises(InputError, match="depends on parameters: give its length"):
        mb.Rod("rod", crane, DOT, at=(O2, O2))
    assert "length" in mb.Rod("rod", crane, DOT, at=(O2, O2), length=1).conditions()


def test_places_on_each_body_may_be_rough():
    """Points given in body axes need not meet: the start is put together."""
    arm = mb.PlanarBody("arm", 1, 0.1, position=(0.7, 0.1))
    pin = mb.Revolute("pin", mb.ground, arm, at=((0, 0), (-0.5, 0)))
    mechanism = mb.Mechanism([arm], joints=[pin])
    x, y, angle = (mechanism.start[q] for q in arm.coordinates)
    assert np.allclose([x - 0.5 * np.cos(angle), y - 0.5 * np.sin(angle)], 0, atol=1e-14)


def test_places_are_a_particles_but_for_rounding():
    bob = mb.Particle("bob", 1, position=(0.3, 0))
    for part in (mb.Rod("rod", G, bob, O2, (0.1 + 0.2, 0)), mb.Spring("coil", G, bob, end=(0.1 + 0.2, 0), stiffness=1)):
        assert part.ends == (O2, O2)


def test_rounding_leaves_no_offset_in_a_joint():
    """0.1 + 0.2 − 0.3 is not a lever arm."""
    arm = mb.PlanarBody("arm", 1, 1, position=(0.1 + 0.2, 0.7))
    assert mb.Revolute("pin", G, arm, at=(0.3, 0.7)).ends[1] == O2
    slide = mb.Prismatic("slide", G, arm, at=(0.3, 0.7), axis=(1, 0))
    assert slide.freedoms["travel"].value == arm.coordinates[0] - 0.3
