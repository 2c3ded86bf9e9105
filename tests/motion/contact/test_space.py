"""Friction in space: directions that turn, slips that begin and stop, balls, bowls and impacts."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad, solve_ivp

import zwang as zw
from zwang.motion.contact.problem import FORTH, STICK, Problem, Surface
from zwang.motion.contact.resolve import resolve
from zwang.nonsmooth import coulomb

dot = zw.dot
G = 9.81
x, y, z = zw.coordinates("x y z")
TURN = 0.7  # by which slips are turned in tests of isotropy


def turned(slips, angle):
    c, s = np.cos(angle), np.sin(angle)
    return (c * slips[0] + s * slips[1], -s * slips[0] + c * slips[1])


def block(mu, forces=None, tilt=0.0, turn=0.0, **law):
    """A block on an inclined plane, as a point, that falls along x."""
    slips = turned((dot(x), dot(y)), turn)
    plane = zw.Constraint(z >= 0, "plane", friction=mu, slip=slips, **law)
    return zw.System(
        (x, y, z), kinetic=(dot(x)**2 + dot(y)**2 + dot(z)**2)/2,
        potential=G*(np.cos(tilt)*z - np.sin(tilt)*x), forces=forces, constraints=[plane],
    )  # fmt: skip


def at(*numbers):
    return dict(zip((x, y, z, dot(x), dot(y), dot(z)), numbers, strict=True))


def sliding(state, until, mu, pull):
    """The same by scipy: v' = pull(t) − μ g d."""

    def rate(t, u):
        return [*u[2:], *(pull(t) - mu * u[2:] / np.hypot(*u[2:]))]

    return solve_ivp(rate, (0, until), state, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


def test_a_block_pushed_sideways_on_an_incline_turns_downhill():
    tilt, mu = np.radians(10), 0.3
    motion = zw.simulate(block(mu, tilt=tilt), at(0, 0, 0, 0, 2, 0), 2.0, times=[0.5, 1.0])
    pull, rub = np.array([G * np.sin(tilt), 0.0]), mu * G * np.cos(tilt)
    for i, until in enumerate((0.5, 1.0)):
        found = sliding([0, 0, 0, 2], until, rub, lambda t: pull)
        assert motion.q.values[i, :2] == pytest.approx(found[:2], abs=1e-11)
        assert motion.v.values[i, :2] == pytest.approx(found[2:], abs=1e-10)
    # v(φ) is known: it stops after v₀ k/(k² − 1)/(g sin) with k = μ/tan, whatever the way (Sommerfeld's problem)
    k = rub / pull[0]
    assert motion.transition_kind.values.tolist() == ["stick"]
    assert motion.transition_time.values[0] == pytest.approx(2.0 / pull[0] * k / (k**2 - 1), rel=1e-11)
    assert motion["mode"].values[-1, 0] == "sticking"
    assert np.abs(motion.v.values[-1]).max() < 1e-14
    assert motion.friction_force.values[-1, 0] == pytest.approx(pull[0], rel=1e-12)
    assert motion.friction_vector.values[-1, 0] == pytest.approx([-pull[0], 0.0], abs=1e-12)
    assert motion.doubts == ""


def test_it_does_not_matter_along_which_directions_slips_are_given():
    tilt, start = np.radians(10), at(0, 0, 0, 0.3, 2, 0)
    one, other = (zw.simulate(block((0.35, 0.3), tilt=tilt, turn=turn), start, 2.0) for turn in (0.0, TURN))
    assert other.q.values == pytest.approx(one.q.values, abs=1e-11)
    assert other.transition_time.values == pytest.approx(one.transition_time.values, rel=1e-11)
    assert other.friction_force.values == pytest.approx(one.friction_force.values, abs=1e-9)
    c, s = np.cos(TURN), np.sin(TURN)
    back = other.friction_vector.values[:, 0] @ np.array([[c, s], [-s, c]])
    assert back == pytest.approx(one.friction_vector.values[:, 0], abs=1e-9)


def test_a_slip_begins_along_the_force_that_breaks_it_loose_and_turns_with_it():
    # the force grows along x, and turns: sticking ends where it reaches μ g
    mu = 0.2
    force = {x: zw.t * sp.cos(zw.t / 3), y: zw.t * sp.sin(zw.t / 3)}
    motion = zw.simulate(block(mu, force), at(0, 0, 0, 0, 0, 0), 4.0)
    begin = mu * G
    assert motion.transition_kind.values.tolist() == ["slide"]
    assert motion.transition_time.values[0] == pytest.approx(begin, rel=1e-12)

    def rate(t, u):
        t = begin + t
        speed = np.hypot(*u[2:])
        return [*u[2:], *(t * np.array([np.cos(t / 3), np.sin(t / 3)]) - begin * u[2:] / speed)]

    # beside zero by its series: the slip is τ²/2 along the force, to which its direction is drawn
    tau = 1e-3

    def along(s):
        return np.array([np.cos((begin + s) / 3), np.sin((begin + s) / 3)])

    place = [quad(lambda s, k=k: s**2 / 2 * along(s)[k], 0, tau, epsabs=1e-18)[0] for k in (0, 1)]
    start = [*place, *(tau**2 / 2 * along(tau))]
    end = solve_ivp(rate, (tau, 4.0 - begin), start, "DOP853", rtol=1e-13, atol=1e-16).y[:, -1]
    assert motion.q.values[-1, :2] == pytest.approx(end[:2], abs=1e-11)
    assert motion.v.values[-1, :2] == pytest.approx(end[2:], abs=1e-11)


def test_planar_friction_is_that_in_space_along_one_direction():
    push = {x: 4 * sp.sin(2 * zw.t)}
    c, s = np.cos(TURN), np.sin(TURN)
    across = {x: c * push[x], y: s * push[x]}
    flat = zw.Constraint(z >= 0, "plane", friction=(0.35, 0.3), slip=dot(x))
    plane = zw.System(
        (x, y, z), kinetic=(dot(x)**2 + dot(y)**2 + dot(z)**2)/2, potential=G*z, forces=push, constraints=[flat],
    )  # fmt: skip
    one = zw.simulate(plane, at(0, 0, 0, 1, 0, 0), 6.0)
    other = zw.simulate(block((0.35, 0.3), across), at(0, 0, 0, c, s, 0), 6.0)
    along = other.q.values[:, :2] @ [c, s]
    assert along == pytest.approx(one.q.values[:, 0], abs=1e-10)
    assert other.q.values[:, :2] @ [-s, c] == pytest.approx(0.0, abs=1e-12)
    assert other.transition_kind.values.tolist() == one.transition_kind.values.tolist()
    assert other.transition_time.values == pytest.approx(one.transition_time.values, rel=1e-9)


def test_a_slip_that_reverses_in_the_plane_does_so_in_space():
    push = {x: -3.0}
    one = zw.simulate(block(0.1, push), at(0, 0, 0, 1, 0, 0), 1.0)
    assert one.transition_kind.values.tolist() == ["reverse"]
    stops = 1 / (3 + 0.1 * G)
    assert one.transition_time.values[0] == pytest.approx(stops, rel=1e-12)
    far = stops / 2 - (3 - 0.1 * G) * (1 - stops) ** 2 / 2
    assert one.q.values[-1, 0] == pytest.approx(far, rel=1e-11)


def ball(mu=0.2, R=0.5, restitution=0.0, turn=0.0):
    """A ball on a table: for a sphere, rates about fixed axes do as coordinates."""
    a, b, c = zw.coordinates("a b c")
    slips = turned((dot(x) - R * dot(b), dot(y) + R * dot(a)), turn)
    table = zw.Constraint(z - R >= 0, "table", friction=mu, slip=slips, restitution=restitution)
    spin = dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2
    return zw.System(
        (x, y, z, a, b, c), kinetic=(dot(x)**2 + dot(y)**2 + dot(z)**2)/2 + 2*R**2/5*spin/2, potential=G*z,
        constraints=[table],
    )  # fmt: skip


def ball_at(velocity, spin, height=0.5):
    a, b, c = zw.coordinates("a b c")
    values = (0, 0, height, 0, 0, 0, *velocity, *spin)
    return dict(zip((x, y, z, a, b, c, *map(dot, (x, y, z, a, b, c))), values, strict=True))


@pytest.mark.parametrize("turn", [0.0, TURN])
def test_a_masse_shot_is_a_parabola_and_then_straight(turn):
    # the slip of a ball on a plane keeps its direction and falls at 7μg/2: friction is constant until it rolls
    mu, R, velocity, spin = 0.2, 0.5, np.array([2.0, 0.0]), np.array([-6.0, -3.0, 5.0])
    motion = zw.simulate(ball(mu, R, turn=turn), ball_at((2, 0, 0), spin), 1.5)
    slip = np.array([2.0 - R * spin[1], R * spin[0]])
    d, rolls = slip / np.hypot(*slip), np.hypot(*slip) / (3.5 * mu * G)
    assert motion.transition_kind.values.tolist() == ["stick"]
    assert motion.transition_time.values[0] == pytest.approx(rolls, rel=1e-11)
    for t, q, v in zip(motion.time.values, motion.q.values, motion.v.values, strict=True):
        s = min(t, rolls)
        then = velocity - mu * G * d * s
        place = velocity * s - mu * G * d * s**2 / 2 + (t - s) * then
        assert q[:2] == pytest.approx(place, abs=1e-11)
        assert v[:2] == pytest.approx(then, abs=1e-10)
    assert motion.v.values[-1, 5] == 5.0  # the spin about the vertical is left alone
    assert motion.doubts == ""


@pytest.mark.parametrize("law", ["moreau", "poisson"])
@pytest.mark.parametrize("speed", [6.0, 2.5, 0.5])
def test_a_spinning_ball_bounces_off_as_by_hand(law, speed):
    # normal impulse (1 + ε)v; friction changes the slip by 7/2 of its impulse: it slides through or sticks, at 2.5 m/s
    # only with the friction of the expansion, so that Poisson's phases differ and add up to the same
    mu, R, eps, fall = 0.2, 0.5, 0.5, 3.0
    motion = zw.simulate(ball(mu, R, eps), ball_at((speed, 0.3 * speed, -fall), (0, 0, 0)), 0.01, impacts=law)
    slip = speed * np.array([1.0, 0.3])
    most, needed = mu * (1 + eps) * fall, np.hypot(*slip) * 2 / 7
    push = -min(most, needed) * slip / np.hypot(*slip)
    after = motion.velocity_after.values[0]
    assert after[:3] == pytest.approx([*(slip + push), eps * fall], rel=1e-12)
    assert after[3:5] == pytest.approx([push[1] * R / (0.4 * R**2), -push[0] * R / (0.4 * R**2)], rel=1e-12)
    assert motion.impulse.values[0, 0] == pytest.approx((1 + eps) * fall, rel=1e-12)


@pytest.mark.parametrize("guide", [False, True])
def test_a_particle_in_a_rough_bowl(guide):
    # in spherical coordinates, r held by the bowl: against an ODE of two angles
    r, th, ph = zw.coordinates("r th ph")
    R, mu = 1.5, 0.15
    rule = R - r if guide else R - r >= 0
    bowl = zw.Constraint(rule, "bowl", friction=mu, slip=(r * dot(th), r * sp.sin(th) * dot(ph)))
    speed = dot(r) ** 2 + r**2 * dot(th) ** 2 + r**2 * sp.sin(th) ** 2 * dot(ph) ** 2
    system = zw.System((r, th, ph), kinetic=speed / 2, potential=-G * r * sp.cos(th), constraints=[bowl])
    start = {r: R, th: 1.0, ph: 0, dot(r): 0, dot(th): 0.5, dot(ph): 2.0}
    motion = zw.simulate(system, start, 1.2)

    def rate(t, u):
        a, _b, w, f = u
        v = R * np.array([w, np.sin(a) * f])
        N = v @ v / R + G * np.cos(a)
        F = -mu * N * v / np.hypot(*v)
        return [
            w, f, np.sin(a) * np.cos(a) * f**2 - G / R * np.sin(a) + F[0] / R,
            -2 * np.cos(a) / np.sin(a) * w * f + F[1] / (R * np.sin(a)),
        ]  # fmt: skip

    end = solve_ivp(rate, (0, 1.2), [1.0, 0, 0.5, 2.0], "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert motion.q.values[-1, 1:] == pytest.approx(end[:2], abs=1e-11)
    assert motion.v.values[-1, 1:] == pytest.approx(end[2:], abs=1e-10)
    assert motion.friction_force.values == pytest.approx(mu * np.abs(motion.normal_force.values), rel=1e-12)


def test_energy_goes_where_friction_takes_it():
    motion = zw.simulate(block(0.3, tilt=np.radians(10)), at(0, 0, 0, 0, 2, 0), 0.9)
    power = (motion.friction_vector.values[:, 0] * motion.slip_vector.values[:, 0]).sum(axis=1)
    assert motion.nonideal_power.values == pytest.approx(power, abs=1e-10)
    assert power == pytest.approx(-motion.friction_force.values[:, 0] * motion.slip.values[:, 0], rel=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_what_begins_to_slide_goes_where_friction_does_not(seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(3, 3))
    M, Q = B @ B.T + 3 * np.eye(3), np.array([3.0, 1.0, -1.0]) * rng.normal(size=3)
    Q[2] = -abs(Q[2]) - 1
    n, slips = np.array([0.0, 0.0, 1.0]), np.array([[1.0, 0, 0.1], [0, 1.0, -0.2]])
    one = Surface(0, n, 0.0, slips, np.zeros(2), coulomb(0.3, 2))
    found = resolve(Problem(M, Q, np.zeros((0, 3)), np.zeros(0), (one,))).found
    assert found is not None
    slip, F = slips @ found.x, found.friction[0]
    assert M @ found.x == pytest.approx(Q + n * found.normal[0] + slips.T @ F, abs=1e-9)
    if found.mode == (FORTH,):
        assert pytest.approx(-0.3 * found.normal[0] * slip / np.hypot(*slip), abs=1e-9) == F
    elif found.mode == (STICK,):
        assert np.hypot(*F) <= 0.3 * found.normal[0] + 1e-9
        assert slip == pytest.approx([0, 0], abs=1e-9)


def test_contacts_in_space_that_share_a_load_rest_on_it():
    first = zw.Constraint(z >= 0, "one", friction=0.3, slip=(dot(x), dot(y)))
    second = zw.Constraint(2 * z >= 0, "two", friction=0.3, slip=(dot(x), dot(y)))
    system = zw.System(
        (x, y, z), kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2, potential=G * z, constraints=[first, second]
    )
    motion = zw.simulate(system, at(0, 0, 0, 0, 0, 0), 1.0)
    assert (motion["mode"].values == "sticking").all()
    assert motion.normal_force.values @ [1, 2] == pytest.approx(G, rel=1e-12)
    assert not motion.unique.values.any()


def test_two_bodies_on_one_table_slide_by_themselves():
    u, v, w = zw.coordinates("u v w")
    floors = [
        zw.Constraint(z >= 0, "one", friction=0.3, slip=(dot(x), dot(y))),
        zw.Constraint(w >= 0, "two", friction=0.2, slip=(dot(u), dot(v))),
    ]
    q = (x, y, z, u, v, w)
    system = zw.System(q, kinetic=sum(dot(e) ** 2 for e in q) / 2, potential=G * (z + w), constraints=floors)
    speeds = dict(zip(map(dot, q), (3, 4, 0, -1, 2, 0), strict=True))
    motion = zw.simulate(system, dict.fromkeys(q, 0.0) | speeds, 3.0)
    stops = [5 / (0.3 * G), np.hypot(1, 2) / (0.2 * G)]
    assert motion.transition_time.values == pytest.approx(sorted(stops), rel=1e-12)
    ways = [np.array([3, 4]) * stops[0] / 2, np.array([-1, 2]) * stops[1] / 2]
    assert motion.q.values[-1, [0, 1, 3, 4]] == pytest.approx(np.concatenate(ways), rel=1e-11)


def test_a_model_file_has_friction_in_space(tmp_path):
    text = """
[coordinates]
x = {}
y = { rate = 2.0 }
z = {}
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*z"
[constraints]
plane = { rule = "z >= 0", friction = 0.3, slip = ["x'", "y'"] }
[run]
until = 1.0
"""
    path = tmp_path / "block.toml"
    path.write_text(text)
    motion = zw.load_model(path).simulate()
    assert motion.transition_time.values == pytest.approx([2 / (0.3 * G)], rel=1e-12)


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_a_ball_on_a_turntable_rolls_in_circles(method):
    # a full ball goes round once in 7/2 turns of the table (Earnshaw), about where its first velocity says
    turn, (a, b, c) = 2.0, zw.coordinates("a b c")
    slips = dot(x) - dot(b) / 2 + turn * y, dot(y) + dot(a) / 2 - turn * x
    table = zw.Constraint(z - 0.5 >= 0, "table", friction=1, slip=slips)
    q = (x, y, z, a, b, c)
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2 + (dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2) / 10) / 2
    system = zw.System(q, kinetic=kinetic, potential=G * z, constraints=[table])
    start = dict.fromkeys((*q, *map(dot, q)), 0.0) | {x: 1.0, z: 0.5, dot(x): 0.2, dot(y): 0.1}
    start |= {dot(b): 0.4, dot(a): 2 * (turn - 0.1)}  # it rolls from the start
    around = 3.5 * 2 * np.pi / turn
    motion = zw.simulate(system, start, around, method=method, tol=1e-13, times=[around / 2, around])
    rate = 2 * turn / 7
    assert motion.q.values[1, :2] == pytest.approx([1, 0], abs=1e-11)
    assert motion.q.values[0, :2] == pytest.approx([1 - 2 * 0.1 / rate, 2 * 0.2 / rate], abs=1e-11)
    assert (motion["mode"].values == "sticking").all()


def test_many_points_slide_each_its_own_way():
    # each is slowed down by μ g along its way, and stops at v²/(2 μ g)
    count, mu, g = 10, 0.3, 9.81
    q = [zw.coordinates(f"x{i} y{i} z{i}") for i in range(count)]
    rules = [zw.Constraint(z >= 0, f"floor{i}", friction=mu, slip=(dot(x), dot(y))) for i, (x, y, z) in enumerate(q)]
    kinetic = sum(dot(e) ** 2 for point in q for e in point) / 2
    system = zw.System([e for point in q for e in point], kinetic=kinetic, potential=g * sum(p[2] for p in q),
                       constraints=rules)  # fmt: skip
    angles, until = np.linspace(0, 3, count), 0.5
    start = {e: 0.0 for point in q for e in (*point, dot(point[2]))}
    for (x, y, _), angle in zip(q, angles, strict=True):
        start |= {dot(x): 2 * np.cos(angle), dot(y): 2 * np.sin(angle)}
    motion = zw.simulate(system, start, until, samples=2)
    far = 2 * until - mu * g * until**2 / 2
    found = motion.q.values[-1].reshape(count, 3)
    assert found[:, :2] == pytest.approx(far * np.stack([np.cos(angles), np.sin(angles)], axis=1), abs=1e-12)
    assert motion.normal_force.values[-1] == pytest.approx(g, rel=1e-12)
    assert motion.friction_force.values[-1] == pytest.approx(mu * g, rel=1e-12)
