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


def incline(mu, angle=sp.pi / 6):
    """A block on an incline; y is normal to it. It is pushed up."""
    x, y = zw.coordinates("x y")
    plane = zw.Constraint(y >= 0, "plane", friction=mu, slip=dot(x))
    potential = G * (sp.sin(angle) * x + sp.cos(angle) * y)
    return points("x y", [plane], potential), {x: 0, y: 0, dot(x): 2, dot(y): 0}


def belt(mu):
    """A block on a spring, pressed on a belt that moves; it sticks at first."""
    x, y = zw.coordinates("x y")
    pressed = zw.Constraint(y >= 0, "belt", friction=mu, slip=dot(x) - sp.Rational(1, 5))
    return points("x y", [pressed], x**2 / 2 + y), {x: 0, y: 0, dot(x): 0.2, dot(y): 0}


def billiard(speed, spin):
    """A ball of radius R on a table, with a speed and R times a spin."""
    x, y, turn = q = zw.coordinates("x y turn")
    R = 0.03
    table = zw.Constraint(y - R >= 0, "table", friction=0.2, slip=dot(x) - R * dot(turn))
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + sp.Rational(2, 5) * R**2 * dot(turn) ** 2) / 2
    system = zw.System(q, kinetic=kinetic, potential=G * y, constraints=[table])
    return system, {x: 0, y: R, turn: 0, dot(x): speed, dot(y): 0, dot(turn): spin / R}


def bowl():
    """A particle in a rough bowl, at rest on its slope."""
    x, y = zw.coordinates("x y")
    slip = (x * dot(y) - y * dot(x)) / sp.sqrt(x**2 + y**2)
    gap = zw.Constraint(1 - sp.sqrt(x**2 + y**2) >= 0, "bowl", friction=0.2, slip=slip)
    return points("x y", [gap], G * y), {x: sp.sin(-1.2), y: -sp.cos(-1.2), dot(x): 0, dot(y): 0}


def rocking_block():
    """A block on its left corner, which may rock to the right one; both stick as long as they can."""
    x, y, theta = q = zw.coordinates("x y theta")
    b, h = sp.Rational(1, 4), 1
    s, c = sp.sin(theta), sp.cos(theta)
    corners = {"left": (-b, -h), "right": (b, -h)}
    rules = []
    for name, (u, w) in corners.items():
        px, py = x + c * u - s * w, y + s * u + c * w
        rules.append(zw.Constraint(py, name, one_sided=True, friction=2, slip=dot(px)))
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + (b**2 + h**2) / 3 * dot(theta) ** 2) / 2
    system = zw.System(q, kinetic=kinetic, potential=G * y, constraints=rules)
    # theta < 0 would lift the left corner: with the pivot on the left corner the block leans to the left
    a = 0.1
    start = {x: sp.cos(a) * b - sp.sin(a) * h, y: sp.sin(a) * b + sp.cos(a) * h, theta: a}
    return system, start | {dot(z): 0 for z in q}


def painleve(mu, slip, spin):
    """A rod that slides on its tip, leaning over it."""
    x, y, theta = q = zw.coordinates("x y theta")
    px, py = x - sp.cos(theta), y - sp.sin(theta)
    tip = zw.Constraint(py, "tip", one_sided=True, friction=mu, slip=dot(px))
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(theta) ** 2 / 3) / 2
    system = zw.System(q, kinetic=kinetic, potential=G * y, constraints=[tip])
    a = sp.atan(2)
    # the tip has the velocity (slip, 0)
    start = {x: sp.cos(a), y: sp.sin(a), theta: a, dot(theta): spin}
    return system, start | {dot(x): slip - sp.sin(a) * spin, dot(y): sp.cos(a) * spin}


