"""The problems as energies and constraints, for the tools that take equations: plain functions of an array module.

`m` is numpy, casadi or jax.numpy (anything with sin, cos and sqrt), coordinates and rates are sequences of scalars. A
tool derives M, Q, A and b from these by its own differentiation. What is looked at in the end is computed here too,
alike for all and outside their times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import andrews
from benchmarks.peers.linkage import linkage
from benchmarks.peers.points import Points
from benchmarks.peers.problem import Problem, written
from benchmarks.peers.vectors import Scalars, along, cross, inner, mix, total

Array = Any


def no_constraints(m: Any, q: Scalars) -> list[Any]:
    return []


@dataclass(frozen=True)
class Energies:
    """A mechanical system: T(q, v), V(q), φ(q) = 0, constant forces, a start and what is observed of q at the end."""

    kinetic: Callable[[Any, Scalars, Scalars], Any]
    potential: Callable[[Any, Scalars], Any]
    start: Array
    rates: Array
    observe: Callable[[Array], Array]
    constraints: Callable[[Any, Scalars], list[Any]] = no_constraints
    force: Array = None
    """The constant generalised force, where there is one: energy is not conserved then."""
    damping: float = 0.0
    """A force against every velocity: so many times it."""
    redundant: bool = False
    """Whether some constraints follow from the others, always or at times."""

    @property
    def state(self) -> Array:
        return np.concatenate([self.start, self.rates])

    def drift(self, q: Array) -> float:
        """The largest constraint that is left; NaN without constraints."""
        return float(np.abs(self.constraints(np, q)).max()) if self.constraints is not no_constraints else float("nan")

    def energy_error(self, q: Array, v: Array) -> float:
        """The change of energy since the start; NaN where a force drives."""
        if self.force is not None or self.damping:
            return float("nan")
        now, then = (self.kinetic(np, *at) + self.potential(np, at[0]) for at in ((q, v), (self.start, self.rates)))
        return float(abs(now - then))


def energies(problem: Problem) -> Energies:
    """The problem's energies; the disc and Appell's particle are given by their equations instead."""
    return written(BUILD, problem, "given by its equations")(problem)


def chain(problem: Problem) -> Energies:
    """Point masses in Cartesian coordinates, rods as constraints."""
    g, angles = problem.data["g"], np.atleast_2d(problem.data["angles"])[0]
    masses = len(angles)

    def rods(m: Any, q: Scalars) -> list[Any]:
        before = [0.0, 0.0, *(q[i] for i in range(2 * masses - 2))]
        return [
            ((q[i] - before[i]) ** 2 + (q[i + 1] - before[i + 1]) ** 2 - 1) / 2 for i in range(0, 2 * masses, 2)
        ]  # fmt: skip

    return Energies(
        kinetic=lambda m, q, v: total(v[i] ** 2 for i in range(2 * masses)) / 2,
        potential=lambda m, q: g * total(q[2 * i + 1] for i in range(masses)),
        start=places(angles),
        rates=np.zeros(2 * masses),
        observe=lambda q: watched(problem, q),
        constraints=rods,
    )


def chain_angles(problem: Problem) -> Energies:
    """The same in the angles of the rods to the horizontal: no constraints, a full mass matrix."""
    g, angles = problem.data["g"], np.atleast_2d(problem.data["angles"])[0]
    masses = len(angles)

    def kinetic(m: Any, q: Scalars, v: Scalars) -> Any:
        dx, dy, sum_ = 0.0, 0.0, 0.0
        for i in range(masses):
            dx, dy = dx - m.sin(q[i]) * v[i], dy + m.cos(q[i]) * v[i]
            sum_ = sum_ + (dx * dx + dy * dy) / 2
        return sum_

    return Energies(
        kinetic=kinetic,
        potential=lambda m, q: g * total((masses - i) * m.sin(q[i]) for i in range(masses)),
        start=np.array(angles),
        rates=np.zeros(masses),
        observe=lambda q: watched(problem, places(q)),
    )


def places(angles: Array) -> Array:
    """(..., 2N) the masses of chains from the angles of their rods."""
    ends = np.cumsum(np.stack([np.cos(angles), np.sin(angles)], axis=-1), axis=-2)
    return ends.reshape(*ends.shape[:-2], -1)


def watched(problem: Problem, place: Array) -> Array:
    """What is observed of the masses' coordinates, those of one chain or of many."""
    if problem.name == "ensemble":
        return place[..., -2:]
    if problem.name == "triple_pendulum":
        return place
    return np.concatenate([place[2 * k - 2 : 2 * k] for k in problem.data["seen"]])


