"""The coefficients of contacts in numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model.contact_law import out_of_range
from zwang.motion.setup import Setup


@dataclass(frozen=True)
class Coefficients:
    """Restitutions (m,), and coefficients of sticking and sliding by contact, where there is friction."""

    restitution: Array
    friction: dict[int, tuple[float, float]]


def coefficients(setup: Setup, rows: Iterable[int]) -> Coefficients:
    """Those of some contacts and guides; refused by name if out of range."""
    values = dict(zip(setup.symbols, setup.p, strict=True))
    restitution, friction = np.zeros(len(setup.system.constraints)), {}
    for i in rows:
        c = setup.system.constraints[i]
        restitution[i] = float(c.restitution.xreplace(values))
        pair: Sequence[float] = [float(mu.xreplace(values)) for mu in c.friction]
        if wrong := out_of_range(float(restitution[i]), pair):
            raise InputError(f"constraint {c.name!r}: {wrong}")
        if pair:
            friction[i] = (pair[0], pair[1])
    return Coefficients(restitution, friction)
