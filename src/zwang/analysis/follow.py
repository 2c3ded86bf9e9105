"""A state followed along a parameter: many values at once by Newton's method, from where the last ones lead.

Each value's state is looked for near that of the value before. Where the states lie on a smooth curve, as they mostly
do, those of a block of values are found together from its straight continuation, in the steps of `settle`; they count
as long as they are near to where they were expected. Where they are not, the next value is searched for with care, and
blocks begin anew.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang.analysis.dynamics import Dynamics
from zwang.analysis.readings import readings_of
from zwang.analysis.samples import some
from zwang.analysis.settle import ENOUGH, Search, shortest, units_at
from zwang.arrays import Array
from zwang.errors import ZwangError
from zwang.linalg.newton import NEWTON_RANK_TOL
from zwang.model import System
from zwang.model.values import given_values

FIRST_BLOCK = 8  # values that are tried together at first; twice as many after each success
MOST_TOGETHER = 512
AS_EXPECTED = 0.1  # natural units by which a state may differ from where it was expected
FOLLOWED_TURNS = 8  # of Newton's method
RESTORED_TURNS = 3  # onto the constraints, in each of them
FOLLOWED_STEP = 1e-8  # natural units of the last step: the next one would be its square

Careful = Callable[[int, Array | None], Array]
"""The state (2n,) of a value by its number, searched for near one that is known, or from the beginning."""


@dataclass(frozen=True, eq=False)
class Followed:
    """What is followed: rest, or what stays constant; what is held, and to which values (N, h)."""

    constant: Any
    hold: Any
    targets: Array


def states_along(
    system: System, t: float, parameters: Mapping[Any, Any], values: Array, what: Followed, careful: Careful
) -> Array:
    """(N, 2n) the states of all values (N,) of one of the parameters, which is an array there."""
    found, block = [careful(0, None)], FIRST_BLOCK
    search = search_along(system, t, parameters, values, what)
    while len(found) < len(values):
        begin, end = len(found), min(len(found) + block, len(values))
        there = as_expected(search, values, found, slice(begin, end))
        block = min(2 * block, MOST_TOGETHER) if len(there) == end - begin else FIRST_BLOCK
        found += list(there) if len(there) else [careful(begin, found[-1])]
    return np.array(found)


def search_along(system: System, t: float, parameters: Mapping[Any, Any], values: Array, what: Followed) -> Search:
    """The search with the parameters of all values."""
    numbers = given_values(system, parameters)
    p = np.broadcast_to(numbers.p, (len(values), numbers.p.shape[-1]))
    dynamics = Dynamics(system, replace(numbers, p=p), t)
    one = some(dynamics, 0)
    constant = readings_of(one, system.velocities if what.constant is None else what.constant, "constant")
    held = readings_of(one, what.hold, "hold") if what.hold else None
    return Search(dynamics, constant, held, what.targets, rest=what.constant is None)


def as_expected(search: Search, values: Array, found: list[Array], part: slice) -> Array:
    """(b, 2n) the states of the next values, up to the first that is not near to where it was expected."""
    last, begin = found[-1], part.start
    if search.dynamics.one_sided.any():  # which contacts are closed is to be found out for each
        return np.zeros((0, len(last)))
    slope = (last - found[-2]) / (values[begin - 1] - values[begin - 2]) if begin > 1 else np.zeros_like(last)
    expected = last + (values[part] - values[begin - 1])[:, None] * slope
    single = replace(search, dynamics=some(search.dynamics, begin - 1), targets=search.targets[begin - 1])
    unit = units_at(single, last[: search.n], last[search.n :])
    block = replace(search, dynamics=some(search.dynamics, part), targets=search.targets[part])
    try:
        with np.errstate(all="ignore"):  # what runs away does not settle
            x, settled = at_once(block, expected, unit)
    except (ZwangError, np.linalg.LinAlgError):  # one of them is not as the others: nearer ones may be
        nearer = slice(begin, begin + (part.stop - begin) // 2)
        return as_expected(search, values, found, nearer) if nearer.stop > begin else np.zeros((0, len(last)))
    good = settled & (np.abs((x - expected) / unit).max(axis=1) <= AS_EXPECTED)
    return x[: len(good) if good.all() else int(np.argmin(good))]


def at_once(search: Search, x: Array, unit: Array) -> tuple[Array, Array]:
    """Newton's method of `settle` from states (b, 2n), undamped: where it ends, and where it has settled (b,)."""
    length = np.full(len(x), np.inf)
    for _ in range(FOLLOWED_TURNS):
        x = restored(search, x, unit)
        point = search.dynamics.at(x[:, : search.n], x[:, search.n :])
        basis, weights = search.directions(point, unit), search.weights(point, unit)
        g = search.rates(point) * weights
        G = search.slopes(point, basis, unit) * weights[..., None]
        # what remains, beside its terms where they do not vanish, and beside what is a natural unit away
        size = np.maximum(search.sizes(point, unit), np.linalg.norm(G, axis=(-2, -1)))
        settled = (length <= FOLLOWED_STEP) & (np.abs(g).max(axis=-1, initial=0.0) <= ENOUGH * size)
        if settled.all():
            break
        y = shortest(G, -g)[0]
        x = x + (y[:, None] @ basis)[:, 0] * unit
        length = np.linalg.norm(y, axis=1)
    return x, settled & np.isfinite(x).all(axis=1)


def restored(search: Search, x: Array, unit: Array) -> Array:
    """States (b, 2n) brought back onto the constraints and to what is held, by Newton's shortest steps."""
    free = np.repeat([1.0, 0.0 if search.rest else 1.0], search.n) * unit
    for _ in range(RESTORED_TURNS):
        f, J = search.levels(x)
        if not f.shape[-1]:
            break
        step = (np.linalg.pinv(J * free, rcond=NEWTON_RANK_TOL) @ f[..., None])[..., 0] * free
        x = x - step
    return x
