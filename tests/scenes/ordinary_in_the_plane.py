"""Ordinary scenes in the plane, drawn at random: what anybody tries who has bodies, floors and walls at hand."""

import numpy as np

import zwang as zw
from tests.scenes.scene import DOWN, G, Scene
from zwang import dot
from zwang import multibody as mb

Random = np.random.Generator


def some_restitution(rng: Random) -> float:
    """Plastic in half of the cases."""
    return float(rng.choice([0, 0, 0, 0.2, 0.3, 0.5]))


def down_a_slope(tilt: float) -> mb.Gravity:
    """The floor stays level, gravity is turned: what slides down goes to the right."""
    return mb.Gravity((G * np.sin(tilt), -G * np.cos(tilt)))


def new_box(name: str, edges: tuple[float, float], **start) -> mb.PlanarBody:
    """A box of unit mass."""
    a, b = edges
    return mb.PlanarBody(name, 1.0, (a * a + b * b) / 12, **start)


def new_rod(name: str, length: float, middle, angle: float, **start) -> mb.PlanarBody:
    """A uniform rod of unit mass along its own x axis."""
    return mb.PlanarBody(name, 1.0, length**2 / 12, position=tuple(middle), angle=angle, **start)


def along(angle: float) -> np.ndarray:
    """The direction at an angle."""
    return np.array([np.cos(angle), np.sin(angle)])


def thrown_boxes(rng: Random) -> Scene:
    """One to three boxes, apart, thrown on a rough floor."""
    bodies, contacts = [], []
    for k in range(rng.integers(1, 4)):
        a, b = rng.uniform(0.2, 0.6, 2)
        height = np.hypot(a, b) / 2 + rng.uniform(0.02, 0.5)
        thrown = {"angle": rng.uniform(-1, 1), "velocity": (rng.uniform(-2, 2), rng.uniform(-1, 1))}
        box = new_box(f"box{k}", (a, b), position=(1.5 * k, height), spin=rng.uniform(-4, 4), **thrown)
        law = {"friction": rng.uniform(0.05, 0.8), "restitution": some_restitution(rng)}
        bodies.append(box)
        contacts.append(mb.Contact(f"floor{k}", mb.ground, box, normal=(0, 1), box=(a, b), **law))
    return Scene(mb.Mechanism(bodies, contacts, [DOWN]), 1.5)


def discs_in_a_trough(rng: Random) -> Scene:
    """Two to five discs fall between two rough slopes onto a floor, and onto each other."""
    slopes = rng.uniform(np.pi / 4, 1.4, 2)
    law = {"friction": rng.uniform(0, 0.6)}
    radii = rng.uniform(0.08, 0.12, rng.integers(2, 6))
    discs = [
        mb.PlanarBody(f"disc{k}", 1.0, r * r / 2, position=(rng.uniform(-0.03, 0.03), 0.15 + 0.27 * k))
        for k, r in enumerate(radii)
    ]
    contacts = []
    for k, (disc, r) in enumerate(zip(discs, radii, strict=True)):
        contacts.append(mb.Contact(f"floor{k}", mb.ground, disc, normal=(0, 1), radius=r, **law))
        for name, side, slope in zip("lr", (1, -1), slopes, strict=True):
            wall = {"normal": (side * np.sin(slope), np.cos(slope)), "at": (-0.15 * side, 0)}
            contacts.append(mb.Contact(f"{name}{k}", mb.ground, disc, radius=r, **wall, **law))
        for i in range(k):
            contacts.append(mb.Contact(f"pair{i}{k}", discs[i], disc, radii=(radii[i], r), **law))
    return Scene(mb.Mechanism(discs, contacts, [DOWN]), 1.5, size=0.1)


