"""Arrays of coordinates: many of them under one name. SymPy's objects are made when somebody looks at one."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from zwang.errors import InputError
from zwang.model.time import coordinate, rates
from zwang.words import listed

MOST_SHOWN = 6


class CoordinateArray(NDArrayOperatorsMixin):
    """Coordinates, or their rates, in an array: indexed and sliced as NumPy does it; an entry is SymPy's own x[2](t).

    Arithmetic gives NumPy arrays of SymPy's expressions. As a key, in a state or in bindings, it stands for all of its
    entries.

    >>> from zwang import coordinates, dot
    >>> x = coordinates("x", shape=(3, 2))
    >>> x[2, 0], x[1:].shape, ((x[0] - x[1])**2).sum()
    (x[2,0](t), (2, 2), (x[0,0](t) - x[1,0](t))**2 + (x[0,1](t) - x[1,1](t))**2)
    >>> dot(x)[0, 0]
    Derivative(x[0,0](t), t)
    """

    __slots__ = ("names", "order")

    names: NDArray[Any]
    """What the coordinates are called."""
    order: int
    """0 for the coordinates, 1 for their rates, 2 for their accelerations."""

    def __init__(self, names: NDArray[Any], order: int = 0) -> None:
        """Coordinates by their names."""
        self.names, self.order = names, order

    @property
    def shape(self) -> tuple[int, ...]:
        """As of NumPy's arrays."""
        return self.names.shape

    @property
    def ndim(self) -> int:
        """How many axes."""
        return self.names.ndim

    @property
    def size(self) -> int:
        """How many coordinates."""
        return self.names.size

    @property
    def T(self) -> "CoordinateArray":
        """With its axes the other way round."""
        return CoordinateArray(self.names.T, self.order)

    @property
    def dot(self) -> "CoordinateArray":
        """The rates."""
        if self.order == 2:
            raise InputError("accelerations are the highest rates of coordinates: there is no third one here")
        return CoordinateArray(self.names, self.order + 1)

    def __len__(self) -> int:
        """The length of the first axis."""
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        """Along the first axis."""
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """One coordinate, or an array of them."""
        found = self.names[index]
        return self._entry(found) if isinstance(found, str) else CoordinateArray(found, self.order)

    def _entry(self, name: str) -> Any:
        made = coordinate(name)
        return rates(made)[self.order - 1] if self.order else made

    def ravel(self) -> "CoordinateArray":
        """All of them in one row."""
        return CoordinateArray(self.names.ravel(), self.order)

    def reshape(self, *shape: Any) -> "CoordinateArray":
        """In another shape."""
        return CoordinateArray(self.names.reshape(*shape), self.order)

    def sum(self, axis: Any = None) -> Any:
        """The sum of all, or along an axis."""
        return np.asarray(self).sum(axis=axis)

    def tolist(self) -> Any:
        """As lists of SymPy's objects."""
        return np.asarray(self).tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """As an array of SymPy's objects."""
        made = np.empty(self.names.size, dtype=object)
        made[:] = [self._entry(name) for name in self.names.flat]
        return made.reshape(self.names.shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arithmetic, entry by entry, as SymPy's objects do it."""
        plain = [np.asarray(x) if isinstance(x, CoordinateArray) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __eq__(self, other: object) -> bool:
        """Whether the other one has the same entries: it may be a key."""
        if not isinstance(other, CoordinateArray):
            return NotImplemented
        return self.order == other.order and np.array_equal(self.names, other.names)

    def __ne__(self, other: object) -> bool:
        """Whether it has not."""
        return not self == other

    def __hash__(self) -> int:
        """By its entries."""
        return hash((self.order, self.names.shape, *self.names.flat))

    def __repr__(self) -> str:
        """Its shape and the first of its names."""
        what = ("coordinates", "rates", "accelerations")[self.order]
        return f"<{what} {listed(self.names.flat, MOST_SHOWN)}; shape {self.shape}>"


def coordinate_array(name: str, shape: Any) -> CoordinateArray:
    """Coordinates name[0], name[1], … or name[0,0], … in an array.

    >>> coordinate_array("x", 3)
    <coordinates x[0], x[1] and x[2]; shape (3,)>
    """
    sizes = (shape,) if isinstance(shape, int | np.integer) and not isinstance(shape, bool) else shape
    if not isinstance(sizes, tuple | list) or not sizes or not all(is_size(size) for size in sizes):
        raise InputError(f"shape = {shape!r}: give a whole number of coordinates, or some in a tuple: (400, 3)")
    names = np.empty(int(np.prod(sizes)), dtype=object)
    names[:] = [f"{name}[{','.join(map(str, index))}]" for index in product(*map(range, sizes))]
    return CoordinateArray(names.reshape(tuple(sizes)))


def is_size(size: Any) -> bool:
    """Whether this is a whole number above zero."""
    return isinstance(size, int | np.integer) and not isinstance(size, bool) and bool(size > 0)
