"""Rest where there is one freedom: followed from a guess where the force drives it, then to the other side.

Newton's method ends where what remains is least nearby, and that need not be nothing. Along one freedom there is no
other way than to and fro: the states that obey the constraints are a curve, and between two of them at which the force
along it points to different sides there is rest, or a singular position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from zwang.analysis.dynamics import Point
from zwang.analysis.settle import SETTLED, Search, Settled, moved_to, sought, units_at
from zwang.arrays import Array

STRIDE = 0.05  # natural units between two states of the curve: a swing of a link is some six
STRIDES = 400  # to each side: some three swings
HALVINGS = 60  # of a stride on which the force changes its sign, to the last digit
WITHIN_STRIDES = 1.5  # strides within which the rest that is then found has to be


@dataclass(frozen=True, eq=False)
class Place:
    """A state of the curve, the way on from there, and the force along it."""

    point: Point
    unit: Array
    """(2n,) natural units: the largest so far, for a state may be near zero where the curve is not"""
    way: Array
    """(2n,) of unit length in these"""

    @property
    def x(self) -> Array:
        """(2n,) the state."""
        return np.concatenate([self.point.q, self.point.v])

    @property
    def force(self) -> float:
        """What drives it on along the way, or back."""
        n = len(self.point.q)
        return float((self.way * self.unit)[:n] @ self.point.now.M @ self.point.a)


def found_by_scan(search: Search, q: Array, v: Array) -> Settled | None:
    """The rest to which a guess falls along its one freedom, else the nearest on the other side.

    None where there is none, or not one freedom.
    """
    unit = units_at(search, q, v)
    begin = moved_to(search, np.concatenate([q, v]), unit)
    if begin is None or not search.rest or (way := only_way(search, begin, unit)) is None:
        return None
    first = Place(begin, unit, way)
    falling = first if first.force >= 0 else replace(first, way=-way)
    for place in (falling, replace(falling, way=-falling.way)):
        for low, high in stretches(search, place):
            if low.force * high.force <= 0 and (found := between(search, low, high)) is not None:
                return found
    return None


def only_way(search: Search, point: Point, unit: Array) -> Array | None:
    """The one direction in which a state may move; None where there are others, or none."""
    basis = search.directions(point, unit)
    return basis[0] if len(basis) == 1 else None


def stretches(search: Search, place: Place) -> Iterator[tuple[Place, Place]]:
    """Neighbouring states of the curve on one side, as far as it goes and contacts let it."""
    for _ in range(STRIDES):
        if (on := further(search, place, STRIDE)) is None:
            return
        yield place, on
        place = replace(on, unit=np.maximum(on.unit, units_at(search, on.point.q, on.point.v)))
        if (way := only_way(search, place.point, place.unit)) is None:
            return
        place = replace(place, way=way * np.sign((way * place.unit) @ (on.way / on.unit)))


def further(search: Search, place: Place, stride: float) -> Place | None:
    """The state a stride on; None where the curve ends."""
    point = moved_to(search, place.x + stride * place.way * place.unit, place.unit)
    if point is None or len(search.dynamics.beyond(point.q, point.v)):
        return None
    way = only_way(search, point, place.unit)
    return None if way is None else Place(point, place.unit, way * np.sign(way @ place.way))


def between(search: Search, low: Place, high: Place) -> Settled | None:
    """The rest between two states at which the force points to different sides; None where there is a pole instead."""
    first = low
    for _ in range(HALVINGS):
        gap = float(np.linalg.norm((high.x - low.x) / first.unit))
        middle = further(search, low, gap / 2)
        if middle is None or middle.force == 0.0 or gap < SETTLED:
            break
        low, high = (middle, high) if middle.force * low.force > 0 else (low, middle)
    nearest = min(low, high, key=lambda place: abs(place.force))
    found = sought(search, nearest.point.q, nearest.point.v)
    away = (np.concatenate([found.point.q, found.point.v]) - first.x) / first.unit
    return found if found.found and float(np.linalg.norm(away)) <= WITHIN_STRIDES * STRIDE else None
