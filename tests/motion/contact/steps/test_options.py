"""Options that do not go with time stepping are refused, each with its own words."""

import pytest

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.errors import InputError

x = zw.coordinates("x")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"contacts": "steps"}, "needs the length of a step"),
        ({"contacts": "steps", "step": 0}, "step = 0: a positive number is needed"),
        ({"contacts": "steps", "step": -0.1}, "a positive number is needed"),
        ({"contacts": "steps", "step": float("nan")}, "a positive number is needed"),
        ({"contacts": "steps", "step": 2.0}, "not longer than the motion's 1"),
        ({"contacts": "steps", "step": 1e-12}, r"makes 1e\+12 steps, and 20,000,000 are allowed: give a longer one"),
        ({"contacts": "steps", "step": 1e-300}, "is lost in rounding at t = 1"),
        ({"contacts": "steps", "step": "fine"}, "a positive number is needed"),
        ({"contacts": "steps", "step": True}, "a positive number is needed"),
        ({"step": 0.001}, "is for contacts='steps'"),
        ({"contacts": "stepping"}, "choose 'events' or 'steps'"),
        ({"contacts": "steps", "step": 0.01, "method": "native"}, "method='native' does not go with"),
        ({"contacts": "steps", "step": 0.01, "tol": 1e-6}, "tol=1e-06 does not go with"),
        ({"contacts": "steps", "step": 0.01, "max_step": 0.1}, "max_step=0.1 does not go with"),
        ({"contacts": "steps", "step": 0.01, "drift": "baumgarte"}, "drift='baumgarte' does not go with"),
        ({"contacts": "steps", "step": 0.01, "impacts": "poisson"}, "steps follow Moreau's law"),
        ({"contacts": "steps", "step": 0.01, "precision": "quad"}, "precision='quad' does not go with"),
        ({"contacts": "steps", "step": 0.01, "form": "lagrange"}, "form='lagrange' does not go with"),
    ],
)
def test_what_does_not_go_with_steps_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        zw.simulate(*contact.ball(0.5), 1.0, **options)


def test_steps_without_contacts_are_refused():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2)
    with pytest.raises(InputError, match="there is no one-sided constraint"):
        zw.simulate(system, {x: 0, dot(x): 1}, 1.0, contacts="steps", step=0.1)


def test_friction_of_equalities_is_refused_by_name():
    y = zw.coordinates("y")
    wire = zw.Constraint(y, "wire", friction=0.3, slip=dot(x))
    floor = zw.Constraint(x >= 0, "floor")
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[wire, floor])
    start = dict.fromkeys((x, y, dot(x), dot(y)), 0)
    with pytest.raises(InputError, match=r"'wire'.*by steps"):
        zw.simulate(system, start, 1.0, contacts="steps", step=0.1)
