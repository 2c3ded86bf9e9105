"""The coefficients of contacts in numbers."""

from collections.abc import Iterable

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model.contact_law import out_of_range
from zwang.motion.setup import Setup


def coefficients(setup: Setup, rows: Iterable[int]) -> Array:
    """(m,) restitutions in numbers, for contacts; refused by name if out of range."""
    values = dict(zip(setup.symbols, setup.p, strict=True))
    found = np.zeros(len(setup.system.constraints))
    for i in rows:
        c = setup.system.constraints[i]
        found[i] = float(c.restitution.xreplace(values))
        if wrong := out_of_range(float(found[i]), ()):
            raise InputError(f"constraint {c.name!r}: {wrong}")
    return found
