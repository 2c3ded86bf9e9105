"""What people write in TOML by habit gets a message of its own, at its place, with the line to write instead."""

import time
import tomllib

import pytest

from tests.files.models import GOOD, SLIDER
from zwang.errors import ModelFileError
from zwang.files.read import read_model
from zwang.files.toml.slips import WORDS, slip_in

# the line that stands there, what is written instead, what is said, the remedy, the text at the place
SLIPS = {
    "decimal comma": ("g = 9.81", "g = 9,81", "9,81 has a decimal comma", "write g = 9.81", "9,81"),
    "comma and points": ("g = 9.81", "g = 1.234,5", "1.234,5 has a decimal comma", "write g = 1234.5", "1.234"),
    "comma and unit": ("g = 9.81", "g = 9,81 m/s²", "9,81 has a decimal comma", "write g = 9.81", "9,81"),
    "comma and power": ("g = 9.81", "g = 9,81e3", "9,81e3 has a decimal comma", "write g = 9.81e3", "9,81"),
    "comma in a table": ("start = 0.3", "start = 0,3", "0,3 has a decimal comma", "write start = 0.3", "0,3"),
    "unit": ("g = 9.81", "g = 9.81 m/s^2", "without its unit m/s^2", "write g = 9.81  # m/s^2", "9.81"),
    "unit at once": ("m = 1.0", "m = 5kg", "without its unit kg", "write m = 5  # kg", "5kg"),
    "unit after a tab": ("m = 1.0", "m = 1.\tkg", "without its unit kg", "write m = 1.0  # kg", "1."),
    "unit in a table": ("rate = 0.0", "rate = 2 m/s", "without its unit m/s", "write rate = 2  # m/s", "2 m"),
    "unit of time": ("until = 0.5", "until = 10 s", "without its unit s", "write until = 10  # s", "10 s"),
    "degrees": ("theta = 0.0", "theta = 30 deg", "angles are in radians", 'write theta = "30*pi/180"', "30"),
    "degree sign": ("theta = 0.0", "theta = 30°", "angles are in radians", 'write theta = "30*pi/180"', "30"),
    "percent": ("m = 1.0", "m = 5 %", "without %", "write m = 0.05", "5 %"),
    "no digit after the point": ("m = 1.0", "m = 1.", "'1.' is not a number", "write m = 1.0", "1."),
    "no digit before the point": ("m = 1.0", "m = .5", "'.5' is not a number", "write m = 0.5", ".5"),
    "leading zeros": ("m = 1.0", "m = 007", "'007' is not a number", "write m = 7", "007"),
    "exponent with a point": ("m = 1.0", "m = 1e5.0", "the exponent of a number is whole", "write m = 1e5", "1e5"),
    "power of ten": ("m = 1.0", "m = 3·10^-3", "a power of ten is written with e", "write m = 3e-3", "3"),
    "small power of ten": ("m = 1.0", "m = 3x10⁻³", "a power of ten is written with e", "write m = 3e-3", "3"),
    "thousands": ("m = 1.0", "m = 1 000", "a number has no spaces or marks in it", "write m = 1000", "1 000"),
    "Swiss thousands": ("m = 1.0", "m = 1'000.5", "a number has no spaces or marks in it", "write m = 1000.5", "1'"),
    "one half": ("m = 1.0", "m = ½", "½ is not a number", "write m = 0.5", "½"),
    "one and a half": ("m = 1.0", "m = 1½", "1½ is not a number", "write m = 1.5", "1½"),
    "a fraction": ("m = 1.0", "m = 1/3", "an expression goes in quotes", 'write m = "1/3"', "/3"),
    "pi": ("theta = 0.0", "theta = pi/6", "an expression goes in quotes", 'write theta = "pi/6"', "pi"),
    "the sign of pi": ("theta = 0.0", "theta = π/6", "an expression goes in quotes", 'write theta = "π/6"', "π"),
    "an expression": ('"m*g*y"', "m*g*y", "an expression goes in quotes", 'write potential = "m*g*y"', "m*g"),
    "an expression in a list": ('["x", "y"], color', "[x, y], color", "goes in quotes", 'point = ["x", "y"]', "x,"),
    "typographic quotes": ('"m*g*y"', "“m*g*y”", "“ is not a straight quote", 'write potential = "m*g*y"', "“"),
    "German quotes": ('"m*g*y"', "„m*g*y“", "„ is not a straight quote", 'write potential = "m*g*y"', "„"),
    "French quotes": ('"m*g*y"', "« m*g*y »", "« is not a straight quote", 'write potential = "', "«"),
    "backticks": ('"m*g*y"', "`m*g*y`", "` is not a straight quote", 'write potential = "m*g*y"', "`"),
    "one typographic quote": ('"m*g*y"', '"m*g*y”', "” is not a straight quote", 'write potential = "m*g*y"', "”"),
    "typographic marks too": ('"-0.2*theta\'"', "“-0.2*theta’”", "straight", "write theta = \"-0.2*theta'\"", "“"),
    "single quotes": ('"-0.2*theta\'"', "'-0.2*theta''", "the rate mark '", "write theta = \"-0.2*theta'\"", "''"),
    "a double quote for two marks": ('"y\' = 0"', '"y" = 0"', 'text ends at this "', "write when = \"y'' = 0\"", '" ='),
    "quote not closed": ('"m*g*y"', '"m*g*y', "the text does not end", 'write potential = "m*g*y"', ""),
    "single quote not closed": ('"m*g*y"', "'m*g*y", "the text does not end", 'write potential = "m*g*y"', ""),
    "semicolon": ("m = 1.0", "m = 1.0;", "a line does not end in ;", "write m = 1.0", ";"),
    "comma at the end": ("m = 1.0", "m = 1.0,", "a line does not end in ,", "write m = 1.0", ","),
    "colon": ("m = 1.0", "m: 1.0", ": stands where = is meant", "write m = 1.0", ":"),
    "colon and equals": ("m = 1.0", "m := 1.0", ":= stands where = is meant", "write m = 1.0", ":="),
    "two equals": ("m = 1.0", "m == 1.0", "== stands where = is meant", "write m = 1.0", "=="),
    "no equals": ("until = 0.5", "until 0.5", "= is missing after the key", "write until = 0.5", "0.5"),
    "no value": ("until = 0.5", "until =", "the value of until is missing", "write until = 1.0", ""),
    "umlaut in a key": ("R = 0.5", "R = 0.5\ngröße = 1.0", "the key größe has letters", '"größe" = 1.0', "größe"),
    "Greek key": ("R = 0.5", "R = 0.5\nθ = 1.0", "the key θ has letters beyond a to z", 'quotes: "θ" = 1.0', "θ"),
    "spaces in a key": ("R = 0.5", "R = 0.5\nspring rate = 3", "has spaces in it", "write spring_rate = 3", "spring"),
    "a word before": ("m = 1.0", "m = 1.0\nlet k = 1.0", "has spaces in it", "write k = 1.0", "let"),
    "a rate as a key": ("theta = 0.0", "theta = 0.0\ntheta' = 1.0", "theta' is a rate", "rate = 1.0 }", "theta'"),
    "Python truth": ("stop = true", "stop = True", "'True' is not a value", "write stop = true", "True"),
    "yes": ("stop = true", "stop = yes", "'yes' is not a value", "write stop = true", "yes"),
    "None": ("m = 1.0", "m = None", "'None' is not a value", "leave m out", "None"),
    "a C comment": ("m = 1.0", "m = 1.0 // kg", "a comment begins with #", "write m = 1.0  # kg", "//"),
    "a MATLAB comment": ("m = 1.0", "m = 1.0 % the mass", "a comment begins with #", "m = 1.0  # the mass", "%"),
    "a line of C comment": ("m = 1.0", "// masses\nm = 1.0", "a comment begins with #", "write # masses", "//"),
    "parentheses for a list": ("[0, 1, 2]", "(0, 1, 2)", "a list stands in [ ]", "write times = [0, 1, 2]", "("),
    "semicolons in a list": ("[0, 1, 2]", "[0; 1; 2]", "separated by ,", "write times = [0, 1, 2]", ";"),
    "no commas in a list": ("[0, 1, 2]", "[0 1 2]", "a comma is missing in the list", "times = [0, 1, 2]", "1"),
    "section not closed": ("[units]", "[units", "] is missing after the name", "write [units]", ""),
    "section not opened": ("[units]", "units]", "stands in [ ]", "write [units]", "units"),
    "section in braces": ("[units]", "{units}", "stands in [ ]", "write [units]", "{"),
    "section with a colon": ("[units]", "units:", "stands in [ ]", "write [units]", "units"),
    "section and a key": ("[units]", "[units] length = 1", "in a line of its own", "after [units]", "length"),
    "a space of typography": ("m = 1.0", "m =\u00a01.0", "a space that is not a plain one", "type a space", "\u00a0"),
    "given twice in a table": ("rate = 0.0", "start = 0.0", "'start' is given twice", "the first is in line", "start"),
    "unit of inertia": ("m = 1.0", "m = 0.5 kgm²", "without its unit kgm²", "write m = 0.5  # kgm²", "0.5"),
    "given twice": ("g = 9.81", "g = 9.81\ng = 10", "'g' is given twice", "the first is in line", "g = 10"),
}  # fmt: skip


