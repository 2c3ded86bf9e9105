"""Scenes in the plane whose impacts, slides and flights are known in closed form, by every engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

G = 9.81
x, y, u, turn = zw.coordinates("x y u turn")
CARTS = zw.coordinates("c0 c1 c2 c3")


@dataclass(frozen=True)
class Known:
    """A scene, when what happens in it (the first transitions), velocities after some of them, and its last state."""

    system: zw.System
    start: Mapping[Any, float]
    until: float
    kinds: list[str]
    times: list[float]
    after: Mapping[int, list[float]] = field(default_factory=dict)
    last: Mapping[int, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def limit(gap, name, restitution=0.0, friction=None, slip=None):
    law = {} if friction is None else {"friction": friction, "slip": slip}
    return zw.Constraint(gap, name, one_sided=True, restitution=restitution, **law)


def at(q, places, speeds):
    return dict(zip((*q, *map(dot, q)), (*places, *speeds), strict=True))


def made(q, masses, potential, constraints, forces=None):
    kinetic = sum(m * dot(e) ** 2 for m, e in zip(masses, q, strict=True)) / 2
    return zw.System(q, kinetic=kinetic, potential=potential, constraints=constraints, forces=forces or {})


def wedge():
    # a block of 1 on a smooth wedge of 3 at ½: N = g cos a/(1 + sin² a/3), the wedge goes by N sin a/3
    c, s = np.cos(0.5), np.sin(0.5)
    system = made((x, u, y), (3, 1, 1), G * y, [limit(c * y - s * (u - x), "slope")])
    push = G * c / (1 + s**2 / 3)
    return Known(system, at((x, u, y), (0, 0, 0), (0, 0, 0)), 0.3, [], [], last={0: push * s / 3 * 0.045})


def carried():
    # the wedge is pulled by 25: the block sticks by friction, and all goes by 25/4
    c, s = np.cos(0.5), np.sin(0.5)
    slope = limit(c * y - s * (u - x), "slope", 0, 0.3, c * dot(u - x) + s * dot(y))
    system = made((x, u, y), (3, 1, 1), G * y, [slope], {x: -25})
    return Known(system, at((x, u, y), (0, 0, 0), (0, 0, 0)), 1.0, [], [], last={0: -25 / 8, 1: -25 / 8, 2: 0.0})


def cradle():
    # unequal masses and restitutions in a row, one collision after the other (by hand)
    m, e = np.array([1, 2.5, 0.7, 3]), (0.9, 0.5, 1.0)
    X, V, t, times = np.array([0, 1, 1.7, 2.1]), np.array([3.0, 0, 0, 0]), 0.0, []
    system = made(CARTS, m, 0, [limit(CARTS[i + 1] - CARTS[i] - 0.2, f"k{i}", e[i]) for i in range(3)])
    start = at(CARTS, X, V)
    while True:
        ahead = [((X[i + 1] - X[i] - 0.2) / (V[i] - V[i + 1]), i) for i in range(3) if V[i] - V[i + 1] > 1e-12]
        dt, i = min(ahead, default=(np.inf, 0))
        if t + dt > 3:
            break
        X, t, push = X + dt * V, t + dt, (1 + e[i]) * (V[i] - V[i + 1]) / (1 / m[i] + 1 / m[i + 1])
        V[i], V[i + 1] = V[i] - push / m[i], V[i + 1] + push / m[i + 1]
        times.append(t)
    return Known(system, start, 3.0, ["impact"] * len(times), times, last=dict(enumerate(X + (3 - t) * V)))


def belt():
    # dropped from 0.2 on a belt of 3 m/s: the impact gives μ v, the rest is μ g until it sticks
    floor = limit(y, "belt", 0, 0.4, dot(x) - 3)
    v = np.sqrt(0.4 * G)
    lands, sticks = v / G, v / G + (3 - 0.4 * v) / (0.4 * G)
    slid = 0.4 * v * (sticks - lands) + 0.2 * G * (sticks - lands) ** 2
    return Known(made((x, y), (1, 1), G * y, [floor]), at((x, y), (0, 0.2), (0, 0)), 2.0, ["impact", "stick"],
                 [lands, sticks], last={0: slid + 3 * (2 - sticks)})  # fmt: skip


def pulley():
    # 2 and 1 on a string: the heavy one stops on the floor, the string is slack, and jerks it up again
    rows = [limit(x + y - 1, "string"), limit(x, "floor")]
    down = G / 3
    first = np.sqrt(1 / down)
    again = first + 2 * down * first / G
    return Known(made((x, y), (2, 1), G * (2 * x + y), rows), at((x, y), (0.5, 0.5), (0, 0)), 1.0,
                 ["impact", "impact"], [first, again],
                 {1: [down * first / 3, -down * first / 3]})  # fmt: skip


def step_up():
    # a disc that rolls meets a step of h = R/5 and turns about its edge: (J + m R (R − h)) ω = (J + m R²) ω'
    R, h, w = 0.5, 0.1, 6.0
    d = sp.sqrt((x - 2) ** 2 + (y - h) ** 2)
    nx, ny = (x - 2) / d, (y - h) / d
    slip = (dot(x) + dot(turn) * R * ny) * ny - (dot(y) - dot(turn) * R * nx) * nx
    rows = [limit(y - R, "floor", 0, 0.9, dot(x) + R * dot(turn)), limit(d - R, "edge", 0, 50.0, slip)]
    after = w * (R**2 / 2 + R * (R - h)) / (1.5 * R**2)
    meets = (1 - np.sqrt(R**2 - (R - h) ** 2)) / (R * w)
    edge = np.array([np.sqrt(R**2 - (R - h) ** 2), R - h])  # from the disc's middle to the edge, (along, down)
    return Known(made((x, y, turn), (1, 1, R**2 / 2), G * y, rows), at((x, y, turn), (1, R, 0), (R * w, 0, -w)), 0.3,
                 ["impact"], [meets], {0: [after * edge[1], after * edge[0], -after]})  # fmt: skip


def superball():
    # spins so that friction stops the slip: Λ = −γ/(1/m + R²/J), by Poisson's law
    R, m, e = 0.1, 0.5, 0.8
    J, v, slip = 0.4 * m * R**2, np.sqrt(1.8 * G), 1 - 30 * R
    push = -slip / (1 / m + R**2 / J)
    floor = limit(y - R, "floor", e, 0.9, dot(x) + R * dot(turn))
    return Known(made((x, y, turn), (m, m, J), m * G * y, [floor]), at((x, y, turn), (0, 1, 0), (1, 0, -30)), 0.6,
                 ["impact"], [v / G], {0: [1 + push / m, e * v, -30 + R * push / J]},
                 options={"impacts": "poisson"})  # fmt: skip


def cannon():
    # a light ball upon a heavy one, elastic, one after the other: nearly three times as fast
    M, v = 1e3, np.sqrt(2 * G)
    rows = [limit(x, "floor", 1), limit(y - x, "balls", 1)]
    after = [(M - 3) * v / (M + 1), (3 * M - 1) * v / (M + 1)]
    return Known(made((x, y), (M, 1), G * (M * x + y), rows), at((x, y), (1, 1), (0, 0)), 0.5, ["impact"], [v / G],
                 {0: after}, options={"impacts": "sequential"})  # fmt: skip


def corners():
    # in a square along its diagonal: two walls at once, for ever
    rows = [limit(e, f"{e} low", 1) for e in (x, y)] + [limit(1 - e, f"{e} high", 1) for e in (x, y)]
    return Known(made((x, y), (1, 1), 0, rows), at((x, y), (0.25, 0.25), (1, 1)), 10.0, ["impact"] * 10,
                 [0.75 + k for k in range(10)], last={0: 0.25, 1: 0.25})  # fmt: skip


def train():
    # three carts with slack couplings, pulled by 3: momentum is shared at each jerk
    q = CARTS[:3]
    rows = [limit(1.2 - (q[0] - q[1]), "first"), limit(1.2 - (q[1] - q[2]), "second")]
    one = np.sqrt(0.4 / 3)
    v = 1.5 * one
    tau = (-v + np.sqrt(v**2 + 0.6)) / 1.5
    both, w, rest = one + tau, (v + 1.5 * tau) * 2 / 3, 2 - one - tau
    return Known(made(q, (1, 1, 1), 0, rows, {q[0]: 3}), at(q, (2, 1, 0), (0, 0, 0)), 2.0, ["impact"] * 2, [one, both],
                 last={0: 2.2 + v * tau + 0.75 * tau**2 + w * rest + rest**2 / 2})  # fmt: skip


def drag():
    # falls and rises in air with 0.3 v²: tanh and tan
    k, h, t, times = 0.3, 2.0, 0.0, []
    v, rate = np.sqrt(G / k), np.sqrt(G * k)
    falls = np.arccosh(np.exp(k * h)) / rate
    t = falls
    while t < 2:
        times.append(t)
        up = 0.9 * v * np.tanh(rate * falls)
        h = np.log(1 + (up / v) ** 2) / (2 * k)
        falls = np.arccosh(np.exp(k * h)) / rate
        t += np.arctan(up / v) / rate + falls
    air = {y: -k * dot(y) * sp.Abs(dot(y))}
    return Known(made((y,), (1,), G * y, [limit(y, "floor", 0.9)], air), at((y,), (2,), (0,)), 2.0,
                 ["impact"] * len(times), times)  # fmt: skip


def clutch():
    # a shaft of 1 with 3 m/s takes along one of 2 by an overrunning clutch, at once: (1, 1)
    system = made((x, u), (1, 2), 0, [limit(dot(u) - dot(x), "clutch")])
    return Known(system, at((x, u), (0, 0), (3, 0)), 1.0, ["impact"], [0.0], {0: [1, 1]}, {0: 1.0, 1: 1.0})


SCENES = [wedge, carried, cradle, belt, pulley, step_up, superball, cannon, corners, train, drag, clutch]


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda make: make.__name__)
def test_a_scene_goes_as_it_is_known_to(scene, method):
    known = scene()
    motion = zw.simulate(known.system, known.start, known.until, method=method, **known.options)
    count = len(known.times)
    assert motion.attrs["status"] == "finished"
    assert motion.transition_kind.values[:count].tolist() == known.kinds
    assert motion.transition_time.values[:count] == pytest.approx(known.times, abs=1e-9)
    for k, v in known.after.items():
        assert motion.velocity_after.values[k] == pytest.approx(v, abs=1e-8)
    for k, value in known.last.items():
        assert float(motion.q[-1, k]) == pytest.approx(value, abs=1e-9)
    size = max(1.0, float(abs(motion.energy).max()), float(abs(motion.kinetic).max()))
    assert float(abs(motion.energy_balance).max()) < 1e-9 * size
    assert float(motion.gap.min()) > -1e-9
    assert float(abs(motion.gap * motion.normal_force).max()) < 1e-8


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_a_billiard_in_an_ellipse_keeps_its_caustic(method):
    # the product of angular momenta about the foci is kept by every elastic impact
    a, b, c = 2.0, 1.3, np.sqrt(4 - 1.69)
    table = made((x, y), (1, 1), 0, [limit(1 - x**2 / a**2 - y**2 / b**2, "rim", 1)])
    motion = zw.simulate(table, at((x, y), (0.3, -0.2), (1.1, 0.8)), 200.0, method=method)
    (X, Y), (U, V) = motion.q.values.T, motion.v.values.T
    momenta = ((X - c) * V - Y * U) * ((X + c) * V - Y * U)
    assert len(motion.transition_time) > 80
    assert momenta == pytest.approx(momenta[0], abs=1e-10)


@pytest.mark.parametrize("length", [1e-6, 1e6])
@pytest.mark.parametrize("mass", [1e-6, 1e6])
def test_units_change_nothing(length, mass):
    def run(L, m):
        rows = [limit(y, "floor", 0.6, 0.25, dot(x)), limit(3 * L - x, "wall", 0.5)]
        return zw.simulate(made((x, y), (m, m), m * G * L * y, rows), at((x, y), (0, 0.5 * L), (4 * L, 0)), 3.0)

    scaled, plain = run(length, mass), run(1.0, 1.0)
    assert scaled.transition_kind.values.tolist() == plain.transition_kind.values.tolist()
    assert scaled.q.values / length == pytest.approx(plain.q.values, abs=1e-12)
