"""Several contacts in space with friction: they share a load, give way, land, turn and come to rest, or are refused."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import multibody as mb
from zwang.motion.contact.cones import Cones, roomiest

G = 9.81
EDGES = (0.2, 0.15, 0.1)
TALL = (0.1, 0.1, 0.4)
TRIPOD = ((0.1, 0, -0.05), (-0.05, 0.08, -0.05), (-0.05, -0.09, -0.05))
DOWN = (0.0, 0.0, -G)


def legs(edges=EDGES):
    return [(x * edges[0] / 2, y * edges[1] / 2, -edges[2] / 2) for x in (-1, 1) for y in (-1, 1)]


def body(edges=EDGES, name="box", position=None, **start):
    at = (0, 0, edges[2] / 2) if position is None else position
    return mb.Body(name, 1, mb.inertia.box(1, edges), position=at, **start)


def on_floor(what, mu, gravity=DOWN, forces=(), restitution=0, **touching):
    floor = mb.Contact("floor", mb.ground, what, normal=(0, 0, 1), friction=mu, restitution=restitution, **touching)
    return mb.Mechanism([what], [floor], [mb.Gravity(gravity), *forces])


def tilted(angle, way=0.0):
    """Gravity on an incline that falls along a direction, by the axes of the incline."""
    return G * np.sin(angle) * np.cos(way), G * np.sin(angle) * np.sin(way), -G * np.cos(angle)


def require_laws(motion, mu):
    """Complementarity, Coulomb's law, no penetration, and an account that closes, at every saved state."""
    mode, N, gap = motion["mode"].values, motion.normal_force.values, motion.gap.values
    F, slip = motion.friction_vector.values, motion.slip_vector.values
    most, speed = np.abs(N).max(), np.linalg.norm(slip, axis=-1)
    assert gap.min() > -1e-10
    assert np.abs(gap[mode != "open"]).max(initial=0) < 1e-10
    assert N.min() > -1e-9 * most
    assert np.abs(N[mode == "open"]).max(initial=0) == 0
    assert (np.linalg.norm(F, axis=-1) - mu * N).max() < 1e-9 * most
    assert speed[mode == "sticking"].max(initial=0) < 1e-10
    slides = (mode == "sliding") & (speed > 1e-6)  # a slip that begins is turned its way below
    against = F + mu * N[..., None] * slip / np.maximum(speed, 1e-300)[..., None]
    assert np.abs(against[slides]).max(initial=0) < 1e-9 * most
    assert np.abs(motion.energy_balance.values).max() < 1e-8


def test_a_table_rests_on_four_rough_legs():
    motion = zw.simulate(on_floor(body(), 0.5, corners=legs()), until=2)
    assert motion.status == "finished"
    assert (motion["mode"].values == "sticking").all()
    assert motion.normal_force.values == pytest.approx(G / 4, rel=1e-12)  # the shortest split of those that may be
    assert motion.friction_force.values == pytest.approx(0, abs=1e-12)
    assert np.abs(motion.v.values).max() < 1e-12
    assert not motion.unique.values[1:].any()
    require_laws(motion, 0.5)


def test_a_table_on_an_incline_holds_with_forces_within_their_cones():
    motion = zw.simulate(on_floor(body(), 0.5, tilted(0.4, 0.7), corners=legs()), until=0.5)
    assert (motion["mode"].values == "sticking").all()
    held = motion.friction_vector.values.sum(axis=1)  # slips are along x and y, in either order and sign
    assert np.linalg.norm(held, axis=1) == pytest.approx(G * np.sin(0.4), rel=1e-12)
    assert motion.normal_force.values.sum(axis=1) == pytest.approx(G * np.cos(0.4), rel=1e-12)
    require_laws(motion, 0.5)


