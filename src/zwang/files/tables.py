"""Inputs given by points: in the model file, or in a CSV file beside it."""

import csv
import io
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path as FilePath
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.files.toml.problems import Misread, Problem
from zwang.model.signal import Signal
from zwang.words import did_you_mean, quoted

LARGEST_TABLE = 20_000_000  # bytes of a CSV file


def table_names(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The CSV files that the inputs and the fit of a document name.

    >>> table_names({"inputs": {"u": {"file": "gusts.csv"}, "w": 3}})
    ('gusts.csv',)
    >>> table_names({"fit": {"data": "swing.csv"}})
    ('swing.csv',)
    """
    inputs = data.get("inputs")
    entries = inputs.values() if isinstance(inputs, dict) else ()
    named = [e["file"] for e in entries if isinstance(e, dict) and isinstance(e.get("file"), str)]
    fit = data.get("fit")
    measured = fit.get("data") if isinstance(fit, dict) else None
    named += [name for name in (measured if isinstance(measured, list) else [measured]) if isinstance(name, str)]
    return tuple(named)


def read_signal(document: Document, path: Path, entry: dict[str, Any], folder: FilePath | None) -> Signal | None:
    """The signal of an input's table, or None where something is wrong, which is then noted."""
    options = {key: entry[key] for key in ("kind", "outside") if key in entry}
    if ("file" in entry) == ("times" in entry or "values" in entry):
        document.of(
            path, "an input takes file, or times and values", 'write { file = "…" } or { times = […], values = […] }'
        )
        return None
    try:
        if "file" in entry:
            if path not in document.signals:
                times, values = read_columns(entry, folder)
                document.signals[path] = Signal(np.array(times), np.array(values), **options)
            return document.signals[path]
        missing = next((key for key in ("times", "values") if key not in entry), None)
        if missing:
            raise Misread(f"{missing} are missing", 0, "times and values go together")
        misplaced = next((key for key in ("time", "value") if key in entry), None)
        if misplaced:
            raise Misread(f"{quoted(misplaced)} names a column, but there is no file", 0)
        return Signal(entry["times"], entry["values"], **options)
    except InputError as error:
        document.of(path, error.mistakes[0].text)
    except Misread as error:
        document.of((*path, "file") if "file" in entry else path, error.message, error.hint)
    except CellError as error:
        document.problems.append(error.problem)
    return None


class CellError(Exception):
    """Raised where a cell of a table is not a number."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.message)


def read_columns(entry: dict[str, Any], folder: FilePath | None) -> tuple[list[float], list[float]]:
    """The two columns of a CSV file that an input names."""
    file = safe_path(entry["file"], folder)
    text = table_text(file, entry["file"])
    lines = text.splitlines()
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    try:
        header = next(rows, [])
        places = []
        for key, default in (("time", "t"), ("value", "u")):
            name = entry.get(key, default)
            if name not in header:
                there = ", ".join(map(quoted, header[:20])) or "none"
                raise Misread(
                    f"{entry['file']} has no column {quoted(name)}{did_you_mean(name, header[:200])}",
                    0,
                    f"its columns are {there}; say which with {key} = …",
                )
            places.append(header.index(name))
        columns: tuple[list[float], list[float]] = ([], [])
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            for column, place in zip(columns, places, strict=True):
                cell = row[place] if place < len(row) else ""
                column.append(cell_number(cell, entry["file"], rows.line_num, lines, header[place]))
    except csv.Error as error:
        raise Misread(f"{entry['file']}, line {rows.line_num}: {error}", 0) from None
    return columns


def cell_number(cell: str, file: str, line: int, lines: list[str], column: str) -> float:
    """A cell as a finite number."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    source = lines[line - 1] if line <= len(lines) else ""
    found = f"{quoted(cell)} is not a finite number" if cell.strip() else "a number is missing"
    message = f"{found} (column {quoted(column)})"
    at = max(source.find(cell), 0) + 1
    raise CellError(Problem(file, line, at, message, "fill the gap, or leave the line out", source))


def safe_path(name: str, folder: FilePath | None) -> FilePath:
    """The path of a file that a model names: inside the model's own folder, whatever the name tries."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if not name or "\0" in name or any(ord(c) < 32 for c in name) or len(name) > 200:
        raise Misread("this is not a name of a file", 0)
    if posix.is_absolute() or windows.is_absolute() or windows.drive or ".." in windows.parts or name.startswith("~"):
        raise Misread(
            f"{quoted(name)} leads out of the model's folder",
            0,
            "put the file beside the model, and give its name alone",
        )
    if folder is None:
        raise Misread(
            f"{quoted(name)} cannot be found, because this model has no folder", 0, "save the model, then load it"
        )
    try:
        root = folder.resolve()
        file = (root / posix).resolve()
    except (OSError, RuntimeError):  # of links that lead round in a circle
        hint = "put the file itself beside the model"
        raise Misread(f"{quoted(name)} is a link that leads nowhere", 0, hint) from None
    if not file.is_relative_to(root):
        raise Misread(
            f"{quoted(name)} leads out of the model's folder by a link", 0, "put the file itself beside the model"
        )
    return file


def table_text(file: FilePath, name: str) -> str:
    """The text of a table, if it is a regular file of bearable size."""
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode):
            raise Misread(f"{quoted(name)} is not a file", 0)
        if status.st_size > LARGEST_TABLE:
            raise Misread(f"{quoted(name)} has more than {LARGEST_TABLE // 10**6} million bytes", 0)
        with open(file, "rb") as opened:
            content = opened.read(LARGEST_TABLE + 1)
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise Misread(f"there is no file {quoted(name)} beside the model", 0) from None
    except OSError as error:
        raise Misread(f"{quoted(name)} cannot be read: {error.strerror}", 0) from None
    except UnicodeDecodeError:
        raise Misread(f"{quoted(name)} is not text in UTF-8", 0) from None
