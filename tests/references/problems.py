"""The reference problems as systems with their starts. Origins and definitions: README.md and the files beside it."""

import json
from pathlib import Path
from typing import Any

import sympy as sp

import zwang as zw
from tests.references.andrews import andrews
from zwang import dot

__all__ = ["andrews"]

HERE = Path(__file__).parent

Problem = tuple[zw.System, dict[sp.Expr, float]]


def numbers(name: str) -> Any:
    """The numbers of a reference file."""
    return json.loads((HERE / f"{name}.json").read_text())


def rest(system: zw.System, **positions: float) -> dict[sp.Expr, float]:
    """A start at rest."""
    names = dict(zip(system.coordinate_names, system.coordinates, strict=True))
    return {names[k]: v for k, v in positions.items()} | dict.fromkeys(system.velocities, 0.0)


def pendulum() -> Problem:
    """A point mass on a rod of unit length in Cartesian coordinates, released at the height of its pivot."""
    x, y = zw.coordinates("x y")
    m, g = zw.parameters("m g")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=m * g * y,
        constraints={"rod": (x**2 + y**2 - 1) / 2},
        parameters={m: 1, g: 9.81},
    )
    return system, rest(system, x=1.0, y=0.0)


def double_pendulum() -> Problem:
    """Two point masses on rods of unit length, released from the horizontal: chaotic."""
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    g = zw.parameters("g")
    system = zw.System(
        q,
        kinetic=sum(dot(c) ** 2 for c in q) / 2,
        potential=g * (y1 + y2),
        constraints={"upper": (x1**2 + y1**2 - 1) / 2, "lower": ((x2 - x1) ** 2 + (y2 - y1) ** 2 - 1) / 2},
        parameters={g: 9.81},
    )
    return system, rest(system, x1=1.0, y1=0.0, x2=2.0, y2=0.0)


