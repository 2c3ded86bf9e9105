"""The gate to SymPy: what is not an expression is refused, and text never runs, however deep it is hidden."""

from collections import UserString

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.compile.program import expression_of
from zwang.errors import InputError
from zwang.model.symbols import as_expression, as_scalar

CODE = "__import__('pathlib').Path('executed').touch()"
HIDDEN = {
    "plain": CODE,
    "NumPy's": np.str_(CODE),
    "bytes": CODE.encode(),
    "list": [CODE],
    "tuple": (CODE,),
    "nested": ((CODE,), 1),
    "value": {"a": CODE},
    "key": {CODE: 1},
    "set": {CODE},
    "frozen set": frozenset([CODE]),
    "text of the collections": UserString(CODE),
    "array": np.array([CODE]),
    "array of objects": np.array([(CODE,), 1], dtype=object),
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize(
    "use",
    [
        as_expression,
        as_scalar,
        zw.dot,
        lambda value: zw.Event(value, "e"),
        lambda value: mb.Particle("p", value),
        lambda value: mb.Rod("r", mb.ground, mb.Particle("p", 1), length=value),
    ],
    ids=["expression", "scalar", "dot", "event", "mass", "length"],
)
def test_text_is_refused_and_does_not_run(use, hidden, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        use(hidden)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("hidden", [v for k, v in HIDDEN.items() if "array" not in k], ids=str)
def test_nor_does_it_reach_the_parser_of_compiled_programs(hidden):
    with pytest.raises(InputError, match="nothing here parses text"):
        expression_of(hidden)


@pytest.mark.parametrize("value", [2, 2.5, np.float64(2.5), sp.Symbol("a"), sp.Matrix([1, 2])], ids=str)
def test_numbers_expressions_and_matrices_pass(value):
    assert as_expression(value) == sp.sympify(value, strict=True)
