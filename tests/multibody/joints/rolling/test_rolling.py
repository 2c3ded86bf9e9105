"""Classics of rolling, sliding on blades and prescribed motion, to their closed forms.

The numbers are those of tests/references/nonholonomic.json, whose formulas stand beside them there.
"""

import numpy as np
import pytest

import zwang as zw
from tests.references import problems
from zwang import multibody as mb
from zwang import t

CASES = problems.numbers("nonholonomic")
G = 9.81


def case(words):
    """Parameters and reference values of the case whose name begins so."""
    found = next(value for key, value in CASES.items() if key.startswith(words))
    return found["params"], found["ref"]


def run(bodies, joints, until, gravity=(0, 0, -G), samples=101):
    """A mechanism and its motion."""
    forces = [mb.Gravity(gravity)] if gravity else []
    mechanism = mb.Mechanism(bodies, joints=joints, forces=forces)
    return mechanism, zw.simulate(mechanism.system, mechanism.start, until=until, samples=samples, drift="projection")


def value(motion, name, variable="q"):
    """A coordinate along the motion."""
    return motion[variable].sel(coordinate=name).values


def leaning_disc(theta, spin, place=0.0, forward=0.0, R=0.5, m=2.0):
    """A thin disc whose axis leans by θ from the vertical towards x, and its rolling joint."""
    disc = mb.Body(
        "disc",
        m,
        mb.inertia.disc(m, R),
        position=(place, 0, R * np.sin(theta)),
        orientation=(np.cos(theta / 2), 0, np.sin(theta / 2), 0),
        angular_velocity=spin,
        velocity=(0, forward, 0),
    )
    return disc, mb.RollingDisc("roll", mb.ground, disc, radius=R, axis=(np.sin(theta), 0, np.cos(theta)))


def test_rolling_disc_in_steady_precession():
    """Axis at θ to the vertical, precessing at Ω, spin about the axis wn: the centre runs on a circle R wn/Ω."""
    p, (wn, psi_rate) = case("rolling disk")
    R, m, theta, Omega = p["R"], p["m"], p["theta"], p["Omega"]
    A, C = m * R**2 / 4, m * R**2 / 2
    s, c = np.sin(theta), np.cos(theta)
    assert abs(A * Omega**2 * s * c - (C + m * R**2) * wn * Omega * s - m * G * R * c) < 1e-12  # the reference's own
    rho = -R * wn / Omega  # the centre's place on its circle about the origin
    spin = np.array([0, 0, Omega]) + psi_rate * np.array([s, 0, c])
    disc, roll = leaning_disc(theta, spin, rho, -R * wn, R, m)
    mechanism, motion = run([disc], [roll], 3.0)
    angle = Omega * motion.time.values
    expected = np.stack([rho * np.cos(angle), rho * np.sin(angle), np.full_like(angle, R * s)], -1)
    assert np.abs(motion.q.values[:, :3] - expected).max() < 1e-10
    q = motion.q.values[:, 3:].T
    cosine = 1 - 2 * (q[1] ** 2 + q[2] ** 2)  # of the disc's axis, z, with the vertical
    assert np.abs(cosine - c).max() < 1e-10
    # joint axes: the ground carries the weight, and across the direction of rolling it turns the centre: m Ω² ρ
    own = mechanism.reactions(motion, frame="joint").force.values[:, 0]
    assert np.abs(own[:, 2] - m * G).max() < 1e-9
    assert np.abs(own[:, 0]).max() < 1e-9
    assert np.abs(np.abs(own[:, 1]) - m * Omega**2 * abs(rho)).max() < 1e-9


def test_disc_about_a_centre_at_rest():
    """Ω² = 4 g/(R sin θ), θ from the axis to the vertical: the centre does not move (Euler's disc without loss)."""
    theta, R = 0.4, 0.5
    Omega = np.sqrt(4 * G / (R * np.sin(theta)))
    s, c = np.sin(theta), np.cos(theta)
    spin = np.array([0, 0, Omega]) - Omega * c * np.array([s, 0, c])
    disc, roll = leaning_disc(theta, spin)
    _, motion = run([disc], [roll], 2.0)
    assert np.abs(motion.q.values[:, :3] - (0, 0, R * s)).max() < 1e-9


def test_upright_disc_rolls_straight():
    """Fast enough, v² > g R/3, it does not fall; nothing but its weight acts at the contact."""
    disc, roll = leaning_disc(np.pi / 2, (8.0, 0, 0), forward=-4.0)
    mechanism, motion = run([disc], [roll], 2.0)
    time = motion.time.values
    assert np.abs(motion.q.values[:, :3] - np.stack([0 * time, -4 * time, 0 * time + 0.5], -1)).max() < 1e-10
    assert np.abs(mechanism.reactions(motion).force[:, 0] - (0, 0, 2 * G)).max() < 1e-9


