"""Modes of large systems of masses on springs: all of them by one dense matrix, or the lowest by sparse ones."""

import numpy as np

from zwang.analysis.large.pencil import Pencil
from zwang.analysis.large.place import Place
from zwang.analysis.linear import LEAST_STATE, STANDING
from zwang.analysis.springs import Modes, pairs_of, phase_of, simplest
from zwang.arrays import EPS, TINIEST, Array
from zwang.errors import InputError
from zwang.linalg.factors import direction
from zwang.words import listed

FLAT_SLOPE = 1e-13  # of the largest: what rounding leaves of zero
EXTRA = 6  # modes that are found beside those asked for, to see where these end
APART = 1e-6  # share by which two slopes differ between which modes can be counted
COUNTINGS = 5  # times that more modes are looked for, where some were missed


def large_modes(place: Place, count: int | None) -> Modes:
    """The modes beside rest, softest first: all, or so many eigenvalues; each slope has two of them."""
    pencil = Pencil.of(place)
    wanted = pencil.directions if count is None else min(-(-count // 2), pencil.directions)
    few = 2 * (wanted + EXTRA) < pencil.directions
    slopes, vectors = lowest(pencil, wanted) if few else pencil.every()
    slopes, shapes = slopes[:wanted], vectors[:wanted] / place.units
    flat = np.abs(slopes) <= FLAT_SLOPE * pencil.size
    values, uncertain = pairs_of(np.where(flat, 0.0, slopes), flat, 64 * np.sqrt(place.n) * EPS * pencil.size)
    names = place.dynamics.system.coordinate_names
    families = tuple(direction(row, names) for row in simplest(shapes[flat]))
    shapes = shapes / phase_of(shapes, place.now.M.diagonal())[:, None] + 0.0
    whole = np.repeat(shapes, 2, axis=0).astype(complex)
    end = 2 * wanted if count is None else min(count, 2 * wanted)
    zeros = np.asarray(2 * np.count_nonzero(flat))
    return Modes(values[:end], whole[:end], zeros, uncertain[:end], families)


def lowest(pencil: Pencil, wanted: int) -> tuple[Array, Array]:
    """The softest slopes, and none is missed: as many are found as pivots count."""
    asked = wanted + EXTRA
    for _ in range(COUNTINGS):
        slopes, vectors = pencil.softest(asked)
        size = np.abs(slopes)
        gaps = [k for k in range(wanted, len(size)) if size[k] - size[k - 1] > APART * size[k]]
        if gaps:
            end = gaps[0]
            radius = max(float(size[end - 1] + size[end]) / 2, TINIEST)
            above, under = pencil.below(radius), pencil.below(-radius)
            if above is not None and under is not None and above - under == end:
                return slopes[:end], vectors[:end]
        asked += max(EXTRA, asked // 2)
    raise InputError(
        "modes could not be counted: too many of them nearly coincide; ask for another number of them, or for all"
    )


def residual_of(place: Place) -> float:
    """The largest acceleration, as a share of what it is made of, or of its own slopes."""
    return float(shares(place).max(initial=0.0))


def shares(place: Place) -> Array:
    """(n,) accelerations, likewise."""
    units = place.units
    state = float((units * np.maximum(np.abs(place.q), LEAST_STATE)).max(initial=0.0))
    size = place.terms + np.asarray(abs(place.H).sum(axis=1)) * state / units
    return np.asarray(np.abs(place.a) / np.maximum(size, TINIEST))


def require_rest(place: Place) -> None:
    """Refuse a place from which a system moves, naming what moves and how fast."""
    share, names = shares(place), place.dynamics.system.coordinate_names
    bad = [i for i in np.argsort(-share) if share[i] > STANDING]
    if bad:
        words = listed([f"{names[i]}' changes at {place.a[i]:.6g}" for i in bad], 3)
        raise InputError(f"this state is no equilibrium: {words}; find one with zwang.equilibrium")
