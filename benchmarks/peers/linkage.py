"""The problems that are linkages, as the robotics tools take them: a tree of hinged bodies and the loops that close it.

The z axis of a body's frame is its hinge, at the frame's origin. Plane problems lie in the x-y plane. Angles are those
of the hinges, relative to the parent. Everything that is looked at in the end is computed from the angles, here, alike
for all tools and outside their times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import andrews
from benchmarks.peers.problem import Problem, written

Array = Any


@dataclass(frozen=True)
class Hinged:
    """A body on a hinge or a slide: `at` and `turn` place it in the parent's frame (parent −1: the ground)."""

    parent: int
    at: Array
    mass: float
    centre: Array
    inertia: Array
    """(3,) principal moments about the centre, along the body's axes."""
    angle: float
    rate: float = 0.0
    turn: Array = None
    slides: bool = False
    """Along z instead of turning about it; `angle` and `rate` are a length and a speed then."""
    stiffness: float = 0.0
    """Of a spring at the joint, without force at the start."""


@dataclass(frozen=True)
class Closure:
    """A hinge that closes a loop: the point on a body stays on that of another one (−1: the ground); `axes` in both
    frames if the hinge's axis is not z in both (a plane problem keeps the axes parallel by itself)."""

    first: int
    on_first: Array
    second: int
    on_second: Array
    axes: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Spring:
    """A linear spring from a point on a body to a point of the ground."""

    body: int
    on_body: Array
    on_ground: Array
    stiffness: float
    length: float

    def force(self, point: Array) -> Array:
        """On the body, when its point is there."""
        reach = self.on_ground - point
        size = np.sqrt(reach @ reach)
        return self.stiffness * (size - self.length) / size * reach


@dataclass(frozen=True)
class Linkage:
    """Bodies (parents first), loops, gravity, and what is observed, a function of the angles."""

    bodies: tuple[Hinged, ...]
    closures: tuple[Closure, ...]
    gravity: Array
    observe: Callable[[Array], Array]
    spring: Spring | None = None
    torque: float = 0.0
    """On the first hinge, constant."""

    @property
    def angles(self) -> Array:
        return np.array([b.angle for b in self.bodies])

    @property
    def rates(self) -> Array:
        return np.array([b.rate for b in self.bodies])

    def drift(self, angles: Array) -> float:
        """The largest gap of a loop, in metres; NaN without loops."""
        where = poses(self, angles)
        gaps = [
            np.abs(place(where, c.first, c.on_first) - place(where, c.second, c.on_second)).max() for c in self.closures
        ]
        return float(max(gaps, default=np.nan))

    def energy(self, angles: Array, rates: Array) -> float:
        """Kinetic energy and that of gravity; NaN where a motor drives."""
        if self.torque:
            return float("nan")
        total, where, speeds = 0.0, poses(self, angles), list[tuple[Array, Array]]()
        for i, body in enumerate(self.bodies):
            turn, at = where[i]
            spin, velocity = speeds[body.parent] if body.parent >= 0 else (np.zeros(3), np.zeros(3))
            velocity = velocity + np.cross(spin, at - (where[body.parent][1] if body.parent >= 0 else 0))
            if body.slides:
                velocity = velocity + rates[i] * turn[:, 2]
            else:
                spin = spin + rates[i] * turn[:, 2]
            speeds.append((spin, velocity))
            arm, own = turn @ body.centre, turn.T @ spin
            moving = velocity + np.cross(spin, arm)
            total += body.mass * (moving @ moving / 2 - self.gravity @ (at + arm)) + own @ (body.inertia * own) / 2
            total += body.stiffness * (angles[i] - body.angle) ** 2 / 2
        return float(total)

    def energy_error(self, angles: Array, rates: Array) -> float:
        """The change of energy since the start."""
        return abs(self.energy(angles, rates) - self.energy(self.angles, self.rates))


