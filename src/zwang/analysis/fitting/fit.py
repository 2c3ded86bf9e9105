"""Least squares: the values of unknowns with which a model comes nearest to measured motions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.fitting.identify import untold, verdict
from zwang.analysis.fitting.measured import measured
from zwang.analysis.fitting.pieces import Shooting, free_directions, scale_of
from zwang.analysis.fitting.trial import Trial
from zwang.arrays import TINIEST, Array
from zwang.display import Displayed, told
from zwang.errors import AssemblyError, InputError, SimulationError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, system_of
from zwang.model.symbols import as_scalar
from zwang.model.values import by_name, named_like, one_number, suggestion
from zwang.waiting import waiting
from zwang.words import count, listed

FIT_TOL = 1e-12  # of steps, gradients and squares, as shares
LAST_STEPS = 5  # of Gauss and Newton, to the last digits
STRONGLY = 1e4  # of what was measured: motions that depend on unknowns by more are not found from a guess
IN_PIECES = (
    "The motion depends on its start so strongly that other values may fit better: fit it in pieces, as in pieces=20."
)
CORRELATED = 0.9  # correlations above this are worth a word


@dataclass(frozen=True)
class Fit(Displayed):
    """Values of unknowns that come nearest to data, how well they are known, and what data can tell at all."""

    name: str
    values: Mapping[sp.Symbol, float]
    errors: Mapping[sp.Symbol, float]
    """Standard errors; infinite where data do not tell."""
    covariance: Any
    """(k, k) in the order of the values"""
    identifiable: Mapping[sp.Symbol, bool]
    """Whether data determine each unknown."""
    verdict: str
    """What data can tell, in words."""
    rss: float
    """The sum of the squares of the weighted residuals."""
    residuals: Any
    """(N,) weighted"""
    numbers: int
    evaluations: int
    motion: Any
    """The motion with these values at the times of the data; of several trials a tuple."""

    @property
    def correlation(self) -> Any:
        """(k, k) correlations of the values."""
        scale = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.outer(scale, scale)

    def __repr__(self) -> str:
        """The fit in a line."""
        return told(self, self.name, listed([f"{s} = {x:.6g}" for s, x in self.values.items()], 6))

    def __str__(self) -> str:
        """Values with errors, how good the fit is, strong correlations, and the verdict."""
        left = self.numbers - len(self.values)
        rms = np.sqrt(self.rss / max(left, 1))
        width = max(len(str(s)) for s in self.values)
        lines = [
            f"{self.name or 'Fit'}: {count(len(self.values), 'unknown')} from {count(self.numbers, 'number')}, "
            f"residual {rms:.4g} a number, {count(self.evaluations, 'evaluation')}",
        ]
        for s, x in self.values.items():
            error = self.errors[s]
            share = f"  ({100 * error / abs(x):.2g} %)" if np.isfinite(error) and x else ""
            lines.append(
                f"  {s!s:<{width}}  {x:.9g}" + (f" ± {error:.3g}{share}" if np.isfinite(error) else "  (open)")
            )
        keys = [s for s in self.values if self.identifiable[s] and np.isfinite(self.errors[s])]
        places = [list(self.values).index(s) for s in keys]
        if len(keys) > 1:
            related = self.correlation[np.ix_(places, places)]
            strong = [
                f"{keys[i]} and {keys[j]} {related[i, j]:+.3f}"
                for i in range(len(keys))
                for j in range(i)
                if abs(related[i, j]) > CORRELATED
            ]
            if strong:
                lines.append(f"Correlated: {listed(strong)}.")
        return "\n".join([*lines, self.verdict])


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
    rates by their names. `weights` maps columns to weights, one over the error of a number; `bounds` maps unknowns to
    a pair. Several trials are lists of `data` and `start`: they share the unknowns.

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
    symbols, first = unknowns_of(unknown)
    begin = one_number(begin_of(given, t), "t")
    trials = trials_of(given, system, data, start, observe, weights, symbols, dict(parameters or {}), begin, tol)
    require_used(symbols, trials)
    low, high = bounds_of(symbols, first, bounds)
    if not isinstance(pieces, int | np.integer) or pieces < 1:
        raise InputError(f"pieces = {pieces!r}: a whole number from 1 on is needed")
    with waiting("fitting"):
        if pieces > 1:
            return in_pieces(system.name, symbols, Shooting(trials, int(pieces)), first, (low, high))
        search = Search(trials, {})
        theta = search.nearest(first, low, high)
        residual, J = search.compare(theta)
        motions = tuple(trial.motion(theta) for trial in trials)
        found = account(system.name, symbols, theta, residual, told_by(J, theta), search.evaluations, motions)
        return found if search.measurable(J, theta) else replace(found, verdict=f"{found.verdict} {IN_PIECES}")


def in_pieces(
    name: str, unknown: tuple[sp.Symbol, ...], shooting: Shooting, first: Array, bounds: tuple[Array, Array]
) -> Fit:
    """The fit by multiple shooting: what data tell is seen along changes that keep the pieces joined."""
    theta, here = shooting.fitted(first, *bounds)
    k, sizes = len(theta), scale_of(theta, here)
    Z = free_directions(here, sizes)[1]
    told_of = told_along(here.J * sizes @ Z, Z[:k], sizes[:k])
    return account(name, unknown, theta, here.r, told_of, shooting.evaluations, shooting.motions(theta, here))


def unknowns_of(unknown: Any) -> tuple[tuple[sp.Symbol, ...], Array]:
    """The unknowns and their first guesses."""
    if not isinstance(unknown, Mapping) or not unknown:
        raise InputError("unknown maps what is sought to a first guess, as in {g: 9.5, L: 1}")
    for s in unknown:
        if not isinstance(s, sp.Symbol):
            raise InputError(f"unknown: {s!r} is not a parameter: make one with zwang.parameters")
    return tuple(unknown), np.array([one_number(x, f"unknown: {s}") for s, x in unknown.items()])


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
        scale = np.array([one_number((weights or {}).get(name, 1.0), f"weights: {name}") for name in columns.names])
        if (scale < 0).any():
            raise InputError(f"weights: {columns.names[int(np.argmin(scale))]} is negative")
        found.append(Trial(given, system, columns, begin, expressions, scale, unknown, parameters, t, tol))
    if strange := [name for name in weights or {} if not any(name in trial.data.names for trial in found)]:
        raise InputError(f"weights names {strange[0]!r}, which was not measured")
    told_numbers = sum(int(np.isfinite(trial.data.values).sum()) for trial in found)
    if told_numbers < len(unknown):
        raise InputError(
            f"{count(told_numbers, 'number')} cannot tell {count(len(unknown), 'unknown')}: measure more, or seek less"
        )
    return found


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


@dataclass(eq=False)
class Search:
    """The search for the least squares, with what was computed last."""

    trials: Sequence[Trial]
    last: dict[bytes, tuple[Array, Array]]
    evaluations: int = 0

    def compare(self, theta: Array) -> tuple[Array, Array]:
        """Residuals and their derivatives for some values, computed once."""
        key = theta.tobytes()
        if key not in self.last:
            parts = [trial.compare(theta) for trial in self.trials]
            self.evaluations += 1
            self.last = {key: (np.concatenate([r for r, _ in parts]), np.vstack([J for _, J in parts]))}
        return self.last[key]

    def measurable(self, J: Array, theta: Array) -> bool:
        """Whether changes of unknowns by their own size change what was measured by no more than many times itself."""
        weighted = [np.where(np.isfinite(t.data.values), t.data.values, 0.0) * t.weights for t in self.trials]
        spread = max(float(np.abs(x).max(initial=0.0)) for x in weighted)
        return float(np.abs(J * sizes_of(theta)).max(initial=0.0)) <= STRONGLY * max(spread, TINIEST)

    def residual(self, theta: Array) -> Array:
        """The same, infinite where there is no motion: then a shorter step is taken."""
        try:
            return self.compare(theta)[0]
        except (SimulationError, AssemblyError):
            size = sum(int(np.isfinite(trial.data.values).sum()) for trial in self.trials)
            return np.full(size, np.inf)

    def nearest(self, first: Array, low: Array, high: Array) -> Array:
        """The values with the least squares, from a first guess on."""
        from scipy.optimize import least_squares

        self.compare(first)  # what is wrong with the guess is told as it is
        found = least_squares(
            self.residual, first, lambda theta: self.compare(theta)[1], bounds=(low, high), method="trf", x_scale="jac",
            ftol=FIT_TOL, xtol=FIT_TOL, gtol=FIT_TOL, max_nfev=200,
        )  # fmt: skip
        theta = np.asarray(found.x, dtype=float)
        for _ in range(LAST_STEPS):
            residual, J = self.compare(theta)
            sizes = sizes_of(theta)
            step = -np.linalg.lstsq(J * sizes, residual, rcond=1e-9)[0] * sizes
            there = theta + step
            if (there <= low).any() or (there >= high).any() or np.abs(step / sizes).max() > 1e-4:
                break
            new = self.residual(there)
            if not new @ new <= residual @ residual * (1 + 1e-12):
                break
            theta = there
            if np.abs(step / sizes).max() < FIT_TOL:
                break
        return theta


def sizes_of(theta: Array) -> Array:
    """By how much values may change: their own size, or one where they are zero."""
    return np.where(theta != 0, np.abs(theta), 1.0)


@dataclass(frozen=True, eq=False)
class Told:
    """What data tell of unknowns: (JᵀJ)⁻¹ (k, k), and directions (d, k) in shares of their sizes that they do not."""

    inverse: Array
    hidden: Array


def told_by(J: Array, theta: Array) -> Told:
    """The same from the derivatives of the residuals."""
    sizes = sizes_of(theta)
    return told_along(J * sizes, np.eye(len(theta)), sizes)


def told_along(J: Array, Z: Array, sizes: Array) -> Told:
    """The same from derivatives along directions, of which the unknowns' parts, in shares of their sizes, are Z."""
    hidden = untold(J, np.ones(J.shape[1])) @ Z.T
    size = np.linalg.norm(hidden, axis=1, keepdims=True) if len(hidden) else 1.0
    inverse = Z @ np.linalg.pinv(J, rcond=1e-7) * sizes[:, None]
    return Told(inverse @ inverse.T, hidden / size)


