"""Contacts in model files: what a table says of a constraint, and its mistakes at their places."""

import pytest

import zwang as zw
from zwang.errors import ModelFileError
from zwang.files.read import read_model
from zwang.files.write import model_text

BLOCK = """
[parameters]
mu = 0.7

[coordinates]
x = {{ start = 0, rate = 2 }}
y = 0

[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*(x/2 + y)"

[constraints]
plane = {}

[run]
until = 1
impacts = "poisson"
"""
ROUGH = """{ rule = "y >= 0", restitution = 0.5, friction = ["mu", 0.5], slip = "x'" }"""


def block(plane):
    """A model with a contact."""
    return BLOCK.format(plane)


def test_a_table_says_the_law_of_a_contact():
    model = read_model(block(ROUGH))
    x, y = model.system.coordinates
    mu = model.system.symbols[0]
    law = {"restitution": 0.5, "friction": (mu, 0.5), "slip": zw.dot(x)}
    assert model.system.constraints[0] == zw.Constraint(y >= 0, "plane", **law)
    assert model.run.impacts == "poisson"
    assert model.simulate(samples=3)["mode"].values[-1, 0] == "sticking"


@pytest.mark.parametrize("plane", [ROUGH, '"y >= 0"', '{ rule = "y >= 0", restitution = "mu/2" }'])
def test_a_contact_is_written_as_it_was_read(plane):
    model = read_model(block(plane))
    again = read_model(model_text(zw.System(
        model.system.coordinates, kinetic=model.system.kinetic, potential=model.system.potential,
        constraints=model.system.constraints, parameters=model.system.parameters,
    )))  # fmt: skip
    assert again.system.constraints == model.system.constraints


@pytest.mark.parametrize(
    ("plane", "words"),
    [
        ("{ restitution = 0.5 }", "constraint 'plane' has no rule"),
        ('{ rule = "y >= 0", restitution = 1.2 }', "restitution is 1.2, but must be from 0 (plastic) to 1 (elastic)"),
        ('{ rule = "y >= 0", friction = 0.3 }', "friction needs the slip"),
        ("""{ rule = "y >= 0", friction = 0.3, slip = "x'^2" }""", "the slip x'**2 is not linear in the velocities"),
        ('{ rule = "y >= 0", restitution = "y" }', "'y' may not be used in a coefficient of a contact"),
        ('{ rule = "y >= 0", bounce = 1 }', "unknown key 'bounce' in 'plane'"),
        ('{ rule = "y = 0", restitution = 0.5 }', "restitution is for one-sided constraints"),
    ],
)
def test_a_mistake_is_told_at_its_place(plane, words):
    with pytest.raises(ModelFileError) as caught:
        read_model(block(plane))
    assert words in str(caught.value)


def test_steps_are_read_written_and_told_where_they_do_not_fit():
    text = BLOCK.format(ROUGH).replace('impacts = "poisson"', 'contacts = "steps"\nstep = 0.01')
    model = read_model(text)
    assert (model.run.contacts, model.run.step) == ("steps", 0.01)
    assert 'contacts = "steps"' in model_text(model)
    assert "step = 0.01" in model_text(model)
    assert model.simulate().attrs["steps"] == 100
    for wrong, words in (
        ('contacts = "steps"', "steps need their length"),
        ("step = 0.01", "a step is for contacts that are followed by steps"),
        ('contacts = "steps"\nstep = 0', "must be positive"),
        ('contacts = "leaps"', "leaps"),
    ):
        with pytest.raises(ModelFileError, match=words):
            read_model(BLOCK.format(ROUGH).replace('impacts = "poisson"', wrong))
