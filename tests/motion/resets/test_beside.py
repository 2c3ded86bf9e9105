"""Sensitivities across resets: against difference quotients, closed forms, and what is refused."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import hybrid
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
v, w = dot(x), dot(y)
g, k = zw.parameters("g k")
KICK = zw.Event(
    x - k * sp.sin(zw.t) / 5,
    "kick",
    direction=-1,
    reset={x: -x, v: -v * k * (1 + zw.t / 10), w: w * k * (1 + zw.t / 10)},
)


def on_a_ring(angle, rate):
    return {x: np.cos(angle), y: np.sin(angle), v: -rate * np.sin(angle), w: rate * np.cos(angle)}


def pendulum():
    rod = x**2 + y**2 - 1
    drag = {x: -k * v / 10, y: -k * w / 10}
    return zw.System((x, y), kinetic=(v**2 + w**2) / 2, potential=g * y, constraints={"rod": rod, "again": 2 * rod},
                     forces=drag, parameters={g: 9.81, k: 0.7})  # fmt: skip


@pytest.mark.parametrize(("method", "tol"), [("native", 1e-12), ("taylor", 1e-12), ("radau", 1e-9)])
def test_three_resets_that_know_time_state_and_parameters(method, tol):
    """Of a pendulum with redundant rods: by the start along them, and by a parameter, against difference quotients."""
    system, step = pendulum(), 1e-5
    along = {x: -np.sin(0.1), y: np.cos(0.1), v: -0.3 * np.cos(0.1), w: -0.3 * np.sin(0.1)}
    found = zw.sensitivities(
        system,
        on_a_ring(0.1, 0.3),
        3.0,
        {"angle": along, "k": {k: 1}},
        samples=2,
        events=[KICK],
        method=method,
        tol=tol,
    )

    def end(angle, value):
        motion = zw.simulate(
            system, on_a_ring(angle, 0.3), 3.0, samples=2, events=[KICK], parameters={k: value}, tol=1e-13
        )
        assert motion.sizes["event"] == 3
        return np.concatenate([motion.q.values[-1], motion.v.values[-1]])

    quotients = [
        (end(0.1 + step, 0.7) - end(0.1 - step, 0.7)) / (2 * step),
        (end(0.1, 0.7 + step) - end(0.1, 0.7 - step)) / (2 * step),
    ]
    values = np.concatenate([found.dq.values[-1], found.dv.values[-1]])
    assert values == pytest.approx(np.array(quotients).T, abs=3e-8)


def test_the_walkers_step_has_the_eigenvalues_of_its_return_map():
    """−0.19009984 ± 0.55759878 i, one along the motion, and none for the leg that is forgotten; in 15 digits."""
    system, strike, start = hybrid.walker()
    some = zw.simulate(system, start, 1.0, events=[strike], samples=2)
    keys = [*system.coordinates, *system.velocities]
    here = dict(zip(keys, [*some.q.values[-1], *some.v.values[-1]], strict=True))
    motion = zw.sensitivities(system, here, hybrid.STEP_TIME, keys, events=[strike], samples=2)
    values = np.linalg.eigvals(np.concatenate([motion.dq.values[-1], motion.dv.values[-1]]))
    known = [hybrid.TURNING, hybrid.TURNING.conjugate(), 0, 1]
    for value in known:
        assert np.abs(values - value).min() < 1e-10


def test_impacts_and_resets_follow_each_other():
    ground = zw.Constraint(y >= 0, "floor", restitution=sp.Rational(4, 5))
    system = zw.System((x, y), kinetic=(v**2 + w**2) / 2, potential=g * y, constraints=[ground], parameters={g: 9.81})
    wrap = zw.Event(x - 1 + y / 10, "wrap", direction=1, reset={x: x - 1 + y**2 / 10, w: w * g / 11 + x * v})
    start, keys, step = {x: 0, y: 1, v: 1.3, w: 0}, [x, y, v, w, g], 1e-6
    found = zw.sensitivities(system, start, 2, keys, events=[wrap], samples=2)

    def end(way):
        moved = {key: start[key] + d for key, d in zip(start, way, strict=False)}
        motion = zw.simulate(system, moved, 2, samples=2, events=[wrap], parameters={g: 9.81 + way[4]}, tol=1e-13)
        return np.concatenate([motion.q.values[-1], motion.v.values[-1]])

    quotients = np.array([(end(step * e) - end(-step * e)) / (2 * step) for e in np.eye(5)]).T
    values = np.concatenate([found.dq.values[-1], found.dv.values[-1]])
    assert values == pytest.approx(quotients, abs=3e-8)
    drop = zw.Event(x - 1, "drop", direction=1, reset={y: (x - 1) ** 2, w: v - 1.3})
    with pytest.raises(InputError, match=r"'floor' is closed after the reset of 'drop', and the direction 'dot\(x\)'"):
        zw.sensitivities(system, start, 2, [v], events=[drop])


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (
            [zw.Event(x - 1, "one", reset={v: 2}), zw.Event(x - v, "two", reset={x: 0})],
            "'one' and 'two' reset the state at the same instant t = 1",
        ),
        ([zw.Event((x - 1) ** 2, "touched", reset={x: 0})], "only touches the event 'touched' at t = 1"),
    ],
)
def test_what_has_no_derivative_is_refused_by_name(events, words):
    free = zw.System((x,), kinetic=v**2 / 2)
    with pytest.raises(InputError, match=words):
        zw.sensitivities(free, {x: 0, v: 1}, 2, [x, v], events=events)
