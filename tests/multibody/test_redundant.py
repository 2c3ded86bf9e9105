"""Loops of revolute joints in space: counted naively they cannot move, but they do, and zwang says why."""

from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import multibody as mb

G = mb.ground


def link(name, start, end, mass=1.0):
    """A bar between two points, with some thickness."""
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    length = np.linalg.norm(end - start)
    inertia = (0.01 * mass, mass * length**2 / 12 + 0.01, mass * length**2 / 12 + 0.01)
    turn, _ = Rotation.align_vectors([(end - start) / length], [(1, 0, 0)])
    return {"name": name, "mass": mass, "inertia": inertia, "position": (start + end) / 2, "turn": turn}


def spinning(name, mass, inertia, position, turn, spin=(0, 0, 0)):
    """A body in space that turns; its centre moves as joints ask."""
    return mb.Body(
        name,
        mass,
        inertia,
        position,
        np.roll(turn.as_quat(), 1),
        **({"angular_velocity": spin} if any(spin) else {}),
    )


def naive_count(mechanism):
    """Degrees of freedom by counting: coordinates less conditions."""
    return len(mechanism.system.coordinates) - len(mechanism.system.constraints)


@cache
def pair(build, until, **options):
    """A loop with its redundant conditions and without, and the motions of both."""
    both = build(**options), build(minimal=True, **options)
    return *both, *(zw.simulate(m.system, m.start, until, samples=21, tol=1e-13, method="native") for m in both)


def apart(first, second, motion, other, bodies):
    """How far two mechanisms are apart: centres and other points of some bodies."""
    far = [
        first.track(motion, body, point) - second.track(other, body, point)
        for body in bodies
        for point in ((0, 0, 0), (0.3, 0.1, -0.2))
    ]
    return max(float(abs(x).max()) for x in far)


# A planar four-bar with four revolute joints in space: three redundant conditions

A, B, D = (0, 0, 0), (0, 0.4, 0), (1.1, 0, 0)


def corner():
    """The joint of coupler (1.0) and rocker (0.8): where circles about B and D meet, above."""
    b, d = np.array(B[:2]), np.array(D[:2])
    apart = np.linalg.norm(d - b)
    along = (1.0**2 - 0.8**2 + apart**2) / (2 * apart)
    across = np.array([b[1] - d[1], d[0] - b[0]]) / apart
    return (*(b + along * (d - b) / apart + np.sqrt(1 - along**2) * across), 0.0)


def four_bar(minimal=False, pendant=False):
    """A crank that goes round, a coupler and a rocker."""
    C = corner()
    crank = spinning(**link("crank", A, B), spin=(0, 0, 6.0))
    coupler, rocker = (spinning(**link(*what)) for what in (("coupler", B, C), ("rocker", C, D)))
    at_b, at_c = (mb.Spherical, mb.Cylindrical) if minimal else (mb.Revolute, mb.Revolute)
    joints = [
        mb.Revolute("A", G, crank, at=A),
        at_b("B", crank, coupler, at=B),
        at_c("C", coupler, rocker, at=C, axis=(0, 0, 1)),
        mb.Revolute("D", rocker, G, at=D),
    ]
    bodies = [crank, coupler, rocker]
    if pendant:
        bodies.append(mb.Body("pendant", 0.3, (0.01, 0.02, 0.02), position=(0.2, 0.1, 0)))
        joints.append(
            mb.Revolute("hook", coupler, bodies[-1], at=((0, 0, 0), (0, 0.2, 0)), axis=((1, 0, 0), (1, 0, 0)))
        )
    return mb.Mechanism(bodies, joints, [mb.Gravity((0, -9.81, 0))], name="four-bar")


