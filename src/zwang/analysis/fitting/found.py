"""What a fit has found: values with their errors, and what data can tell, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.fitting.identify import Effect, untold, verdict
from zwang.arrays import TINIEST, Array
from zwang.display import Displayed, told
from zwang.words import count, listed

CORRELATED = 0.9  # correlations above this are worth a word
UNEXPLAINED = 0.5  # the share of how data vary that is left, above which a fit is bad
NOT_TOLD = 1e-3  # a share of the directions that data do not tell, above which an unknown is not told


@dataclass(frozen=True)
class Fit(Displayed):
    """Values of unknowns that come nearest to data, how well they are known, and what data can tell at all."""

    name: str
    values: Mapping[sp.Symbol, float]
    errors: Mapping[sp.Symbol, float]
    """Standard errors; infinite where data do not tell, not a number at a bound and where no numbers are left over."""
    covariance: Any
    """(k, k) in the order of the values; zero for what is at its bound"""
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
        with np.errstate(invalid="ignore"):  # what is at its bound has none
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
        lines += [f"  {s!s:<{width}}  {x:.9g}{error_words(x, self.errors[s])}" for s, x in self.values.items()]
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


def error_words(value: float, error: float) -> str:
    """What is said of a value's error."""
    if not np.isfinite(error):
        return "  (open)" if np.isinf(error) else ""
    return f" ± {error:.3g}" + (f"  ({100 * error / abs(value):.2g} %)" if value else "")


def sizes_of(theta: Array) -> Array:
    """By how much values may change: their own size, or one where they are zero."""
    return np.where(theta != 0, np.abs(theta), 1.0)


@dataclass(frozen=True, eq=False)
class Told:
    """What data tell of unknowns: (JᵀJ)⁻¹ (k, k), and directions (d, k) in shares of their sizes that they do not."""

    inverse: Array
    hidden: Array


def told_by(J: Array, theta: Array, free: Any) -> Told:
    """The same from the derivatives of the residuals (N, k) by the unknowns that are free (k,); others are known."""
    sizes, Z = sizes_of(theta), np.eye(len(theta))[:, free]
    return told_along((J * sizes)[:, free], Z, sizes)


def told_along(J: Array, Z: Array, sizes: Array) -> Told:
    """The same from derivatives along directions, of which the unknowns' parts, in shares of their sizes, are Z."""
    hidden = untold(J) @ Z.T
    size = np.linalg.norm(hidden, axis=1, keepdims=True) if len(hidden) else 1.0
    inverse = Z @ np.linalg.pinv(J, rcond=1e-7) * sizes[:, None]
    return Told(inverse @ inverse.T, hidden / size)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values (k,) with the least squares, and at which bounds they are: −1 the least, 1 the greatest, 0 none."""

    theta: Array
    at_bound: Array

    @property
    def free(self) -> Any:
        """(k,) which are at no bound."""
        return self.at_bound == 0


def account(
    name: str,
    unknown: tuple[sp.Symbol, ...],
    found: Estimate,
    residual: Array,
    varied: float,
    told_of: Told,
    effect: Effect | None,
    evaluations: int,
    motions: tuple[Any, ...],
) -> Fit:
    """Errors, covariance and verdict of values that were found; `varied` is what data differ from their means by."""
    theta, free, k = found.theta, found.free, len(found.theta)
    rss, left = float(residual @ residual), len(residual) - int(free.sum())
    share = np.linalg.norm(told_of.hidden, axis=0) if len(told_of.hidden) else np.zeros(k)
    covariance = (rss / left if left > 0 else np.nan) * told_of.inverse
    errors = np.where(share < NOT_TOLD, np.sqrt(np.maximum(np.diag(covariance), TINIEST)), np.inf)
    names = [str(s) for s in unknown]
    words = [verdict(told_of.hidden, names, theta, effect)]
    words += [
        f"{names[i]} is at its {'least' if found.at_bound[i] < 0 else 'greatest'} value {theta[i]:.9g}: data ask for "
        f"{'less' if found.at_bound[i] < 0 else 'more'}."
        for i in np.flatnonzero(~free)
    ]
    if left <= 0:
        words.append("As many unknowns as numbers: there are no errors to be told.")
    if varied > 0 and rss > UNEXPLAINED * varied:
        words.append(
            f"It fits badly, {min(rss / varied, 1):.0%} of how the data vary is left: other first guesses may fit "
            f"better, or another model."
        )
    return Fit(
        name=name,
        values=dict(zip(unknown, map(float, theta), strict=True)),
        errors=dict(zip(unknown, map(float, np.where(free, errors, np.nan)), strict=True)),
        covariance=covariance,
        identifiable=dict(zip(unknown, map(bool, (share < NOT_TOLD) & free), strict=True)),
        verdict=" ".join(words),
        rss=rss,
        residuals=residual,
        numbers=len(residual),
        evaluations=evaluations,
        motion=motions[0] if len(motions) == 1 else motions,
    )
