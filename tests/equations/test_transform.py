"""U9: the equations in other coordinates are those of the system rewritten in other coordinates."""

import pytest
import sympy as sp

import zwang as zw
from tests.equations.algebra import agree, same
from zwang import dot
from zwang.errors import InputError
from zwang.formulations import FORMS

t = zw.t
x, y, z = zw.coordinates("x y z")
r, a, u, s = zw.coordinates("r a u s")
m, g, w, k = zw.parameters("m g w k")


def rewritten(system, new, change):
    """The same system in new coordinates: put into its energies and constraints, forces by virtual work."""

    def put(expression):
        return sp.sympify(expression).subs(change).doit()

    def forces(given):
        return [sum(put(f) * change[q].diff(e) for q, f in zip(system.coordinates, given, strict=True)) for e in new]

    return zw.System(
        new,
        kinetic=put(system.kinetic),
        potential=put(system.potential),
        forces=forces(system.forces),
        nonideal=forces(system.nonideal),
        constraints={c.name: put(c.expression) for c in system.constraints},
    )


def planar(constraints):
    T = m * (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System(
        (x, y), kinetic=T, potential=m * g * y, forces=(-k * dot(x), 0), nonideal=(0, k * x), constraints=constraints
    )


CASES = {
    "polar": (planar({"rail": y - k * x}), (r, a), {x: r * sp.cos(a), y: r * sp.sin(a)}),
    "rotating frame": (
        planar({"speed": dot(x) - k * y}),
        (u, s),
        {x: u * sp.cos(w * t) - s * sp.sin(w * t), y: u * sp.sin(w * t) + s * sp.cos(w * t)},
    ),
    "accelerated and scaled": (
        planar({"nonlinear": dot(x) ** 2 - dot(y) * t, "again": 2 * dot(x) ** 2 - 2 * t * dot(y)}),
        (u, s),
        {x: u * sp.exp(t), y: s + t**3 * u},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_U9_transformed_equations_are_those_of_the_rewritten_system(name):
    system, new, change = CASES[name]
    equations = zw.derive(system)
    turned, direct = equations.transform(new, change), zw.derive(rewritten(system, new, change))
    for field in "MQAbC":
        assert agree(getattr(turned, field), getattr(direct, field))
    assert turned.rows == direct.rows
    assert turned.coordinates == new


def plain(constraints):
    T = (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=T, forces={y: -g}, nonideal={x: -dot(x)}, constraints=constraints)


ACCELERATED = {
    "linear": (plain({"rail": y - k * x}), (u, s), {x: 2 * u + s, y: u - 3 * s}),
    "time-dependent": (plain({"pursuit": dot(x) - t * dot(y)}), (u, s), {x: u + t * s, y: s * t**2 - u}),
    "nonlinear": (plain({"rail": y - k * x}), (u, s), {x: u**2, y: u * s}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ACCELERATED)
def test_U9_accelerations_transform_as_accelerations(name, form):
    system, new, change = ACCELERATED[name]
    equations = zw.derive(system)
    accelerations = equations.transform(new, change).acceleration(form)
    motion = dict(zip([e.diff(t, 2) for e in new], accelerations, strict=True))
    q = sp.Matrix([change[c] for c in system.coordinates])
    expected = equations.acceleration(form).subs(change).doit()
    assert agree(q.diff(t, 2).subs(motion), expected)  # q̈ = Jη̈ + J̇η̇ + …


def test_U9_coriolis_and_centrifugal_acceleration_of_a_rotating_frame():
    free = zw.System((x, y), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2)
    turned = zw.derive(free).transform(*CASES["rotating frame"][1:])
    assert same(turned.acceleration(), [2 * w * dot(s) + w**2 * u, -2 * w * dot(u) + w**2 * s])


def test_unspecified_functions_survive_a_change_of_coordinates():
    h = sp.Function("h")(x, t)
    system = zw.System((x, y), kinetic=dot(x) ** 2 / 2 + dot(y) ** 2 / 2, constraints={"open": y - h})
    turned = zw.derive(system).transform((u, s), {x: u + s, y: u - s})
    X, Y = sp.symbols("X Y")
    guess = X**2 * sp.sin(Y)

    def specified(matrix):
        return matrix.replace(sp.Function("h"), lambda p, q: guess.subs({X: p, Y: q}, simultaneous=True)).doit()

    plain = zw.System(
        (u, s), kinetic=dot(u) ** 2 + dot(s) ** 2, constraints={"open": u - s - guess.subs({X: u + s, Y: t})}
    )
    direct = zw.derive(plain)
    assert same(specified(turned.A), direct.A)
    assert same(specified(turned.b), direct.b)


def test_a_choice_of_rows_is_kept():
    closed = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"a": x - y, "b": x**2 - y**2})
    equations = zw.derive(closed).with_rows("b")
    assert equations.transform((u, s), {x: u, y: 2 * s}).rows == (1,)


def test_every_coordinate_must_be_said():
    equations = zw.derive(CASES["polar"][0])
    with pytest.raises(InputError, match=r"does not say what y\(t\) is"):
        equations.transform((r, a), {x: r})