@pytest.mark.parametrize("way", [0.0, 0.4])
def test_a_box_slides_down_an_incline_from_rest(way):
    motion = zw.simulate(on_floor(body(), 0.5, tilted(0.6, way), corners=legs()), until=0.5)
    far = G * (np.sin(0.6) - 0.5 * np.cos(0.6)) * 0.5**2 / 2
    assert motion.q.values[-1, :2] == pytest.approx([far * np.cos(way), far * np.sin(way)], abs=1e-12)
    assert motion.q.values[-1, 3:] == pytest.approx([1, 0, 0, 0], abs=1e-12)
    require_laws(motion, 0.5)


def test_a_box_that_slides_on_an_incline_stops_on_all_legs_at_once():
    motion = zw.simulate(on_floor(body(velocity=(1, 0, 0)), 0.5, tilted(0.2), corners=legs()), until=1)
    slows = G * (0.5 * np.cos(0.2) - np.sin(0.2))
    assert motion.transition_kind.values.tolist() == ["stick"] * 4
    assert motion.transition_time.values == pytest.approx(1 / slows, rel=1e-11)
    assert motion.q.values[-1, 0] == pytest.approx(1 / (2 * slows), rel=1e-11)
    assert (motion["mode"].values[-1] == "sticking").all()
    require_laws(motion, 0.5)


@pytest.mark.parametrize("tol", [1e-10, 3e-8])
@pytest.mark.parametrize("seed", range(8))
def test_a_box_that_slides_to_a_stop_in_any_direction_stops_on_all_legs_at_once(seed, tol):
    rng = np.random.default_rng(seed)
    edges = (*rng.uniform(0.1, 0.3, 2), rng.uniform(0.05, 0.15))
    mu, speed, way, yaw = rng.uniform(0.1, 0.6), 10 ** rng.uniform(-1, 1), *rng.uniform(0, 2 * np.pi, 2)
    heading = np.array([np.cos(way), np.sin(way)])
    turn = tuple(Rotation.from_euler("z", yaw).as_quat(scalar_first=True))
    box = body(edges, orientation=turn, velocity=(*speed * heading, 0))
    corners = [*legs(edges), (0, 0, -edges[2] / 2)][: 4 + seed % 2]
    stop, far = speed / (mu * G), speed**2 / (2 * mu * G)
    motion = zw.simulate(on_floor(box, mu, corners=corners), until=1.3 * stop, tol=tol)
    assert motion.status == "finished"
    assert motion.transition_kind.values.tolist() == ["stick"] * len(corners)
    assert motion.transition_time.values == pytest.approx(stop, rel=tol)
    assert motion.q.values[-1, :2] == pytest.approx(far * heading, abs=tol * far)
    require_laws(motion, mu)


def test_a_motion_may_end_in_the_last_moment_of_a_slip():
    system = on_floor(body(velocity=(0.6, 0.8, 0)), 0.5, corners=legs())
    end = (1 - 3e-9) / (0.5 * G)
    motion = zw.simulate(system, until=end)
    assert motion.status == "finished"
    assert float(motion.time[-1]) == end
    assert np.hypot(*motion.v.values[-1, :2]) == pytest.approx(3e-9, rel=1e-3)


def test_a_box_that_is_pushed_slides_when_all_its_legs_together_cannot_hold_it():
    box = body()
    push = mb.Force("push", box, (5 * zw.t * np.cos(0.3), 5 * zw.t * np.sin(0.3), 0))
    motion = zw.simulate(on_floor(box, 0.5, forces=[push], corners=legs()), until=2)
    begin = 0.5 * G / 5
    assert motion.transition_kind.values.tolist() == ["slide"]
    assert motion.transition_time.values[0] == pytest.approx(begin, rel=1e-12)
    assert np.hypot(*motion.q.values[-1, :2]) == pytest.approx(5 * (2 - begin) ** 3 / 6, rel=1e-10)
    require_laws(motion, 0.5)


