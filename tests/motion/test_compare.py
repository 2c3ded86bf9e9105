"""Comparisons: right motions agree, wrong ones are found out, and what fails is a row that says why."""

import time
from itertools import count
from math import isnan

import numpy as np
import pytest

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.engines import registry
from zwang.errors import InputError
from zwang.formulations import FORMS
from zwang.motion import compare
from zwang.motion.compare import compare_engines, compare_forms, work_precision

x, y = zw.coordinates("x y")
FREE = (dot(x) ** 2 + dot(y) ** 2) / 2
ENGINES = [
    ("native", "fundamental"),
    ("taylor", "fundamental"),
    ("radau", "fundamental"),
    ("lsoda", "fundamental"),
    ("native", "gibbs-appell"),
]


@pytest.fixture(scope="module")
def pendulum():
    return problems.pendulum()


@pytest.fixture(scope="module")
def engines(pendulum):
    return compare_engines(*pendulum, until=2.0)


# Forms


def test_all_forms_agree_along_a_motion(pendulum):
    system, start = pendulum
    rows = compare_forms(system, zw.simulate(system, start, until=2.0))
    assert [row.form for row in rows] == [*FORMS, "literal"]
    for row in rows:
        assert row.error < 1e-14
        assert row.states == compare.COMPARED_STATES
        assert row.seconds > 0
        assert not row.note


def test_the_error_is_that_of_the_acceleration(pendulum, monkeypatch):
    """A form that is wrong by a thousandth of the largest acceleration is found out as just that."""
    system, start = pendulum
    motion = zw.simulate(system, start, until=1.0)
    true = compare.evaluated

    def wrong(system, state, t, parameters, form):
        found = true(system, state, t, parameters, form)
        if form == "gauss":
            found[0].acceleration[..., 0] += 1e-3 * np.abs(found[0].acceleration).max()
        return found

    monkeypatch.setattr(compare, "evaluated", wrong)
    errors = {row.form: row.error for row in compare_forms(system, motion)}
    assert errors.pop("gauss") == pytest.approx(1e-3)
    assert max(errors.values()) < 1e-14


def test_the_literal_equation_is_that_of_the_papers(monkeypatch):
    """M q̈ = Q + M^{1/2}(AM^{-1/2})⁺(b − AM⁻¹Q), with SciPy's root and pseudo-inverse; redundant rows, too."""
    from scipy.linalg import inv, pinv, sqrtm

    system = zw.System(
        (x, y),
        mass=[[2 + x**2, y], [y, 3]],
        forces=[1, -x],
        nonideal=[0, -dot(y)],
        constraints={"one": x * y - 1, "two": 2 * x * y - 2},
    )
    state = {
        "x": np.array([1.0, 2.0]),
        "y": np.array([1.0, 0.5]),
        "x'": np.array([1.0, 2.0]),
        "y'": -np.array([1.0, 0.5]),
    }
    found = compare.acceleration(system, state, np.zeros(2), None, "literal")
    for i in range(2):
        X, Y, V, W = (state[key][i] for key in ("x", "y", "x'", "y'"))
        M, Q = np.array([[2 + X**2, Y], [Y, 3]]), np.array([1, -X - W])
        A, b = np.array([[Y, X], [2 * Y, 2 * X]]), np.array([-2 * V * W, -4 * V * W])
        root = sqrtm(M)
        force = root @ pinv(A @ inv(root)) @ (b - A @ inv(M) @ Q)
        np.testing.assert_allclose(found[i], inv(M) @ (Q + force), rtol=1e-12)


def test_the_literal_equation_needs_no_units_in_common():
    """Lengths in nanometres beside angles of rockets: what is printed is evaluated where every mass is 1."""
    system = zw.System(
        (x, y), kinetic=1e20 * dot(x) ** 2 + dot(x) * dot(y) + 1e-20 * dot(y) ** 2, constraints=[x * 1e20 - y * 1e-20]
    )
    state = {"x": 0.0, "y": 0.0, "x'": 0.0, "y'": 0.0}
    wanted = zw.evaluate(system, state).acceleration
    np.testing.assert_allclose(compare.acceleration(system, state, 0.0, None, "literal"), wanted, atol=1e-30)


def test_forms_use_the_parameters_of_the_motion(pendulum):
    system, start = pendulum
    motion = zw.simulate(system, start, until=1.0, parameters={"g": 1.62})
    for row in compare_forms(system, motion, {"g": 1.62}):
        assert row.error < 1e-14


