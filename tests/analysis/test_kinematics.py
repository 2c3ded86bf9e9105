"""Kinematics of driven mechanisms: positions as geometry has them, motions as `simulate` has them, dead points."""

import numpy as np
import pytest
import sympy as sp
from mpmath import mp

import zwang as zw
from tests.analysis.systems import REFERENCES, VARIANTS, doubled
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError, SimulationError

a, b, x, y = Q = zw.coordinates("a b x y")
KINETIC = sum(dot(c) ** 2 for c in Q) / 2


def four_bar(crank, coupler, rocker, ground, angle):
    """The tip of the crank at (a, b), the joint of coupler and rocker at (x, y)."""
    rows = {
        "dx": a - crank * sp.cos(angle),
        "dy": b - crank * sp.sin(angle),
        "coupler": (x - a) ** 2 + (y - b) ** 2 - coupler**2,
        "rocker": (x - ground) ** 2 + y**2 - rocker**2,
    }
    return zw.System(Q, kinetic=KINETIC, potential=9.81 * (b + 2 * y), constraints=rows)


USUAL = four_bar(2, 8, 7, 10, 3 * zw.t)
GUESS = {a: 2, b: 0, x: 6, y: 6}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_four_bar_is_where_circles_meet(variant):
    motion = zw.kinematics(variant(USUAL), GUESS, [0, 0.3, 0.7])
    reference = REFERENCES["C2 four-bar kinematics"]["t=0.7"]
    for name in ("x", "y"):
        found = [float(motion[kind].sel(coordinate=name, time=0.7)) for kind in ("q", "v", "a")]
        assert found == pytest.approx([float(value) for value in reference[name]], rel=2e-14)
    assert motion.attrs["status"] == "finished"


@pytest.mark.parametrize("variant", [VARIANTS[0], doubled])
def test_it_is_the_motion_that_simulate_integrates(variant):
    system = variant(USUAL)
    times = np.linspace(0, 2, 9)
    found = zw.kinematics(system, GUESS, times)
    start = first_state(system, found)
    motion = zw.simulate(system, start, until=2, times=times, tol=1e-13)
    for name in ("q", "v", "a", "constraint_force", "kinetic", "potential", "multiplier"):
        size = np.abs(motion[name].values).max()
        assert np.abs(found[name].values - motion[name].values).max() < 1e-12 * max(size, 1), name
    assert set(found.data_vars) == set(motion.data_vars)