def problems_of(text):
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "model.toml")
    return caught.value.problems


def spoilt(what):
    before, after = SLIPS[what][:2]
    assert before in SLIDER
    return SLIDER.replace(before, after, 1)


@pytest.mark.parametrize("what", SLIPS)
def test_a_slip_is_named_and_located_and_mended(what):
    _, _, said, remedy, place = SLIPS[what]
    text = spoilt(what)
    first = next(p for p in problems_of(text) if said in p.message)
    assert remedy in first.hint
    line = text.split("\n")[first.line - 1]
    assert first.source == line
    assert line[first.column - 1 :].startswith(place)


WHOLE = [
    remedy
    for *_, remedy, _ in SLIPS.values()
    if " = " in remedy and remedy.startswith("write ") and remedy.count('"') % 2 == 0 and "}" not in remedy
]


@pytest.mark.parametrize("remedy", WHOLE)
def test_what_is_to_be_written_is_toml(remedy):
    assert tomllib.loads(remedy.removeprefix("write "))


@pytest.mark.parametrize("what", SLIPS)
def test_a_slip_makes_no_further_mistakes(what):
    """Names that a spoilt line declares stay known: nothing is said of what merely refers to them."""
    assert len(problems_of(spoilt(what))) == 1


MANY = SLIDER.replace("g = 9.81", "g = 9,81").replace("R = 0.5", "R = 0.5 m").replace('"m*g*y"', "m*g*y")
MANY = MANY.replace("[units]", "[units").replace('"r2 = R^2"', '"r2 == R^2"').replace("until = 0.5", "untill = 0.5")
MANY = MANY.replace("theta = 0.0", "theta = 30°").replace("stop = true", "stop = True")


