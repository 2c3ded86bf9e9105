"""LaTeX that a person would put in a paper."""

import re

import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError
from zwang.formulations import FORMS

t = zw.t
x, y, theta = zw.coordinates("x y theta")
m, g, c = zw.parameters("m g c")
alpha = sp.Function("alpha")(t)
h = sp.Function("h")(x, y, t)


def particle(**more):
    T = m * (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.derive(zw.System((x, y), kinetic=T, potential=m * g * y, **more))


OPEN = particle(
    constraints={"open": dot(x) - alpha * h, "again": 2 * dot(x) - 2 * alpha * h},
    nonideal={y: -c * dot(y)},
    parameters={alpha: None},
)


def assert_well_formed(text):
    depth = 0
    for token in re.findall(r"\\[{}]|[{}]", text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
    assert depth == 0
    stack = []
    for word, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if word == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_well_formed_and_fit_for_a_paper(form):
    text = OPEN.latex(form)
    assert_well_formed(text)
    assert text.startswith(r"\begin{aligned}")
    for bad in ("Derivative", r"\left(t \right)", "Subs", "Dummy", r"\substack", r"\frac{d}{d", "None"):
        assert bad not in text
    for wanted in (r"\ddot{x} =", r"\ddot{y} =", r"\operatorname{rank} A = 1", r"\dot{\alpha}", "h_{t}", "h_{x}"):
        assert wanted in text


@pytest.mark.parametrize("form", FORMS)
def test_nonideal_constraints_show_C(form):
    text = OPEN.latex(form)
    assert r"F = Q + C" in text
    assert r"C = \left[\begin{matrix}0\\- c \dot{y}\end{matrix}\right]" in text
    assert "F" not in particle(constraints=[dot(x)]).latex(form).replace("FF", "")
    assert "C =" not in particle(constraints=[dot(x)]).latex(form)


def test_the_forms_differ_in_what_they_say():
    texts = {form: OPEN.latex(form) for form in FORMS}
    assert r"\left(A M^{-1} A^{\mathsf T}\right)^{+}" in texts["fundamental"]
    assert r"\min_{\ddot{q}}" in texts["gauss"]
    assert r"M_{II}" in texts["gibbs-appell"]
    assert (
        r"\left[\begin{matrix}m\end{matrix}\right]\left[\begin{matrix}\ddot{y}\end{matrix}\right] ="
        in texts["gibbs-appell"]
    )
    assert r"\lambda = " in texts["lagrange"]
    assert r"\left[\begin{matrix}-2\\1\end{matrix}\right] w" in texts["lagrange"]  # the family of multipliers
    assert r"A^{-}" in texts["generalized-inverse"]
    for equation, mark in (("S3 24", "^{(1,4)}"), ("S3 26", "^{(1)}")):
        assert mark in OPEN.latex("generalized-inverse", equation=equation)


def test_a_chosen_elimination_is_shown():
    text = particle(constraints=[dot(x) - dot(y)]).latex("gibbs-appell", eliminate=[y])
    assert r"\left[\begin{matrix}2 m\end{matrix}\right]\left[\begin{matrix}\ddot{x}\end{matrix}\right]" in text


def test_without_constraints_nothing_is_said_of_them():
    pendulum = zw.System((theta,), kinetic=m * dot(theta) ** 2 / 2, potential=-m * g * sp.cos(theta))
    for form in FORMS:
        text = zw.derive(pendulum).latex(form)
        assert_well_formed(text)
        assert r"M\ddot{q} = Q \\" in text
        assert r"\ddot{\theta} = - g \sin{\left(\theta \right)}" in text
        assert "A" not in text


def test_greek_functions_and_higher_partials():
    phi = sp.Function("phi")(theta, t)
    system = zw.System((theta,), kinetic=dot(theta) ** 2 / 2, constraints=[phi])
    text = zw.derive(system).latex()
    for wanted in (r"\phi_{\theta}", r"\phi_{\theta\theta}", r"\phi_{tt}"):
        assert wanted in text
    assert r"\phi_{t\theta}" in text or r"\phi_{\theta t}" in text
    assert_well_formed(text)


def test_an_unknown_form_is_refused():
    with pytest.raises(InputError, match="form='hamilton' is unknown"):
        OPEN.latex("hamilton")
