"""Impulses by many sweeps: the last resort, where pivots lead nowhere.

Where sweeps gain little, the way they go is followed further, as long as that does no harm: what is wedged needs
impulses far larger than those that come in from outside, and sweeps let them grow by the same bit each. Native
functions.
"""

from typing import Final

from zwang.compile.restricted import native
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.acting import look, settle
from zwang.engines.stepping.record import WalkRecord, integers

MOST_SWEEPS: Final = 10_000  # there and back
FEW_SWEEPS: Final = 32  # there and back before it is asked whether they gain much
GAINS: Final = 0.3  # the share of what is left that so many sweeps should leave of it
FURTHER: Final = 4.0  # times the way of so many sweeps, then times that, …
FARTHEST_WAY: Final = 1e12
NO_HARM: Final = 1.000001  # times what is left: no harm is done
AFTER_A_WAY: Final = 2  # sweeps there and back that show whether one did


@native
def sweep(walk: WalkRecord, count: int) -> float:
    """So many sweeps there and back; what is left of laws."""
    for _ in range(count):
        for a in range(walk.acting):
            settle(walk, a)
        for a in range(walk.acting):
            settle(walk, walk.acting - 1 - a)
    walk.sweeps += 2 * count
    return look(walk)


@native
def swept(walk: WalkRecord, enough: float) -> None:
    """Sweep until little enough is left of laws, or that takes too long."""
    x, before, way, kept = at(walk.x), at(walk.good), at(walk.best), at(walk.missing)
    rows, left, made = integers(walk.begin)[walk.acting].at, walk.left, 0
    while left > enough and made < MOST_SWEEPS:
        for r in range(rows):
            before[r] = x[r]
        last = left
        left = sweep(walk, FEW_SWEEPS)
        made += FEW_SWEEPS
        if not left > GAINS * last:
            continue
        far = FURTHER
        for r in range(rows):
            way[r] = x[r] - before[r]
        while left > enough and made < MOST_SWEEPS and far < FARTHEST_WAY:
            for r in range(rows):
                kept[r] = x[r]
                x[r] += far * way[r]
            look(walk)
            trial = sweep(walk, AFTER_A_WAY)
            made += AFTER_A_WAY
            if not trial <= left * NO_HARM:
                for r in range(rows):
                    x[r] = kept[r]
                look(walk)
                break
            left, far = trial, far * FURTHER
    walk.left = left
