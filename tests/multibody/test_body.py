"""Bodies: free motions to their closed forms, what is conserved, inertias, and what no body is."""

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

import zwang as zw
from tests.references.problems import numbers
from zwang import multibody as mb
from zwang.errors import InputError, ModelError, UndeterminedError

G = mb.ground


def part(motion, body, what="q"):
    """(time, k) the coordinates or rates of a body."""
    return getattr(motion, what).sel(coordinate=[c.func.__name__ for c in body.coordinates]).values


def product(p, q):
    """The product of quaternions, scalar first."""
    scalar = p[..., 0] * q[..., 0] - np.sum(p[..., 1:] * q[..., 1:], axis=-1)
    rest = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([scalar[..., None], rest], axis=-1)


def spins(motion, body):
    """Angular velocity (time, 3) in body axes, 2 ū u̇."""
    u, rate = part(motion, body)[:, 3:], part(motion, body, "v")[:, 3:]
    return 2 * product(u * [1, -1, -1, -1], rate)[:, 1:]


def turns(motion, body):
    """The turns of a body, as SciPy's rotations."""
    return Rotation.from_quat(np.roll(part(motion, body)[:, 3:], -1, axis=1))


def momenta(motion, bodies):
    """Linear and angular momentum (time, 3) about the world's origin."""
    linear, angular = np.zeros((2, len(motion.time), 3))
    for b in bodies:
        r, v = part(motion, b)[:, :3], part(motion, b, "v")[:, :3]
        J = np.array(b.inertia_matrix, dtype=float)
        linear += float(b.mass) * v
        angular += turns(motion, b).apply(spins(motion, b) @ J) + float(b.mass) * np.cross(r, v)
    return linear, angular


# Free motion


