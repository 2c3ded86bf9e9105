"""Every joint: as many conditions as it takes freedoms, no work, and in motion it means what it is called."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.multibody.scenes import build, scene, turn_of
from zwang import multibody as mb
from zwang.evaluation import matrices
from zwang.multibody.joint import Joint

# joint, dimension → how many of the second body's freedoms it leaves
FREE = {
    ("Revolute", 3): 1,
    ("Prismatic", 3): 1,
    ("Cylindrical", 3): 2,
    ("Spherical", 3): 3,
    ("Universal", 3): 2,
    ("Planar", 3): 3,
    ("Fixed", 3): 0,
    ("Screw", 3): 1,
    ("Rod", 3): 5,
    ("PointOnLine", 3): 4,
    ("PointOnPlane", 3): 5,
    ("PointOnCurve", 3): 4,
    ("PointOnSurface", 3): 5,
    ("RollingDisc", 3): 3,
    ("RollingBall", 3): 3,
    ("Skate", 3): 5,
    ("Revolute", 2): 1,
    ("Prismatic", 2): 1,
    ("Fixed", 2): 0,
    ("Rod", 2): 2,
    ("PointOnLine", 2): 2,
    ("PointOnCurve", 2): 2,
    ("PointOnSurface", 2): 2,
    ("RollingWheel", 2): 1,
    ("WheelOnWheel", 2): 1,
    ("Skate", 2): 2,
}
CASES = list(FREE)
NAMES = [f"{kind}-{dimension}D" for kind, dimension in CASES]
TOL = 2e-12  # a motion of a second with projection; lengths are of size 1 to 10


@pytest.fixture(scope="module")
def scenes():
    """The scene of a case, computed once."""
    kept = {}
    return lambda case: kept[case] if case in kept else kept.setdefault(case, scene(case))


def test_every_joint_between_two_bodies_is_here():
    joints = {name for name in mb.__all__ if isinstance(c := getattr(mb, name), type) and issubclass(c, Joint)}
    assert joints - {"Series"} == {kind for kind, _ in FREE}  # test_series.py has that one


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_rank_is_what_the_joint_takes(case, scenes):
    s = scenes(case)
    verdict = zw.diagnose(s.mechanism.system, s.mechanism.start)
    free = 6 if case[1] == 3 else 3
    assert verdict.degrees_of_freedom == free + FREE[case]
    assert not verdict.redundant
    assert verdict.ok


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("seed", [11, 12])
def test_conditions_hold_at_the_start_as_described(case, seed):
    """Joints placed in the world of the start hold there, whatever the bodies' poses: nothing is moved."""
    bodies, joint, *_ = build(case, np.random.default_rng(seed))
    state = {key: value for body in bodies for key, value in body.start().items()}
    state |= joint.coordinates
    for suffix, expression in joint.conditions().items():
        if expression.atoms(zw.dot(bodies[0].coordinates[0]).func):
            continue  # a condition on velocities: the description need not obey it
        assert abs(float(expression.subs(state))) < 5e-13, suffix


def turned(spin, u):
    """½ ω∘u: the rate of a quaternion, and of that rate, where the angular velocity ω is constant."""
    return np.array([-spin @ u[1:], *(u[0] * spin + np.cross(spin, u[1:]))]) / 2


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_common_motion_of_both_bodies_is_nothing_to_the_joint(case):
    """Both turn about one axis as one body: A q̇ = 0 and A q̈ = b. So a joint's forces and moments balance."""
    rng = np.random.default_rng(21)
    bodies, joint, *_ = build(case, rng)
    mechanism = mb.Mechanism(bodies, [joint])
    slide, spin = rng.normal(size=(2, 3))
    if case[1] == 2:
        slide[2], spin[:2] = 0, 0
    state, acceleration = dict(mechanism.start), {}
    for b in bodies:
        q = np.array([state[c] for c in b.coordinates])
        v = slide + np.cross(spin, (*q[: b.dimension], 0)[:3])
        a = np.cross(spin, v)
        if b.dimension == 2:
            rate, second = (*v[:2], spin[2]), (*a[:2], 0)
        else:
            rate, second = (*v, *turned(spin, q[3:])), (*a, *turned(spin, turned(spin, q[3:])))
        state |= {zw.dot(c): x for c, x in zip(b.coordinates, rate, strict=True)}
        acceleration |= dict(zip(b.coordinates, second, strict=True))
    state |= {zw.dot(c): 0.0 for c in joint.coordinates}
    now, _, v = matrices(mechanism.system, state, 0.0, None)
    a = np.array([acceleration.get(c, 0.0) for c in mechanism.system.coordinates])
    size = np.abs(now.A).max() * max(np.abs(a).max(), np.abs(v).max())
    assert np.abs(now.A @ v).max() < 1e-14 * size
    assert np.abs(now.A @ a - now.b).max() < 1e-14 * size


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_residuals_stay_at_round_off_and_reactions_do_no_work(case, scenes):
    motion = scenes(case).motion
    assert np.abs(np.nan_to_num(motion.residual)).max() < 1e-13  # NaN: conditions on velocities
    assert np.abs(motion.residual_rate).max() < 1e-13
    assert np.abs(motion.constraint_power).max() < 1e-12
    assert np.abs(motion.energy - motion.energy[0]).max() < 1e-11 * max(1, float(np.abs(motion.energy).max()))


