"""Contacts: what impacts, modes and masked rows cost.

A ball that bounces, elastic and not, and with friction; a double pendulum against a wall and a block on a belt, whose
transitions are decided one by one; blocks side by side, and chains, stacks and troughs with many contacts that are
coupled by friction; accelerations with ten contacts beside the same rows as equalities; kernels that are compiled over
a motion through many modes. Times are of the processor: a busy machine troubles them less.

    python benchmarks/contact.py                   everything but what is large
    python benchmarks/contact.py apart 300 1000    blocks side by side, so many of them
    python benchmarks/contact.py coupled 10 50     chains, stacks and troughs with so many contacts, or some more
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.engines.native import engine
from zwang.engines.native.engine import optimised
from zwang.engines.task import altered
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import basis_at, start_of

ROUNDS, G = 7, 9.81
y = zw.coordinates("y")


APART, COUPLED = (1, 10, 100), (10,)


def main() -> None:
    words, counts = sys.argv[1:2], tuple(map(int, sys.argv[2:]))
    if words in ([], ["motions"]):
        motions()
    if words in ([], ["apart"]):
        side_by_side(counts or APART)
    if words in ([], ["coupled"]):
        together(counts or COUPLED)


def motions() -> None:
    print("motions, everything included, after a first one has compiled them\n")
    print(f"{'':44}{'transitions':>12}{'ms':>10}{'µs each':>10}")
    told("a ball, elastic, 1,000 impacts", ball(1), 903.5, samples=2)
    told("the same, impacts one by one", ball(1), 903.5, samples=2, method="lsoda", tol=1e-9)
    told("a ball with restitution 0.8, to its rest", ball(0.8), 5.0, samples=2)
    told("a ball that rubs, restitution 0.8, to its rest", rough_ball(), 5.0, samples=2)
    told("a double pendulum against a wall", pendulum(), 10.0, samples=2)
    told("a block that sticks and slides on a belt", belt(), 60.0, samples=2)
    masked()
    kernels()


def ball(restitution: float) -> tuple[zw.System, dict[Any, float]]:
    """A ball above a floor."""
    floor = zw.Constraint(y >= 0, "floor", restitution=restitution)
    return zw.System((y,), kinetic=zw.dot(y) ** 2 / 2, potential=G * y, constraints=[floor]), {y: 1, zw.dot(y): 0}


def rough_ball() -> tuple[zw.System, dict[Any, float]]:
    """A point that bounces along a rough floor, slower with each impact."""
    x = zw.coordinates("x")
    floor = zw.Constraint(y >= 0, "floor", restitution=0.8, friction=0.3, slip=zw.dot(x))
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    start = {x: 0, y: 1, zw.dot(x): 20, zw.dot(y): 0}
    return zw.System((x, y), kinetic=kinetic, potential=G * y, constraints=[floor]), start


def pendulum() -> tuple[zw.System, dict[Any, Any]]:
    """Two point masses on rods, and a wall on the left."""
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    wall = zw.Constraint(x2 >= -0.2, "wall", restitution=0.8)
    rods = [zw.Constraint(x1**2 + y1**2 - 1, "upper"), zw.Constraint((x2 - x1) ** 2 + (y2 - y1) ** 2 - 1, "lower")]
    kinetic = sp.Add(*[zw.dot(c) ** 2 for c in q]) / 2
    s, c = sp.sin, sp.cos
    start = {x1: s(1.0), y1: -c(1.0), x2: s(1.0) + s(0.6), y2: -c(1.0) - c(0.6)} | {zw.dot(z): 0 for z in q}
    return zw.System(q, kinetic=kinetic, potential=G * (y1 + y2), constraints=[*rods, wall]), start


def belt() -> tuple[zw.System, dict[Any, float]]:
    """A block on a spring and on a belt."""
    a, b = zw.coordinates("a b")
    rule = zw.Constraint(b >= 0, "belt", friction=(1.0, 0.5), slip=zw.dot(a) - 0.1)
    kinetic = (zw.dot(a) ** 2 + zw.dot(b) ** 2) / 2
    system = zw.System((a, b), kinetic=kinetic, potential=a**2 / 2 + b, constraints=[rule])
    return system, {a: 0, b: 0, zw.dot(a): 0.1, zw.dot(b): 0}


def told(title: str, given: tuple[zw.System, dict[Any, Any]], until: float, **options: Any) -> None:
    """The shortest time of a motion, and of a transition of it."""
    system, start = given
    motion = zw.simulate(system, start, until=until, progress=False, **options)
    seconds = quickest(lambda: zw.simulate(system, start, until=until, progress=False, **options), 1)
    count = motion.sizes["transition"]
    print(f"{title:44}{count:12,}{1e3 * seconds:10.1f}{1e6 * seconds / count:10.1f}")


def side_by_side(counts: tuple[int, ...]) -> None:
    """What one transition costs among so many contacts that have nothing to do with each other."""
    print("\nblocks on a rough floor, each by itself: one after the other breaks loose, or lands\n")
    print(f"{'':24}{'blocks':>8}{'transitions':>12}{'s':>9}{'ms each':>10}{'compiling, s':>14}")
    for name, falls in (("pulled ever harder", False), ("dropped", True)):
        for count in counts:
            system, start = blocks(count, falls)
            row(f"{name:24}{count:8,}", lambda system=system, start=start: zw.simulate(
                system, start, until=1.0, samples=2, progress=False, throw=False, tol=1e-9))  # fmt: skip


def blocks(count: int, falls: bool) -> tuple[zw.System, dict[Any, float]]:
    """Blocks that are pulled until ten of them slide, or that fall from heights of their own until ten have landed."""
    xs, ys = ([zw.coordinates(f"{axis}{k}") for k in range(count)] for axis in "xy")
    floors = [
        zw.Constraint(b >= 0, f"floor{k}", friction=0.3, slip=zw.dot(a))
        for k, (a, b) in enumerate(zip(xs, ys, strict=True))
    ]
    heights = [(0.1 + 0.01 * k if k < 10 else 6.0 + k) if falls else 0.0 for k in range(count)]
    pulls = {a: 0.3 * G * zw.t * (2 - 0.1 * k if k < 10 else 0.5) for k, a in enumerate(xs)} if not falls else {}
    kinetic = sp.Add(*[zw.dot(c) ** 2 for c in (*xs, *ys)]) / 2
    start = dict.fromkeys((*xs, *ys, *(zw.dot(c) for c in (*xs, *ys))), 0.0) | dict(zip(ys, heights, strict=True))
    return zw.System((*xs, *ys), kinetic=kinetic, potential=G * sp.Add(*ys), forces=pulls, constraints=floors), start


def together(counts: tuple[int, ...]) -> None:
    """What one transition costs where contacts are coupled by friction."""
    print("\nby events, with friction, everything coupled\n")
    print(f"{'':24}{'contacts':>8}{'transitions':>12}{'s':>9}{'ms each':>10}{'compiling, s':>14}")
    for name, made, until in (
        ("chain of rods", rods, 1.0),
        ("stack of boxes", stack, 0.5),
        ("trough of discs", trough, 0.6),
    ):
        for count in counts:
            scene = made(count)
            contacts = sum(c.one_sided for c in scene.system.constraints)
            row(f"{name:24}{contacts:8,}", lambda scene=scene, until=until: zw.simulate(
                scene, until=until, samples=2, progress=False, throw=False, tol=1e-9))  # fmt: skip


def row(words: str, run: Callable[[], Any]) -> None:
    """The time of a motion and of a transition of it, when everything is compiled; and how it ended, if early."""
    began = time.process_time()
    motion = run()
    first = time.process_time() - began
    began = time.process_time()
    run()
    seconds, count = time.process_time() - began, motion.sizes["transition"]
    ended = "" if motion.attrs["status"] == "finished" else f"  {motion.attrs['status']}"
    print(
        f"{words}{count:12,}{seconds:9.2f}{1e3 * seconds / max(count, 1):10.2f}{max(first - seconds, 0):14.1f}{ended}",
        flush=True,
    )


def rods(contacts: int) -> mb.Mechanism:
    """A chain of rods, pinned to each other, with a zigzag, that falls on a rough floor with all its ends."""
    count, length = contacts - 1, 0.4
    bodies: list[mb.PlanarBody] = []
    parts: list[Any] = []
    law = {"normal": (0, 1), "friction": 0.4}
    at = np.array([0.0, 0.05])
    for k in range(count):
        angle = 0.2 * (-1) ** k * (1 + 0.1 * np.sin(k))
        way = length * np.array([np.cos(angle), np.sin(angle)])
        rod = mb.PlanarBody(f"rod{k}", 1, length**2 / 12, position=tuple(at + way / 2), angle=angle, velocity=(0.5, 0))
        if bodies:
            parts.append(mb.Revolute(f"pin{k}", bodies[-1], rod, at=tuple(at)))
        bodies.append(rod)
        at = at + way
        parts.append(mb.Contact(f"end{k}", mb.ground, rod, corners=[(length / 2, 0)], **law))
    parts.append(mb.Contact("begin", mb.ground, bodies[0], corners=[(-length / 2, 0)], **law))
    return mb.Mechanism(bodies, parts, [mb.Gravity((0, -G))])


def stack(contacts: int) -> mb.Mechanism:
    """Boxes upon each other on a rough floor, each with two corners on the one below, that are pushed sideways."""
    bodies: list[mb.PlanarBody] = []
    parts: list[Any] = []
    below: Any = mb.ground
    for k in range(contacts // 2):
        box = mb.PlanarBody(
            f"box{k}", 1, 0.03, position=(0.005 * np.sin(k), 0.2 * k + 0.1), velocity=(0.1 + 0.02 * k, 0)
        )
        corners = [(-0.25, -0.1), (0.25, -0.1)]
        parts.append(mb.Contact(f"under{k}", below, box, normal=(0, 1), at=(0, 0.2 * k), corners=corners, friction=0.5))
        bodies.append(box)
        below = box
    return mb.Mechanism(bodies, parts, [mb.Gravity((0, -G))])


def trough(contacts: int) -> mb.Mechanism:
    """Discs in pairs, one pair above the other, that fall between two rough walls; neighbours can meet."""
    count, r = max(2, contacts // 4), 0.1
    law = {"friction": 0.3}
    bodies: list[mb.PlanarBody] = []
    parts: list[Any] = []
    for k in range(count):
        level, side = divmod(k, 2)
        at = ((2 * side - 1) * (0.105 + 0.002 * (level % 3)), 0.32 + 0.23 * level + 0.05 * side)
        disc = mb.PlanarBody(f"disc{k}", 1, r * r / 2, position=at)
        for name, way in (("left", 1), ("right", -1)):
            wall = {"normal": (way * np.sin(0.6), np.cos(0.6)), "at": (-0.15 * way, 0)}
            parts.append(mb.Contact(f"{name}{k}", mb.ground, disc, radius=r, **wall, **law))
        for j in range(max(0, k - 3), k):
            parts.append(mb.Contact(f"pair{j} {k}", bodies[j], disc, radii=(r, r), **law))
        bodies.append(disc)
    return mb.Mechanism(bodies, parts, [mb.Gravity((0, -G))])


def chain(one_sided: bool, links: int = 10) -> tuple[zw.System, dict[Any, float]]:
    """A chain of points, each tied to the next by a rod, or by a rope that is taut."""
    xs, ys = (zw.coordinates(" ".join(f"{name}{i}" for i in range(links))) for name in "xy")
    rules, before = [], (sp.Integer(0), sp.Integer(0))
    for i, point in enumerate(zip(xs, ys, strict=True)):
        rest = 1 - sum((a - b) ** 2 for a, b in zip(point, before, strict=True))
        rules.append(zw.Constraint(rest / 2, f"rope {i}", one_sided=one_sided))
        before = point
    q = (*xs, *ys)
    kinetic = sp.Add(*[zw.dot(c) ** 2 for c in q]) / 2
    system = zw.System(q, kinetic=kinetic, potential=G * sp.Add(*ys), constraints=rules)
    start = dict.fromkeys((*q, *(zw.dot(c) for c in q)), 0.0) | {c: -1.0 - i for i, c in enumerate(ys)}
    return system, start


def masked() -> None:
    """One acceleration with ten closed contacts, and with the same rows as equalities."""
    times = {}
    for one_sided in (False, True):
        system, given = chain(one_sided)
        start = start_of(system, given, 0.0, None)
        setup = prepare(system, start.values, RunOptions(1.0), contacts=True)
        if setup.contact is not None:
            k = len(setup.contact.rows)
            held = type(setup.contact)(setup.contact.rows, np.ones(k), np.zeros(k), np.ones(k), np.zeros(k))
            setup = altered(setup, contact=held)
        program = setup.program("acceleration", basis_at(setup, start.state))
        kernel, inputs = optimised(program), setup.named(program, start.state)
        many = {name: np.tile(value, (1000, 1)) for name, value in inputs.items()}
        times[one_sided] = quickest(lambda kernel=kernel, many=many: kernel(**many), 20) / 1000
    print(f"\none acceleration, ten rows as equalities {1e6 * times[False]:8.3f} µs")
    print(
        f"                  ten contacts, closed   {1e6 * times[True]:8.3f} µs, {times[True] / times[False]:.2f} times"
    )


def kernels() -> None:
    """How many kernels a motion through many modes has compiled."""
    a, b = q = zw.coordinates("a b")
    walls = {"left": a + 1, "right": 1 - a, "floor": b + 1, "ceiling": 1 - b}
    rules = [zw.Constraint(gap, name, one_sided=True) for name, gap in walls.items()]
    forces = {a: 3 * sp.cos(zw.t), b: 3 * sp.sin(zw.t)}
    kinetic = (zw.dot(a) ** 2 + zw.dot(b) ** 2) / 2
    system = zw.System(q, kinetic=kinetic, forces=forces, constraints=rules)
    before = len(engine._COMPILED)
    motion = zw.simulate(system, dict.fromkeys((*q, *(zw.dot(c) for c in q)), 0), until=60, progress=False)
    modes = len({tuple(row) for row in motion["mode"].values.tolist()})
    made = len(engine._COMPILED) - before
    print(f"\na motion through {modes} modes, {motion.sizes['transition']} transitions: {made} kernels compiled")


def quickest(call: Callable[[], Any], count: int) -> float:
    """The shortest time of a call."""
    call()
    best = np.inf
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(count):
            call()
        best = min(best, (time.process_time() - began) / count)
    return float(best)


if __name__ == "__main__":
    main()
