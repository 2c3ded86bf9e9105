"""Curves with branch points, and how a body moves along one smooth branch of them, computed without zwang.

A branch is given by a parameter s ↦ q(s). A frictionless body on it has one degree of freedom,

    J(s) s̈ + ½ J′(s) ṡ² + V′(s) = 0,    J = Σ mᵢ qᵢ′²,    V = Σ wᵢ qᵢ,

and passes the branch points, s = s₁, s₂, …, as smoothly as any other place. What zwang is given instead is the
implicit equation, whose gradient vanishes there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import zwang as zw

Array = NDArray[np.float64]
S = sp.Symbol("s", real=True)


@dataclass(frozen=True)
class Branch:
    """A system, one branch of its constraints, and where on it others branch off."""

    family: str
    system: zw.System
    place: tuple[sp.Expr, ...]
    """q(s)."""
    mass: tuple[float, ...]
    weight: tuple[float, ...]
    """Of the potential Σ wᵢ qᵢ."""
    nodes: tuple[float, ...]
    """Values of s at branch points, within one period if there is one."""
    period: float | None
    """After which s comes back to the same place."""
    range: tuple[float, float]
    """Of starts."""

    @cached_property
    def at(self) -> Callable[[Array], tuple[Array, Array]]:
        """(q, q′) as functions of s, (n, …)."""
        q, slope = (sp.lambdify(S, list(e), "numpy") for e in (self.place, [sp.diff(e, S) for e in self.place]))
        return lambda s: tuple(np.array([e + 0 * s for e in part(s)], dtype=float) for part in (q, slope))

    @cached_property
    def bend(self) -> Callable[[float, float], float]:
        """s̈ as a function of s and ṡ."""
        J = sum(m * sp.diff(e, S) ** 2 for m, e in zip(self.mass, self.place, strict=True))
        V = sum(w * e for w, e in zip(self.weight, self.place, strict=True))
        rate = sp.Symbol("rate")
        return sp.lambdify((S, rate), -(sp.diff(J, S) * rate**2 / 2 + sp.diff(V, S)) / J, "math", cse=True)

    def start(self, s: float, rate: float) -> dict[sp.Expr, float]:
        """The state at a parameter and its rate, for zwang."""
        q, tangent = self.at(s)
        return dict(zip(self.system.coordinates, q, strict=True)) | dict(
            zip(self.system.velocities, rate * tangent, strict=True)
        )

    def passages(self, s: Array) -> list[int]:
        """The numbers of the samples of a path s(t) after each of which it passes a branch point."""
        met: list[int] = []
        for node in self.nodes:
            side = np.floor((s - node) / self.period) if self.period else np.sign(s - node)
            met += np.flatnonzero(np.diff(side)).tolist()
        return sorted(met)

    def motion(self, s: float, rate: float, times: Array) -> tuple[Array, Array, float]:
        """s (T,), q (T, n) at some times, and the growth: the largest change of q at the end per change of (s, ṡ)."""

        def path(s0: float, rate0: float) -> Array:
            found = solve_ivp(
                lambda _, u: [u[1], self.bend(u[0], u[1])],
                (times[0], times[-1]), [s0, rate0], method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13,
            )  # fmt: skip
            assert found.success
            return np.asarray(found.y[0])

        here, step = path(s, rate), 1e-6 / np.sqrt(np.array(self.mass) @ self.at(s)[1] ** 2)
        q = self.at(here)[0].T
        beside = [path(s + step, rate), path(s, rate + step)]
        growth = max(float(np.abs(self.at(other)[0].T - q).max()) for other in beside) / 1e-6
        return here, q, max(growth, 1.0)


def plane(family, implicit, place, nodes, period=None, span=(-1.0, 1.0), mass=(1.0, 1.0), weight=(0.0, 9.81)):
    """A particle in the plane on one branch of implicit(x, y) = 0."""
    x, y = zw.coordinates("x y")
    system = zw.System(
        (x, y),
        kinetic=sum(m * zw.dot(c) ** 2 / 2 for m, c in zip(mass, (x, y), strict=True)),
        potential=sum(w * c for w, c in zip(weight, (x, y), strict=True)),
        constraints={"curve": implicit(x, y)},
        name=family,
    )
    return Branch(family, system, tuple(map(sp.sympify, place)), mass, weight, tuple(nodes), period, span)


def circle(a, b, r):
    """A circle by its angle."""
    return a + r * sp.cos(S), b + r * sp.sin(S)


def line_and_circle(draw):
    """x (x² + y² − r²) = 0, on the circle or on the line."""
    r = draw.uniform(0.5, 2.0)
    weight = (draw.uniform(-3, 3), draw.uniform(-10, 10))

    def implicit(x, y):
        return x * (x**2 + y**2 - r**2)

    if draw.random() < 0.3:
        return plane("line and circle", implicit, (0 * S, S), (-r, r), span=(-1.5 * r, 1.5 * r), weight=weight)
    return plane(
        "line and circle", implicit, circle(0, 0, r), (np.pi / 2, -np.pi / 2), 2 * np.pi, (-np.pi, np.pi), weight=weight
    )


def secant_and_circle(draw):
    """(x² + y² − 1)(y − kx − c) = 0, on the circle."""
    k, c = draw.uniform(-2, 2), draw.uniform(-0.5, 0.5)
    if draw.random() < 0.3:
        k, c = 1.0, 0.0
    middle, half = np.arctan2(1.0, -k), np.arccos(c / np.hypot(1, k))
    mass = (1.0, draw.uniform(0.3, 3.0))
    return plane(
        "secant and circle",
        lambda x, y: (x**2 + y**2 - 1) * (y - k * x - c),
        circle(0, 0, 1),
        (middle + half, middle - half),
        2 * np.pi,
        (-np.pi, np.pi),
        mass=mass,
    )


def two_circles(draw):
    """Two circles that meet in two points, on the first."""
    r = draw.uniform(0.6, 1.6)
    d = draw.uniform(abs(1 - r) + 0.15, 1 + r - 0.15)
    half = np.arccos((1 + d**2 - r**2) / (2 * d))
    return plane(
        "two circles",
        lambda x, y: (x**2 + y**2 - 1) * ((x - d) ** 2 + y**2 - r**2),
        circle(0, 0, 1),
        (half, -half),
        2 * np.pi,
        (-np.pi, np.pi),
        weight=(draw.uniform(-3, 3), draw.uniform(-10, 10)),
    )


def lemniscate(draw):
    """Bernoulli's figure of eight, (x² + y²)² = a² (x² − y²)."""
    a = draw.uniform(0.7, 2.0)
    below = 1 + sp.sin(S) ** 2
    return plane(
        "lemniscate",
        lambda x, y: (x**2 + y**2) ** 2 - a**2 * (x**2 - y**2),
        (a * sp.cos(S) / below, a * sp.sin(S) * sp.cos(S) / below),
        (np.pi / 2, -np.pi / 2),
        2 * np.pi,
        (-np.pi, np.pi),
        weight=(draw.uniform(-3, 3), draw.uniform(-10, 10)),
    )