def flat_four_bar():
    """The same in the plane."""
    C = corner()
    bodies = []
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", C, D)):
        start, end = np.array(start[:2]), np.array(end[:2])
        along, inertia = end - start, link(name, [*start, 0], [*end, 0])["inertia"][2]
        middle = (start + end) / 2
        bodies.append(
            mb.PlanarBody(
                name, 1.0, inertia, middle, np.arctan2(*along[::-1]), **({"spin": 6.0} if name == "crank" else {})
            )
        )
    crank, coupler, rocker = bodies
    pins = (("A", G, crank, A), ("B", crank, coupler, B), ("C", coupler, rocker, C), ("D", rocker, G, D))
    joints = [mb.Revolute(name, first, second, at=at[:2]) for name, first, second, at in pins]
    return mb.Mechanism(bodies, joints, [mb.Gravity((0, -9.81))], name="flat four-bar")


def test_the_verdict_on_a_four_bar_names_three_redundant_conditions():
    bars = four_bar()
    assert naive_count(bars) == -2
    verdict = zw.diagnose(bars.system, bars.start)
    assert verdict.ok
    assert verdict.degrees_of_freedom == 1
    assert len(verdict.redundant) == 3
    assert all(name.split(".")[1] in ("z", "axis1", "axis2") for name in verdict.redundant)
    for name, others in verdict.redundant.items():
        assert others
        assert f"{name} " in str(verdict)
    assert "redundant: follows from" in str(verdict)
    assert "Redundant but consistent: the motion is unique" in str(verdict)
    unique = verdict.unique_multipliers
    assert all(unique[f"{joint}.{axis}"] for joint in "ABCD" for axis in "xy")
    assert not any(unique[f"{joint}.{row}"] for joint in "ABCD" for row in ("axis1", "axis2"))


def test_a_four_bar_moves_as_the_non_redundant_one_and_as_the_planar_one():
    redundant, minimal, motion, other = pair(four_bar, 1.5)
    assert naive_count(minimal) == 1
    assert not zw.diagnose(minimal.system, minimal.start).redundant
    assert apart(redundant, minimal, motion, other, ("crank", "coupler", "rocker")) < 1e-9
    assert float(abs(motion.residual).max()) < 1e-12
    flat = flat_four_bar()
    plane = zw.simulate(flat.system, flat.start, 1.5, samples=21, tol=1e-13, method="native")
    for name in ("crank", "coupler", "rocker"):
        assert np.abs(redundant.track(motion, name).values[:, :2] - flat.track(plane, name).values).max() < 1e-9
    assert abs(float(redundant.coordinates(motion).angle.sel(joint="A")[-1])) > 2 * np.pi  # it goes round
    # The joints' forces in the plane are unique, and those of the planar model; what they share out is flagged.
    found, truth = redundant.reactions(motion), flat.reactions(plane)
    assert not found.unique.any()
    assert truth.unique.all()
    size = float(abs(truth.force).max())
    assert np.abs(found.force.values[..., :2] - truth.force.values[..., :2]).max() < 1e-9 * size


def test_a_reaction_outside_the_loop_is_unique():
    redundant, minimal, motion, other = pair(four_bar, 0.7, pendant=True)
    assert apart(redundant, minimal, motion, other, ("coupler", "pendant")) < 1e-9
    found, truth = redundant.reactions(motion), minimal.reactions(other)
    assert dict(zip("ABCD", found.unique.values, strict=False)) == dict.fromkeys("ABCD", False)
    assert bool(found.unique.sel(joint="hook"))
    assert truth.unique.all()
    for what in ("force", "moment"):
        hook = [reactions[what].sel(joint="hook").values for reactions in (found, truth)]
        assert np.abs(hook[0] - hook[1]).max() < 1e-8


# Bennett's linkage: four axes, skew to each other, no plane and no common point

TWIST = np.radians([40.0, 75.0])
LENGTH = 0.8 * np.sin(TWIST) / np.sin(TWIST[0])  # a/sin α = b/sin β
INPUT = 1.1  # the first joint's angle at the start


def bennett_angles(first):
    """tan θ₁/2 · tan θ₂/2 = sin ((β + α)/2) / sin ((β − α)/2); θ₃ = −θ₁, θ₄ = −θ₂."""
    a, b = TWIST
    second = 2 * np.arctan(np.sin((b + a) / 2) / np.sin((b - a) / 2) / np.tan(first / 2))
    return first, second, -first, -second


