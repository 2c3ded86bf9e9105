"""Piles: discs that turn, in a hollow in the plane; spheres that do not, in a box in space; a disc upon two others."""

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot


def discs(count: int, seed: int, restitution: float = 0.2, friction: float = 0.4):
    """Discs of different sizes that fall into a hollow between two walls: their system and their start.

    On a level floor nothing holds them: they roll on, or apart under what lies upon them, as slowly as one likes.
    """
    rng = np.random.default_rng(seed)
    r = rng.uniform(0.08, 0.12, count)
    wide = 0.18 * np.sqrt(count) + 0.12
    x, y, a = (zw.coordinates(" ".join(f"{name}{i}" for i in range(count))) for name in ("x", "y", "a"))
    x, y, a = (list(c) if count > 1 else [c] for c in (x, y, a))
    law = {"restitution": restitution, "friction": friction}
    kinetic, potential, constraints, start = 0, 0, [], {}
    for i in range(count):
        m, R = float(r[i] ** 2 * 100), float(r[i])
        kinetic += m * (dot(x[i]) ** 2 + dot(y[i]) ** 2) / 2 + m * R**2 * dot(a[i]) ** 2 / 4
        potential += 9.81 * m * y[i]
        constraints += [
            *slopes(x[i], y[i], a[i], R, i, law),
            zw.Constraint(x[i] + wide - R >= 0, f"left{i}", slip=dot(y[i]) - R * dot(a[i]), **law),
            zw.Constraint(wide - R - x[i] >= 0, f"right{i}", slip=dot(y[i]) + R * dot(a[i]), **law),
        ]
        for j in range(i):
            dx, dy, both = x[i] - x[j], y[i] - y[j], R + float(r[j])
            d = sp.sqrt(dx**2 + dy**2)
            slip = (
                (dx * (dot(y[i]) - dot(y[j])) - dy * (dot(x[i]) - dot(x[j]))) / d
                - R * dot(a[i])
                - float(r[j]) * dot(a[j])
            )
            constraints.append(zw.Constraint(d - both >= 0, f"pair{j}_{i}", slip=slip, **law))
    columns = max(1, int(2 * (wide - 0.12) / 0.26) + 1)
    for i in range(count):
        row, column = divmod(i, columns)
        start |= {
            x[i]: (column - (columns - 1) / 2) * 0.26 + rng.uniform(-0.005, 0.005),
            y[i]: 0.2 + 0.3 * wide + 0.26 * row + rng.uniform(-0.005, 0.005),
            a[i]: 0.0, dot(x[i]): rng.uniform(-1, 1), dot(y[i]): rng.uniform(-1, 1), dot(a[i]): rng.uniform(-5, 5),
        }  # fmt: skip
    rolling = {a[i]: -10 * float(r[i] ** 2) * dot(a[i]) for i in range(count)}  # without it, discs roll for ever
    forces = {"kinetic": kinetic, "potential": potential, "forces": rolling}
    return zw.System((*x, *y, *a), **forces, constraints=constraints), start


def slopes(x, y, a, R, i, law):
    """The two slopes of a hollow, as steep as 3 in 10."""
    c, s = 10 / float(np.sqrt(109)), 3 / float(np.sqrt(109))
    for name, side in (("descent", 1), ("ascent", -1)):
        slip = c * dot(x) - side * s * dot(y) + R * dot(a)
        yield zw.Constraint(c * y + side * s * x - R >= 0, f"{name}{i}", slip=slip, **law)


def spheres(count: int, seed: int, restitution: float = 0.2, friction: float = 0.4):
    """Spheres that do not turn and fall into a box, with friction in two directions."""
    rng = np.random.default_rng(seed)
    r = rng.uniform(0.08, 0.12, count)
    wide = 0.2 * count ** (1 / 3) + 0.05
    names = [zw.coordinates(" ".join(f"{name}{i}" for i in range(count))) for name in ("x", "y", "z")]
    x, y, z = (list(c) if count > 1 else [c] for c in names)
    law = {"restitution": restitution, "friction": friction}
    kinetic, potential, constraints, start = 0, 0, [], {}
    for i in range(count):
        m, R = float(r[i] ** 3 * 1000), float(r[i])
        p = (x[i], y[i], z[i])
        kinetic += m * sum(dot(c) ** 2 for c in p) / 2
        potential += 9.81 * m * z[i]
        constraints.append(zw.Constraint(z[i] - R >= 0, f"floor{i}", slip=(dot(x[i]), dot(y[i])), **law))
        for k, others in ((0, (1, 2)), (1, (0, 2))):
            slip = tuple(dot(p[o]) for o in others)
            constraints.append(zw.Constraint(p[k] + wide - R >= 0, f"low{k}_{i}", slip=slip, **law))
            constraints.append(zw.Constraint(wide - R - p[k] >= 0, f"high{k}_{i}", slip=slip, **law))
        for j in range(i):
            d = sp.Matrix([x[i] - x[j], y[i] - y[j], z[i] - z[j]])
            v = sp.Matrix([dot(x[i]) - dot(x[j]), dot(y[i]) - dot(y[j]), dot(z[i]) - dot(z[j])])
            length = sp.sqrt(d.dot(d))
            n = d / length
            aside = sp.Matrix([sp.Rational(3, 5), -sp.Rational(4, 5), 0]) if (i + j) % 2 else sp.Matrix([0, 0, 1])
            first = n.cross(aside)
            first = first / sp.sqrt(first.dot(first))
            slip = (v.dot(first), v.dot(n.cross(first)))
            constraints.append(zw.Constraint(length - (R + float(r[j])) >= 0, f"pair{j}_{i}", slip=slip, **law))
    side = max(1, int(2 * (wide - 0.12) / 0.26) + 1)
    for i in range(count):
        layer, rest = divmod(i, side * side)
        row, column = divmod(rest, side)
        at = ((column - (side - 1) / 2) * 0.26, (row - (side - 1) / 2) * 0.26, 0.2 + 0.26 * layer)
        for c, value in zip((x[i], y[i], z[i]), at, strict=True):
            start |= {c: value + rng.uniform(-0.005, 0.005), dot(c): rng.uniform(-1, 1)}
    return zw.System((*x, *y, *z), kinetic=kinetic, potential=potential, constraints=constraints), start


