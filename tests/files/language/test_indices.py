"""Indices in model files: ranges, and what is linear in them."""

import pytest

from zwang.files.language.grammar import parse
from zwang.files.language.indices import linear, parse_ranges
from zwang.files.toml.problems import Misread


@pytest.mark.parametrize(
    ("text", "shown"), [("i - 1", "i-1"), ("2*i + 1", "2*i+1"), ("-(j - i)*2 + n", "-2*j+2*i+7"), ("i - i", "0")]
)
def test_an_index_is_linear_in_indices(text, shown):
    assert str(linear(parse(text), ("i", "j"), {"n": 7})) == shown


@pytest.mark.parametrize("text", ["i*j", "i^2", "i/2", "1.5", "sin(i)", "k", "i'", "99999999"])
def test_other_indices_are_refused(text):
    with pytest.raises(Misread):
        linear(parse(text), ("i", "j"), {})


def test_ranges_include_both_ends_and_the_last_index_runs_fastest():
    ranges = parse_ranges("i = -1:0, j = 1:n", {"n": 2})
    assert ranges.labels("z") == ["z[-1,1]", "z[-1,2]", "z[0,1]", "z[0,2]"]