def test_ball_on_a_turntable_goes_in_a_circle_at_two_sevenths():
    p, (X, Y, period) = case("ball on turntable")
    # the spin that rolls: v + ω × (−R k) = Ω k × r
    Omega, R = p["Omega"], 0.1
    ball = mb.Body(
        "ball",
        1,
        mb.inertia.sphere(1, R),
        position=(p["X0"], p["Y0"], R),
        velocity=(p["Vx"], p["Vy"], 0),
        angular_velocity=((Omega * p["X0"] - p["Vy"]) / R, (p["Vx"] + Omega * p["Y0"]) / R, 0),
    )
    table = mb.Moving("table", angle=Omega * t)
    mechanism = mb.Mechanism([ball], joints=[mb.RollingBall("roll", table, ball, radius=R)])
    guess = [mechanism.guess[v] for v in mechanism.system.velocities]
    start = [mechanism.start[v] for v in mechanism.system.velocities]
    assert np.abs(np.subtract(guess, start)).max() < 1e-13  # the start rolls already: nothing is changed
    motion = zw.simulate(mechanism.system, mechanism.start, until=period, times=[0, 4.321])
    assert abs(value(motion, "ball.x")[1] - X) < 1e-10
    assert abs(value(motion, "ball.y")[1] - Y) < 1e-10
    assert np.abs(motion.q.values[-1, :2] - (p["X0"], p["Y0"])).max() < 1e-9  # closed after 7/2 turns of the table


def test_ball_on_a_ramp():
    """a = 5/7 g sin α, friction 2/7 m g sin α, on a plane that leans."""
    alpha, R, m = 0.3, 0.2, 2.0
    normal = (-np.sin(alpha), 0, np.cos(alpha))
    ball = mb.Body("ball", m, mb.inertia.sphere(m, R), position=R * np.array(normal))
    mechanism, motion = run([ball], [mb.RollingBall("roll", mb.ground, ball, radius=R, normal=normal)], 1.5)
    went = -(value(motion, "ball.x") - R * normal[0]) / np.cos(alpha)
    assert np.abs(went - 5 / 7 * G * np.sin(alpha) * motion.time.values**2 / 2).max() < 1e-10
    own = mechanism.reactions(motion, frame="joint").force.values[:, 0]
    assert np.abs(own[:, 2] - m * G * np.cos(alpha)).max() < 1e-10
    assert np.abs(np.hypot(own[:, 0], own[:, 1]) - 2 / 7 * m * G * np.sin(alpha)).max() < 1e-10


def sleigh_in_plane(p):
    """Chaplygin's sleigh in the plane: centre of mass a distance d ahead of the blade."""
    d = p["d"]
    body = mb.PlanarBody("sleigh", p["m"], p["I"], (d, 0), 0, (p["v0"], p["w0"] * d), p["w0"])
    return body, [mb.Skate("blade", mb.ground, body, at=(0, 0), direction=(1, 0))]


def sleigh_in_space(p):
    """The same on the floor of space."""
    d, spin = p["d"], (0, 0, p["w0"])
    body = mb.Body(
        "sleigh", p["m"], (p["I"],) * 3, (d, 0, 0), velocity=(p["v0"], p["w0"] * d, 0), angular_velocity=spin
    )
    floor = mb.Planar("floor", mb.ground, body, at=(0, 0, 0), normal=(0, 0, 1))
    return body, [floor, mb.Skate("blade", mb.ground, body, at=(0, 0, 0), direction=(1, 0, 0))]


@pytest.mark.parametrize("make", [sleigh_in_plane, sleigh_in_space])
def test_chaplygin_sleigh(make):
    p, (theta, vx, vy, rate) = case("Chaplygin")
    body, joints = make(p)
    mechanism, motion = run([body], joints, 3.0, gravity=None)
    if body.dimension == 2:
        angle, spin = value(motion, "sleigh.angle")[-1], value(motion, "sleigh.angle", "v")[-1]
    else:
        found = mechanism.coordinates(motion).isel(time=-1).sel(joint="floor")
        angle, spin = float(found.angle), float(found.angle_rate)
    v = motion.v.values[-1, :2] - p["d"] * spin * np.array([-np.sin(angle), np.cos(angle)])
    assert np.abs(np.array([angle, *v, spin]) - (theta, vx, vy, rate)).max() < 1e-11


def test_skate_on_a_slope_describes_a_cycloid():
    p, (x, y, phi) = case("knife edge")
    blade = mb.PlanarBody("blade", p["m"], p["J"], spin=p["w"])
    pull = (p["g"] * np.sin(p["alpha"]), 0)
    skate = mb.Skate("edge", mb.ground, blade, at=(0, 0), direction=(1, 0))
    mechanism, motion = run([blade], [skate], 5.0, gravity=pull)
    assert np.abs(motion.q.values[-1] - (x, y, phi)).max() < 1e-11
    along, across, _ = mechanism.reactions(motion, frame="joint").force.values[:, 0].T
    assert np.abs(along).max() < 1e-13  # the joint's own axes are the blade's
    time = motion.time.values
    # across the blade: m v ω + m g sin α sin φ with v = (g sin α/ω) sin φ
    expected = 2 * p["m"] * pull[0] * np.sin(p["w"] * time)
    assert np.abs(across - expected).max() < 1e-9


