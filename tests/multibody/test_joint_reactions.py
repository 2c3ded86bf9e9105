"""Reactions: equal and opposite, to closed forms, in world axes and in the joint's own."""

import numpy as np
import pytest

import zwang as zw
from tests.multibody.scenes import planar, spatial, unit
from zwang import multibody as mb
from zwang.results.evaluate_along import along

G = 9.81


def run(bodies, joints, until=1.0, gravity=None):
    """A mechanism under gravity, and its motion."""
    size = next(b for b in bodies if hasattr(b, "dimension")).dimension
    down = gravity or ((0, -G) if size == 2 else (0, 0, -G))
    mechanism = mb.Mechanism(bodies, joints=joints, forces=[mb.Gravity(down)])
    return mechanism, zw.simulate(mechanism.system, mechanism.start, until=until, samples=41, drift="projection")


AT, AXIS, OTHER = np.array([0.3, -0.2, 0.5]), unit([1.0, 2, -1]), unit([1.0, 0, 1])
SWAPPED = {
    "Revolute": ({"at": AT, "axis": AXIS},) * 2,
    "Prismatic": ({"at": AT, "axis": AXIS},) * 2,
    "Cylindrical": ({"at": AT, "axis": AXIS},) * 2,
    "Spherical": ({"at": AT},) * 2,
    "Universal": ({"at": AT, "axes": (AXIS, OTHER)}, {"at": AT, "axes": (OTHER, AXIS)}),
    "Planar": ({"at": AT, "normal": AXIS},) * 2,
    "Fixed": ({"at": AT},) * 2,
    "Screw": ({"at": AT, "axis": AXIS, "pitch": 0.4},) * 2,
    "Rod": ({"start": AT, "end": AT + 1}, {"start": AT + 1, "end": AT}),
}


FLAT = {
    "Revolute": ({"at": AT[:2]},) * 2,
    "Prismatic": ({"at": AT[:2], "axis": AXIS[:2]},) * 2,
    "Fixed": ({"at": AT[:2]},) * 2,
    "Rod": ({"start": AT[:2], "end": AT[:2] + 1}, {"start": AT[:2] + 1, "end": AT[:2]}),
    "WheelOnWheel": ({"radii": (0.5, 0.7)}, {"radii": (0.7, 0.5)}),
}


@pytest.mark.parametrize(
    ("kind", "make", "options"),
    [(kind, make, options[kind]) for make, options in ((spatial, SWAPPED), (planar, FLAT)) for kind in options],
)
def test_first_and_second_exchanged_feel_the_opposite(kind, make, options):
    """Same motion; opposite forces; moments opposite when taken about one point."""
    sides = []
    for order in (0, 1):
        rng = np.random.default_rng(8)
        a, b = make("a", rng), make("b", rng, stated=False)
        pair = (a, b) if order == 0 else (b, a)
        joint = getattr(mb, kind)("j", *pair, **options[order])
        mechanism, motion = run([a, b], [joint])
        place = np.zeros((len(motion.time), 3))
        place[:, : a.dimension] = along(motion, mechanism.system, list(joint.place))
        sides.append((motion, mechanism.reactions(motion), place))
    (one, at_p, p), (two, at_q, q) = sides
    assert np.abs(one.q - two.q).max() < 1e-9
    F, H = at_p.force.values[:, 0], at_q.force.values[:, 0]
    assert np.abs(F + H).max() < 1e-8 * max(1, np.abs(F).max())
    M, N = at_p.moment.values[:, 0], at_q.moment.values[:, 0]
    assert np.abs(M + np.cross(p - q, F) + N).max() < 1e-8 * max(1, np.abs(M).max())


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("first", ["ground", "rod"])
def test_pendulum_pin_carries_weight_and_centripetal_force(dimension, first):
    """m(g cos θ + l θ̇²) along the rod and m(g sin θ + l θ̈) across it, θ̈ = −m g l sin θ/(J + m l²)."""
    m, length, J = 1.5, 0.6, 0.2
    if dimension == 2:
        rod = mb.PlanarBody("rod", m, J, position=(length, 0))
        at, options = (0, 0), {}
    else:
        rod = mb.Body("rod", m, (0.1, J, J), position=(length, 0, 0))
        at, options = (0, 0, 0), {"axis": (0, -1, 0)}
    pair = (mb.ground, rod) if first == "ground" else (rod, mb.ground)
    mechanism, motion = run([rod], [mb.Revolute("pin", *pair, at=at, **options)], until=2.0)
    on_rod = 1 if first == "ground" else -1
    x, z = (motion.q.values[:, i] for i in (0, dimension - 1))
    theta = np.arctan2(x, -z)
    rate = (x * motion.v.values[:, dimension - 1] - z * motion.v.values[:, 0]) / length**2
    inward = -np.stack([np.sin(theta), -np.cos(theta)], -1)
    along = m * (G * np.cos(theta) + length * rate**2)
    across = m * G * np.sin(theta) * (1 - m * length**2 / (J + m * length**2))
    force = on_rod * mechanism.reactions(motion).force.values[:, 0][:, [0, dimension - 1]]
    expected = along[:, None] * inward + across[:, None] * np.stack([np.cos(theta), np.sin(theta)], -1)
    assert np.abs(force - expected).max() < 1e-9
    own = mechanism.reactions(motion, frame="joint")
    assert np.abs(own.moment).max() < 1e-10  # a pin carries no moment about itself in a plane motion
    if first == "rod":  # the joint's axes turn with the rod, which begins along x
        axes = mechanism.joints[0].frame
        on_ground = own.force.values[:, 0, :dimension] @ np.array(axes, dtype=float)  # in the rod's axes
        assert np.abs(on_ground[:, 0] - along).max() < 1e-9
        assert np.abs(on_ground[:, -1] + across).max() < 1e-9