def check_points_together(s):
    assert np.abs(s.point(0, s.at) - s.point(1, s.at)).max() < TOL


def check_axis_common(s):
    assert np.abs(s.direction(0, s.axis) - s.direction(1, s.axis)).max() < TOL


def check_no_turn(s):
    size = s.relative_turn.shape[-1]
    assert np.abs(s.relative_turn - np.eye(size)).max() < TOL


def check_on_axis(s):
    """The second body's point is on the line through the first's along its axis."""
    gap, axis = s.point(1, s.at) - s.point(0, s.at), s.direction(0, s.axis)
    along = np.einsum("ti,ti->t", gap, axis)
    assert np.abs(gap - along[:, None] * axis).max() < TOL
    return along


def check_in_plane(s):
    gap, normal = s.point(1, s.at) - s.point(0, s.at), s.direction(0, s.axis)
    assert np.abs(np.einsum("ti,ti->t", gap, normal)).max() < TOL


def check_curve(s):
    place = body_place(s)
    curve = np.array([[float(e.subs("u", k)) for e in s.extra["curve"]] for k in s.column("q", "j.s")])
    assert np.abs(place - curve).max() < TOL


def check_surface(s):
    place = body_place(s)
    value = place**2 @ np.array([1, 2, 3])[: place.shape[1]]
    assert np.abs(value - s.extra["value"]).max() < 20 * TOL


def body_place(s):
    """(time, d) the second body's point in the first body's axes."""
    r, R = s.poses[0]
    return np.einsum("tji,tj->ti", R, s.point(1, s.at) - r)


def turn_angle(s):
    """The angle of the relative turn about the axis, unwrapped."""
    R = s.relative_turn
    axis = s.poses[0][1][0].T @ s.axis
    skew = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], -1) / 2
    return np.unwrap(np.arctan2(skew @ axis, (np.trace(R, axis1=1, axis2=2) - 1) / 2))


def check_rolling(s):
    """The lowest point of the wheel is on the plane and moves with it."""
    normal = s.direction(0, s.axis)
    centre, radius = s.poses[1][0], s.extra["radius"]
    if "disc" in s.extra:
        axis = s.direction(1, s.extra["disc"])
        cosine = np.einsum("ti,ti->t", normal, axis)[:, None]
        up = (normal - cosine * axis) / np.sqrt(1 - cosine**2)
    else:
        up = normal
    contact = centre - radius * up
    assert np.abs(np.einsum("ti,ti->t", contact - s.point(0, s.at), normal)).max() < TOL
    assert np.abs(s.velocity(1, contact) - s.velocity(0, contact)).max() < 10 * TOL


def check_wheel_on_wheel(s):
    (a, _), (b, _) = s.poses
    r1, r2 = s.extra["radii"]
    apart = np.linalg.norm(b - a, axis=1)
    assert np.abs(apart - r1 - r2).max() < TOL
    contact = a + r1 * (b - a) / apart[:, None]
    assert np.abs(s.velocity(1, contact) - s.velocity(0, contact)).max() < 10 * TOL
    # r₁ θ₁ + r₂ θ₂ = (r₁ + r₂) φ: what rolling means, integrated
    phi = np.unwrap(np.arctan2(*(b - a).T[::-1]))
    turns = [s.column("q", f"{k}.angle") for k in "ab"]
    left = r1 * (turns[0] - turns[0][0]) + r2 * (turns[1] - turns[1][0])
    assert np.abs(left - (r1 + r2) * (phi - phi[0])).max() < 1e-11


def check_skate(s):
    place = s.point(1, s.at)
    past = s.velocity(1, place) - s.velocity(0, place)
    blade = s.direction(1, s.axis)
    if s.extra["normal"] is None:
        side = np.stack([-blade[:, 1], blade[:, 0]], -1)
    else:
        side = np.cross(s.direction(0, s.extra["normal"]), blade)
    assert np.abs(np.einsum("ti,ti->t", past, side)).max() < 10 * TOL
    assert np.abs(past).max() > 0.1  # it does slide


def check_universal(s):
    crossing = np.einsum("ti,ti->t", s.direction(0, s.axis), s.direction(1, s.extra["second"]))
    assert np.abs(crossing).max() < TOL


def check_rod(s):
    length = np.linalg.norm(s.extra["end"] - s.at)
    assert np.abs(np.linalg.norm(s.point(1, s.extra["end"]) - s.point(0, s.at), axis=1) - length).max() < TOL