def test_a_thrown_particle():
    ball = mb.Particle("ball", 2, position=(1, 2, 3), velocity=(4, -1, 5))
    thrown = mb.Mechanism([ball], forces=[mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(thrown.system, thrown.start, 3.0, samples=31, method="native")
    s = motion.time.values[:, None]
    assert np.abs(motion.q.values - ([1, 2, 3] + s * [4, -1, 5] - s**2 / 2 * [0, 0, 9.81])).max() < 1e-13


def test_a_thrown_planar_body():
    plate = mb.PlanarBody("plate", 2, 0.3, position=(1, 2), angle=0.5, velocity=(4, 5), spin=-3)
    thrown = mb.Mechanism([plate], forces=[mb.Gravity((0, -9.81))])
    motion = zw.simulate(thrown.system, thrown.start, 3.0, samples=31, method="native")
    s = motion.time.values[:, None]
    assert np.abs(motion.q.values - ([1, 2, 0.5] + s * [4, 5, -3] - s**2 / 2 * [0, 9.81, 0])).max() < 1e-13
    corner = thrown.track(motion, "plate", (0.2, 0)).values - motion.q.values[:, :2]
    angle = (0.5 - 3 * s)[:, 0]
    assert np.abs(corner - 0.2 * np.column_stack([np.cos(angle), np.sin(angle)])).max() < 1e-13


def symmetric_top(spin, times, I1=2.0, I3=3.0):
    """u(t) = exp(t L/2I₁) ∘ exp(t (1 − I₃/I₁) ω₃ e₃/2) for u(0) = 1, L the angular momentum."""

    def exp(vectors):
        size = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.concatenate([np.cos(size), np.sinc(size / np.pi) * vectors], axis=1)

    half = times[:, None] / 2
    return product(exp(half * spin * [1, 1, I3 / I1]), exp(half * (1 - I3 / I1) * spin * [0, 0, 1]))


# Over 100 revolutions the last digit of the energy, lost a few thousand times, makes itself felt in the phase: without
# stabilisation the error is 2e-10 (Taylor's method) or 2e-9, with projection 2e-10 or 4e-11. Baumgarte's terms keep
# what round-off does in place: 4e-13.


@pytest.mark.parametrize(
    ("method", "tol", "drift"), [("taylor", 1e-15, "baumgarte"), ("native", 1e-14, ("baumgarte", 2.0, 2.0))]
)
def test_symmetric_top_over_a_hundred_revolutions(method, tol, drift):
    spin = np.array([0.3, -0.7, 1.2])
    top = mb.Body("top", 1.5, (2, 2, 3), velocity=(0.1, 0, 0), angular_velocity=spin)
    free = mb.Mechanism([top])
    until = 100 * 2 * np.pi / np.linalg.norm(spin)
    motion = zw.simulate(free.system, free.start, until, samples=101, tol=tol, method=method, drift=drift)
    u = part(motion, top)[:, 3:]
    assert np.abs(u - symmetric_top(spin, motion.time.values)).max() < 1e-11
    assert np.abs((u**2).sum(axis=1) - 1).max() < 2e-15
    linear, angular = momenta(motion, [top])
    assert np.abs(linear - linear[0]).max() < 1e-13
    assert np.abs(angular - angular[0]).max() < 1e-12
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-12


def test_asymmetric_top_to_jacobis_functions():
    J = np.array([1.0, 2.0, 2.5])
    top = mb.Body("top", 1, J, angular_velocity=(0.4, 0, 1.5))
    free = mb.Mechanism([top])
    motion = zw.simulate(free.system, free.start, 20.0, samples=201, tol=1e-14, method="native")
    E, L2 = J @ [0.16, 0, 2.25], J**2 @ [0.16, 0, 2.25]  # E is twice the energy
    low, high = L2 - E * J[0], E * J[2] - L2
    parameter = (J[1] - J[0]) * high / ((J[2] - J[1]) * low)
    sn, cn, dn, _ = ellipj(motion.time.values * np.sqrt((J[2] - J[1]) * low / J.prod()), parameter)
    exact = np.column_stack([0.4 * cn, np.sqrt(high / (J[1] * (J[2] - J[1]))) * sn, 1.5 * dn])
    assert np.abs(spins(motion, top) - exact).max() < 1e-11


def test_a_free_floating_chain_keeps_its_momenta_and_energy():
    bodies = [
        mb.Body("a", 1, (0.1, 0.2, 0.25), position=(0.5, 0, 0), velocity=(0.1, 0.5, 0), angular_velocity=(1, 0, 2)),
        mb.Body("b", 2, (0.2, 0.3, 0.4), position=(1.5, 0, 0), angular_velocity=(0, 3, 0)),
        mb.Body("c", 1.5, (0.1, 0.2, 0.2), position=(2.5, 0, 0)),
        mb.Body("d", 0.5, (0.1, 0.1, 0.1), position=(3.5, 0, 0), orientation=(1, 2, 0, 0)),
    ]
    a, b, c, d = bodies
    joints = [
        mb.Spherical("ball", a, b, at=(1, 0, 0)),
        mb.Revolute("pin", b, c, at=(2, 0, 0), axis=(0, 1, 1)),
        mb.Prismatic("slide", c, d, at=(3, 0, 0), axis=(1, 1, 0)),
    ]
    chain = mb.Mechanism(bodies, joints)
    motion = zw.simulate(chain.system, chain.start, 5.0, samples=51, tol=1e-14, method="native", drift="projection")
    linear, angular = momenta(motion, bodies)
    assert np.abs(linear - linear[0]).max() < 1e-13
    assert np.abs(angular - angular[0]).max() < 1e-12
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-12
    assert float(abs(motion.residual).max()) < 64 * np.finfo(float).eps  # rows have terms of some metres
    assert np.abs(spins(motion, c) - spins(motion, c)[0]).max() > 0.5  # it does move


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_heavy_top(method):
    spin = (0, 150, -4.61538)
    top = mb.Body(
        "top",
        15,
        (0.234375, 0.46875, 0.234375),
        position=(0, 1, 0),
        velocity=np.cross(spin, (0, 1, 0)),
        angular_velocity=spin,
    )
    held = mb.Mechanism([top], [mb.Spherical("tip", G, top, at=(0, 0, 0))], [mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(held.system, held.start, 2.0, times=[0.01, 2.0], tol=1e-15, method=method, drift="projection")
    found = turns(motion, top).apply(spins(motion, top))[:, 1]
    truth = numbers("heavy-top")["omega_y_global"]
    assert found[0] == pytest.approx(truth["0.01"], abs=1e-11)
    assert found[1] == pytest.approx(truth["2.0"][0], abs=2e-10)
    assert found[1] == pytest.approx(truth["2.0_RK67_dt2e-5"], abs=2e-10)


# Inertia


def test_a_full_inertia_is_the_turned_principal_one():
    J, spin = np.diag([0.2, 0.3, 0.4]), (1.0, 2.0, -0.5)
    axes = Rotation.from_rotvec([0.4, -1.0, 0.7])  # of the principal axes in the new body axes
    start = Rotation.from_rotvec([1.0, 0.2, 0.3])
    turned = axes.as_matrix() @ J @ axes.as_matrix().T
    bodies = [
        mb.Body("plain", 1, np.diag(J), orientation=np.roll(start.as_quat(), 1), angular_velocity=spin),
        mb.Body("turned", 1, turned, orientation=np.roll((start * axes.inv()).as_quat(), 1), angular_velocity=spin),
    ]
    points = np.array([0.3, -0.2, 0.5]), axes.apply([0.3, -0.2, 0.5])
    paths, energies = [], []
    for body, point in zip(bodies, points, strict=True):
        pinned = mb.Mechanism([body], [mb.Spherical("tip", G, body, at=(0, 0, 1))], [mb.Gravity((0, 0, -9.81))])
        motion = zw.simulate(pinned.system, pinned.start, 2.0, samples=21, tol=1e-14, method="native")
        paths.append(pinned.track(motion, body.name, point).values)
        energies.append(motion.kinetic.values)
    assert np.abs(paths[0] - paths[1]).max() < 1e-12
    assert np.abs(energies[0] - energies[1]).max() < 1e-12
    nearly = turned + np.triu(np.full((3, 3), 1e-16), 1)  # what rounding does to a product
    assert mb.Body("b", 1, nearly).inertia_matrix == mb.Body("b", 1, nearly.tolist()).inertia_matrix


def gauss(f, *bounds):
    """∫ f over a box by Gauss's rule, exact for polynomials of degree 15."""
    x, w = np.polynomial.legendre.leggauss(8)
    grids = [((b - a) / 2 * x + (a + b) / 2, (b - a) / 2 * w) for a, b in bounds]
    points = np.meshgrid(*(g[0] for g in grids), indexing="ij")
    weights = np.prod(np.meshgrid(*(g[1] for g in grids), indexing="ij"), axis=0)
    return (f(*points) * weights).sum(axis=(-3, -2, -1))


def moments(place, density, *bounds):
    """∫ (|r|² − r_i²) dm over a body given by its own coordinates."""

    def integrand(*where):
        r = np.array(place(*where))
        return density(*where) * ((r**2).sum(axis=0) - r**2)

    mass = gauss(lambda *where: density(*where) + 0 * where[0], *bounds)
    return gauss(integrand, *bounds) * 7 / mass


UNIT, CIRCLE = (0, 1), (0, np.pi / 2)  # a quarter circle does: the rest is symmetric


def round_moments(place, density, *bounds):
    """The same of a body of revolution about z, from its half plane."""
    x, y, z = moments(place, density, *bounds)
    return (x + y) / 2, (x + y) / 2, z


SHAPES = {
    "rod": (mb.inertia.rod(7, 3), moments(lambda s, *_: (s, 0 * s, 0 * s), lambda *_: 1, (-1.5, 1.5), UNIT, UNIT)),
    "box": (
        mb.inertia.box(7, (1, 2, 3)),
        moments(lambda x, y, z: (x, y, z), lambda *_: 1, (-0.5, 0.5), (-1, 1), (-1.5, 1.5)),
    ),
    "cylinder": (
        mb.inertia.cylinder(7, 2, 3),
        round_moments(lambda r, _, z: (r, 0 * r, z), lambda r, *_: r, (0, 2), UNIT, (-1.5, 1.5)),
    ),
    "disc": (
        mb.inertia.disc(7, 2),
        round_moments(lambda r, *_: (r, 0 * r, 0 * r), lambda r, *_: r, (0, 2), UNIT, UNIT),
    ),
    "sphere": (
        mb.inertia.sphere(7, 2),
        round_moments(lambda r, c, _: (r * np.sqrt(1 - c**2), 0 * r, r * c), lambda r, *_: r**2, (0, 2), (-1, 1), UNIT),
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_inertias_are_the_integrals_of_the_density(shape):
    formula, integral = SHAPES[shape]
    assert [float(x) for x in formula] == pytest.approx(list(integral), rel=1e-13, abs=1e-13)
    assert mb.Body("b", 7, formula).inertia_matrix  # no body has others


def test_a_free_body_is_fine_next_to_one_that_nothing_turns():
    free = mb.Body("free", 1, (1, 1, 1))
    needle = mb.Body("needle", 1, mb.inertia.rod(1, 1), position=(2, 0, 0))
    assert mb.Mechanism([free]).start
    with pytest.raises(UndeterminedError, match="body 'needle' has no inertia about an axis about which it is free"):
        mb.Mechanism([free, needle]).start  # noqa: B018
    with pytest.raises(UndeterminedError, match="body 'needle'"):
        mb.Mechanism([free, needle], [mb.Spherical("tip", G, needle, at=(1.5, 0, 0))]).start  # noqa: B018
    with pytest.raises(UndeterminedError, match="body 'needle'"):
        mb.Mechanism([needle], [mb.Revolute("pin", G, needle, at=(1.5, 0, 0), axis=(1, 0, 0))]).start  # noqa: B018


def test_a_thin_rod_on_a_pin_across_is_a_pendulum():
    rod = mb.Body("rod", 3, mb.inertia.rod(3, 1), position=(0.5, 0, 0))
    pin = mb.Revolute("pin", G, rod, at=(0, 0, 0), axis=(0, 1, 0))
    swinging = mb.Mechanism([rod], [pin], [mb.Gravity((0, 0, -9.81))])
    now = zw.evaluate(swinging.system, swinging.start)
    assert float(now.acceleration[2]) == pytest.approx(-0.75 * 9.81, abs=1e-12)  # 3g/2L at half its length


def test_a_planar_body_without_inertia_is_a_mass_on_a_rod():
    bob = mb.PlanarBody("bob", 1, 0, position=(2, 0))
    other = mb.PlanarBody("other", 1, 1, position=(2, 0))
    for bodies, joints in (([bob], []), ([bob, other], [mb.Revolute("centre", bob, other, at=(2, 0))])):
        with pytest.raises(ModelError, match="body 'bob' has no inertia, and nothing holds its angle"):
            mb.Mechanism(bodies, joints)
    swinging = mb.Mechanism([bob], [mb.Revolute("pin", G, bob, at=(0, 0))], [mb.Gravity((0, -9.81))])
    now = zw.evaluate(swinging.system, swinging.start)
    assert float(now.acceleration[2]) == pytest.approx(-9.81 / 2, abs=1e-12)


# Prescribed motion


def test_a_pendulum_in_a_rising_lift_swings_as_if_it_were_heavier():
    a = sp.Rational(3)
    lift = mb.Moving("lift", position=(0, a * zw.t**2 / 2))
    paths = []
    for support, gravity in ((lift, 9.81), (G, 12.81)):
        rod = mb.PlanarBody("rod", 1, 0.1, position=(0.5, 0))
        pin = mb.Revolute("pin", support, rod, at=(0, 0))
        swinging = mb.Mechanism([rod], [pin], [mb.Gravity((0, -gravity))])
        motion = zw.simulate(swinging.system, swinging.start, 3.0, samples=31, tol=1e-14, method="native")
        paths.append(swinging.coordinates(motion).angle.values)
    assert np.abs(paths[0] - paths[1]).max() < 1e-11


def test_a_body_on_a_turntable_turns_with_it():
    W = zw.parameters("W")
    table = mb.Moving("table", axis=(0, 0, 1), angle=W * zw.t)
    spin = 2.1
    block = mb.Body(
        "block", 2, (1, 1, 1), position=(0.4, 0, 0), velocity=(0, 0.4 * spin, 0), angular_velocity=(0, 0, spin)
    )
    slide = mb.Prismatic("slide", table, block, at=((0, 0, 0), (0, 0, 0)), axis=(1, 0, 0))
    thrown = mb.Mechanism([block], [slide], parameters={W: spin})
    motion = zw.simulate(thrown.system, thrown.start, 1.5, samples=16, tol=1e-14, method="native")
    s = motion.time.values
    assert np.abs(np.hypot(*part(motion, block)[:, :2].T) - 0.4 * np.cosh(spin * s)).max() < 1e-12
    push = thrown.reactions(motion, frame="joint").force.sel(joint="slide").values
    assert np.abs(np.linalg.norm(push, axis=1) - 2 * 2 * spin**2 * 0.4 * np.sinh(spin * s)).max() < 1e-10


# What no body is

BODY = {"mass": 1, "inertia": (1, 1, 1)}
FLAT = {"mass": 1, "inertia": 1}

BAD = [
    (lambda: mb.Body("b", **BODY | {"mass": 0}), "its mass is 0, but a mass is positive"),
    (lambda: mb.Body("b", **BODY | {"mass": None}), "mass: None is neither a number"),
    (lambda: mb.Body("b", **BODY | {"mass": -2}), "its mass is -2, but a mass is positive"),
    (lambda: mb.Body("b", **BODY | {"mass": float("nan")}), "mass: nan is not a finite real number"),
    (lambda: mb.Body("b", **BODY | {"mass": "1"}), "mass: '1' is text"),
    (lambda: mb.Particle("b", mass=-1), "its mass is -1"),
    (lambda: mb.PlanarBody("b", mass=0, inertia=1), "its mass is 0"),
    (lambda: mb.Body("b", 1, (1, 1, 3)), "the principal moments 1, 1, 3 violate the triangle inequality"),
    (lambda: mb.Body("b", 1, [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]), "the principal moments 0.1, 1, 1.9 violate"),
    (lambda: mb.Body("b", 1, (1, 1, -1)), "the inertia has the negative principal moment -1; no body has that"),
    (lambda: mb.Body("b", 1, (1, 1, sp.I)), "inertia: I is not a finite real number"),
    (lambda: mb.Body("b", 1, (1, 1)), r"inertia: \(1, 1\) is neither three principal moments nor a 3×3 matrix"),
    (lambda: mb.Body("b", 1, 1), "inertia: 1 is neither three principal moments nor a 3×3 matrix"),
    (lambda: mb.Body("b", 1, [[2, 1, 0], [0, 2, 0], [0, 0, 2]]), "inertia is not symmetric: 0 stands across from 1"),
    (lambda: mb.PlanarBody("b", 1, -1), "its inertia is -1, but no inertia is negative"),
    (lambda: mb.Body("b", **BODY, orientation=(0, 0, 0, 0)), r"the quaternion \(0, 0, 0, 0\) is not an orientation"),
    (lambda: mb.Body("b", **BODY, orientation=(1, 0, 0)), r"orientation: \(1, 0, 0\) is not a vector: give 4"),
    (lambda: mb.Body("b", **BODY, angular_velocity=(1, 0)), r"angular_velocity: \(1, 0\) is not a vector: give 3"),
    (lambda: mb.Particle("b", 1, velocity=3), "velocity: 3 is not a vector: give 2 or 3 numbers"),
    (lambda: mb.Particle("b", 1, velocity=(0, 0, zw.t)), "velocity: t is not a number; only numbers serve here"),
    (lambda: mb.Body("b", **BODY, velocity=(1, 0)), "position and velocity differ in their number of entries"),
    (lambda: mb.Body("b", **BODY, position=(1, 0)), "a body in space has a position of three entries; use PlanarBody"),
    (lambda: mb.Body("b", **BODY, position=(1, 0, zw.t)), "position: t is not a number; only numbers serve here"),
    (lambda: mb.PlanarBody("b", **FLAT, position=(0, 0, 0)), "in the plane a position has two entries; use Body"),
    (lambda: mb.PlanarBody("b", **FLAT, angle="up"), "angle: 'up' is text"),
    (lambda: mb.Particle("b", 1, position=(0,)), r"position: \(0,\) is not a vector: give 2 or 3"),
]


@pytest.mark.parametrize(("build", "message"), BAD, ids=[message[:45] for _, message in BAD])
def test_bad_bodies_have_their_own_messages(build, message):
    with pytest.raises(InputError, match=f"body 'b': {message}"):
        build()


@pytest.mark.parametrize("name", ["", "ground", None, 3])
def test_bad_names(name):
    with pytest.raises(InputError, match="is not a name for a body: give a text, and not 'ground'"):
        mb.Particle(name, 1)


def test_mistakes_of_mechanisms_come_together():
    a, again = mb.Body("a", **BODY), mb.Body("a", **BODY, position=(1, 0, 0))
    stranger = mb.Body("stranger", **BODY)
    with pytest.raises(ModelError) as caught:
        mb.Mechanism([a, again], [mb.Spherical("a", a, stranger, at=(0, 0, 0))])
    assert set(caught.value.mistakes) == {
        "2 bodies are called 'a': names must differ",
        "a body and a joint are both called 'a': names must differ",
        "joint 'a' holds body 'stranger', which is not in the mechanism: add it to bodies",
    }
    for bodies, message in (
        ([a, mb.PlanarBody("flat", **FLAT)], "body 'flat' lives in the plane, others in space"),
        ([], "none of them can move"),
        ([mb.Moving("table")], "none of them can move"),
        (["a"], "bodies: 'a' is not a body"),
    ):
        with pytest.raises(ModelError, match=message):
            mb.Mechanism(bodies)


ODD = ["abc", b"abc", {1: 1, 2: 2, 3: 3}, {1, 2, 3}, np.ones((1, 1)), float("nan"), 1j, True, object(), (1, 2, None),
       (1, 2, float("nan")), (1, 2, 1j), ("a", "b", "c"), (1, 2, 3, 4, 5)]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    "key", ["mass", "inertia", "position", "orientation", "velocity", "angular_velocity", "outline"]
)
def test_odd_values_of_a_body_are_refused_by_name(key, odd):
    with pytest.raises(InputError, match="body 'b'"):
        mb.Body("b", **({"mass": 1, "inertia": (1, 1, 1)} | {key: odd}))
    if key == "position":  # an array of no dimension is a number, and no vector
        with pytest.raises(InputError, match="is not a vector"):
            mb.Body("b", mass=np.array(3.0), inertia=(1, 1, 1), position=np.array(3.0))
    if key == "outline":
        with pytest.raises(InputError, match="body 'b': outline: "):
            mb.PlanarBody("b", mass=1, inertia=1, outline=odd)


# Velocities in expressions


def test_angular_rates_and_velocities_of_points_are_those_of_the_motion():
    """World and body axes, against differences of SciPy's rotations along a motion."""
    body = mb.Body("top", 2, (0.4, 0.6, 0.9), (0.1, 0.2, 0.3), (0.5, 0.1, -0.7, 0.2), (1, 2, 3), (0.7, -2.0, 4.0))
    made, s, h = mb.Mechanism([body], forces=[mb.Gravity((0, 0, -9.81))]), np.array([0.3, -0.2, 0.5]), 1e-4
    motion = zw.simulate(made, until=0.5 + 2 * h, times=0.5 + h * np.arange(-2, 3))
    q = part(motion, body)
    R = Rotation.from_quat(np.roll(q[:, 3:], -1, axis=1))
    path = q[:, :3] + R.apply(s)
    world = (R[3] * R[1].inv()).as_rotvec() / (2 * h)
    speed = (8 * (path[3] - path[1]) - (path[4] - path[0])) / (12 * h)
    values = dict(zip([*made.system.coordinates, *made.system.velocities],
                      [*motion.q.values[2], *motion.v.values[2]], strict=True))  # fmt: skip

    def now(expressions):
        return np.array([float(e.xreplace(values)) for e in expressions])

    assert now(body.angular_rate()) == pytest.approx(world, abs=1e-6)
    assert now(body.angular_rate(frame="body")) == pytest.approx(R[2].inv().apply(now(body.angular_rate())), abs=1e-12)
    assert now(body.point_velocity(s)) == pytest.approx(speed, abs=1e-9)
    assert now(body.point_velocity(s, frame="body")) == pytest.approx(R[2].inv().apply(speed), abs=1e-9)
    # quaternion algebra: ω = 2 u̇ ū in the world, 2 ū u̇ in the body
    u, du = q[2, 3:], motion.v.values[2, 3:]
    back = u * (1, -1, -1, -1)
    assert now(body.angular_rate()) == pytest.approx(2 * product(du, back)[1:], abs=1e-12)
    assert now(body.angular_rate("body")) == pytest.approx(2 * product(back, du)[1:], abs=1e-12)


def test_in_the_plane_an_angular_rate_is_one_expression():
    plate = mb.PlanarBody("plate", 1, 1, angle=np.pi / 2, velocity=(3, 0), spin=2)
    assert plate.angular_rate() == plate.angular_rate(frame="body") == zw.dot(plate.coordinates[2])
    velocity = [float(e.xreplace(plate.start())) for e in plate.point_velocity((1, 0), frame="body")]
    assert velocity == pytest.approx([0, -3 + 2])  # turned a quarter: the world's x is the body's −y
    assert mb.Particle("bob", 1).angular_rate(frame="body") == (0, 0, 0)
    with pytest.raises(InputError, match="body 'plate': frame='joint' is unknown: choose 'world' or 'body'"):
        plate.angular_rate(frame="joint")
    with pytest.raises(InputError, match="frame='local' is unknown"):
        plate.point_velocity((1, 0), frame="local")
