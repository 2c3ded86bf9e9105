"""Least squares: the values of unknowns with which a model comes nearest to measured motions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.fitting.found import Estimate, Fit, account, told_along, told_by
from zwang.analysis.fitting.measured import Measured, measured
from zwang.analysis.fitting.pieces import Shooting, free_directions, scale_of
from zwang.analysis.fitting.search import AT_A_BOUND, Search, varied
from zwang.analysis.fitting.trial import Trial
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, resets_of, system_of
from zwang.model.symbols import as_scalar
from zwang.model.values import by_name, entry_by_entry, named_like, numbers, one_number, suggestion
from zwang.waiting import waiting
from zwang.words import count

IN_PIECES = (
    "The motion depends on its start so strongly that other values may fit better: fit it in pieces, as in pieces=20."
)


def fit(
    system: System | HasSystem,
    data: Any,
    unknown: Mapping[Any, float],
    start: Any = None,
    observe: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    bounds: Mapping[Any, tuple[float, float]] | None = None,
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
    tol: float = 1e-11,
    pieces: int = 1,
) -> Fit:
    """Parameters and starts from measured motions, by least squares with exact derivatives.

    `data` has times in a column `t` or `time` and what was measured in others: an xarray dataset or array, a data
    frame, the path of a CSV file, or a mapping; gaps are left out. `unknown` maps what is sought to a first guess.
    `start` maps coordinates and rates to expressions in unknowns and parameters (rates left out are zero), and is
    brought onto the constraints; a mechanism has its own. `observe` maps columns to what they measure, expressions in
    coordinates, rates, parameters and unknowns, such as an offset of a sensor; without it, columns are coordinates and
    rates by their names. `weights` maps columns to weights, one over the error of a number, or one for each time;
    `bounds` maps unknowns to a pair. Several trials are lists of `data` and `start`: they share the unknowns.

    A long or chaotic motion is fitted in `pieces`, each with a start of its own and joined to the next at the end
    (multiple shooting): from a first guess on it stays near the data, where one piece would soon be far away.

    Beside values there are standard errors, which take residuals as independent, and a verdict on what the data can
    tell: see `Fit`.

    >>> import numpy as np, sympy as sp, zwang as zw
    >>> x = zw.coordinates("x")
    >>> k, m, a = zw.parameters("k m a")
    >>> spring = zw.System((x,), kinetic=m*zw.dot(x)**2/2, potential=k*x**2/2)
    >>> times = np.linspace(0, 3, 20)
    >>> data = {"t": times, "x": 0.3*np.cos(2*times)}
    >>> found = zw.fit(spring, data, {k: 3, m: 1, a: 0.2}, start={x: a}, bounds={m: (0.5, 2)})
    >>> print(found.verdict, round(found.values[k]/found.values[m], 9), round(found.values[a], 9))
    Of k and m only k/m can be told from these data. 4.0 0.3
    """
    given = system
    system = system_of(given, "fit", parameters)
    if resets := resets_of(given, ()):
        raise InputError(f"event {resets[0].name!r} resets the state, which fit does not know: leave it out")
    start = one_by_one(system, start)
    symbols, first = unknowns_of(unknown, names_in(system, start, observe))
    begin = one_number(begin_of(given, t), "t")
    trials = trials_of(given, system, data, start, observe, weights, symbols, dict(parameters or {}), begin, tol)
    require_used(symbols, trials)
    low, high = bounds_of(symbols, first, bounds)
    if not isinstance(pieces, int | np.integer) or pieces < 1:
        raise InputError(f"pieces = {pieces!r}: a whole number from 1 on is needed")
    with waiting("fitting"):
        if pieces > 1:
            return in_pieces(system.name, symbols, Shooting(trials, int(pieces)), first, (low, high))
        search = Search(trials, low, high)
        found = search.near_the_guess(first)
        residual, J = search.compare(found.theta)
        effect = search.effect(found.theta)
        motions = tuple(trial.motion(found.theta) for trial in trials)
        told_of = told_by(J, found.theta, found.free)
        answer = account(
            system.name, symbols, found, residual, varied(trials), told_of, effect, search.evaluations, motions
        )
        return answer if search.measurable(J, found.theta) else replace(answer, verdict=f"{answer.verdict} {IN_PIECES}")


def in_pieces(
    name: str, unknown: tuple[sp.Symbol, ...], shooting: Shooting, first: Array, bounds: tuple[Array, Array]
) -> Fit:
    """The fit by multiple shooting: what data tell is seen along changes that keep the pieces joined."""
    theta, here = shooting.fitted(first, *bounds)
    k, sizes = len(theta), scale_of(theta, here)
    least, most = theta <= bounds[0] + AT_A_BOUND * sizes[:k], theta >= bounds[1] - AT_A_BOUND * sizes[:k]
    found = Estimate(theta, 1.0 * most - 1.0 * least)
    known = np.eye(here.C.shape[1])[:k][~found.free]  # what is at its bound does not change
    Z = free_directions(replace(here, C=np.vstack([here.C, known])), sizes)[1]
    told_of = told_along(here.J * sizes @ Z, Z[:k], sizes[:k])
    motions = shooting.motions(theta, here)
    return account(name, unknown, found, here.r, varied(shooting.trials), told_of, None, shooting.evaluations, motions)


def unknowns_of(unknown: Any, known: Sequence[sp.Symbol]) -> tuple[tuple[sp.Symbol, ...], Array]:
    """The unknowns and their first guesses; a name stands for the parameter that is called so."""
    if not isinstance(unknown, Mapping) or not unknown:
        raise InputError("unknown maps what is sought to a first guess, as in {g: 9.5, L: 1}")
    found: dict[sp.Symbol, float] = {}
    for key, x in unknown.items():
        s = named_like(key, known) if isinstance(key, str) else key
        if not isinstance(s, sp.Symbol):
            raise InputError(f"unknown: {key!r} is not a parameter of this system{suggestion(key, list(known))}")
        if s in found:
            raise InputError(f"unknown: {s} is there twice, by name and by symbol: give it once")
        found[s] = one_number(x, f"unknown: {s}")
    return tuple(found), np.array(list(found.values()))


def one_by_one(system: System, start: Any) -> Any:
    """Starts with coordinates and rates as keys, in place of arrays of them."""
    if isinstance(start, list | tuple):
        return [one_by_one(system, one) for one in start]
    return entry_by_entry(system, start) if isinstance(start, Mapping) else start


def names_in(system: System, start: Any, observe: Mapping[str, Any] | None) -> list[sp.Symbol]:
    """All symbols of a system, of starts and of what is measured."""
    starts = [one for one in (start if isinstance(start, list | tuple) else [start]) if isinstance(one, Mapping)]
    given = [e for one in (*starts, observe or {}) for e in one.values()]
    more = {s for e in given if isinstance(e, sp.Basic) for s in e.free_symbols}
    return [s for s in (*system.symbols, *sorted(more - set(system.symbols), key=str)) if isinstance(s, sp.Symbol)]


def trials_of(
    given: Any,
    system: System,
    data: Any,
    start: Any,
    observe: Mapping[str, Any] | None,
    weights: Mapping[str, Any] | None,
    unknown: tuple[sp.Symbol, ...],
    parameters: dict[Any, Any],
    t: float,
    tol: float,
) -> list[Trial]:
    """One trial for each table of data."""
    tables = list(data) if isinstance(data, list | tuple) else [data]
    starts = list(start) if isinstance(start, list | tuple) else [start] * len(tables)
    if len(starts) != len(tables):
        raise InputError(f"{count(len(tables), 'table')} of data, but {count(len(starts), 'start')}: give one each")
    if not tables:
        raise InputError("data is empty: give at least one measured motion")
    found = []
    for i, (table, begin) in enumerate(zip(tables, starts, strict=True)):
        who = "data" if len(tables) == 1 else f"data of trial {i + 1}"
        columns = measured(table, None if observe is None else [str(name) for name in observe], who)
        expressions = observed(system, columns.names, observe, who)
        if begin is None and not isinstance(given, HasSystem):
            raise InputError("a System has no start of its own: give start, which maps coordinates and rates to values")
        if len(columns.times) and columns.times[0] < t:
            raise InputError(f"{who} begins at t = {columns.times[0]:g}, before the motion does at t = {t:g}: say t=…")
        scale = weights_of(weights, columns)
        found.append(Trial(given, system, columns, begin, expressions, scale, unknown, parameters, t, tol))
    if strange := [name for name in weights or {} if not any(name in trial.data.names for trial in found)]:
        raise InputError(f"weights names {strange[0]!r}, which was not measured")
    told_numbers = sum(int(np.isfinite(trial.data.values).sum()) for trial in found)
    if told_numbers < len(unknown):
        raise InputError(
            f"{count(told_numbers, 'number')} cannot tell {count(len(unknown), 'unknown')}: measure more, or seek less"
        )
    return found


def weights_of(weights: Mapping[str, Any] | None, columns: Measured) -> Array:
    """(N, k) a weight for each number: one a column, or one a time."""
    if weights is not None and not isinstance(weights, Mapping):
        raise InputError("weights maps columns to weights, as in {'x': 1000}: one over the error of a number")
    scale = np.ones(columns.values.shape)
    for i, name in enumerate(columns.names):
        given = (weights or {}).get(name, 1.0)
        if np.ndim(given) and np.shape(given) != columns.times.shape:
            times = count(len(columns.times), "time")
            raise InputError(
                f"weights: {name} has shape {np.shape(given)}: give one number, or one for each of {times}"
            )
        scale[:, i] = numbers(given, f"weights: {name}") if np.ndim(given) else one_number(given, f"weights: {name}")
        if (scale[:, i] < 0).any():
            raise InputError(f"weights: {name} is negative")
    return scale


def observed(system: System, names: Sequence[str], observe: Mapping[str, Any] | None, who: str) -> tuple[sp.Expr, ...]:
    """What each column measures."""
    if observe is not None:
        return tuple(as_scalar(by_name(system, e)) for e in observe.values())
    found = [by_name(system, name) for name in names]
    wrong = [name for name, e in zip(names, found, strict=True) if isinstance(e, str)]
    if wrong:
        known = [*system.coordinates, *system.velocities]
        raise InputError(
            f"{who}: column {wrong[0]!r} is not a coordinate or rate{suggestion(wrong[0], known)}; say what it "
            f"measures with observe={{{wrong[0]!r}: …}}"
        )
    return tuple(found)


def require_used(unknown: Sequence[sp.Symbol], trials: Sequence[Trial]) -> None:
    """Refuse unknowns that occur nowhere."""
    used: set[Any] = set(trials[0].system.symbols)
    for trial in trials:
        used |= {s for e in trial.observe for s in e.free_symbols}
        used |= {s for e in (trial.start or {}).values() for s in as_scalar(e).free_symbols}
    for s in unknown:
        if s not in used:
            hint = suggestion(s, sorted(used, key=str))
            raise InputError(f"unknown: {s} occurs neither in the system nor in start or observe{hint}")


def bounds_of(unknown: Sequence[sp.Symbol], first: Array, bounds: Mapping[Any, Any] | None) -> tuple[Array, Array]:
    """Lower and upper bounds, infinite where none are given; a first guess outside of them is refused."""
    low, high = np.full(len(unknown), -np.inf), np.full(len(unknown), np.inf)
    for key, pair in (bounds or {}).items():
        if (s := named_like(key, unknown)) is None:
            raise InputError(f"bounds names {key}, which is not sought{suggestion(key, list(unknown))}")
        i = list(unknown).index(s)
        try:
            low[i], high[i] = map(float, pair)
        except (TypeError, ValueError):
            raise InputError(f"bounds: {s}: {pair!r} is not a pair of numbers") from None
        if not low[i] < high[i] or not low[i] <= first[i] <= high[i]:
            raise InputError(f"bounds: {s} = {first[i]:g} does not begin between {low[i]:g} and {high[i]:g}")
    return low, high
