"""Events that switch by themselves, in time or with the state: found where they do, however soon they switch back.

The instants come from how the functions are made, and from motions in closed form (x = t, x = cos t).
"""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import Event, dot, t

x = zw.coordinates("x")
END = 10.0
FREE = zw.System((x,), kinetic=dot(x) ** 2 / 2), {x: 0, dot(x): 1}
OSCILLATOR = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2), {x: 1, dot(x): 0}
ENGINES = [("native", 1e-6), ("native", 1e-12), ("taylor", 1e-9), ("radau", 1e-6), ("lsoda", 1e-6)]


def simulated(model, functions, **options):
    """The times of each of some events, in a motion that finished."""
    events = [Event(f, str(i)) for i, f in enumerate(functions)]
    motion = zw.simulate(*model, END, samples=2, events=events, **options)
    assert motion.status == "finished"
    return [motion.event_time.values[motion.event_name.values == str(i)] for i in range(len(events))]


def of_line(s, r, width):
    """(function of s, which is t, its zeros): pulses and other switches that come and go within a width."""
    half = sp.Rational(1, 2)
    return [
        (sp.Piecewise((1, (s > r) & (s < r + width)), (-1, True)), [r, r + width]),
        (sp.Piecewise((0, (s > r) & (s < r + width)), (-1, True)), [r]),
        (sp.Heaviside(s - r, half) - sp.Heaviside(s - r - width, half) - half, [r, r + width]),
        (sp.sign((s - r) * (s - r - width)), [r, r + width]),
        (sp.Max(0, width - sp.Abs(s - r)) - width / 2, [r - width / 2, r + width / 2]),
        (sp.Abs(s - r) - width, [r - width, r + width]),
        (sp.Piecewise((1, sp.Abs(s - r) < width), (2, True)), []),
        (sp.floor((s - r) / width + half) ** 2 - half, [r - width / 2, r + width / 2]),
    ]


@pytest.mark.parametrize(("method", "tol"), ENGINES)
def test_a_switch_within_an_event_is_met_where_it_is(method, tol):
    rng = np.random.default_rng([3, len(method), int(-np.log10(tol))])
    for width in (1e-1, 1e-3, 1e-6):
        r = float(rng.uniform(1, 9))
        cases = [*of_line(t, r, width), *of_line(x, r, width)]
        if width < 1e-2:  # as many jumps as there are widths in the motion
            cases = [case for case in cases if not case[0].has(sp.floor)]
        met = simulated(FREE, [f for f, _ in cases], method=method, tol=tol)
        for (f, true), here in zip(cases, met, strict=True):
            assert len(here) == len(true), (f, here, true)
            assert np.allclose(here, true, rtol=0, atol=1e-12 if not f.has(x) else 1e-9), (f, here, true)


@pytest.mark.parametrize(("method", "tol"), ENGINES)
def test_a_switch_of_positions_and_velocities_is_met_wherever_they_cross_it(method, tol):
    c, width = 0.3, 1e-4
    up, low = np.arccos(c + width), np.arccos(c)  # cos t falls through both, and rises through both before 2π
    window = sp.Piecewise((1, (x > c) & (x < c + width)), (-1, True))
    turns = [f(a) for a in (up, low) for f in (lambda a: a, lambda a: 2 * np.pi - a, lambda a: 2 * np.pi + a)]
    fast = np.arcsin(0.6)  # −sin t > 0.6 from π + fast to 2π − fast, and again from 3π + fast = 10.07 on
    whole = np.array([np.arccos(2 / 3), 2 * np.pi - np.arccos(1 / 3), 2 * np.pi + np.arccos(2 / 3)])
    cases = [
        (window, np.sort(turns)),
        (sp.Piecewise((1, dot(x) > 0.6), (-1, True)), [np.pi + fast, 2 * np.pi - fast]),
        (sp.floor(3 * x) - 1, whole),  # arrives at 1 from above and from below
        (sp.Mod(3 * x, 1) + 1, []),
    ]
    met = simulated(OSCILLATOR, [f for f, _ in cases], method=method, tol=tol)
    for (f, true), here in zip(cases, met, strict=True):
        assert len(here) == len(true), (f, here, true)
        assert np.allclose(here, true, rtol=0, atol=1e4 * tol + 1e-10), (f, here, true)


def test_a_switch_within_an_event_leaves_the_motion_as_it_is():
    plain = zw.simulate(*OSCILLATOR, END, samples=11, tol=1e-6)
    events = [Event(sp.Piecewise((1, (t > 5) & (t < 5.001)), (-1, True))), Event(sp.floor(4 * x) - 2)]
    watched = zw.simulate(*OSCILLATOR, END, samples=11, tol=1e-6, events=events)
    assert (plain.q.values == watched.q.values).all()


def test_a_switch_within_an_event_stops_the_motion_and_keeps_to_its_direction():
    pulse = sp.Piecewise((1, (x > 3) & (x < 3.0001)), (-1, True))
    down = zw.simulate(*FREE, END, samples=2, events=[Event(pulse, "p", direction=-1)], tol=1e-6)
    assert np.allclose(down.event_time.values, [3.0001], rtol=0, atol=1e-9)
    up = zw.simulate(*FREE, END, samples=2, events=[Event(pulse, "p", direction=1, stop=True)], tol=1e-6)
    assert up.status == "event"
    assert np.allclose(up.event_time, [3], rtol=0, atol=1e-9)


def test_a_multiplier_may_switch_an_event():
    # A bead on a wire that is pushed by sin t against it: λ = −sin t of the row y = 0, with unit mass.
    y = zw.coordinates("y")
    push = {x: 0, y: sp.sin(t)}
    bead = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"wire": y}, forces=push)
    force = zw.multiplier("wire")
    window = sp.Piecewise((1, (force > 0.5) & (force < 0.501)), (-1, True))
    start = {x: 0, y: 0, dot(x): 1, dot(y): 0}
    motion = zw.simulate(bead, start, 6.0, samples=2, events=[Event(window)], tol=1e-6)
    a, b = np.arcsin(0.5), np.arcsin(0.501)
    assert np.allclose(motion.event_time, [np.pi + a, np.pi + b, 2 * np.pi - b, 2 * np.pi - a], rtol=0, atol=1e-9)


@pytest.mark.parametrize("s", [t, x], ids=["of time", "of the state"])
def test_black_boxes_meet_switches_within_events(s):
    box = zw.BlackBox(("x",), M=np.eye(1), Q=np.zeros(1))
    pulse = sp.Piecewise((1, (s > 3) & (s < 3.001)), (-1, True))
    motion = zw.simulate(box, {"x": 0, "x'": 1}, END, samples=2, events=[Event(pulse)], tol=1e-6)
    assert np.allclose(motion.event_time, [3, 3.001], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("method", "tol"), ENGINES)
def test_a_switch_that_is_only_rounding_hides_nothing(method, tol):
    # On its circle x² + y² − 1 is zero but for rounding and drift; what is seen of it is not an event of x.
    y = zw.coordinates("y")
    ring = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"ring": x**2 + y**2 - 1})
    start = {x: 1, y: 0, dot(x): 0, dot(y): 1}
    f = x - 0.5 + sp.Max(x**2 + y**2 - 1, 0)
    motion = zw.simulate(ring, start, 6.0, samples=2, events=[Event(f)], method=method, tol=tol)
    assert motion.status == "finished"
    assert np.allclose(motion.event_time, [np.pi / 3, 5 * np.pi / 3], rtol=0, atol=1e4 * tol + 1e-10)
