"""A system: one normal form, whatever way it was written; frozen, hashable, picklable."""

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import zwang as zw
from zwang import dot

t = zw.t
x, y = zw.coordinates("x y")
m, g, L, k = zw.parameters("m g L k")
alpha = sp.Function("alpha")(t)


def pendulum(**change):
    given = {
        "kinetic": m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        "potential": m * g * y,
        "constraints": {"rod": x**2 + y**2 - L**2},
        "parameters": {m: 1, g: 9.81, L: 2},
        "name": "pendulum",
    }
    return zw.System((x, y), **(given | change))


def test_every_way_of_writing_gives_one_normal_form():
    rod = zw.Constraint(x**2 + y**2 - L**2, "rod")
    for constraints in ({"rod": sp.Eq(x**2 + y**2, L**2)}, [rod], rod, {"rod": zw.Constraint(rod.expression, "other")}):
        assert pendulum(constraints=constraints) == pendulum()
    forces = [pendulum(forces=f) for f in ({y: -k * dot(y)}, [0, -k * dot(y)], sp.Matrix([0, -k * dot(y)]))]
    assert forces[0] == forces[1] == forces[2]
    assert zw.System(sp.Matrix([x, y]), mass=sp.eye(2)) == zw.System([x, y], mass=[[1, 0], [0, 1]])
    assert zw.System(x, mass=[[1]]).coordinates == (x,)


def test_constraints_without_names_are_numbered():
    system = zw.System((x, y), mass=sp.eye(2), constraints=[x - y, zw.Constraint(x, "wall"), dot(y)])
    assert system.constraint_names == ("constraint 1", "wall", "constraint 3")


def test_names_symbols_and_inputs():
    system = pendulum(forces={x: k * alpha}, parameters={m: 1, alpha: sp.sin(k * t), g: None})
    assert system.coordinate_names == ("x", "y")
    assert system.velocities == (dot(x), dot(y))
    assert system.symbols == (L, g, k, m)
    assert system.inputs == {alpha: sp.sin(k * t)}
    assert zw.System((x,), mass=[[1]], forces=[alpha], parameters={alpha: k * t}).symbols == (k,)


def test_equal_systems_are_equal_and_hash_alike():
    assert pendulum() == pendulum()
    assert hash(pendulum()) == hash(pendulum())
    assert pendulum() != pendulum(parameters={m: 2, g: 9.81, L: 2})
    assert pendulum() != pendulum(name="other")
    assert pendulum(name="other", parameters={}).structure == pendulum().structure
    assert pendulum(potential=0).structure != pendulum().structure
    assert {pendulum(): 1}[pendulum()] == 1


def test_systems_and_constraints_are_frozen():
    system = pendulum()
    with pytest.raises(FrozenInstanceError):
        system.kinetic = 0
    with pytest.raises(FrozenInstanceError):
        system.constraints[0].name = "other"
    with pytest.raises(TypeError):
        system.parameters[m] = 2


def test_a_system_does_not_follow_later_changes_of_what_it_was_made_from():
    values, coordinates = {m: 1, g: 9.81, L: 2}, [x, y]
    system = zw.System(coordinates, kinetic=m * (dot(x) ** 2 + dot(y) ** 2), parameters=values)
    values[m], coordinates[0] = 7, None
    assert system.parameters[m] == 1
    assert system.coordinates == (x, y)


def test_copies_and_pickles_are_equal():
    system = pendulum(parameters={m: 1, alpha: sp.sin(t)})
    assert system.symbols
    assert system.constraints[0].kinds  # caches must not get in the way
    for twin in (copy.copy(system), copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert twin == system
        assert hash(twin) == hash(system)
        assert zw.derive(twin).acceleration() == zw.derive(system).acceleration()


def test_a_pickle_opens_in_another_process():
    code = (
        "import pickle, sys, zwang as zw\n"
        "system = pickle.load(sys.stdin.buffer)\n"
        "x, y = system.coordinates\n"
        "state = {x: 0, y: -2, zw.dot(x): 1, zw.dot(y): 0}\n"
        "print(zw.evaluate(system, state).acceleration.tolist())"
    )
    run = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(pendulum()), capture_output=True, check=True)
    assert run.stdout.split() == [b"[0.0,", b"0.5]"]


def test_a_sympy_users_own_symbols_work_as_they_are():
    q, length, mass = dynamicsymbols("q"), sp.Symbol("l", positive=True), sp.Symbol("m", positive=True)
    own = zw.System([q], kinetic=mass * length**2 * q.diff() ** 2 / 2, potential=-mass * 10 * length * sp.cos(q))
    assert zw.derive(own).acceleration()[0] == -10 * sp.sin(q) / length
