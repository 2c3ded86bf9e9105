"""Sizes that a robot can have: beyond them, numbers of a file overflow where they are multiplied."""

from typing import Any

import numpy as np

from zwang.multibody.readers.tree import Link

# No robot's numbers are near these bounds, and squares of entries of mass matrices, (m l²)², are finite within them.
LARGEST = 1e40
SMALLEST = 1e-60  # of masses and moments that are not zero


def vanishing(link: Link) -> list[str]:
    """What is wrong with a link whose mass or moments are almost zero."""
    sizes = {"mass": abs(link.mass), "moments of inertia": float(np.abs(link.inertia).max())}
    return [
        f"link {link.name!r}: its {what} {size:g} cannot be told from zero: write 0, or at least {SMALLEST:g}"
        for what, size in sizes.items()
        if 0 < size < SMALLEST
    ]


def numbers_beyond(model: Any) -> list[str]:
    """The arrays with numbers that are larger than any robot's; ranges may be open."""
    arrays = {name: np.asarray(value) for name, value in vars(model).items() if not name.endswith("range")}
    kinds = {name: array.astype(float) for name, array in arrays.items() if array.dtype.kind == "f"}
    return sorted(name for name, array in kinds.items() if not (np.abs(array) <= LARGEST).all())
