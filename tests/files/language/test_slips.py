"""What people write in expressions by habit gets a message at its place, with what to write instead."""

import pytest

from zwang.errors import ModelFileError
from zwang.files.read import read_model
from zwang.functions import FUNCTIONS

MODEL = """
[parameters]
m = 1.0
L = 2.0
[coordinates]
x = 1.0
y = 0.0
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
[forces]
x = "FORCE"
[constraints]
rod = "RELATION"
"""

# what is written, what is said, what to write, the text at the place
SLIPS = {
    "0,5*x": ("0,5 has a decimal comma", "write 0.5", ",5"),
    "(12,75 + x)*y": ("12,75 has a decimal comma", "write 12.75", ",75"),
    "sin(0,5)": ("sin takes 1 argument, 2 are given", "if 0,5 is one number, write 0.5", "sin"),
    "9.81 m/s^2": ("an operator is missing before 'm'", "if m is a unit, leave it out", "m/"),
    "5kg*x": ("an operator is missing between 5 and 'kg'", "if kg is a unit, leave it out", "kg"),
    "sin(30 deg)": ("an operator is missing before 'deg'", "angles are in radians: write 30*pi/180", "deg"),
    "sin(30deg)": ("an operator is missing between 30 and 'deg'", "write 30*pi/180", "deg"),
    "sin(30°)": ("'°' has no meaning", "angles are in radians: write 30*pi/180", "°"),
    "½*m*x": ("the fraction ½ has no meaning", "write (1/2)", "½"),
    "3½*x": ("the fraction ½ has no meaning", "write 3.5", "½"),
    "3x": ("an operator is missing between 3 and 'x'", "write 3*x", "x"),
    "3 x": ("an operator is missing before 'x'", "write 3*x", "x"),
    "m x": ("an operator is missing before 'x'", "write m*x", "x"),
    "2(x + y)": ("an operator is missing before '('", "write 2*(…)", "("),
    "(x + y)(x - y)": ("an operator is missing before '('", "write (…)*(…)", "(x - "),
    "m(x + y)": ("'m' is not a function", "write m*(…)", "m("),
    "x'y": ("an operator is missing before 'y'", "write x'*y", "y"),
    "x'(1 + y)": ("an operator is missing after x'", "write x'*(…)", "(1"),
    "x(t)": ("'x' is not a function", "write x alone: it is a function of time as it stands", "x("),
    "x'(t)": ("an operator is missing after x'", "x' alone", "(t"),
    "sin x": ("'sin' is a function: parentheses are missing", "write sin(x)", "sin"),
    "m*cos 2*x": ("'cos' is a function", "write cos(…)", "cos"),
    "sin*x": ("'sin' is a function", "write sin(…)", "sin"),
    "sin^2(x)": ("'sin' is a function", "write sin(…)^2", "sin"),
    "sin²(x)": ("the small digit ² has no meaning", "write sin(…)^2", "²"),
    "tan^-1(x)": ("'tan' is a function", "write 1/tan(…), or atan(…) for the inverse", "tan"),
    "x²": ("the small digit ² has no meaning", "write x^2", "²"),
    "(x + y)³": ("the small digit ³ has no meaning", "write …^3", "³"),
    "10³*x": ("the small digit ³ has no meaning", "write 10^3", "³"),
    "x₁": ("the small digit ₁ has no meaning", "write x_1", "₁"),
    "m·x": ("'·' has no meaning", "write *", "·"),
    "m×x": ("'×' has no meaning", "write *", "×"),
    "−x": ("'−' has no meaning", "write -", "−"),
    "m–x": ("'–' has no meaning", "write -", "–"),
    "x÷2": ("'÷' has no meaning", "write /", "÷"),
    "√2*x": ("'√' has no meaning", "write sqrt(…)", "√"),
    "|x|": ("'|' has no meaning", "write abs(…)", "|"),
    "m*[x + y]": ("'[' has no meaning", "write (", "["),
    "{x + y}*m": ("'{' has no meaning", "write (", "{"),
    "x’": ("'’' has no meaning", "write '", "’"),
    "x′": ("'′' has no meaning", "write '", "′"),
    "x″": ("'″' has no meaning", "write ''", "″"),
    "ẋ": ("unknown name 'ẋ'", "write x' for the rate of x", "ẋ"),
    "x\u0307": ("a dot above a letter", "write x' for the rate of x", "\u0307"),
    "ẍ": ("unknown name 'ẍ'", "write x'' for the acceleration of x", "ẍ"),
    "xdot": ("unknown name 'xdot'", "write x' for the rate of x", "xdot"),
    "x_dot": ("unknown name 'x_dot'", "write x' for the rate of x", "x_dot"),
    "dx/dt": ("unknown name 'dx'", "write x' for the rate of x", "dx"),
    "diff(x, t)": ("unknown function 'diff'", "write x' for the rate of x", "diff"),
    "π*x": ("unknown name 'π'", "write pi", "π"),
    "größe*x": ("unknown name 'größe'", "declare it in [parameters]", "größe"),
    "arctan(x)": ("unknown function 'arctan'", "write atan(…)", "arctan"),
    "tg(x)": ("unknown function 'tg'", "write tan(…)", "tg"),
    "lg(x)": ("unknown function 'lg'", "write log10(…)", "lg"),
    "pow(x, 2)": ("unknown function 'pow'", "write x^y", "pow"),
    "Sin(x)": ("unknown function 'Sin'", "write sin(…)", "Sin"),
    "math.cos(x)": ("unknown function 'math.cos'", "write cos(…)", "math.cos"),
    "np.arctan2(x, 1)": ("unknown function 'np.arctan2'", "write atan2(y, x)", "np.arctan2"),
    "F = m*x": ("'=' has no place here", "write what follows it alone", "="),
    "if(x == 0, 1, 2)": ("'==' has no place here", "if compares with <, >, <= or >=", "=="),
    "x ? 1 : 2": ("'?' has no meaning", "write if(x > 0, this, that)", "?"),
    "max(x; y)": ("';' has no meaning", "write , between arguments", ";"),
    "m\u00a0*x": ("a space that is not a plain one: no-break space", "type a space", "\u00a0"),
    "1e5.0*x": ("'1e5.' is not a number", "an exponent is a whole number", "1e5"),
    "x\\\\y": ("'\\' has no meaning", "without a backslash", "\\\\"),
}  # fmt: skip
RELATIONS = {
    "x == L": ("'==' is one sign too many", "write =", "=="),
    "x => 0": ("'=>' has no meaning", "write >=", "=>"),
    "x =< 0": ("'=<' has no meaning", "write <=", "=<"),
    "x ≥ 0": ("'≥' has no meaning", "write >=", "≥"),
    "x > 0": ("'>' leaves out the limit", "write >=", ">"),
    "x ≠ 0": ("'≠' has no meaning", "write two constraints", "≠"),
    "x² + y² = L²": ("the small digit ² has no meaning", "write x^2", "²"),
}