def circles(t):
    """Position, velocity and acceleration of both joints by the intersection of circles, in 40 digits (mpmath)."""

    def place(s):
        a, b = 2 * mp.cos(3 * s), 2 * mp.sin(3 * s)
        u, w = 10 - a, -b
        square = u**2 + w**2
        along = (64 - 49 + square) / (2 * square)
        aside = mp.sqrt(64 / square - along**2)
        return [a, b, a + along * u - aside * w, b + along * w + aside * u]

    with mp.workdps(40):
        t = mp.mpf(float(t))
        return [[float(mp.diff(lambda s, i=i: place(s)[i], t, k)) for i in range(4)] for k in range(3)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_are_where_circles_meet_to_the_last_digits(variant):
    """Neither kinematics nor simulate is off: against 40 digits, the first to rounding, the second to its tolerance."""
    system, times = variant(USUAL), np.linspace(0, 2, 9)
    exact = np.array([circles(t) for t in times])
    found = zw.kinematics(system, GUESS, times)
    motion = zw.simulate(system, first_state(system, found), until=2, times=times, tol=1e-13)
    for i, name in enumerate(("q", "v", "a")):
        size = np.abs(exact[:, i]).max()
        assert np.abs(found[name].values - exact[:, i]).max() < 5e-15 * size, name
        assert np.abs(motion[name].values - exact[:, i]).max() < 5e-13 * size, name


def first_state(system, motion):
    """The first state of a motion."""
    keys = [*system.coordinates, *system.velocities]
    return dict(zip(keys, [*motion.q.values[0], *motion.v.values[0]], strict=True))


def test_it_stays_assembled_as_it_is_however_far_apart_the_times_are():
    fine = zw.kinematics(USUAL, GUESS, np.linspace(0, 2.1, 2101))
    coarse = zw.kinematics(USUAL, GUESS, [0, 2.1])
    assert coarse.q.values[-1] == pytest.approx(fine.q.values[-1], abs=1e-13)
    lower = zw.kinematics(USUAL, GUESS | {y: -6}, np.linspace(0, 2.1, 50))
    assert (fine.q.sel(coordinate="y").values > 0).all()
    assert (lower.q.sel(coordinate="y").values < 0).all()


@pytest.mark.parametrize("variant", [VARIANTS[0], doubled])
def test_a_thousand_turns_are_gone_through_by_the_engine(variant):
    """Circles that meet, on the same side as at the start; by Newton's steps alone it took 15 s."""
    times = np.array([0, 0.3, 40.1, 900.0, 2500.7])
    motion = zw.kinematics(variant(four_bar(2, 8, 7, 10, 3 * zw.t)), GUESS, times)
    tip = 2 * np.array([np.cos(3 * times), np.sin(3 * times)])
    to_pivot = np.array([10, 0])[:, None] - tip
    far = np.hypot(*to_pivot)
    angle = np.arctan2(to_pivot[1], to_pivot[0]) + np.arccos((8**2 + far**2 - 7**2) / (2 * 8 * far))
    np.testing.assert_allclose(motion.q.values[:, :2].T, tip, atol=4e-13)
    np.testing.assert_allclose(motion.q.values[:, 2:].T, tip + 8 * np.array([np.cos(angle), np.sin(angle)]), atol=2e-12)
    assert motion.attrs["steps"] < 1000


def test_angles_count_a_thousand_turns():
    crank = mb.PlanarBody("crank", 1, 1, position=(1, 0))
    pin = mb.Revolute("pin", mb.ground, crank, at=(0, 0))
    driven = mb.Mechanism([crank], joints=[pin, mb.Driver("motor", pin, motion=3 * zw.t)])
    assert zw.kinematics(driven, None, [0, 2500.0]).q.values[-1, 2] == pytest.approx(7500, rel=1e-15)


def test_a_dead_point_after_many_swings_is_found_as_a_near_one_is():
    """Crank 5, coupler 4, rocker 5 on a ground of 10: both lie on a line where crank tip and pivot are 9 apart."""
    angle = (1 + 3e-3 * zw.t) * sp.sin(zw.t)
    found = zw.kinematics(four_bar(5, 4, 5, 10, angle), {a: 5, b: 0, x: 8, y: 3.4}, [0, 0.3, 300.0], throw=False)
    assert found.attrs["status"] == "singular"
    dead = float(found.attrs["message"].partition("t = ")[2].partition(":")[0])
    assert abs(float(angle.subs(zw.t, dead))) == pytest.approx(np.arccos((25 + 100 - 81) / 100), abs=1e-8)


def test_a_dead_point_is_where_geometry_says_and_says_what_becomes_free():
    """Crank 6, coupler 4, rocker 4 on a ground of 8: both lie on a line where crank tip and pivot are 8 apart."""
    stuck = four_bar(6, 4, 4, 8, zw.t)
    with pytest.raises(
        SimulationError, match=r"A dead point: .*'coupler'.* become dependent there, and leave"
    ) as caught:
        zw.kinematics(stuck, {a: 6, b: 0, x: 7, y: 3.9}, np.linspace(0, 3, 31))
    motion = caught.value.motion
    assert caught.value.status == "singular"
    assert motion.sizes["time"] == 12
    dead = float(str(caught.value).partition("t = ")[2].partition(":")[0])
    assert dead == pytest.approx(np.arccos(36 / 96), abs=1e-9)
    kept = zw.kinematics(stuck, {a: 6, b: 0, x: 7, y: 3.9}, np.linspace(0, 3, 31), throw=False)
    assert kept.attrs["message"] == str(caught.value)


def test_a_singular_position_that_is_passed_is_told():
    parallelogram = four_bar(1, 2, 1, 2, zw.t)
    motion = zw.kinematics(parallelogram, {a: 0, b: 1, x: 2, y: 1}, np.linspace(1.5, 6, 40))
    assert np.abs(motion.q.values[:, 2] - 2 - motion.q.values[:, 0]).max() < 1e-14
    assert "Between t = 3.11538 and 3.23077 a singular position was passed" in motion.attrs["message"]


def test_at_a_singular_position_itself_forces_are_not_told():
    parallelogram = four_bar(1, 2, 1, 2, zw.t)
    with pytest.raises(
        SimulationError, match=r"A singular position: .* branches meet there, so leave out times as near"
    ):
        zw.kinematics(parallelogram, {a: 0, b: 1, x: 2, y: 1}, [1.5, 3, np.pi, 3.3])


def ten_bars():
    """A crank, and four pairs of a coupler and a rocker, each driven by the rocker before: ten links with ground."""
    pivots = [(0.0, 0.0), (4.0, 0.0), (8.0, 0.0), (12.0, 0.0), (16.0, 0.0)]
    tips = [(0.0, 1.0), (4.0, 3.0), (8.0, 3.5), (12.0, 4.0), (16.0, 4.5)]

    def bar(name, start, end):
        middle = tuple((p + q) / 2 for p, q in zip(start, end, strict=True))
        angle = float(np.arctan2(end[1] - start[1], end[0] - start[0]))
        return mb.PlanarBody(name, 1, 0.1, position=middle, angle=angle)

    bodies, joints = [bar("crank", pivots[0], tips[0])], []
    joints.append(mb.Revolute("crank pin", mb.ground, bodies[0], at=pivots[0]))
    for k in range(1, 5):
        driver = bodies[0] if k == 1 else bodies[-1]
        coupler, rocker = bar(f"coupler {k}", tips[k - 1], tips[k]), bar(f"rocker {k}", pivots[k], tips[k])
        joints.append(mb.Revolute(f"pin {k}a", driver, coupler, at=tips[k - 1]))
        joints.append(mb.Revolute(f"pin {k}b", coupler, rocker, at=tips[k]))
        joints.append(mb.Revolute(f"pin {k}c", mb.ground, rocker, at=pivots[k]))
        bodies += [coupler, rocker]
    motor = mb.Driver("motor", joints[0], motion=mb.start + zw.t)
    return mb.Mechanism(bodies, joints=[*joints, motor], forces=[mb.Gravity((0, -9.81))])


def test_ten_bars_take_a_thousand_positions():
    mechanism = ten_bars()
    times = np.linspace(0, 6.2, 1000)
    first = zw.kinematics(mechanism, times=times[:2])
    assert first.attrs["status"] == "finished"
    motion = zw.kinematics(mechanism, times=times)
    assert motion.sizes["time"] == 1000
    assert np.abs(motion.residual.values).max() < 1e-13
    # the motor's torque is what the power of weight and inertia asks for: one turn a unit of time
    energy = (motion.kinetic + motion.potential).values
    power = float(motion.multiplier.sel(constraint="motor.motion").values[500])
    rate = (energy[501] - energy[499]) / (times[501] - times[499])
    assert power == pytest.approx(rate, rel=1e-3)


def arm(**rows):
    return zw.System((a, b), kinetic=dot(a) ** 2 + dot(b) ** 2, constraints={"arm": a**2 + b**2 - 1, **rows})


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("1 degree of freedom is left, such as b; add a driver",
         lambda: (arm(), {a: 1, b: 0}, [0, 1])),
        ("'speed' is not on positions; write drivers as position = function of time",
         lambda: (arm(speed=dot(a) - 1), {a: 0, b: 1}, [0, 1])),
        ("times is empty", lambda: (USUAL, GUESS, [])),
        ("times must be finite and ascend", lambda: (USUAL, GUESS, [1, 0])),
        ("numbers are needed", lambda: (USUAL, GUESS, ["now"])),
        ("a System has no start of its own: give guess", lambda: (USUAL, None, [0, 1])),
    ],
)  # fmt: skip
def test_what_time_does_not_determine_is_refused_by_name(words, call):
    with pytest.raises(InputError, match=words):
        zw.kinematics(*call())