def four_bar(loops: int = 1, speed: float = 1.0) -> Problem:
    """A chain of parallelogram four-bars in the coordinates of their joints, upright, moving to the right."""
    x = zw.coordinates(" ".join(f"x{i}" for i in range(loops + 1)))
    y = zw.coordinates(" ".join(f"y{i}" for i in range(loops + 1)))
    g = zw.parameters("g")
    vx, vy = [dot(c) for c in x], [dot(c) for c in y]
    kinetic = sum(a**2 + b**2 for a, b in zip(vx, vy, strict=True)) / 6
    potential = g * sum(y) / 2
    constraints = {f"crank {i}": (x[i] - i) ** 2 + y[i] ** 2 - 1 for i in range(loops + 1)}
    for i in range(loops):
        j = i + 1
        kinetic += (vx[i] ** 2 + vy[i] ** 2 + vx[j] ** 2 + vy[j] ** 2 + vx[i] * vx[j] + vy[i] * vy[j]) / 6
        potential += g * (y[i] + y[j]) / 2
        constraints[f"coupler {i}"] = (x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2 - 1
    system = zw.System((*x, *y), kinetic=kinetic, potential=potential, constraints=constraints, parameters={g: 9.81})
    start = {c: float(i) for i, c in enumerate(x)} | dict.fromkeys(y, 1.0)
    return system, start | dict.fromkeys(vx, speed) | dict.fromkeys(vy, 0.0)


def cart_pole() -> Problem:
    """A cart of a millionth of the bob's mass, the bob in Cartesian coordinates."""
    x, X, Y = zw.coordinates("x X Y")
    M, m, g = zw.parameters("M m g")
    system = zw.System(
        (x, X, Y),
        kinetic=(M * dot(x) ** 2 + m * dot(X) ** 2 + m * dot(Y) ** 2) / 2,
        potential=m * g * Y,
        constraints={"pole": ((X - x) ** 2 + Y**2 - 1) / 2},
        parameters={M: 1e-6, m: 1, g: 9.81},
    )
    return system, rest(system, x=0.0, X=1.0, Y=0.0)


def quaternion(names: str) -> tuple[tuple[Any, ...], sp.Matrix, sp.Matrix]:
    """Euler parameters, angular velocity in body axes, and the rotation from body to space."""
    u = zw.coordinates(names)
    a, b, c, d = u
    E = sp.Matrix([[-b, a, d, -c], [-c, -d, a, b], [-d, c, -b, a]])
    G = sp.Matrix([[-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]])
    return u, 2 * E * sp.Matrix([dot(c) for c in u]), G * E.T


def heavy_top() -> Problem:
    """A top about a fixed point in Euler parameters: M has rank 3, the norm makes up for it."""
    u, omega, R = quaternion("u0 u1 u2 u3")
    m, g = zw.parameters("m g")
    J = sp.diag(15 + sp.Rational(15, 64), sp.Rational(15, 32), 15 + sp.Rational(15, 64))  # about the fixed point
    system = zw.System(
        u,
        kinetic=(omega.T * J * omega)[0] / 2,
        potential=m * g * (R * sp.Matrix([0, 1, 0]))[2],
        constraints={"norm": (sum(c**2 for c in u) - 1) / 2},
        parameters={m: 15, g: 9.81},
    )
    start = dict(zip(u, (1.0, 0.0, 0.0, 0.0), strict=True))
    return system, start | dict(zip(system.velocities, (0.0, 0.0, 75.0, -4.61538 / 2), strict=True))


def free_top() -> Problem:
    """A symmetric top without torques in Euler parameters."""
    u, omega, _ = quaternion("u0 u1 u2 u3")
    I1, I3 = zw.parameters("I1 I3")
    system = zw.System(
        u,
        kinetic=(I1 * (omega[0] ** 2 + omega[1] ** 2) + I3 * omega[2] ** 2) / 2,
        constraints={"norm": (sum(c**2 for c in u) - 1) / 2},
        parameters={I1: 2.0, I3: 3.0},
    )
    start = dict(zip(u, (1.0, 0.0, 0.0, 0.0), strict=True))
    return system, start | dict(zip(system.velocities, (0.0, 0.15, -0.35, 0.6), strict=True))


def flyball() -> Problem:
    """The stiff governor: shaft, slider and each rod with a turning angle of its own, held together by constraints."""
    psi, sigma, beta1, beta2, alpha1, alpha2, s = q = zw.coordinates("psi sigma beta1 beta2 alpha1 alpha2 s")
    k, c, g = zw.parameters("k c g")
    rod, slider, tip, thin, wide, offset = (sp.Rational(x) for x in ("0.3", "3", "5", "0.01", "0.1", "0.05"))
    turning = rod * thin**2 / 6
    kinetic = (turning * dot(psi) ** 2 + slider * wide**2 / 6 * dot(sigma) ** 2 + slider * dot(s) ** 2) / 2
    potential = slider * g * s
    forces = dict.fromkeys(q, 0)
    for beta, alpha in ((beta1, alpha1), (beta2, alpha2)):
        w, rate, half = dot(beta), dot(alpha), sp.Rational(1, 2)
        along = rod * (1 + thin**2) / 12
        kinetic += (turning * (w * sp.sin(alpha)) ** 2 + along * ((w * sp.cos(alpha)) ** 2 + rate**2)) / 2
        kinetic += rod * ((offset + half * sp.cos(alpha)) ** 2 * w**2 + rate**2 / 4) / 2
        kinetic += tip * ((offset + sp.cos(alpha)) ** 2 * w**2 + rate**2) / 2
        potential -= g * sp.sin(alpha) * (rod / 2 + tip)
        length = sp.sqrt(sp.cos(alpha) ** 2 / 4 + (1 - sp.sin(alpha) / 2 - s) ** 2)
        potential += k * (length - half) ** 2 / 2
        for x in (alpha, s):
            forces[x] -= c * dot(length) * length.diff(x)
    system = zw.System(
        q,
        kinetic=kinetic,
        potential=potential,
        forces=forces,
        constraints={"slider": sigma - psi, "rod 1": beta1 - psi, "rod 2": beta2 - psi},
        parameters={k: 8e5, c: 4e4, g: 9.81},
    )
    start = rest(system, psi=0, sigma=0, beta1=0, beta2=0, alpha1=float(sp.pi / 6), alpha2=float(sp.pi / 6), s=0.5)
    return system, start | {dot(x): float(2 * sp.pi) for x in (psi, sigma, beta1, beta2)}


def knife_edge() -> Problem:
    x, y, phi = zw.coordinates("x y phi")
    m, J, g, a = zw.parameters("m J g a")
    system = zw.System(
        (x, y, phi),
        kinetic=(m * dot(x) ** 2 + m * dot(y) ** 2 + J * dot(phi) ** 2) / 2,
        potential=-m * g * sp.sin(a) * x,
        constraints={"edge": dot(x) * sp.sin(phi) - dot(y) * sp.cos(phi)},
        parameters={m: 1.3, J: 0.7, g: 9.81, a: 0.4},
    )
    return system, rest(system, x=0, y=0, phi=0) | {dot(phi): 1.7}


def chaplygin_sleigh() -> Problem:
    """(x, y) is the blade, the centre of mass is d ahead of it."""
    x, y, theta = zw.coordinates("x y theta")
    m, inertia, d = zw.parameters("m I d")
    c, s, w = sp.cos(theta), sp.sin(theta), dot(theta)
    system = zw.System(
        (x, y, theta),
        kinetic=m * ((dot(x) - d * s * w) ** 2 + (dot(y) + d * c * w) ** 2) / 2 + inertia * w**2 / 2,
        constraints={"blade": dot(y) * c - dot(x) * s},
        parameters={m: 1.0, inertia: 0.3, d: 0.4},
    )
    return system, rest(system, x=0, y=0, theta=0) | {dot(x): 0.2, dot(theta): 1.5}


def rosenberg(nonideal: Any = None, z0: float = 0.3, speeds: tuple[float, float] = (1.1, 0.8)) -> Problem:
    """A particle with ẏ = z ẋ; `nonideal` makes C from the velocities."""
    x, y, z = zw.coordinates("x y z")
    m = zw.parameters("m")
    v = [dot(c) for c in (x, y, z)]
    system = zw.System(
        (x, y, z),
        kinetic=m * sum(c**2 for c in v) / 2,
        constraints={"slope": dot(y) - z * dot(x)},
        nonideal=nonideal(v) if nonideal else None,
        parameters={m: 1.0},
    )
    vx, vz = speeds
    return system, rest(system, x=0, y=0, z=z0) | {dot(x): vx, dot(y): z0 * vx, dot(z): vz}


def appell_hamel(rows: int = 2) -> Problem:
    """ż² = ẋ² + ẏ² under gravity, said twice."""
    x, y, z = zw.coordinates("x y z")
    m, g = zw.parameters("m g")
    cone = dot(x) ** 2 + dot(y) ** 2 - dot(z) ** 2
    system = zw.System(
        (x, y, z),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=m * g * z,
        constraints={f"cone {i}": i * cone for i in range(1, rows + 1)},
        parameters={m: 1.0, g: 9.81},
    )
    speeds = {dot(x): 2 * float(sp.cos(0.6)), dot(y): 2 * float(sp.sin(0.6)), dot(z): 2.0}
    return system, rest(system, x=0, y=0, z=0) | speeds


def bead_on_wire() -> Problem:
    x, y = zw.coordinates("x y")
    m, w = zw.parameters("m w")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"wire": y * sp.cos(w * zw.t) - x * sp.sin(w * zw.t)},
        parameters={m: 1.0, w: 2.1},
    )
    return system, rest(system, x=0.4, y=0) | {dot(y): 0.4 * 2.1}


