"""The result of a simulation as an xarray.Dataset that accounts for itself."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.lowering.cache import Kept
from zwang.words import nearest

if TYPE_CHECKING:
    import xarray as xr

SHORT_MOTION = 10_000  # times of a motion whose outline is kept

# variable: dimensions beside time, what it is
VARIABLES = {
    "q": (("coordinate",), "coordinates"),
    "v": (("coordinate",), "velocities"),
    "a": (("coordinate",), "accelerations"),
    "force": (("coordinate",), "given force Q, inertial terms included"),
    "constraint_force": (("coordinate",), "force of constraint Q_c = M q̈ − Q"),
    "ideal_force": (("coordinate",), "ideal part of the force of constraint"),
    "nonideal_force": (("coordinate",), "nonideal part of the force of constraint"),
    "multiplier": (("constraint",), "multipliers λ of least length, M q̈ = Q + Aᵀλ + C"),
    "residual": (("constraint",), "what each constraint reads at position level"),
    "residual_rate": (("constraint",), "what each constraint reads at velocity level"),
    "kinetic": ((), "kinetic energy T"),
    "potential": ((), "potential energy V"),
    "energy": ((), "T + V"),
    "given_power": ((), "power of the given forces that are not in V, and of explicit time"),
    "constraint_power": ((), "power of the force of constraint, Q_c · q̇"),
    "nonideal_power": ((), "power of its nonideal part"),
    "energy_balance": ((), "energy gained beyond the work of all forces"),
    "gaussian": ((), "½ (q̈ − a)ᵀM(q̈ − a)"),
    "rank": ((), "rank of A"),
}


_OUTLINES: Kept["xr.Dataset"] = Kept()


def dataset(
    values: Mapping[str, Any],
    times: Array,
    coordinates: Sequence[str],
    constraints: Sequence[str],
    unique: NDArray[np.bool_] | None,
    attributes: Mapping[str, Any],
    leading: tuple[str, ...] = (),
) -> "xr.Dataset":
    """Put values over time under their names, with what they are in words; `leading` dimensions come first.

    Variables that have no values are left out.
    """
    names = tuple(name for name in VARIABLES if name in values)
    shape = np.shape(values[names[0]])[: len(leading) + 1]
    outline = Outline(
        times.tobytes(), tuple(coordinates), tuple(constraints), leading, shape, names, unique is not None
    )
    empty = _OUTLINES.get(outline, outline.dataset) if times.size <= SHORT_MOTION else outline.dataset()
    given = {name: np.asarray(values[name]) for name in names}
    motion = filled(empty, given if unique is None else given | {"unique": unique})
    motion.attrs = {key: plain(value) for key, value in attributes.items()}
    return motion


def filled(empty: "xr.Dataset", values: Mapping[str, Any]) -> "xr.Dataset":
    """A dataset with these values in the place of its own.

    It is `empty.copy(data=values)`, which xarray takes longer for than a short motion takes to integrate; where xarray
    has other inner works than the ones known here, it is that.
    """
    import xarray as xr

    try:
        variables = dict(empty._variables)
        for name in empty._coord_names:
            variables[name] = with_data(variables[name], variables[name]._data)
        for name, value in values.items():
            variables[name] = with_data(variables[name], value)
        inner: tuple[Any, ...] = set(empty._coord_names), dict(empty._dims), {}, dict(empty._indexes)
        return xr.Dataset._construct_direct(variables, *inner)
    except (AttributeError, TypeError):
        return empty.copy(data=values)


def with_variables(
    motion: "xr.Dataset", added: Mapping[str, tuple[Any, ...]], coordinates: Mapping[str, tuple[Any, ...]] | None = None
) -> "xr.Dataset":
    """A dataset with further variables, and with coordinates that are no index: dimensions, values and attributes.

    It is `motion.assign(added).assign_coords(coordinates)`, without aligning what is aligned already; where xarray has
    other inner works than the ones known here, it is that.
    """
    import xarray as xr

    beside = dict(coordinates or {})
    try:
        more = {name: xr.Variable(*given) for name, given in (*added.items(), *beside.items())}
        sizes = dict(motion._dims)
        for variable in more.values():
            if any(sizes.setdefault(dim, size) != size for dim, size in variable.sizes.items()):
                raise TypeError("sizes that differ are for xarray to refuse")
        inner: tuple[Any, ...] = {*motion._coord_names, *beside}, sizes, dict(motion.attrs), dict(motion._indexes)
        return xr.Dataset._construct_direct(dict(motion._variables) | more, *inner)
    except (AttributeError, TypeError):
        return motion.assign(added).assign_coords(beside)


def with_data(old: Any, data: Any) -> Any:
    """A variable of the same dimensions and attributes with other data."""
    kind = type(old)
    if kind not in _SLOTS:
        _SLOTS[kind] = {
            name for part in kind.__mro__ for name in getattr(part, "__slots__", ()) if name != "__weakref__"
        }
    if _SLOTS[kind] != {"_dims", "_data", "_attrs", "_encoding"}:
        raise AttributeError("a variable is made otherwise")
    new = object.__new__(kind)
    new._dims, new._data, new._attrs, new._encoding = old._dims, data, dict(old.attrs), None
    return new


_SLOTS: dict[type, set[str]] = {}


@dataclass(frozen=True)
class Outline:
    """A dataset without its values: what many motions share. xarray takes longer to make one than to fill one."""

    times: bytes
    coordinates: tuple[str, ...]
    constraints: tuple[str, ...]
    leading: tuple[str, ...]
    shape: tuple[int, ...]
    """Of scalars over leading dimensions and time."""
    names: tuple[str, ...] = tuple(VARIABLES)
    """The variables that it has."""
    unique: bool = True
    """And whether it says which multipliers are unique."""

    def dataset(self) -> "xr.Dataset":
        """The dataset with nothing in it; its values take no memory."""
        import xarray as xr

        sizes = {"coordinate": len(self.coordinates), "constraint": len(self.constraints)}
        along = (*self.leading, "time")
        variables = {
            name: ((*along, *dims), nothing(*self.shape, *(sizes[d] for d in dims)), {"long_name": words})
            for name, (dims, words) in VARIABLES.items()
            if name in self.names
        }
        if self.unique:
            words = {"long_name": "whether λ is unique"}
            variables["unique"] = (("constraint",), nothing(len(self.constraints)), words)
        return xr.Dataset(
            variables,
            coords={
                "time": ("time", np.frombuffer(self.times), {"long_name": "time"}),
                "coordinate": ("coordinate", np.asarray(self.coordinates, dtype=str)),
                "constraint": ("constraint", np.asarray(self.constraints, dtype=str)),
            },
        )


def variables_named(given: Sequence[str] | None, argument: str) -> list[str]:
    """The variables that are named, in the order of the results; all of them where nothing is said."""
    if given is None:
        return list(VARIABLES)
    if isinstance(given, str) or not isinstance(given, Iterable) or not getattr(given, "ndim", 1):
        raise InputError(f"{argument} = {given!r}: give names of variables in a list or tuple, as in ('q', 'v')")
    names = list(given)
    for name in names:
        if not isinstance(name, str) or name not in VARIABLES:
            meant = nearest(str(name), VARIABLES)
            raise InputError(
                f"{argument} names {name!r}, which no motion has{f'; did you mean {meant!r}?' if meant else ''} "
                f"(there are {', '.join(VARIABLES)})"
            )
    if not names:
        raise InputError(f"{argument} is empty: name at least one variable, as in ('q', 'v'), or leave it out for all")
    return [name for name in VARIABLES if name in names]


def nothing(*shape: int) -> Array:
    """An array that holds one number, whatever its shape."""
    return np.broadcast_to(0.0, shape)


def plain(value: Any) -> Any:
    """An attribute that any file format can hold."""
    if type(value) in (str, int, float):
        return value
    if isinstance(value, Mapping):
        return json.dumps({str(k): number_or_text(v) for k, v in value.items()})
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | float | str) else str(value)


def number_or_text(value: Any) -> Any:
    """A value for JSON: exact numbers of SymPy's, such as 1/3, as floats."""
    if getattr(value, "is_number", False):
        return float(value)
    return value if isinstance(value, int | float) else str(value)


def balance(energy: Array, work: Array) -> Array:
    """Energy beyond the work done, h(t) − h(0) − W(t), of energies and works (…, T).

    >>> balance(np.array([5.0, 4.0, 2.5]), np.array([0.0, -1.0, -2.0]))
    array([ 0. ,  0. , -0.5])
    """
    return np.asarray((energy - energy[..., :1]) - (work - work[..., :1]))
