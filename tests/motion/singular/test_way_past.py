"""Small pivots: leapt, passed by, given to other rows, or an honest stop; never passed unreported."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.errors import SimulationError
from zwang.formulations.forms import FORMS, integrable

x, y, z = zw.coordinates("x y z")
t = zw.t


def parallelogram(speed, until, loops=1):
    """End position of the first joint, and how often the linkage flattens: its reduction to one angle."""
    J, k = (loops + 1) / 3 + loops, (loops + 1) / 2 + loops
    found = solve_ivp(
        lambda s, u: [u[1], k * 9.81 / J * np.sin(u[0])],
        (0, until),
        [0, speed],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        events=lambda s, u: np.cos(u[0]),
    )
    return np.sin(found.y[0, -1]), len(found.t_events[0])


def with_rows(system, factors):
    """The same system with every constraint given so many times."""
    rows = [zw.Constraint(f * c.expression, f"{c.name} {f}") for c in system.constraints for f in factors]
    return replace(system, constraints=rows)


# No crossing goes unreported


@pytest.mark.both_codes
@pytest.mark.parametrize("tol", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13])
def test_every_crossing_is_leapt_and_reported_or_the_run_stops(tol):
    # Of a scan over speeds; the last three have their crossing well hidden between stages at loose tolerances.
    for speed in (0.35, 2.9, 6.1, 1.04, 2.67, 6.67):
        where, bridges = parallelogram(speed, 1.5)
        system, start = problems.four_bar(1, speed)
        motion = zw.simulate(system, start, 1.5, samples=4, tol=tol, method="native", throw=False)
        if motion.status == "finished":
            assert motion.message.count("Leapt") == bridges
            assert abs(float(motion.q[-1, 0]) - where) < 1e3 * tol + 1e-9
        else:
            assert motion.status == "singular"
            assert "become dependent" in motion.message


def test_taylor_misses_no_crossing_either():
    for speed, tol in ((0.35, 1e-6), (2.9, 1e-9), (6.1, 1e-12)):
        where, bridges = parallelogram(speed, 1.5)
        system, start = problems.four_bar(1, speed)
        motion = zw.simulate(system, start, 1.5, samples=4, tol=tol, method="taylor")
        assert motion.message.count("Leapt") == bridges
        assert abs(float(motion.q[-1, 0]) - where) < 1e3 * tol + 1e-9


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_states_are_saved_across_a_leap(method):
    # The first flattening is at t = 0.70845.
    system, start = problems.four_bar(1)
    times = np.linspace(0.7, 0.72, 201)
    motion = zw.simulate(system, start, 0.72, times=times, tol=1e-13, method=method)
    assert len(motion.time) == 201
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-9
    assert float(abs(motion.residual).max()) < 1e-12
    across = motion.q.sel(coordinate="x1") - motion.q.sel(coordinate="x0")
    assert float(abs(across - 1).max()) < 1e-8


@pytest.mark.both_codes
def test_a_run_may_end_inside_a_leap():
    system, start = problems.four_bar(1)
    motion = zw.simulate(system, start, 0.709, samples=3, tol=1e-13)
    assert motion.message.startswith("finished at t = 0.709.")
    assert motion.message.count("Leapt") == 1
    assert float(motion.time[-1]) == 0.709
    before = zw.simulate(system, start, 0.708, samples=3, tol=1e-13)
    assert before.message == "finished at t = 0.708."


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_events_on_a_leap_are_found(method):
    # Both rods are level at the singular instant itself.
    system, start = problems.four_bar(1)
    y0 = system.coordinates[2]
    events = [zw.Event(y0, "level"), zw.Event(y0 + 0.005, "just below", direction=-1)]
    motion = zw.simulate(system, start, 1.0, samples=5, tol=1e-13, events=events, method=method)
    assert list(motion.event_name.values) == ["level", "just below"]
    assert float(motion.event_time[0]) == pytest.approx(0.708450011, abs=1e-8)
    assert float(motion.event_q.sel(coordinate="y0")[1]) == pytest.approx(-0.005, abs=1e-12)
    level = zw.Event(y0, "level", stop=True)
    stopped = zw.simulate(system, start, 1.0, samples=101, tol=1e-13, events=[level], method=method)
    assert stopped.status == "event"
    assert "Leapt" in stopped.message
    assert len(stopped.time) == 71


# Near misses


def near_miss(least):
    """Rows at an angle √((t − 1)² + least²): almost parallel at t = 1."""
    angle = sp.sqrt((t - 1) ** 2 + least**2)
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=y + z,
        constraints={"first": dot(x), "second": sp.cos(angle) * dot(x) + sp.sin(angle) * dot(y)},
    )
    return system, dict.fromkeys((*system.coordinates, *system.velocities), 0.0)


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("least", [0.1, 0.01, 3e-3, 1e-3, 1e-4])
def test_near_misses_are_integrated_through(least, method):
    system, start = near_miss(least)
    height = system.coordinates[2]
    event = zw.Event(height + sp.Rational(1, 2), "half way down")  # at t = 1 exactly
    motion = zw.simulate(system, start, 2.0, samples=21, method=method, events=[event])
    assert motion.message == "finished at t = 2."
    assert (
        np.abs(motion.q.values - np.stack([0 * motion.time, 0 * motion.time, -(motion.time**2) / 2], 1)).max() < 1e-10
    )
    assert motion.event_time.values == pytest.approx([1.0], abs=1e-9)


@pytest.mark.both_codes
@pytest.mark.parametrize("longer", [1e-3, 1e-4, 1e-5])
def test_a_linkage_with_slightly_unequal_bars_is_a_near_miss(longer):
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    system = zw.System(
        q,
        kinetic=sum(dot(c) ** 2 for c in q) / 2,
        constraints={
            "crank 1": x1**2 + y1**2 - 1,
            "crank 2": (x2 - 2) ** 2 + y2**2 - (1 + longer) ** 2,
            "coupler": (x2 - x1) ** 2 + (y2 - y1) ** 2 - 4,
        },
    )
    guess = {x1: 0, y1: -1, x2: 2, y2: -1, dot(x1): 1, dot(y1): 0, dot(x2): 1, dot(y2): 0}
    start = zw.assemble(system, guess, hold=[x1, y1])
    other = zw.simulate(system, start, 4.0, samples=2, tol=1e-14, method="taylor")
    for tol in (1e-8, 1e-10, 1e-12):
        motion = zw.simulate(system, start, 4.0, samples=41, tol=tol, method="native")
        assert "Leapt" not in motion.message
        # it turns within a time of the root of the difference in lengths, and loses digits there
        assert float(abs(motion.q[-1] - other.q[-1]).max()) < 1e4 * tol / longer
        assert float(abs(motion.energy - motion.energy[0]).max()) < 1e4 * tol
        assert float(abs(motion.residual).max()) < 1e4 * tol


@pytest.mark.both_codes
@pytest.mark.parametrize("factors", [(1,), (1, 2)], ids=["independent", "every row twice"])
def test_a_pivot_may_be_small_because_a_mass_is(factors):
    system, start = problems.cart_pole()
    system = with_rows(system, factors)
    motion = zw.simulate(system, start, 0.46, samples=3, tol=1e-12, method="native")
    assert motion.message == "finished at t = 0.46."


# Other rows, permanent loss, contradictions


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("form", integrable())
def test_which_rows_are_redundant_may_change(form, method):
    # Three rows of rank two; the first two are at right angles at the start and parallel at t = π/2. All are used,
    # but for Gibbs and Appell's form, which eliminates with independent ones and chooses them anew.
    g = zw.parameters("g")
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=g * (x + 2 * y + z),
        constraints={
            "still": dot(x),
            "turning": sp.sin(t) * dot(x) + sp.cos(t) * dot(y),
            "tilted": dot(x) + sp.Rational(1, 3) * dot(y),
        },
        parameters={g: 9.81},
    )
    start = dict.fromkeys((*system.coordinates, *system.velocities), 0.0)
    motion = zw.simulate(system, start, 3.0, samples=31, method=method, form=form)
    assert ("Chose other independent rows at t = " in motion.message) == FORMS[form].eliminates
    assert "Leapt" not in motion.message
    assert np.abs(motion.q.values[:, :2]).max() < 1e-11
    assert np.abs(motion.q.values[:, 2] + 9.81 * motion.time.values**2 / 2).max() < 1e-10
    assert (motion["rank"] == 2).all()
    assert np.abs(motion.constraint_force.values - 9.81 * np.array([1, 2, 0])).max() < 1e-8


def test_gibbs_appell_eliminates_other_coordinates_on_the_way():
    motion = zw.simulate(*problems.pendulum(), 3.0, samples=31, form="gibbs-appell", method="native")
    other = zw.simulate(*problems.pendulum(), 3.0, samples=31, method="native")
    assert "Chose other independent rows" in motion.message
    assert np.abs(motion.q.values - other.q.values).max() < 1e-10


FADING = sp.Piecewise(((1 - t) ** 3, t < 1), (0, True))


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_a_row_that_vanishes_for_good_stops_the_motion(method):
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"fading": FADING * dot(y)})
    start = {x: 0, y: 0, dot(x): 1, dot(y): 0}
    with pytest.raises(SimulationError, match="the row of fading vanishes, and no way past it was found") as caught:
        zw.simulate(system, start, 2.0, samples=21, method=method)
    assert caught.value.status == "singular"
    assert "zwang.diagnose" in str(caught.value)
    assert 0 < len(caught.value.motion.time) < 11
    kept = zw.simulate(system, start, 2.0, samples=21, method=method, throw=False)
    assert kept.status == "singular"


@pytest.mark.both_codes
def test_rows_that_become_dependent_for_good_stop_the_motion():
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"across": dot(x), "along": dot(x) + FADING * dot(y)},
    )
    start = dict.fromkeys((*system.coordinates, *system.velocities), 0.0)
    with pytest.raises(SimulationError, match="across, along become dependent") as caught:
        zw.simulate(system, start, 2.0, samples=21)
    assert caught.value.status == "singular"


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_constraints_that_come_to_contradict_each_other_stop_the_motion(power, method):
    # Both ask for the same until t = 1.
    drive = sp.Piecewise((sp.sin(t), t < 1), (sp.sin(t) + (t - 1) ** power, True))
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"first": x - sp.sin(t), "second": 2 * x - 2 * drive},
    )
    start = {x: 0, y: 0, dot(x): 1, dot(y): 0.3}
    with pytest.raises(SimulationError, match="'second' was redundant at the start, but is at odds") as caught:
        zw.simulate(system, start, 2.0, samples=21, method=method)
    assert caught.value.status == "inconsistent"
    motion = caught.value.motion
    assert float(motion.time[-1]) <= 1.0
    assert np.abs(motion.q.sel(coordinate="x") - np.sin(motion.time)).max() < 1e-11
    assert zw.simulate(system, start, 0.9, samples=10, method=method).status == "finished"


@pytest.mark.both_codes
def test_a_start_at_a_singular_position_is_refused_or_stops():
    system, _ = problems.four_bar(1)
    flat = dict(zip(system.coordinates, (1.0, 2.0, 0.0, 0.0), strict=True))
    flat |= dict(zip(system.velocities, (0.0, 0.0, 1.0, 1.0), strict=True))
    motion = zw.simulate(system, flat, 0.5, samples=3, throw=False)
    assert motion.status in ("singular", "inconsistent")


# Crossings


@pytest.mark.both_codes
@pytest.mark.parametrize("heavy", [1, 3])
@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
def test_a_crossing_is_as_accurate_as_other_steps(heavy, tol):
    # With one crank heavier than the other, the multipliers are infinite where the linkage flattens.
    x0, y0, x1, y1 = q = zw.coordinates("x0 y0 x1 y1")

    def bar(mass, p, r):
        return (
            mass * sum(dot(a) ** 2 + dot(a) * dot(b) + dot(b) ** 2 for a, b in zip(p, r, strict=True)) / sp.Integer(6)
        )

    zero, one = sp.S.Zero, sp.S.One
    bars = ((heavy, (zero, zero), (x0, y0)), (1, (one, zero), (x1, y1)), (1, (x0, y0), (x1, y1)))
    system = zw.System(
        q,
        kinetic=sum(bar(*b) for b in bars),
        potential=sp.Float(9.81) * sum(mass * (p[1] + r[1]) / 2 for mass, p, r in bars),
        constraints={
            name: ((r[0] - p[0]) ** 2 + (r[1] - p[1]) ** 2 - 1) / 2
            for name, (_, p, r) in zip(("left", "right", "coupler"), bars, strict=True)
        },
    )
    start = dict(zip((*q, *map(dot, q)), (0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0), strict=True))
    # By hand, with the angle of the cranks from the vertical: (m/3 + 1/3 + 1) θ̈ = (m/2 + 1/2 + 1) g sin θ.
    J, k = (heavy + 4) / 3, (heavy + 3) / 2
    found = solve_ivp(
        lambda s, u: [u[1], k * 9.81 / J * np.sin(u[0])],
        (0, 4),
        [0, 1],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
        events=lambda s, u: np.cos(u[0]),
    )
    motion = zw.simulate(system, start, 4.0, samples=5, tol=tol, method="native")
    assert abs(float(motion.q[-1, 0]) - np.sin(found.y[0, -1])) < 1e3 * tol
    assert float(abs(motion.residual).max()) < 1e2 * tol
    instants = [float(x) for x in re.findall(r"singular position at t = ([\d.]+)", motion.message)]
    assert np.abs(np.array(instants) - found.t_events[0]).max() < 1e3 * tol + 1e-8
    assert motion.message.count("(left, right, coupler become dependent)") == len(instants) == 4


@pytest.mark.both_codes
def test_redundant_rows_lose_rank_where_the_others_do():
    # The same linkage with every constraint given twice: damped, and the singular positions are found all the same.
    system, start = problems.four_bar(1, 0.35)
    where, bridges = parallelogram(0.35, 1.5)
    motion = zw.simulate(with_rows(system, (1, 2)), start, 1.5, samples=4, tol=1e-10, method="native")
    assert motion.message.count("Leapt") == bridges
    assert abs(float(motion.q[-1, 0]) - where) < 1e-7
    assert (motion["rank"] == 3).all()


@pytest.mark.both_codes
def test_an_event_that_stops_a_crossing_before_its_instant_leaves_nothing_to_report():
    system, start = problems.four_bar(1)
    y0 = system.coordinates[2]
    stop = zw.Event(y0 - 0.05, "above", stop=True)
    motion = zw.simulate(system, start, 1.0, samples=5, tol=1e-6, method="native", events=[stop])
    assert motion.status == "event"
    assert "Leapt" not in motion.message


@pytest.mark.both_codes
@pytest.mark.parametrize("mass", [1 - t, sp.cos(x)], ids=str)
def test_a_mass_that_vanishes_stops_the_motion(mass):
    system = zw.System((x, y), mass=[[mass, 0], [0, 1]], forces={x: 0, y: 0}, constraints={"line": y - x})
    start = {x: 0, y: 0, dot(x): 1, dot(y): 1}
    motion = zw.simulate(system, start, 3.0, samples=4, method="native", throw=False)
    assert motion.status == "singular"
    assert "The mass matrix loses rank there" in motion.message
    # nothing accelerates it before
    assert np.abs(motion.q.values - motion.time.values[:, None]).max() < 1e-12


def test_many_redundant_rows():
    # A hundred rods, each given twice: the product of their pivots must stay a number.
    count = 100
    xs, ys = (zw.coordinates(" ".join(f"{name}{i}" for i in range(count))) for name in "xy")
    places = [(0, 0), *zip(xs, ys, strict=True)]
    rods = [(a - c) ** 2 + (b - d) ** 2 - 1 for (c, d), (a, b) in itertools.pairwise(places)]
    system = zw.System(
        (*xs, *ys),
        kinetic=sum(dot(c) ** 2 for c in (*xs, *ys)) / 2,
        potential=sp.Float(9.81) * sum(ys),
        constraints={f"{kind} {i}": f * rod for i, rod in enumerate(rods) for f, kind in ((1, "rod"), (2, "again"))},
    )
    start = dict.fromkeys((*ys, *system.velocities), 0.0) | {c: i + 1.0 for i, c in enumerate(xs)}
    motion = zw.simulate(system, start, 0.1, samples=3, tol=1e-8, method="native")
    assert motion.message == "finished at t = 0.1."
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-5


# Starts beside a singular position


@pytest.mark.parametrize("method", ["native", "taylor", "radau"])
@pytest.mark.parametrize(("beside", "tol"), [(1e-2, 1e-6), (1e-4, 1e-9), (1e-5, 1e-12)])
def test_a_start_beside_a_singular_position_does_not_switch_the_watch_off(beside, tol, method):
    # A pendulum that turns over, where another branch of its constraint, a line, meets the circle twice a turn.
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=sp.Float(9.81) * y,
        constraints={"curve": x * (x**2 + y**2 - 1)},
    )
    top = np.pi / 2 - beside
    start = {x: np.cos(top), y: np.sin(top), dot(x): 4 * np.sin(top), dot(y): -4 * np.cos(top)}
    found = solve_ivp(
        lambda s, u: [u[1], -9.81 * np.cos(u[0])], (0, 2), [top, -4], method="DOP853", rtol=1e-13, atol=1e-13,
        events=lambda s, u: np.cos(u[0]),
    )  # fmt: skip
    motion = zw.simulate(system, start, 2.0, samples=3, tol=tol, method=method, throw=False)
    if motion.status == "finished":
        assert motion.message.count("Leapt") == len(found.t_events[0])
        assert abs(float(motion.q[-1, 0]) - np.cos(found.y[0, -1])) < 1e3 * tol + 1e-9
    else:
        assert motion.status == "singular"
        assert method == "radau"


@pytest.mark.parametrize("method", ["native", "radau", "taylor", "lsoda"])
def test_a_motion_that_nothing_determines_any_more_keeps_what_it_has(method):
    # A coordinate without mass that a row holds while x > 0, and that nothing holds then.
    free = zw.coordinates("free")
    row = sp.Piecewise((dot(free) - x, x > 0), (dot(x) + 1, True))
    system = zw.System((x, free), kinetic=dot(x) ** 2 / 2, constraints={"row": row})
    start = {x: 1.0, free: 0.0, dot(x): -1.0, dot(free): 1.0}
    motion = zw.simulate(system, start, 2.0, samples=41, throw=False, method=method)
    assert motion.status in ("singular", "not finite")
    assert motion.time.values[-1] >= 0.95
    truth = motion.time.values - motion.time.values**2 / 2
    np.testing.assert_allclose(motion.q.sel(coordinate="free").values, truth, rtol=0, atol=1e-9)
    with pytest.raises(SimulationError) as stopped:
        zw.simulate(system, start, 2.0, samples=41, method=method)
    assert stopped.value.motion is not None