def woodpecker():
    """The toy near its limit cycle."""
    y, m, s = q = zw.coordinates("y phiM phiS")
    mM, JM, mS, JS = 0.0003, 5e-9, 0.0045, 7e-7
    r0, rM, hM, lM, lG, hS, lS, c = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201, 0.0056
    v, wm, ws = map(dot, q)
    kinetic = (
        (mM + mS) * v**2 / 2 + mS * v * (lM * wm + lG * ws) + (JM + mS * lM**2) * wm**2 / 2
        + mS * lM * lG * wm * ws + (JS + mS * lG**2) * ws**2 / 2
    )  # fmt: skip
    potential = (mM + mS) * G * y + mS * G * (lM * m + lG * s) + c * (m - s) ** 2 / 2
    sleeve = v + rM * wm
    rules = [
        zw.Constraint(lM + lG - lS - r0 - hS * s, "beak", one_sided=True, restitution=0.5, friction=0.3,
                      slip=v + lM * wm + (lG - lS) * ws),
        zw.Constraint(rM - r0 + hM * m, "lower", one_sided=True, friction=0.3, slip=sleeve),
        zw.Constraint(rM - r0 - hM * m, "upper", one_sided=True, friction=0.3, slip=sleeve),
    ]  # fmt: skip
    system = zw.System(q, kinetic=kinetic, potential=potential, constraints=rules)
    truth = expected("m-woodpecker")
    start = {y: 0, m: -(rM - r0) / hM, s: float(truth["phi_S_break"]), v: 0, wm: 0, ws: float(truth["omega_S_break"])}
    return system, start


def kane():
    """An impact with friction in which slip reverses, and Newton's law of restitution gains energy."""
    p, q = zw.coordinates("p q")
    a, b = 0.198, 0.518
    c = sp.cos(a - b) / 2
    gap, slip = sp.sin(a) * p + sp.sin(b) * q, sp.cos(a) * dot(p) + sp.cos(b) * dot(q)
    rule = zw.Constraint(gap >= 0, "end", restitution=0.858, friction=0.573, slip=slip)
    system = zw.System((p, q), mass=[[sp.Rational(4, 3), c], [c, sp.Rational(1, 3)]], constraints=[rule])
    return system, {p: 0, q: 0, dot(p): 0.612, dot(q): -2.131}


def turning_wire():
    """A bead between the two sides of a rough wire that turns."""
    r, angle = zw.coordinates("r angle")
    off = r * (angle - 2 * zw.t)
    sides = {"left": off, "right": -off}
    rules = [zw.Constraint(g, n, one_sided=True, friction=0.3, slip=dot(r)) for n, g in sides.items()]
    system = zw.System((r, angle), kinetic=(dot(r) ** 2 + r**2 * dot(angle) ** 2) / 2, constraints=rules)
    return system, {r: 0.1, angle: 0, dot(r): 0, dot(angle): 2}


def hoop():
    """A bead between the inside and the outside of a rough hoop, without weight."""
    x, y = zw.coordinates("x y")
    rho = sp.sqrt(x**2 + y**2)
    slip = (x * dot(y) - y * dot(x)) / rho
    sides = {"outside": 0.5 - rho, "inside": rho - 0.5}
    rules = [zw.Constraint(g, n, one_sided=True, friction=0.25, slip=slip) for n, g in sides.items()]
    return points("x y", rules), {x: 0.5, y: 0, dot(x): 0, dot(y): 2}


def cycloid():
    """A particle on the arch of a cycloid, in coordinates along and above it, on its way down from rest at the top."""
    f, d = zw.coordinates("f d")
    s, c = sp.sin(f / 2), sp.cos(f / 2)
    x, y = f - sp.sin(f) - d * c, 1 - sp.cos(f) + d * s  # the normal outwards is (−cos f/2, sin f/2)
    kinetic = sp.simplify((dot(x) ** 2 + dot(y) ** 2) / 2)
    arch = zw.Constraint(d >= 0, "arch")
    system = zw.System((f, d), kinetic=kinetic, potential=G * y, constraints=[arch])
    at = sp.Float("3.5", 30)
    return system, {f: 3.5, d: 0, dot(f): sp.sqrt(G * (1 + sp.cos(at)) / (1 - sp.cos(at))), dot(d): 0}  # by energy


def brake(leading):
    """A drum that turns, and a lever with a shoe that is pressed on it; friction pulls the lever in, or pushes it."""
    turn, lever = q = zw.coordinates("turn lever")
    F, a, b, c, inertia, r = 50, sp.Rational(2, 5), sp.Rational(1, 5), sp.Rational(1, 20), 0.1, 0.15
    side = 1 if leading else -1
    # friction of the shoe is -mu N along the slip: on the lever it acts with the arm c
    shoe = zw.Constraint(b * lever >= 0, "shoe", friction=0.4, slip=r * dot(turn) + side * c * dot(lever))
    kinetic = (inertia * dot(turn) ** 2 + dot(lever) ** 2) / 2
    system = zw.System(q, kinetic=kinetic, forces={lever: -F * a}, constraints=[shoe])
    return system, {turn: 0, lever: 0, dot(turn): 30, dot(lever): 0}


