"""The impulses of a step: those of all contacts at once, found by sweeps, and how well they obey their laws.

Where friction of sticking and of sliding differ, what has stuck until now, or turns round, is held by the larger one;
what slides then is rubbed by the smaller one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.engines.stepping.contacts import AT_STANDSTILL, CHANGES_OF_FRICTION, OBEYED, OBEYED_WELL, USUAL_SWEEPS
from zwang.engines.stepping.sweeps import MOST_SWEEPS, Solved, solve
from zwang.formulations.one_sided import quadratic_program

MANY_ROWS = 600  # up to which contacts without friction are left to a quadratic program after these
NO_MOBILITY = 1e-14  # of the largest: eigenvalues of W that are zero


@dataclass(frozen=True)
class Rubs:
    """Contacts in a step: where their rows begin (k + 1,), their two coefficients of friction (k, 2), and their past.

    `stuck` (k,) says which have stuck until now; `slip` are the speeds of all rows before the step.
    """

    first: NDArray[np.intp]
    friction: Array
    stuck: NDArray[np.bool_]
    speeds: Array

    @property
    def sizes(self) -> NDArray[np.intp]:
        """(k,) how many rows each has."""
        return np.diff(self.first)

    def slips(self, u: Array) -> Array:
        """(k, 2) slips among the speeds of all rows, zero where there are fewer."""
        found = np.zeros((len(self.sizes), 2))
        for part in (1, 2):
            has = self.sizes > part
            found[has, part - 1] = u[self.first[:-1][has] + part]
        return found


def impulses(
    W: Any, free: Array, rubs: Rubs, begin: Array, most: int = MOST_SWEEPS, tol: float = OBEYED
) -> tuple[Solved, float]:
    """The impulses of some contacts, and the largest speed, by which what is left of their laws is to be judged."""
    size = float(max(np.abs(free).max(initial=0.0), np.abs(rubs.speeds).max(initial=0.0)))
    if (rubs.sizes == 1).all():
        return without_friction(W, free, rubs, begin, tol * size, most), size
    holding, rubbing = rubs.friction[:, 0], rubs.friction[:, 1]
    differ, before = holding > rubbing, rubs.slips(rubs.speeds)
    stuck = rubs.stuck | (np.sqrt((before * before).sum(axis=1)) <= AT_STANDSTILL * size)
    mu = np.where(differ & stuck, holding, rubbing)
    found = as_well_as_may_be(W, free, rubs, mu, begin, tol * size, most)
    for _ in range(CHANGES_OF_FRICTION if differ.any() else 0):
        slips = rubs.slips(found.u)
        slides = np.sqrt((slips * slips).sum(axis=1)) > AT_STANDSTILL * size
        turned = slides & ~stuck & ((slips * before).sum(axis=1) < 0)
        wrong = differ & (mu == holding) & slides
        again = differ & (mu == rubbing) & turned & (holding > 0)
        if wrong.any():
            differ = differ & ~wrong  # it slides, and does so for the rest of the step
            mu = np.where(wrong, rubbing, mu)
        elif again.any():
            mu = np.where(again, holding, mu)
        else:
            break
        found = as_well_as_may_be(W, free, rubs, mu, found.x, tol * size, most)
    return found, size


def as_well_as_may_be(W: Any, free: Array, rubs: Rubs, mu: Array, begin: Array, enough: float, most: int) -> Solved:
    """Sweeps until laws hold to the last digits; if that takes long, until they hold well."""
    found = solve(W, free, rubs.first, mu, begin, enough, min(most, USUAL_SWEEPS))
    if not found.left > OBEYED_WELL / OBEYED * enough or most <= found.sweeps:
        return found
    again = solve(W, free, rubs.first, mu, found.x, OBEYED_WELL / OBEYED * enough, most - found.sweeps)
    return again if again.left < found.left else found


def without_friction(W: Any, free: Array, rubs: Rubs, begin: Array, enough: float, most: int) -> Solved:
    """The same where nothing rubs. Where sweeps take long: min ½|z|² with B z ≥ −c, W = BBᵀ, has the multipliers x."""
    none = np.zeros(len(rubs.sizes))
    near = solve(W, free, rubs.first, none, begin, enough, min(USUAL_SWEEPS, most))
    if near.left > enough and len(free) <= MANY_ROWS:
        values, vectors = np.linalg.eigh(W if isinstance(W, np.ndarray) else W.toarray())
        good = values > NO_MOBILITY * values[-1]
        B = vectors[:, good] * np.sqrt(values[good])
        lengths = np.sqrt((B * B).sum(axis=1))
        lengths = np.where(lengths > 0, lengths, 1.0)
        size = np.abs(free).max()
        exact = quadratic_program(
            np.eye(B.shape[1]), np.zeros(B.shape[1]), B / lengths[:, None], -free / lengths / size
        )
        if exact is not None:
            x = np.maximum(exact[1], 0.0) * size / lengths
            found = solve(W, free, rubs.first, none, x, enough, 0)
            near = found if found.left < near.left else near
    return (
        near
        if not near.left > OBEYED_WELL / OBEYED * enough
        else as_well_as_may_be(W, free, rubs, none, near.x, enough, most)
    )


def laid_out(contacts: Sequence[int], slips: dict[int, list[int]]) -> tuple[list[int], NDArray[np.intp]]:
    """The rows of some contacts, each with its slips behind it, and where those of each begin."""
    rows: list[int] = []
    first = [0]
    for i in contacts:
        rows += [i, *slips.get(i, ())]
        first.append(len(rows))
    return rows, np.array(first, dtype=np.intp)
