"""Malformed files: what does not load is refused with line, column and the line itself, whatever was done to it."""

import random
import re
import time

import pytest

from tests.files.models import GOOD, SLIDER
from zwang.errors import ModelFileError
from zwang.files.read import read_model

SPOILT = 400
SIGNS = [*"()[]{}'\"=,+-*/^<>#.\\\n\t @!?0e", "²", "θ", "''", '"""', "1e999", "nan"]


def delete(text, draw):
    at = draw.randrange(len(text))
    return text[:at] + text[at + draw.randint(1, 3) :]


def insert(text, draw):
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(SIGNS) + text[at:]


def replace(text, draw):
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(SIGNS) + text[at + 1 :]


def drop_a_quote(text, draw):
    at = draw.choice([m.start() for m in re.finditer("[\"']", text)])
    return text[:at] + text[at + 1 :]


def misspell(text, draw):
    word = draw.choice(list(re.finditer(r"[A-Za-z_]{3,}", text)))
    at = draw.randrange(word.start(), word.end() - 1)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def drop_a_line(text, draw):
    lines = text.splitlines(keepends=True)
    del lines[draw.randrange(len(lines))]
    return "".join(lines)


def double_a_line(text, draw):
    lines = text.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    return "".join([*lines[: at + 1], *lines[at:]])


def swap_two_lines(text, draw):
    lines = text.splitlines(keepends=True)
    i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines)


def another_type(text, draw):
    value = draw.choice(list(re.finditer(r"= (\S[^\n,}]*)", text)))
    new = draw.choice(["true", "7", "[]", "{}", '"x"', "1979-05-27", "[1, 2]", "-1", '""', "{ start = 1 }", "inf"])
    return text[: value.start(1)] + new + text[value.end(1) :]


def swap_names(text, draw):
    names = list(re.finditer(r"\b(x|y|theta|m|R|alpha|u|rod|r2|q\.z|sin|sqrt)\b", text))
    a, b = draw.choice(names), draw.choice(names)
    return text[: a.start()] + b.group() + text[a.end() :]


def cut(text, draw):
    return text[: draw.randrange(len(text))]


WAYS = [delete, insert, replace, drop_a_quote, misspell, drop_a_line, double_a_line, swap_two_lines, another_type,
        swap_names, cut]  # fmt: skip


def spoiled_files():
    draw = random.Random(1829)
    for i in range(SPOILT):
        text = GOOD[draw.choice(sorted(GOOD))]
        way = WAYS[i % len(WAYS)]
        for _ in range(draw.randint(1, 2)):
            text = way(text, draw)
        yield text


def test_spoiled_files_are_refused_with_their_places():
    refused, begin = 0, time.process_time()
    for text in spoiled_files():
        problems = problems_of(text)
        refused += bool(problems)
        for problem in problems:
            require_place(problem, text)
    assert refused >= 250  # others are good files still: a comment was changed, or a number
    assert time.process_time() - begin < 60


def problems_of(text):
    try:
        read_model(text, "spoiled.toml")
    except ModelFileError as error:
        return error.problems
    return ()


def require_place(problem, text):
    lines = text.split("\n")
    assert problem.file == "spoiled.toml"
    assert 1 <= problem.line <= len(lines)
    assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
    assert problem.source == lines[problem.line - 1]
    assert problem.message
    assert str(problem).startswith(f"spoiled.toml:{problem.line}:{problem.column}: error: ")


