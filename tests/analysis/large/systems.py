"""Systems of any size whose rest and modes are known."""

from typing import Any

import numpy as np
from scipy.optimize import brentq

import zwang as zw
import zwang.multibody as mb
from zwang import dot

G = 9.81


def nearby(system: zw.System, state: dict, size: float) -> dict:
    rng = np.random.default_rng(0)
    return {q: state[q] + size * rng.standard_normal() for q in system.coordinates}


def net_of_springs(count: int = 5, ends: bool = True) -> tuple[zw.System, dict]:
    """Masses between springs of stiffness 4 in a row, 1 apart; between walls, if there are ends."""
    x = zw.coordinates("x", shape=count)
    a, b = zw.coordinates("a b")
    potential = zw.family(2 * (b - a - 1) ** 2, {a: x[:-1], b: x[1:]})
    if ends:
        potential = potential + 2 * (x[0] - 1) ** 2 + 2 * (x[count - 1] - count) ** 2
    system = zw.System(x, kinetic=zw.family(dot(a) ** 2 / 2, {a: x}), potential=potential, name="Row")
    return system, dict(zip(system.coordinates, np.arange(1.0, count + 1), strict=True))


def catenary(count: int, span: float) -> np.ndarray:
    """Nodes of equal links of length 1 between supports: tan θᵢ grows by m g/H from link to link."""
    return bowed(count, span, np.arctan, 1e3)


def bowed(count: int, span: float, angles: Any, most: float) -> np.ndarray:
    """Nodes of links whose angles are a function of a multiple of their number, such that they reach so far."""
    number = np.arange(count) - (count - 1) / 2

    def reach(ratio: float) -> float:
        return float(np.cos(angles(number * ratio)).sum()) - span

    angle = angles(number * brentq(reach, 1e-9, most, xtol=1e-15))
    return np.stack([np.cumsum(np.cos(angle)), np.cumsum(np.sin(angle))], axis=1)[:-1]


def hung_between(count: int, span: float) -> tuple[zw.System, Any]:
    """Such a chain."""
    r = zw.coordinates("r", shape=(count - 1, 2))
    a, b = zw.coordinates("a b", shape=2)
    rules = {
        "first": r[0, 0] ** 2 + r[0, 1] ** 2 - 1,
        "link": zw.family(((a - b) ** 2).sum() - 1, {a: r[1:], b: r[:-1]}),
        "last": (r[count - 2, 0] - span) ** 2 + r[count - 2, 1] ** 2 - 1,
    }
    energy = zw.family((dot(a) ** 2).sum() / 2, {a: r}), zw.family(G * a[1], {a[1]: r[:, 1]})
    return zw.System(r, kinetic=energy[0], potential=energy[1], constraints=rules, name="Catenary"), r


def hanging_bars(count: int) -> mb.Mechanism:
    """Bars on hinges about axes that turn, from a support: M is singular, and there are redundant rows."""
    bars = [mb.Body(f"bar{k}", mass=1, inertia=(0.1, 0.2, 0.3), position=(0, 0, -k - 0.5)) for k in range(count)]
    axes = [(1, 0, 0), (0, 1, 0)]
    joints = [
        mb.Revolute(f"hinge{k}", (mb.ground, *bars)[k], bars[k], at=(0, 0, -k), axis=axes[k % 2]) for k in range(count)
    ]
    return mb.Mechanism(bars, joints, [mb.Gravity((0, 0, -G))])
