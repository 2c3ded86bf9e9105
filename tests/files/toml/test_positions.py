"""Places: every key and value of a document is found where it stands, inside strings too."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.files.models import GOOD
from zwang.errors import ModelFileError
from zwang.files.toml.document import parse_document
from zwang.files.toml.positions import find_places, inside
from zwang.files.toml.problems import Misread, Problem, window


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i))
    else:
        yield path, value


@pytest.mark.parametrize("name", GOOD)
def test_every_value_is_at_its_place(name):
    text = GOOD[name]
    places = find_places(text)
    for path, value in leaves(tomllib.loads(text)):
        if path not in places:  # an entry of a list of plain numbers
            assert isinstance(value, int | float)
            path = path[:-1]
        place = places[path]
        again = tomllib.loads(f"a = {text[place.value : place.end]}")["a"]
        assert again == value or value in again
        if isinstance(path[-1], str):
            assert text[place.key :].lstrip("\"'").startswith(path[-1])


TOML = """
a.b = 1
"c d" = 'x'
[t.u]
e = [1, "two", [3.0, 'four'], { f = "five", g.h = 6 }]
[[many]]
n = 1
[[many]]
n = "2"
[many.inner]
o = true
date = 1979-05-27 07:32:00
"""


def test_dotted_keys_arrays_and_tables_of_tables():
    places = find_places(TOML)
    for path, value in leaves(tomllib.loads(TOML)):
        raw = TOML[places[path].value : places[path].end]
        assert tomllib.loads(f"a = {raw}")["a"] == value
    assert places[("a", "b")].dotted
    assert not places[("c d",)].dotted


contents = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs", "Cc"]), max_size=12)


@given(contents, st.sampled_from(['"', '"""', '"""\n', "'", "'''", "'''\n"]), st.booleans())
def test_a_character_of_a_string_is_found_in_the_file(value, quotes, as_codes):
    closing = quotes.rstrip("\n")
    if closing[0] == "'":
        value = value.replace("'", "")
        raw = f"{quotes}{value}{closing}"
    else:
        code = "".join(f"\\U{ord(c):08x}" for c in value)
        plain = value.replace("\\", "\\\\").replace('"', '\\"')
        raw = f"{quotes}{code if as_codes else plain}{closing}"
    assert tomllib.loads(f"a = {raw}")["a"] == value
    for i, c in enumerate(value):
        at = inside(raw, i)
        assert raw[at] == c or raw[at] == "\\"
    assert inside(raw, len(value)) == len(raw) - len(closing)


def test_a_backslash_at_the_end_of_a_line_is_skipped():
    raw = '"""\\\n   m + \\\n   zz"""'
    value = tomllib.loads(f"a = {raw}")["a"]
    assert raw[inside(raw, value.index("zz"))] == "z"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 20, "nested more than"),
        ("a.b.c.d.e.f.g = 1", "more than 6 parts"),
        ("a = 1\na = 2", "'a' is given twice"),
        ("[a]\n[a]", r"\[a\] is given twice"),
        ("x" * 300 + " = 1", "a key of 300 characters"),
    ],
)
def test_what_would_exhaust_is_refused(text, message):
    with pytest.raises(Misread, match=message):
        find_places(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\nb = x", 2, 5),
        ("a = 1\r\nb = x", 2, 5),
        ("\n\na = [1, 2", 3, 10),
        ('a = "é', 1, 7),
        ("a = 'x'\nb", 2, 1),
        ("a = 1\u200b\nb", 1, 6),
    ],
)
def test_mistakes_of_toml_are_located(text, line, column):
    try:
        problems = parse_document(text, "f.toml").slips
    except ModelFileError as error:
        problems = error.problems
    (problem,) = problems
    assert (problem.line, problem.column) == (line, column)


def test_the_mark_is_under_the_place():
    assert window("日本 = x", 5) == ("日本 = x", "       ^")
    assert window("\tx\ty", 3) == ("    x    y", "         ^")
    shown, mark = window("a" * 500 + "!" + "b" * 500, 500)
    assert shown[mark.index("^")] == "!"
    assert len(shown) <= 102
    long = str(Problem("f", 1, 2, "w" * 1000, "", "\x1b[31mred"))
    assert "\x1b" not in long
    assert len(long) < 600