def rods_in_a_row(angles, lengths, start, velocity) -> tuple[list[mb.PlanarBody], list[mb.Revolute]]:
    """Rods from a point on, each pinned to the one before it."""
    rods: list[mb.PlanarBody] = []
    pins: list[mb.Revolute] = []
    at = np.asarray(start, float)
    for k, (angle, length) in enumerate(zip(angles, lengths, strict=True)):
        half = length / 2 * along(angle)
        rods.append(new_rod(f"rod{k}", length, at + half, angle, velocity=velocity))
        if k:
            pins.append(mb.Revolute(f"pin{k}", rods[k - 1], rods[k], at=tuple(at)))
        at = at + 2 * half
    return rods, pins


def chain_on_a_floor(rng: Random) -> Scene:
    """Two to five rods, pinned to each other, fall on a rough floor with all their ends."""
    n = rng.integers(2, 6)
    angles, lengths = rng.uniform(-0.6, 0.6, n), rng.uniform(0.3, 0.5, n)
    heights = np.cumsum(np.append(0, lengths * np.sin(angles)))
    start = (0, rng.uniform(0.02, 0.3) - heights.min())
    velocity = (rng.uniform(-1, 1), rng.uniform(-1, 0))
    rods, pins = rods_in_a_row(angles, lengths, start, velocity)
    law = {"normal": (0, 1), "friction": rng.uniform(0.1, 0.8), "restitution": float(rng.choice([0, 0, 0.3]))}
    first = mb.Contact("begin", mb.ground, rods[0], corners=[(-lengths[0] / 2, 0)], **law)
    ends = [
        mb.Contact(f"end{k}", mb.ground, rod, corners=[(length / 2, 0)], **law)
        for k, (rod, length) in enumerate(zip(rods, lengths, strict=True))
    ]
    return Scene(mb.Mechanism(rods, [*pins, first, *ends], [DOWN]), 1.5)


def compass_walker(rng: Random) -> Scene:
    """Two legs and a hip go down a rough slope, with one foot on it; they may fall."""
    tilts, spins = (-rng.uniform(0.1, 0.3), rng.uniform(0.35, 0.6)), rng.uniform(-1.5, 1.5, 2)
    legs = [np.array([np.sin(tilt), -np.cos(tilt)]) for tilt in tilts]  # from the hip to the feet
    hip = -legs[0]
    speed = -spins[0] * np.array([-legs[0][1], legs[0][0]])  # of the hip, with the first foot at rest
    bodies = [
        mb.PlanarBody(
            f"leg{k}", mass, 0.05, position=tuple(hip + leg / 2), angle=tilt,
            velocity=tuple(speed + spin * np.array([-leg[1], leg[0]]) / 2), spin=spin,
        )
        for k, (mass, tilt, leg, spin) in enumerate(zip((2.0, 1.0), tilts, legs, spins, strict=True))
    ]  # fmt: skip
    joint = mb.Revolute("hip", *bodies, at=tuple(hip))
    law = {"normal": (0, 1), "friction": rng.uniform(0.4, 1.0)}
    feet = [mb.Contact(f"foot{k}", mb.ground, leg, corners=[(0, -0.5)], **law) for k, leg in enumerate(bodies)]
    top = mb.Contact("top", mb.ground, bodies[0], corners=[(0, 0.5)], **law)
    slope = down_a_slope(rng.uniform(0.02, 0.12))
    return Scene(mb.Mechanism(bodies, [joint, *feet, top], [slope]), 1.5)


