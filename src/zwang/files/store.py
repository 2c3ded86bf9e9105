"""Motions in files: NetCDF and CSV, written so that a file is complete or not there at all."""

import contextlib
import csv
import io
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zwang.errors import InputError
from zwang.results.dataset import VARIABLES

if TYPE_CHECKING:
    import xarray as xr

ENGINE: Literal["h5netcdf"] = "h5netcdf"
REQUIRED = ("q", "v")
COLUMNS = {"q": "{}", "v": "{}'", "a": "{}''"}  # what a person calls the columns of a coordinate


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a file that is complete or not there: beside its place first, then moved there in one step.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", "all of it").read_text()
    'all of it'
    """
    data = content.encode("utf-8") if isinstance(content, str) else content

    def write(temporary: Path) -> None:
        with open(temporary, "wb") as file:
            file.write(data)

    return write_beside(Path(path), write)


def save_motion(motion: "xr.Dataset", path: str | os.PathLike[str]) -> Path:
    """Write a motion as NetCDF; `load_motion` reads it back equal."""
    require_motion(motion, "save_motion")

    def write(temporary: Path) -> None:
        motion.to_netcdf(temporary, engine=ENGINE)

    return write_beside(Path(path), write)


def load_motion(path: str | os.PathLike[str]) -> "xr.Dataset":
    """The motion in a NetCDF file, all of it in memory; the file is closed again."""
    import xarray as xr

    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        with xr.open_dataset(path, engine=ENGINE) as opened:
            motion = opened.load()
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} is no NetCDF file that can be read ({reason}): save one with save_motion") from None
    require_motion(motion, str(path))
    return as_saved(motion)


def save_csv(motion: "xr.Dataset", path: str | os.PathLike[str]) -> Path:
    """Write a motion as comma-separated columns over time: x, x', x'', then forces, multipliers, energies, …"""
    return write_atomically(path, csv_text(motion))


def csv_text(motion: "xr.Dataset") -> str:
    """A motion as comma-separated columns over time; every number to its last digit."""
    require_motion(motion, "save_csv")
    if motion.q.dims != ("time", "coordinate"):
        raise InputError(f"this is more than one motion (dimensions {motion.q.dims}): choose one with .isel(…)")
    columns = dict(columns_of(motion))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return text.getvalue()


def columns_of(motion: "xr.Dataset") -> Iterator[tuple[str, Any]]:
    """The columns over time of a motion, each with its name."""
    yield "t", motion.time.values
    for name in VARIABLES:
        if name not in motion:
            continue
        values = motion[name]
        if values.dims == ("time",):
            yield name, values.values
        elif len(values.dims) == 2:
            for i, label in enumerate(motion[values.dims[1]].values):
                yield COLUMNS.get(name, name + "[{}]").format(label), values.values[:, i]


def require_motion(motion: Any, who: str) -> None:
    """Refuse what is no motion, saying what is missing."""
    import xarray as xr

    if not isinstance(motion, xr.Dataset):
        raise InputError(f"{who}: a motion is an xarray.Dataset as simulate gives it, not a {type(motion).__name__}")
    missing = [name for name in REQUIRED if name not in motion.data_vars]
    missing += [name for name in ("time", "coordinate") if name not in motion.dims]
    if missing:
        raise InputError(f"{who}: this is no motion, {', '.join(missing)} is missing: give one from simulate")


def as_saved(motion: "xr.Dataset") -> "xr.Dataset":
    """A dataset as it was before it went into a file: text as text, plain numbers as attributes."""
    texts = {
        name: (variable.dims, variable.values.astype(str), variable.attrs)
        for name, variable in motion.variables.items()
        if variable.dtype.kind in "OT"
    }
    motion = motion.assign_coords({k: v for k, v in texts.items() if k in motion.coords})
    motion = motion.assign({k: v for k, v in texts.items() if k not in motion.coords})
    for attributes in (motion.attrs, *(v.attrs for v in motion.variables.values())):
        for key, value in attributes.items():
            if hasattr(value, "item"):
                attributes[key] = value.item() if value.ndim == 0 else value.tolist()
    return motion


def write_beside(path: Path, write: Callable[[Path], None]) -> Path:
    """Let something write a temporary file beside a path, then move it there; on any failure it is removed."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}: make it first")
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        write(temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:  # also when a signal interrupts
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path