def poses(linkage: Linkage, angles: Array) -> list[tuple[Array, Array]]:
    """Rotation and origin of every body."""
    where = list[tuple[Array, Array]]()
    for body, angle in zip(linkage.bodies, angles, strict=True):
        turn, at = where[body.parent] if body.parent >= 0 else (np.eye(3), np.zeros(3))
        c, s = np.cos(angle), np.sin(angle)
        hinge = turn if body.turn is None else turn @ body.turn
        if body.slides:
            where.append((hinge, at + turn @ body.at + angle * hinge[:, 2]))
        else:
            where.append((hinge @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), at + turn @ body.at))
    return where


def place(where: list[tuple[Array, Array]], body: int, point: Array) -> Array:
    """A point of a body, or of the ground, in the world."""
    return np.asarray(point) if body < 0 else where[body][1] + where[body][0] @ point


def linkage(problem: Problem) -> Linkage:
    """The linkage of a problem; a reason for a problem that is none."""
    return written(BUILD, problem, "a problem of points, not of bodies on hinges")(problem)


def hinged(problem: Problem) -> Linkage:
    """Whatever is given as bodies on hinges: looked at are points of bodies, in the world."""
    d = problem.data

    def observe(angles: Array) -> Array:
        where = poses(built, angles)
        return np.concatenate([place(where, body, point) for body, point in d["seen"]])

    built = Linkage(d["bodies"], d.get("closures", ()), np.array([0, 0, -d["g"]]), observe)
    return built


def chain(problem: Problem) -> Linkage:
    """Point masses at the ends of massless rods."""
    angles = np.atleast_2d(problem.data["angles"])[0]
    rod, bodies = np.array([1.0, 0, 0]), list[Hinged]()
    for i, angle in enumerate(np.diff(angles, prepend=0.0)):
        bodies.append(Hinged(i - 1, rod if i else np.zeros(3), 1.0, rod, np.zeros(3), float(angle)))
    gravity = np.array([0, -problem.data["g"], 0])
    return Linkage(tuple(bodies), (), gravity, lambda angles: seen(problem, ends(angles)))


def seen(problem: Problem, masses: Array) -> Array:
    """What is observed of a chain, from the places (N, 2) of its masses."""
    if problem.name.startswith("chain"):
        return np.concatenate([masses[k - 1] for k in problem.data["seen"]])
    return masses.ravel()


def ends(angles: Array) -> Array:
    """(..., N, 2) the masses of a chain from its hinge angles."""
    turned = np.cumsum(angles, axis=-1)
    return np.cumsum(np.stack([np.cos(turned), np.sin(turned)], axis=-1), axis=-2)


def hinge_angles(angles: Array) -> Array:
    """From angles to the horizontal to angles between links."""
    return np.diff(angles, axis=-1, prepend=0.0)


def bar(parent: int, at: Any, length: float, angle: float, rate: float) -> Hinged:
    """A uniform slender bar of 1 kg per metre, along x of its frame."""
    across = length**3 / 12
    return Hinged(parent, np.array(at, float), length, np.array([length / 2, 0, 0]), np.array([0, across, across]),
                  float(angle), float(rate))  # fmt: skip


def four_bar(problem: Problem) -> Linkage:
    """Crank and coupler in a row, the rocker beside them; the loop closes where coupler and rocker meet."""
    ground, *lengths = problem.data["lengths"]
    return three_bars(problem, ground, lengths, problem.data["angles"], problem.data["rates"])


def four_bar_singular(problem: Problem) -> Linkage:
    """The same with four equal lengths."""
    return three_bars(problem, 1.0, [1.0, 1.0, 1.0], [np.pi / 2, 0.0, np.pi / 2], [-1.0, 0.0, -1.0])


