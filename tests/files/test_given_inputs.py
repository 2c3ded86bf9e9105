"""Inputs as text: numbers, expressions and tables, each read or refused by the name of its input."""

from pathlib import Path

import pytest
import sympy as sp

from zwang.errors import InputError
from zwang.files.given_inputs import given_input
from zwang.model.signal import Signal
from zwang.model.symbols import t

w = sp.Symbol("w")


def test_a_number_and_an_expression_are_what_they_say() -> None:
    assert given_input("u", " -3e2 ", ()) == -300.0
    assert given_input("u", "2*sin(w*t) + pi", ["w"]) == 2 * sp.sin(w * t) + sp.pi
    assert given_input("u", "max(t, 1)", ()) == sp.Max(t, 1)


@pytest.mark.parametrize(
    ("head", "rows"),
    [("t,u", "0,1\n2,5"), ("time,torque", "0,1\n2,5"), ("t,m2,m1", "0,9,1\n2,9,5"), ("m1,t", "1,0\n5,2")],
)
def test_a_table_is_read_by_the_names_of_its_columns(tmp_path: Path, head: str, rows: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"{head}\n{rows}\n")

    assert given_input("m1", str(file), ()) == Signal([0, 2], [1, 5])


def test_a_table_may_be_a_spline(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("t,u\n0,1\n1,0\n2,5\n3,1\n")

    assert given_input("u", f"{file},cubic", ()) == Signal([0, 1, 2, 3], [1, 0, 5, 1], kind="cubic")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("nan", ""), ("inf", ""), ("", ""), ("x", ""), ("t'", ""), ("3*(", ""), ("__import__('os')", ""),
        ("9^9^9^9", ""), ("none.csv", None), ("a.csv", ""), ("a.csv", "t\n1\n"), ("a.csv", "t,u\n0,1\n1,x\n"),
        ("a.csv", "t,u\n1,1\n0,1\n"), ("a.csv", "t,a,b\n0,1,1\n1,1,1\n"), ("a.csv", "t,u\n0,1\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_the_name_of_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, content: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "a.csv").write_text(content)

    with pytest.raises(InputError, match=r"^u = "):
        given_input("u", text, ["w"])
