"""Motions in files: NetCDF and CSV, written so that a file is complete or not there at all."""

import contextlib
import csv
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zwang.endings import MOTIONS, TABLES, require_ending
from zwang.errors import InputError
from zwang.one_step import clear, new_file
from zwang.results.dataset import VARIABLES
from zwang.results.misfit import misfit

if TYPE_CHECKING:
    import xarray as xr

REQUIRED = ("q", "v")
FEW = 150  # variables and attributes, far from what `foreign` allows: looking takes a ms each
COLUMNS = {"q": "{}", "v": "{}'", "a": "{}''"}  # what a person calls the columns of a coordinate


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a file that is complete or not there: beside its place first, then moved there in one step.

    A file that is replaced keeps its mode, and a link to one stays a link.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", "all of it").read_text()
    'all of it'
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}: make it first")
    try:
        place = Path(os.path.realpath(path))
        old = place.stat() if place.exists() else None
        clear(place.parent, place.name)
        # nobody reads what replaces a private file before it is as private
        with new_file(place, 0o600 if old else 0o666) as file:
            if old:
                as_before(file.fileno(), old)
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    except UnicodeEncodeError:
        raise InputError(f"{path} cannot be written: a name has half a letter in it, which no file can hold") from None
    return path


def as_before(file: int, old: os.stat_result) -> None:
    """Give an open file the owner, as far as that is allowed, and the mode of the one that it replaces."""
    if hasattr(os, "fchown"):  # not on Windows
        with contextlib.suppress(OSError):
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))


def save_motion(motion: "xr.Dataset", path: str | os.PathLike[str]) -> Path:
    """Write a motion as NetCDF; `load_motion` reads it back equal."""
    require_motion(motion, "save_motion")
    require_ending(path, MOTIONS)
    try:
        content = netcdf(motion)
    except (TypeError, ValueError, RuntimeError, NotImplementedError, KeyError) as error:
        raise InputError(f"{path}: NetCDF cannot hold this motion ({first_line(error)})") from None
    if len(motion.variables) + len(motion.attrs) > FEW:
        require_read_back(content, path)
    return write_atomically(path, content)


def require_read_back(content: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse to write what has more names than `load_motion` takes from anybody."""
    import h5py

    from zwang.files.foreign import Strange, require_plain

    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            require_plain(file, len(content))
    except Strange as error:
        raise InputError(f"{path}: load_motion would not read this motion: {error}; leave some out") from None


def netcdf(motion: "xr.Dataset") -> bytes:
    """A motion as the bytes of a NetCDF file.

    They are made in memory: HDF5 does not survive a disk that fills up while it writes.
    """
    import h5netcdf
    import h5py
    from xarray.backends import H5NetCDFStore

    memory = io.BytesIO()
    with h5py.File(memory, "w", track_order=True) as raw, h5netcdf.File(raw, "w") as file:
        motion.dump_to_store(H5NetCDFStore(file, mode="w"))
    return memory.getvalue()


def load_motion(path: str | os.PathLike[str]) -> "xr.Dataset":
    """The motion in a NetCDF file, all of it in memory; the file is closed again.

    A stranger's file is safe to open: one that leads into other files, that would unpack to many times its size, or
    that holds something else than numbers and text is refused before anything of it is read.
    """
    import h5netcdf
    import h5py
    import xarray as xr
    from xarray.backends import H5NetCDFStore

    from zwang.files.foreign import Strange, require_plain, require_sound_heaps

    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        require_sound_heaps(path)
        with h5py.File(path, "r") as raw:
            require_plain(raw, path.stat().st_size)
            # units such as "days" are labels: they turn no number into a date
            with (
                h5netcdf.File(raw, "r", decode_vlen_strings=True) as file,
                xr.open_dataset(H5NetCDFStore(file), decode_times=False) as opened,
            ):
                motion = as_saved(opened.load())
    except Strange as error:
        raise InputError(f"{path} is not a motion that can be trusted: {error}; save one with save_motion") from None
    except Exception as error:  # HDF5, h5netcdf and xarray raise what they like on files that are not theirs
        reason = first_line(error)
        raise InputError(
            f"{path} is not a NetCDF file that can be read ({reason}): save one with save_motion"
        ) from None
    require_motion(motion, str(path))
    require_fit(motion, str(path))
    return motion


def first_line(error: Exception) -> str:
    """What an error says first."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def save_csv(motion: "xr.Dataset", path: str | os.PathLike[str]) -> Path:
    """Write a motion as comma-separated columns over time: x, x', x'', then forces, multipliers, energies, …"""
    require_ending(path, TABLES)
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
    """Refuse what is not a motion, saying what is missing."""
    import xarray as xr

    if not isinstance(motion, xr.Dataset):
        raise InputError(f"{who}: a motion is an xarray.Dataset as simulate gives it, not a {type(motion).__name__}")
    missing = [name for name in REQUIRED if name not in motion.data_vars]
    missing += [name for name in ("time", "coordinate") if name not in motion.dims]
    if missing:
        raise InputError(f"{who}: this is not a motion, {', '.join(missing)} is missing: give one from simulate")


def require_fit(motion: "xr.Dataset", who: str) -> None:
    """Refuse a motion whose variables have other shapes than those of `simulate`, or hold something else."""
    if wrong := misfit(motion):
        raise InputError(f"{who}: {wrong}: give a motion from simulate")


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