# what was changed: (what stands there, what stands there instead, what is said, the text at the place)
MISTAKES = {
    "misspelt name": ('"m*g*y"', '"m*g*yy"', "unknown name 'yy'; did you mean 'y'?", "yy"),
    "misspelt definition": ("m*speed2/2", "m*sped2/2", "unknown name 'sped2'; did you mean 'speed2'?", "sped2"),
    "misspelt function": ('"sin(3*t)"', '"sni(3*t)"', "unknown function 'sni'; did you mean 'sin'?", "sni"),
    "misspelt section": (
        "[constraints]",
        "[constraint]",
        "unknown section 'constraint'; did you mean 'constraints'?",
        "[c",
    ),
    "misspelt key": (
        "potential =",
        "potental =",
        "unknown key 'potental' in [energy]; did you mean 'potential'?",
        "pot",
    ),
    "misspelt key of an entry": ("direction =", "dirction =", "unknown key 'dirction' in 'top'", "dirction"),
    "misspelt choice": ('"linear"', '"linaer"', "'kind' = 'linaer' is unknown; did you mean 'linear'?", '"linaer"'),
    "misspelt direction": ('"down"', '"dwon"', "'direction' = 'dwon' is unknown; did you mean 'down'?", '"dwon"'),
    "capital letter": ('"r2 = R^2"', '"R2 = R^2"', "unknown name 'R2'; did you mean 'r2'?", "R2"),
    "no quotes": ('"m*g*y"', "m*g*y", "an expression goes in quotes", "m*g*y"),
    "no quotes after a number": ('"m*g*y"', "2*m", "an expression goes in quotes", "*m"),
    "quote not closed": ('"m*g*y"', '"m*g*y', "the text does not end", ""),
    "no equals sign": ("until = 0.5", "until 0.5", "= is missing after the key", "0.5"),
    "bare Greek key": ("theta = 0.0", "θ = 0.0", "the key θ has letters beyond a to z", "θ"),
    "section not closed": ("[units]", "[units", "] is missing", ""),
    "comma missing": ("[0, 1, 2]", "[0 1, 2]", "a comma is missing", "1, 2"),
    "table not closed": ("rate = 0.0, unit", "rate = 0.0 unit", "a comma is missing", "unit"),
    "given twice": ("g = 9.81", "g = 9.81\ng = 10", "'g' is given twice", "g = 10"),
    "section twice": ("[units]", "[energy]", "[energy] is given twice", "[energy]"),
    "Python truth": ("stop = true", "stop = True", "'True' is not a value", "True"),
    "text for a number": ("until = 0.5", 'until = "0.5"', "'until': text where a number is meant", '"0.5"'),
    "number for text": ('time = "s"', "time = 1", "'time': a number where text in quotes is meant", "1"),
    "truth in quotes": ("stop = true", 'stop = "true"', "text where true or false", '"true"'),
    "too few samples": ("samples = 11", "samples = 1", "a whole number from 2", "1"),
    "fractional samples": ("samples = 11", "samples = 1.5", "a number where a whole number is meant", "1.5"),
    "tolerance": ("tol = 1e-10", "tol = 1", "tol is out of range", "1"),
    "end before beginning": ("until = 0.5", "until = -1", "the end, -1, is not after the beginning, 0", "-1"),
    "drift": ('["baumgarte", 10, 10]', '"projecton"', "choose 'none', 'projection', 'baumgarte'", '"projecton"'),
    "gains": ("10, 10]", "10]", "gains are given as", "["),
    "missing operator": ('"m*g*y"', '"m g*y"', "an operator is missing before 'g'", "g*y"),
    "missing operator after a number": ('"m*g*y"', '"2m*g"', "an operator is missing between 2 and 'm'", "m*g"),
    "missing parenthesis": ('"sin(3*t)"', '"sin(3*t"', "a closing parenthesis is missing at the end", '"'),
    "extra parenthesis": ('"sin(3*t)"', '"sin(3*t))"', "a closing parenthesis without an opening one", ')"'),
    "two operators": ('"m*g*y"', '"m*/g*y"', "a number, a name or ( is missing before '/'", "/g"),
    "ends too early": ('"m*g*y"', '"m*g*"', "the expression ends where something must follow", '*"'),
    "empty expression": ('"m*g*y"', '""', "the expression is empty", ""),
    "function without parentheses": ('"sin(3*t)"', '"sin*t"', "'sin' is a function", "sin*t"),
    "number of arguments": ('"sin(3*t)"', '"sin(3, t)"', "sin takes 1 argument, 2 are given", "sin"),
    "parameter called": ('"m*g*y"', '"m(g*y)"', "'m' is not a function", "m(g"),
    "power of another language": ('"m*g*y"', '"m*y²"', "small digit ²", "²"),
    "minus sign of typography": ('"-0.2*theta\'"', '"−0.2*theta\'"', "'−' has no meaning", "−0.2"),
    "multiplication sign": ('"m*g*y"', '"m×g"', "'×' has no meaning", "×"),
    "decimal comma": ("-0.1*x'", "-0,1*x'", "0,1 has a decimal comma", ",1"),
    "prime of typography": ("-0.1*x'", "-0.1*x’", "'’' has no meaning", "’"),
    "strict inequality": ('"y >= -2"', '"y > -2"', "'>' leaves out the limit", "> -2"),
    "double equals": ('"r2 = R^2"', '"r2 == R^2"', "'==' is one sign too many", "=="),
    "no relation": ('"r2 = R^2"', '"r2 - R^2"', "= or >= or <= is missing", '2"'),
    "two relations": ('"y >= -2"', '"-2 <= y <= 2"', "a second <=", "<= 2"),
    "inequality in an event": ('"y\' = 0"', '"y\' >= 0"', "has no place here: = is meant", ">="),
    "constraint on nothing": ('"r2 = R^2"', '"R = m"', "contains no coordinate", '"R = m"'),
    "constraint that cancels": ('"r2 = R^2"', '"x - x = R"', "contains no coordinate", '"x'),
    "third derivative": ("theta' = x'", "theta''' = x'", "is differentiated 3 times", "theta'''"),
    "acceleration in an energy": (
        "m*speed2/2",
        "m*x''",
        "'x''' may not be used in the kinetic energy: accelerations",
        "x''",
    ),
    "rate in the potential": (
        '"m*g*y"',
        '"m*y\'"',
        "'y'' may not be used in the potential energy: it may not contain rates",
        "y'",
    ),
    "definition with rates in the potential": (
        '"m*g*y"',
        '"m*speed2"',
        "'speed2' may not be used in the potential",
        "speed2",
    ),
    "rate of a parameter": ('"m*g*y"', '"m\'*y"', "'m' is a parameter", "m'"),
    "rate of a definition in the potential": ('"m*g*y"', '"r2\'*y"', "'r2'' may not be used in the potential", "r2'"),
    "coordinate in a start": ("-sqrt(R^2 - 0.3^2)", "-sqrt(R^2 - x^2)", "'x' may not be used in a start", "x^2"),
    "start that is not real": ("-sqrt(R^2 - 0.3^2)", "-sqrt(R^2 - 3^2)", "not a finite real number", '"-sqrt'),
    "coordinate in an input": ('"sin(3*t)"', '"sin(x)"', "'x' may not be used in an input", "x)"),
    "reaction in a force": (
        "+ alpha",
        "+ multiplier(rod)",
        "both in outputs of [linear]",
        "multiplier",
    ),
    "unknown constraint": (
        "multiplier(rod)",
        "multiplier(rd)",
        "there is no constraint 'rd'; did you mean 'rod'?",
        "rd)",
    ),
    "unknown coordinate": ("constraint_force(x)", "constraint_force(z)", "there is no coordinate 'z'", "z)"),
    "event on a table": ('"y\' = 0"', '"u = 0"', "an event cannot watch the input 'u'", '"u'),
    "event that never changes": ('"y\' = 0"', '"m = 0"', "contains nothing that changes", '"m'),
    "event without a when": ('when = "y\' = 0", ', "", "does not say when", "{ dir"),
    "cycle": (
        "[coordinates]",
        'a = "2*b"\nb = "a + x"\n[coordinates]',
        "'a' is defined by itself: a uses b uses a",
        '"2*b',
    ),
    "force on nothing": ("[nonideal]\ntheta", "[nonideal]\nphi", "there is no coordinate 'phi'", "phi"),
    "name taken by time": ("m = 1.0", "m = 1.0\nt = 2", "'t' is taken: it is the time", "t = 2"),
    "name taken by a constant": ("m = 1.0", "m = 1.0\ne = 2", "'e' is taken: it is a constant", "e = 2"),
    "name taken by a function": ("m = 1.0", "m = 1.0\nmax = 2", "'max' is taken: it is a function", "max = 2"),
    "name in two sections": ("m = 1.0", "m = 1.0\nx = 2", "'x' is declared twice", "x = {"),
    "name with a dot": ("m = 1.0", "m = 1.0\nrod.x = 2", "a name with a dot in [parameters]", "rod.x"),
    "name with a hyphen": ("m = 1.0", "m = 1.0\na-b = 2", "the name 'a-b' contains -", "a-b"),
    "parameter of parameters": ('"1/3"', '"m/3"', "'m' may not be used in the value of a parameter", "m/3"),
    "energy not quadratic": (
        "L*theta'^2",
        "L*theta'^4",
        "kinetic is not quadratic in the velocities (look at theta')",
        '"m*speed2',
    ),
    "coordinate without inertia": (
        "theta = 0.0",
        "theta = 0.0\nz = 0.0",
        "kinetic misses the coordinate z",
        '"m*speed2',
    ),
    "no energy": (
        'kinetic = "m*speed2/2 + L*theta\'^2"\n',
        "",
        "neither a kinetic energy nor a mass matrix",
        "[energy]",
    ),
    "both energy and mass": (
        "[forces]",
        '[mass]\nmatrix = [["m", 0, 0], [0, "m", 0], [0, 0, 1]]\n[forces]',
        "[energy] and [mass] are both given",
        "kinetic",
    ),
    "times that do not ascend": ("[0, 1, 2]", "[0, 2, 1]", "times must ascend", "{ times"),
    "values for other times": ("[0, 1, 2]", "[0, 1]", "2 times for 3 values", "{ times"),
    "times without values": ("values = [0.0, 1.0, 0.0], ", "", "values are missing", "{ times"),
    "file and times": ("{ times", '{ file = "a.csv", times', "an input takes file, or times and values", "{ file"),
    "no such file": (
        "{ times = [0, 1, 2], values = [0.0, 1.0, 0.0],",
        '{ file = "a.csv",',
        "there is no file 'a.csv' beside the model",
        '"a.csv"',
    ),
    "color": ('"blue"', '"blau"', "color 'blau' is unknown", "{ point"),
    "a point of one number": ('["x", "y"], color', '["x"], color', "'point': 1 entries where a point", '["x"]'),
    "mixed dimensions": ('["x", "y"], color', '["x", "y", 0], color', "lies in the plane, others in space", "{ line"),
    "line of one point": ('[[0, 0], ["x", "y"]]', "[[0, 0]]", "1 entries where a list of points", "[["),
    "circle without radius": (', radius = "R/10"', "", "a circle has a radius", "{ circle"),
    "two shapes in one": ("{ circle", "{ point = [0, 0], circle", "but point and circle are given", "{ point"),
    "radius of a point": ("trail = true", "radius = 1", "a point has no radius", "radius"),
    "orientation in the plane": (
        'angle = "theta"',
        "orientation = [1, 0, 0, 0]",
        "has an angle, not an orientation",
        "{ body",
    ),
    "unknown name in a drawing": ('angle = "theta"', 'angle = "phi"', "unknown name 'phi'", "phi"),
    "division by zero": ('"m*g*y"', '"m*g*y/0"', "division by zero", '0"'),
    "root of a negative number": ('"m*g*y"', '"sqrt(-1)*y"', "the root of a negative number", "sqrt"),
    "mistake in the second line": ('"m*g*y"', '"""\n  m*g +\n  zz"""', "unknown name 'zz'", "zz"),
    "mistake after an escape": ('"m*g*y"', '"\\u006d*zz"', "unknown name 'zz'", "zz"),
    "no coordinates": (
        SLIDER[SLIDER.index("x = {") : SLIDER.index("[energy]")],
        "",
        "there are no coordinates",
        "[coordinates]",
    ),
    "list for a section": ("[units]\n", "[[units]]\n", "units is a section", ""),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_real_mistakes_are_named_and_located(what):
    before, after, said, place = MISTAKES[what]
    assert before in SLIDER
    text = SLIDER.replace(before, after, 1)
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "model.toml")
    found = [p for p in caught.value.problems if said in p.message]
    assert found, caught.value
    require = found[0]
    line = text.split("\n")[require.line - 1]
    assert require.source == line
    assert line[require.column - 1 :].startswith(place), str(require)


def test_there_are_enough_real_mistakes():
    assert len(MISTAKES) >= 90
    assert read_model(SLIDER)