def test_own_axes_of_a_planar_pin_turn_with_the_first_body():
    """The rod's pull is along its own x axis throughout."""
    m, length = 2.0, 0.7
    rod = mb.PlanarBody("rod", m, 0, position=(length, 0))
    mechanism, motion = run([rod], [mb.Revolute("pin", rod, mb.ground, at=(0, 0))])
    _, y, _ = motion.q.values.T
    vx, vy, _ = motion.v.values.T
    pull = m * (-G * y / length + (vx**2 + vy**2) / length)
    own = mechanism.reactions(motion, frame="joint").force.values[:, 0]
    assert np.abs(own[:, 0] - pull).max() < 1e-9  # on the ground: towards the bob
    assert np.abs(own[:, 1:]).max() < 1e-9  # a point mass: nothing across


@pytest.mark.parametrize("make", [planar, spatial])
def test_rod_multiplier_is_its_tension(make):
    """The force on the second body is the multiplier, along the rod, towards the first."""
    rng = np.random.default_rng(5)
    a, b = make("a", rng), make("b", rng, stated=False)
    rod = mb.Rod("rod", a, b, start=a.position, end=b.position)
    mechanism, motion = run([a, b], [rod])
    ends = [mechanism.track(motion, name).values for name in "ab"]
    along = (ends[0] - ends[1]) / np.linalg.norm(ends[0] - ends[1], axis=1)[:, None]
    tension = motion.multiplier.sel(constraint="rod.length").values
    force = mechanism.reactions(motion).force.values[:, 0, : a.dimension]
    assert np.abs(force - tension[:, None] * along).max() < 1e-9
    assert np.abs(mechanism.reactions(motion).moment).max() < 1e-10


def test_bob_on_a_rod_hangs_with_positive_tension():
    bob = mb.Particle("bob", 2, position=(0, -1.5))
    mechanism, motion = run([bob], [mb.Rod("rod", mb.ground, bob, start=(0, 0), end=(0, -1.5))])
    assert np.allclose(motion.multiplier, 2 * G, rtol=0, atol=1e-12)
    assert np.allclose(mechanism.reactions(motion).force.values[:, 0], (0, 2 * G, 0), rtol=0, atol=1e-12)


def test_cantilever_carries_weight_and_its_moment():
    """A beam welded to a wall: force m g, moment m g l."""
    beam = mb.PlanarBody("beam", 3, 1, position=(2, 0))
    mechanism, motion = run([beam], [mb.Fixed("clamp", mb.ground, beam, at=(0, 0))])
    reaction = mechanism.reactions(motion)
    assert np.allclose(reaction.force[:, 0], (0, 3 * G, 0), rtol=0, atol=1e-12)
    assert np.allclose(reaction.moment[:, 0], (0, 0, 2 * 3 * G), rtol=0, atol=1e-11)


def test_slider_moment_is_taken_at_the_slider_whoever_is_first():
    """A block on a rail: its weight acts at its own place, so the rail feels no moment there, however far it went."""
    for order in (0, 1):
        block = mb.PlanarBody("block", 2, 1, velocity=(3, 0))
        pair = (mb.ground, block) if order == 0 else (block, mb.ground)
        mechanism, motion = run([block], [mb.Prismatic("rail", *pair, at=(0, 0), axis=(1, 0))])
        reaction = mechanism.reactions(motion)
        sign = 1 if order == 0 else -1
        assert np.allclose(reaction.force[:, 0], (0, sign * 2 * G, 0), rtol=0, atol=1e-12)
        travelled = motion.q.values[:, 0] if order == 1 else 0  # the ground's point stays where the joint was
        assert np.allclose(reaction.moment[:, 0, 2], sign * 2 * G * travelled, rtol=0, atol=1e-11)