def pyramid(restitution: float, spread: float = 0.16):
    """A disc upon two others, which roll apart against a resistance: their system and their start."""
    radius, law = 0.1, {"restitution": restitution, "friction": 0.4}
    coordinates = zw.coordinates("x0 y0 a0 x1 y1 a1 x2 y2 a2")
    left, right, upper = coordinates[:3], coordinates[3:6], coordinates[6:]
    kinetic, potential, forces, constraints = 0, 0, {}, []
    for x, y, a in (left, right, upper):
        kinetic += (dot(x) ** 2 + dot(y) ** 2) / 2 + radius**2 * dot(a) ** 2 / 4
        potential += 9.81 * y
        forces[a] = -dot(a) / 10
    for k, (x, y, a) in enumerate((left, right)):
        dx, dy = upper[0] - x, upper[1] - y
        d = sp.sqrt(dx**2 + dy**2)
        around = (dx * (dot(upper[1]) - dot(y)) - dy * (dot(upper[0]) - dot(x))) / d
        constraints += [
            zw.Constraint(y - radius >= 0, f"floor{k}", slip=dot(x) + radius * dot(a), **law),
            zw.Constraint(d - 2 * radius >= 0, f"pair{k}", slip=around - radius * (dot(upper[2]) + dot(a)), **law),
        ]
    start = dict.fromkeys([*coordinates, *map(dot, coordinates)], 0.0)
    start |= {left[0]: -spread, right[0]: spread, left[1]: radius, right[1]: radius}
    start |= {upper[1]: radius + float(np.sqrt(4 * radius**2 - spread**2))}
    described = {"kinetic": kinetic, "potential": potential, "forces": forces}
    return zw.System(coordinates, **described, constraints=constraints), start


def many_spheres(count: int, radius: float = 0.1):
    """Equal spheres without friction that fall into a box, described by families: their system and their start."""
    rng, wide = np.random.default_rng(count), 2 * radius * count ** (1 / 3) + radius / 2
    q = zw.coordinates(" ".join(f"{c}{i}" for i in range(count) for c in "xyz"))
    a, b, c, d, e, f = zw.coordinates("a b c d e f")
    i, j = np.triu_indices(count, 1)
    bound = {
        s: [q[3 * k + axis] for k in which]
        for which, own in ((i, (a, b, c)), (j, (d, e, f)))
        for axis, s in enumerate(own)
    }
    level = [q[k] for k in range(3 * count) if k % 3 < 2]
    constraints = {
        "pair": zw.family(sp.sqrt((a - d) ** 2 + (b - e) ** 2 + (c - f) ** 2) - 2 * radius >= 0, bound),
        "floor": zw.family(a - radius >= 0, {a: list(q[2::3])}),
        "low": zw.family(a + wide - radius >= 0, {a: level}),
        "high": zw.family(wide - radius - a >= 0, {a: level}),
    }
    side = max(1, int(2 * (wide - 1.2 * radius) / (2.6 * radius)) + 1)
    start = {}
    for k in range(count):
        layer, rest = divmod(k, side * side)
        at = ((rest % side - (side - 1) / 2), (rest // side - (side - 1) / 2), layer + 0.8)
        for s, value in zip(q[3 * k : 3 * k + 3], at, strict=True):
            start |= {s: 2.6 * radius * value + rng.uniform(-0.005, 0.005), dot(s): rng.uniform(-1, 1)}
    energies = {
        "kinetic": zw.family(dot(a) ** 2 / 2, {a: list(q)}),
        "potential": zw.family(9.81 * a, {a: list(q[2::3])}),
    }
    return zw.System(q, **energies, constraints=constraints), start
