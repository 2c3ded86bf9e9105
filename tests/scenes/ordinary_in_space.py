"""Ordinary scenes in space, drawn at random."""

import numpy as np

from tests.scenes.ordinary_in_the_plane import Random, some_restitution
from tests.scenes.scene import DOWN_IN_SPACE, G, Scene
from zwang import multibody as mb

FLOOR = (0, 0, 1)


def some_orientation(rng: Random) -> tuple[float, ...]:
    """Any quaternion."""
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def thrown(rng: Random, spin: float = 6.0) -> dict[str, tuple[float, ...]]:
    """A velocity and an angular velocity."""
    return {"velocity": (*rng.uniform(-1, 1, 2), rng.uniform(-0.5, 0.5)),
            "angular_velocity": tuple(rng.uniform(-spin, spin, 3))}  # fmt: skip


def die(rng: Random) -> Scene:
    """A die is thrown on a rough floor."""
    a = rng.uniform(0.04, 0.1)
    height = 0.9 * a + rng.uniform(0, 0.1)
    body = mb.Body(
        "die", 1.0, [a * a / 6] * 3, position=(0, 0, height), orientation=some_orientation(rng), **thrown(rng)
    )
    law = {"friction": rng.uniform(0.2, 0.6), "restitution": some_restitution(rng)}
    felt = mb.Contact("felt", mb.ground, body, normal=FLOOR, box=(a, a, a), **law)
    return Scene(mb.Mechanism([body], [felt], [DOWN_IN_SPACE]), 1.2, size=a)


def sphere(name: str, r: float, position, **start) -> mb.Body:
    """A homogeneous ball of unit mass."""
    return mb.Body(name, 1.0, [0.4 * r * r] * 3, position=tuple(position), **start)


def spheres_in_a_corner(rng: Random) -> Scene:
    """One to three spheres are thrown into a corner of a floor and two walls; in half of the scenes they can meet."""
    n, r, law = rng.integers(1, 4), 0.1, {"friction": rng.uniform(0.1, 0.6), "restitution": some_restitution(rng)}
    bodies, contacts = [], []
    for k in range(n):
        start = thrown(rng, 10) | {"velocity": (*-rng.uniform(0, 1, 2), rng.uniform(-1, 1))}
        bodies.append(sphere(f"s{k}", r, (0.12 + 0.3 * k, *rng.uniform(0.12, 0.4, 2)), **start))
        for name, normal in (("floor", FLOOR), ("x", (1, 0, 0)), ("y", (0, 1, 0))):
            contacts.append(mb.Contact(f"{name}{k}", mb.ground, bodies[k], normal=normal, radius=r, **law))
    if rng.random() < 0.5:
        contacts += [
            mb.Contact(f"pair{i}{k}", bodies[i], bodies[k], radii=(r, r), **law) for k in range(n) for i in range(k)
        ]
    return Scene(mb.Mechanism(bodies, contacts, [DOWN_IN_SPACE]), 1.5, size=r)


def chain_in_space(rng: Random) -> Scene:
    """Two or three rods on ball joints fall on a rough floor with all their ends."""
    n, length, law = rng.integers(2, 4), 0.4, {"normal": FLOOR, "friction": rng.uniform(0.1, 0.8)}
    ways = rng.normal(size=(n, 3)) * (1, 1, 0.4)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    joints_at = np.cumsum(np.vstack([np.zeros(3), length * ways]), axis=0)
    joints_at[:, 2] += rng.uniform(0.05, 0.3) - joints_at[:, 2].min()
    velocity = tuple(rng.uniform(-1, 1, 3))
    rods, parts = [], []
    for k, (way, begin) in enumerate(zip(ways, joints_at[:-1], strict=True)):
        turn = (1 + way[0], 0.0, -way[2], way[1])  # takes the x axis to the rod's direction
        middle = tuple(begin + length / 2 * way)
        inertia = [0.001, length**2 / 12, length**2 / 12]
        rods.append(mb.Body(f"rod{k}", 1.0, inertia, position=middle, orientation=turn, velocity=velocity))
        if k:
            parts.append(mb.Spherical(f"joint{k}", rods[k - 1], rods[k], at=tuple(begin)))
        parts.append(mb.Contact(f"end{k}", mb.ground, rods[k], corners=[(length / 2, 0, 0)], **law))
    parts.append(mb.Contact("begin", mb.ground, rods[0], corners=[(-length / 2, 0, 0)], **law))
    return Scene(mb.Mechanism(rods, parts, [DOWN_IN_SPACE]), 1.0)


