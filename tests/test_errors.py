"""Errors: every one has its mistakes, and takes them along."""

import pickle

import pytest

from zwang.errors import AssemblyError, InconsistentError, InputError, ModelError, ZwangError
from zwang.mistakes import Mistake


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
