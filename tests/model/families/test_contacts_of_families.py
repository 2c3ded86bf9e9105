"""Contacts of systems with arrays of coordinates are held to what those of single coordinates are held to."""

import pytest

import zwang as zw
from zwang import dot
from zwang.errors import InputError, ModelError

COUNT = 3
x = zw.coordinates("x", shape=(COUNT, 2))
a = zw.coordinates("a", shape=2)
b, c = zw.coordinates("b c")
first, height = x[0, 0], x[0, 1]
mu = zw.parameters("mu")
stranger = zw.coordinates("stranger")

MISTAKES = {
    "a gap that is a square": ({"floor": zw.Constraint(height**2 >= 0)}, "cannot be negative, so it limits nothing"),
    "a limit of velocities that bounces": (
        {"floor": zw.Constraint(dot(height) >= 0, restitution=0.5)},
        "limits velocities and has restitution",
    ),
    "a slip without a velocity": (
        {"floor": zw.Constraint(height >= 0, friction=0.3, slip=first)},
        r"the slip .* contains no velocity",
    ),
    "a slip that is a square": (
        {"floor": zw.Constraint(height >= 0, friction=0.3, slip=dot(first) ** 2)},
        r"the slip .* is not linear in the velocities",
    ),
    "a slip of something else": (
        {"floor": zw.Constraint(height >= 0, friction=0.3, slip=dot(stranger))},
        "stranger",
    ),
    "limits that exclude each other": (
        {"floor": zw.Constraint(height >= 1), "ceiling": zw.Constraint(-height >= 0)},
        "exclude each other",
    ),
    "a family of gaps that are squares": (
        {"floor": zw.family(b**2 >= 0, {b: x[:, 1]})},
        "cannot be negative, so it limits nothing",
    ),
    "families that exclude each other": (
        {"floor": zw.family(b - 1 >= 0, {b: x[:, 1]}), "ceiling": zw.family(-c >= 0, {c: x[:, 1]})},
        "exclude each other",
    ),
}


def balls(constraints):
    """Balls in the plane."""
    kinetic = zw.family((dot(a) ** 2).sum() / 2, {a: x})
    return zw.System(x, kinetic=kinetic, potential=zw.family(10 * b, {b: x[:, 1]}), constraints=constraints)


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_in_a_contact_is_told_by_name(what):
    constraints, words = MISTAKES[what]
    with pytest.raises(ModelError, match=words) as caught:
        balls(constraints)
    assert "floor" in str(caught.value) or "ceiling" in str(caught.value)


def test_contacts_that_are_right_are_taken():
    law = {"restitution": 0.5, "friction": mu, "slip": dot(first) - 1}
    system = balls({"floor": zw.Constraint(height >= 0, **law), "others": zw.family(b >= 0, {b: x[1:, 1]})})
    assert system.constraint_names == ("floor", "others[0]", "others[1]")


@pytest.mark.parametrize("arrays", [True, False])
def test_a_belt_whose_speed_is_a_table_draws_a_block_along_and_back(arrays):
    belt = zw.coordinates("belt")
    turns = zw.Signal([0, 0.5, 0.6, 2], [1, 1, -1, -1])
    if arrays:
        along, q = first, x
        kinetic, potential = zw.family((dot(a) ** 2).sum() / 2, {a: x}), zw.family(10 * b, {b: x[:, 1]})
        rest = {r: 0 for f in x.ravel() for r in (f, dot(f))}
        gap = height
    else:
        along, gap = q = b, c
        kinetic, potential, rest = (dot(b) ** 2 + dot(c) ** 2) / 2, 10 * c, dict.fromkeys((b, c, dot(b), dot(c)), 0)
    floor = zw.Constraint(gap >= 0, "floor", friction=0.5, slip=dot(along) - belt, restitution=0)
    values = {belt: turns}
    system = zw.System(q, kinetic=kinetic, potential=potential, constraints=[floor], parameters=values)
    motion = zw.simulate(system, rest, until=0.7, samples=3)
    # drawn along with 5 m/s² until it has the belt's speed 1 at t = 0.2; the belt slows with 20 m/s² from 0.5 on
    assert motion.v.values[-1, 0] == pytest.approx(1 - 5 * 0.2, abs=1e-9)
    assert motion["mode"].values[-1, 0] == "sliding"


def test_a_belt_whose_speed_jumps_is_refused():
    belt = zw.coordinates("belt")
    jumps = zw.Signal([0, 0.5], [1, 1], outside="zero")
    floor = zw.Constraint(c >= 0, "floor", friction=0.5, slip=dot(b) - belt, restitution=0)
    kinetic = (dot(b) ** 2 + dot(c) ** 2) / 2
    system = zw.System((b, c), kinetic=kinetic, potential=10 * c, constraints=[floor], parameters={belt: jumps})
    with pytest.raises(InputError, match="belt"):
        zw.simulate(system, dict.fromkeys((b, c, dot(b), dot(c)), 0), until=0.7)
