"""Motions to look at: in the plane and in space, with every kind of shape."""

from functools import cache
from typing import Any

import sympy as sp

import zwang as zw
from zwang import dot
from zwang.model.drawing import Drawing, Shape, turned
from zwang.results.drawing import with_drawing
from zwang.results.units import Units, with_units


@cache
def pendulum() -> Any:
    """A bob on a rod, 5 s, with units and an event."""
    x, y = zw.coordinates("x y")
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=9.81 * y,
        constraints={"rod": x**2 + y**2 - 1},
        name="Pendulum",
    )
    below = zw.Event(x, "below the pivot")
    motion = zw.simulate(system, {x: 1, y: 0, dot(x): 0, dot(y): 0}, until=5, samples=251, events=[below])
    drawing = Drawing(
        (
            Shape("rod", "line", ((0, 0), (x, y))),
            Shape("pivot", "point", ((0, 0),), color="black"),
            Shape("bob", "point", ((x, y),), color="blue", trail=True),
        )
    )
    units = Units(time="s", energy="J", coordinates={"x": "m", "y": "m"})
    return with_units(with_drawing(motion, drawing, system), units)


@cache
def gyroscope() -> Any:
    """Every kind of solid in space: on a body that turns, on one that is prescribed, and around."""
    from zwang import multibody as mb

    tetrahedron = mb.Mesh(
        [(0, 0, 0), (0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], at=(1, 1, 0)
    )
    solids = [
        mb.Cylinder(0.6, 0.1),
        mb.Capsule(0.05, 1.0, color="red"),
        mb.Box((0.2, 0.2, 0.2), at=(0.6, 0, 0), orientation=(1, 0, 0, 0.5)),
    ]
    top = mb.Body("top", 2, (1, 1, 1.6), position=(0, 0, 1), angular_velocity=(0.3, 0.2, 4), solids=solids)
    arm = mb.Moving("arm", position=(0, 0, 0.1), angle=zw.t, solids=[mb.Ellipsoid((1, 0.1, 0.05))])
    around = [tetrahedron, mb.Sphere(0.2, at=(-1, -1, 0.2), color="#204060")]
    made = mb.Mechanism([top, arm], scenery=around, name="Gyroscope")
    motion = zw.simulate(made.system, made.start, until=4, samples=201)
    return with_drawing(motion, made.drawing, made.system)


@cache
def double_pendulum() -> Any:
    """Two rods, chaotic, 15 s, no units."""
    x1, y1, x2, y2 = zw.coordinates("x1 y1 x2 y2")
    system = zw.System(
        (x1, y1, x2, y2),
        kinetic=sum(dot(c) ** 2 for c in (x1, y1, x2, y2)) / 2,
        potential=9.81 * (y1 + y2),
        constraints={"upper": x1**2 + y1**2 - 1, "lower": (x2 - x1) ** 2 + (y2 - y1) ** 2 - 1},
        name="Double pendulum",
    )
    rest = {dot(c): 0 for c in (x1, y1, x2, y2)}
    motion = zw.simulate(system, {x1: 0.6, y1: 0.8, x2: 1.2, y2: 1.6} | rest, until=15, samples=751)
    drawing = Drawing(
        (
            Shape("rods", "line", ((0, 0), (x1, y1), (x2, y2))),
            Shape("first", "point", ((x1, y1),), color="orange"),
            Shape("second", "point", ((x2, y2),), color="purple", trail=True),
        )
    )
    return with_drawing(motion, drawing, system)


@cache
def four_bar() -> Any:
    """A linkage of three bodies, one constraint of it redundant (twice given), units of length and angle."""
    p1, p2, p3 = zw.coordinates("p1 p2 p3")
    crank, coupler, rocker, ground = 1.0, 3.0, 2.5, 3.0
    c = sp.cos
    s = sp.sin
    tip = (crank * c(p1), crank * s(p1))
    far = (tip[0] + coupler * c(p2), tip[1] + coupler * s(p2))
    end = (ground + rocker * c(p3), rocker * s(p3))
    system = zw.System(
        (p1, p2, p3),
        kinetic=(dot(p1) ** 2 + 2 * dot(p2) ** 2 + dot(p3) ** 2) / 2,
        constraints={"across": far[0] - end[0], "up": far[1] - end[1], "up again": 2 * (far[1] - end[1])},
        name="Four-bar linkage",
    )
    guess = {p1: 1.0, p2: 0.5, p3: 1.6, dot(p1): 3.0, dot(p2): 0, dot(p3): 0}
    motion = zw.simulate(system, zw.assemble(system, guess, hold=[p1]), until=6, samples=301)
    slender = [(-0.1, -0.12), (0.1, -0.12), (0.1, 0.12), (-0.1, 0.12)]

    def bar(length: float) -> list[tuple[float, float]]:
        return [(x + (length if x > 0 else 0), y) for x, y in slender]

    drawing = Drawing(
        (
            Shape("crank", "body", turned((sp.S.Zero, sp.S.Zero), p1, bar(crank))),
            Shape("coupler", "body", turned(tip, p2, bar(coupler))),
            Shape("rocker", "body", turned((sp.Integer(3), sp.S.Zero), p3, bar(rocker))),
            Shape("wheel", "circle", ((0, 0),), radius=0.45, color="gray"),
            Shape("midpoint", "point", ((tip[0] + 1.5 * c(p2) - s(p2), tip[1] + 1.5 * s(p2) + c(p2)),), trail=True),
        )
    )
    units = Units(time="s", energy="J", coordinates={"p1": "rad", "p2": "rad", "p3": "rad"})
    return with_units(with_drawing(motion, drawing, system), units)


@cache
def rolling_disc() -> Any:
    """A disc that rolls on the ground, upright at first, in space."""
    x, y, z, phi, theta, psi = zw.coordinates("x y z phi theta psi")  # heading, lean, spin
    radius, g = 0.5, 9.81
    heading = sp.Matrix([sp.cos(phi), sp.sin(phi), 0])
    side = sp.Matrix([-sp.sin(phi) * sp.cos(theta), sp.cos(phi) * sp.cos(theta), sp.sin(theta)])  # towards the top
    normal = heading.cross(side)
    spin = dot(theta) * heading + dot(phi) * sp.Matrix([0, 0, 1]) + dot(psi) * normal
    rate = sp.Matrix([dot(x), dot(y), dot(z)])
    contact = -radius * side
    slip = rate + spin.cross(contact)
    along, about = spin.dot(heading), spin.dot(side)
    kinetic = rate.dot(rate) / 2 + (along**2 + about**2) * radius**2 / 8 + spin.dot(normal) ** 2 * radius**2 / 4
    system = zw.System(
        (x, y, z, phi, theta, psi),
        kinetic=kinetic,
        potential=g * z,
        constraints={"no slip x": slip[0], "no slip y": slip[1], "on the ground": z - radius * sp.sin(theta)},
        name="Rolling disc",
    )
    start = {x: 0, y: 0, phi: 0, theta: 1.25, psi: 0, z: radius * float(sp.sin(1.25))}
    start |= {dot(phi): 0.6, dot(theta): 0, dot(psi): -4.0, dot(x): 0, dot(y): 0, dot(z): 0}
    start = zw.assemble(system, start, hold=[phi, theta, psi, dot(phi), dot(theta), dot(psi)])
    motion = zw.simulate(system, start, until=6, samples=301)
    spoke = radius * (sp.cos(psi) * heading + sp.sin(psi) * side)
    centre = (x, y, z)
    drawing = Drawing(
        (
            Shape("disc", "circle", (centre,), radius=radius, normal=tuple(normal), color="blue"),
            Shape("spoke", "line", (centre, tuple(sp.Matrix(centre) + spoke)), color="orange"),
            Shape("centre", "point", (centre,), color="black"),
            Shape("contact", "point", (tuple(sp.Matrix(centre) + contact),), color="red", trail=True),
        )
    )
    return with_units(with_drawing(motion, drawing, system), Units(time="s", coordinates=dict.fromkeys("xyz", "m")))
