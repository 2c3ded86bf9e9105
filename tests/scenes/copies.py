"""Bodies side by side that have nothing to do with each other: what one does alone, it does among others."""

from collections.abc import Callable, Sequence

import numpy as np

import zwang as zw
from tests.scenes.scene import DOWN, DOWN_IN_SPACE, G, Scene
from zwang import dot
from zwang import multibody as mb

Members = Sequence[int]
"""Which of the copies a scene has: each has names, a place and a start of its own, alone as among others."""


def coordinates_of(members: Members) -> tuple[list, list]:
    """Two coordinates for each."""
    return tuple([zw.coordinates(f"{axis}{k}") for k in members] for axis in "xy")


def rough_points(members: Members, pulls: dict, law: dict, start: dict, until: float) -> Scene:
    """Points on a rough floor, each with a force along it."""
    xs, ys = coordinates_of(members)
    floors = [zw.Constraint(y >= 0, f"floor{k}", slip=dot(x), **law) for k, x, y in zip(members, xs, ys, strict=True)]
    kinetic = sum(dot(q) ** 2 for q in (*xs, *ys)) / 2
    forces = {x: pulls[k] for k, x in zip(members, xs, strict=True)}
    system = zw.System((*xs, *ys), kinetic=kinetic, potential=G * sum(ys), forces=forces, constraints=floors)
    begin = {
        e: start[k][i] for k, x, y in zip(members, xs, ys, strict=True) for i, e in enumerate((x, y, dot(x), dot(y)))
    }
    return Scene(system, until, start=begin)


def bouncing_points(members: Members, apart: float = 1.0) -> Scene:
    """Points that fall from heights of their own, or `apart=0` from one, bounce, slide and come to rest."""
    law, pulls = {"friction": 0.3, "restitution": 0.5}, dict.fromkeys(members, 0.0)
    start = {k: (0.0, 0.5 + 0.0185 * apart * k, 2.0 - 0.1 * apart * k, 0.0) for k in members}
    return rough_points(members, pulls, law, start, 1.5)


def points_that_hit_the_floor(members: Members) -> Scene:
    """Points that are on the floor and go down into it, at the first instant."""
    law, pulls = {"friction": 0.4, "restitution": 0.6}, dict.fromkeys(members, 0.0)
    start = {k: (0.0, 0.0, np.sin(3.0 * k), -0.3 - 0.2 * np.cos(k) ** 2) for k in members}
    return rough_points(members, pulls, law, start, 1e-9)


def resting_blocks(members: Members) -> Scene:
    """Blocks at rest, each of which is pulled with less than its friction or with more."""
    pulls = {k: G * (0.1 * k % 0.5) for k in members}
    return rough_points(members, pulls, {"friction": 0.3}, dict.fromkeys(members, (0.0,) * 4), 0.1)


def boxes(members: Members) -> Scene:
    """Boxes that are thrown on a rough floor and bounce, 3 m apart."""
    bodies = [
        mb.PlanarBody(
            f"b{k}",
            1,
            (0.4**2 + 0.25**2) / 12,
            position=(3 * k, 0.5 + 0.011 * k),
            angle=0.3,
            velocity=(0.8, 0.2),
            spin=2,
        )
        for k in members
    ]
    law = {"restitution": 0.3, "friction": 0.4}
    floor = [
        mb.Contact(f"f{k}", mb.ground, body, normal=(0, 1), box=(0.4, 0.25), **law)
        for k, body in zip(members, bodies, strict=True)
    ]
    return Scene(mb.Mechanism(bodies, floor, [DOWN]), 1.0)


def discs(members: Members) -> Scene:
    """Discs that bounce and roll on a rough floor, each by itself, though each pair could meet."""
    r = 0.1
    bodies = [
        mb.PlanarBody(f"d{k}", 1, r * r / 2, position=(k, 0.3 + 0.05 * k), velocity=(0.1, 0), spin=3 - k)
        for k in members
    ]
    contacts = [
        mb.Contact(f"f{k}", mb.ground, body, normal=(0, 1), radius=r, restitution=0.5, friction=0.3)
        for k, body in zip(members, bodies, strict=True)
    ]
    return Scene(mb.Mechanism(bodies, contacts, [DOWN]), 1.5)


def spheres(members: Members) -> Scene:
    """Spheres that are thrown into a corner of a floor and a wall, each into its own."""
    r, bodies, contacts = 0.1, [], []
    for k in members:
        spin = tuple(np.cos([k, 2 * k + 1, 3 * k + 2]) * 6)
        start = {"velocity": (-0.8, 0.1 * k, -0.2), "angular_velocity": spin}
        ball = mb.Body(f"s{k}", 1, [0.4 * r * r] * 3, position=(0.2 + 0.02 * k, 3 * k, 0.2), **start)
        bodies.append(ball)
        for name, normal in (("floor", (0, 0, 1)), ("wall", (1, 0, 0))):
            contacts.append(mb.Contact(f"{name}{k}", mb.ground, ball, normal=normal, radius=r, friction=0.3))
    return Scene(mb.Mechanism(bodies, contacts, [DOWN_IN_SPACE]), 0.6)


COPIES: dict[str, Callable[[Members], Scene]] = {
    "bouncing points": bouncing_points,
    "resting blocks": resting_blocks,
    "boxes": boxes,
    "discs": discs,
    "spheres": spheres,
}
