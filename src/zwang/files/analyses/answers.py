"""Answers to hand on: as values for JSON, and as NetCDF where they are datasets."""

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.endings import ANSWERS, require_ending
from zwang.errors import InputError
from zwang.files.store import netcdf, write_atomically
from zwang.model.symbols import in_a_line

if TYPE_CHECKING:
    import xarray as xr

    from zwang.analysis.equilibrium import Equilibrium
    from zwang.analysis.fitting.found import Fit

KINDS = (".json", ".nc")


def values_of(answer: Any) -> dict[str, Any]:
    """An answer as numbers, text, lists and tables; a complex number is a pair of its parts."""
    if hasattr(answer, "data_vars"):
        return dataset_values(answer)
    return fit_values(answer) if hasattr(answer, "covariance") else equilibrium_values(answer)


def equilibrium_values(e: "Equilibrium") -> dict[str, Any]:
    """An equilibrium or a steady motion."""
    return {
        "state": {in_a_line(key): value for key, value in e.state.items()},
        "multipliers": dict(e.multipliers),
        "unique": dict(e.unique),
        "residual": e.residual,
        "stable": e.stable,
        "verdict": e.verdict,
        "eigenvalues": plain(np.asarray(e.eigenvalues)),
        "families": list(e.families),
        "constant": list(e.constant),
    }


def fit_values(found: "Fit") -> dict[str, Any]:
    """A fit."""
    names = [str(s) for s in found.values]
    return {
        "values": {str(s): x for s, x in found.values.items()},
        "errors": {str(s): x for s, x in found.errors.items()},
        "identifiable": {str(s): flag for s, flag in found.identifiable.items()},
        "covariance": dict(zip(names, np.asarray(found.covariance).tolist(), strict=True)),
        "verdict": found.verdict,
        "rss": found.rss,
        "numbers": found.numbers,
        "evaluations": found.evaluations,
        "residuals": plain(np.asarray(found.residuals)),
    }


def dataset_values(data: "xr.Dataset") -> dict[str, Any]:
    """The coordinates, variables and attributes of a dataset."""
    return {
        "dimensions": {str(name): int(size) for name, size in data.sizes.items()},
        "coordinates": {str(name): plain(x.values) for name, x in data.coords.items()},
        "variables": {
            str(name): {"dimensions": list(map(str, x.dims)), "values": plain(x.values)}
            for name, x in data.data_vars.items()
        },
        "attributes": {str(name): plain(x) for name, x in data.attrs.items()},
    }


def plain(value: Any) -> Any:
    """An array as lists, complex numbers as pairs of their parts.

    >>> plain(np.array([1 + 2j, 3]))
    [[1.0, 2.0], [3.0, 0.0]]
    """
    if isinstance(value, np.ndarray | np.generic):
        found = np.stack([value.real, value.imag], axis=-1) if np.iscomplexobj(value) else value
        return found.tolist()
    return value


def finite(value: Any) -> Any:
    """A value with None in place of what is not a finite number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    return [finite(entry) for entry in value] if isinstance(value, list | tuple) else value


def save_answer(answer: Any, path: str | os.PathLike[str]) -> Path:
    """Write an answer: a .json holds any, a .nc a dataset, complex variables as their `_real` and `_imag` parts."""
    path = Path(path)
    require_ending(path, ANSWERS)
    if path.suffix.lower() == ".json":
        return write_atomically(path, json.dumps(finite(values_of(answer)), indent=2, ensure_ascii=False) + "\n")
    data = getattr(answer, "motion", answer)
    if isinstance(data, tuple):
        raise InputError(f"{path}: several trials have several motions: write a .json")
    if not hasattr(data, "data_vars"):
        raise InputError(f"{path}: this is no dataset, which NetCDF holds: write a .json")
    return write_atomically(path, netcdf(in_real_parts(data)))


def in_real_parts(data: "xr.Dataset") -> "xr.Dataset":
    """A dataset without complex variables: NetCDF has none."""
    for name in [name for name, x in data.data_vars.items() if np.iscomplexobj(x.values)]:
        one = data[name]
        data = data.assign({f"{name}_real": one.real, f"{name}_imag": one.imag}).drop_vars(str(name))
    return data