def account(
    name: str,
    unknown: tuple[sp.Symbol, ...],
    theta: Array,
    residual: Array,
    told_of: Told,
    evaluations: int,
    motions: tuple[Any, ...],
) -> Fit:
    """Errors, covariance and verdict of values that were found."""
    k = len(theta)
    rss, left = float(residual @ residual), len(residual) - k
    share = np.linalg.norm(told_of.hidden, axis=0) if len(told_of.hidden) else np.zeros(k)
    told_ones = share < 1e-3
    variance = rss / left if left > 0 else np.nan
    covariance = variance * told_of.inverse
    errors = np.where(told_ones, np.sqrt(np.maximum(np.diag(covariance), TINIEST)), np.inf)
    words = verdict(told_of.hidden, [str(s) for s in unknown], [bool(x != 0) for x in theta])
    return Fit(
        name=name,
        values=dict(zip(unknown, map(float, theta), strict=True)),
        errors=dict(zip(unknown, map(float, errors), strict=True)),
        covariance=covariance,
        identifiable=dict(zip(unknown, map(bool, told_ones), strict=True)),
        verdict=words,
        rss=rss,
        residuals=residual,
        numbers=len(residual),
        evaluations=evaluations,
        motion=motions[0] if len(motions) == 1 else motions,
    )
