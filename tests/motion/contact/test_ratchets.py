"""One-sided constraints on velocities: ratchets and overrunning clutches."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import ModelError

a, b = zw.coordinates("a b")


def shafts(forces, inertias=(1.0, 2.0), extra=()):
    """Two shafts: the second may turn faster than the first, but not slower."""
    kinetic = (inertias[0] * dot(a) ** 2 + inertias[1] * dot(b) ** 2) / 2
    clutch = zw.Constraint(dot(b) - dot(a) >= 0, "clutch")
    return zw.System((a, b), kinetic=kinetic, forces=forces, constraints=[clutch, *extra])


def at(wa, wb):
    """A start at the angles zero."""
    return {a: 0, b: 0, dot(a): wa, dot(b): wb}


def test_a_clutch_takes_a_shaft_along_and_lets_it_overrun():
    # driven by cos t: alone the first shaft would turn with sin t; together with 1/3 of it until cos t < 0
    motion = zw.simulate(shafts({a: sp.cos(zw.t)}), at(0, 0), until=3)
    assert motion["mode"].values[0, 0] == "closed"
    assert motion.transition_kind.values.tolist() == ["lift"]
    assert motion.transition_time.values[0] == pytest.approx(np.pi / 2, abs=1e-10)
    times = motion.time.values
    closed, free = times < np.pi / 2, times > np.pi / 2
    assert motion.v.values[closed] == pytest.approx(np.tile(np.sin(times[closed])[:, None] / 3, 2), abs=1e-12)
    assert motion.v.values[free, 1] == pytest.approx(1 / 3, rel=1e-11)
    assert motion.normal_force.values[closed, 0] == pytest.approx(2 / 3 * np.cos(times[closed]), abs=1e-11)
    assert np.abs(motion.normal_force.values[free]).max() == 0
    assert motion.gap.values.min() > -1e-12


def test_a_clutch_catches_a_shaft_that_speeds_up_without_an_impact():
    motion = zw.simulate(shafts({a: 1}), at(0, 1), until=3)
    assert motion.transition_kind.values.tolist() == ["touch"]
    assert motion.transition_time.values[0] == pytest.approx(1, rel=1e-12)
    assert motion.v.values[-1] == pytest.approx([1 + 2 / 3] * 2, rel=1e-12)
    assert float(abs(motion.energy_balance).max()) < 1e-12
    assert (motion.energy_loss.values == 0).all()


@pytest.mark.parametrize("speed", [0.37, 1.0, 3.0, 1e-5, 1e7])
@pytest.mark.parametrize("tol", [1e-12, 1e-6])
def test_a_ratchet_takes_hold_without_an_impact_at_any_speed(speed, tol):
    wheel = zw.coordinates("wheel")
    ratchet = zw.Constraint(dot(wheel) >= 0, "ratchet")
    spring = zw.System((wheel,), kinetic=dot(wheel) ** 2 / 2, potential=wheel**2 / 2, constraints=[ratchet])
    motion = zw.simulate(spring, {wheel: 0, dot(wheel): speed}, until=3, tol=tol)
    assert motion.transition_kind.values.tolist() == ["touch"]  # where the spring is wound, x = v sin t
    assert motion.transition_time.values[0] == pytest.approx(np.pi / 2, rel=100 * tol)
    assert motion.q.values[-1, 0] == pytest.approx(speed, rel=100 * tol)


def test_a_start_that_is_too_fast_is_an_impact_and_loses_what_carnot_says():
    motion = zw.simulate(shafts({}), at(3, 0), until=1)
    assert motion.transition_kind.values.tolist() == ["impact"]
    assert motion.v.values[0] == pytest.approx([1, 1])
    assert motion.energy_loss.values[0] == pytest.approx((1 * 2**2 + 2 * 1**2) / 2)


def test_an_impact_of_something_else_keeps_the_ratchet():
    # the second shaft runs into a stop: the clutch stops the first with it, in the same impact
    stop = zw.Constraint(1 - b >= 0, "stop", restitution=0.5)
    motion = zw.simulate(shafts({}, extra=[stop]), at(1, 1.5), until=1)
    assert motion.transition_kind.values[0] == "impact"
    assert motion.transition_contact.values[0] == "stop"
    assert motion.velocity_after.values[0] == pytest.approx([-0.75, -0.75])
    # 0 ≤ Λ ⊥ γ: momentum of the first shaft goes through the clutch
    assert motion.impulse.values[0] == pytest.approx([1.75, 2 * 2.25 + 1.75])
    assert motion.gap.sel(contact="clutch").values.min() > -1e-12


def test_a_ratchet_turns_one_way_only():
    wheel = zw.coordinates("wheel")
    ratchet = zw.Constraint(dot(wheel) >= 0, "ratchet")
    system = zw.System((wheel,), kinetic=dot(wheel) ** 2 / 2, forces={wheel: sp.sin(zw.t)}, constraints=[ratchet])
    motion = zw.simulate(system, {wheel: 0, dot(wheel): 0}, until=20)
    assert motion.v.values.min() > -1e-13
    # sin t gives 1 − cos t, which comes to rest after a turn and goes on: it only touches
    assert motion.v.values[:, 0] == pytest.approx(1 - np.cos(motion.time.values), abs=1e-9)
    later = zw.simulate(system, {wheel: 0, dot(wheel): 0}, until=20, t=np.pi)
    assert later["mode"].values[0, 0] == "closed"
    assert later.transition_kind.values.tolist()[0] == "lift"
    assert later.transition_time.values[0] == pytest.approx(2 * np.pi, abs=1e-9)


@pytest.mark.parametrize(
    ("law", "word"), [({"restitution": 0.5}, "restitution"), ({"friction": 0.5, "slip": dot(a)}, "friction")]
)
def test_laws_of_positions_are_refused_for_limits_of_velocities(law, word):
    clutch = zw.Constraint(dot(b) - dot(a) >= 0, "clutch", **law)
    with pytest.raises(ModelError, match=f"limits velocities and has {word}"):
        zw.System((a, b), kinetic=dot(a) ** 2 + dot(b) ** 2, constraints=[clutch])