def test_bead_on_a_turning_wire():
    """r = r₀ cosh ωt on a wire that turns as prescribed; the wire pushes with 2 m ω ṙ."""
    p, (x, y) = case("bead on rotating wire")
    w, r0 = p["w"], p["r0"]
    bead = mb.Particle("bead", 1.5, position=(r0, 0))
    wire = mb.Moving("wire", position=(0, 0), angle=w * t)
    mechanism, motion = run([bead], [mb.PointOnLine("on", wire, bead, at=(r0, 0), axis=(1, 0))], 1.5, gravity=None)
    assert np.abs(motion.q.values[-1] - (x, y)).max() < 1e-10
    own = mechanism.reactions(motion, frame="joint").force.values[:, 0]
    time = motion.time.values
    assert np.abs(own[:, 1] - 2 * 1.5 * w**2 * r0 * np.sinh(w * time)).max() < 1e-9
    travel = mechanism.coordinates(motion).travel[:, 0]
    assert np.abs(travel - r0 * (np.cosh(w * time) - 1)).max() < 1e-10


def test_conical_pendulum():
    p, end = case("conical pendulum")
    L, theta, m = p["L"], p["theta"], p["m"]
    speed = L * np.sin(theta) * np.sqrt(G / (L * np.cos(theta)))
    start = (L * np.sin(theta), 0, -L * np.cos(theta))
    bob = mb.Particle("bob", m, position=start, velocity=(0, speed, 0))
    _, motion = run([bob], [mb.Rod("rod", mb.ground, bob, start=(0, 0, 0), end=start)], 6.0)
    assert np.abs(motion.q.values[-1] - end).max() < 1e-10
    assert np.abs(motion.multiplier - m * G / np.cos(theta)).max() < 1e-9


def test_wheel_on_a_slope():
    """a = 2/3 g sin α, friction m g sin α/3, normal force m g cos α, in the plane."""
    p, (end,) = case("disk on incline")
    m, R, alpha = p["m"], p["R"], p["alpha"]
    normal = np.array([np.sin(alpha), np.cos(alpha)])
    wheel = mb.PlanarBody("wheel", m, m * R**2 / 2, position=R * normal)
    roll = mb.RollingWheel("roll", mb.ground, wheel, radius=R, normal=normal)
    mechanism, motion = run([wheel], [roll], 1.7, gravity=(0, -G))
    found = mechanism.coordinates(motion)
    assert abs(found.travel[-1, 0] - end) < 1e-11
    assert abs(found.angle[-1, 0] + end / R) < 1e-10
    own = mechanism.reactions(motion, frame="joint")
    assert np.abs(own.force[:, 0] - (-m * G * np.sin(alpha) / 3, m * G * np.cos(alpha), 0)).max() < 1e-10
    assert np.abs(own.moment).max() < 1e-10  # about the contact


@pytest.mark.parametrize("swap", [False, True])
def test_wheel_in_a_ring_swings_as_a_longer_pendulum(swap):
    """(m + J/r²)(R − r)² φ̇²/2 − m g (R − r) cos φ is constant, and r θ = −(R − r) φ."""
    R, r, m = 1.0, 0.3, 2.0
    J = m * r**2 / 2
    wheel = mb.PlanarBody("wheel", m, J, position=(R - r, 0))
    pair, radii = ((wheel, mb.ground), (r, R)) if swap else ((mb.ground, wheel), (R, r))
    mechanism, motion = run([wheel], [mb.WheelOnWheel("ring", *pair, radii=radii, inside=True)], 2.0, gravity=(0, -G))
    x, y, theta = motion.q.values.T
    phi = np.unwrap(np.arctan2(x, -y))
    assert np.abs(r * theta + (R - r) * (phi - np.pi / 2)).max() < 1e-10
    speed2 = motion.v.values[:, 0] ** 2 + motion.v.values[:, 1] ** 2
    assert np.abs(speed2 - 4 / 3 * G * (R - r) * np.cos(phi)).max() < 1e-10
    # the ring presses with m g cos φ + m v²/(R − r) = 7/3 m g cos φ
    pressing = motion.multiplier.sel(constraint="ring.contact")
    assert np.abs(pressing - 7 / 3 * m * G * np.cos(phi)).max() < 1e-9
    assert np.abs(mechanism.reactions(motion).moment).max() < 1e-10


def test_contact_that_is_not_there_yet_is_brought_on():
    """A ball that floats above the table starts on the table and rolls, with the speed that is stated."""
    ball = mb.Body("ball", 1, (0.1, 0.1, 0.1), position=(0, 0, 0.8), velocity=(1, 0, 0))
    mechanism = mb.Mechanism([ball], joints=[mb.RollingBall("roll", mb.ground, ball, radius=0.5)])
    start = {str(key): value for key, value in mechanism.start.items()}
    assert abs(start["ball.z(t)"] - 0.5) < 1e-14
    v, spin = start["Derivative(ball.x(t), t)"], 2 * start["Derivative(ball.q2(t), t)"]
    assert abs(v - 0.5 * spin) < 1e-14
    assert v == 1  # stated; the spin is not, and follows