def test_all_slips_of_a_file_are_told_together_and_other_mistakes_with_them():
    lines = {p.source.split(" =")[0]: p.message for p in problems_of(MANY)}
    assert lines.keys() == {"g", "R", "theta", "potential", "rod", "top", "[units", "untill"}
    assert "unknown key 'untill' in [run]" in lines["untill"]
    assert "'==' is one sign too many" in lines["rod"]


def test_slips_in_lists_over_several_lines_do_not_hide_what_follows():
    text = SLIDER.replace('[[0, 0], ["x", "y"]]', "[\n  [0, 0],\n  [x, y],\n]").replace("tol = 1e-10", "tol = 1e-10,")
    assert [p.line for p in problems_of(text)] == [50, 57]


def test_a_model_of_bodies_tells_all_its_slips():
    text = "[bodies.a]\nmass = 1,5\ninertia = 0.1 kgm^2\n[joints.b]\nkind = 'revolute\n"
    assert [p.line for p in problems_of(text)] == [2, 3, 5]


@pytest.mark.parametrize("name", sorted(GOOD))
@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_tabs_and_byte_order_marks_are_no_mistakes(name, end):
    text = "\ufeff" + GOOD[name].replace(" = ", "\t=\t").replace("\n", end)
    assert read_model(text).system == read_model(GOOD[name]).system


def test_whatever_tomllib_says_has_words():
    for said, (message, _) in WORDS.items():
        assert slip_in("x" * 1000, 5, said).message == message


HOSTILE = ["x = " + "[" * 10 + "1," * 50_000, "a = 1 b\n" * 5_000, "x = '" * 20_000, "=" * 50_000, "[a" * 20_000,
           "(" * 50_000, "a b " * 10_000, "1,2" * 30_000, "x = " + "1 " * 30_000, "\u00a0" * 10_000, "a = {" * 10_000,
           'x = """' + "k = 1\n" * 20_000, "x = 1\n" * 20_000, "x = (\n" * 20_000, "[" + " " * 400_000,
           "[a" + " " * 400_000 + "!", ("[a" + " " * 1_600 + "!\n") * 200, ("a" + " " * 1_600 + "!\n") * 200,
           ("a = 1 b\n[" + " " * 390 + "!\n") * 100, ("a = " + "1" * 390 + "\n") * 100, "x = (" + "," * 390,
           ("a" * 390 + " b\n") * 100]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_lines_are_refused_soon(text):
    begin = time.process_time()
    assert problems_of(text)
    assert time.process_time() - begin < 3