def cubic(draw):
    """y² = x² (x + a), with a loop; gravity towards it."""
    a = draw.uniform(0.5, 2.0)
    root = float(np.sqrt(a))
    return plane(
        "cubic with a node",
        lambda x, y: y**2 - x**2 * (x + a),
        (S**2 - a, S * (S**2 - a)),
        (root, -root),
        span=(-1.3 * root, 1.3 * root),
        weight=(draw.uniform(3, 10), draw.uniform(-2, 2)),
    )


def line_and_parabola(draw):
    """(y − x²)(y − kx − c) = 0, on the parabola."""
    k, c = draw.uniform(-1, 1), draw.uniform(0.2, 1.5)
    half = np.sqrt(k**2 / 4 + c)
    return plane(
        "line and parabola",
        lambda x, y: (y - x**2) * (y - k * x - c),
        (S, S**2),
        (k / 2 + half, k / 2 - half),
        span=(-1.5, 1.5),
        weight=(0.0, draw.uniform(3, 10)),
    )


def parallelogram(draw):
    """Two cranks of one length and a coupler as long as the ground between them; masses at the joints."""
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    r, d = draw.uniform(0.5, 1.2), draw.uniform(0.7, 2.0)
    masses = (draw.uniform(0.5, 2.0),) * 2 + (draw.uniform(0.5, 2.0),) * 2
    weight = (draw.uniform(-2, 2), draw.uniform(3, 10), 0.0, draw.uniform(3, 10))
    system = zw.System(
        q,
        kinetic=sum(m * zw.dot(c) ** 2 / 2 for m, c in zip(masses, q, strict=True)),
        potential=sum(w * c for w, c in zip(weight, q, strict=True)),
        constraints={
            "left": x1**2 + y1**2 - r**2,
            "right": (x2 - d) ** 2 + y2**2 - r**2,
            "coupler": (x2 - x1) ** 2 + (y2 - y1) ** 2 - d**2,
        },
        name="parallelogram",
    )
    place = (*circle(0, 0, r), *circle(d, 0, r))
    return Branch(
        "parallelogram", system, tuple(map(sp.sympify, place)), masses, weight, (0.0, np.pi), 2 * np.pi,
        (-np.pi, np.pi),
    )  # fmt: skip


def beside_turning_rows(branch, draw):
    """A branch, and beside it a point that two rows hold at rest, which turn; its two masses differ much.

    What the first row leaves of the second is small whenever it takes the light mass itself, and the other way round:
    pivots vary by the ratio of the masses, and the rows are as independent as ever.
    """
    u, w = zw.coordinates("u w")
    light, heavy = 10 ** draw.uniform(-3, -1), 10 ** draw.uniform(0, 1)
    turn = draw.uniform(0.5, 6.0) * zw.t + draw.uniform(0, 3)
    rows = {
        "turning": u * sp.cos(turn) + w * sp.sin(turn),
        "turning, too": w * sp.cos(turn) - u * sp.sin(turn),
    }
    system = branch.system
    own = {c.name: c.expression for c in system.constraints}
    together = zw.System(
        (*system.coordinates, u, w),
        kinetic=system.kinetic + (light * zw.dot(u) ** 2 + heavy * zw.dot(w) ** 2) / 2,
        potential=system.potential,
        constraints=own | rows if draw.integers(2) else rows | own,
        name=branch.family,
    )
    return replace(
        branch,
        system=together,
        place=(*branch.place, 0 * S, 0 * S),
        mass=(*branch.mass, light, heavy),
        weight=(*branch.weight, 0.0, 0.0),
    )


FAMILIES = (line_and_circle, secant_and_circle, two_circles, lemniscate, cubic, line_and_parabola, parallelogram)
