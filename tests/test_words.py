"""Words that messages are made of."""

import pytest

from zwang.words import count, did_you_mean, listed, nearest, quoted, shortened


def test_one_is_counted_in_the_singular():
    assert [count(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert [count(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]


@pytest.mark.parametrize(
    ("names", "read"), [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ((0, 2), "0 and 2")]
)
def test_lists_read_as_sentences_do(names, read):
    assert listed(names) == read


def test_of_many_the_first_are_listed_and_the_rest_counted():
    assert listed("abcdefghij", most=8) == "a, b, c, d, e, f, g and 3 more"
    assert listed("abcdefgh", most=8) == "a, b, c, d, e, f, g and h"
    assert listed((".png", ".svg", ".pdf"), last="or") == ".png, .svg or .pdf"


def test_what_is_too_long_is_cut():
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 81) == "a" * 80 + "…"
    assert quoted("b" * 50) == "'" + "b" * 40 + "…'"


def test_what_was_meant_is_the_same_in_other_letters_before_anything_alike():
    assert nearest("R2", ["R1", "r2"]) == "r2"
    assert nearest("velocty", ["position", "velocity"]) == "velocity"
    assert nearest("zzz", ["position"]) == ""
    assert nearest("a" * 101, ["a" * 100]) == ""
    assert did_you_mean("zzz", ["position"]) == ""