def require(text, said, remedy, place):
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "model.toml")
    (problem,) = caught.value.problems
    assert said in problem.message
    assert remedy in problem.hint
    assert problem.source[problem.column - 1 :].startswith(place)


@pytest.mark.parametrize("written", SLIPS)
def test_a_slip_in_an_expression_is_named_located_and_mended(written):
    require(MODEL.replace("FORCE", written).replace("RELATION", "x = L"), *SLIPS[written])


@pytest.mark.parametrize("written", RELATIONS)
def test_a_slip_in_a_relation_is_named_located_and_mended(written):
    require(MODEL.replace("FORCE", "0").replace("RELATION", written), *RELATIONS[written])


@pytest.mark.parametrize("name", [name for function in FUNCTIONS.values() for name in function.files])
def test_every_function_asks_for_its_parentheses(name):
    require(MODEL.replace("FORCE", f"{name} x").replace("RELATION", "x = L"), "is a function", f"write {name}(x)", name)


def test_letters_of_any_language_are_names_where_they_are_declared():
    text = MODEL.replace("m = 1.0", 'm = 1.0\n"größe" = 2.0\n"π" = 3.0').replace("RELATION", "x = L")
    system = read_model(text.replace("FORCE", "größe*π*x")).system
    assert {s.name for s in system.symbols} >= {"größe", "π"}
