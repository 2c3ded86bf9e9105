"""Gaps are distances, their rates the approach of the materials that touch, and slips the rest of their speed."""

from itertools import product

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb

AXIS = (0.3, -0.4, 0.5)
KINDS = {
    "plane": {"normal": (0.3, -0.4, 1.2), "radius": 0.2},
    "point": {"normal": (0.3, -0.4, 1.2)},
    "rim": {"normal": (0.3, -0.4, 1.2), "radius": 0.2, "rim": (1, 0.2, 0.3)},
    "ball": {"radii": (0.5, 0.2)},
    "bowl": {"radii": (9, 0.2), "inside": True},
    "cylinder": {"radii": (0.5, 0.2), "axis": AXIS},
    "pipe": {"radii": (9, 0.2), "axis": AXIS, "inside": True},
}
FLAT = {
    "plane": {"normal": (-0.4, 1.2), "radius": 0.2},
    "ball": {"radii": (0.5, 0.2)},
    "bowl": {"radii": (9, 0.2), "inside": True},
}
CASES = [*product(["space"], KINDS), *product(["plane"], FLAT)]


def bodies(where, rng):
    """Two bodies at random places, turned and moving at random."""
    far = rng.normal(size=3) * 0.3
    if where == "plane":
        a = mb.PlanarBody("a", 1, 1, far[:2], rng.normal(), rng.normal(size=2), rng.normal())
        return a, mb.PlanarBody(
            "b", 1, 1, far[:2] + np.array([0.7, 1.9]), rng.normal(), rng.normal(size=2), rng.normal()
        )
    made = []
    for name, off in (("a", np.zeros(3)), ("b", np.array([0.7, -0.6, 1.9]))):
        made.append(mb.Body(name, 1, (1, 2, 2.5), far + off, rng.normal(size=4), rng.normal(size=3),
                            rng.normal(size=3)))  # fmt: skip
    return tuple(made)


def numbers(expression, state):
    """What an expression reads at a state."""
    return float(sp.sympify(expression).xreplace(state))


@pytest.mark.parametrize(("where", "kind"), CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_gap_closes_with_the_materials_and_the_slip_is_the_rest_of_their_speed(where, kind, seed):
    rng = np.random.default_rng(seed)
    a, b = bodies(where, rng)
    contact = mb.Contact("c", a, b, friction=0.3, **(KINDS if where == "space" else FLAT)[kind])
    constraint = contact.asked[""]
    # later, at another state than the described one
    state = a.start() | b.start()
    for body in (a, b):
        q = body.coordinates
        state |= {x: state[x] + 0.1 * rng.normal() for x in q}
        if where == "space":  # quaternions of length 1, whose rates keep it
            u = np.array([state[x] for x in q[3:]])
            u /= np.linalg.norm(u)
            w = rng.normal(size=4)
            w -= u * (u @ w)
            state |= dict(zip(q[3:], u, strict=True)) | {zw.dot(x): r for x, r in zip(q[3:], w, strict=True)}
    touch = contact.touching(contact.points[""])
    place = np.array([numbers(x, state) for x in touch.place])
    speeds = []
    for body in (b, a):
        pose = body.pose(len(place))
        arm = place - [numbers(x, state) for x in pose.origin]
        v = np.array([numbers(x, state) for x in pose.velocity])
        w = pose.spin if where == "plane" else [numbers(x, state) for x in pose.spin]
        turn = numbers(w, state) * np.array([-arm[1], arm[0]]) if where == "plane" else np.cross(w, arm)
        speeds.append(v + turn)
    past = speeds[0] - speeds[1]
    tangents = np.array([[numbers(x, state) for x in e] for e in touch.tangents])
    assert np.allclose(tangents @ tangents.T, np.eye(len(tangents)), atol=1e-14)
    rate = numbers(zw.dot(constraint.expression).doit(), state)
    slips = np.array([numbers(s, state) for s in constraint.slip])
    assert len(slips) == len(place) - 1
    # the rate of the distance is the approach along the normal; the slip is what is left of the relative velocity
    assert rate**2 + slips @ slips == pytest.approx(past @ past, rel=1e-12)
    assert np.allclose(tangents @ past, slips, atol=1e-13)


@pytest.mark.parametrize("kind", ["ball", "bowl", "cylinder", "pipe"])
def test_round_gaps_are_distances(kind):
    a, b = bodies("space", np.random.default_rng(3))
    contact = mb.Contact("c", a, b, **KINDS[kind])
    way = np.array(b.position) - a.position
    if "axis" in KINDS[kind]:
        axis = np.array(AXIS) / np.linalg.norm(AXIS)
        way = way - axis * (way @ axis)
    distance = np.linalg.norm(way)
    expected = 9 - 0.2 - distance if "inside" in KINDS[kind] else distance - 0.5 - 0.2
    assert numbers(contact.asked[""].expression, a.start() | b.start()) == pytest.approx(expected, rel=1e-13)


def test_a_rim_touches_with_its_lowest_point():
    coin = mb.Body("coin", 1, (1, 1, 2), (0, 0, 0.8), orientation=(0.9, 0.3, 0.1, 0.2))
    contact = mb.Contact("c", mb.ground, coin, normal=(0, 0, 1), radius=0.5, rim=(0.6, 0.64, 0.48))
    turn = np.linspace(0, 2 * np.pi, 100_001)
    axis = np.array([0.6, 0.64, 0.48])
    axis /= np.linalg.norm(axis)
    first = np.cross(axis, (0, 0, 1))
    first /= np.linalg.norm(first)
    rim = 0.5 * (np.outer(np.cos(turn), first) + np.outer(np.sin(turn), np.cross(axis, first)))
    assert numbers(contact.asked[""].expression, coin.start()) == pytest.approx(0.8 + rim[:, 2].min(), abs=1e-9)
