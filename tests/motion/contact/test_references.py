"""Problems with contact whose answers are known, through the public interface. Numbers and origins: contact.json."""

import numpy as np
import pytest

import zwang as zw
from tests.references import contact
from tests.references.contact import expected

CLOSE = 1e-11


def close(found, known, within=CLOSE):
    """Whether numbers agree, relatively; absolutely where zero is known."""
    found, known = np.asarray(found, dtype=float), np.asarray(known, dtype=float)
    return bool((np.abs(found - known) <= within * np.where(known == 0, 1, np.abs(known))).all())


def transitions(motion):
    """Kinds and contacts, in order."""
    return list(zip(motion.transition_kind.values.tolist(), motion.transition_contact.values.tolist(), strict=True))


def at_end(motion, *names):
    """Coordinates at the end, then their rates."""
    last = motion.isel(time=-1).sel(coordinate=list(names))
    return [*last.q.values, *last.v.values]


def test_a_bouncing_ball_accumulates_its_impacts_and_rests():
    truth = expected("a1-bouncing-zeno")
    motion = zw.simulate(*contact.ball(0.8), until=5, times=[3, 4.1, 5])
    kinds = motion.transition_kind.values
    assert (kinds[:-1] == "impact").all()
    assert kinds[-1] == "accumulation"
    times = motion.transition_time.values
    assert close(times[:12], truth["impact_times"])
    assert close(times[-1], truth["accumulation_time"])
    assert (times < 3).sum() == truth["impacts_before_3"]
    assert (times < 4.0636).sum() >= 47
    assert close([motion.q.values[0, 0], motion.v.values[0, 0]], [truth["y_at_3"], truth["v_at_3"]])
    assert (motion.q.values[1:] == 0).all()
    assert (motion.v.values[1:] == 0).all()
    assert close(motion.normal_force.values[1:, 0], [9.81, 9.81])
    assert close(motion.energy_loss.values.sum(), 9.81)
    assert motion.mode.values.ravel().tolist() == ["open", "closed", "closed"]


def test_an_elastic_ball_keeps_its_energy_for_a_thousand_seconds():
    truth = expected("a2-bouncing-elastic")
    motion = zw.simulate(*contact.ball(1), until=1000, times=[1000])
    assert transitions(motion) == [("impact", "floor")] * truth["impacts_before_1000"]
    assert close([motion.q.values[0, 0], motion.v.values[0, 0]], [truth["y_at_1000"], truth["v_at_1000"]], 1e-8)
    assert close(motion.energy.values[0], 9.81, 1e-10)


def test_a_ball_on_a_vibrating_table_keeps_its_period():
    system, start, t = contact.vibrating_table()
    motion = zw.simulate(system, start, until=t + 2.05, t=t)
    assert transitions(motion) == [("impact", "table")] * 20
    assert close(np.diff(motion.transition_time.values), [0.1] * 19)
    assert close(motion.velocity_after.values[:, 0], [0.4905] * 20)
    assert float(abs(motion.energy_balance).max()) < 1e-13  # the work of the table is in the account


@pytest.mark.parametrize(
    ("masses", "restitution", "law", "after", "loss"),
    [
        ((1, 1, 1), 1, "moreau", (-1 / 3, 2 / 3, 2 / 3), 0),
        ((1, 1, 1), 0.5, "moreau", (0, 0.5, 0.5), 0.25),
        ((1, 1, 1), 1, "poisson", (-1 / 3, 2 / 3, 2 / 3), 0),
        ((1, 1, 1), 1, "sequential", (0, 0, 1), 0),
        ((1, 2, 4), 1, "moreau", (-5 / 7, 2 / 7, 2 / 7), 0),
        ((1, 2, 4), 1, "sequential", (-1 / 3, -2 / 9, 4 / 9), 0),
    ],
)
def test_balls_in_a_row_follow_the_law_that_is_asked_for(masses, restitution, law, after, loss):
    motion = zw.simulate(*contact.chain(masses, restitution), until=0.5, impacts=law)
    assert transitions(motion) == [("impact", "first")]
    assert close(motion.v.values[0], after)
    assert close(motion.v.values[-1], after)
    assert close(motion.velocity_before.values[0], (1, 0, 0))
    assert close(motion.energy_loss.values[0], loss)


