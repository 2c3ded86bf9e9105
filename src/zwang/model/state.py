"""States: which number of a row of positions and velocities a coordinate or a rate is, and rows as mappings."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.arrays import Array, Indices
from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.families.array import CoordinateArray
from zwang.model.symbols import rates, t
from zwang.model.system import System
from zwang.words import listed

MOST_NAMED = 12


class State(Mapping[Any, float]):
    """A state of a large system: a mapping from coordinates and rates to numbers, whose keys are made when looked at.

    A key may be an array of coordinates, too, which gives an array of numbers; or a name, x or x'.
    """

    def __init__(self, system: System, values: Array) -> None:
        """Positions, then velocities."""
        self.system, self.values_of_all = system, values

    def __len__(self) -> int:
        """Coordinates and rates."""
        return len(self.values_of_all)

    def __iter__(self) -> Iterator[sp.Expr]:
        """Coordinates, then rates."""
        yield from self.system.coordinates
        yield from self.system.velocities

    def __getitem__(self, key: Any) -> Any:
        """A number, or an array of numbers for an array of coordinates."""
        if isinstance(key, CoordinateArray):
            return self.values_of_all[places_of_array(self.system, key)]
        place = place_of(self.system, key)
        if place is None:
            raise KeyError(key)
        return float(self.values_of_all[place])

    def __contains__(self, key: object) -> bool:
        """Whether this is a coordinate or a rate of the system."""
        return isinstance(key, CoordinateArray) or place_of(self.system, key) is not None

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        """With other values for some, as dictionaries have it."""
        return dict(self) | dict(other)

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        """Other values, with these for some."""
        return dict(other) | dict(self)

    def __repr__(self) -> str:
        """The first of its numbers."""
        names = [*self.system.coordinate_names, *(f"{name}'" for name in self.system.coordinate_names)]
        pairs = (f"{name} = {x:.6g}" for name, x in zip(names, self.values_of_all, strict=True))
        return f"<State: {listed(pairs, MOST_NAMED)}>"


class Statement(NamedTuple):
    """Who states a number of a start, in words and by the argument that does."""

    words: str
    where: Where = ()


class Description(State):
    """A state as somebody describes it: some of its numbers are stated, the others are free.

    Rates of what turns in space follow from an angular velocity and the place; `rates_at` has them at other places.
    """

    def __init__(
        self,
        system: System,
        values: Array,
        stated: Mapping[int, Statement],
        rates_at: Callable[[Array], Array] | None = None,
    ) -> None:
        """The numbers, and what says those that are stated, by their places."""
        super().__init__(system, values)
        self.stated, self._rates_at = dict(stated), rates_at

    @property
    def flags(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which of its numbers are stated."""
        found = np.zeros(len(self.values_of_all), dtype=bool)
        found[list(self.stated)] = True
        return found

    def rates_at(self, q: Array) -> Array:
        """The rates, at positions that need not be those of the description."""
        return self.values_of_all[len(q) :].copy() if self._rates_at is None else self._rates_at(q)


def state_of(system: System, values: Array) -> Mapping[Any, float]:
    """A row of positions and velocities as a mapping, whose keys are made at once unless the system has families."""
    if system.families is not None:
        return State(system, values)
    return dict(zip([*system.coordinates, *system.velocities], map(float, values), strict=True))


def place_of(system: System, key: Any) -> int | None:
    """The number of a coordinate, or of a rate after all coordinates; None for what is neither.

    x or "x"; dot(x), "x'" or "dot(x)". What was found once is remembered: a large start has many keys.
    """
    if not isinstance(key, str | sp.Basic):
        return None
    found = system.places_found
    place = found.get(key)
    if place is None and (place := sought(system, key)) is not None:
        found[key] = place
    return place


def state_name(system: System, place: int) -> str:
    """What model files call a coordinate, or a rate, by its place in a state: x or x'."""
    names = system.coordinate_names
    return names[place] if place < len(names) else f"{names[place - len(names)]}'"


def sought(system: System, key: Any) -> int | None:
    """The same, by looking at the key."""
    index = system.coordinate_index
    if isinstance(key, str):
        name = key.removesuffix("'") if key.endswith("'") else key[4:-1] if key.startswith("dot(") else None
        if key in index:
            return index[key]
        return None if name is None or name not in index else len(index) + index[name]
    if isinstance(key, AppliedUndef):
        i = index.get(key.func.__name__) if key.args == (t,) else None
        return i if i is not None and system.coordinate(i) == key else None
    if isinstance(key, sp.Derivative) and isinstance(key.expr, AppliedUndef):
        i = sought(system, key.expr)
        return len(index) + i if i is not None and key == rates(key.expr)[0] else None
    return None


def places_of_array(system: System, key: CoordinateArray) -> Indices:
    """The numbers of the coordinates of an array, or of their rates, in its shape."""
    index, shift = system.coordinate_index, len(system.coordinate_index) * key.order
    strange = [name for name in key.names.flat if name not in index]
    if strange or key.order > 1:
        what = listed(strange, MOST_NAMED) if strange else repr(key)
        raise InputError(f"{what}: not among the coordinates and rates of this system")
    return np.array([index[name] + shift for name in key.names.flat], dtype=np.int64).reshape(key.shape)
