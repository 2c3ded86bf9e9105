"""Moments of inertia of simple bodies about their centre of mass, and what happens where there is none."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from zwang.errors import UndeterminedError
from zwang.evaluation import matrices
from zwang.model import System
from zwang.multibody.body import MassBody
from zwang.multibody.spatial_body import Body

Moments = tuple[Any, Any, Any]
WEAK = 1e-10  # a direction with less than this share of the largest inertia and hold counts as having none


def rod(mass: Any, length: Any) -> Moments:
    """A thin rod along x.

    >>> rod(12, 1)
    (0, 1.0, 1.0)
    """
    return (0, mass * length**2 / 12, mass * length**2 / 12)


def box(mass: Any, size: Sequence[Any]) -> Moments:
    """A box with edges along the axes.

    >>> box(12, (1, 2, 3))
    (13.0, 10.0, 5.0)
    """
    a, b, c = size
    return (mass * (b**2 + c**2) / 12, mass * (a**2 + c**2) / 12, mass * (a**2 + b**2) / 12)


def cylinder(mass: Any, radius: Any, length: Any) -> Moments:
    """A solid cylinder along z.

    >>> cylinder(12, 1, 2)
    (7.0, 7.0, 6.0)
    """
    across = mass * (3 * radius**2 + length**2) / 12
    return (across, across, mass * radius**2 / 2)


def sphere(mass: Any, radius: Any) -> Moments:
    """A solid ball.

    >>> sphere(5, 1)
    (2.0, 2.0, 2.0)
    """
    return (2 * mass * radius**2 / 5,) * 3


def disc(mass: Any, radius: Any) -> Moments:
    """A thin disc with its axis along z.

    >>> disc(4, 1)
    (1.0, 1.0, 2.0)
    """
    return (mass * radius**2 / 4, mass * radius**2 / 4, mass * radius**2 / 2)


def require_inertia(
    system: System,
    bodies: Sequence[MassBody],
    state: Mapping[sp.Expr, float],
    parameters: Mapping[Any, Any] | None = None,
) -> None:
    """Refuse a body that can turn freely about an axis about which it has no inertia: nothing determines that turn."""
    slender = [b for b in bodies if isinstance(b, Body) and is_slender(b)]
    if not slender:
        return
    now, _, _ = matrices(system, state, 0.0, parameters)
    stacked = np.vstack([now.M / max(np.abs(now.M).max(), 1e-300), now.A])
    _, sizes, directions = np.linalg.svd(stacked)
    loose = directions[sizes < WEAK * sizes[0]] if len(sizes) == len(directions) else directions[len(sizes) :]
    for b in slender:
        columns = [system.coordinates.index(q) for q in b.coordinates[3:]]
        share = np.linalg.norm(loose[:, columns], axis=0) if len(loose) else np.zeros(4)
        if share.any() and np.linalg.norm(share) > 1e-6:
            raise UndeterminedError(
                f"{b.who} has no inertia about an axis about which it is free to turn: give it a small moment there, "
                f"or hold that turn with a joint"
            )


def is_slender(body: Body) -> bool:
    """Whether a principal moment is zero, beside the others."""
    try:
        J = np.array([[float(x) for x in row] for row in body.inertia_matrix])
    except TypeError:
        return False  # symbols: numbers will tell
    moments = np.linalg.eigvalsh(J)
    return bool(moments[0] <= WEAK * max(moments[-1], 1e-300))