def test_a_form_that_refuses_some_states_says_where_and_why():
    """At y = 0 the row of y² = 0 vanishes: what a contradicting right-hand side asks for there cannot be done."""
    system = zw.System((x, y), kinetic=FREE, constraints={"pinch": y * dot(dot(y)) - 1})
    free = zw.System((x, y), kinetic=FREE)
    motion = zw.simulate(free, {x: 0, y: 0, dot(x): 0, dot(y): 1}, until=1.0, samples=11)
    for row in compare_forms(system, motion):
        assert row.states == 10
        assert row.error < 1e-12
        assert row.note.startswith("refused at 1 of 11 states: ")
        assert "pinch" in row.note


def test_a_form_that_refuses_every_state_has_no_error():
    system = zw.System((x, y), kinetic=FREE, constraints={"one": dot(dot(x)) - 1, "two": dot(dot(x)) - 2})
    motion = zw.simulate(zw.System((x, y), kinetic=FREE), {x: 0, y: 0, dot(x): 0, dot(y): 1}, until=1.0)
    for row in compare_forms(system, motion):
        assert isnan(row.error)
        assert row.states == 0
        assert row.note.startswith("refused: ")


def test_a_motion_without_states_is_said_so(pendulum):
    system, start = pendulum
    motion = zw.simulate(system, start, until=1.0).isel(time=[])
    assert {row.note for row in compare_forms(system, motion)} == {"the motion has no saved states"}


def test_large_systems_are_compared_at_fewer_states(pendulum, monkeypatch):
    system, start = pendulum
    motion = zw.simulate(system, start, until=1.0)
    monkeypatch.setattr(compare, "DENSE_WORK", 8 * 3)
    assert {row.states for row in compare_forms(system, motion)} == {3}
    monkeypatch.setattr(compare, "DENSE_SIZE", 1)
    assert all(row.note.startswith("left out: 2 coordinates") for row in compare_forms(system, motion))


# Engines


def test_every_engine_and_form_has_its_row(engines):
    assert [(row.engine, row.form) for row in engines] == ENGINES


def test_engines_agree_taylor_included(engines):
    """Each to a hundred times its own tolerance: that bounds a step's error, and there are some hundred steps."""
    for row in engines:
        assert row.error <= 100 * max(row.tol, 1e-12), row
        assert row.drift <= 100 * row.tol
        assert row.energy_error <= 100 * row.tol
        assert row.steps > 10
        assert row.seconds > 0
        assert not row.note
    assert engines[0].error == 0


def test_the_error_is_relative_to_the_size_of_the_state():
    """Positions and velocities each by their own: the unit of length does not matter."""
    errors = []
    for scale in (1.0, 1e6):
        system = zw.System(
            (x, y), kinetic=FREE, potential=9.81 * scale * y, constraints={"rod": x**2 + y**2 - scale**2}
        )
        start = {x: scale, y: 0.0, dot(x): 0.0, dot(y): 0.0}
        errors.append(next(r.error for r in compare_engines(system, start, 2.0, tol=1e-6) if r.engine == "lsoda"))
    assert 0.01 < errors[1] / errors[0] < 100


def test_drift_is_relative_to_the_size_of_the_motion():
    """A rod of a millimetre that is off by a tenth of it is not kept, one of a thousand kilometres by a metre is."""
    for length, off in ((1e-3, 1e-4), (1e6, 1.0)):
        system = zw.System((x, y), kinetic=FREE, constraints={"rod": (x**2 + y**2 - length**2) / 2})
        start = {x: length, y: 0.0, dot(x): 0.0, dot(y): length}
        motion = zw.simulate(system, start, 1.0)
        assert compare.drift_error_of(system, motion, None) < 1e-9
        motion.residual.values[3] = length * off
        assert compare.drift_error_of(system, motion, None) == pytest.approx(off / length, rel=0.6)


def test_a_coordinate_that_stays_at_rest_does_not_drift():
    """Its constraint reads rounding, and its terms are rounding, too; the size of the motion is what counts."""
    system = zw.System((x, y), kinetic=FREE, potential=y, constraints={"wall": x})
    motion = zw.simulate(system, {x: 0.0, y: 0.0, dot(x): 0.0, dot(y): 0.0}, 1.0)
    motion.residual.values[3] = 1e-18
    assert compare.drift_error_of(system, motion, None) < 1e-17


def test_stiff_engines_have_tolerances_of_their_own(engines):
    assert {row.engine: row.tol for row in engines} == {"native": 1e-12, "taylor": 1e-12, "radau": 1e-7, "lsoda": 1e-10}


def test_a_refusal_is_a_row_with_a_note(pendulum):
    system, _ = pendulum
    rows = compare_engines(system, {"x": 2.0, "y": 0.0, "x'": 0.0, "y'": 0.0}, 1.0)
    assert len(rows) == len(ENGINES)
    for row in rows:
        assert isnan(row.error)
        assert row.note.startswith("refused: the start does not satisfy its constraints: 'rod' reads")


