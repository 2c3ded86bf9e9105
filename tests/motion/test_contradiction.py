"""What is stated of a start is kept, the rest follows; contradicting statements are refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import AssemblyError, InputError
from zwang.files.read import read_model

G = mb.ground
R, L = 0.04, 0.1


def slider_crank(angle=0.7, piston=None, **rates):
    """A crank that turns about the origin, a rod, and a piston along x; described where they fit together."""
    x = R * np.cos(angle) + np.sqrt(L**2 - (R * np.sin(angle)) ** 2)
    pin, end = np.array([R * np.cos(angle), R * np.sin(angle)]), np.array([x, 0.0])
    lean = np.arctan2(*(end - pin)[::-1])
    bodies = [
        mb.PlanarBody("crank", 0.2, 1e-4, position=pin / 2, angle=angle, **rates),
        mb.PlanarBody("rod", 1, 2e-3, position=(pin + end) / 2, angle=lean),
        mb.PlanarBody("piston", 3, 1e-3, position=end, **(piston or {})),
    ]
    crank, rod, slider = bodies
    joints = [
        mb.Revolute("shaft", G, crank, at=(0, 0)),
        mb.Revolute("bigend", crank, rod, at=pin),
        mb.Revolute("pin", rod, slider, at=end),
        mb.Prismatic("guide", G, slider, at=end, axis=(1, 0)),
    ]
    return mb.Mechanism(bodies, joints)


def piston_speed(angle, spin):
    """By the derivative of x = r cos a + √(l² − r² sin² a)."""
    s, c = np.sin(angle), np.cos(angle)
    return -R * spin * s - R**2 * s * c * spin / np.sqrt(L**2 - (R * s) ** 2)


def rate(start, name):
    """A rate by its name."""
    return next(value for key, value in start.items() if str(key) == f"Derivative({name}(t), t)")


@pytest.mark.parametrize("angle", [0.7, np.pi / 2, 2.5])
def test_a_stated_spin_is_kept_and_what_is_not_stated_follows(angle):
    start = slider_crank(angle, spin=100).start
    assert rate(start, "crank.angle") == 100
    assert rate(start, "piston.x") == pytest.approx(piston_speed(angle, 100), rel=1e-12)
    assert slider_crank(angle, spin=100).moved.followed == ("crank", "rod", "piston")


def test_a_stated_speed_of_another_body_is_kept_as_well():
    wanted = piston_speed(0.7, 100)
    start = slider_crank(0.7, {"velocity": (wanted, 0)}).start
    assert rate(start, "piston.x") == wanted
    assert rate(start, "crank.angle") == pytest.approx(100, rel=1e-12)


def test_statements_that_agree_are_kept_together():
    start = slider_crank(0.7, {"velocity": (piston_speed(0.7, 100), 0), "spin": 0}, spin=100).start
    assert rate(start, "crank.angle") == pytest.approx(100, rel=1e-14)


def test_statements_that_contradict_each_other_are_refused_by_name():
    words = r"spin of body 'crank' \(100\) and velocity of body 'piston' cannot be kept together with .*'bigend.x'"
    with pytest.raises(AssemblyError, match=words):
        _ = slider_crank(0.7, {"velocity": (-3, 0)}, spin=100).start
    with pytest.raises(AssemblyError, match="cannot be kept together"):  # zero is stated where somebody writes it
        _ = slider_crank(0.7, {"velocity": (0, 0)}, spin=100).start
    with pytest.raises(AssemblyError, match=r"a stated rate contradicts .*velocity of body 'piston' .*'guide.side'"):
        _ = slider_crank(0.7, {"velocity": (0, 1)}).start


def test_only_those_that_take_part_in_a_contradiction_are_named():
    wheel = mb.PlanarBody("wheel", 1, 1, position=(5, 0), spin=3)
    made = slider_crank(0.7, {"velocity": (-3, 0)}, spin=100)
    apart = mb.Mechanism([*made.bodies, wheel], [*made.joints, mb.Revolute("axle", G, wheel, at=(5, 0))])
    with pytest.raises(AssemblyError) as caught:
        _ = apart.start
    assert "wheel" not in str(caught.value)
    assert "axle" not in str(caught.value)


def test_a_driver_contradicts_another_speed_and_nothing_else():
    made = slider_crank(0.7, spin=7)
    motor = mb.Driver("motor", made.joints[0], speed=20)
    with pytest.raises(AssemblyError, match=r"spin of body 'crank' \(7\) cannot be kept together with .*'motor.speed'"):
        _ = replace(made, joints=[*made.joints, motor]).start
    free = slider_crank(0.7)
    start = replace(free, joints=[*free.joints, mb.Driver("motor", free.joints[0], speed=20)]).start
    assert rate(start, "crank.angle") == pytest.approx(20, rel=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_free_rates_are_nearest_to_rest_in_kinetic_energy(seed):
    # a full mass matrix and three random rows; SciPy minimises the kinetic energy itself
    draw = np.random.default_rng(seed)
    q = zw.coordinates("a b c d e f")
    B = draw.normal(size=(6, 6))
    M, A, c = B @ B.T + np.eye(6), draw.normal(size=(3, 6)), draw.normal(size=3)
    rows = {f"r{i}": sum(a * dot(x) for a, x in zip(A[i], q, strict=True)) - c[i] for i in range(3)}
    kinetic = sum(M[i, j] * dot(q[i]) * dot(q[j]) for i in range(6) for j in range(6)) / 2
    found = zw.assemble(zw.System(q, kinetic=kinetic, constraints=rows), dict.fromkeys(q, 0.0) | {dot(q[2]): 1.5})
    v = np.array([found[dot(x)] for x in q])
    assert v[2] == 1.5
    best = minimize(lambda x: x @ M @ x / 2, np.zeros(6), jac=lambda x: M @ x, method="SLSQP", options={"ftol": 1e-15},
                    constraints=[{"type": "eq", "fun": lambda x: np.append(A @ x - c, x[2] - 1.5)}])  # fmt: skip
    np.testing.assert_allclose(v, best.x, atol=1e-6)
    assert np.abs(A @ v - c).max() < 1e-13


def test_a_guess_that_gives_some_rates_states_them_and_one_that_gives_all_is_rough():
    x, y = zw.coordinates("x y")
    rod = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"rod": x**2 + y**2 - 25})
    place = {x: 3, y: -4}
    some, whole = zw.assemble(rod, place | {dot(x): 1}), zw.assemble(rod, place | {dot(x): 1, dot(y): 0})
    assert (some[dot(x)], some[dot(y)]) == (1, pytest.approx(0.75, rel=1e-14))
    assert (whole[dot(x)], whole[dot(y)]) == pytest.approx((0.64, 0.48))
    with pytest.raises(AssemblyError, match=r"x' \(1\) cannot be kept together with 'rod'"):
        zw.assemble(rod, {x: 5, y: 0, dot(x): 1})


@pytest.mark.parametrize("rates", [{"velocity": (2, 0, 0)}, {"angular_velocity": (0, 4, 0)}])
def test_a_ball_rolls_with_the_speed_or_the_spin_that_is_stated(rates):
    ball = mb.Body("ball", 1, (0.1, 0.1, 0.1), position=(0, 0, 0.8), **rates)
    made = mb.Mechanism([ball], [mb.RollingBall("roll", G, ball, radius=0.5)])
    start = made.start
    assert rate(start, "ball.x") == pytest.approx(2, rel=1e-14)
    assert 2 * rate(start, "ball.q2") == pytest.approx(4, rel=1e-14)  # ω R = v
    slips = mb.Body("ball", 1, (0.1, 0.1, 0.1), position=(0, 0, 0.5), velocity=(2, 0, 0), angular_velocity=(0, 5, 0))
    with pytest.raises(AssemblyError, match="velocity of body 'ball' and angular_velocity of body 'ball'"):
        _ = mb.Mechanism([slips], [mb.RollingBall("roll", G, slips, radius=0.5)]).start


def test_an_angular_velocity_is_kept_where_the_orientation_is_rough():
    # an axle along y, described turned by 0.05 about z: brought upright, it turns about its axle as stated
    half = (np.cos(0.025), 0, 0, np.sin(0.025))
    rotor = mb.Body("rotor", 2, (0.1, 0.15, 0.1), orientation=half, angular_velocity=(0, 9, 0))
    made = mb.Mechanism([rotor], [mb.Revolute("axle", G, rotor, at=((0, 0, 0),) * 2, axis=((0, 1, 0),) * 2)])
    u, du = (np.array([made.start[f(x)] for x in rotor.coordinates[3:]]) for f in (lambda x: x, dot))
    omega = 2 * np.array([u[0] * du[i] - du[0] * u[i] + np.cross(u[1:], du[1:])[i - 1] for i in (1, 2, 3)])
    np.testing.assert_allclose(omega, (0, 9, 0), atol=1e-13)
    assert not made.moved.nothing


def test_a_stated_place_is_kept_if_what_is_not_stated_can_follow():
    crank = mb.PlanarBody("crank", 0.2, 1e-4, position=(0.01, 0), angle=0.3)
    bar = mb.PlanarBody("bar", 1, 0.1, angle=1.0)  # nobody says where
    joints = [
        mb.Revolute("axle", G, crank, at=((0.01, 0), (0, 0))),
        mb.Revolute("pin", crank, bar, at=((1, 0), (-1, 0))),
    ]
    start = mb.Mechanism([crank, bar], joints).start
    found = [start[q] for q in (*crank.coordinates, *bar.coordinates)]
    tip = np.array([0.01 + np.cos(0.3), np.sin(0.3)])
    np.testing.assert_allclose(found, [0.01, 0, 0.3, tip[0] + np.cos(1), tip[1] + np.sin(1), 1.0], atol=1e-13)


def test_places_that_cannot_be_kept_are_rough_and_rates_are_kept_still():
    # 1 % off: with the pin at the origin the crank is moved, and turns as stated
    crank = mb.PlanarBody("crank", 1, 0.1, position=(1.01, 0), spin=5)
    made = mb.Mechanism([crank], [mb.Revolute("pin", G, crank, at=((0, 0), (-1, 0)))])
    assert [made.start[q] for q in crank.coordinates] == pytest.approx([1, 0, 0], abs=1e-12)
    assert [made.start[dot(q)] for q in crank.coordinates] == pytest.approx([0, 5, 5], abs=1e-12)
    assert str(made.moved).endswith("velocities that are not stated follow: crank")


PENDULUM = """
[coordinates]
x = { start = 3.3, rate = 1.0 }
y = { start = -4.0 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
rod = "x^2 + y^2 = 25"
[run]
until = 0.1
assemble = true
"""


def test_a_file_that_asks_to_be_assembled_keeps_the_rates_that_it_states():
    state = list(read_model(PENDULUM).state().values())
    x, y, dx, dy = state
    assert dx == 1
    assert dy == pytest.approx(-x / y, rel=1e-13)
    with pytest.raises(AssemblyError, match=r"x' \(1\) and y' \(0\) cannot be kept together with 'rod'"):
        read_model(PENDULUM.replace("-4.0 }", "-4.0, rate = 0 }")).state()


FLYWHEEL = """
[bodies.wheel]
mass = 50
inertia = 2
spin = 28
[bodies.rod]
mass = 5
inertia = 0.05
position = [0.25, 0]
[joints.shaft]
kind = "revolute"
second = "wheel"
at = [0, 0]
[joints.pin]
kind = "revolute"
first = "wheel"
second = "rod"
at = [0.05, 0]
[joints.guide]
kind = "point-on-line"
second = "rod"
at = [0.45, 0]
axis = [1, 0]
[run]
until = 0.01
"""


def test_a_heavy_flywheel_starts_at_exactly_the_stated_speed():
    model = read_model(FLYWHEEL)
    assert rate(model.state(), "wheel.angle") == 28
    motion = model.simulate(samples=2)
    assert float(motion.v.sel(coordinate="wheel.angle")[0]) == 28
    assert float(zw.Stepper(model).v[2]) == 28


def test_a_contradiction_in_a_file_is_marked_at_the_key_that_states_it():
    with pytest.raises(zw.errors.ModelFileError, match=r"17:|velocity of body 'rod'") as caught:
        read_model(FLYWHEEL.replace("mass = 5\n", "mass = 5\nvelocity = [0, 0]\n"))
    assert [(p.line, p.column) for p in caught.value.problems] == [(8, 12)]


def test_the_start_changes_with_a_parameter_as_what_is_stated_says():
    # a bar about its pin, a stated spin w: the centre moves at w a. By a difference quotient of the start itself.
    a = zw.parameters("a")
    bar = mb.PlanarBody("bar", 2, 0.3, position=(1, 0), spin=4)
    made = mb.Mechanism([bar], [mb.Revolute("pin", G, bar, at=((0, 0), (-a, 0)))], parameters={a: 1.0})
    along = zw.admissible(made, inputs=[a])["a"]
    h = 1e-6
    plus, minus = (made.start_with({a: 1 + s}, 0.0) for s in (h, -h))
    for key in (*made.system.coordinates, *made.system.velocities):
        assert along.get(key, 0.0) == pytest.approx((plus[key] - minus[key]) / (2 * h), abs=1e-8)


def test_the_start_changes_with_a_stated_rate_as_what_follows_from_it():
    made = slider_crank(0.7, spin=100)
    spin = dot(made.bodies[0].coordinates[2])
    along = zw.admissible(made, inputs=[spin])["dot(crank.angle)"]
    assert along[spin] == pytest.approx(1, rel=1e-13)
    assert along[dot(made.bodies[2].coordinates[0])] == pytest.approx(piston_speed(0.7, 1), rel=1e-12)


def test_samples_of_a_parameter_each_keep_the_stated_rate():
    a = zw.parameters("a")
    bar = mb.PlanarBody("bar", 2, 0.3, position=(1, 0), spin=4)
    made = mb.Mechanism([bar], [mb.Revolute("pin", G, bar, at=((0, 0), (-a, 0)))], parameters={a: 1.0})
    runs = zw.simulate_many(made, until=0.1, parameters={a: [0.9, 1.0, 1.2]}, samples=2)
    first = runs.v.isel(time=0)
    np.testing.assert_array_equal(first.sel(coordinate="bar.angle"), [4, 4, 4])
    np.testing.assert_allclose(first.sel(coordinate="bar.y"), [3.6, 4, 4.8], rtol=1e-13)


def test_many_bodies_keep_what_is_stated_and_name_what_contradicts():
    # beyond 300 coordinates and constraints: a chain of 60 links, the first of which turns
    links = [
        mb.PlanarBody(f"link{i}", 1, 0.1, position=(i + 0.5, 0), **({"spin": 2} if i == 0 else {})) for i in range(60)
    ]
    joints = [mb.Revolute(f"pin{i}", G if i == 0 else links[i - 1], links[i], at=(i, 0)) for i in range(60)]
    start = mb.Mechanism(links, joints).start
    assert start["link0.angle'"] == 2
    assert start["link1.y'"] == pytest.approx(2 + start["link1.angle'"] / 2, rel=1e-12)
    links[1] = replace(links[1], velocity=(0, 5), spin=0)
    joints = [mb.Revolute(f"pin{i}", G if i == 0 else links[i - 1], links[i], at=(i, 0)) for i in range(60)]
    with pytest.raises(AssemblyError, match="velocity of body 'link1'"):
        _ = mb.Mechanism(links, joints).start


def test_what_was_moved_says_which_velocities_follow():
    rough = FLYWHEEL.replace("[0.25, 0]", "[0.26, 0]").replace("at = [0.05, 0]", "at = [[0.05, 0], [-0.2, 0]]")
    moved = read_model(rough).moved_with(None, 0.0)
    assert str(moved).endswith("velocities that are not stated follow: rod")
    assert moved.followed == ("rod",)


def test_velocities_that_follow_are_said_where_nothing_was_moved():
    made = slider_crank(0.7, spin=100)
    assert not made.moved.nothing
    said = "the start stands as it is described; velocities that are not stated follow: crank, rod and piston"
    assert str(made.moved) == said
    assert slider_crank(0.7).moved.nothing  # at rest, nothing follows


def test_a_file_is_assembled_by_name_whether_it_asks_for_that_or_not():
    for asks in ("true", "false"):
        model = read_model(PENDULUM.replace("assemble = true", f"assemble = {asks}"))
        x, y, dx, dy = zw.assemble(model).values()
        assert x**2 + y**2 == pytest.approx(25, rel=1e-13)
        assert dx == 1
        assert dy == pytest.approx(-x / y, rel=1e-13)
    with pytest.raises(InputError, match="'rod' reads"):
        zw.simulate(model, samples=2)  # which begins where it says
