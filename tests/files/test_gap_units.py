"""The unit of a gap: told where it is sure, by name and at its place, and never guessed."""

import pytest

from zwang.errors import ModelFileError
from zwang.files.read import read_model

ARM = """
[parameters]
L = 0.5

[coordinates]
x = {{ start = 0, unit = "m" }}
y = {{ start = 1, unit = "m" }}
a = {{ start = 1, unit = "{unit}" }}

[energy]
kinetic = "(x'^2 + y'^2 + a'^2)/2"

[constraints]
stop = {{ rule = "{rule}"{law} }}

[run]
until = 1
"""
ROUGH = """, friction = 0.3, slip = "x'" """


def arm(rule, law=ROUGH, unit="rad"):
    """A model whose gap may be an angle."""
    return ARM.format(rule=rule, law=law, unit=unit)


@pytest.mark.parametrize(
    ("rule", "unit", "term"),
    [
        ("a >= 0", "rad", "a is in rad"),
        ("2 >= a", "deg", "a is in deg"),
        ("a = 1", "rad", "a is in rad"),
        ("x^2 + y^2 >= L^2", "rad", "x^2 is in m^2"),
        ("x*y >= 0", "rad", "x*y is in m^2"),
    ],
)
def test_friction_on_a_gap_that_is_no_length_is_told_with_the_remedy(rule, unit, term):
    with pytest.raises(ModelFileError) as caught:
        read_model(arm(rule, unit=unit))
    assert f"the gap of 'stop' is not a length, {term}: friction needs a force" in str(caught.value)
    assert "give the gap as a length" in str(caught.value)
    assert "<model>:14:17" in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "law", "unit"),
    [
        ("y >= 0", ROUGH, "rad"),
        ("L*a >= 0", ROUGH, "rad"),  # a parameter may be a length
        ("0.2*a >= 0", ROUGH, "rad"),  # so may a number
        ("x*a >= 0", ROUGH, "rad"),
        ("sqrt(x^2 + y^2) >= L", ROUGH, "rad"),
        ("a >= 0", ROUGH, "turns"),  # a label that is not known tells nothing
        ("a >= 0", ", restitution = 0.5", "rad"),  # an impact needs no force
    ],
)
def test_what_may_be_a_length_is_taken(rule, law, unit):
    assert read_model(arm(rule, law, unit)).system.constraint_names == ("stop",)
