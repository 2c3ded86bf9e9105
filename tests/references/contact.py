"""The reference problems with contact as systems with their starts. Numbers and origins: contact.json."""

import json
from pathlib import Path

import sympy as sp

import zwang as zw
from zwang import dot

G = 9.81
PROBLEMS = {p["id"]: p for p in json.loads((Path(__file__).parent / "contact.json").read_text())["problems"]}


def expected(name):
    """The numbers of a problem."""
    return PROBLEMS[name]["expected"]


def points(names, constraints, potential=0, masses=None):
    """Coordinates of points of unit mass, or of given masses, with constraints by name."""
    q = zw.coordinates(names)
    q = q if isinstance(q, tuple) else (q,)
    masses = masses or [1] * len(q)
    kinetic = sp.Add(*[sp.Rational(1, 2) * m * dot(c) ** 2 for m, c in zip(masses, q, strict=True)])
    return zw.System(q, kinetic=kinetic, potential=potential, constraints=constraints)


def ball(restitution):
    """A ball above a floor."""
    y = zw.coordinates("y")
    floor = zw.Constraint(y >= 0, "floor", restitution=restitution)
    return points("y", [floor], G * y), {y: 1, dot(y): 0}


def vibrating_table():
    """A ball on a table that moves up and down; its start is right after an impact of the periodic motion."""
    y = zw.coordinates("y")
    w, phi = 20 * sp.pi, float(expected("b-vibrating-table")["phi"])
    a = 1.2 * G / w**2
    table = zw.Constraint(y - a * sp.sin(w * zw.t) >= 0, "table", restitution=sp.Rational(1, 2))
    t = phi / float(w)
    return points("y", [table], G * y), {y: float(a.evalf(30) * sp.sin(w * sp.Float(t, 30))), dot(y): 0.4905}, t


def chain(masses, restitution):
    """Three balls in a row that touch; the first moves towards the others."""
    a, b, c = q = zw.coordinates("a b c")
    gaps = [
        zw.Constraint(b - a - 1 >= 0, "first", restitution=restitution),
        zw.Constraint(c - b - 1 >= 0, "second", restitution=restitution),
    ]
    return points("a b c", gaps, masses=masses), dict(zip(q, (0, 1, 2), strict=True)) | {
        dot(a): 1,
        dot(b): 0,
        dot(c): 0,
    }


def falling_rod():
    """A rod whose lower tip meets a smooth floor."""
    x, y, theta = q = zw.coordinates("x y theta")
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(theta) ** 2 / 3) / 2
    tip = zw.Constraint(y - sp.sin(theta) >= 0, "tip", restitution=0.5)
    system = zw.System(q, kinetic=kinetic, potential=G * y, constraints=[tip])
    return system, {x: 0, y: 0.5, theta: sp.pi / 6, dot(x): 0, dot(y): -3, dot(theta): 0}


def double_pendulum():
    """Two point masses on rods, redundant coordinates, and a wall on the left."""
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    rods = [(x1**2 + y1**2 - 1) / 2, ((x2 - x1) ** 2 + (y2 - y1) ** 2 - 1) / 2]
    wall = zw.Constraint(x2 >= -0.2, "wall", restitution=0.8)
    named = [zw.Constraint(rod, name) for rod, name in zip(rods, ("upper", "lower"), strict=True)]
    s, c = sp.sin, sp.cos
    start = {x1: s(1.0), y1: -c(1.0), x2: s(1.0) + s(0.6), y2: -c(1.0) - c(0.6)} | {dot(z): 0 for z in q}
    return points("x1 y1 x2 y2", [*named, wall], G * (y1 + y2)), start


def leaving_a_sphere():
    """A particle on a smooth sphere, and a floor below."""
    x, y = zw.coordinates("x y")
    gaps = [zw.Constraint(sp.sqrt(x**2 + y**2) - 1 >= 0, "sphere"), zw.Constraint(y + 1 >= 0, "floor")]
    return points("x y", gaps, G * y), {x: sp.sin(0.1), y: sp.cos(0.1), dot(x): 0, dot(y): 0}


def loop():
    """A particle in a vertical loop that leaves it, flies, and lands."""
    x, y = zw.coordinates("x y")
    gap = zw.Constraint(1 - sp.sqrt(x**2 + y**2) >= 0, "loop")
    return points("x y", [gap], G * y), {x: 0, y: -1, dot(x): sp.sqrt(39.24), dot(y): 0}


def tether():
    """A mass on a slack rope, thrown from its anchor."""
    x, y = zw.coordinates("x y")
    gap = zw.Constraint((1 - x**2 - y**2) / 2 >= 0, "rope")
    return points("x y", [gap], G * y), {x: 0, y: 0, dot(x): 2, dot(y): 3}


def crank():
    """A slider-crank that throws a sprung follower."""
    phi, x, z = q = zw.coordinates("phi x z")
    r, L = 0.1, 0.25
    slider = x - r * sp.cos(phi) - sp.sqrt(L**2 - r**2 * sp.sin(phi) ** 2)
    kinetic = (0.02 * dot(phi) ** 2 + 0.5 * dot(x) ** 2 + 0.5 * dot(z) ** 2) / 2
    rules = [zw.Constraint(slider, "slider"), zw.Constraint(z - x >= 0, "follower")]
    system = zw.System(q, kinetic=kinetic, potential=60 * (z - 0.1) ** 2 / 2, constraints=rules)
    at = {phi: sp.Float(2, 30)}
    place = (x - slider).subs(at)
    speed = (x - slider).diff(phi).subs(at) * 30
    return system, {phi: 2, x: place, z: place, dot(phi): 30, dot(x): speed, dot(z): speed}
