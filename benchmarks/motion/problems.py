"""The problems: a system, a start, an end, and the accepted solution there."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks import andrews

G = sp.Rational(981, 100)


@dataclass(frozen=True)
class Problem:
    name: str
    system: zw.System
    start: dict
    until: float
    header: str = ""  # the C header of the same equations, and its definitions
    defines: tuple[str, ...] = ()
    exact: tuple[float, ...] = ()  # accepted positions at the end, where others have computed them
    textbook: bool = True  # whether the textbook way is run: it is slow

    def reference(self) -> np.ndarray:
        """Positions at the end: published, or from the tightest run that can be had."""
        if self.exact:
            return np.array(self.exact)
        tight = zw.simulate(self.system, self.start, self.until, times=[self.until], tol=1e-16, progress=False)
        return tight.q.values[-1]


def at(coordinates, q, v=None) -> dict:
    v = np.zeros(len(q)) if v is None else v
    return dict(zip(coordinates, map(float, q), strict=True)) | {
        dot(c): float(r) for c, r in zip(coordinates, v, strict=True)
    }


def squeezer() -> Problem:
    system = andrews.mechanism()
    # IVP test set (Bari/CWI), recomputed with 34 digits: positions at t = 0.03
    exact = (
        15.810771195153707097, -15.75637105841183947, 0.040822240119645804858, -0.53473011634207959377,
        0.52440996587995406937, 0.53473011634207959377, 1.0480807410419378731,
    )  # fmt: skip
    return Problem("Andrews, 0.03 s", system, at(system.coordinates, andrews.START), 0.03, "andrews.h", (), exact)


def chain(masses: int, until: float) -> Problem:
    """Point masses on massless rods in a zigzag about 30° below the horizontal, at rest."""
    q = [zw.coordinates(f"x{i} y{i}") for i in range(masses)]
    flat = [c for pair in q for c in pair]
    kinetic = sp.Add(*[dot(c) ** 2 / 2 for c in flat])
    potential = sp.Add(*[G * y for _, y in q])
    before = [(sp.S.Zero, sp.S.Zero), *q[:-1]]
    rods = {
        f"rod {i}": ((x - u) ** 2 + (y - w) ** 2 - 1) / 2
        for i, ((x, y), (u, w)) in enumerate(zip(q, before, strict=True))
    }
    system = zw.System(flat, kinetic=kinetic, potential=potential, constraints=rods, name=f"chain of {masses}")
    angle = -np.pi / 6 + 0.3 * (-1.0) ** np.arange(masses)
    place = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=1), axis=0).ravel()
    define = (f"MASSES={masses}",)
    return Problem(
        f"{masses} masses on rods, {until:g} s", system, at(flat, place), until, "chain.h", define, (), masses <= 10
    )


def spatial(bodies: int, until: float = 2.0) -> Problem:
    """Rods of 1 m in a chain of hinges with axes y and z in turn; position and unit quaternion for each body."""
    coordinates, kinetic, potential, constraints, frames = [], [], [], {}, []
    inertia = (sp.Rational(1, 1000), sp.Rational(1, 12), sp.Rational(1, 12))
    for i in range(bodies):
        position = zw.coordinates(f"x{i} y{i} z{i}")
        u = zw.coordinates(f"a{i} b{i} c{i} d{i}")
        w, x, y, z = u
        wd, xd, yd, zd = map(dot, u)
        omega = (
            2 * (-x * wd + w * xd + z * yd - y * zd),
            2 * (-y * wd - z * xd + w * yd + x * zd),
            2 * (-z * wd + y * xd - x * yd + w * zd),
        )
        kinetic += [dot(c) ** 2 / 2 for c in position] + [j * o**2 / 2 for j, o in zip(inertia, omega, strict=True)]
        potential.append(G * position[2])
        constraints[f"unit {i}"] = (w**2 + x**2 + y**2 + z**2 - 1) / 2
        rotation = sp.Matrix([
            [1 - 2 * (y**2 + z**2), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x**2 + z**2), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)],
        ])  # fmt: skip
        coordinates += [*position, *u]
        frames.append((sp.Matrix(position), rotation))
    half = sp.Matrix([sp.Rational(1, 2), 0, 0])
    for i, (centre, rotation) in enumerate(frames):
        before = frames[i - 1][0] + frames[i - 1][1] * half if i else sp.zeros(3, 1)
        turn = frames[i - 1][1] if i else sp.eye(3)
        gap = before - (centre - rotation * half)
        constraints |= {f"pin {i}.{axis}": gap[k] for k, axis in enumerate("xyz")}
        axis, normals = (1, (0, 2)) if i % 2 == 0 else (2, (0, 1))
        constraints |= {f"hinge {i}.{k}": (turn[:, k].T * rotation[:, axis])[0] for k in normals}
    system = zw.System(
        coordinates, kinetic=sp.Add(*kinetic), potential=sp.Add(*potential), constraints=constraints,
        name=f"{bodies} spatial bodies",
    )  # fmt: skip
    place = np.concatenate([[0.5 + i, 0, 0, 1, 0, 0, 0] for i in range(bodies)])
    rates = np.zeros(7 * bodies)
    return Problem(
        f"{bodies} spatial bodies, {until:g} s", system, at(coordinates, place, rates), until, textbook=False
    )


def small() -> list[Problem]:
    """The problems of the work–precision table."""
    return [squeezer(), chain(3, 10.0), chain(10, 2.0), spatial(10)]