def of_one_kind(kind, first, second):
    """A joint of its own class, and the same as a Series; and the coordinates of both, in pairs."""
    hinge, slide = (mb.Step(name, way, tuple(AXIS)) for name, way in (("a", "angle"), ("b", "travel")))
    if kind == "Revolute":
        return mb.Revolute("j", first, second, at=AT, axis=AXIS), [hinge], {"angle": "a"}
    if kind == "Prismatic":
        return mb.Prismatic("j", first, second, at=AT, axis=AXIS), [slide], {"travel": "b"}
    if kind == "Cylindrical":
        return mb.Cylindrical("j", first, second, at=AT, axis=AXIS), [hinge, slide], {"angle": "a", "travel": "b"}
    across = unit(np.cross(AXIS, OTHER))
    steps = [hinge, mb.Step("c", "angle", tuple(across))]
    return mb.Universal("j", first, second, at=AT, axes=(AXIS, across)), steps, {"angle1": "a", "angle2": "c"}


def acts(what, joint, coordinate):
    """Something along a joint's coordinate: joints, force elements."""
    freedom = {"coordinate": coordinate}
    return {
        "actuator": ([], [mb.Actuator(coordinate, joint, effort=3.0, **freedom)]),
        "damper": ([], [mb.JointSpring(coordinate, joint, stiffness=0, damping=0.7, **freedom)]),
        "driver": ([mb.Driver(coordinate, joint, speed=0.5 + zw.t, **freedom)], []),
    }[what]


@pytest.mark.parametrize("what", ["actuator", "damper", "driver"])
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic", "Cylindrical", "Universal"])
def test_a_reaction_leaves_out_what_acts_along_the_joint_whatever_its_class(kind, what):
    found, fixed = [], what == "driver"
    for series in (False, True):
        rng = np.random.default_rng(7)
        one, two = spatial("one", rng), spatial("two", rng, stated=False)
        first = mb.ground if fixed else one
        joint, steps, names = of_one_kind(kind, first, two)
        if series:
            joint = mb.Series("j", first, two, at=AT, steps=steps)
        pairs = [acts(what, joint, name) for name in (names.values() if series else names)]
        joints, forces = ([x for pair in pairs for x in pair[i]] for i in (0, 1))
        bodies = [two] if fixed else [one, two]
        mechanism = mb.Mechanism(bodies, [joint, *joints], [mb.Gravity((0, 0, -G)), *forces])
        motion = zw.simulate(mechanism.system, mechanism.start, until=0.5, samples=4)
        reaction = mechanism.reactions(motion).sel(joint="j")
        found.append(np.hstack([reaction.force, reaction.moment]))
    np.testing.assert_allclose(*found, atol=1e-7)
    assert abs(found[0]).max() > 0.1


def test_a_reaction_does_no_work_in_free_motions_of_parallel_hinges():
    # two parallel hinges apart from each other, each with a motor: a force along the line of both hinges
    rng = np.random.default_rng(3)
    body = spatial("arm", rng, stated=False)
    hinges = [mb.Step("a", "angle", (0, 0, 1), at=(0, 0, 0)), mb.Step("b", "angle", (0, 0, 1), at=(1, 0.5, 0))]
    joint = mb.Series("j", mb.ground, body, at=(2, 1.5, 0.3), steps=hinges)
    motors = [mb.Actuator("m", joint, effort=2.0, coordinate="a"), mb.Actuator("n", joint, effort=-5.0, coordinate="b")]
    mechanism = mb.Mechanism([body], [joint], motors)
    motion = zw.simulate(mechanism.system, mechanism.start, until=0.5, samples=4)
    reaction = mechanism.reactions(motion).sel(joint="j")
    force, moment = reaction.force.values, reaction.moment.values
    place = mechanism.track(motion, "arm", [float(x) for x in joint.ends[1]]).values
    turned = mechanism.coordinates(motion).a.sel(joint="j").values
    c, s = np.cos(turned), np.sin(turned)
    elbow = np.stack([c - s / 2, s + c / 2, 0 * c], axis=1)
    for hinge in (0 * elbow, elbow):
        np.testing.assert_allclose((moment + np.cross(place - hinge, force))[:, 2], 0, atol=1e-9)


def test_the_reaction_of_a_wire_has_no_part_along_it():
    import sympy as sp

    u = sp.Symbol("u")
    bead = mb.Particle("bead", 1.0, position=(1, 0))
    wire = mb.PointOnCurve("wire", mb.ground, bead, curve=(sp.cos(u), sp.sin(u)), parameter=u, start=0.0)
    mechanism = mb.Mechanism([bead], [wire], [mb.Actuator("motor", wire, effort=2.0)])
    motion = zw.simulate(mechanism.system, mechanism.start, until=1.0, samples=5)
    # s̈ = 2 from rest: the wire holds the bead with ṡ² = 4 t² towards the centre
    force = mechanism.reactions(motion).force.sel(joint="wire").values[:, :2]
    np.testing.assert_allclose(force, -4 * motion.time.values[:, None] ** 2 * motion.q.values[:, :2], atol=1e-9)