def two_legged_trunk(rng: Random) -> Scene:
    """A trunk on two legs with limits at the hips lands on a rough floor and falls."""
    height = 0.65 + rng.uniform(0, 0.2)
    velocity = (rng.uniform(-1, 1), 0)
    trunk = mb.PlanarBody("trunk", 5.0, 0.15, position=(0, height + 0.25), velocity=velocity)
    bodies, parts, law = [trunk], [], {"normal": (0, 1), "friction": rng.uniform(0.3, 0.9)}
    for k, x in enumerate((-0.12, 0.12)):
        leg = mb.PlanarBody(f"leg{k}", 1.0, 0.03, position=(x, height - 0.3), velocity=velocity)
        hip = mb.Revolute(f"hip{k}", trunk, leg, at=(x, height))
        limits = {"lower": -rng.uniform(0.2, 0.9), "upper": rng.uniform(0.2, 0.9), "restitution": some_restitution(rng)}
        parts += [hip, mb.Stop(f"limit{k}", hip, **limits)]
        parts.append(mb.Contact(f"foot{k}", mb.ground, leg, corners=[(0, -0.3)], **law))
        bodies.append(leg)
    parts.append(mb.Contact("trunk floor", mb.ground, trunk, box=(0.3, 0.5), **law))
    return Scene(mb.Mechanism(bodies, parts, [DOWN]), 1.5)


def stack_of_boxes(rng: Random) -> Scene:
    """Two or three boxes, each on the one below it, laid down or dropped from a little above, with some speed."""
    bodies: list[mb.PlanarBody] = []
    contacts: list[mb.Contact] = []
    top, below = 0.0, mb.ground
    for k in range(rng.integers(2, 4)):
        a, b = 0.6 - 0.15 * k, rng.uniform(0.15, 0.3)
        gap = float(rng.choice([0, rng.uniform(0.01, 0.05)]))
        start = {"position": (rng.uniform(-0.05, 0.05), top + gap + b / 2), "velocity": (rng.uniform(-0.5, 0.5), 0)}
        box = new_box(f"box{k}", (a, b), **start)
        law = {"friction": rng.uniform(0.2, 0.8), "restitution": float(rng.choice([0, 0, 0.2]))}
        surface = {"normal": (0, 1), "at": (0, top)}
        contacts.append(
            mb.Contact(f"under{k}", below, box, corners=[(-a / 2, -b / 2), (a / 2, -b / 2)], **surface, **law)
        )
        bodies.append(box)
        top, below = top + gap + b, box
    return Scene(mb.Mechanism(bodies, contacts, [DOWN]), 1.0)


def arm_with_limits(rng: Random) -> Scene:
    """Two to four links hang or fall in pins that rub, with limits at one or two of them."""
    n, length = rng.integers(2, 5), 0.4
    angles = np.cumsum(rng.uniform(-0.8, 0.8, n))
    rods, pins = rods_in_a_row(angles, [length] * n, (0, 0), (0, 0))
    pins = [mb.Revolute("pin0", mb.ground, rods[0], at=(0, 0)), *pins]
    mu, radius = rng.uniform(0.05, 0.3), rng.uniform(0.005, 0.03)
    rubs = [mb.JointFriction(f"rub{k}", pin, mu=mu, radius=radius) for k, pin in enumerate(pins)]
    stops = [
        mb.Stop(f"limit{k}", pins[k], lower=-rng.uniform(0.1, 1), upper=rng.uniform(0.1, 1), restitution=bounce)
        for k, bounce in zip(rng.permutation(n)[: rng.integers(1, 3)], rng.choice([0, 0, 0.3], 2), strict=False)
    ]
    return Scene(mb.Mechanism(rods, [*pins, *stops], [DOWN, *rubs]), 1.5)


def cart_on_a_slope(rng: Random) -> Scene:
    """A cart with a pendulum slides down a slope on two runners and hits a wall."""
    cart = mb.PlanarBody("cart", 2.0, 0.07, position=(0, 0.1), velocity=(rng.uniform(0, 1), 0))
    spin = rng.uniform(-1, 1)
    bob = mb.PlanarBody("bob", 0.5, 0.01, position=(0, 0.4), velocity=(cart.velocity[0] - 0.15 * spin, 0), spin=spin)
    pin = mb.Revolute("pin", cart, bob, at=(0, 0.15))
    runners = mb.Contact("runners", mb.ground, cart, normal=(0, 1), corners=[(-0.3, -0.1), (0.3, -0.1)],
                         friction=rng.uniform(0, 0.3))  # fmt: skip
    wall = mb.Contact("wall", mb.ground, cart, normal=(-1, 0), at=(rng.uniform(0.6, 1.2), 0), corners=[(0.3, 0.1)],
                      friction=rng.uniform(0, 0.3), restitution=rng.uniform(0, 0.6))  # fmt: skip
    slope = down_a_slope(rng.uniform(0.3, 0.6))
    return Scene(mb.Mechanism([cart, bob], [pin, runners, wall], [slope]), 1.5)