def test_a_box_that_is_pushed_high_up_tips_over_its_edge():
    box = body(TALL)
    push = mb.Force("push", box, (5 * zw.t, 0, 0))
    motion = zw.simulate(on_floor(box, 2, forces=[push], corners=legs(TALL)), until=0.8)
    assert motion.transition_kind.values.tolist() == ["lift"]
    assert motion.transition_time.values[0] == pytest.approx(G * 0.05 / 0.2 / 5, rel=1e-11)  # moments about the edge
    assert motion["mode"].values[-1].tolist() == ["open", "open", "sticking", "sticking"]
    require_laws(motion, 2)


def sliding_table(mu, speed, spin, until):
    """The same by scipy, in the plane: four legs on equal springs, so that loads are linear in their places."""
    points, h = np.array(legs())[:, :2], EDGES[2] / 2
    inertia = (EDGES[0] ** 2 + EDGES[1] ** 2) / 12

    def rate(t, u):
        c, s = np.cos(u[2]), np.sin(u[2])
        r = points @ np.array([[c, s], [-s, c]])
        slips = u[3:5] + u[5] * np.column_stack([-r[:, 1], r[:, 0]])
        d = slips / np.linalg.norm(slips, axis=1)[:, None]
        # N = a + b·r, with ΣN = m g and no moment about the centre of mass: Σ (N r + h F) = 0 with F = −μ N d
        planes = np.column_stack([np.ones(4), r])
        A = np.vstack([np.ones(4), (r - mu * h * d).T]) @ planes
        N = planes @ np.linalg.solve(A, [G, 0, 0])
        F = -mu * N[:, None] * d
        return [*u[3:], *F.sum(axis=0), (r[:, 0] * F[:, 1] - r[:, 1] * F[:, 0]).sum() / inertia]

    return solve_ivp(rate, (0, until), [0, 0, 0, *speed, spin], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def test_a_table_that_slides_and_turns_shares_its_load_as_equal_springs_do():
    box = body(velocity=(1, 0, 0), angular_velocity=(0, 0, 3))
    motion = zw.simulate(on_floor(box, 0.5, corners=legs()), until=0.15, times=[0.05, 0.1, 0.15])
    assert motion.status == "finished"
    for i, t in enumerate((0.05, 0.1, 0.15)):
        end = sliding_table(0.5, (1.0, 0.0), 3.0, t)
        assert motion.q.values[i, :2] == pytest.approx(end[:2], abs=1e-9)
        assert 2 * np.arctan2(motion.q.values[i, 6], motion.q.values[i, 3]) == pytest.approx(end[2], abs=1e-9)
    assert "'floor.corner1', 'floor.corner2', 'floor.corner3' and 'floor.corner4' share their load" in motion.message
    assert "decides on the motion from t = 0 on" in motion.message
    require_laws(motion, 0.5)


def test_a_table_that_slides_and_turns_is_refused_with_the_interval_if_that_is_asked_for():
    box = body(velocity=(1, 0, 0), angular_velocity=(0, 0, 3))
    motion = zw.simulate(on_floor(box, 0.5, corners=legs()), until=1, throw=False, split="refuse")
    assert motion.status == "several solutions"
    assert "'floor.corner1', 'floor.corner2', 'floor.corner3' and 'floor.corner4' share their load" in motion.message
    assert "may be anything from" in motion.message


def test_a_table_that_slides_straight_is_followed_until_it_turns():
    box = body(velocity=(3, 0, 0))
    push = mb.Force("push", box, (0, 3 * sp.Max(zw.t - 0.2, 0), 0), point=(0.06, 0, 0.05))
    system = on_floor(box, 0.3, forces=[push], corners=legs())
    motion = zw.simulate(system, until=1, throw=False, split="refuse")
    assert motion.status == "several solutions"
    assert 0.2 < motion.time.values[-1] <= 0.3  # saved instants are 0.01 apart; intervals below 1e-5 count as unique
    require_laws(motion, 0.3)
    assert zw.simulate(system, until=1).status == "finished"


def test_a_split_is_one_of_two_words():
    with pytest.raises(zw.errors.InputError, match="split='fair' is unknown: choose 'compliant' or 'refuse'"):
        zw.simulate(on_floor(body(), 0.5, corners=legs()), until=1, split="fair")


def test_a_ring_that_turns_on_the_spot_is_not_refused():
    # friction has the moment μ m g R however the load is shared
    ring = [(0.1 * np.cos(a), 0.1 * np.sin(a), -0.02) for a in np.arange(8) * np.pi / 4]
    inertia = mb.inertia.box(1, EDGES)
    about = float(inertia[2] if np.ndim(inertia[0]) == 0 else inertia[2][2])
    box = body(position=(0, 0, 0.02), angular_velocity=(0, 0, 5))
    motion = zw.simulate(on_floor(box, 0.3, corners=ring), until=0.5)
    assert motion.transition_kind.values.tolist() == ["stick"] * 8
    assert motion.transition_time.values == pytest.approx(5 * about / (0.3 * G * 0.1), rel=1e-11)
    require_laws(motion, 0.3)


def sliding_tripod(mu, speed, spin, until):
    """The same by scipy, in the plane: three points whose normal forces statics say, friction at the floor included."""
    points, h = np.array(TRIPOD)[:, :2], 0.05
    inertia = (EDGES[0] ** 2 + EDGES[1] ** 2) / 12

    def rate(t, u):
        c, s = np.cos(u[2]), np.sin(u[2])
        r = points @ np.array([[c, s], [-s, c]])
        slips = u[3:5] + u[5] * np.column_stack([-r[:, 1], r[:, 0]])
        d = slips / np.linalg.norm(slips, axis=1)[:, None]
        # ΣN = m g, and no moment about the centre of mass: Σ (N r + h F) = 0 with F = −μ N d
        A = np.vstack([np.ones(3), (r - mu * h * d).T])
        N = np.linalg.solve(A, [G, 0, 0])
        F = -mu * N[:, None] * d
        return [*u[3:], *F.sum(axis=0), (r[:, 0] * F[:, 1] - r[:, 1] * F[:, 0]).sum() / inertia]

    start = [0, 0, 0, *speed, spin]
    return solve_ivp(rate, (0, until), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def test_a_tripod_slides_turns_and_stops_as_three_points_do():
    box = body(velocity=(0.8, 0.3, 0), angular_velocity=(0, 0, 5))
    motion = zw.simulate(on_floor(box, 0.3, corners=TRIPOD), until=0.5, times=[0.1, 0.2, 0.3, 0.5])
    for i, t in enumerate((0.1, 0.2, 0.3)):
        end = sliding_tripod(0.3, (0.8, 0.3), 5.0, t)
        assert motion.q.values[i, :2] == pytest.approx(end[:2], abs=1e-10)
        assert 2 * np.arctan2(motion.q.values[i, 6], motion.q.values[i, 3]) == pytest.approx(end[2], abs=1e-10)
    assert (motion["mode"].values[-1] == "sticking").all()
    assert np.abs(motion.v.values[-1]).max() < 1e-12
    assert motion.doubts == ""
    require_laws(motion, 0.3)


@pytest.mark.parametrize(("law", "restitution", "speed"), [("moreau", 0.0, 0.4), ("moreau", 0.4, 0.4)])
def test_a_box_that_lands_in_space_as_in_the_plane_does_the_same(law, restitution, speed):
    lean, (a, _, c) = 0.3, EDGES
    height = c / 2 * np.cos(lean) + a / 2 * np.sin(lean) + 0.02
    flat = mb.PlanarBody("box", 1, (a * a + c * c) / 12, position=(0, height), angle=-lean, velocity=(speed, 0))
    floor = mb.Contact("floor", mb.ground, flat, normal=(0, 1), box=(a, c), friction=0.5, restitution=restitution)
    plane = zw.simulate(mb.Mechanism([flat], [floor], [mb.Gravity((0, -G))]), until=0.6, impacts=law)
    box = body(position=(0, 0, height), orientation=(np.cos(lean / 2), 0, np.sin(lean / 2), 0), velocity=(speed, 0, 0))
    space = zw.simulate(on_floor(box, 0.5, restitution=restitution, box=EDGES), until=0.6, impacts=law)
    assert space.q.values[:, [0, 2]] == pytest.approx(plane.q.values[:, :2], abs=1e-10)
    assert space.transition_kind.values.tolist() == plane.transition_kind.values.tolist()
    assert space.transition_time.values == pytest.approx(plane.transition_time.values, rel=1e-10)
    require_laws(space, 0.5)


THROWN = {"position": (0, 0, 0.2), "orientation": (0.9, 0.3, 0.2, 0.1), "angular_velocity": (1, 2, 0.5),
          "velocity": (0.2, 0.1, 0)}  # fmt: skip


def test_a_die_that_is_thrown_comes_to_rest_on_a_face_and_steps_agree():
    motion = zw.simulate(on_floor(body(**THROWN), 0.8, box=EDGES), until=0.6)
    assert motion.status == "finished"
    assert (motion["mode"].values[-1] == "sticking").sum() == 4
    assert np.abs(motion.v.values[-1]).max() < 1e-12
    require_laws(motion, 0.8)
    off = []
    for step in (1e-3, 2.5e-4):
        steps = zw.simulate(on_floor(body(**THROWN), 0.8, box=EDGES), until=0.6, contacts="steps", step=step)
        off.append(np.abs(steps.q.values[-1] - motion.q.values[-1]).max())
    assert off[1] < 0.5 * off[0] < 0.01  # first order: where impacts are is known to a step


def test_a_die_does_the_same_in_any_frame_and_with_corners_in_any_order():
    rng = np.random.default_rng(3)
    turn, order = Rotation.random(random_state=1), rng.permutation(8)
    corners = [
        (x * EDGES[0] / 2, y * EDGES[1] / 2, z * EDGES[2] / 2) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)
    ]

    def thrown(frame, corners):
        own = Rotation.from_quat([*THROWN["orientation"][1:], THROWN["orientation"][0]])
        quaternion = (frame * own).as_quat()
        start = {k: tuple(frame.apply(THROWN[k])) for k in ("position", "velocity", "angular_velocity")}
        die = body(orientation=(quaternion[3], *quaternion[:3]), **start)
        floor = mb.Contact("floor", mb.ground, die, normal=tuple(frame.apply([0, 0, 1])), corners=corners, friction=0.8)
        return zw.simulate(mb.Mechanism([die], [floor], [mb.Gravity(tuple(frame.apply(DOWN)))]), until=0.5)

    one, other = thrown(Rotation.identity(), corners), thrown(turn, [corners[i] for i in order])
    assert turn.inv().apply(other.q.values[:, :3]) == pytest.approx(one.q.values[:, :3], abs=1e-9)
    assert other.transition_time.values == pytest.approx(one.transition_time.values, abs=1e-9)
    assert other["mode"].values[-1].tolist() == one["mode"].values[-1][order].tolist()


def test_a_ball_rolls_in_a_groove_as_by_hand():
    # two planes at a right angle: each has m g/√2; both rub backwards until both points roll
    r, mu, s = 0.1, 0.3, np.sqrt(0.5)
    ball = mb.Body("ball", 1, mb.inertia.sphere(1, r), position=(0, 0, r / s), velocity=(1, 0, 0))
    sides = [mb.Contact(n, mb.ground, ball, normal=(0, y, s), radius=r, friction=mu) for n, y in (("a", s), ("b", -s))]
    motion = zw.simulate(mb.Mechanism([ball], sides, [mb.Gravity(DOWN)]), until=0.5)
    # v' = −√2 μ g; the spin about y grows by F·r/√2 at each point: ω' = √2 μ g (r/√2)/(2/5 r²); rolls at v = ω r/√2
    slows, spins = np.sqrt(2) * mu * G, mu * G / (0.4 * r)
    rolls = 1 / (slows + spins * r / np.sqrt(2))
    assert motion.transition_kind.values.tolist() == ["stick"] * 2
    assert motion.transition_time.values == pytest.approx(rolls, rel=1e-10)
    assert motion.v.values[-1, 0] == pytest.approx(1 - slows * rolls, rel=1e-10)
    require_laws(motion, mu)


def test_a_sphere_between_two_walls_falls_freely_and_is_not_wedged():
    ball = mb.Body("ball", 1, mb.inertia.sphere(1, 0.1), position=(0, 0, 1), velocity=(0.5, 0, 0))
    walls = [mb.Contact(n, mb.ground, ball, normal=(0, y, 0), at=(0, -0.1 * y, 0), radius=0.1, friction=0.3)
             for n, y in (("left", 1), ("right", -1))]  # fmt: skip
    motion = zw.simulate(mb.Mechanism([ball], walls, [mb.Gravity(DOWN)]), until=0.3)
    assert motion.q.values[-1, :3] == pytest.approx([0.15, 0, 1 - G * 0.045], abs=1e-12)


def test_a_box_on_a_box_rests():
    low, high = body(name="low"), body(name="high", position=(0.01, 0.02, 0.15))
    touch = [
        mb.Contact("floor", mb.ground, low, normal=(0, 0, 1), corners=legs(), friction=0.5),
        mb.Contact("top", low, high, normal=(0, 0, 1), at=(0, 0, 0.1), corners=legs(), friction=0.5),
    ]
    motion = zw.simulate(mb.Mechanism([low, high], touch, [mb.Gravity(DOWN)]), until=0.2, times=[0.1, 0.2])
    assert (motion["mode"].values == "sticking").all()
    assert motion.normal_force.values[:, :4].sum(axis=1) == pytest.approx(2 * G, rel=1e-12)
    require_laws(motion, 0.5)


def test_two_contacts_at_one_point_share_a_load_and_slide_as_one():
    x, y, z = zw.coordinates("x y z")
    dot = zw.dot
    rules = [zw.Constraint(z >= 0, name, friction=0.3, slip=(dot(x), dot(y))) for name in ("one", "two")]
    speed = dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2
    start = {x: 0, y: 0, z: 0, dot(x): 1, dot(y): 2, dot(z): 0}
    one, two = (
        zw.simulate(zw.System((x, y, z), kinetic=speed / 2, potential=G * z, constraints=rules[:count]), start, 1.0)
        for count in (1, 2)
    )
    assert two.q.values == pytest.approx(one.q.values, abs=1e-12)
    assert two.transition_time.values == pytest.approx(one.transition_time.values[0], rel=1e-11)


def random_cones(seed):
    rng = np.random.default_rng(seed)
    value, slope = 0.3 * rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3 + seed % 3))
    value[:, 0] += 0.5
    slope[-1, 0] = -slope[:-1, 0].sum(axis=0)  # loads that only move about
    return Cones(value, slope)


@pytest.mark.parametrize("seed", range(6))
def test_the_member_with_the_most_in_reserve_is_that_of_another_method(seed):
    cones = random_cones(seed)
    d = cones.slope.shape[2]
    found = roomiest(cones)
    assert cones.reserve(found.w).min() == pytest.approx(found.reserve, abs=1e-11)
    least = {"type": "ineq", "fun": lambda y: cones.reserve(y[:-1]) - y[-1]}
    cap = {"type": "ineq", "fun": lambda y: 1 - y[-1]}
    other = minimize(lambda y: -y[-1], np.append(np.full(d, 0.01), -2), constraints=[least, cap], method="SLSQP",
                     options={"ftol": 1e-14, "maxiter": 500})  # fmt: skip
    assert found.reserve == pytest.approx(other.x[-1], abs=1e-7)