def conical_pendulum() -> Problem:
    x, y, z = zw.coordinates("x y z")
    m, g, L = zw.parameters("m g L")
    system = zw.System(
        (x, y, z),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=m * g * z,
        constraints={"string": (x**2 + y**2 + z**2 - L**2) / 2},
        parameters={m: 2.0, g: 9.81, L: 1.2},
    )
    c, s = float(sp.cos(0.7)), float(sp.sin(0.7))
    turn = float(sp.sqrt(9.81 / (1.2 * c)))
    return system, rest(system, x=1.2 * s, y=0, z=-1.2 * c) | {dot(y): 1.2 * s * turn}


def ball_on_turntable() -> Problem:
    """A solid ball rolling on a table that turns; its attitude in Euler parameters."""
    X, Y = zw.coordinates("X Y")
    u, omega, R = quaternion("u0 u1 u2 u3")
    m, r, W = zw.parameters("m r W")
    turning = R * omega  # in space axes
    system = zw.System(
        (X, Y, *u),
        kinetic=m * (dot(X) ** 2 + dot(Y) ** 2) / 2 + m * r**2 / 5 * (omega.T * omega)[0],
        constraints={
            "roll x": dot(X) - r * turning[1] + W * Y,
            "roll y": dot(Y) + r * turning[0] - W * X,
            "norm": (sum(c**2 for c in u) - 1) / 2,
        },
        parameters={m: 1.0, r: 0.1, W: 3.0},
    )
    x0, y0, vx, vy, radius = 0.3, 0.1, 0.05, -0.12, 0.1
    wx, wy = (3.0 * x0 - vy) / radius, (vx + 3.0 * y0) / radius
    start = dict(zip(system.coordinates, (x0, y0, 1, 0, 0, 0), strict=True))
    return system, start | dict(zip(system.velocities, (vx, vy, 0, wx / 2, wy / 2, 0), strict=True))