def blocks_on_a_belt(rng: Random) -> Scene:
    """One to three blocks on a belt, with springs between them and to a wall, stick and slip."""
    n = rng.integers(1, 4)
    xs, ys = (zw.coordinates(" ".join(f"{name}{k}" for k in range(n)) + " end")[:n] for name in "xy")
    kinetic = sum(dot(q) ** 2 for q in (*xs, *ys)) / 2
    springs = sum(rng.uniform(5, 40) * (x - before) ** 2 / 2 for x, before in zip(xs, (0, *xs), strict=False))
    speed, rest = rng.uniform(0.1, 0.5), rng.uniform(0.4, 0.7)
    belt = [
        zw.Constraint(y >= 0, f"belt{k}", friction=(rest, rest * rng.uniform(0.4, 1)), slip=dot(x) - speed)
        for k, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]
    system = zw.System((*xs, *ys), kinetic=kinetic, potential=springs + G * sum(ys), constraints=belt)
    start = dict.fromkeys((*xs, *ys, *map(dot, (*xs, *ys))), 0.0) | {dot(x): rng.uniform(-1, 1) for x in xs}
    return Scene(system, 3.0, start=start)


def rod_into_a_corner(rng: Random) -> Scene:
    """A rod is thrown into the corner of a rough floor and a rough wall, or leans there."""
    length, lean = rng.uniform(0.6, 1.2), rng.uniform(0.3, 1.3)
    off = rng.choice([0, 1]) * rng.uniform(0.01, 0.4, 2)
    middle = length / 2 * np.array([np.cos(lean), np.sin(lean)]) + off
    thrown = {"velocity": tuple(rng.uniform(-1.5, 0.5, 2)), "spin": rng.uniform(-2, 2)} if off.any() else {}
    rod = new_rod("rod", length, middle, np.pi - lean, **thrown)  # its own x axis points up the wall
    ends = [(-length / 2, 0), (length / 2, 0)]
    floor, wall = (
        mb.Contact(name, mb.ground, rod, normal=n, corners=ends, friction=rng.uniform(0, 0.7),
                   restitution=some_restitution(rng))
        for name, n in (("floor", (0, 1)), ("wall", (1, 0)))
    )  # fmt: skip
    return Scene(mb.Mechanism([rod], [floor, wall], [DOWN]), 1.2)


def in_a_groove(rng: Random) -> Scene:
    """A disc or a box falls into a rough groove."""
    slopes, mu, round_one = rng.uniform(0.3, 1.2, 2), rng.uniform(0.05, 0.9), rng.random() < 0.5
    start = {"velocity": (rng.uniform(-0.5, 0.5), 0), "spin": rng.uniform(-5, 5)}
    if round_one:
        body, touches = mb.PlanarBody("disc", 1.0, 0.005, position=(0, 0.6), **start), {"radius": 0.1}
    else:
        edges = tuple(rng.uniform(0.15, 0.3, 2))
        body, touches = new_box("box", edges, position=(0, 0.9), angle=rng.uniform(-1, 1), **start), {"box": edges}
    walls = [
        mb.Contact(name, mb.ground, body, normal=(side * np.sin(a), np.cos(a)), friction=mu, **touches)
        for name, side, a in zip(("left", "right"), (1, -1), slopes, strict=True)
    ]
    return Scene(mb.Mechanism([body], walls, [DOWN]), 1.5, size=0.2)
