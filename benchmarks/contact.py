"""Contacts: what impacts, modes and masked rows cost.

A ball that bounces, elastic and not; a double pendulum against a wall and a block on a belt, whose transitions are
decided one by one; accelerations with ten contacts beside the same rows as equalities; kernels that are compiled over a
motion through many modes. Times are of the processor: a busy machine troubles them less.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

import zwang as zw
from zwang.engines.native import engine
from zwang.engines.native.engine import optimised
from zwang.engines.task import altered
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import basis_at, start_of

ROUNDS, G = 7, 9.81
y = zw.coordinates("y")


def main() -> None:
    print("motions, everything included, after a first one has compiled them\n")
    print(f"{'':44}{'transitions':>12}{'ms':>10}{'µs each':>10}")
    told("a ball, elastic, 1,000 impacts", ball(1), 903.5, samples=2)
    told("the same, impacts one by one", ball(1), 903.5, samples=2, method="lsoda", tol=1e-9)
    told("a ball with restitution 0.8, to its rest", ball(0.8), 5.0, samples=2)
    told("a double pendulum against a wall", pendulum(), 10.0, samples=2)
    told("a block that sticks and slides on a belt", belt(), 60.0, samples=2)
    masked()
    kernels()


def ball(restitution: float) -> tuple[zw.System, dict[Any, float]]:
    """A ball above a floor."""
    floor = zw.Constraint(y >= 0, "floor", restitution=restitution)
    return zw.System((y,), kinetic=zw.dot(y) ** 2 / 2, potential=G * y, constraints=[floor]), {y: 1, zw.dot(y): 0}


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
