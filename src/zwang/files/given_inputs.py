"""Inputs that are given beside a model, as text: a number, an expression in time and parameters, or a table."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.files.language.build import Builder, Built
from zwang.files.language.grammar import Node, parse
from zwang.files.language.names import CONSTANTS, TIME
from zwang.files.tables import CellError, read_columns, table_text
from zwang.files.toml.problems import Misread
from zwang.model.signal import INTERPOLATIONS, Signal
from zwang.model.symbols import t
from zwang.words import did_you_mean, listed, quoted

TABLE = ".csv"


def given_input(name: str, text: str, parameters: Iterable[str]) -> Any:
    """What a known function of time is: `3`, `2*sin(w*t)` or `push.csv`; `push.csv,cubic` is a spline.

    A table has the times in the column t or in its first one, and the values in the one that is called as the input,
    in u, or in the other one. Whatever cannot be read is refused by the name of the input.

    >>> given_input("u", "3", ()), given_input("u", "2*sin(w*t)", ["w"])
    (3.0, 2*sin(t*w))
    """
    text = text.strip()
    file, _, kind = text.rpartition(",") if text.rpartition(",")[2].strip() in INTERPOLATIONS else (text, "", "")
    try:
        if file.lower().endswith(TABLE):
            return table_of(name, Path(file), kind.strip() or INTERPOLATIONS[0])
        return expression_of(text, tuple(parameters))
    except CellError as error:
        said = f"{error.problem.file}, line {error.problem.line}: {error.problem.message}; {error.problem.hint}"
    except Misread as error:
        said = f"{error.message}; {error.hint}" if error.hint else error.message
    except InputError as error:
        said = error.mistakes[0].text
    raise InputError(f"{name} = {quoted(text)}: {said}")


def expression_of(text: str, parameters: tuple[str, ...]) -> Any:
    """A number, or an expression in time and parameters."""
    try:
        value = float(text)
    except ValueError:
        pass
    else:
        if not math.isfinite(value):
            raise Misread("a finite number is needed", 0)
        return value

    def name(node: Node) -> Built:
        """What a name stands for: the time, a constant or a parameter, of which an input is made."""
        word, marks = node.value
        if word in CONSTANTS and not marks:
            return Built(sp.pi, float(sp.pi)) if word == "pi" else Built(sp.E, float(sp.E))
        if word == TIME and not marks:
            return Built(t)
        if word in parameters and not marks:
            return Built(sp.Symbol(word))
        there = f"an input is a number, an expression in t and parameters, or a table with a name in {TABLE}"
        known = f"; the parameters are {listed(parameters, 6)}" if parameters else ""
        raise Misread(f"{quoted(word + chr(39) * marks)} is not known here", node.at, there + known)

    return Builder(name, name).build(parse(text)).expr


def table_of(name: str, file: Path, kind: str) -> Signal:
    """The signal of a table with two columns, or with more and the names to choose by."""
    if not file.is_file():
        raise Misread(f"there is no file {quoted(str(file))}", 0)
    folder, text = file.parent, table_text(file, file.name)
    header = [word.strip() for word in next(csv.reader(text.splitlines()[:1], skipinitialspace=True), [])]
    if len(header) < 2:
        raise Misread(f"{file.name} has {len(header)} columns: one of times and one of values are needed", 0)
    time = "t" if "t" in header else header[0]
    others = [word for word in header if word != time]
    value = next((word for word in (name, "u") if word in others), others[0])
    if len(others) > 1 and value not in (name, "u"):
        raise Misread(f"{file.name} has no column {quoted(name)}{did_you_mean(name, others)}", 0,
                      f"its columns are {listed(map(quoted, header), 20)}; call one as the input")  # fmt: skip
    return Signal(*read_columns({"file": file.name, "time": time, "value": value}, folder), kind)  # type: ignore[arg-type]
