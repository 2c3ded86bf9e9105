"""The writer: a system written as a file and read back is equal, to the last digit."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import zwang as zw
from tests.files.models import GOOD, SLIDER
from zwang import dot
from zwang.errors import InputError, ModelError
from zwang.files.model_file import ModelFile
from zwang.files.read import load_model, read_model
from zwang.files.write import model_text, save_model

t = zw.t
x, y = zw.coordinates("x y")
u, w = zw.coordinates("u w")
m, k, odd = sp.Symbol("m"), sp.Symbol("k"), sp.Symbol("rod.length_2")
q = sp.Function("rod.θ")(t)
T = dot(x) ** 2 + dot(y) ** 2 + dot(q) ** 2


@pytest.mark.parametrize("name", GOOD)
def test_models_come_back(name, tmp_path):
    model = read_model(GOOD[name])
    again = load_model(save_model(model, tmp_path / "model.toml"))
    for field in ("system", "start", "run", "events", "drawing", "units", "description"):
        assert getattr(again, field) == getattr(model, field)
    assert model_text(again) == model_text(model)


floats = st.floats(-1e9, 1e9).filter(lambda f: f == 0 or abs(f) > 1e-9)
numbers = st.one_of(
    st.integers(-30, 30).map(sp.Integer),
    st.fractions(-(10**6), 10**6, max_denominator=10**6).map(lambda f: sp.Rational(f.numerator, f.denominator)),
    floats.map(sp.Float),
    st.sampled_from([sp.pi, sp.E, sp.sqrt(2), sp.Integer(10**25)]),
)
atoms = st.one_of(st.sampled_from([x, y, q, dot(x), dot(y), t, m, k, odd, u, u.diff(t)]), numbers)
functions = st.sampled_from(
    [sp.sin, sp.cos, sp.tan, sp.exp, sp.asin, sp.atan, sp.asinh, sp.Abs, sp.sign]  # others make SymPy itself slow
)
exponents = st.sampled_from([2, 3, -1, -2, sp.Rational(1, 2), sp.Rational(-3, 2), sp.Float(1.5)])


def combine(inner):
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, n: a**n, inner, exponents),
        st.builds(lambda f, a: f(a), functions, inner),
        st.builds(lambda a: sp.factor_terms(a), inner),
    )


def real(expression):
    return (
        not expression.has(sp.nan, sp.zoo, sp.oo, sp.I, sp.im, sp.re, sp.AccumBounds) and sp.count_ops(expression) < 60
    )


@settings(max_examples=100)
@given(st.recursive(atoms, combine, max_leaves=6), st.recursive(atoms, combine, max_leaves=6), st.booleans(), floats)
def test_every_system_that_can_be_written_comes_back_equal(force, left, one_sided, value):
    """What is refused is refused by name; what is written is equal, or the test fails."""
    assume(real(force) and real(left))
    signal = zw.Signal([0.0, 0.1, value if value > 1 else 2.5], [value, 1 / 3, -value], "cubic", "zero")
    try:
        system = zw.System(
            (x, y, q),
            kinetic=T,
            forces={x: force, q: u},
            nonideal={y: -force},
            constraints=[zw.Constraint(left + x, "left rod", one_sided), y - w],
            parameters={m: value, k: sp.Rational(1, 3), u: sp.sin(t) * m, w: signal},
            name='A "name"\\',
        )
    except ModelError:
        reject()
    text = text_or_refusal(system)
    if text.startswith("refused: "):
        assert hard(force) or hard(left), text
    else:
        assert read_model(text).system == system


def text_or_refusal(system):
    try:
        return model_text(system)
    except InputError as error:
        return f"refused: {error}"


def hard(expression):
    """What may be refused: numbers beyond the bounds, and what is not a real number or not evaluated by SymPy."""
    large = any(n.is_Rational and max(abs(n.p), n.q) > 10**29 for n in expression.atoms(sp.Number))
    small = any(n.is_Float and (n != 0 and not 1e-300 < abs(n) < 1e300) for n in expression.atoms(sp.Number))
    odd_power = any((p.exp.is_number and abs(p.exp) > 100) or p.base.is_number for p in expression.atoms(sp.Pow))
    constant = any(f.is_number for f in expression.atoms(sp.Function))  # asin(pi) is not real
    return large or small or odd_power or constant


def test_mass_matrices_missing_values_and_inputs():
    system = zw.System(
        (x, y),
        mass=[[m, sp.Rational(1, 3)], [sp.Rational(1, 3), 2 * (x + 1) ** 2]],
        forces=[u * odd, w],
        constraints=[x.diff(t, 2) - y],
        parameters={m: None, u: None, w: 3 * t},
    )
    text = model_text(system)
    assert 'm = "?"' in text
    assert '"rod.length_2" = "?"' in text
    assert read_model(text).system == system


def test_floats_keep_every_digit():
    value = 0.1 + 2**-54
    system = zw.System((x,), kinetic=sp.Float(value) * dot(x) ** 2, parameters={m: value, k: np.float64(1 / 3)})
    again = read_model(model_text(system)).system
    assert again == system
    assert again.parameters[m] == value


@pytest.mark.parametrize(
    "expression",
    [
        sp.factor(2 * x + 2 * y),
        sp.factor(-x - y) / 3,
        sp.Float(0.5) * sp.factor(3 * x + 3 * y * m),
        x / (2 * sp.sqrt(y) * k),
        1 / (x * y) ** 2,
        x ** sp.Rational(-3, 2),
        (x + y) ** -1,
        -((x + y) ** 2),
        (-x) ** 3,
        x**m,
        2**x,
        (x**2) ** m,
        sp.exp(-x),
        sp.E**2 * x,
        sp.sqrt(x**2),
        -sp.Rational(3, 7) * x,
        x - sp.factor(2 * y + 2),
        sp.atan2(y, -x),
        sp.Abs(-2 * x),
        sp.sinh(x + sp.tanh(y)) * sp.cosh(x),
        sp.erf(x) + sp.erfc(y),
        sp.floor(x) - sp.ceiling(y / 3),
        sp.Min(x, 1, -y),
        sp.Piecewise((1, x < 0), (x, x <= 1), (y, True)),
        sp.Max(x, y, 2),
        sp.sin(x - y) - sp.sin(y - x),
        sp.pi**2 * x,
        x**-m,
    ],
    ids=str,
)
def test_expressions_that_invite_mistakes(expression):
    system = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, potential=expression)
    assert read_model(model_text(system)).system == system


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"potential": sp.Symbol("k", positive=True) * x}, r"k has assumptions \(positive\)"),
        ({"potential": sp.Symbol("two words") * x}, "the name 'two words' contains a space"),
        ({"potential": sp.Symbol("sin") * x}, "the name 'sin' is taken"),
        ({"potential": sp.Function("h")(x)}, "potential contains h"),
        ({"forces": [sp.LambertW(x), 0]}, r"forces\[x\] contains LambertW"),
        ({"potential": sp.Add(x, x, evaluate=False)}, "potential would not be read back"),
        ({"potential": sp.Integer(10**35) * x}, "potential would not be read back"),
        ({"constraints": {"a\nb": x - y}}, "the constraint's name"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(arguments, message):
    system = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, **arguments)
    with pytest.raises(InputError, match=message):
        model_text(system)


def test_only_models_are_written(tmp_path):
    with pytest.raises(InputError, match="takes a System, a Mechanism or a model; got an int"):
        model_text(3)
    model = read_model(SLIDER)
    odd_event = ModelFile(model.system, {}, events=(zw.Event(zw.multiplier("rod"), "a"),))
    assert "multiplier(rod) = 0" in model_text(odd_event)


def test_arrays_of_coordinates_and_families_are_written_out_under_plain_names(tmp_path):
    x, u, w = zw.coordinates("x", shape=3), *zw.coordinates("u w")
    chain = zw.System(
        x,
        kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}),
        constraints={"tie": zw.family(u - 2 * w, {u: x[1:], w: x[:-1]})},
    )
    model = zw.load_model(zw.save_model(chain, tmp_path / "chain.toml"))
    assert model.system.coordinate_names == ("x_0", "x_1", "x_2")
    assert model.system.constraint_names == ("tie_0", "tie_1")
    state = {"x_0": 1.0, "x_1": 2.0, "x_2": 4.0, "x_0'": 1.0, "x_1'": 2.0, "x_2'": 4.0}
    there = zw.evaluate(chain, {x: [1.0, 2.0, 4.0], zw.dot(x): [1.0, 2.0, 4.0]})
    assert (zw.evaluate(model.system, state).acceleration == there.acceleration).all()
