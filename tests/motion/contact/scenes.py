"""Scenes with rough contacts, drawn at random: what is in them is not known beforehand, what must hold is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

G = 9.81
x, y, z, angle = zw.coordinates("x y z theta")
u, w = zw.coordinates("u w")
spins = zw.coordinates("a b c")


@dataclass(frozen=True)
class Limit:
    """A one-sided constraint before it has a name: its gap, and its laws."""

    gap: sp.Expr
    friction: float
    restitution: float
    slip: Any

    def named(self, name: str) -> zw.Constraint:
        """The constraint."""
        law = {"friction": self.friction, "slip": self.slip} if self.friction else {}
        return zw.Constraint(self.gap, name, one_sided=True, restitution=self.restitution, **law)


@dataclass(frozen=True)
class Scene:
    """A system with contacts and its start."""

    coordinates: tuple[sp.Symbol, ...]
    kinetic: sp.Expr
    potential: sp.Expr
    start: Mapping[sp.Expr, float]
    limits: Mapping[str, Limit]
    until: float
    forces: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    equal: tuple[zw.Constraint, ...] = ()

    def system(self, limits: Mapping[str, Limit] | None = None) -> zw.System:
        """The system, with other limits if that is asked for."""
        rules = [limit.named(name) for name, limit in (limits or self.limits).items()]
        return zw.System(
            self.coordinates, kinetic=self.kinetic, potential=self.potential, forces=dict(self.forces),
            constraints=[*self.equal, *rules],
        )  # fmt: skip

    def run(self, limits: Mapping[str, Limit] | None = None, **options: Any) -> Any:
        """Its motion."""
        return zw.simulate(self.system(limits), dict(self.start), self.until, **options)

    def plastic(self) -> "Scene":
        """The same without restitution."""
        return replace(self, limits={name: replace(limit, restitution=0.0) for name, limit in self.limits.items()})


def at(q: tuple[sp.Symbol, ...], places: Any, speeds: Any) -> dict[sp.Expr, float]:
    """A start."""
    return dict(zip((*q, *map(dot, q)), map(float, (*places, *speeds)), strict=True))


def restitution(rng: np.random.Generator) -> float:
    """One of some."""
    return float(rng.choice([0, 0, 0.2, 0.5, 0.7]))


def box(seed: int) -> Scene:
    """A box that is thrown on a rough floor, with a law at each of its corners."""
    rng, s, c = np.random.default_rng(seed), sp.sin(angle), sp.cos(angle)
    b, h = rng.uniform(0.2, 0.6, 2)
    corners = {
        name: Limit(y + s * b * i + c * h * j, float(rng.uniform(0, 0.8)), restitution(rng),
                    dot(x + c * b * i - s * h * j))
        for name, (i, j) in zip("abcd", ((-1, -1), (1, -1), (1, 1), (-1, 1)), strict=True)
    }  # fmt: skip
    q = (x, y, angle)
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + (b * b + h * h) * dot(angle) ** 2 / 3) / 2
    start = at(q, (0, 0.9, rng.uniform(-1, 1)), (rng.uniform(-2, 2), 0, rng.uniform(-3, 3)))
    return Scene(q, kinetic, G * y, start, corners, 1.2)


def points(seed: int) -> Scene:
    """Two points between a rough floor, a rough slope and a wall, with a spring between them, that are shaken."""
    rng = np.random.default_rng(seed)
    m, n = rng.uniform(0.5, 2, 2)
    tilt = rng.uniform(0.1, 0.6)
    mu = rng.uniform(0.05, 0.7, 4)
    q, t = (x, y, u, w), zw.t
    slope = sp.Float(np.cos(tilt)) * w - sp.Float(np.sin(tilt)) * (u - 1)
    along = np.cos(tilt) * dot(u) + np.sin(tilt) * dot(w)
    limits = {
        "floor": Limit(y, mu[0], restitution(rng), dot(x)),
        "slope": Limit(slope, mu[1], restitution(rng), along),
        "wall": Limit(x + 1.5, mu[2], restitution(rng), dot(y)),
        "other": Limit(3 - u, mu[3], restitution(rng), dot(w)),
    }
    kinetic = (m * (dot(x) ** 2 + dot(y) ** 2) + n * (dot(u) ** 2 + dot(w) ** 2)) / 2
    spring = rng.uniform(2, 15) * ((u - x) ** 2 + (w - y) ** 2 - 1) ** 2 / 8
    shake = {x: rng.uniform(1, 6) * sp.sin(rng.uniform(1, 5) * t), u: rng.uniform(1, 6) * sp.cos(rng.uniform(1, 5) * t)}
    start = at(q, (0, rng.choice([0, 0.2]), 1.0, 0.3), (rng.uniform(-1, 1), 0, rng.uniform(-1, 1), 0))
    return Scene(q, kinetic, G * (m * y + n * w) + spring, start, limits, 2.0, shake)


def ladder(seed: int) -> Scene:
    """A ladder between a rough floor and a rough wall, in a heap of limits that it may fall on."""
    rng, s, c, q = np.random.default_rng(seed), sp.sin(angle), sp.cos(angle), (x, y, angle)
    mu = rng.uniform(0, 0.6, 3)
    limits = {
        "floor": Limit(y - s, mu[0], restitution(rng), dot(x - c)),
        "wall": Limit(-(x + c), mu[1], restitution(rng), dot(y + s)),
        "head": Limit(y + s, mu[2], restitution(rng), dot(x + c)),
    }
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(angle) ** 2 / 3) / 2
    lean, off = rng.uniform(0.3, 1.3), rng.choice([0, 0.05], 2)
    start = at(q, (-np.cos(lean) - off[0], np.sin(lean) + off[1], lean), (0, 0, 0))
    return Scene(q, kinetic, G * y, start, limits, 1.5)


def funnel(seed: int) -> Scene:
    """A point in space between rough planes, pulled to and fro."""
    rng, q, t = np.random.default_rng(seed), (x, y, z), zw.t
    place = sp.Matrix(q)
    turn = rng.uniform(0, 2 * np.pi)
    limits = {}
    for name, k in zip("pqr", range(3), strict=True):
        way, steep = turn + 2 * np.pi * k / 3 + rng.uniform(-0.3, 0.3), rng.uniform(0.2, 0.9)
        out = np.array([np.cos(way), np.sin(way), 0.0])
        n = np.cos(steep) * np.array([0, 0, 1.0]) - np.sin(steep) * out
        first = np.cos(steep) * out + np.sin(steep) * np.array([0, 0, 1.0])
        second = np.cross(n, first)
        slips = tuple(dot((sp.Matrix([list(map(sp.Float, d))]) * place)[0]) for d in (first, second))
        gap = (sp.Matrix([list(map(sp.Float, n))]) * place)[0] + rng.uniform(0, 0.1)
        limits[name] = Limit(gap, float(rng.uniform(0.05, 0.6)), restitution(rng), slips)
    pull = {e: rng.uniform(0, 4) * sp.sin(rng.uniform(1, 5) * t + rng.uniform(0, 6)) for e in (x, y)}
    start = at(q, (0, 0, 0.5), rng.uniform(-1, 1, 3))
    return Scene(q, (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2, G * z, start, limits, 2.0, pull)


def ball(seed: int) -> Scene:
    """A ball that spins between a rough floor and two rough walls; about fixed axes, rates do as coordinates."""
    rng, R, (a, b, c) = np.random.default_rng(seed), 0.5, spins
    q = (x, y, z, *spins)
    mu = rng.uniform(0.05, 0.5, 3)
    limits = {
        "floor": Limit(z - R, mu[0], restitution(rng), (dot(x) - R * dot(b), dot(y) + R * dot(a))),
        "east": Limit(1 - x - R, mu[1], restitution(rng), (dot(y) + R * dot(c), dot(z) - R * dot(b))),
        "north": Limit(1 - y - R, mu[2], restitution(rng), (dot(x) - R * dot(c), dot(z) + R * dot(a))),
    }
    turns = dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2 + 2 * R**2 / 5 * turns / 2
    start = at(q, (0, 0, rng.choice([0.5, 0.9]), 0, 0, 0), (*rng.uniform(0.3, 3, 2), 0, *rng.uniform(-6, 6, 3)))
    return Scene(q, kinetic, G * z, start, limits, 1.5)


PLANE: dict[str, Callable[[int], Scene]] = {"box": box, "points": points, "ladder": ladder}
SPACE: dict[str, Callable[[int], Scene]] = {"funnel": funnel, "ball": ball}
ALL = PLANE | SPACE


def shuffled(scene: Scene, seed: int) -> tuple[dict[str, Limit], dict[str, str]]:
    """The limits in another order and with other names, and the old names of the new ones."""
    rng, names = np.random.default_rng(seed), list(scene.limits)
    order = [names[i] for i in rng.permutation(len(names))]
    new = [f"{'zyxwvu'[i]}{i}" for i in rng.permutation(len(names))]
    return {n: scene.limits[o] for n, o in zip(new, order, strict=True)}, dict(zip(new, order, strict=True))


def doubled(scene: Scene) -> dict[str, Limit]:
    """The limits, each of them twice."""
    again = {f"{name} again": limit for name, limit in scene.limits.items()}
    return dict(scene.limits) | again


def collision(
    seed: int, contacts: int, rough: bool, space: bool = False
) -> tuple[zw.System, dict[sp.Expr, float], Any]:
    """Planes that all meet at once, in any coordinates: a random mass matrix, normals and slips, and M, n, μ, slips."""
    rng = np.random.default_rng(seed)
    n = contacts * (3 if space else 2) + 1
    q = zw.coordinates(" ".join(f"q{i}" for i in range(n)))
    root = rng.normal(size=(n, n)) / np.sqrt(n)
    M = root @ root.T + np.eye(n)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    normals = basis[:contacts] + 0.3 * rng.normal(size=(contacts, n)) / np.sqrt(n)
    slips = basis[contacts : contacts * (3 if space else 2)] + 0.2 * rng.normal(
        size=(contacts * (2 if space else 1), n)
    ) / np.sqrt(n)
    mu = rng.uniform(0.05, 0.5, contacts) if rough else np.zeros(contacts)
    kinetic = sum(sp.Float(M[i, j]) * dot(q[i]) * dot(q[j]) for i in range(n) for j in range(n)) / 2
    rules = []
    for k in range(contacts):
        rows = slips[2 * k : 2 * k + 2] if space else slips[k : k + 1]
        ways = tuple(sum(sp.Float(e) * dot(p) for e, p in zip(row, q, strict=True)) for row in rows)
        gap = sum(sp.Float(e) * p for e, p in zip(normals[k], q, strict=True))
        rules.append(Limit(gap, mu[k], 0.0, ways if space else ways[0]).named(f"c{k}"))
    v = rng.normal(size=n)
    v -= np.linalg.lstsq(normals, normals @ v + rng.uniform(0.1, 1, contacts), rcond=None)[0]
    system = zw.System(q, kinetic=kinetic, potential=0, constraints=rules)
    return system, at(q, np.zeros(n), v), (M, normals, mu, slips)