def capstan(n):
    """A belt that creeps round the corners of a polygon in half a turn, as hinged points: its ends are pulled.

    The first end is pulled with unit force, the other by a rod whose end is moved. Points have masses, which do not
    matter as they do not accelerate.
    """
    mu, creep, delta = 0.3, 1e-8, sp.pi / n
    r, phi = zw.coordinates([f"r{i}" for i in range(n)]), zw.coordinates([f"phi{i}" for i in range(n)])
    s = zw.coordinates("s")
    rules, forces = [], {}
    points = [(r[i] * sp.cos(phi[i]), r[i] * sp.sin(phi[i])) for i in range(n)]
    for i in range(n):
        rules.append(zw.Constraint(r[i] - 1 >= 0, f"corner{i}", friction=mu, slip=r[i] * dot(phi[i])))
    for i in range(n - 1):
        (ax, ay), (bx, by) = points[i], points[i + 1]
        rules.append(zw.Constraint(sp.sqrt((bx - ax) ** 2 + (by - ay) ** 2) - 2 * sp.sin(delta / 2), f"rod{i}"))
    at = [delta * (i + sp.Rational(1, 2)) for i in range(n)]  # corners in the middles of their sectors
    last = at[-1] + sp.pi / 2 + delta / 2  # chords leave corners half a sector inwards
    ex, ey = sp.cos(at[-1]) + s * sp.cos(last), sp.sin(at[-1]) + s * sp.sin(last)
    (ax, ay) = points[-1]
    rules.append(zw.Constraint(sp.sqrt((ex - ax) ** 2 + (ey - ay) ** 2) - 1, "pull"))
    rules.append(zw.Constraint(s - 1 - creep * sp.cos(delta / 2) * zw.t, "drive"))
    first = at[0] - sp.pi / 2 - delta / 2
    ux, uy = sp.cos(first), sp.sin(first)
    forces = {
        r[0]: ux * sp.cos(phi[0]) + uy * sp.sin(phi[0]),
        phi[0]: r[0] * (uy * sp.cos(phi[0]) - ux * sp.sin(phi[0])),
    }
    kinetic = sp.Add(*[(dot(p) ** 2 + p**2 * dot(f) ** 2) / 2 for p, f in zip(r, phi, strict=True)], dot(s) ** 2 / 2)
    system = zw.System((*r, *phi, s), kinetic=kinetic, forces=forces, constraints=rules)
    start = dict.fromkeys(r, 1) | dict(zip(phi, at, strict=True)) | {s: 1, dot(s): creep * sp.cos(delta / 2)}
    return system, start | {dot(p): 0 for p in r} | {dot(f): creep for f in phi}


def table():
    """A table on four legs that slides, in small tilts; along x its feet rub."""
    x, y, z, yaw, roll, pitch = q = zw.coordinates("x y z yaw roll pitch")
    a, b, h = sp.Rational(1, 2), sp.Rational(3, 10), sp.Rational(2, 5)
    rules = []
    for name, (u, w) in {"++": (a, b), "+-": (a, -b), "-+": (-a, b), "--": (-a, -b)}.items():
        foot = x + sp.cos(yaw) * u - sp.sin(yaw) * w - h * pitch
        gap = z - h + w * roll - u * pitch
        rules.append(zw.Constraint(gap >= 0, name, friction=0.3, slip=dot(foot)))
    kinetic = (
        sp.Add(*[dot(c) ** 2 / 2 for c in (x, y, z)]) + 0.05 * (dot(yaw) ** 2 + dot(roll) ** 2 + dot(pitch) ** 2) / 2
    )
    system = zw.System(q, kinetic=kinetic, potential=G * z, constraints=rules)
    return system, dict.fromkeys(q, 0) | {dot(c): 0 for c in q} | {z: h, dot(x): 1}
