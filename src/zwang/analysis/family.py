"""Directions in which an equilibrium or a steady motion is not alone, and those in which first order says nothing.

Aside along a soft direction, Newton's step leads back all the way where rates grow in proportion, not at all where
there are further such states, and a part of the way where rates vanish to first order only: for xᵏ it is 1/k. Where
steep directions are curved, that is so near by only: then it is looked at again from nearer.
"""

from dataclasses import dataclass

import numpy as np

from zwang.analysis.settle import SAME_DIRECTION, Search, Settled, moved_to, shortest
from zwang.arrays import Array

SOFT = 1e-4  # a slope below this share of the steepest one is looked at
ASIDE = (1e-2, 1e-3, 1e-4)  # how far to go along it, in natural units: nearer where that does not tell
ACROSS = 4  # steps across the direction before the step back
BACK = (0.05, 0.9, 1.1)  # shares of the way back: below the first it is a family, between the others an ordinary one


@dataclass(frozen=True, eq=False)
class Family:
    """Directions (k, 2n) in which there are further such states, and those in which first order does not tell."""

    along: Array
    degenerate: Array


def family_of(search: Search, settled: Settled) -> Family:
    """The soft directions beside a state that was found; what was held for the search is free here."""
    free = Search(search.dynamics, search.constant, None, np.zeros(0), search.rest)
    point, unit = settled.point, settled.unit
    basis, weights = free.directions(point, unit), free.weights(point, unit)
    along, degenerate = [np.zeros((0, len(unit)))], [np.zeros((0, len(unit)))]
    if len(basis):
        G = free.slopes(point, basis, unit) * weights[:, None]
        U, s, Vt = np.linalg.svd(G, full_matrices=True)
        steep = np.zeros(len(basis))
        steep[: len(s)] = s
        steepest = max(settled.steepest, float(steep.max()))
        for i, (slope, way) in enumerate(zip(steep, Vt @ basis, strict=True)):
            if slope > SOFT * steepest or (i < len(s) and ordinary(free, settled, way, slope, U[:, i])):
                continue
            none, most, all_of_it = BACK
            backs: list[float] = []
            while len(backs) < len(ASIDE) and (not backs or backs[-1] >= none):
                backs.append(way_back(free, settled, way, ASIDE[len(backs)]))
                if most <= backs[-1] <= all_of_it:
                    break
            if backs[-1] < none:
                along.append(way[None] * unit)
            elif backs[-1] < most or backs[-1] > all_of_it:
                degenerate.append(way[None] * unit)
    return Family(np.vstack(along), np.vstack(degenerate))


def ordinary(search: Search, settled: Settled, way: Array, slope: float, side: Array) -> bool:
    """Whether rates grow in proportion along a soft direction: one look aside, which mostly tells."""
    point, unit, aside = settled.point, settled.unit, ASIDE[0]
    there = moved_to(search, np.concatenate([point.q, point.v]) + aside * way * unit, unit)
    if there is None or slope <= SAME_DIRECTION * settled.steepest:
        return False
    weights = search.weights(point, unit)
    grown = float(side @ ((search.rates(there) - search.rates(point)) * weights)) / (slope * aside)
    return BACK[1] <= grown <= BACK[2]


def way_back(search: Search, settled: Settled, way: Array, aside: float) -> float:
    """The share of a way aside, so many natural units long, that Newton's step from there leads back.

    First everything else settles beside it: soft directions are often curved valleys between steep sides.
    """
    point, unit = settled.point, settled.unit
    x = np.concatenate([point.q, point.v]) + aside * way * unit
    for turn in range(ACROSS + 1):
        there = moved_to(search, x, unit)
        if there is None:
            return 0.5
        basis, weights = search.directions(there, unit), search.weights(there, unit)
        G, g = search.slopes(there, basis, unit) * weights[:, None], search.rates(there) * weights
        x = np.concatenate([there.q, there.v])
        if turn < ACROSS:
            across = np.linalg.svd((basis @ way)[None])[2][1:]
            x = x + shortest(G @ across.T, -g)[0] @ across @ basis * unit
    y, _ = shortest(G, -g)
    return float(-(y @ basis) @ way) / aside
