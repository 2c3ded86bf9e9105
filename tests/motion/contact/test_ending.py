"""The end of slips in space: bodies stop on inclines, on all their legs at once, whatever the tolerance."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import multibody as mb

G = 9.81


def sliding_box(seed):
    """A flat box that slides across an incline, and when it stops.

    It does not turn: its weight has no moment about the normal, and friction has none, for it pulls at all legs alike.
    So it moves as a point does, and stops after v₀ (1 + k cos φ)/((1 − k²) μ g cos α), k = tan α/μ, φ being the angle
    between its way and the fall line (Sommerfeld's problem).
    """
    rng = np.random.default_rng(5000 + seed)
    edges, mu = np.array([*rng.uniform(0.1, 0.3, 2), rng.uniform(0.03, 0.1)]), rng.uniform(0.1, 0.6)
    tilt, way = rng.uniform(0, 0.9) * np.arctan(mu), rng.uniform(0, 2 * np.pi)
    turn, heading, speed = rng.uniform(0, 6), rng.uniform(0, 6), 10 ** rng.uniform(-1, 1)
    gravity = (G * np.sin(tilt) * np.cos(way), G * np.sin(tilt) * np.sin(way), -G * np.cos(tilt))
    box = mb.Body(
        "box", 1, mb.inertia.box(1, tuple(edges)), position=(0, 0, edges[2] / 2),
        orientation=tuple(Rotation.from_euler("z", turn).as_quat(scalar_first=True)),
        velocity=(speed * np.cos(heading), speed * np.sin(heading), 0),
    )  # fmt: skip
    legs = [(x * edges[0] / 2, y * edges[1] / 2, -edges[2] / 2) for x in (-1, 1) for y in (-1, 1)]
    floor = mb.Contact("floor", mb.ground, box, normal=(0, 0, 1), corners=legs, friction=mu)
    k = np.tan(tilt) / mu
    stops = speed * (1 + k * np.cos(heading - way)) / ((1 - k**2) * mu * G * np.cos(tilt))
    return mb.Mechanism([box], [floor], [mb.Gravity(gravity)]), stops


# 1, 11, 31, 85, 118, 129: slips that turn fast or hardly, a spin that is damped much faster than the slip, long slides
@pytest.mark.parametrize("seed", [1, 5, 11, 31, 85, 118, 129])
@pytest.mark.parametrize("tol", [1e-12, 1e-8, 1e-6])
def test_a_box_on_an_incline_stops_on_all_legs_at_once(seed, tol):
    mechanism, stops = sliding_box(seed)
    motion = zw.simulate(mechanism, until=1.3 * stops, tol=tol, samples=5)
    assert motion.status == "finished"
    assert motion.transition_kind.values.tolist() == ["stick"] * 4
    assert motion.transition_time.values == pytest.approx(stops, rel=1e-10 + 30 * tol)
    assert (motion["mode"].values[-1] == "sticking").all()
    assert np.abs(motion.v.values[-1]).max() < 1e-12
    assert float(abs(motion.energy_balance).max()) < 1e-10 + 30 * tol


@pytest.mark.parametrize("method", ["taylor", "lsoda"])
def test_other_engines_stop_it_there_too(method):
    mechanism, stops = sliding_box(5)
    motion = zw.simulate(mechanism, until=1.3 * stops, tol=1e-10, samples=5, method=method)
    assert motion.transition_kind.values.tolist() == ["stick"] * 4
    assert motion.transition_time.values == pytest.approx(stops, rel=1e-7)


def test_legs_that_bear_little_where_a_slip_ends_do_not_lift_there():
    # a high box: μ h m g is nearly all that its legs behind can bear, and slips of rounding would rub any way
    edges, mu, heading, speed = (0.1, 0.06, 0.08), 0.6, 0.9, 0.44
    box = mb.Body("box", 1, mb.inertia.box(1, edges), position=(0, 0, edges[2] / 2),
                  velocity=(speed * np.cos(heading), speed * np.sin(heading), 0))  # fmt: skip
    floor = mb.Contact("floor", mb.ground, box, normal=(0, 0, 1), box=edges, friction=mu)
    motion = zw.simulate(mb.Mechanism([box], [floor], [mb.Gravity((0, 0, -G))]), until=0.3)
    assert motion.transition_kind.values.tolist() == ["stick"] * 4
    assert motion.transition_time.values == pytest.approx(speed / (mu * G), rel=1e-10)


def test_a_slip_that_goes_by_zero_is_no_lift():
    # one of two corners of a box that tumbles down an incline comes to rest while the other slides on
    rng = np.random.default_rng(1018)
    edges, mu = rng.uniform(0.05, 0.3, 3), rng.uniform(0.1, 1.0)
    rng.choice([0, 0, 0.2, 0.5])
    tilt, way = rng.choice([0, 0, 0.2, 0.4]) * rng.uniform(0.5, 1), rng.uniform(0, 2 * np.pi)
    gravity = (G * np.sin(tilt) * np.cos(way), G * np.sin(tilt) * np.sin(way), -G * np.cos(tilt))
    turn = tuple(Rotation.random(random_state=18).as_quat(scalar_first=True))
    spin, velocity = tuple(rng.normal(size=3) * 3), tuple(rng.normal(size=3) * 0.5)
    box = mb.Body("box", 1, mb.inertia.box(1, tuple(edges)), position=(0, 0, 0.3), orientation=turn,
                  angular_velocity=spin, velocity=velocity)  # fmt: skip
    floor = mb.Contact("floor", mb.ground, box, normal=(0, 0, 1), box=tuple(edges), friction=mu, restitution=0.5)
    motion = zw.simulate(mb.Mechanism([box], [floor], [mb.Gravity(gravity)]), until=1.5)
    assert motion.status == "finished"
    assert (motion["mode"].values[-1] == "sticking").sum() == 4
    assert float(abs(motion.energy_balance).max()) < 1e-10
    assert float(motion.gap.min()) > -1e-10
