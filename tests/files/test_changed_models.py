"""Models that were read and then changed: what somebody changed stays, whatever values parameters are given."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import zwang as zw
from zwang.errors import InputError
from zwang.files.read import read_model
from zwang.files.robots import load_robot

SWING = """
[parameters]
L = 1.0
[bodies.rod]
kind = "planar"
mass = 3.0
inertia = 1.0
position = ["L", 0.0]
[joints.pin]
kind = "revolute"
second = "rod"
at = [0, 0]
[gravity]
acceleration = [0, -10]
[events]
low = { when = "rod.angle = -0.5", stop = true }
[run]
until = 0.9
samples = 3
"""


def test_events_that_were_taken_out_stay_out_with_another_value_of_a_place():
    model = read_model(SWING)
    free = replace(model, events=())
    assert model.simulate(parameters={"L": 2.0}).attrs["status"] == "event"
    motion = free.simulate(parameters={"L": 2.0})
    assert motion.attrs["status"] == "finished"
    assert float(motion.q.sel(coordinate="rod.x")[0]) == 2.0  # the place has followed
    renamed = replace(model, description="mine", units=replace(model.units, energy="kJ"))
    again = renamed.with_parameters({"L": 2.0})
    assert (again.description, again.units.energy) == ("mine", "kJ")


@pytest.mark.parametrize("through", [lambda it: it, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_start_that_is_given_takes_the_place_of_the_bodies(through):
    model = through(read_model(SWING))
    assert model.is_assembled
    start = dict(model.mechanism.start)
    turned = np.pi / 6
    x, y, a = model.system.coordinates
    start |= {x: np.cos(turned), y: np.sin(turned), a: turned}
    moved = replace(model, start=start)
    assert moved.state() == start
    motion = moved.simulate(until=0.1)
    assert float(motion.q.sel(coordinate="rod.angle")[0]) == pytest.approx(turned)
    with pytest.raises(InputError, match=r"does not satisfy its constraints: 'pin.x'"):
        replace(model, start=start | {x: 5.0}).simulate(until=0.1)


ROW = """
[counts]
N = 40
[parameters]
k = "?"
[coordinates]
x = { for = "i = 1:N", start = "0.1*i" }
[energy]
kinetic = { for = "i = 1:N", sum = "x[i]'^2/2" }
potential = { for = "i = 1:N", sum = "k*x[i]^2/2" }
"""


def test_a_value_for_a_missing_parameter_leaves_families_as_they_are():
    model = read_model(ROW)
    assert model.system.families is not None
    assert model.with_parameters({"k": 2.0}).system.families is model.system.families
    assert zw.evaluate(model, parameters={"k": 2.0}).acceleration[0] == pytest.approx(-0.2)


ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 -0.4"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hip" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="knee" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -1"/>
<axis xyz="0 1 0"/></joint></robot>"""


def test_a_robot_is_saved_where_it_stands_and_as_fast_as_it_moves(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    robot = load_robot(path, readings={"hip": 0.5, "knee": -0.2}, rates={"hip": 1.0, "knee": 0.25})
    again = zw.load_model(zw.save_model(robot, tmp_path / "arm.toml"))
    start, back = robot.state(), again.state()
    for key, value in start.items():
        assert back[key] == pytest.approx(value, abs=1e-14)
    motions = [it.simulate(until=0.5, samples=3) for it in (robot, again)]
    np.testing.assert_allclose(motions[0].q, motions[1].q, atol=1e-10)


def test_a_replaced_start_of_bodies_is_saved(tmp_path):
    model = read_model(SWING)
    x, y, a = model.system.coordinates
    start = dict(model.state()) | {x: 0.0, y: 1.0, a: np.pi / 2, zw.dot(a): 3.0, zw.dot(x): -3.0}
    again = zw.load_model(zw.save_model(replace(model, start=start), tmp_path / "m.toml"))
    for key, value in start.items():
        assert again.state()[key] == pytest.approx(value, abs=1e-14)
    twice = zw.load_model(zw.save_model(replace(again, description="mine"), tmp_path / "n.toml"))
    for key, value in start.items():
        assert twice.state()[key] == pytest.approx(value, abs=1e-14)


def test_a_start_by_coordinates_is_kept_and_the_rest_follows():
    model = read_model(SWING + """[start]\n"rod.angle'" = 2.0\n""")
    assert list(model.state().values()) == pytest.approx([1, 0, 0, 0, 2, 2], abs=1e-14)
    with pytest.raises(zw.errors.ModelFileError, match=r"'rod.angel' is not a coordinate or rate"):
        read_model(SWING + """[start]\n"rod.angel" = 2.0\n""")
    with pytest.raises(zw.errors.ModelFileError, match=r"rod.x' \(1\) cannot be kept together with 'pin.x'"):
        read_model(SWING + """[start]\n"rod.x'" = 1.0\n""")
