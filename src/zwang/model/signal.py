"""Signals: measured or designed inputs over time, given by points and read in native code.

A `Signal` is the value of a known function of time, as a system declares it in its `parameters`. In symbols the
function stays u(t). Kernels get it as `Lookup(handle, t)`, where the handle is one more parameter, whose number is
the address of the signal's table in memory: one kernel serves every signal.

A table is one array of doubles, read by the functions of `compile.table`:

==========================  =========================================================================================
place                       what it holds
==========================  =========================================================================================
0                           N, the number of intervals
1                           intervals per unit of time, or 0 where their lengths differ
2 … 2 + N                   the N + 1 times
from zwang.arrays import Array
from 3 + N on               four coefficients for each piece: before the first time, N intervals, after the last
==========================  =========================================================================================

A piece is c₀ + c₁x + c₂x² + c₃x³, x counted from the time at which it begins (the first piece: at which it ends).
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.display import Displayed
from zwang.errors import InputError

INTERPOLATIONS = ("linear", "cubic")
OUTSIDE = ("hold", "zero", "error")
EVEN = 1e-9  # intervals that differ by less than this share of their length count as equal
JUMP = 1e-9  # a derivative that changes by less than this share of its largest value does not jump


class Lookup(sp.Function):  # type: ignore[misc]
    """`Lookup(handle, t)`: the value at time t of the signal whose table the handle points to."""

    nargs = 2


class Handle(sp.Symbol):  # type: ignore[misc]
    """The parameter that points to a signal's table."""


def lookup(f: sp.Expr) -> sp.Expr:
    """What stands for a known function of time whose value is a signal.

    >>> from zwang import coordinates
    >>> lookup(coordinates("u"))
    Lookup(signal[u], t)
    """
    return Lookup(handle(f), *f.args)


def handle(f: sp.Expr) -> Handle:
    """The handle of a known function of time."""
    return Handle(f"signal[{f.func.__name__}]")