def coin(rng: Random) -> Scene:
    """A coin is set on its edge, a little above a rough floor, tilted, with a speed and spins."""
    r, tilt = 0.1, rng.uniform(-0.5, 0.5)
    turn = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    position = (0, 0, r * np.cos(tilt) + float(rng.choice([0, rng.uniform(0, 0.05)])))
    speed = rng.uniform(-1, 1)
    spins = (rng.uniform(-1, 1), speed / r + rng.uniform(-3, 3), rng.uniform(-3, 3))
    body = mb.Body("coin", 1.0, [r * r / 4, r * r / 2, r * r / 4], position=position, orientation=turn,
                   velocity=(speed, 0, 0), angular_velocity=spins)  # fmt: skip
    edge = mb.Contact("edge", mb.ground, body, normal=FLOOR, rim=(0, np.cos(tilt), np.sin(tilt)), radius=r,
                      friction=rng.uniform(0.1, 0.6))  # fmt: skip
    return Scene(mb.Mechanism([body], [edge], [DOWN_IN_SPACE]), 1.0, size=r)


def ramp_and_wall(rng: Random) -> Scene:
    """One or two balls roll and slide down a ramp, on ways of their own, and hit a wall that stands askew."""
    r, tilt, askew = 0.1, rng.uniform(0.2, 0.7), rng.uniform(-0.6, 0.6)
    law = {"friction": rng.uniform(0.05, 0.6), "restitution": some_restitution(rng), "radius": r}
    bodies, contacts = [], []
    for k in range(rng.integers(1, 3)):
        start = thrown(rng) | {"velocity": (*rng.uniform(-0.5, 0.5, 2), 0)}
        bodies.append(sphere(f"ball{k}", r, (0, 3 * k, r + float(rng.choice([0, 0.05]))), **start))
        contacts.append(mb.Contact(f"ramp{k}", mb.ground, bodies[k], normal=FLOOR, **law))
        wall = {"normal": (-np.cos(askew), np.sin(askew), 0), "at": (0.8, 3 * k, 0)}
        contacts.append(mb.Contact(f"wall{k}", mb.ground, bodies[k], **wall, **law))
    gravity = mb.Gravity((G * np.sin(tilt), 0, -G * np.cos(tilt)))
    return Scene(mb.Mechanism(bodies, contacts, [gravity]), 1.5, size=r)


def thrown_table(rng: Random) -> Scene:
    """A table or a tripod lands on a rough floor, almost upright."""
    legs, height, reach = rng.integers(3, 5), 0.3, rng.uniform(0.2, 0.4)
    angles = 2 * np.pi * np.arange(legs) / legs + (np.pi / 4 if legs == 4 else 0)
    feet = [(reach * np.cos(a), reach * np.sin(a), -height) for a in angles]
    lean = rng.uniform(-0.15, 0.15, 2)
    start = thrown(rng, 1.0) | {"orientation": (1.0, *lean / 2, 0.0)}
    body = mb.Body("table", 2.0, [0.06, 0.06, 0.1], position=(0, 0, height + rng.uniform(0.1, 0.2)), **start)
    law = {"friction": rng.uniform(0.2, 0.8), "restitution": float(rng.choice([0, 0, 0.2]))}
    floor = mb.Contact("floor", mb.ground, body, normal=FLOOR, corners=feet, **law)
    return Scene(mb.Mechanism([body], [floor], [DOWN_IN_SPACE]), 1.0)
