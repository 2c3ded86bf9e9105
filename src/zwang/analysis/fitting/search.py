"""The search for the least squares, from a first guess on and within bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.analysis.fitting.found import Estimate, sizes_of, told_by
from zwang.analysis.fitting.identify import Effect
from zwang.analysis.fitting.trial import Trial
from zwang.arrays import TINIEST, Array
from zwang.errors import AssemblyError, InconsistentError, MassError, SimulationError, UndeterminedError

FIT_TOL = 1e-12  # of steps, gradients and squares, as shares
LAST_STEPS = 5  # of Gauss and Newton, to the last digits
STRONGLY = 1e4  # of what was measured: motions that depend on unknowns by more are not found from a guess
AT_A_BOUND = 1e-4  # of its size: a value so near to a bound, and drawn to it, is at it
ROUNDED_VALUE = 1e-12  # of the first guess, or of one where that is zero: a value below it is zero
AS_WELL = 1e-9  # of what was measured: fits whose residuals differ by less are equally good

NO_MOTION = (SimulationError, AssemblyError, MassError, UndeterminedError, InconsistentError)
"""What values may lead to with which there is no motion: then a shorter step is taken."""


@dataclass(eq=False)
class Search:
    """The search for values between bounds (k,), with what was computed last."""

    trials: Sequence[Trial]
    low: Array
    high: Array
    last: dict[bytes, tuple[Array, Array]] = field(default_factory=dict)
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
        spread = max(float(np.abs(t.weighted).max(initial=0.0)) for t in self.trials)
        return float(np.abs(J * sizes_of(theta)).max(initial=0.0)) <= STRONGLY * max(spread, TINIEST)

    def effect(self, theta: Array) -> Effect:
        """What other values than these would do to the data."""
        here, J = self.compare(theta)
        each = np.abs(J * sizes_of(theta)).max(axis=0, initial=0.0)
        return Effect(each, lambda other: float(np.abs(self.residual(other) - here).max(initial=0.0)))

    def residual(self, theta: Array) -> Array:
        """The residuals, infinite where there is no motion."""
        try:
            return self.compare(theta)[0]
        except NO_MOTION:
            return np.full(sum(int(np.isfinite(trial.data.values).sum()) for trial in self.trials), np.inf)

    def near_the_guess(self, first: Array) -> Estimate:
        """The values with the least squares; of what data do not tell, as much as possible as in the first guess."""
        found = self.nearest(first, np.ones(len(first), dtype=bool))
        residual, J = self.compare(found.theta)
        hidden = told_by(J, found.theta, found.free).hidden
        if not len(hidden):
            return found
        from scipy.linalg import qr

        free = np.ones(len(first), dtype=bool)
        free[qr(hidden, mode="r", pivoting=True)[-1][: len(hidden)]] = False  # values that may be anything
        if not free.any():
            return found
        again = self.nearest(first, free)
        before, after = float(residual @ residual), self.residual(again.theta)
        slack = AS_WELL**2 * sum(float((t.weighted**2).sum()) for t in self.trials)
        return again if float(after @ after) <= before * (1 + AS_WELL) + slack else found

    def nearest(self, first: Array, free: Any) -> Estimate:
        """The values with the least squares, from a first guess on, of which some are free (k,)."""
        from scipy.optimize import least_squares

        def whole(x: Array) -> Array:
            theta = first.copy()
            theta[free] = x
            return theta

        self.compare(first)  # what is wrong with the guess is told as it is
        found = least_squares(
            lambda x: self.residual(whole(x)), first[free], lambda x: self.compare(whole(x))[1][:, free],
            bounds=(self.low[free], self.high[free]), method="trf", x_scale="jac",
            ftol=FIT_TOL, xtol=FIT_TOL, gtol=FIT_TOL, max_nfev=200,
        )  # fmt: skip
        estimate = self.on_bounds(whole(np.asarray(found.x, dtype=float)), free)
        theta = self.polished(estimate.theta, free & estimate.free)
        return Estimate(np.where(np.abs(theta) > ROUNDED_VALUE * sizes_of(first), theta, 0.0), estimate.at_bound)

    def on_bounds(self, theta: Array, free: Any) -> Estimate:
        """Values with those at their bounds that are drawn to them."""
        residual, J = self.compare(theta)
        slope, near = residual @ J, AT_A_BOUND * sizes_of(theta)
        least = free & (theta - self.low <= near) & (slope > 0)
        most = free & (self.high - theta <= near) & (slope < 0)
        there = np.where(least, self.low, np.where(most, self.high, theta))
        new = self.residual(there)
        if not new @ new <= residual @ residual * (1 + AT_A_BOUND):  # only near to it
            return Estimate(theta, np.zeros(len(theta)))
        return Estimate(there, 1.0 * most - 1.0 * least)

    def polished(self, theta: Array, free: Any) -> Array:
        """The last digits, by steps of Gauss and Newton."""
        for _ in range(LAST_STEPS if free.any() else 0):
            residual, J = self.compare(theta)
            sizes = sizes_of(theta)
            step = np.zeros(len(theta))
            step[free] = -np.linalg.lstsq((J * sizes)[:, free], residual, rcond=1e-9)[0] * sizes[free]
            there = theta + step
            outside = (there <= self.low) | (there >= self.high)
            if (outside & free).any() or np.abs(step / sizes).max() > 1e-4:
                break
            new = self.residual(there)
            if not new @ new <= residual @ residual * (1 + 1e-12):
                break
            theta = there
            if np.abs(step / sizes).max() < FIT_TOL:
                break
        return theta


def varied(trials: Sequence[Trial]) -> float:
    """The sum of the squares of what weighted data differ by from the means of their columns."""
    return sum(float(np.nansum((x - np.nanmean(x)) ** 2)) for t in trials for x in t.weighted_columns if len(x))