@dataclass(frozen=True, eq=False, repr=False)
class Signal(Displayed):
    """A function of time through points: straight lines between them ("linear") or a cubic spline ("cubic").

    The spline has two continuous derivatives and is SciPy's `CubicSpline` (not-a-knot). `outside` says what holds
    before the first and after the last time: the value there ("hold"), nothing ("zero"), or that nobody may ask
    ("error"). Signals with the same points are equal.

    A linear signal serves in forces, and in constraints on velocities. Where motion has to follow a signal, as in
    the constraint x − u(t) = 0, velocity and acceleration follow u̇ and ü: use "cubic" there.

    >>> import zwang as zw
    >>> ramp = zw.Signal([0, 1, 3], [0, 2, 2])
    >>> ramp([0.5, 2, 4]), ramp(0.5, 1)
    (array([1., 2., 2.]), array(2.))

    >>> x, u = zw.coordinates("x u")
    >>> pushed = zw.System((x,), kinetic=zw.dot(x)**2/2, forces={x: u}, parameters={u: ramp})
    >>> motion = zw.simulate(pushed, {x: 0, zw.dot(x): 0}, until=3, samples=2)
    >>> motion.v.values[-1].round(12)
    array([5.])
    """

    times: Array
    values: Array
    kind: str = "linear"
    outside: str = "hold"

    def __post_init__(self) -> None:
        """Refuse what is not a table; keep copies that nobody can change."""
        for key, choices in (("kind", INTERPOLATIONS), ("outside", OUTSIDE)):
            if getattr(self, key) not in choices:
                raise InputError(
                    f"{key}={getattr(self, key)!r} is unknown: choose {', '.join(map(repr, choices))}",
                    who="signal",
                    where=(key,),
                )
        times, values = column(self.times, "times"), column(self.values, "values")
        if len(times) != len(values):
            raise InputError(f"{len(times)} times for {len(values)} values: give one value a time", who="signal")
        if len(times) < 2:
            raise InputError(f"{len(times)} point does not make a function of time: give at least two", who="signal")
        back = np.flatnonzero(np.diff(times) <= 0)
        if len(back):
            i = int(back[0])
            raise InputError(
                f"times must ascend, but entry {i + 1} is {times[i + 1]:g} after {times[i]:g}: sort the "
                f"points, and keep one of those at the same time",
                who="signal",
                where=("times", i + 1),
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], time: str = "t", value: str = "u", **options: Any) -> "Signal":
        """A signal from two columns of a comma-separated file, by the names in its first line."""
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
        names = list(rows[0]) if rows else []
        for name in (time, value):
            if name not in names:
                raise InputError(f"{path} has no column {name!r}: there are {', '.join(map(repr, names)) or 'none'}")
        return cls([row[time] for row in rows], [row[value] for row in rows], **options)  # type: ignore[arg-type]

    def __call__(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Values at times t, or those of a derivative."""
        at = np.asarray(t, dtype=float)
        if self.outside == "error" and ((at < self.times[0]) | (at > self.times[-1])).any():
            raise InputError(f"asked for a time outside of {self.span}, and outside='error'", who="signal")
        piece = np.searchsorted(self.times, at, side="right")
        piece = np.where(at == self.times[-1], len(self.times) - 1, piece)
        x = at - self.times[np.maximum(piece - 1, 0)]
        return polynomial(self.pieces[piece], x, derivative)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same function."""
        return isinstance(other, Signal) and self._content == other._content

    def __hash__(self) -> int:
        """The hash of the content, because equality compares content."""
        return hash(self._content)

    def __repr__(self) -> str:
        """In short: a signal may have thousands of points."""
        return f"Signal({len(self.times)} points from {self.span}, {self.kind}, outside={self.outside!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the points alone: an address means nothing in another process."""
        return Signal, (self.times, self.values, self.kind, self.outside)

    @property
    def span(self) -> str:
        """From when to when, in words."""
        return f"{self.times[0]:g} to {self.times[-1]:g}"

    @property
    def free_symbols(self) -> frozenset[sp.Symbol]:
        """None: beside expressions in t and parameters, a signal is a constant."""
        return frozenset()

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        return self.kind, self.outside, self.times.tobytes(), self.values.tobytes()

    @cached_property
    def pieces(self) -> Array:
        """(N + 2, 4) coefficients: before the first time, in each interval, after the last."""
        count = len(self.times)
        pieces = np.zeros((count + 1, 4))
        if self.kind == "linear":
            pieces[1:-1, 0] = self.values[:-1]
            pieces[1:-1, 1] = np.diff(self.values) / np.diff(self.times)
        else:
            from scipy.interpolate import CubicSpline

            pieces[1:-1] = CubicSpline(self.times, self.values).c[::-1].T
        if self.outside != "zero":
            pieces[0, 0], pieces[-1, 0] = self.values[0], self.values[-1]
        if self.outside == "error":
            pieces[[0, -1]] = np.nan
        return pieces

    @cached_property
    def table(self) -> Array:
        """The signal as kernels read it."""
        lengths = np.diff(self.times)
        mean = (self.times[-1] - self.times[0]) / len(lengths)
        even = np.abs(self.times - (self.times[0] + mean * np.arange(len(self.times)))).max() < EVEN * mean
        head = [len(lengths), 1 / mean if even else 0.0]
        return np.concatenate([head, self.times, self.pieces.ravel()])

    @property
    def address(self) -> float:
        """Where the table is, for as long as this signal lives; addresses are below 2⁵³, so a double holds them."""
        address = self.table.ctypes.data
        assert address < 2**53
        return float(address)

    def breaks(self, derivative: int) -> Array:
        """The instants right after which this derivative, or a lower one, jumps.

        Between such an instant and the next double the signal goes over to its next piece.
        """
        length = np.diff(self.times, prepend=self.times[0])  # where each time lies in the piece before it
        jumping = np.zeros(len(self.times), dtype=bool)
        for order in range(derivative + 1):
            before = polynomial(self.pieces[:-1], length, order)
            after = polynomial(self.pieces[1:], np.zeros(len(length)), order)
            size = np.nanmax(np.abs([before, after]), initial=0.0)
            jumping |= np.abs(after - before) > JUMP * size
        last = np.append(np.nextafter(self.times[:-1], -np.inf), self.times[-1])  # instants of each piece
        return np.asarray(last[jumping])


def polynomial(c: Array, x: Array, derivative: int) -> Array:
    """c₀ + c₁x + c₂x² + c₃x³, or a derivative of it, with coefficients (…, 4)."""
    for _ in range(derivative):
        c = np.concatenate([c[..., 1:] * np.arange(1, 4), np.zeros_like(c[..., :1])], axis=-1)
    return np.asarray(c[..., 0] + x * (c[..., 1] + x * (c[..., 2] + x * c[..., 3])))


def column(values: Any, name: str) -> Array:
    """Finite numbers as an array that nobody can change."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} are not real numbers", who="signal", where=(name,)) from None
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}: one axis is meant", who="signal", where=(name,))
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        words = f"entry {bad[0]} of {name} is {array[bad[0]]}: fill gaps before, or leave them out"
        raise InputError(words, who="signal", where=(name, int(bad[0])))
    array.setflags(write=False)
    return array


def signals_in(values: Mapping[sp.Expr, Any]) -> dict[sp.Expr, Signal]:
    """Those of some known functions of time that are signals."""
    return {f: value for f, value in values.items() if isinstance(value, Signal)}