def bennett_axes():
    """Places and directions of the four axes, by Denavit and Hartenberg's steps round the loop."""
    places, axes = [np.zeros(3)], [np.array([0, 0, 1.0])]
    place, turn = np.zeros(3), Rotation.identity()
    for angle, twist, length in zip(bennett_angles(INPUT), (*TWIST, *TWIST), (*LENGTH, *LENGTH), strict=True):
        turn = turn * Rotation.from_rotvec([0, 0, angle])
        place = place + turn.apply([length, 0, 0])
        turn = turn * Rotation.from_rotvec([twist, 0, 0])
        places.append(place)
        axes.append(turn.apply([0, 0, 1]))
    return places, axes


def bennett(minimal=False):
    """Three links between the four axes; the fourth link is the ground."""
    places, axes = bennett_axes()
    names = ("input", "coupler", "output")
    links = [spinning(**link(name, places[i], places[i + 1])) for i, name in enumerate(names)]
    links[0] = spinning(**link("input", places[0], places[1]), spin=2.0 * axes[0])
    kinds = (mb.Revolute, mb.Spherical, mb.Cylindrical, mb.Revolute) if minimal else (mb.Revolute,) * 4
    ends = [G, *links, G]
    joints = []
    for i, kind in enumerate(kinds):
        placed = {"at": places[i]} if kind is mb.Spherical else {"at": places[i], "axis": axes[i]}
        joints.append(kind(f"R{i + 1}", ends[i], ends[i + 1], **placed))
    return mb.Mechanism(links, joints, [mb.Gravity((0, 0, -9.81))], name="Bennett's linkage")


def test_bennetts_linkage_closes():
    places, axes = bennett_axes()
    assert np.abs(places[4] - places[0]).max() < 1e-14
    assert np.abs(axes[4] - axes[0]).max() < 1e-14
    triple = np.linalg.det(np.array(axes[:3]))
    assert abs(triple) > 0.1  # nothing planar about it


def test_the_verdict_on_bennetts_linkage():
    linkage = bennett()
    assert naive_count(linkage) == -2
    verdict = zw.diagnose(linkage.system, linkage.start)
    assert verdict.ok
    assert verdict.degrees_of_freedom == 1
    assert len(verdict.redundant) == 3
    assert all(others for others in verdict.redundant.values())
    assert "Redundant but consistent" in str(verdict)


def test_bennetts_linkage_moves_by_its_law_and_as_the_non_redundant_one():
    redundant, minimal, motion, other = pair(bennett, 1.0)
    assert naive_count(minimal) == 1
    assert not zw.diagnose(minimal.system, minimal.start).redundant
    assert apart(redundant, minimal, motion, other, ("input", "coupler", "output")) < 1e-9
    assert float(abs(motion.residual).max()) < 1e-12
    turned = redundant.coordinates(motion).angle.values
    assert np.ptp(turned[:, 0]) > 1  # it does move
    # A joint reads how far the link after it has turned against the one before; Bennett's angles go with it.
    angles = np.array(bennett_angles(INPUT)) + turned
    expected = np.array(bennett_angles(angles[:, 0])).T
    assert np.abs(np.sin((angles - expected) / 2)).max() < 1e-9
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-9
    found, truth = redundant.reactions(motion), minimal.reactions(other)
    assert not found.unique.any()
    assert truth.unique.all()


def test_shares_of_reactions_differ_but_the_whole_is_the_same():
    # What all joints together do to a link is unique, however they share it.
    redundant, minimal, motion, other = pair(bennett, 1.0)
    q = [f"coupler.{axis}" for axis in "xyz"]
    whole = [m.constraint_force.sel(coordinate=q).values for m in (motion, other)]
    assert np.abs(whole[0] - whole[1]).max() < 1e-8
    shares = [m.reactions(x).force.sel(joint="R2").values for m, x in ((redundant, motion), (minimal, other))]
    assert np.abs(shares[0] - shares[1]).max() > 0.1
