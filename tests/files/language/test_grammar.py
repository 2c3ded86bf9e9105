"""Expressions: the text means what mathematics means by it, SymPy's own evaluation kept on a short leash."""

import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError
from zwang.files.language.build import Builder, Built
from zwang.files.language.functions import CALLED
from zwang.files.language.grammar import parse, parse_relation
from zwang.files.language.printer import expression_text
from zwang.files.language.tokens import tokenize
from zwang.files.toml.problems import Misread
from zwang.functions import FUNCTIONS, in_sympy

x, y = zw.coordinates("x y")
a, b = zw.parameters("a b")
NAMES = {"x": x, "y": y, "a": a, "b": b, "t": zw.t}


def name(node):
    text, marks = node.value
    if text in ("pi", "e"):
        constant = {"pi": sp.pi, "e": sp.E}[text]
        return Built(constant, float(constant))
    if text not in NAMES:
        raise Misread("unknown", node.at)
    return Built(NAMES[text].diff(zw.t, marks) if marks else NAMES[text])


def read(text):
    return Builder(name, name).build(parse(text)).expr


MEANINGS = {
    "1": sp.S.One, "1.5": sp.Float(1.5), ".5": sp.Float(0.5), "2.": sp.Float(2.0), "1e3": sp.Float(1000.0),
    "1/3": sp.Rational(1, 3), "2^-1": sp.Rational(1, 2), "-a^2": -(a**2), "(-a)^2": a**2, "a^b^2": a ** (b**2),
    "(a^b)^2": (a**b) ** 2, "a**2": a**2, "2^3^2": sp.Integer(512), "a - b - 1": a - b - 1, "a/b/2": a / b / 2,
    "a/b*2": 2 * a / b, "-a*b": -a * b, "a*-b": -a * b, "a^-b": a**-b, "--a": a, "+a": a, "- -a": a,
    "x'": dot(x), "x''": dot(dot(x)), "x'^2": dot(x) ** 2, "x'*y'": dot(x) * dot(y), "sin(x)": sp.sin(x),
    "ln(x)": sp.log(x), "log(x)": sp.log(x), "sqrt(x)": sp.sqrt(x), "abs(x)": sp.Abs(x), "sign(x)": sp.sign(x),
    "atan2(y, x)": sp.atan2(y, x), "max(x, y, 1)": sp.Max(x, y, 1), "min(x, 2)": sp.Min(x, 2), "exp(x)": sp.exp(x),
    "e^x": sp.exp(x), "cos(pi)": sp.S.NegativeOne, "pi/2": sp.pi / 2, "sin(pi/6)": sp.Rational(1, 2),
    "sqrt(8)": 2 * sp.sqrt(2), "sqrt(4)": sp.S(2), "0.1 + 0.2": sp.Float(0.1 + 0.2), "max(1, 2)": sp.S(2),
    "floor(2.7)": sp.S(2), "ceil(2.1)": sp.S(3), "abs(-3)": sp.S(3), "sign(-0.5)": sp.S(-1), "floor(x)": sp.floor(x),
    "if(x > 0, 1, 2)": sp.Piecewise((1, x > 0), (2, True)), "if(1 < 2, x, y)": x,
    "if(x > 0, 1, if(x < y, 2, 3))": sp.Piecewise((1, x > 0), (2, x < y), (3, True)),
    "2*(x + y)": sp.Mul(2, x + y, evaluate=False), "(x + y)/2": sp.Mul(sp.Rational(1, 2), x + y, evaluate=False),
    "-(x + y)": sp.Mul(-1, x + y, evaluate=False), "a*(x + y)/2": a * (x + y) / 2, "3*(x + y)/3": x + y,
    "x - x": sp.S.Zero, "x/x": sp.S.One, "0*x": sp.S.Zero, "a b".replace(" ", "*"): a * b, "10^40": sp.Float(1e40),
    "x*\ty\n+ 1": x * y + 1, "(((x)))": x, "t": zw.t, "x^0.5": x ** sp.Float(0.5), "x^(1/2)": sp.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize("text", MEANINGS)
def test_text_means_what_it_says(text):
    assert read(text) == MEANINGS[text]


@pytest.mark.parametrize("text", [t for t in MEANINGS if "if(1" not in t])
def test_what_is_written_is_read_back(text):
    assert read(expression_text(read(text))) == read(text)


@pytest.mark.parametrize("function", CALLED)
def test_every_function_agrees_with_its_value(function):
    definition = FUNCTIONS[CALLED[function]]
    least, _ = definition.arguments
    values = [sp.Rational(13, 10) if function == "acosh" else sp.Rational(3, 10), sp.Rational(7, 10)][:least]
    made = in_sympy(CALLED[function])(*values)
    assert abs(float(made) - definition.numbers(*map(float, values))) < 1e-14
    text = f"{function}({', '.join(str(v) for v in values)})"
    assert abs(float(read(text)) - float(made)) < 1e-14
    symbolic = read(f"{function}({', '.join('xy'[:least])})")
    assert expression_text(symbolic) == f"{function}({', '.join('xy'[:least])})".replace("ln", "log")


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("x +", 2, "ends where something must follow"),
        ("x + * y", 4, "is missing before '*'"),
        ("(x", 2, "closing parenthesis is missing"),
        ("x)", 1, "without an opening one"),
        ("x y", 2, "an operator is missing before 'y'"),
        ("2x", 1, "an operator is missing between 2 and 'x'"),
        ("x'(y)", 2, "an operator is missing"),
        ("x @ y", 2, "'@' has no meaning"),
        ("sin()", 4, "no argument"),
        ("1.2.3", 0, "is not a number"),
        ("x..y", 1, "'.' has no meaning"),
        ("(x + y)'", 7, "a rate mark ' follows the name"),
        ("'x", 0, "a rate mark ' follows the name"),
        ("x = y", 2, "'=' has no place here"),
        ("x, y", 1, "',' has no place here"),
        ("if(x, 1, 2)", 0, "if takes a condition"),
        ("max(x > 0, 1)", 6, "'>' has no place here"),
        ("x^y + x^101", 7, "the exponent is beyond 100"),
        ("a*1e-200*1e-200", 0, "too small"),
        ("a + acos(2)", 4, "acos has no real value for 2"),
        ("tan(pi/2)*x", 0, "no finite value"),
        ("x^(1/0)", 5, "division by zero"),
        ("(0-2)^0.5", 5, "not real"),
        ("0^x", 1, "a power of zero"),
        ("atan2(x)", 0, "atan2 takes 2 arguments, 1 are given"),
        ("", 0, "the expression is empty"),
        ("   ", 0, "the expression is empty"),
    ],
)
def test_mistakes_are_at_their_place(text, at, message):
    with pytest.raises(Misread) as caught:
        read(text)
    assert message in caught.value.message
    assert caught.value.at == at


def test_relations_have_two_sides():
    left, sign, right = parse_relation("x <= 2*y")
    assert (left.value, sign, right.kind) == (("x", 0), "<=", "product")
    with pytest.raises(Misread, match="'==' is one sign too many"):
        parse_relation("x == y")


def test_quoted_names_are_arguments_only():
    assert [token.kind for token in tokenize("f('a b', x')")] == ["name", "(", "text", ",", "name", "'", ")", "end"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sp.Function("h")(x), "a model file cannot say h"),
        (sp.gamma(x), "a model file cannot say gamma"),
        (sp.Heaviside(x), "a model file cannot say Heaviside"),
        (sp.I * x, "a model file cannot say ImaginaryUnit"),
        (sp.Float("0.1", 30) * x, "of 103 bits"),
        (sp.Piecewise((x, x > 0)), "ends in no case"),
        (sp.Piecewise((x, (x > 0) & (y > 0)), (y, True)), "two sides compared are meant"),
        (sp.Derivative(sp.Function("h")(a), a), "cannot say Derivative"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(expression, message):
    with pytest.raises(InputError, match=f"the force contains .*{message}"):
        expression_text(expression, "the force")
