"""Problems with contact whose answers are known, through the public interface. Numbers and origins: contact.json."""

import numpy as np
import pytest

import zwang as zw
from tests.references import contact
from tests.references.contact import expected
from zwang.errors import SimulationError

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


# With friction


def test_a_rocking_block_loses_what_housner_says_without_being_told():
    truth = expected("c-rocking-block")["impacts"]
    motion = zw.simulate(*contact.rocking_block(), until=3.3)
    assert transitions(motion) == [("impact", name) for name in ("right", "left") * 3]
    assert close(motion.transition_time.values, [hit["impact_time"] for hit in truth])
    spins = np.abs(motion.velocity_after.sel(coordinate="theta").values)
    assert close(spins, [hit["omega_after"] for hit in truth])
    assert float(abs(motion.energy_balance).max()) < 1e-11


def test_a_block_on_an_incline_turns_round_without_sticking():
    truth = expected("d1-incline-return")
    motion = zw.simulate(*contact.incline(0.3), until=1)
    assert transitions(motion) == [("reverse", "plane")]
    assert close([motion.transition_time.values[0], at_end(motion, "x")[0]], [truth["t_stop"], truth["x_at_1"]])


def test_a_block_on_an_incline_sticks_and_does_not_creep():
    truth = expected("d2-incline-stick")
    motion = zw.simulate(*contact.incline(0.7), until=10, samples=101)
    assert transitions(motion) == [("stick", "plane")]
    assert close(motion.transition_time.values[0], truth["t_stop"])
    rest = motion.isel(time=slice(2, None))
    assert (rest.v.values == 0).all()
    assert np.ptp(rest.q.values[:, 0]) == 0
    assert close(rest.q.values[0, 0], truth["x_stop"])
    assert close(rest.friction_force.values[:, 0], [4.905] * 99)
    assert (rest["mode"].values == "sticking").all()


def test_stick_and_slip_on_a_belt():
    truth = expected("e1-stick-slip")
    motion = zw.simulate(*contact.belt((1.0, 0.5)), until=20, tol=1e-14)
    assert transitions(motion) == [("slide", "belt"), ("stick", "belt")] * 2
    slide, stick, again, _ = motion.transition_time.values
    known = [truth[name] for name in ("t_stick", "t_slip", "period")]
    assert close([slide, stick - slide, again - slide], known)
    assert close(at_end(motion, "x"), truth["state_at_20"])
    assert motion["mode"].values[-1, 0] == "sticking"


def test_a_slip_that_grazes_zero_does_not_chatter():
    truth = expected("e2-stick-graze")
    motion = zw.simulate(*contact.belt(0.5), until=20, tol=1e-14)
    kinds = motion.transition_kind.values
    assert kinds[0] == "slide"
    assert len(kinds) <= 1 + 2 * 20 / (2 * np.pi)
    assert close(motion.transition_time.values[0], truth["t_break"])
    assert close(at_end(motion, "x"), [truth["x_at_20"], truth["v_at_20"]])


@pytest.mark.parametrize(("name", "speed", "spin"), [("h1-slip-roll", 3, 0), ("h2-draw", 2, -8), ("h3-follow", 2, 5)])
def test_a_billiard_ball_slides_then_rolls(name, speed, spin):
    truth = expected(name)
    motion = zw.simulate(*contact.billiard(speed, spin), until=2, samples=5)
    assert transitions(motion) == [("stick", "table")]
    assert close([motion.transition_time.values[0], motion.v.values[-1, 0]], [truth["t_roll"], truth["v_end"]])
    assert abs(motion.friction_force.values[-1, 0]) < 1e-14
    assert abs(motion.slip.values[-1, 0]) < 1e-15


def test_a_bead_on_a_rough_turning_wire_is_held_by_two_opposed_limits():
    truth = expected("j1-bead-on-turning-wire")
    motion = zw.simulate(*contact.turning_wire(), until=2, times=[1, 2], tol=1e-14)
    assert close(motion.q.values[:, 0], [truth["r_at_1"], truth["r_at_2"]])
    assert close(motion.v.values[:, 0], [truth["v_at_1"], truth["v_at_2"]])
    assert motion.sizes["transition"] == 0


def test_a_bead_on_a_rough_hoop_never_stops():
    truth = expected("j2-bead-on-hoop")
    motion = zw.simulate(*contact.hoop(), until=3, tol=1e-14)
    assert close(np.linalg.norm(motion.v.values[-1]), truth["v_at_3"])
    assert motion.sizes["transition"] == 0


