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

MOST_SWEEPS: Final = 20_000
FEW_SWEEPS: Final = 64  # before it is asked whether they gain much
GAINS: Final = 0.3  # the share of what is left that so many sweeps should leave of it
FURTHER: Final = 4.0  # times the way of so many sweeps, then times that, …
FARTHEST_WAY: Final = 1e12
NO_HARM: Final = 1.000001  # times what is left: no harm is done
LOOK_EVERY: Final = 2  # times there and back between two looks at what is left


@native
def sweep(walk: WalkRecord, most: int, enough: float) -> None:
    """So many sweeps, there and back in turn, or until little enough is left of laws."""
    made = 0
    walk.left = look(walk)
    while made < most and walk.left > enough:
        for _ in range(LOOK_EVERY):
            for a in range(walk.acting):
                settle(walk, a)
            for a in range(walk.acting):
                settle(walk, walk.acting - 1 - a)
            made += 2
        walk.left = look(walk)
    walk.sweeps += made


@native
def swept(walk: WalkRecord, enough: float, most: int) -> None:
    """Sweep until little enough is left of laws, so many times at most."""
    x, before, way, kept = at(walk.x), at(walk.good), at(walk.best), at(walk.missing)
    rows, begun = integers(walk.begin)[walk.acting].at, walk.sweeps
    sweep(walk, FEW_SWEEPS if most > FEW_SWEEPS else most, enough)
    while walk.left > enough and walk.sweeps - begun < most:
        last = walk.left
        for r in range(rows):
            before[r] = x[r]
        sweep(walk, FEW_SWEEPS, enough)
        if not (walk.left > enough and walk.left > GAINS * last):
            continue
        far = FURTHER
        for r in range(rows):
            way[r] = x[r] - before[r]
        while walk.left > enough and walk.sweeps - begun < most and far < FARTHEST_WAY:
            last = walk.left
            for r in range(rows):
                kept[r] = x[r]
                x[r] += far * way[r]
            sweep(walk, 2 * LOOK_EVERY, enough)
            if not walk.left <= last * NO_HARM:
                for r in range(rows):
                    x[r] = kept[r]
                walk.left = look(walk)
                break
            far *= FURTHER
