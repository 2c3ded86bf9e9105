"""Measured motions in CSV files: columns by name, with the times among them; empty cells are gaps."""

import csv
import math
from pathlib import Path as FilePath

from zwang.analysis.fitting.table import TIMES, table_in
from zwang.files.tables import CellError, cell_number, safe_path, table_text
from zwang.files.toml.problems import Misread, Problem
from zwang.words import did_you_mean, quoted

GAP = math.nan  # one and the same, so that columns with gaps compare equal

Columns = dict[str, tuple[float, ...]]


def told(value: float) -> float:
    """A number of a column, or the gap."""
    return GAP if math.isnan(value) else float(value)


def beside(name: str, folder: FilePath | None) -> Columns:
    """The columns of a CSV file beside the model; `Misread` or `CellError` says what is wrong."""
    return columns_in(table_text(safe_path(name, folder), name), name)


def columns_in(text: str, file: str) -> Columns:
    """The columns of a table, named in its first line: all of them numbers, times without gaps and ascending."""
    lines = text.splitlines()
    try:
        table = table_in(text)
    except csv.Error as error:
        raise Misread(f"{file} is no CSV file: {error}", 0) from None
    header = table.names
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise Misread(f"{file} has the column {quoted(twice)} twice", 0, "give each column a name of its own")
    time = time_column(list(header), file)
    columns: dict[str, list[float]] = {name: [] for name in header if name}
    for line, row in table.rows:
        if not any(row):
            continue
        for place, name in enumerate(header):
            cell = table.cell(row[place]) if place < len(row) else ""
            if name and not cell and name != time:
                columns[name].append(GAP)
            elif name:
                columns[name].append(cell_number(cell, file, line, lines, name))
        require_later(columns[time], file, line, lines, time)
    if not columns[time]:
        raise Misread(f"{file} has no lines of numbers", 0, "a line of names comes first, then a line for each time")
    return {name: tuple(values) for name, values in columns.items()}


def time_column(names: list[str], file: str) -> str:
    """The column of times."""
    if not names:
        raise Misread(f"{file} is empty", 0, "a line of names comes first, then a line for each time")
    time = next((name for name in TIMES if name in names), None)
    if time is None:
        there = ", ".join(map(quoted, names[:20]))
        raise Misread(f"{file} has no column 't' or 'time'", 0, f"its columns are {there}")
    return time


def require_later(times: list[float], file: str, line: int, lines: list[str], column: str) -> None:
    """Refuse a time that does not come after the one before it."""
    if len(times) > 1 and times[-1] <= times[-2]:
        message = f"the time {times[-1]:g} does not come after {times[-2]:g} (column {quoted(column)})"
        raise CellError(Problem(file, line, 1, message, "sort the lines by time, each once", lines[line - 1]))


def measured(columns: Columns) -> list[str]:
    """The columns that are not times."""
    time = next(name for name in TIMES if name in columns)
    return [name for name in columns if name != time]


def missing_column(name: str, columns: Columns, file: str) -> str:
    """What to say of a column that is not there; empty where it is."""
    if name in columns:
        return ""
    meant = did_you_mean(name, columns) or f": its columns are {', '.join(map(quoted, columns))}"
    return f"{file} has no column {quoted(name)}{meant}"
