"""One step after another: order, rest, sticking, laws at every step, energy."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.conftest import in_loops
from tests.motion.contact.steps.piles import pyramid
from tests.references import contact
from tests.references.contact import expected
from zwang import dot
from zwang import multibody as mb

x, y, z, turn = zw.coordinates("x y z turn")


def steps(system, start, until, step, **more):
    """A motion by steps."""
    return zw.simulate(system, start, until=until, contacts="steps", step=step, **more)


def test_a_bouncing_ball_is_followed_with_order_one_through_its_accumulation():
    truth = expected("a1-bouncing-zeno")
    errors = []
    for step in (1e-2, 1e-3):
        motion = steps(*contact.ball(0.8), 5, step, times=[3, 5])
        errors.append(abs(motion.q.values[0, 0] - float(truth["y_at_3"])))
        assert abs(motion.q.values[1, 0]) < 1e-12  # at rest, exactly at its limit
        assert abs(motion.v.values[1, 0]) < 1e-10
        assert motion.mode.values[1, 0] == "closed"
        assert np.isclose(motion.normal_force.values[1, 0], 9.81, rtol=1e-9)
    assert errors[0] > 5 * errors[1]
    assert errors[1] < 3e-3


def test_an_elastic_ball_keeps_its_energy():
    motion = steps(*contact.ball(1), 10, 1e-3)
    assert np.allclose(motion.energy, motion.energy[0], rtol=1e-12)
    assert abs(motion.energy_balance).max() < 1e-11


def test_a_rocking_block_converges_to_the_motion_found_by_events():
    system, start = contact.rocking_block()
    exact = zw.simulate(system, start, 2.0, samples=5)
    errors = [float(abs(steps(system, start, 2.0, h, samples=5).q - exact.q).max()) for h in (1e-2, 1e-3)]
    assert errors[0] > 4 * errors[1]
    assert errors[1] < 1e-2


@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_a_block_that_sticks_on_an_incline_does_not_creep(step):
    system, start = contact.incline(0.7)
    start = dict.fromkeys(start, 0)
    motion = steps(system, start, 5, step)
    assert (motion.q.sel(coordinate="x").values == 0).all()
    assert (motion.v.sel(coordinate="x").values == 0).all()
    assert float(abs(motion.q.sel(coordinate="y")).max()) < 1e-15
    assert (motion.mode.values == "sticking").all()
    assert np.allclose(motion.friction_force, motion.friction_force[0], rtol=1e-12)


def test_a_sliding_block_stops_where_it_should():
    # v²/(2μg) by hand
    floor = zw.Constraint(y >= 0, "floor", friction=0.3, slip=dot(x))
    block = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints=[floor])
    start = {x: 0, y: 0, dot(x): 2, dot(y): 0}
    for step in (1e-2, 1e-3):
        motion = steps(block, start, 2.0, step)
        assert abs(motion.q.values[-1, 0] - 4 / (2 * 0.3 * 9.81)) < step * 0.1
        assert motion.v.values[-1, 0] == 0
        assert motion.mode.values[-1, 0] == "sticking"
        slides = motion.mode.values[:, 0] == "sliding"
        assert np.allclose(motion.friction_force.values[slides, 0], -0.3 * 9.81, rtol=1e-10)


def test_sticking_and_sliding_friction_that_differ_make_stick_and_slip():
    system, start = contact.belt((sp.Rational(4, 10), sp.Rational(2, 10)))
    exact = zw.simulate(system, start, 20, samples=401)
    motion = steps(system, start, 20, 1e-3, samples=401)
    assert float(abs(motion.q - exact.q).max()) < 0.02 * float(abs(exact.q).max())
    assert {*motion.mode.values.ravel().tolist()} == {"sticking", "sliding"}


@pytest.mark.parametrize(
    ("before", "push", "impulse"),
    [(0.0, 0.4, -0.4), (0.0, 0.6, -0.3), (1.0, 0.4, -0.3), (1.0, -0.4, 0.4), (1.0, -0.6, 0.3)],
    ids=["held", "broken away", "slides on", "turns round and is held", "turns round and slides"],
)
def test_what_sticks_or_turns_round_is_held_by_the_larger_friction(before, push, impulse):
    """Pressed with an impulse of 1, μ = 0.5 and 0.3; without friction its speed after the step would be `push`."""
    floor = zw.Constraint(y >= 0, "floor", friction=(0.5, 0.3), slip=dot(x))
    forces = {x: (push - before) / 0.1, y: -10}
    block = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces=forces, constraints=[floor])
    motion = steps(block, {x: 0, y: 0, dot(x): before, dot(y): 0}, 0.1, 0.1, samples=2)
    assert motion.friction_force.values[-1, 0] * 0.1 == pytest.approx(impulse)
    assert motion.v.values[-1, 0] == pytest.approx(push + impulse, abs=1e-14)


def test_many_dependent_contacts_without_friction_obey_their_laws():
    rng = np.random.default_rng(1)
    q = zw.coordinates("q0 q1 q2 q3 q4 q5")
    for _ in range(5):
        A, v = rng.standard_normal((20, 6)), rng.standard_normal(6)
        A = -A * np.sign(A @ v)[:, None]  # all are run into
        walls = [
            zw.Constraint(sum(a * c for a, c in zip(row, q, strict=True)) >= 0, f"w{i}") for i, row in enumerate(A)
        ]
        system = zw.System(q, kinetic=sum(dot(c) ** 2 for c in q) / 2, constraints=walls)
        motion = steps(system, dict.fromkeys(q, 0) | dict(zip(map(dot, q), v, strict=True)), 0.1, 0.1, samples=2)
        after, impulse = motion.v.values[-1], 0.1 * motion.normal_force.values[-1]
        assert after == pytest.approx(v + A.T @ impulse, abs=1e-12)
        assert (A @ after).min() > -1e-9  # none is entered, none pulls, only what touches pushes
        assert impulse.min() >= 0
        assert np.abs(impulse * (A @ after)).max() < 1e-9


def test_balls_in_a_row_that_touch_follow_moreaus_law():
    system, start = contact.chain((1, 1, 1), 1)
    motion = steps(system, start, 0.1, 1e-3)
    assert np.allclose(motion.v.values[-1], [-1 / 3, 2 / 3, 2 / 3], atol=1e-11)


def test_a_ball_with_friction_in_space_begins_to_roll():
    # a sphere that slides without turning rolls with 5/7 of its speed in the end
    R, rx, ry = 0.1, *zw.coordinates("rx ry")
    slip = (dot(x) - R * dot(ry), dot(y) + R * dot(rx))
    floor = zw.Constraint(z - R >= 0, "floor", friction=0.3, slip=slip)
    energy = sum(dot(c) ** 2 for c in (x, y, z)) / 2 + R**2 * (dot(rx) ** 2 + dot(ry) ** 2) / 5
    ball = zw.System((x, y, z, rx, ry), kinetic=energy, potential=9.81 * z, constraints=[floor])
    start = dict.fromkeys((x, y, rx, ry, dot(z), dot(rx), dot(ry)), 0) | {z: R, dot(x): 3, dot(y): -4}
    motion = steps(ball, start, 2.0, 1e-3)
    assert np.allclose(motion.v.values[-1, :2], [15 / 7, -20 / 7], rtol=1e-10)
    assert motion.mode.values[0, 0] == "sliding"
    assert motion.mode.values[-1, 0] == "sticking"
    first = motion.isel(time=1)
    assert np.isclose(first.friction_force.values[0], 0.3 * 9.81)
    assert np.allclose(first.nonideal_force.values[:2], 0.3 * 9.81 * np.array([-0.6, 0.8]), rtol=1e-6)


def test_equalities_are_kept_and_a_pendulum_is_followed_with_order_two():
    rod = sp.Eq(x**2 + y**2, 1)
    wall = zw.Constraint(x + 10 >= 0, "far wall")
    kinetic, potential = (dot(x) ** 2 + dot(y) ** 2) / 2, 9.81 * y
    pendulum = zw.System((x, y), kinetic=kinetic, potential=potential, constraints=[zw.Constraint(rod, "rod"), wall])
    free = zw.System((x, y), kinetic=kinetic, potential=potential, constraints=[zw.Constraint(rod, "rod")])
    start = {x: 1, y: 0, dot(x): 0, dot(y): 0}
    exact = zw.simulate(free, start, 2.0, samples=11)
    errors = []
    for step in (1e-2, 1e-3):
        motion = steps(pendulum, start, 2.0, step, samples=11)
        errors.append(float(abs(motion.q - exact.q).max()))
        assert float(abs(motion.residual.sel(constraint="rod")).max()) < 1e-12
        assert float(abs(motion.residual_rate.sel(constraint="rod")).max()) < 1e-12
    assert errors[1] < errors[0] / 50
    assert np.allclose(motion.multiplier.sel(constraint="rod"), exact.multiplier.sel(constraint="rod"), atol=0.05)


@pytest.mark.parametrize("restitution", [0, 0.2, 0.9])
def test_forces_between_discs_that_roll_apart_do_not_flicker(restitution):
    # the disc between them falls as they do without impulses, and is pressed onto them by these only
    system, start = pyramid(restitution)
    exact = zw.simulate(system, start, 0.1, samples=21)
    errors = []
    for step in (2e-3, 1e-3):
        motion = steps(system, start, 0.1, step, samples=21)
        assert (motion["mode"].values[1:] == exact["mode"].values[1:]).all()
        assert float(abs(motion.q - exact.q).max()) < 1e-5
        errors.append(float(abs(motion.normal_force - exact.normal_force).max()))
    assert errors[1] < 0.6 * errors[0] < 2e-3


def test_a_limit_of_a_velocity_holds_at_any_time():
    # a ratchet: the wheel may only turn forwards; a torque that swings turns it half of the time
    limit = zw.Constraint(dot(turn) >= 0, "pawl")
    wheel = zw.System((turn,), kinetic=dot(turn) ** 2 / 2, forces={turn: sp.cos(zw.t)}, constraints=[limit])
    motion = steps(wheel, {turn: 0, dot(turn): 0}, 20, 1e-3, samples=401)
    assert motion.v.values.min() >= -1e-15
    assert np.allclose(motion.gap.values[:, 0], motion.v.values[:, 0])  # what a limit of a velocity reads
    # sin t while the torque was positive, then at rest until it is again
    t = motion.time.values
    since = np.where(t < np.pi, np.sin(t), 0.0)
    assert np.allclose(motion.v.values[t < np.pi * 1.5, 0], since[t < np.pi * 1.5], atol=2e-3)


def test_a_table_that_moves_carries_what_lies_on_it_and_its_work_is_in_the_account():
    lift = zw.Constraint(y - sp.sin(2 * zw.t) / 10 >= 0, "table")
    ball = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=9.81 * y, constraints=[lift])
    start = {y: 0, dot(y): 0.2}
    motion = steps(ball, start, 3.0, 1e-3)
    assert np.allclose(motion.q.values[:, 0], np.sin(2 * motion.time) / 10, atol=1e-5)
    assert float(abs(motion.energy_balance).max()) < 1e-3
    assert np.allclose(motion.normal_force.values[5:-5, 0], 9.81 - 0.4 * np.sin(2 * motion.time[5:-5]), atol=2e-2)


def test_forces_that_depend_on_velocities_keep_the_second_order():
    # a charge in a magnetic field goes round and keeps its speed; the wall is far
    wall = zw.Constraint(x + 10 >= 0, "far wall")
    charge = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces={x: 3 * dot(y), y: -3 * dot(x)}, constraints=[wall]
    )
    start = {x: 0, y: 0, dot(x): 1, dot(y): 0}
    errors = []
    for step in (1e-2, 1e-3):
        motion = steps(charge, start, 4.0, step, samples=9)
        errors.append(float(np.abs(motion.q.values[:, 0] - np.sin(3 * motion.time.values) / 3).max()))
    assert errors[1] < errors[0] / 50
    assert errors[1] < 1e-5


@pytest.mark.slow
def test_errors_fall_with_the_step_tenfold_and_again():
    truth = float(expected("a1-bouncing-zeno")["y_at_3"])
    ball = [abs(steps(*contact.ball(0.8), 3, h, samples=2).q.values[-1, 0] - truth) for h in (1e-2, 1e-3, 1e-4)]
    assert ball[0] > 5 * ball[1] > 25 * ball[2]
    system, start = contact.rocking_block()
    exact = zw.simulate(system, start, 2.0, samples=5)
    block = [float(abs(steps(system, start, 2.0, h, samples=5).q - exact.q).max()) for h in (1e-2, 1e-3, 1e-4)]
    assert block[0] > 4 * block[1] > 16 * block[2]


@pytest.mark.both_codes
def test_a_ball_that_spins_backwards_slides_and_rolls_as_coriolis_says(code):
    r, mu, v, spin = 0.03, 0.2, 2.0, -8 / 0.03
    ball = mb.Body("ball", 0.17, mb.inertia.sphere(0.17, r), position=(0, 0, r), velocity=(v, 0, 0),
                   angular_velocity=(0, spin, 0))  # fmt: skip
    cloth = mb.Contact("cloth", mb.ground, ball, normal=(0, 0, 1), radius=r, friction=mu)
    table = mb.Mechanism([ball], [cloth], [mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(table, until=2.0, contacts="steps", step=5e-4)
    assert "Not vouched for" not in motion.message
    after = (5 * v + 2 * r * spin) / 7  # angular momentum about a point of the cloth, −6/7 m/s
    assert abs(motion.v.values[-1, 0] - after) < 5e-3
    assert np.abs(np.linalg.norm(motion.q.values[:, 3:], axis=1) - 1).max() < 1e-12


def falling_chain(count):
    """Masses 1 with rods of length 1 between them, in a bow above a floor that catches all of them."""
    place = zw.coordinates("place", shape=(count, 2))
    a, b = zw.coordinates("a b", shape=2)
    system = zw.System(
        place,
        kinetic=zw.family((dot(a) ** 2).sum() / 2, {a: place}),
        potential=zw.family(9.81 * a[1], {a[1]: place[:, 1]}),
        constraints={
            "rod": zw.family(((a - b) ** 2).sum() - 1, {a: place[:-1], b: place[1:]}),
            "floor": zw.family(a[1] >= 0, {a[1]: place[:, 1]}),
        },
    )
    angle = np.linspace(0, 0.3, count - 1)
    ways = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=1), axis=0)
    return system, {place: np.vstack([(0, 0), ways]) + np.array([0, 0.5]), dot(place): 0.0}


def test_a_chain_falls_on_a_floor_in_loops_as_in_straight_line_code(monkeypatch):
    straight = steps(*falling_chain(10), 0.5, 2e-3, samples=6)
    in_loops(monkeypatch)
    rolled = steps(*falling_chain(10), 0.5, 2e-3, samples=6)
    assert straight.sizes["transition"] > 3
    assert (rolled.transition_contact.values == straight.transition_contact.values).all()
    for name in ("q", "v", "normal_force"):
        assert rolled[name].values == pytest.approx(straight[name].values, abs=1e-8), name


def test_a_long_chain_falls_on_a_floor():
    """Freely for √(2 · 0.5 / g) = 0.319 s, the first mass; then none is below, no rod longer, no energy gained."""
    motion = steps(*falling_chain(120), 0.45, 2e-3, samples=10)
    free = motion.sel(time=slice(0, 0.31))
    fallen = motion.q.values[0, 1::2] - 9.81 * free.time.values[:, None] ** 2 / 2
    assert free.q.values[:, 1::2] == pytest.approx(fallen, abs=1e-2)  # order one: h g t / 2 = 3e-3
    assert motion.transition_time.values[0] == pytest.approx(np.sqrt(1 / 9.81), abs=4e-3)
    assert motion.gap.values.min() > -1e-6
    assert np.abs(motion.residual.sel(constraint=[f"rod[{i}]" for i in range(119)])).max() < 1e-6
    assert motion.energy.values[-1] < motion.energy.values[0]


def test_a_die_tumbles_and_comes_to_rest_on_a_face():
    die = mb.Body("die", 1, mb.inertia.box(1, (1, 1, 1)), position=(0, 0, 2), orientation=(0.9, 0.3, 0.2, 0.1),
                  angular_velocity=(1, 2, 0.5))  # fmt: skip
    floor = mb.Contact("floor", mb.ground, die, normal=(0, 0, 1), box=(1, 1, 1), friction=0.4, restitution=0.2)
    motion = zw.simulate(
        mb.Mechanism([die], [floor], [mb.Gravity((0, 0, -9.81))]), until=4.0, contacts="steps", step=4e-3
    )
    assert np.abs(motion.v.values[-1]).max() < 1e-9
    assert abs(motion.q.values[-1, 2] - 0.5) < 1e-6
    assert motion.gap.values.min() > -1e-3


def in_a_loop(stop):
    """A four-bar linkage of bodies in space, whose joints hold more than they need to, with a stop at its crank."""
    corners = [(0, 0, 0), (0, 0, 1), (1.5, 0, 1), (1.5, 0, 0)]
    rods = [
        mb.Body(f"rod{i}", 1, [0.1, 0.1, 0.05], position=tuple(np.mean(corners[i : i + 2], axis=0))) for i in range(3)
    ]
    ends = [mb.ground, *rods, mb.ground]
    hinges = [mb.Revolute(f"hinge{i}", *ends[i : i + 2], at=corners[i], axis=(0, 1, 0)) for i in range(4)]
    return mb.Mechanism(
        rods, [*hinges, mb.Stop("stop", hinges[0], lower=-stop, upper=stop)], [mb.Gravity((3, 0, -9.81))]
    )


@pytest.mark.parametrize("stop", [3.0, 0.6], ids=["free", "stopped"])
def test_joints_that_hold_more_than_they_need_to_share_their_load_as_by_events(stop):
    """20 of the 20 + 3 rows are independent; steps are of second order but for the instant of the impact, at rest."""
    exact = zw.simulate(in_a_loop(stop), until=0.6, samples=4)
    errors = []
    for step in (2e-3, 1e-3):
        motion = steps(in_a_loop(stop), None, 0.6, step, samples=4)
        errors.append(np.abs(motion.q.values - exact.q.values).max())
        assert (motion["rank"].values[:3] == 20).all()
        assert np.abs((motion.multiplier - exact.multiplier).values[1]).max() < 20 * step
    assert errors[1] < 0.3 * errors[0] < 3e-6


def test_a_rag_doll_falls_and_lies_within_its_stops():
    """A trunk and two limbs of two bodies: sparse factors, contacts and stops; energy is never gained."""
    floor = {"normal": (0, 0, 1), "friction": 0.5}
    trunk = mb.Body("trunk", 20, [0.5, 0.5, 0.15], position=(0, 0, 0.6), velocity=(0.3, 0.1, 0))
    bodies, parts = [trunk], [mb.Contact("trunk floor", mb.ground, trunk, corners=[(0, 0, -0.3), (0, 0, 0.3)], **floor)]
    for n, x in enumerate((-0.25, 0.25)):
        upper = mb.Body(f"upper{n}", 3, [0.03, 0.03, 0.003], position=(x, 0, 0.625), velocity=(0.3, 0.1, 0))
        lower = mb.Body(f"lower{n}", 2, [0.015, 0.015, 0.001], position=(x, 0, 0.28), velocity=(0.3, 0.1, 0))
        hinge = mb.Revolute(f"hinge{n}", upper, lower, at=(x, 0, 0.43), axis=(0, 1, 0))
        bodies += [upper, lower]
        parts += [mb.Spherical(f"ball{n}", trunk, upper, at=(x, 0, 0.8)), hinge,
                  mb.Stop(f"stop{n}", hinge, lower=-0.1, upper=2),
                  mb.Contact(f"upper floor{n}", mb.ground, upper, corners=[(0, 0, -0.175)], **floor),
                  mb.Contact(f"lower floor{n}", mb.ground, lower, corners=[(0, 0, -0.15)], **floor)]  # fmt: skip
    motion = steps(mb.Mechanism(bodies, parts, [mb.Gravity((0, 0, -9.81))]), None, 1.0, 1e-3, samples=101)
    assert "Not vouched for" not in motion.message
    assert motion.attrs["contact_residual"] < 1e-8
    assert motion.gap.values.min() > -1e-6
    assert np.diff(motion.energy.values).max() < 1e-6 * motion.energy.values[0]
    assert motion.normal_force.values[-20:].sum(axis=1).mean() == pytest.approx(30 * 9.81, rel=0.5)  # it lies, or sways
    normal, rubs = motion.normal_force.values, np.abs(motion.friction_force.values)
    assert (rubs <= 0.5 * normal * (1 + 1e-6) + 1e-6 * normal.max()).all()
