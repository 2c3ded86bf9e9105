"""Small systems as large ones."""

import pytest

from zwang.analysis import equilibrium as module
from zwang.analysis.large import suits
from zwang.lowering.rolled import families


@pytest.fixture
def sparse(monkeypatch):
    """All systems are large, and nothing is left to the dense search."""

    def refused(*_):
        raise AssertionError("this was left to dense matrices")

    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    monkeypatch.setattr(suits, "LARGE_REST", 1)
    monkeypatch.setattr(module, "settled_on_contacts", refused)
