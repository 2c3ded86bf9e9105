"""Errors: sentences that know where a mistake was made."""

import pickle

import pytest

from zwang.errors import AssemblyError, InconsistentError, InputError, Mistake, ModelError, Said, ZwangError
from zwang.model.symbols import coordinates


def test_a_mistake_is_its_sentence():
    mistake = Mistake("it is ", 3, who="rod", where=("length",), remedy="give 2")
    assert mistake == "rod: it is 3: give 2"
    assert (mistake.who, mistake.where, mistake.text, mistake.remedy) == ("rod", ("length",), "it is 3", "give 2")
    assert mistake.parts == ("rod", ": ", "it is ", 3, ": ", "give 2")


def test_words_within_words_keep_their_parts():
    x = coordinates("x")
    inner = Said("look at ", x)
    outer = Mistake("kinetic: ", inner)
    assert outer == "kinetic: look at x(t)"
    assert outer.put(lambda part: "x" if part is x else str(part)) == "kinetic: look at x"


def test_every_error_has_its_mistakes():
    error = InputError("the mass is ", -1, where=("mass",))
    assert str(error) == "the mass is -1"
    assert error.mistakes == ("the mass is -1",)
    assert error.mistakes[0].where == ("mass",)
    both = ModelError([Mistake("a", where=("kinetic",)), Mistake("b")], "rod")
    assert str(both) == "the system 'rod' has 2 mistakes:\n  - a\n  - b"
    assert [m.where for m in both.mistakes] == [("kinetic",), ()]
    assert InconsistentError("rows 1 and 2", [1, 2]).mistakes == ("rows 1 and 2",)


@pytest.mark.parametrize("kind", [ZwangError, InputError, AssemblyError])
def test_errors_travel_between_processes(kind):
    error = pickle.loads(pickle.dumps(kind("the mass is ", -1, where=("mass",))))
    assert (str(error), error.mistakes[0].where) == ("the mass is -1", ("mass",))