def test_impulses_of_a_cradle():
    motion = zw.simulate(*contact.chain((1, 1, 1), 1), until=0.5)
    assert close(motion.impulse.values[0], (4 / 3, 2 / 3))


def test_a_rod_that_falls_on_its_tip():
    truth = expected("g1-rod-frictionless")
    motion = zw.simulate(*contact.falling_rod(), until=0.01)
    after = motion.velocity_after.sel(coordinate=["y", "theta"]).values[0]
    assert close(motion.impulse.values[0, 0], truth["impulse"])
    assert close([after[0], abs(after[1])], [truth["vy_after"], truth["spin_after_magnitude"]])


def test_a_double_pendulum_and_a_wall():
    truth = expected("i-double-pendulum-wall")
    motion = zw.simulate(*contact.double_pendulum(), until=3, tol=1e-14)
    assert transitions(motion) == [("impact", "wall")] * 2
    assert close(motion.transition_time.values, [hit["t"] for hit in truth["impacts"]])
    assert close(-motion.energy_loss.values, [hit["dT"] for hit in truth["impacts"]])
    x1, y1, x2, y2, vx1, vy1, vx2, vy2 = at_end(motion, "x1", "y1", "x2", "y2")
    a, b = np.arctan2(x1, -y1), np.arctan2(x2 - x1, y1 - y2)
    rates = vx1 * np.cos(a) + vy1 * np.sin(a), (vx2 - vx1) * np.cos(b) + (vy2 - vy1) * np.sin(b)
    assert close([a, b, *rates], truth["end_theta1_theta2_rates"])


def test_a_particle_leaves_a_sphere_and_falls_to_the_floor():
    truth = expected("k1-sphere")
    motion = zw.simulate(*contact.leaving_a_sphere(), until=1.5)
    assert transitions(motion) == [("lift", "sphere"), ("impact", "floor")]
    assert close(motion.transition_time.values, [truth["t_detach"], truth["t_floor"]])
    assert close(np.linalg.norm(motion.velocity_before.values[0]), truth["v_detach"])
    assert motion.mode.values[0].tolist() == ["closed", "open"]
    assert motion.mode.values[-1].tolist() == [
        "open",
        "closed",
    ]


def test_a_particle_leaves_a_loop_and_lands():
    truth = expected("l1-loop")
    motion = zw.simulate(*contact.loop(), until=2, tol=1e-14)
    assert transitions(motion) == [("lift", "loop"), ("impact", "loop")]
    assert close(np.diff(motion.transition_time.values), truth["t_flight"])
    before, after = (np.linalg.norm(v.values, axis=1) for v in (motion.velocity_before, motion.velocity_after))
    assert close([before[0], after[1]], [truth["v_leave"], truth["tangential_speed_after_plastic"]])
    assert close(np.sqrt(2 * motion.energy_loss.values[1]), truth["impact_normal_speed"])


def test_a_mass_on_a_slack_rope():
    truth = expected("n1-tether")
    motion = zw.simulate(*contact.tether(), until=4, tol=1e-14)
    assert transitions(motion) == [("impact", "rope"), ("lift", "rope"), ("impact", "rope")]
    assert close(motion.transition_time.values, [entry["t"] for entry in truth["log"]])
    assert close(motion.energy_loss.values[[0, 2]], [truth["log"][k]["energy_loss"] for k in (0, 2)])
    assert close(at_end(motion, "x", "y"), [truth["end_at_4"][name] for name in ("x", "y", "vx", "vy")])
    assert motion.mode.values[-1, 0] == "closed"


def test_a_slider_crank_throws_its_follower():
    truth = expected("p1-crank-follower")
    motion = zw.simulate(*contact.crank(), until=1, tol=1e-14)
    first, *log = truth["log"]
    assert transitions(motion) == [(entry["kind"], "follower") for entry in log]
    assert close(motion.transition_time.values, [entry["t"] for entry in log])
    impacts = [k for k, entry in enumerate(log) if entry["kind"] == "impact"]
    assert close(-motion.energy_loss.values[impacts], [log[k]["dT"] for k in impacts])
    assert close(motion.normal_force.values[0, 0], first["N"])
    phi, z, w, v = at_end(motion, "phi", "z")
    assert close([phi, w, z, v], [truth["end_at_1"][name] for name in ("ph", "w", "z", "v")])
    assert motion.mode.values[-1, 0] == truth["mode_at_1"]