def test_an_engine_that_stops_early_says_so_and_has_no_error():
    """ẍ = 6x² from x = 1, ẋ = 2 is x = 1/(1 − t)², which is infinite at t = 1."""
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces=[6 * x**2])
    for row in compare_engines(system, {x: 1.0, dot(x): 2.0}, 2.0):
        assert isnan(row.error)
        assert row.note


def test_without_heyoka_a_note_says_so(pendulum, monkeypatch):
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    rows = compare_engines(*pendulum, until=0.5)
    assert rows[1].note == "left out: heyoka is not installed (pip install zwang[taylor])"
    assert rows[2].error < 1e-5


def test_a_long_run_is_compared_with_fewer_others(pendulum, monkeypatch):
    monkeypatch.setattr(compare, "LONG", 0.0)
    rows = compare_engines(*pendulum, until=0.5)
    assert all(row.note.startswith("left out: the first run took") for row in rows[2:])


def test_a_large_system_is_compared_with_fewer_others(pendulum, monkeypatch):
    monkeypatch.setattr(compare, "SMALL_SIZE", 1)
    rows = compare_engines(*pendulum, until=0.5)
    assert [row.engine for row in rows if not row.note] == ["native", "lsoda"]
    assert rows[2].note == "left out: it takes long with 2 coordinates"


def test_a_chain_of_a_hundred_rods_agrees_with_lsoda():
    """Long programs have scratch memory; an engine that lets go of it computes nonsense, or crashes."""
    q = zw.coordinates(" ".join(f"x{i}" for i in range(100)) + " " + " ".join(f"y{i}" for i in range(100)))
    x, y = (0, *q[:100]), (0, *q[100:])
    rods = {f"rod {i}": (x[i + 1] - x[i]) ** 2 + (y[i + 1] - y[i]) ** 2 - 1 for i in range(100)}
    chain = zw.System(q, kinetic=sum(dot(c) ** 2 for c in q) / 2, potential=9.81 * sum(q[100:]), constraints=rods)
    start = {c: float(i + 1) for i, c in enumerate(q[:100])} | dict.fromkeys([*q[100:], *chain.velocities], 0.0)
    rows = {(row.engine, row.form): row for row in compare_engines(chain, start, 0.1)}
    assert rows["lsoda", "fundamental"].error < 1e-8
    again = zw.simulate(chain, start, 0.1, tol=1e-12, form="lagrange")
    first = zw.simulate(chain, start, 0.1, tol=1e-12)
    np.testing.assert_allclose(again.q.values, first.q.values, rtol=0, atol=1e-9)


def test_no_run_takes_longer_than_its_budget(pendulum, monkeypatch):
    monkeypatch.setattr(compare, "RUN_BUDGET", 0.0)
    rows = compare_engines(*pendulum, until=1e6)
    assert rows[0].note == "given up after 0 s"
    assert isnan(rows[0].error)


def test_only_processor_time_counts_against_the_budget(pendulum, monkeypatch):
    """A machine that is busy with other things makes no run give up."""
    ages = count(step=1e6)
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ages)))
    assert not compare_engines(*pendulum, until=1.0)[0].note
    assert not [row.note for row in work_precision(*pendulum, until=1.0)[:-1] if row.note]


def test_an_interrupt_from_the_keyboard_is_not_taken_for_lost_patience(pendulum, monkeypatch):
    def pressed(reached, end):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "patience", lambda deadline: pressed)
    with pytest.raises(KeyboardInterrupt):
        compare_engines(*pendulum, until=1.0)


def test_a_tolerance_out_of_range_is_refused(pendulum):
    with pytest.raises(InputError, match=r"tol = 1.0 is out of range"):
        compare_engines(*pendulum, until=1.0, tol=1.0)


# Work and precision


def test_tighter_tolerances_cost_more_and_bring_more(pendulum):
    rows = work_precision(*pendulum, until=2.0)
    assert [row.tol for row in rows] == list(compare.TOLERANCES)
    steps = [row.steps for row in rows]
    assert steps == sorted(steps)
    assert rows[-1].note == "the reference"
    assert rows[-1].error == 0
    for row in rows[:-1]:
        assert row.error <= 100 * row.tol
        assert row.evaluations >= 12 * row.steps
        assert not row.note


def test_tolerances_beyond_the_budget_are_left_out(pendulum, monkeypatch):
    monkeypatch.setattr(compare, "RUN_BUDGET", 0.0)
    rows = work_precision(*pendulum, until=1e4)
    assert rows[0].note == "given up after 0 s"
    assert all(row.note == "left out: looser tolerances took 0 s already" for row in rows[1:])
    assert all(isnan(row.error) for row in rows)


def test_work_and_precision_of_a_refused_start(pendulum):
    system, _ = pendulum
    for row in work_precision(system, {"x": 2.0, "y": 0.0, "x'": 0.0, "y'": 0.0}, 1.0):
        assert row.note.startswith("refused: ")