def check_screw(s):
    travel = check_on_axis(s)
    assert np.abs(travel - 0.7 * turn_angle(s) / (2 * np.pi)).max() < TOL
    assert np.abs(travel).max() > 0.01


MEANING = {
    "Revolute": (check_points_together, check_axis_common),
    "Prismatic": (check_on_axis, check_no_turn),
    "Cylindrical": (check_on_axis, check_axis_common),
    "Spherical": (check_points_together,),
    "Universal": (check_points_together, check_universal),
    "Planar": (check_in_plane, check_axis_common),
    "Fixed": (check_points_together, check_no_turn),
    "Screw": (check_screw, check_axis_common),
    "Rod": (check_rod,),
    "PointOnLine": (check_on_axis,),
    "PointOnPlane": (check_in_plane,),
    "PointOnCurve": (check_curve,),
    "PointOnSurface": (check_surface,),
    "RollingDisc": (check_rolling,),
    "RollingBall": (check_rolling,),
    "RollingWheel": (check_rolling,),
    "WheelOnWheel": (check_wheel_on_wheel,),
    "Skate": (check_skate,),
}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_in_motion_the_joint_means_what_it_is_called(case, scenes):
    checks = MEANING[case[0]]
    if case == ("Revolute", 2):
        checks = (check_points_together,)
    for check in checks:
        check(scenes(case))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_own_axes_are_orthonormal(case, scenes):
    """A reaction has the same size in world axes and in the joint's own."""
    s = scenes(case)
    world, own = (s.mechanism.reactions(s.motion, frame) for frame in ("world", "joint"))
    for key in ("force", "moment"):
        size = np.linalg.norm(world[key], axis=-1)
        assert np.abs(np.linalg.norm(own[key], axis=-1) - size).max() < 1e-10 * max(1, size.max())
    assert world.unique.all()


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_momentum_changes_by_what_the_reaction_says(case, scenes):
    """Newton and Euler for the second body: m r̈ = m g + F, and the rate of R J ω is M + (p − r) × F."""
    s = scenes(case)
    body, joint = s.mechanism.movable[1], s.mechanism.joints[0]
    size = body.dimension
    F = s.mechanism.reactions(s.motion).force.values[:, 0, :size]
    a = np.stack([s.column("a", f"b.{k}") for k in "xyz"[:size]], -1)
    g = np.array([0.5, -9.81] if size == 2 else [0.5, 1, -9.81])
    assert np.abs(body.mass * (a - g) - F).max() < 1e-9 * max(1, np.abs(F).max())
    M = s.mechanism.reactions(s.motion).moment.values[:, 0]
    arm = along_place(s, joint) - s.poses[1][0]
    if size == 2:
        total = M[:, 2] + arm[:, 0] * F[:, 1] - arm[:, 1] * F[:, 0]
        expected = body.inertia * s.column("a", "b.angle")
    else:
        total = M + np.cross(arm, F)
        u, du, ddu = (np.stack([s.column(k, f"b.q{i}") for i in range(4)]) for k in "qva")
        J = np.einsum("tij,j,tkj->tik", turn_of(u.T), np.array(body.inertia), turn_of(u.T))
        # ω = 2 vec(u̇ u*), and ω̇ = 2 vec(ü u*) with the same product
        spin, gain = (2 * (u[0] * w[1:] - w[0] * u[1:] + np.cross(u[1:], w[1:], axis=0)).T for w in (du, ddu))
        expected = np.einsum("tij,tj->ti", J, gain) + np.cross(spin, np.einsum("tij,tj->ti", J, spin))
    assert np.abs(total - expected).max() < 1e-9 * max(1, np.abs(F).max())


def along_place(s, joint):
    """(time, d) where the joint's moment is taken."""
    from zwang.results.evaluate_along import along

    return along(s.motion, s.mechanism.system, list(joint.place), {})


@pytest.mark.parametrize("reading", [0.0, 0.4, -2.5])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_driver_relative_to_the_start_moves_nothing_at_the_start(reading, dimension):
    """However the joint is placed, angle(t) = reading + sin t, and the body begins where it is described."""
    rng = np.random.default_rng(7)
    (_, a), joint, *_ = build(("Revolute", dimension), rng)  # whose speeds nobody states: the driver does
    joint = replace(joint, first=mb.ground, second=a, reading=reading)
    made = mb.Mechanism([a], [joint, mb.Driver("motor", joint, motion=mb.start + sp.sin(zw.t))])
    assert made.moved.translation == made.moved.turn == 0
    assert made.moved.followed == (a.name,)  # with the driver's speed
    motion = zw.simulate(made, until=2.0, samples=9)
    angle = made.coordinates(motion).angle.sel(joint="j").values
    assert np.abs(angle - reading - np.sin(motion.time.values)).max() < 1e-10
