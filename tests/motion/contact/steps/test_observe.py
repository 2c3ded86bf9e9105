"""What the dataset says of a motion in steps."""

import numpy as np

import zwang as zw
from tests.references import contact
from zwang import dot

x, y = zw.coordinates("x y")


def test_the_dataset_is_that_of_events_with_what_steps_have_to_say():
    system, start = contact.incline(0.7)
    by_events = zw.simulate(system, start, 1.0, samples=11)
    by_steps = zw.simulate(system, start, 1.0, samples=11, contacts="steps", step=1e-3)
    by_contact = {"friction_work", "surface_work", "other_work"}  # steps know the work of all contacts together
    assert {*by_steps.data_vars} == {*by_events.data_vars} - by_contact
    assert all(by_steps[name].dims == by_events[name].dims for name in by_steps.data_vars)
    assert by_steps.attrs["contacts"] == "steps"
    assert by_steps.attrs["step"] == 1e-3
    assert by_steps.attrs["method"] == "moreau-jean"
    assert by_steps.attrs["penetration"] >= 0
    assert by_steps.attrs["contact_residual"] < 1e-10
    assert "1,000 steps" in by_steps.attrs["message"]


def test_forces_add_up_to_mass_times_acceleration():
    system, start = contact.incline(0.7)
    motion = zw.simulate(system, start, 1.0, samples=11, contacts="steps", step=1e-3)
    assert np.allclose(motion.a, motion.force + motion.constraint_force, atol=1e-9)
    assert np.allclose(motion.constraint_force, motion.ideal_force + motion.nonideal_force)
    assert np.allclose(motion.nonideal_force.sel(coordinate="x"), motion.friction_force.sel(contact="plane"))
    assert np.allclose(motion.gaussian, (motion.constraint_force**2).sum("coordinate") / 2)


def test_a_table_on_four_legs_says_that_its_forces_are_not_unique():
    a, b = zw.coordinates("a b")
    legs = [zw.Constraint(y + i * a + j * b >= 0, f"leg{i}{j}") for i in (-1, 1) for j in (-1, 1)]
    kinetic = (dot(y) ** 2 + dot(a) ** 2 / 3 + dot(b) ** 2 / 3) / 2
    table = zw.System((y, a, b), kinetic=kinetic, potential=9.81 * y, constraints=legs)
    start = dict.fromkeys((y, a, b, dot(y), dot(a), dot(b)), 0)
    motion = zw.simulate(table, start, 0.1, contacts="steps", step=1e-2)
    assert not motion.unique.values.any()
    assert (motion["rank"].values == 3).all()
    assert np.allclose(motion.normal_force.sum("contact"), 9.81)
    assert np.allclose(motion.q, 0, atol=1e-15)


def test_some_outputs_can_be_asked_for():
    motion = zw.simulate(*contact.ball(0.5), 1.0, contacts="steps", step=1e-2, outputs=("q", "v"))
    assert "kinetic" not in motion
    assert "gap" in motion
