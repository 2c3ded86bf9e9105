"""Resets at events: the state jumps, by every engine, in one run or many, and accounts for itself."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import hybrid
from zwang import dot
from zwang.errors import InputError, SimulationError

x, y = zw.coordinates("x y")
v = dot(x)
FREE = zw.System((x,), kinetic=v**2 / 2)


@pytest.mark.parametrize(
    ("method", "tol", "off"), [("native", 1e-12, 1e-11), ("taylor", 1e-12, 1e-11), ("radau", 1e-10, 1e-8),
                               ("lsoda", 1e-10, 3e-8)]
)  # fmt: skip
def test_a_walker_walks_on_by_every_engine(method, tol, off):
    """It starts on the zero of its event, to rounding, and that zero does not count."""
    system, strike, start = hybrid.walker()
    motion = zw.simulate(system, start, 20, events=[strike], method=method, tol=tol)
    assert motion.attrs["message"] == "finished at t = 20."
    assert motion.event_time.values == pytest.approx(hybrid.STEP_TIME * np.arange(1, 6), abs=off)
    assert motion.event_q_after.values == pytest.approx(np.tile([hybrid.GAIT[0], 2 * hybrid.GAIT[0]], (5, 1)), abs=off)
    assert np.abs(motion.energy_balance.values).max() < off


def test_a_ball_bounces_in_closed_form_as_it_does_on_a_contact():
    e = 0.8
    system, start = hybrid.ball()
    motion = zw.simulate(system, start, 3, events=[hybrid.floor(e)], samples=301)
    speed, first = np.sqrt(2 * 9.81), np.sqrt(2 / 9.81)
    times = first + 2 * speed / 9.81 * np.cumsum([0, *e ** np.arange(1, motion.sizes["event"])])
    assert motion.event_time.values == pytest.approx(times, abs=1e-12)
    assert motion.event_v_after.values == pytest.approx(-e * motion.event_v.values)
    assert motion.event_energy_loss.values == pytest.approx(
        (1 - e**2) * motion.event_v.values[:, 0] ** 2 / 2, rel=1e-12
    )
    height = system.coordinates[0]
    rigid = zw.Constraint(height >= 0, "floor", restitution=sp.Float(e))
    on_contact = zw.System((height,), kinetic=dot(height) ** 2 / 2, potential=9.81 * height, constraints=[rigid])
    same = zw.simulate(on_contact, start, 3, samples=301)
    assert motion.q.values == pytest.approx(same.q.values, abs=1e-11)


def test_states_saved_at_the_very_instant_are_those_after_it_and_work_closes_the_balance():
    """A kick at t = 1: time is exact, and the energy that it brings is in the account."""
    kick = zw.Event(zw.t - 1, "kick", reset={v: v + 2})
    motion = zw.simulate(FREE, {x: 0, v: 1}, 2, times=[0.5, 1, 1.5, 2], events=[kick])
    assert motion.q.values[:, 0] == pytest.approx([0.5, 1, 2.5, 4], abs=1e-14)
    assert motion.v.values[:, 0].tolist() == [1, 3, 3, 3]
    assert motion.event_energy_loss.values.tolist() == [-4]
    assert np.abs(motion.energy_balance.values).max() < 1e-14
    at_the_end = zw.simulate(FREE, {x: 0, v: 1}, 1, samples=2, events=[kick])
    assert at_the_end.v.values[:, 0].tolist() == [1, 3]


def test_what_is_not_named_stays_and_all_is_read_before_any_is_set():
    swap = zw.Event(zw.t - 1, "swap", reset={x: y, "y": x})
    system = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2)
    motion = zw.simulate(system, {x: 1, y: 5, v: 0, dot(y): 2}, 1, samples=2, events=[swap])
    assert motion.q.values[-1].tolist() == [7, 1]
    assert motion.v.values[-1].tolist() == [0, 2]


@pytest.mark.parametrize("direction", [0, 1])
def test_a_gate_that_is_passed_does_not_fire_again(direction):
    """Its reset leaves it at zero, and the motion goes on through it."""
    gate = zw.Event(x - sp.Rational(1, 3), "gate", direction=direction, reset={v: v / 2})
    motion = zw.simulate(FREE, {x: 0, v: 1}, 1, samples=2, events=[gate])
    assert motion.event_time.values == pytest.approx([1 / 3])
    assert motion.q.values[-1, 0] == pytest.approx(2 / 3)


def test_events_that_only_watch_see_what_happens_between_and_stops_stop():
    bounce = zw.Event(x - 1, "wall", direction=1, reset={v: -v})
    seen, end = zw.Event(x - 0.5, "half"), zw.Event(x + 1, "end", stop=True)
    motion = zw.simulate(FREE, {x: 0, v: 1}, 9, events=[bounce, seen, end])
    assert motion.event_name.values.tolist() == ["half", "wall", "half", "end"]
    assert motion.attrs["status"] == "event"
    last = zw.simulate(FREE, {x: 0, v: 1}, 9, events=[zw.Event(x - 1, "wall", reset={v: -v}, stop=True)])
    assert last.attrs["message"] == "stopped by the event 'wall' at t = 1."
    assert last.event_v_after.values.tolist() == [[-1]]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_pendulum_is_kicked_along_its_rod_and_not_off_it(rows):
    """Redundant rows included: speed grows by a tenth at each passage of the lowest point, energy by 1.21."""
    rod = x**2 + y**2 - 1
    system = zw.System(
        (x, y),
        kinetic=(v**2 + dot(y) ** 2) / 2,
        potential=9.81 * y,
        constraints={"rod": rod, "again": 1e6 * rod} if rows == 2 else {"rod": rod},
    )
    start = {x: 0.6, y: -0.8, v: 0, dot(y): 0}
    kick = zw.Event(x, "kick", direction=-1, reset={v: 1.1 * v, dot(y): 1.1 * dot(y)})
    motion = zw.simulate(system, start, 2, events=[kick])
    speed = np.sqrt(2 * 9.81 * 0.2)
    assert motion.event_v_after.values[0] == pytest.approx([-1.1 * speed, 0], abs=1e-9)
    assert np.abs(motion.energy_balance.values).max() < 1e-9
    off = zw.Event(x, "off", direction=-1, reset={dot(y): 1})
    with pytest.raises(
        SimulationError, match=r"reset of 'off' leads off the constraints: 'rod' reads .* -2 in velocity"
    ):
        zw.simulate(system, start, 2, events=[off])


def test_contacts_are_found_out_anew_after_a_reset():
    """A bouncing particle on a ring of length 1: what wraps it round changes nothing of its bounces."""
    ground = zw.Constraint(y >= 0, "floor", restitution=sp.Rational(4, 5))
    system = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints=[ground])
    start = {x: 0, y: 1, v: 1.3, dot(y): 0}
    plain = zw.simulate(system, start, 3)
    wrapped = zw.simulate(system, start, 3, events=[zw.Event(x - 1, "wrap", direction=1, reset={x: x - 1})])
    assert wrapped.q.values == pytest.approx(
        np.column_stack([plain.q.values[:, 0] % 1, plain.q.values[:, 1]]), abs=1e-12
    )
    assert wrapped.transition_time.values == pytest.approx(plain.transition_time.values, abs=1e-12)
    lies = zw.simulate(system, start, 3, events=[zw.Event(x - 1, "drop", reset={y: 0, dot(y): 0})])
    assert lies["mode"].values[-1].tolist() == ["closed"]
    with pytest.raises(SimulationError, match="The reset of 'sink' leads beyond the limit 'floor' by 1"):
        zw.simulate(system, start, 3, events=[zw.Event(x - 1, "sink", reset={y: -1})])


def test_a_sample_of_many_and_a_stepper_are_single_runs():
    system, strike, start = hybrid.walker()
    angle = hybrid.theta
    many = zw.simulate_many(system, start | {angle: [0.2, start[angle]]}, 10, events=[strike], samples=5)
    one = zw.simulate(system, start, 10, events=[strike], samples=5)
    for name in ("q", "v", "event_time", "event_q_after", "event_v_after", "event_energy_loss"):
        assert np.array_equal(many[name].values[1][: len(one[name])], one[name].values), name
    stepper = zw.Stepper(system, start, events=[strike], tol=1e-12)
    for _ in range(20):  # every tenth step ends at a strike, as far as doubles tell
        t, q, rate = stepper.advance(hybrid.STEP_TIME / 10 + 1e-9)
    same = zw.simulate(system, start, t, events=[strike], samples=2)
    assert q == pytest.approx(same.q.values[-1], abs=1e-9)
    assert rate == pytest.approx(same.v.values[-1], abs=1e-9)


def test_a_stepper_meets_what_happens_at_the_ends_of_its_steps():
    """Ten steps of 0.1 end at 0.9999999999999999."""
    kick = zw.Event(zw.t - 1, "kick", reset={v: 2})
    wall = zw.Event(x - sp.Rational(13, 10), "wall", reset={v: -v})
    stepper = zw.Stepper(FREE, {x: 0, v: 1}, events=[kick, wall])
    for _ in range(15):
        _, q, rate = stepper.advance(0.1)
    assert [q[0], rate[0]] == pytest.approx([0.6, -2])
    ground = zw.Constraint(x >= 0, "floor", restitution=1)
    ball = zw.System((x,), kinetic=v**2 / 2, constraints=[ground])
    stepper = zw.Stepper(ball, {x: 1, v: -1}, events=[zw.Event(x - 2, "lid", direction=1, reset={v: -v})])
    for _ in range(8):
        _, q, rate = stepper.advance(0.5)
    assert [q[0], rate[0]] == pytest.approx([1, -1])


@pytest.mark.parametrize(
    ("reset", "words"),
    [
        ({"z": 1}, r"event 'kick': the reset sets z, which is not a coordinate or rate of this system"),
        ({x: sp.Symbol("kk")}, r"event 'kick': the reset of x: unknown symbol kk"),
        ({x: 1, "x": 2}, r"event 'kick': the reset sets x twice"),
        ({x: zw.multiplier("rod")}, r"the reset of x asks for multiplier\[rod\], but forces have no part in a jump"),
        ({x: "y"}, r"'y' is text, not an expression"),
        ([x], r"event 'kick': reset maps coordinates and rates to expressions"),
    ],
)
def test_a_reset_of_what_is_not_there_is_refused_before_anything_moves(reset, words):
    with pytest.raises(InputError, match=words):
        zw.simulate(FREE, {x: 0, v: 1}, 1, events=[zw.Event(x - 5, "kick", reset=reset)])


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (hybrid.floor(sp.Rational(9, 10)), r"t = 8.57894917\d*: bad reset.* accumulate at t = 8.57894918"),
        (hybrid.floor(sp.Rational(1, 2)), r"Resets of 'floor' accumulate at t = 1.35457092"),  # √(2h/g) (1 + e)/(1 − e)
        (hybrid.floor(0), r"reset of 'floor' leaves it at zero and at rest"),
    ],
)
def test_a_ball_that_comes_to_rest_needs_a_contact_and_is_told_so(event, words):
    system, start = hybrid.ball()
    with pytest.raises(SimulationError, match=words) as caught:
        zw.simulate(system, start, 20, events=[event])
    assert caught.value.status == "bad reset"


def test_endless_resets_at_one_instant_are_told():
    faster = zw.Event(x - 1, "gate", direction=1, reset={x: 0, v: 2 * v})
    with pytest.raises(SimulationError, match=r"'gate' follow each other faster than time is resolved"):
        zw.simulate(FREE, {x: 0, v: 1}, 9, events=[faster])
    nowhere = zw.Event(x - 1, "gate", direction=1, reset={x: sp.log(x - 5)})
    with pytest.raises(SimulationError, match="The reset of 'gate' sets x to nan"):
        zw.simulate(FREE, {x: 0, v: 1}, 9, events=[nowhere])


@pytest.mark.parametrize("options", [{"precision": "quad"}, {"contacts": "steps", "step": 1e-3}])
def test_where_the_state_cannot_jump_resets_are_refused_by_name(options):
    ground = zw.Constraint(x >= 0, "floor") if "contacts" in options else None
    system = zw.System((x,), kinetic=v**2 / 2, constraints=[ground] if ground else [])
    with pytest.raises(InputError, match="event 'kick' resets the state, which"):
        zw.simulate(system, {x: 1, v: 0}, 1, events=[zw.Event(x - 5, "kick", reset={v: 0})], **options)


def test_a_black_box_does_not_know_resets():
    box = zw.BlackBox(("x",), M=lambda q, t: np.eye(1), Q=lambda q, v, t: np.zeros(1))
    x = zw.coordinates("x")
    with pytest.raises(InputError, match="resets the state, which a black box does not know"):
        zw.simulate(box, {"x": 0, "x'": 1}, 1, events=[zw.Event(x - 5, "kick", reset={x: 0})])
