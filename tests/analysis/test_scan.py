"""Rest of mechanisms of one freedom, from guesses at which Newton's method ends elsewhere."""

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import EquilibriumError

MASS, REACH, ANCHOR, PIN = 20.0, 0.45, np.array([0.1, -0.3]), 0.3


def hatch():
    """A hatch hinged at the origin on a gas spring of 400 N, which is slack at its end."""
    body = mb.PlanarBody("hatch", MASS, 1.5, position=(REACH, 0))
    hinge = mb.Revolute("hinge", mb.ground, body, at=(0, 0))
    push = sp.Min(400, 400 * (sp.Rational(6, 10) - mb.length) / sp.Rational(2, 100))
    gas = mb.Spring("gas", mb.ground, body, start=tuple(ANCHOR), end=(PIN, 0), force=-push)
    return mb.Mechanism([body], joints=[hinge], forces=[gas, mb.Gravity((0, -9.81))])


def torque(angle):
    """On the hatch about its hinge."""
    pin = PIN * np.array([np.cos(angle), np.sin(angle)])
    along = pin - ANCHOR
    length = np.hypot(*along)
    force = min(400, 400 * (0.6 - length) / 0.02) * along / length
    return pin[0] * force[1] - pin[1] * force[0] - MASS * 9.81 * REACH * np.cos(angle)


@pytest.mark.parametrize("degrees", [-60, -30, 0, 17, 34, 52, 69, 80])
def test_a_hatch_falls_open_from_any_angle(degrees):
    open_at = brentq(torque, np.radians(60), np.radians(85))
    mechanism, at = hatch(), np.radians(degrees)
    x, y, angle = mechanism.system.coordinates
    e = zw.equilibrium(mechanism, {x: REACH * np.cos(at), y: REACH * np.sin(at), angle: at})
    assert e.state[angle] == pytest.approx(open_at, abs=1e-9)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("far", [0.5, 1.5, 2.5, 4.0])
def test_a_bead_on_a_wire_rests_where_the_force_drives_it(side, far):
    """(0.2 + e^(−20 (x − 1)²)) tanh(3 − x) vanishes at 3 alone, and has a least value between there and the guess."""
    x, y = zw.coordinates("x y")
    slope = -(0.2 + sp.exp(-20 * (x - side) ** 2)) * sp.tanh(side * 3 - x)
    system = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces={x: -slope}, constraints={"wire": y - x**2 / 10}
    )
    e = zw.equilibrium(system, {x: side * (3 - far), y: (3 - far) ** 2 / 10})
    assert e.state[x] == pytest.approx(3 * side, abs=1e-9)


@pytest.mark.parametrize("torque", [6.0, 12.0, -9.0])
@pytest.mark.parametrize("degrees", range(0, 360, 45))
def test_a_four_bar_with_a_torque_rests_from_everywhere(torque, degrees):
    """Where the power of weights and torque vanishes along its motion: by differences along the curve of circles."""
    a, b, x, y = q = zw.coordinates("a b x y")
    rows = {"crank": a**2 + b**2 - 4, "coupler": (x - a) ** 2 + (y - b) ** 2 - 64, "rocker": (x - 10) ** 2 + y**2 - 49}
    system = zw.System(
        q, kinetic=sum(dot(c) ** 2 for c in q) / 2, potential=9.81 * (b + y / 2),
        forces={a: -torque * b / 4, b: torque * a / 4}, constraints=rows,
    )  # fmt: skip
    at = np.radians(degrees)
    e = zw.equilibrium(system, {a: 2 * np.cos(at), b: 2 * np.sin(at), x: 6.5, y: 6})
    crank = np.arctan2(e.state[b], e.state[a])

    def height(angle):
        tip = 2 * np.array([np.cos(angle), np.sin(angle)])
        far = np.hypot(10 - tip[0], -tip[1])
        turn = np.arctan2(-tip[1], 10 - tip[0]) + np.arccos((64 + far**2 - 49) / (16 * far))
        return 9.81 * (tip[1] + (tip[1] + 8 * np.sin(turn)) / 2)

    assert e.state[y] > 0
    assert (height(crank + 1e-4) - height(crank - 1e-4)) / 2e-4 == pytest.approx(torque, abs=1e-5)


def test_where_the_force_never_vanishes_there_is_no_rest():
    """A crank on a torque that is larger than its weight bears anywhere."""
    x, y = zw.coordinates("x y")
    crank = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, forces={x: -12 * y, y: 12 * x},
        constraints={"arm": x**2 + y**2 - 1},
    )  # fmt: skip
    with pytest.raises(EquilibriumError, match="no equilibrium was found near the guess"):
        zw.equilibrium(crank, {x: 1, y: 0})