def squeezer(problem: Problem) -> Energies:
    """Andrews' mechanism in its seven angles, with M as the test set gives it."""
    p = andrews.VALUES

    def kinetic(m: Any, q: Scalars, v: Scalars) -> Any:
        rr, da, zt, u, E, F = p["rr"], p["da"], p["zt"], p["u"], p["e"] - p["ea"], p["zf"] - p["fa"]
        first = p["m1"] * p["ra"] ** 2 + p["m2"] * (rr**2 - 2 * da * rr * m.cos(q[1]) + da**2) + p["I1"] + p["I2"]
        M12 = p["m2"] * (da**2 - da * rr * m.cos(q[1])) + p["I2"]
        M22 = p["m2"] * da**2 + p["I2"]
        M33 = p["m3"] * (p["sa"] ** 2 + p["sb"] ** 2) + p["I3"]
        M44 = p["m4"] * E**2 + p["I4"]
        M45 = p["m4"] * (E**2 + zt * E * m.sin(q[3])) + p["I4"]
        M55 = p["m4"] * (zt**2 + 2 * zt * E * m.sin(q[3]) + E**2)
        M55 = M55 + p["m5"] * (p["ta"] ** 2 + p["tb"] ** 2) + p["I4"] + p["I5"]
        M66 = p["m6"] * F**2 + p["I6"]
        M67 = p["m6"] * (F**2 - u * F * m.sin(q[5])) + p["I6"]
        M77 = p["m6"] * (F**2 - 2 * u * F * m.sin(q[5]) + u**2)
        M77 = M77 + p["m7"] * (p["ua"] ** 2 + p["ub"] ** 2) + p["I6"] + p["I7"]
        diagonal = (first, M22, M33, M44, M55, M66, M77)
        return (
            total(d * v[i] ** 2 for i, d in enumerate(diagonal)) / 2
            + M12 * v[0] * v[1]
            + M45 * v[3] * v[4]
            + (M67 * v[5] * v[6])
        )

    def potential(m: Any, q: Scalars) -> Any:
        dx = p["sd"] * m.cos(q[2]) + p["sc"] * m.sin(q[2]) + p["xb"] - p["xc"]
        dy = p["sd"] * m.sin(q[2]) - p["sc"] * m.cos(q[2]) + p["yb"] - p["yc"]
        return p["c0"] * (m.sqrt(dx**2 + dy**2) - p["l0"]) ** 2 / 2

    def loops(m: Any, q: Scalars) -> list[Any]:
        X = p["rr"] * m.cos(q[0]) - p["d"] * m.cos(q[0] + q[1])
        Y = p["rr"] * m.sin(q[0]) - p["d"] * m.sin(q[0] + q[1])
        return [
            X - p["ss"] * m.sin(q[2]) - p["xb"],
            Y + p["ss"] * m.cos(q[2]) - p["yb"],
            X - p["e"] * m.sin(q[3] + q[4]) - p["zt"] * m.cos(q[4]) - p["xa"],
            Y + p["e"] * m.cos(q[3] + q[4]) - p["zt"] * m.sin(q[4]) - p["ya"],
            X - p["zf"] * m.cos(q[5] + q[6]) - p["u"] * m.sin(q[6]) - p["xa"],
            Y - p["zf"] * m.sin(q[5] + q[6]) + p["u"] * m.cos(q[6]) - p["ya"],
        ]

    force = np.array([p["mom"], 0, 0, 0, 0, 0, 0])
    return Energies(kinetic, potential, np.array(andrews.START), np.zeros(7), np.asarray, loops, force)


def four_bar(problem: Problem) -> Energies:
    """Bars between points, in the coordinates of A and B: a constant mass matrix, three lengths."""
    d = problem.data
    ground, crank, coupler, rocker = d["lengths"]
    normal = [np.array([-np.sin(a), np.cos(a)]) for a in d["angles"]]
    rates = np.concatenate([crank * d["rates"][0] * normal[0], rocker * d["rates"][2] * normal[2]])
    return bars(d["g"], ground, (crank, coupler, rocker), np.concatenate([d["A"], d["B"]]), rates, np.asarray)