def three_bars(problem: Problem, ground: float, lengths: Any, angles: Any, rates: Any) -> Linkage:
    """Angles and rates are absolute here."""
    bodies = (
        bar(-1, (0, 0, 0), lengths[0], angles[0], rates[0]),
        bar(0, (lengths[0], 0, 0), lengths[1], angles[1] - angles[0], rates[1] - rates[0]),
        bar(-1, (ground, 0, 0), lengths[2], angles[2], rates[2]),
    )
    loop = Closure(1, np.array([lengths[1], 0, 0]), 2, np.array([lengths[2], 0, 0]))

    def observe(q: Array) -> Array:
        A = lengths[0] * np.array([np.cos(q[0]), np.sin(q[0])])
        B = np.array([ground, 0]) + lengths[2] * np.array([np.cos(q[2]), np.sin(q[2])])
        return np.concatenate([A, B]) if problem.name == "four_bar" else A

    return Linkage(bodies, (loop,), np.array([0, -problem.data["g"], 0]), observe)


def squeezer(problem: Problem) -> Linkage:
    """Andrews' mechanism: bodies K1, K2 | K3 | K5, K4 | K7, K6; K2, K3, K4 and K6 meet in one point."""
    v = andrews.VALUES
    beta, theta, gamma, phi, delta, omega, epsilon = andrews.START
    A, B = np.array([v["xa"], v["ya"], 0]), np.array([v["xb"], v["yb"], 0])

    def body(number: int, parent: int, at: Any, x: float, y: float, angle: float) -> Hinged:
        inertia = np.full(3, v[f"I{number}"])
        return Hinged(parent, np.array(at, float), v[f"m{number}"], np.array([x, y, 0]), inertia, float(angle))

    bodies = (
        body(1, -1, (0, 0, 0), v["ra"], 0, beta),
        body(2, 0, (v["rr"], 0, 0), -v["da"], 0, theta),
        body(3, -1, B, v["sa"], v["sb"], gamma),
        body(5, -1, A, v["ta"], v["tb"], delta),
        body(4, 3, (v["zt"], 0, 0), 0, v["ea"] - v["e"], phi),
        body(7, -1, A, v["ua"], v["ub"], epsilon),
        body(6, 5, (0, -v["u"], 0), v["zf"] - v["fa"], 0, omega),
    )
    end = np.array([-v["d"], 0, 0])
    loops = tuple(
        Closure(1, end, other, np.array(point))
        for other, point in ((2, (0, -v["ss"], 0)), (4, (0, -v["e"], 0)), (6, (v["zf"], 0, 0)))
    )
    spring = Spring(2, np.array([v["sd"], -v["sc"], 0]), np.array([v["xc"], v["yc"], 0]), v["c0"], v["l0"])
    order = [0, 1, 2, 4, 3, 6, 5]  # β Θ γ Φ δ Ω ε
    return Linkage(bodies, loops, np.zeros(3), lambda q: np.asarray(q)[order], spring, v["mom"])


def spatial_loop(problem: Problem) -> Linkage:
    """The Bennett linkage: three bars in a row, every angle zero at the start, and a hinge back to the ground."""
    d = problem.data
    bodies, turn, spin = list[Hinged](), np.eye(3), np.zeros(3)
    for i, one in enumerate(d["bars"]):
        length = one["length"]
        inertia = np.array([d["own"], length**3 / 12, length**3 / 12])
        at = np.array([d["bars"][i - 1]["length"] if i else 0.0, 0, 0])
        rate = float((one["omega"] - spin) @ one["turn"][:, 2])
        centre = np.array([length / 2, 0, 0])
        bodies.append(Hinged(i - 1, at, length, centre, inertia, 0.0, rate, turn.T @ one["turn"]))
        turn, spin = one["turn"], one["omega"]
    end = np.array([d["bars"][2]["length"], 0, 0])
    loop = Closure(2, end, -1, d["points"][3], (turn.T @ d["axes"][3], d["axes"][3]))
    arm = np.array([d["bars"][0]["length"], 0, 0])

    def observe(q: Array) -> Array:
        where = poses(built, q)
        return np.concatenate([place(where, 0, arm), where[2][1]])

    built = Linkage(tuple(bodies), (loop,), np.array([0, 0, -d["g"]]), observe)
    return built


BUILD: dict[str, Callable[[Problem], Linkage]] = {
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
}
