"""Rates of joints that a loop connects: those that are given are kept, the others have the least kinetic energy."""

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.errors import AssemblyError
from zwang.files.robots import load_robot
from zwang.multibody import read_mjcf

# Two cranks 1 apart and two rods between them, a loop of two freedoms; every link has mass 2 and inertia 0.1.
FIVE_BAR = """<mujoco><worldbody>
<body name="left"><joint name="a" type="hinge" axis="0 1 0"/>{link}
  <body name="over" pos="0 0 {l}"><joint name="b" type="hinge" axis="0 1 0"/>{rod}</body></body>
<body name="right" pos="{l} 0 0"><joint name="c" type="hinge" axis="0 1 0"/>{link}
  <body name="back" pos="0 0 {l}"><joint name="d" type="hinge" axis="0 1 0"/>{back}</body></body>
</worldbody><equality><connect name="tip" body1="over" body2="back" anchor="{half} 0 {half}"/></equality></mujoco>"""


def five_bar(folder, length=1.0):
    """The file, with lengths in other units."""
    inertia, half = 0.1 * length**2, length / 2
    one = '<inertial pos="{} 0 {}" mass="2" diaginertia="{i} {i} {i}"/>'
    parts = {key: one.format(x, z, i=inertia) for key, x, z in
             (("link", 0, half), ("rod", half / 2, half / 2), ("back", -half / 2, half / 2))}  # fmt: skip
    path = folder / "five_bar.xml"
    path.write_text(FIVE_BAR.format(l=length, half=half, **parts))
    return path


def kinetic(robot, start, length):
    """From speeds of centres of mass and angular velocities about y."""
    total = 0.0
    for body in robot.mechanism.movable:
        v = [start[dot(q)] for q in body.coordinates[:3]]
        u, du = (np.array([start[f(q)] for q in body.coordinates[3:]]) for f in (lambda q: q, dot))
        omega = 2 * (u[0] * du[1:] - du[0] * u[1:] + np.cross(u[1:], du[1:]))
        total += np.dot(v, v) + 0.05 * length**2 * omega @ omega
    return total


def rate(robot, start, body):
    """The angular velocity about y of a body that stands as in the file."""
    return 2 * start[dot(next(b for b in robot.mechanism.movable if b.name == body).coordinates[5])]


@pytest.mark.parametrize("length", [1.0, 1000.0, 1e-3])
def test_what_a_loop_leaves_free_moves_with_the_least_kinetic_energy(tmp_path, length):
    robot = read_mjcf(five_bar(tmp_path, length))
    least = robot.start(rates={"a": 1.0})
    assert rate(robot, least, "left") == pytest.approx(1, rel=1e-12)
    b = rate(robot, least, "over") - 1
    sizes = [kinetic(robot, robot.start(rates={"a": 1.0, "b": b + x}), length) for x in (-0.1, 0.0, 0.1)]
    assert sizes[1] == pytest.approx(kinetic(robot, least, length), rel=1e-12)
    assert sizes[0] == pytest.approx(sizes[2], rel=1e-10)  # the top of a parabola
    assert sizes[0] > 1.001 * sizes[1]


def test_rates_that_contradict_each_other_are_refused_by_name(tmp_path):
    path = five_bar(tmp_path)
    words = r"a' \(1\), b' \(0\) and c' \(0\) cannot be kept together with 'tip.x' and 'tip.z'"
    with pytest.raises(AssemblyError, match=words):
        read_mjcf(path).start(rates={"a": 1.0, "b": 0.0, "c": 0.0})
    with pytest.raises(zw.errors.ZwangError, match=words):
        load_robot(path, rates={"a": 1.0, "b": 0.0, "c": 0.0})
