"""Measured motions, from whatever people have: times, and columns by name."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from zwang.analysis.fitting.table import TIMES, table_in
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.words import listed


@dataclass(frozen=True, eq=False)
class Measured:
    """Columns (N, k) at times (N,), ascending; gaps are not numbers."""

    times: Array
    names: tuple[str, ...]
    values: Array


def measured(data: Any, wanted: Sequence[str] | None, who: str = "data") -> Measured:
    """The wanted columns of a dataset or array over time, a data frame, a CSV file, or a mapping of columns."""
    columns = columns_of(data, who)
    time = next((columns.pop(name) for name in TIMES if name in columns), None)
    if time is None:
        raise InputError(f"{who} has no column 't' or 'time': there are {listed(map(repr, columns), 6) or 'none'}")
    names = tuple(columns) if wanted is None else tuple(wanted)
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(f"{who} has no column {missing[0]!r}: there are {listed(map(repr, columns), 6) or 'none'}")
    times = numeric(time, f"{who}: the times")
    values = [numeric(columns[name], f"{who}: column {name!r}") for name in names]
    wrong = [name for name, x in zip(names, values, strict=True) if x.shape != times.shape]
    if wrong or times.ndim != 1:
        raise InputError(f"{who}: column {(wrong or ['t'])[0]!r} does not have one number a time")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise InputError(f"{who}: times must be finite and ascend")
    return Measured(times, names, np.stack(values, axis=1) if values else np.zeros((len(times), 0)))


def columns_of(data: Any, who: str) -> dict[str, Any]:
    """Columns by name, with the times among them."""
    kind = type(data).__name__
    if isinstance(data, str | PathLike):
        return columns_of_file(data)
    if kind == "Dataset" and hasattr(data, "data_vars"):
        return columns_of_dataset(data)
    if kind == "DataArray" and hasattr(data, "dims"):
        return columns_of_array(data, who)
    if kind == "DataFrame" and hasattr(data, "columns"):
        found = {str(name): data[name].to_numpy() for name in data.columns}
        return found if any(name in found for name in TIMES) else {"time": data.index.to_numpy(), **found}
    if isinstance(data, Mapping):
        return {str(name): x for name, x in data.items()}
    raise InputError(f"{who} is a {kind}: give a dataset, a data frame, the path of a CSV file or a mapping of columns")


def columns_of_file(path: "str | PathLike[str]") -> dict[str, Any]:
    """The columns of a CSV file, named in its first line."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            table = table_in(file.read())
    except OSError as error:
        raise InputError(f"data: {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"data: {path} is not text in UTF-8: save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"data: {path} is no CSV file: {error}") from None
    names = [name for name in table.names if name]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"data: {path} has the column {twice!r} twice: give each a name of its own")
    empty = ("",) * len(table.names)
    if long := next((line for line, row in table.rows if any(row[len(empty) :])), 0):
        raise InputError(f"data: {path}, line {long} has more cells than there are columns")
    cells = [(*row, *empty)[: len(empty)] for _, row in table.rows]
    return {name: [table.cell(row[i]) for row in cells] for i, name in enumerate(table.names) if name}


def columns_of_dataset(data: Any) -> dict[str, Any]:
    """Variables over time, and of motions the coordinates and rates by their names."""
    found: dict[str, Any] = {"time": data["time"].values} if "time" in data else {}
    found |= {str(name): x.values for name, x in data.data_vars.items() if x.dims == ("time",)}
    for name, mark in (("q", ""), ("v", "'")):
        if name in data and set(data[name].dims) == {"time", "coordinate"}:
            parts = data[name].transpose("time", "coordinate").values
            for i, q in enumerate(data["coordinate"].values):
                found.setdefault(f"{q}{mark}", parts[:, i])
    return found


def columns_of_array(data: Any, who: str) -> dict[str, Any]:
    """The columns of an array over time and perhaps one more dimension, named by its labels."""
    if "time" not in data.dims or data.ndim > 2:
        raise InputError(f"{who} is an array over {listed(map(str, data.dims))}: time and one more are meant")
    other = [d for d in data.dims if d != "time"]
    if not other:
        return {"time": data["time"].values, str(data.name): data.values}
    parts = data.transpose("time", *other).values
    return {"time": data["time"].values} | {str(x): parts[:, i] for i, x in enumerate(data[other[0]].values)}


def numeric(values: Any, what: str) -> Array:
    """Numbers; empty text is a gap."""
    try:
        found = np.asarray([np.nan if isinstance(x, str) and not x.strip() else x for x in values], dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} are not all numbers; observe={{…}} names the columns that matter") from None
    if np.isinf(found).any():
        raise InputError(f"{what}: number {int(np.isinf(found).argmax()) + 1} is infinite; a gap is nan, or empty")
    return found