def test_a_particle_comes_to_rest_on_the_slope_of_a_rough_bowl():
    truth = expected("k2-rough-bowl")
    motion = zw.simulate(*contact.bowl(), until=3, tol=1e-14)
    assert transitions(motion) == [("reverse", "bowl"), ("stick", "bowl")]
    assert close(motion.transition_time.values, truth["times"])
    x, y, *_ = at_end(motion, "x", "y")
    assert close(np.arctan2(x, -y), truth["turning_points"][1])


@pytest.mark.parametrize("mu", [1.4, 2.0])
@pytest.mark.parametrize(("spin", "status"), [(0, "no solution"), (6, "several solutions")])
def test_painleves_paradox_is_named_and_not_solved(mu, spin, status):
    system, start = contact.painleve(mu, -1, spin)
    with pytest.raises(SimulationError, match="'tip'") as caught:
        zw.simulate(system, start, until=0.01)
    assert caught.value.status == status


@pytest.mark.parametrize(("mu", "slip"), [(1.2, -1), (1.2, 1), (1.4, 1), (2.0, 1)])
@pytest.mark.parametrize("spin", [0, 6])
def test_a_rod_on_its_tip_has_one_motion_where_friction_allows(mu, slip, spin):
    motion = zw.simulate(*contact.painleve(mu, slip, spin), until=0.001, samples=3)
    assert motion["mode"].values[-1, 0] == ("open" if spin else "sliding")


def test_a_woodpecker_returns_to_where_its_cycle_began():
    truth = expected("m-woodpecker")
    motion = zw.simulate(*contact.woodpecker(), until=0.1459, tol=1e-14)
    named = {"lift 2": ("lift", "lower"), "lift 3": ("lift", "upper"), "close 2": ("impact", "lower"),
             "close 3": ("impact", "upper"), "close beak": ("impact", "beak"), "stop": ("stick", "lower")}  # fmt: skip
    known = [entry for entry in truth["events"][:-1] if entry["kind"] in named]
    assert transitions(motion) == [named[entry["kind"]] for entry in known]
    assert close(motion.transition_time.values, [entry["t"] for entry in known])
    losses = [-float(e["dT"]) for e in truth["events"] if e["kind"].startswith("impact")]
    assert close(motion.energy_loss.values[motion.transition_kind.values == "impact"], losses, 1e-10)


def test_an_impact_that_would_gain_energy_is_refused_and_poissons_law_is_right():
    system, start = contact.kane()
    with pytest.raises(SimulationError, match=r"would gain the energy 1\.29") as caught:
        zw.simulate(system, start, until=0.01)
    assert caught.value.status == "energy gain at impact"
    motion = zw.simulate(system, start, until=0.01, impacts="poisson")
    assert motion.kinetic.values[0] == pytest.approx(0.043206, abs=5e-7)  # the digits that are known


def test_a_particle_leaves_a_cycloid_at_half_its_height():
    truth = expected("l2-cycloid")
    height = zw.coordinates("d")
    motion = zw.simulate(*contact.cycloid(), until=20, tol=1e-14, events=[zw.Event(height - 1e-3, "off", stop=True)])
    assert transitions(motion) == [("lift", "arch")]
    when = float(motion.transition_time[0])
    at = zw.simulate(*contact.cycloid(), until=when, times=[when], tol=1e-14)
    assert close(at.q.values[0, 0], truth["f_detach"])


@pytest.mark.parametrize("side", ["leading", "trailing"])
def test_a_brake_with_a_leading_and_a_trailing_shoe(side):
    truth = expected("j3-brake")[side]
    motion = zw.simulate(*contact.brake(side == "leading"), until=1)
    assert transitions(motion) == [("stick", "shoe")]
    # the gap is b times the angle of the lever, a length: its multiplier is the normal force
    assert close(motion.normal_force.values[0, 0], truth["N"])
    assert close([motion.transition_time.values[0], motion.q.values[-1, 0]], [truth["t_stop"], truth["angle"]])


@pytest.mark.parametrize("n", [2, 4, 8, 16, 64])
def test_a_belt_round_a_drum_follows_euler(n):
    truth = expected("j4-capstan")[f"n={n}"]
    motion = zw.simulate(*contact.capstan(n), until=1e-6, samples=2)
    assert (motion["mode"].values == "sliding").all()
    assert close(abs(motion.multiplier.sel(constraint="pull").values[0]), truth)


def test_a_table_that_slides_straight_moves_though_its_legs_share_the_load_somehow():
    truth = expected("o1-table-translation")
    motion = zw.simulate(*contact.table(), until=0.3)
    known = [float(truth[name].split()[0]) for name in ("ax", "ay", "yaw_acceleration")]
    assert np.abs(motion.a.sel(coordinate=["x", "y", "yaw"]).values - known).max() < 1e-11
    assert not motion.unique.values.any()
    assert close(motion.normal_force.values[0], truth["least_norm_N"])
    assert motion.sizes["transition"] == 0
