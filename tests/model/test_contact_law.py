"""The law of a contact as it is described: one form for all ways of writing it, and each mistake with its own words."""

import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError, ModelError

x, y = zw.coordinates("x y")
g, e, mu = zw.parameters("g e mu")


def system(*constraints):
    return zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=g * y, constraints=list(constraints))


def test_a_limit_is_plastic_and_smooth_unless_it_says_otherwise():
    floor = zw.Constraint(y >= 0, "floor")
    assert (floor.restitution, floor.friction, floor.slip) == (0, (), ())


def test_a_restitution_of_zero_is_none_whatever_kind_of_number_it_is():
    ratchet = zw.Constraint(dot(x) >= 0, "ratchet", restitution=0.0)  # limits of velocities have none
    assert system(ratchet).constraints[0].restitution == 0
    assert zw.Constraint(sp.Eq(y, 0), "rail", restitution=0.0).restitution == 0


def test_one_coefficient_of_friction_is_that_of_sticking_and_of_sliding():
    one = zw.Constraint(y >= 0, "floor", friction=0.3, slip=dot(x))
    two = zw.Constraint(y >= 0, "floor", friction=(0.3, 0.3), slip=[dot(x)])
    assert one == two


def test_coefficients_may_be_parameters_and_belong_to_the_system():
    made = system(zw.Constraint(y >= 0, "floor", restitution=e**2, friction=mu, slip=dot(x) - 1))
    assert made.symbols == (e, g, mu)


def test_systems_with_other_laws_have_other_structures():
    made = [system(zw.Constraint(y >= 0, "floor", restitution=r)) for r in (0, 0.5, e)]
    assert len({s.structure for s in made}) == 3


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"restitution": 1.2}, "restitution is 1.2, but must be from 0 (plastic) to 1 (elastic)"),
        ({"restitution": -sp.Rational(1, 2)}, "restitution is -0.5"),
        ({"restitution": y}, "restitution contains y(t): a number, or an expression in parameters, is meant"),
        ({"restitution": zw.t}, "restitution contains t"),
        ({"friction": -0.2, "slip": dot(x)}, "friction is -0.2, but a coefficient of friction is not negative"),
        ({"friction": (0.2, 0.4), "slip": dot(x)}, "the friction of sliding, 0.4, is above that of sticking, 0.2"),
        ({"friction": (0.1, 0.2, 0.3), "slip": dot(x)}, "friction has 3 coefficients: give one, or two"),
        ({"friction": 0.2}, "friction needs the slip, the speed at which the surfaces rub"),
        ({"slip": dot(x)}, "slip is given without friction"),
        ({"friction": 0.2, "slip": (dot(x), -dot(x))}, "two directions across each other are meant"),
        ({"friction": 0.2, "slip": (dot(x),) * 3}, "slip has 3 speeds: one in the plane, or two in space"),
        ({"friction": 0.2, "slip": "x'"}, "is text, not an expression"),
    ],
)
def test_a_wrong_law_is_refused_by_the_name_of_its_constraint(law, words):
    with pytest.raises(InputError, match="constraint 'floor': ") as caught:
        zw.Constraint(y >= 0, "floor", **law)
    assert words in str(caught.value)


def test_an_equality_has_no_restitution():
    with pytest.raises(InputError, match="restitution is for one-sided constraints"):
        zw.Constraint(sp.Eq(y, 0), "rail", restitution=0.5)


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (dot(x) ** 2, "the slip Derivative(x(t), t)**2 is not linear in the velocities"),
        (sp.Abs(dot(x)), "is not linear in the velocities"),
        (x, "the slip x(t) contains no velocity"),
        (dot(dot(x)), "constraint 'floor', slip: contains Derivative(x(t), (t, 2))"),
    ],
)
def test_a_slip_is_a_speed(slip, words):
    with pytest.raises(ModelError) as caught:
        system(zw.Constraint(y >= 0, "floor", friction=0.3, slip=slip))
    assert words in str(caught.value)


@pytest.mark.parametrize("gap", [x**2, sp.Abs(x), sp.sqrt(x**2 + y**2), (x - 1) ** 2 + y**4])
def test_a_gap_that_cannot_be_negative_limits_nothing(gap):
    with pytest.raises(ModelError, match=r"'wall'.*cannot be negative, so it limits nothing"):
        system(zw.Constraint(sp.Ge(gap, 0, evaluate=False), "wall"))


def test_limits_that_exclude_each_other_are_named():
    with pytest.raises(ModelError, match="'a' and 'b' exclude each other: their gaps add up to -1"):
        system(zw.Constraint(y >= 0, "a"), zw.Constraint(y <= -1, "b"))


def test_two_limits_that_leave_room_between_them_are_well():
    assert system(zw.Constraint(y >= 0, "a"), zw.Constraint(y <= 1, "b")).constraint_names == ("a", "b")


@pytest.mark.parametrize("given", [float("nan"), sp.I])
def test_coefficients_that_are_no_real_numbers_are_refused(given):
    with pytest.raises(InputError, match=r"restitution is .*: a real number"):
        zw.Constraint(y >= 0, "floor", restitution=given)
    with pytest.raises(InputError, match=r"friction is .*: a real number"):
        zw.Constraint(y >= 0, "floor", friction=given, slip=dot(x))


def test_a_coefficient_of_zero_is_that_of_a_smooth_surface_whatever_slips():
    """A loop over coefficients begins with none."""
    smooth = zw.Constraint(y >= 0, "floor", friction=0.0, slip=dot(x))
    assert smooth == zw.Constraint(y >= 0, "floor")
