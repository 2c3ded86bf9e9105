"""Bounds of expressions over stretches of time: interval arithmetic on SymEngine's expressions, many at once.

Where a bound says that a function has no zero on a stretch, it has none: what is found with them is complete. Every
operation is widened by more than its rounding. What is not a number on a whole stretch is bounded by NaN, on a part of
it by infinity. Functions that are in no table here are bounded by samples, twice as wide.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.compile.table import NAME as SIGNAL
from zwang.functions import FLOORS, FUNCTIONS, Function, imported
from zwang.model.signal import Signal

Bounds = tuple[Array, Array]

WIDER = 1e-15
UNKNOWN = Function("not in the table")


def bounds(expression: Any, known: dict[Any, Any], signals: Mapping[float, Signal]) -> Bounds:
    """The least and the greatest value of an expression on each of N stretches.

    `known` has the bounds of its symbols, the values of floors and the truth of conditions that do not change on a
    stretch; it remembers what was done. `signals` are known by the addresses of their tables.
    """
    stack = [expression]
    with np.errstate(all="ignore"):
        while stack:
            node = stack[-1]
            missing = [a for a in parts(node) if a not in known] if node not in known else []
            if missing:
                stack.extend(missing)
                continue
            if node not in known:
                known[node] = rule(node, [known[a] for a in parts(node)], signals)
            stack.pop()
    found: Bounds = known[expression]
    return found


def parts(node: Any) -> tuple[Any, ...]:
    """What the bounds of a node are made of."""
    return () if type(node).__name__ in ("Derivative", "Subs") else tuple(node.args)


def rule(node: Any, args: list[Any], signals: Mapping[float, Signal]) -> Any:
    """The bounds of a node from those of its parts; conditions are arrays of truth values."""
    kind = type(node).__name__
    if node.is_Number or kind in ("Pi", "Exp1", "Constant", "EulerGamma"):
        return constant(float(node))
    if kind in ("BooleanTrue", "BooleanFalse"):
        return np.array([kind == "BooleanTrue"])
    if kind in LOGIC:
        return LOGIC[kind](args)
    if kind == "Add":
        return widened(sum(a[0] for a in args), sum(a[1] for a in args))
    if kind == "Mul":
        return product_of(args)
    if kind == "Pow":
        return power(node, args)
    if kind == "Piecewise":
        return chosen(args)
    if kind in ("Derivative", "Subs"):  # of a floor, which is constant on a stretch, or of a signal
        flat = any(name in str(node) for name in FLOORS) and SIGNAL not in str(node)
        return constant(0.0) if flat else (np.array([-np.inf]), np.array([np.inf]))
    if kind == "FunctionSymbol" and node.get_name() == SIGNAL:
        return read(signals, *args)
    return function(kind, node, args)


def constant(value: float) -> Bounds:
    """A number."""
    return np.array([value]), np.array([value])


def widened(low: Any, high: Any) -> Bounds:
    """Bounds that rounding has not made too narrow; exact ones of exact zeros."""
    low, high = np.broadcast_arrays(low, high)
    return (
        np.where(np.isfinite(low), low - WIDER * np.abs(low), low),
        np.where(np.isfinite(high), high + WIDER * np.abs(high), high),
    )


def product_of(args: list[Bounds]) -> Bounds:
    """A product, factor by factor."""
    low, high = args[0]
    for a, b in args[1:]:
        ends = np.stack(np.broadcast_arrays(low * a, low * b, high * a, high * b))
        unclear = np.isnan(ends).any(axis=0) & ~(np.isnan(low) | np.isnan(a))  # 0 · ∞
        low, high = widened(ends.min(axis=0), ends.max(axis=0))
        low, high = np.where(unclear, -np.inf, low), np.where(unclear, np.inf, high)
    return low, high


def power(node: Any, args: list[Bounds]) -> Bounds:
    """Whole powers, roots, exponentials; else by exp and log."""
    (low, high), exponent = args
    base = node.args[0]
    if type(base).__name__ == "Exp1":
        return widened(np.exp(exponent[0]), np.exp(exponent[1]))
    if not node.args[1].is_Number:
        logarithm = function("log", node, [args[0]])
        ends = product_of([logarithm, exponent])
        return widened(np.exp(ends[0]), np.exp(ends[1]))
    r = float(node.args[1])
    if r == int(r):
        up = np.sort(np.stack(np.broadcast_arrays(low ** abs(r), high ** abs(r))), axis=0)
        if abs(r) % 2 == 0:
            up[0] = np.where((low < 0) & (high > 0), 0.0, up[0])
        return widened(up[0], up[1]) if r > 0 else reciprocal(widened(up[0], up[1]))
    whole = widened(np.maximum(low, 0.0) ** abs(r), high ** abs(r))
    whole = whole if r > 0 else reciprocal(whole)
    part = (low < 0) & (high >= 0)  # not a number on a part of the stretch
    return np.where(part, -np.inf, whole[0]), np.where(part, np.inf, whole[1])


def reciprocal(given: Bounds) -> Bounds:
    """1/x, unbounded where x may be zero."""
    low, high = given
    through = (low <= 0) & (high >= 0)
    return tuple(  # type: ignore[return-value]
        np.where(through, side, end) for side, end in zip((-np.inf, np.inf), widened(1 / high, 1 / low), strict=True)
    )


def chosen(args: list[Any]) -> Bounds:
    """The piece whose condition is the first to hold; NaN where none does."""
    size = max(len(a if isinstance(a, np.ndarray) else a[0]) for a in args)
    low, high, open_ = np.full(size, np.nan), np.full(size, np.nan), np.ones(size, dtype=bool)
    for (a, b), holds in zip(args[::2], args[1::2], strict=True):
        here = open_ & holds
        low, high, open_ = np.where(here, a, low), np.where(here, b, high), open_ & ~holds
    return low, high


def function(kind: str, node: Any, args: list[Bounds]) -> Bounds:
    """A function of one variable by where it rises and falls; others by samples."""
    low, high = args[0]
    known = FUNCTIONS.get(kind, UNKNOWN)
    if known.reciprocal_of:
        return reciprocal(function(known.reciprocal_of, node, args))
    if known.of_reciprocal:
        return function(known.of_reciprocal, node, [reciprocal(args[0])])
    if kind in ("sin", "cos"):
        turned = low + np.pi / 2 if kind == "cos" else low
        return wave(turned, turned + (high - low))
    if kind == "tan":
        through = np.floor(low / np.pi + 0.5) != np.floor(high / np.pi + 0.5)
        ends = widened(np.tan(low), np.tan(high))
        return np.where(through, -np.inf, ends[0]), np.where(through, np.inf, ends[1])
    if kind == "cosh":
        ends_ = np.sort(np.stack([np.cosh(low), np.cosh(high)]), axis=0)
        return widened(np.where((low < 0) & (high > 0), 1.0, ends_[0]), ends_[1])
    if kind == "atan2":
        ends_ = np.stack(np.broadcast_arrays(*[np.arctan2(y, x) for y in args[0] for x in args[1]]))
        cut = (low <= 0) & (high >= 0) & (args[1][0] <= 0)  # where it jumps
        return widened(np.where(cut, -np.inf, ends_.min(axis=0)), np.where(cut, np.inf, ends_.max(axis=0)))
    if known.rises or known.falls:
        compute = imported(known.rises or known.falls)
        first, last = (low, high) if known.rises else (high, low)
        ends = widened(compute(first), compute(last))
        missing = np.isnan(ends[0]), np.isnan(ends[1])
        # it is a number on a part of the stretch: at one end, or in the middle, as where asin(2x) goes from −2 to 2
        half = (missing[0] != missing[1]) | (missing[0] & missing[1] & (low < 0) & (high > 0))
        return np.where(half, -np.inf, ends[0]), np.where(half, np.inf, ends[1])
    return sampled(node, args)


def wave(low: Array, high: Array) -> Bounds:
    """The sine, which is at its extremes where the stretch meets them."""
    slack = WIDER * (np.abs(low) + np.abs(high))
    a, b = low - slack, high + slack
    ends = np.sort(np.stack([np.sin(a), np.sin(b)]), axis=0)
    crest = np.ceil(a / (2 * np.pi) - 0.25) <= b / (2 * np.pi) - 0.25
    trough = np.ceil(a / (2 * np.pi) + 0.25) <= b / (2 * np.pi) + 0.25
    least, greatest = widened(ends[0], ends[1])
    return np.where(trough, -1.0, least), np.where(crest, 1.0, greatest)


def sampled(node: Any, args: list[Bounds]) -> Bounds:
    """What a function without a rule has at ends and middles of its arguments, twice as wide."""
    import symengine as se

    names = [se.Symbol(f"argument{i}") for i in range(len(args))]
    compute = se.Lambdify(names, [node.func(*names)])
    ends = [np.broadcast_arrays(a, (a + b) / 2, b) for a, b in args]
    points = [np.stack(np.broadcast_arrays(*at), axis=-1) for at in product(*ends)]
    values = np.stack(np.broadcast_arrays(*[compute(point).reshape(len(point)) for point in points]))
    low, high = values.min(axis=0), values.max(axis=0)
    return low - (high - low) / 2, high + (high - low) / 2


def read(signals: Mapping[float, Signal], handle: Bounds, time: Bounds) -> Bounds:
    """A signal between two of its knots: a cubic, bounded by five samples, three times as wide."""
    addresses = np.broadcast_to(handle[0], time[0].shape)
    values = np.empty((5, len(time[0])))
    for address in np.unique(addresses):
        here = addresses == address
        for i in range(5):
            at = time[0][here] + (time[1][here] - time[0][here]) * (i / 4)
            signal = signals[float(address)]
            values[i, here] = signal(np.clip(at, *signal.times[[0, -1]]) if signal.outside == "error" else at)
    low, high = values.min(axis=0), values.max(axis=0)
    return low - (high - low), high + (high - low)


LOGIC: dict[str, Callable[[list[Any]], Any]] = {
    "And": lambda args: reduce(np.logical_and, args),
    "Or": lambda args: reduce(np.logical_or, args),
    "Xor": lambda args: reduce(np.logical_xor, args),
    "Not": lambda args: ~args[0],
}