def rolling_disk() -> Problem:
    """A thin disk in steady precession: centre (x, y, z), precession φ, tilt θ of its axis, spin ψ."""
    x, y, z, phi, theta, psi = q = zw.coordinates("x y z phi theta psi")
    m, R, g = zw.parameters("m R g")
    s, c = sp.sin(theta), sp.cos(theta)
    spin = dot(psi) + dot(phi) * c
    axis, level = (s * sp.cos(phi), s * sp.sin(phi)), (-sp.sin(phi), sp.cos(phi))
    A = m * R**2 / 4
    system = zw.System(
        q,
        kinetic=m * sum(dot(r) ** 2 for r in (x, y, z)) / 2
        + A * (dot(theta) ** 2 + dot(phi) ** 2 * s**2) / 2
        + A * spin**2,
        potential=m * g * z,
        constraints={
            "contact": z - R * s,
            "roll x": dot(x) - R * (dot(theta) * axis[0] - spin * level[0]),
            "roll y": dot(y) - R * (dot(theta) * axis[1] - spin * level[1]),
        },
        parameters={m: 2.0, R: 0.5, g: 9.81},
    )
    wn, psi_rate = numbers("nonholonomic")["rolling disk steady precession, t=3"]["ref"]
    start = rest(system, x=-0.5 * wn / 2.3, y=0, z=0.5 * float(sp.sin(1.1)), phi=0, theta=1.1, psi=0)
    wn = psi_rate + 2.3 * float(sp.cos(1.1))
    return system, start | {dot(phi): 2.3, dot(psi): psi_rate, dot(y): -0.5 * wn}


def coulomb_ring() -> Problem:
    """A bead on a ring with dry friction: nonideal, C = −μ|N| v/|v| with |N| = m v²/R."""
    x, y = zw.coordinates("x y")
    m, R, mu = zw.parameters("m R mu")
    speed = sp.sqrt(dot(x) ** 2 + dot(y) ** 2)
    system = zw.System(
        (x, y),
        kinetic=m * speed**2 / 2,
        constraints={"ring": (x**2 + y**2 - R**2) / 2},
        nonideal=[-mu * m * speed / R * dot(r) for r in (x, y)],
        parameters={m: 1.5, R: 0.8, mu: 0.3},
    )
    return system, rest(system, x=0.8, y=0) | {dot(y): 2.0}


def disk_on_incline() -> Problem:
    """Rolling down with rows that say the same: x along the incline, y off it."""
    x, y, phi = zw.coordinates("x y phi")
    m, R, g, a = zw.parameters("m R g a")
    system = zw.System(
        (x, y, phi),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2 + m * R**2 * dot(phi) ** 2 / 4,
        potential=m * g * (y * sp.cos(a) - x * sp.sin(a)),
        constraints={
            "contact": y - R,
            "roll": dot(x) - R * dot(phi),
            "contact again": 3 * y - 3 * R,
            "rolled": x - R * phi,
        },
        parameters={m: 2.0, R: 0.3, g: 9.81, a: 0.5},
    )
    return system, rest(system, x=0, y=0.3, phi=0)
