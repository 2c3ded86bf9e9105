"""Names with an index in a template, and what they stand for."""

from zwang.files.language.grammar import parse
from zwang.files.language.indices import parse_ranges
from zwang.files.language.repeat import Repeats


def test_a_name_with_an_index_stands_for_one_coordinate_in_each_member():
    repeats = Repeats(arrays={"x": parse_ranges("k = 0:3", {})})
    with repeats.over(parse_ranges("i = 1:3", {})) as here:
        tree = repeats.resolved(parse("(i^2 + 1)*x[i - 1]*x[0]"))
    assert [arg.value[0] for arg in tree.args] == ["i#1", "x[i-1]", "x[0]"]
    assert here.names["x[i-1]"].tolist() == ["x[0]", "x[1]", "x[2]"]
    assert here.numbers == {"i#1": [2, 5, 10]}
