"""Mechanisms: starts that are put together, results by name, and growth with the number of bodies."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.errors import AssemblyError, InputError, ModelError

G = mb.ground


def slider_crank(rough=0.0):
    """A crank of 1, a rod of 2 and a slider; all places wrong by something like `rough`."""
    crank = mb.PlanarBody("crank", 1, 0.1, position=(rough, 0.5 + rough), angle=np.pi / 2 + rough, spin=-1)
    rod = mb.PlanarBody("rod", 1, 0.3, position=(np.sqrt(0.75), 0.5 - rough), angle=-np.pi / 6)
    slider = mb.PlanarBody("slider", 1, 0.1, position=(np.sqrt(3) + rough, 0))
    joints = [
        mb.Revolute("pin", G, crank, at=((0, 0), (-0.5, 0))),
        mb.Revolute("knee", crank, rod, at=((0.5, 0), (-1, 0))),
        mb.Revolute("wrist", rod, slider, at=((1, 0), (0, 0))),
        mb.Prismatic("slide", G, slider, at=((0, 0), (0, 0)), axis=((1, 0), (1, 0))),
    ]
    return mb.Mechanism([crank, rod, slider], joints, [mb.Gravity((0, -9.81))], name="slider-crank")


# Starts


@pytest.mark.parametrize("rough", [0.0, 0.05, 0.2])
def test_rough_starts_are_put_together(rough):
    machine = slider_crank(rough)
    verdict = zw.diagnose(machine.system, machine.start)
    assert verdict.ok
    assert verdict.degrees_of_freedom == 1
    worst = max(np.nanmax(np.abs(pair)) for pair in verdict.residuals.values())
    assert worst < 1e-14
    moved = max(abs(machine.start[q] - machine.guess[q]) for q in machine.system.coordinates)
    assert moved < 3 * rough + 1e-15


def test_a_loop_that_cannot_close_is_refused():
    first = mb.PlanarBody("first", 1, 0.1, position=(0.5, 0))
    second = mb.PlanarBody("second", 1, 0.1, position=(1.5, 0))
    joints = [
        mb.Revolute("A", G, first, at=((0, 0), (-0.5, 0))),
        mb.Revolute("B", first, second, at=((0.5, 0), (-0.5, 0))),
        mb.Revolute("C", second, G, at=((0.5, 0), (3, 0))),  # two bars of 1 do not reach
    ]
    with pytest.raises(AssemblyError, match=r"the mechanism cannot be put together as described: .*C"):
        mb.Mechanism([first, second], joints).start  # noqa: B018


def test_what_assembly_leaves_of_zeros_is_zero():
    """A zero of the description stays one; what is described as small stays as it is."""
    small = [value for value in slider_crank().start.values() if 0 < abs(value) < 1e-15]
    assert not small
    far, near = mb.Particle("far", 1, position=(1e3, 0)), mb.Particle("near", 1, position=(0, 1e-15))
    start = mb.Mechanism([far, near], [mb.Rod("rod", G, far, start=(0, 0), end=(1e3, 0))]).start
    assert start[near.coordinates[1]] == 1e-15


@pytest.mark.parametrize("turn", [0.2, 1.0, np.pi])
def test_a_weld_holds_its_orientation_and_none_half_a_turn_off(turn):
    a, b = (
        mb.Body("a", 1, (1, 1, 1), orientation=(1, 0, 0, 0)),
        mb.Body("b", 1, (1, 1, 1), orientation=(np.cos(turn / 2), 0, 0, np.sin(turn / 2))),
    )
    weld = mb.Fixed("weld", a, b, at=((0, 0, 0), (0, 0, 0)), orientation=(1, 0, 0, 0))
    mechanism = mb.Mechanism([a, b], [weld])
    if turn > 2:
        with pytest.raises(AssemblyError, match=r"joint 'weld': .* half a turn off: describe them nearer"):
            mechanism.start  # noqa: B018
        return
    one, two = ([mechanism.start[q] for q in body.coordinates[3:]] for body in (a, b))
    assert np.allclose(one, two, rtol=0, atol=1e-14)
    assert np.allclose(one, (np.cos(turn / 4), 0, 0, np.sin(turn / 4)), rtol=0, atol=1e-14)  # both give way


# Results


def test_the_loop_moves_as_its_geometry_says():
    machine = slider_crank()
    motion = zw.simulate(machine.system, machine.start, 2.0, samples=41, tol=1e-13, method="native")
    angle = np.pi / 2 + machine.coordinates(motion).angle.sel(joint="pin").values
    place = np.cos(angle) + np.sqrt(4 - np.sin(angle) ** 2)
    assert np.abs(machine.coordinates(motion).travel.sel(joint="slide") - (place - place[0])).max() < 1e-11
    assert np.abs(machine.track(motion, "slider").values - np.column_stack([place, 0 * place])).max() < 1e-11
    assert np.isnan(machine.coordinates(motion).travel.sel(joint="pin")).all()


def test_the_reaction_of_a_pendulum():
    # From the horizontal: along the rod 5/2 m g sin a, across it m g cos a/4 (a uniform rod of length 1).
    rod = mb.Body("rod", 3, mb.inertia.rod(3, 1), position=(0.5, 0, 0))
    pin = mb.Revolute("pin", G, rod, at=(0, 0, 0), axis=(0, -1, 0))
    swinging = mb.Mechanism([rod], [pin], [mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(swinging.system, swinging.start, 2.0, samples=41, tol=1e-13, method="native")
    a = -swinging.coordinates(motion).angle.values[:, 0]
    found = swinging.reactions(motion)
    along, across = np.array([np.cos(a), 0 * a, -np.sin(a)]).T, np.array([np.sin(a), 0 * a, np.cos(a)]).T
    weight = 3 * 9.81
    exact = -2.5 * weight * np.sin(a)[:, None] * along + weight / 4 * np.cos(a)[:, None] * across
    assert np.abs(found.force.values[:, 0] - exact).max() < 1e-10
    assert np.abs(found.moment.values).max() < 1e-10
    assert found.unique.all()
    assert found.attrs["frame"] == "world"


def test_parameters_are_those_of_the_motion():
    m, g = zw.parameters("m g")
    bob = mb.Particle("bob", m, position=(0, -1))
    hanging = mb.Mechanism([bob], [mb.Rod("rod", G, bob, start=(0, 0), end=(0, -1))], [mb.Gravity((0, -g))],
                           parameters={m: 2.0, g: 10.0})  # fmt: skip
    for values, weight in (({}, 20.0), ({m: 3.0}, 30.0)):
        motion = zw.simulate(hanging.system, hanging.start, 1.0, samples=3, parameters=values)
        assert np.abs(hanging.reactions(motion).force.values[:, 0] - [0, weight, 0]).max() < 1e-12
        assert np.abs(hanging.energies(motion).potential.values + weight).max() < 1e-12


def test_names_that_do_not_exist():
    machine = slider_crank()
    motion = zw.simulate(machine.system, machine.start, 0.1, samples=2)
    with pytest.raises(InputError, match=r"track: there is no body 'cranc'.*crank"):
        machine.track(motion, "cranc")
    with pytest.raises(InputError, match=r"track 'crank': point: \(1, 0, 0\) is not a vector: give 2"):
        machine.track(motion, "crank", (1, 0, 0))
    with pytest.raises(InputError, match="frame='body' is unknown: choose 'world' or 'joint'"):
        machine.reactions(motion, frame="body")
    with pytest.raises(InputError, match="force element 'gravity': acceleration: 'down' is not a vector"):
        mb.Gravity("down")
    with pytest.raises(ModelError, match="joints: 'pin' is not a joint"):
        mb.Mechanism([machine.bodies[0]], ["pin"])
    with pytest.raises(ModelError, match="forces: 'gravity' is not a force element"):
        mb.Mechanism([machine.bodies[0]], forces=["gravity"])


def test_names_appear_everywhere():
    machine = slider_crank()
    assert machine.system.name == "slider-crank"
    assert machine.system.coordinate_names[:3] == ("crank.x", "crank.y", "crank.angle")
    assert machine.system.constraint_names == (
        "pin.x", "pin.y", "knee.x", "knee.y", "wrist.x", "wrist.y", "slide.side", "slide.turn",
    )  # fmt: skip
    assert machine.rows["slide"] == ("slide.side", "slide.turn")
    drawn = [shape.name for shape in machine.drawing.shapes]
    assert {"pin", "knee", "wrist", "slide"} <= set(drawn)
    slide = next(shape for shape in machine.drawing.shapes if shape.name == "slide")
    assert slide.points == (machine.bodies[2].point((0, 0)),)  # drawn where the slider is, not where it began


# Size


def chain(count):
    """A chain of bodies in space on revolute joints whose axes alternate."""
    bodies = [mb.Body(f"b{i}", 1, (0.01, 0.08, 0.08), position=(i + 0.5, 0, 0)) for i in range(count)]
    before = [G, *bodies]
    joints = [
        mb.Revolute(f"j{i}", before[i], b, at=(i, 0, 0), axis=(0, 1, 0) if i % 2 else (0, 0, 1))
        for i, b in enumerate(bodies)
    ]
    springs = [mb.JointSpring(f"s{i}", j, stiffness=1, damping=0.1) for i, j in enumerate(joints)]
    return mb.Mechanism(bodies, joints, [mb.Gravity((0, 0, -9.81)), *springs])


def test_expressions_grow_with_the_number_of_bodies_and_no_faster():
    sizes = []
    for count in (3, 6, 12):
        system = chain(count).system
        sizes.append(sum(sp.count_ops(e) for e in system.expressions.values()))
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.01)


@pytest.mark.parametrize("kind", ["Revolute", "Cylindrical", "Screw", "Planar", "Prismatic"])
@pytest.mark.parametrize("off", [0.0, 60.0, 80.0, 100.0, 150.0])
def test_axes_meet_as_described_or_the_joint_is_named(kind, off):
    """Both axes are z, the body is described turned away about x: no start has them opposite."""
    half = np.radians(off) / 2
    body = mb.Body("b", 1.0, (0.1, 0.2, 0.25), orientation=(np.cos(half), np.sin(half), 0, 0))
    z = ((0, 0, 1), (0, 0, 1))
    more = {"Planar": {"normal": z}, "Screw": {"axis": z, "pitch": 0.1}}.get(kind, {"axis": z})
    joint = getattr(mb, kind)("hold", mb.ground, body, at=((0, 0, 0), (0, 0, 0)), **more)
    mechanism = mb.Mechanism([body], [joint])
    if off > 90:
        with pytest.raises(AssemblyError, match=r"joint 'hold': .* half a turn off: describe them nearer"):
            _ = mechanism.start
    else:
        assert abs(float(body.direction((0, 0, 1))[2].xreplace(mechanism.start)) - 1) < 1e-12
