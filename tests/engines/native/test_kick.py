"""Velocities that jump at an event, and a run that goes on: what is plain is made, what is not stops."""

import numpy as np
import pytest
import symengine as se

from tests.engines.tasks import INPUTS, task, v, watch, x
from zwang.compile import Program
from zwang.engines.native.engine import run
from zwang.engines.native.record import KICKS
from zwang.engines.task import KickTask, Status

OPEN = [[np.inf] * 4]


def kick(after, readings=(0, 0, 0, 0), gained=0, most=OPEN, apart=(-np.inf,)):
    """Velocities after the one event of a task."""
    out = [after, gained, 7, 8, *readings]
    program = Program(INPUTS, {"kick": tuple(map(se.sympify, out))}, {"kick": (1, 8)})
    return KickTask(program, 0, np.array(most, dtype=float), np.array(apart, dtype=float))


def ball(times, after=-v, events=("x",), **more):
    """A ball that falls from 1 with g = 2: it meets the floor at t = 1, with the speed 2."""
    watched = watch(list(map(se.sympify, events)), direction=-1, stop=[True] + [False] * (len(events) - 1))
    return task("-2", 1.0, 0.0, times, tol=1e-12, events=watched, kick=kick(after, **more))


def kicks_of(path):
    """All that a run has written down."""
    return np.concatenate(path.kicks)


def test_a_ball_bounces_without_stopping():
    path = run(ball([0.5, 1.5, 4.5, 6.0]))
    assert path.status is Status.FINISHED
    table = kicks_of(path)
    assert table[:, 0] == pytest.approx([1, 3, 5], abs=1e-14)
    assert table[:, 1:5].tolist() == [[0, 0, 7, 8]] * 3
    assert np.abs(table[:, 5]).max() < 1e-14
    assert table[:, 6] == pytest.approx([-2, -2, -2], abs=1e-13)
    assert table[:, 7].tolist() == (-table[:, 6]).tolist()
    assert path.q[:, 0] == pytest.approx([0.75, 0.75, 0.75, 1.0], abs=1e-13)
    assert path.v[:, 0] == pytest.approx([-1, 1, -1, 0], abs=1e-13)
    assert not path.hits


def test_what_is_saved_at_a_kick_is_the_state_after_it():
    at = float(kicks_of(run(ball([2.0])))[0, 0])
    path = run(ball([at, 2.0]))
    assert path.v[0, 0] == pytest.approx(2, abs=1e-13)


def test_energy_that_a_kick_brings_is_work():
    path = run(ball([0.5, 1.5, 2.5], -v / 2, gained=-1.5))
    assert path.trace.work.tolist() == [0, -1.5, -3]
    assert path.worked == -3


def test_more_kicks_than_a_run_has_room_for():
    path = run(ball([2.0 * (2 * KICKS + 40)]))
    table = kicks_of(path)
    assert len(table) == 2 * KICKS + 40
    assert np.abs(np.diff(table[:, 0]) - 2).max() < 1e-10
    assert path.q[-1, 0] == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("reading", range(4))
def test_a_reading_that_is_too_large_stops(reading):
    readings = [0] * 4
    readings[reading] = 2 - v  # 4 at the first meeting, 3 at the second
    path = run(ball([9.0], -v / 2, readings=readings, most=[[3.5] * 4]))
    assert path.status is Status.EVENT
    assert path.end[0] == pytest.approx(1, abs=1e-13)
    assert path.end[2] == pytest.approx([-2], abs=1e-13)
    assert [h.which for h in path.hits] == [0]
    assert not len(kicks_of(path))


def test_a_velocity_that_is_not_finite_stops():
    path = run(ball([9.0], se.log(-1 - x * x)))
    assert path.status is Status.EVENT


def test_another_event_at_the_same_instant_stops():
    path = run(ball([9.0], events=("x", "x * 2"), apart=(-np.inf, -np.inf)))
    assert path.status is Status.EVENT
    assert {h.which for h in path.hits} == {0, 1}


@pytest.mark.parametrize(("apart", "status"), [(0.4, Status.FINISHED), (0.6, Status.EVENT)])
def test_another_event_that_is_near_stops(apart, status):
    path = run(ball([9.0], events=("x", "x + 0.5"), apart=(0.0, apart)))
    assert path.status is status


def test_what_a_velocity_jumps_over_is_no_event():
    path = run(ball([6.0], events=("x", "v"), apart=(0.0, -np.inf)))
    assert [round(h.t, 9) for h in path.hits] == [2, 4, 6]  # the tops, and not the floor
