"""Ranges of parameters: from the command and under [sweep], with what is said of wrong ones."""

import numpy as np
import pytest

from zwang.errors import InputError, ModelFileError
from zwang.files.ranges import grid_of, range_values
from zwang.files.read import read_model
from zwang.files.write import model_text

MODEL = """
[parameters]
L = 1.0
g = 9.81
[coordinates]
x = {{ start = "L" }}
[energy]
kinetic = "x'^2/2"
potential = "g*x^2/2"
[run]
until = 1.0
[sweep]
{}
"""


def test_a_range_has_both_its_ends():
    assert range_values("0.5:2:4").tolist() == [0.5, 1.0, 1.5, 2.0]
    assert range_values("2:-2:3").tolist() == [2.0, 0.0, -2.0]
    assert range_values(" 1e-3 : 1 : 2 ").tolist() == [1e-3, 1.0]
    assert range_values("3").tolist() == range_values("3:3:1").tolist() == [3.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("1:2:0", "is empty"),
        ("", "is not a number"),
        ([], "is empty"),
        ("1:2", "is not a range"),
        ("1:2:3:4", "is not a range"),
        ("1:2:2.5", "2.5 is not a whole number"),
        ("1:2:-3", "-3 is not a whole number"),
        ("1:2:1e9", "not a whole number from 1 to 1,000,000"),
        ("1:1:5", "begins and ends at 1"),
        ("1:2:1", "two ends and one value"),
        ("a:2:3", "'a' is not a number"),
        ("1:inf:3", "inf is not finite"),
        ("nan", "nan is not finite"),
        ("1,2,2", "has 2 twice"),
        ([1.0, 1.0], "the list has 1 twice"),
    ],
)
def test_a_wrong_range_is_told_what_is_wrong_with_it(given, words):
    with pytest.raises(InputError, match=words):
        range_values(given)


def test_a_grid_has_all_combinations_and_not_too_many():
    grid = grid_of({"L": "1:2:2", "g": "9:10:3"})
    assert [*zip(grid["L"], grid["g"], strict=True)] == [(1, 9), (1, 9.5), (1, 10), (2, 9), (2, 9.5), (2, 10)]
    with pytest.raises(InputError, match=r"100,000 × 10,000 are 1,000,000,000 samples"):
        grid_of({"L": "1:2:100000", "g": "9:10:10000"})


def test_a_model_file_says_what_is_varied_and_keeps_it_when_it_is_written():
    model = read_model(MODEL.format('L = "0.5:2:4"\ng = [9.0, 10.0]'))
    assert model.sweep == {"L": "0.5:2:4", "g": (9.0, 10.0)}
    assert {name: len(values) for name, values in model.swept.items()} == {"L": 8, "g": 8}
    assert read_model(model_text(model)).sweep == model.sweep
    assert read_model(model_text(type(model)(model.system, model.start, sweep=model.sweep))).sweep == model.sweep
    assert np.array_equal(model.swept["g"], [9, 10] * 4)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('K = "1:2:3"', r"\[sweep\] varies 'K', which is not a parameter"),
        ('G = "1:2:3"', "did you mean 'g'"),
        ('x = "1:2:3"', r"\[sweep\] varies 'x', which is not a parameter"),
        ('L = "1:2:0"', "'L': 1:2:0 is empty"),
        ('L = "1:2"', "'L': 1:2 is not a range"),
        ("L = []", "'L': the list is empty"),
        ("L = 3.0", "'L': a number where a range like"),
        ('L = [1.0, "2"]', "'L': text where a number is meant"),
        ("L = { from = 1 }", "'L' is a table"),
    ],
)
def test_a_sweep_that_is_written_wrongly_is_told_its_place(written, words):
    with pytest.raises(ModelFileError, match=words) as error:
        read_model(MODEL.format(written))
    assert [problem.line for problem in error.value.problems] == [13]
