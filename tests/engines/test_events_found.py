"""Functions with known zeros as events: all are found where they are, and none is invented.

The zeros come from how the functions are made: products of factors with chosen roots, jumps at chosen instants, and
motions in closed form (x = t, x = cos t, a throw).
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
G = 9.81
THROW = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=G * x), {x: 0, dot(x): 40}
ENGINES = [(m, tol) for m in ("native", "taylor") for tol in (1e-6, 1e-12)]
ENGINES += [(m, tol) for m in ("radau", "lsoda") for tol in (1e-6, 1e-9)]


def inside(roots):
    return sorted(float(r) for r in roots if 0 < r < END)


def of_time(rng):
    """(name, function of t, its zeros): simple, many, multiple, close, touching, jumps, kinks and poles."""
    r, s = rng.uniform(0.5, 9.5), rng.uniform(0.3, 3)
    k = int(rng.integers(50, 400))
    phase = rng.uniform(0, np.pi)
    some = np.sort(rng.uniform(0.2, 9.8, int(rng.integers(2, 12))))
    dip = 10.0 ** -rng.integers(4, 16)
    close = 10.0 ** -rng.integers(2, 9)
    period = rng.uniform(0.3, 2)
    waves = (phase + np.pi * np.arange(-2000, 2000)) / k
    up, down = np.sort(rng.uniform(0.5, 9.5, 2))
    yield "straight", s * (t - r), [r]
    yield "product", sp.Mul(*[t - c for c in some]), some
    yield "waves", sp.sin(k * t - phase), waves
    yield "waves on a slope", sp.sin(k * t - phase) * sp.exp(-t / 3), waves
    yield "chirp", sp.sin(s * 4 * t**2), np.sqrt(np.pi * np.arange(1, 1000) / (4 * s))
    yield "double", s * (t - r) ** 2, [r]
    yield "double, from below", -s * (t - r) ** 2, [r]
    yield "triple", s * (t - r) ** 3, [r]
    yield "quadruple", s * (t - r) ** 4, [r]
    yield "fivefold", (t - r) ** 5, [r]
    yield "touching often", 1 - sp.cos(k * t), 2 * np.pi * np.arange(1, 1000) / k
    yield "close", s * (t - r) * (t - r - close), [r, r + close]
    yield "three close", (t - r) * (t - r - close) * (t - r - 3 * close), [r, r + close, r + 3 * close]
    yield "dip", (t - r) ** 2 - dip, [r - np.sqrt(dip), r + np.sqrt(dip)]
    yield "near miss", (t - r) ** 2 + dip, []
    yield "floor", sp.floor(t / period) - 2, [2 * period]
    yield "sawtooth", t / period - sp.floor(t / period), period * np.arange(1, 100)
    yield "sign", sp.sign(t - r), [r]
    yield "Heaviside", sp.Heaviside(t - r) - sp.Rational(1, 2), [r]
    yield "step", sp.Piecewise((-1, t < r), (2, True)), [r]
    yield "step away from zero", sp.Piecewise((1, t < r), (2, True)), []
    yield "pulse", sp.Piecewise((1, (t > up) & (t < down)), (-1, True)), [up, down]
    yield "kink", sp.Abs(t - r), [r]
    yield "kinks crossed", sp.Abs(t - r) - 0.3, [r - 0.3, r + 0.3]
    yield "cusp", sp.sqrt(sp.Abs(t - r)), [r]
    yield "stays at zero", sp.Max(r - t, 0), [r]
    yield "leaves zero", sp.Max(t - r, 0), []
    yield "end of the domain", sp.sqrt(r - t), [r]
    yield "pole", 1 / (t - r), []
    yield "double pole", s / (t - r) ** 2, []
    yield "pole and zero", (t - r - 0.2) / (t - r), [r + 0.2]
    yield "tangent", sp.tan(5 * t - phase), (phase + np.pi * np.arange(-100, 100)) / 5
    yield "steep", sp.atan(1e6 * (t - r)), [r]
    yield "bump", sp.exp(-(((t - r) / 0.02) ** 2)) - 0.5, [r - 0.02 * np.sqrt(np.log(2)), r + 0.02 * np.sqrt(np.log(2))]


def of_oscillator(rng):
    """(name, function of x = cos t, the values of x at which it is zero)."""
    c, d = np.sort(rng.uniform(-0.95, 0.95, 2))
    some = rng.uniform(-0.95, 0.95, 5)
    yield "level", x - c, [c]
    yield "product", sp.Mul(*[x - a for a in some]), some
    yield "double", (x - c) ** 2, [c]
    yield "triple", (x - c) ** 3, [c]
    yield "two and one", (x - c) ** 2 * (x - d), [c, d]
    yield "waves", sp.sin(40 * x), np.pi / 40 * np.arange(-12, 13)
    yield "kink", sp.Abs(x - c), [c]
    yield "size", sp.Abs(x) - abs(c), [c, -c]
    yield "sign", sp.sign(x - c), [c]
    yield "step", sp.Piecewise((-1, x < c), (1, True)), [c]
    yield "pole", 1 / (x - c), []
    yield "near the top", x - 0.9999, [0.9999]


def when(levels):
    """The times from 0 to END at which cos t is one of some levels."""
    turns = 2 * np.pi * np.arange(3)
    return inside(np.ravel([[2 * np.pi * s + turns for s in (f, 1 - f)] for f in np.arccos(levels) / (2 * np.pi)]))


def found(motion, count):
    """The times of each of so many events."""
    names = motion.event_name.values
    return [motion.event_time.values[names == str(i)] for i in range(count)]


def compare(motion, expected, what):
    """Each event at its times, within what it may err by."""
    assert motion.status == "finished"
    times = found(motion, len(expected))
    for (name, roots, errors), met in zip(expected, times, strict=True):
        assert len(met) == len(roots), f"{what} {name}: {met} for {roots}"
        assert (np.abs(met - roots) <= errors).all(), f"{what} {name}: {met - roots}"


@pytest.mark.parametrize(("method", "tol"), ENGINES)
def test_all_zeros_are_found_and_none_is_invented(method, tol):
    rng = np.random.default_rng([7, len(method), int(-np.log10(tol))])
    options = {"samples": 2, "method": method, "tol": tol}
    tried = 0
    for _ in range(6):
        cases = [(name, f, np.array(inside(roots))) for name, f, roots in of_time(rng)]
        events = [Event(f, str(i)) for i, (_, f, _) in enumerate(cases)]
        motion = zw.simulate(*FREE, until=END, events=events, **options)
        expected = [(name, roots, 1e-8 if "touching" in name else 1e-12) for name, _, roots in cases]
        compare(motion, expected, f"{method} {tol}: of time,")
        tried += len(cases)
    cases = [(name, f, np.array(when(roots))) for name, f, roots in of_oscillator(rng)]
    motion = zw.simulate(
        *OSCILLATOR, until=END, events=[Event(f, str(i)) for i, (_, f, _) in enumerate(cases)], **options
    )
    slack = 300 * tol if method != "lsoda" else 3000 * tol
    compare(motion, [(name, at, slack / np.abs(np.sin(at)) + 1e-11) for name, _, at in cases], f"{method} {tol}: of x,")
    tried += len(cases)
    assert tried > 200


@pytest.mark.parametrize(("method", "tol"), ENGINES)
def test_a_throw_dips_over_its_top(method, tol):
    top = 40**2 / (2 * G)
    least = 1e-11 if method != "lsoda" else 1e5 * tol  # the motion itself is exact; LSODA's is not
    dips = [d for d in 10.0 ** -np.arange(1, 11) if d > least]
    events = [Event(x - (top - d), str(i)) for i, d in enumerate(dips)] + [Event(x - top - 1e-3, str(len(dips)))]
    motion = zw.simulate(*THROW, until=8.0, samples=2, method=method, tol=tol, events=events)
    error = 1e-12 if method != "lsoda" else 1e3 * tol
    for d, met in zip([*dips, -1], found(motion, len(dips) + 1), strict=True):
        assert len(met) == (2 if d > 0 else 0)
        if d > 0:
            away = np.sqrt(2 * d / G)
            np.testing.assert_allclose(met, [40 / G - away, 40 / G + away], rtol=0, atol=error / (G * away) + 1e-14)


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
def test_what_varies_faster_than_it_can_be_followed_is_unresolved(method):
    # Some 3e11 zeros a second: nothing is said of the step that holds them, and what came before stands.
    fast = sp.Piecewise((1, t < 2), (sp.sin(1e12 * t), True))
    events = [Event(fast, "fast"), Event(x - 1, "slow")]
    motion = zw.simulate(*FREE, until=END, samples=11, events=events, method=method, throw=False)
    assert motion.status == "unresolved"
    assert "an event varies faster there than time is resolved" in motion.message
    assert list(motion.event_name.values).count("slow") == 1
    assert (motion.event_time <= 2.0 + 1e-11).all()  # a jump over zero at t = 2 may be one
    assert 1.0 <= float(motion.time[-1]) <= 2.0


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
def test_an_event_where_a_run_is_restarted_fires_once(method):
    # ẍ = −sign x from rest at x = 1/2: parabolas of height 1/2, zeros at t = 1, 3, 5 …
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: -sp.sign(x)})
    at_zero = [x, 3 * x, sp.Abs(x), x**2, x**3, x**5, sp.sign(x), sp.exp(x) - 1, sp.Add(2 * x, -x, evaluate=False)]
    at_rest = [dot(x), dot(x) ** 3]  # at the turning points, t = 2, 4, 6 …
    events = [Event(f, str(i)) for i, f in enumerate([*at_zero, *at_rest])]
    motion = zw.simulate(system, {x: 0.5, dot(x): 0}, 9.5, samples=2, events=events, method=method, tol=1e-9)
    assert motion.status == "finished"
    truth = [np.arange(1, 10, 2)] * len(at_zero) + [np.arange(2, 10, 2)] * len(at_rest)
    for f, met, true in zip([*at_zero, *at_rest], found(motion, len(events)), truth, strict=True):
        assert len(met) == len(true), (f, met)
        assert np.abs(met - true).max() < 1e-6, (f, met)


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
@pytest.mark.parametrize("f", [x**3, sp.sign(x), sp.Abs(x) ** 3], ids=str)
def test_an_event_by_itself_does_not_hold_up_a_restart(method, f):
    # the same motion, held to a line by a row and twice that row
    y = zw.coordinates("y")
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[y, 2 * y], forces={x: -sp.sign(x)})
    start = {x: 0.5, y: 0, dot(x): 0, dot(y): 0}
    motion = zw.simulate(system, start, 9.5, samples=2, events=[Event(f)], method=method, tol=1e-9)
    assert motion.status == "finished"
    assert np.allclose(motion.event_time.values, np.arange(1, 10, 2), rtol=0, atol=1e-6)
