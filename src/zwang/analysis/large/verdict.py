"""The verdict on rest of masses on springs, in sparse matrices: as `analysis.stability` and `analysis.family`."""

from dataclasses import dataclass

import numpy as np

from zwang.analysis.family import ACROSS, ASIDE, BACK, SOFT
from zwang.analysis.large.pencil import Pencil
from zwang.analysis.large.place import Place
from zwang.analysis.large.search import Ground, Slopes, largest, slopes_at
from zwang.analysis.settle import SAME_DIRECTION
from zwang.analysis.stability import beside_words, degenerate_words, potential_words, rest_words
from zwang.arrays import Array
from zwang.linalg.factors import direction
from zwang.words import listed

ORDINARY = 3  # soft directions in a row along which forces grow in proportion: steeper ones are not looked at
FIRST_LOOKED_AT = 6  # directions, the softest
SOFTEST_LOOKED_AT = 48  # of them


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether a small disturbance stays small, why, in words, and where there are further states of rest."""

    stable: bool | None
    words: str
    families: tuple[str, ...]


def verdict_on(place: Place, ground: Ground) -> Verdict | None:
    """The verdict on a place of rest; None where soft directions are too many, or cannot be counted."""
    pencil = Pencil.of(place)
    if (soft := soft_directions(place, ground, pencil)) is None:
        return None
    dynamics = place.dynamics
    seen = rest_words(dynamics, soft.along)
    if len(soft.degenerate):
        return Verdict(None, degenerate_words(listed(rest_words(dynamics, soft.degenerate))), seen)
    down = pencil.below(-soft.least / 2)
    if down is None:
        return None

    def fastest() -> tuple[str, float]:
        value, vector = pencil.lowest()
        return direction(vector / place.units, dynamics.system.coordinate_names), float(np.sqrt(-value))

    flat = len(soft.along)
    return Verdict(*potential_words(pencil.directions, down, flat, fastest, beside_words(seen)), seen)


@dataclass(frozen=True, eq=False)
class Soft:
    """Directions (k, n) with further states of rest, those where first order does not tell, the least slope beside."""

    along: Array
    degenerate: Array
    least: float


def soft_directions(place: Place, ground: Ground, pencil: Pencil) -> Soft | None:
    """The soft directions beside rest, the softest first, until some in a row are ordinary; None if that never ends."""
    wanted = FIRST_LOOKED_AT
    while wanted <= SOFTEST_LOOKED_AT:
        values, vectors = pencil.softest(wanted)
        along: list[Array] = []
        degenerate: list[Array] = []
        in_a_row, least = 0, np.inf
        for value, vector in zip(values, vectors, strict=True):
            steep = abs(value) > SOFT * pencil.size
            kind = (
                "ordinary" if steep or grows(place, ground, value, vector, pencil) else looked_at(place, ground, vector)
            )
            in_a_row = in_a_row + 1 if kind == "ordinary" else 0
            if kind == "ordinary":
                least = min(least, abs(float(value)))
            else:
                (along if kind == "family" else degenerate).append(vector / place.units)
            if steep or in_a_row == ORDINARY:
                return Soft(stacked(along, place.n), stacked(degenerate, place.n), least)
        if len(values) == pencil.directions:
            return Soft(stacked(along, place.n), stacked(degenerate, place.n), min(least, pencil.size))
        wanted *= 2
    return None


def stacked(ways: list[Array], n: int) -> Array:
    """(k, n) directions, of which there may be none."""
    return np.vstack([np.zeros((0, n)), *ways])


def aside(ground: Ground, place: Place, vector: Array, share: float) -> float:
    """How far to go along a direction of unit mass so that it is so many natural units."""
    return share / largest(vector / place.units / ground.unit)


def grows(place: Place, ground: Ground, value: float, vector: Array, pencil: Pencil) -> bool:
    """Whether forces grow in proportion along a direction: one look aside, which mostly tells."""
    if abs(value) <= SAME_DIRECTION * pencil.size:
        return False
    far = aside(ground, place, vector, ASIDE[0])
    there = ground.onto(place.q + far * vector / place.units)
    if there is None:
        return False
    grown = -float(vector @ (place.M @ (place.units * (there.a - place.a)))) / (value * far)
    return BACK[1] <= grown <= BACK[2]


def looked_at(place: Place, ground: Ground, vector: Array) -> str:
    """What a soft direction is: "family", "degenerate" or "ordinary", by how far a step from aside leads back."""
    none, most, all_of_it = BACK
    back = 0.0
    for share in ASIDE:
        back = way_back(place, ground, vector, aside(ground, place, vector, share))
        if most <= back <= all_of_it:
            return "ordinary"
        if back < none:
            return "family"
    return "degenerate"


def way_back(place: Place, ground: Ground, vector: Array, far: float) -> float:
    """The share of a way aside that Newton's step from there leads back, once everything else has settled."""
    q, back = place.q + far * vector / place.units, place.q
    for turn in range(ACROSS + 1):
        if (there := ground.onto(q)) is None:
            return 0.5
        slopes = Slopes.at(there, vector[None]) if turn < ACROSS else slopes_at(there)
        if slopes is None:
            return 0.5
        back = slopes.step(there)
        q = there.q + back
    return -float(vector @ (place.M @ (back * place.units))) / far