def four_bar_singular(problem: Problem) -> Energies:
    """The same with four equal lengths."""
    start, rates = np.array([0.0, 1.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    return bars(problem.data["g"], 1.0, (1.0, 1.0, 1.0), start, rates, lambda q: q[:2], redundant=True)


def bars(
    g: float,
    ground: float,
    lengths: Sequence[float],
    start: Array,
    rates: Array,
    observe: Callable[[Array], Array],
    redundant: bool = False,
) -> Energies:
    """Crank, coupler and rocker of 1 kg per metre; a bar between points has the mass matrix of a uniform bar."""

    def pairs(q: Scalars, end: float) -> tuple[tuple[float, Any, Any], ...]:
        crank, coupler, rocker = lengths
        O, C, A, B = (0.0, 0.0), (end, 0.0), (q[0], q[1]), (q[2], q[3])
        return (crank, O, A), (coupler, A, B), (rocker, C, B)

    return Energies(
        kinetic=lambda m, q, v: total(
            l / 6 * (p[i] ** 2 + p[i] * r[i] + r[i] ** 2) for l, p, r in pairs(v, 0.0) for i in (0, 1)
        ),
        potential=lambda m, q: g * total(l * (p[1] + r[1]) / 2 for l, p, r in pairs(q, ground)),
        start=start,
        rates=rates,
        observe=observe,
        constraints=lambda m, q: [((r[0] - p[0]) ** 2 + (r[1] - p[1]) ** 2 - l**2) / 2 for l, p, r in pairs(q, ground)],
        redundant=redundant,
    )


def spatial_loop(problem: Problem) -> Energies:
    """The Bennett linkage in three hinge angles, cut open at joint 4, whose five conditions close it; two suffice."""
    d = problem.data
    turns, axes = [bar["turn"] for bar in d["bars"]], d["axes"]
    twists = [0.0] + [float(np.arctan2(-(t.T @ a)[1], (t.T @ a)[2])) for t, a in zip(turns, axes[1:], strict=True)]
    lengths = [bar["length"] for bar in d["bars"]]
    normals = np.cross(axes[3], [1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    start, before = list[float](), np.eye(3)
    for twist, turn in zip(twists, turns, strict=False):
        c, s = np.cos(twist), np.sin(twist)
        own = (before @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])).T @ turn
        start.append(float(np.arctan2(own[1, 0], own[0, 0])))
        before = turn
    spins = [np.zeros(3), *(bar["omega"] for bar in d["bars"])]
    rates = [float((after - was) @ a) for was, after, a in zip(spins, spins[1:], axes, strict=False)]

    def frames(m: Any, q: Scalars) -> tuple[list[Any], Any]:
        """Direction and hinge axis of each bar, and the axis at the free end."""
        X, Y, Z, found = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), []
        for i in range(4):
            c, s = float(np.cos(twists[i])), float(np.sin(twists[i]))
            Y, Z = mix(c, Y, s, Z), mix(-s, Y, c, Z)
            if i == 3:
                return found, Z
            c, s = m.cos(q[i]), m.sin(q[i])
            X, Y = mix(c, X, s, Y), mix(-s, X, c, Y)
            found.append((X, Z))
        raise AssertionError

    def kinetic(m: Any, q: Scalars, v: Scalars) -> Any:
        at, spin, sum_ = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
        for length, rate, (X, Z) in zip(lengths, [v[i] for i in range(3)], frames(m, q)[0], strict=True):
            spin = mix(1.0, spin, rate, Z)
            swing = cross(spin, X)
            centre, along = mix(1.0, at, length / 2, swing), inner(spin, X)
            at = mix(1.0, at, length, swing)
            across = length**3 / 12 * (inner(spin, spin) - along**2)
            sum_ = sum_ + (length * inner(centre, centre) + across + d["own"] * along**2) / 2
        return sum_

    def potential(m: Any, q: Scalars) -> Any:
        height, sum_ = 0.0, 0.0
        for length, (X, _) in zip(lengths, frames(m, q)[0], strict=True):
            sum_ = sum_ + length * (height + length / 2 * X[2])
            height = height + length * X[2]
        return d["g"] * sum_

    def closing(m: Any, q: Scalars) -> list[Any]:
        found, axis = frames(m, q)
        end = [total(l * X[k] for l, (X, _) in zip(lengths, found, strict=True)) for k in range(3)]
        return [end[k] - d["points"][3][k] for k in range(3)] + [inner(axis, n) for n in normals]

    def observe(q: Array) -> Array:
        (first, _), (second, _), _ = frames(np, q)[0]
        P = lengths[0] * np.array(first)
        return np.concatenate([P, P + lengths[1] * np.array(second)])

    return Energies(kinetic, potential, np.array(start), np.array(rates), observe, closing, redundant=True)


def hinged(problem: Problem) -> Energies:
    """Bodies on hinges and slides in their joint coordinates; loops are closed by points."""
    parts = linkage(problem)

    def frames(m: Any, q: Scalars) -> list[tuple[Any, Any, Any, Any]]:
        """Axes and origin of every body."""
        found = list[tuple[Any, Any, Any, Any]]()
        for i, body in enumerate(parts.bodies):
            X, Y, Z, at = found[body.parent] if body.parent >= 0 else GROUND
            at = along(at, X, Y, Z, body.at)
            if body.turn is not None:
                X, Y, Z = (along(NOTHING, X, Y, Z, body.turn[:, k]) for k in range(3))
            if body.slides:
                at = mix(1.0, at, q[i], Z)
            else:
                c, s = m.cos(q[i]), m.sin(q[i])
                X, Y = mix(c, X, s, Y), mix(-s, X, c, Y)
            found.append((X, Y, Z, at))
        return found

    def kinetic(m: Any, q: Scalars, v: Scalars) -> Any:
        where, speeds, sum_ = frames(m, q), list[tuple[Any, Any]](), 0.0
        for i, body in enumerate(parts.bodies):
            X, Y, Z, at = where[i]
            spin, velocity = speeds[body.parent] if body.parent >= 0 else (NOTHING, NOTHING)
            before = where[body.parent][3] if body.parent >= 0 else NOTHING
            velocity = mix(1.0, velocity, 1.0, cross(spin, mix(1.0, at, -1.0, before)))
            if body.slides:
                velocity = mix(1.0, velocity, v[i], Z)
            else:
                spin = mix(1.0, spin, v[i], Z)
            speeds.append((spin, velocity))
            if body.mass:
                moving = mix(1.0, velocity, 1.0, cross(spin, along(NOTHING, X, Y, Z, body.centre)))
                turning = total(j * inner(spin, axis) ** 2 for j, axis in zip(body.inertia, (X, Y, Z), strict=True))
                sum_ = sum_ + (body.mass * inner(moving, moving) + turning) / 2
        return sum_

    def potential(m: Any, q: Scalars) -> Any:
        sum_ = 0.0
        for i, (body, (X, Y, Z, at)) in enumerate(zip(parts.bodies, frames(m, q), strict=True)):
            if body.mass:
                sum_ = sum_ - body.mass * inner(parts.gravity, along(at, X, Y, Z, body.centre))
            if body.stiffness:
                sum_ = sum_ + body.stiffness * (q[i] - body.angle) ** 2 / 2
        return sum_

    def closing(m: Any, q: Scalars) -> list[Any]:
        where = frames(m, q)
        pairs = [
            [
                along(at, X, Y, Z, point)
                for (X, Y, Z, at), point in ((where[c.first], c.on_first), (where[c.second], c.on_second))
            ]
            for c in parts.closures
        ]
        return [a[k] - b[k] for a, b in pairs for k in range(3)]

    constraints = closing if parts.closures else no_constraints
    return Energies(kinetic, potential, parts.angles, parts.rates, parts.observe, constraints)


def point_masses(problem: Problem) -> Energies:
    """Points in Cartesian coordinates: links, or a sphere on which they repel each other."""
    points: Points = problem.data["points"]
    count = len(points.start)

    def place(q: Scalars, i: int) -> Scalars:
        return [q[3 * int(i) + k] for k in range(3)]

    def apart(q: Scalars, i: int, j: int) -> Any:
        rod = mix(1.0, place(q, i), -1.0, place(q, j))
        return inner(rod, rod)

    def potential(m: Any, q: Scalars) -> Any:
        if points.repel:
            return total(-m.log(apart(q, i, j)) / 2 for i in range(count) for j in range(i))
        return points.g * total(q[3 * i + 2] for i in range(count))

    def held(m: Any, q: Scalars) -> list[Any]:
        if points.repel:
            return [(inner(place(q, i), place(q, i)) - 1) / 2 for i in range(count)]
        return [(apart(q, i, j) - 1) / 2 for i, j in points.links]

    return Energies(
        kinetic=lambda m, q, v: total(v[i] ** 2 for i in range(3 * count)) / 2,
        potential=potential,
        start=points.start.ravel(),
        rates=points.velocity.ravel(),
        observe=lambda q: np.reshape(q, (-1, 3))[list(problem.data["seen"])].ravel(),
        constraints=held,
        damping=0.5 if points.repel else 0.0,
    )


NOTHING = (0.0, 0.0, 0.0)
GROUND = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), NOTHING)


BUILD: dict[str, Callable[[Problem], Energies]] = {
    "triple_pendulum": chain,
    "ensemble": chain,
    "chain": chain,
    "andrews": squeezer,
    "four_bar": four_bar,
    "four_bar_singular": four_bar_singular,
    "spatial_loop": spatial_loop,
    "joint_tree": hinged,
    "spatial_chain": hinged,
    "stewart": hinged,
    "net": point_masses,
    "fekete": point_masses,
}
