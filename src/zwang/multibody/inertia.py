"""Moments of inertia of simple bodies about their centre of mass, and what happens where there is none."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from zwang.errors import UndeterminedError
from zwang.evaluation import matrices
from zwang.model import System
from zwang.multibody.body import MassBody
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.spatial_body import Body
from zwang.multibody.vectors import is_number, scalar

Moments = tuple[Any, Any, Any]
SHARE = 1e-6  # a body takes part in a direction by more than this
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
    parameters: Mapping[Any, Any] | None,
    t: float,
) -> None:
    """Refuse a body that can turn freely about an axis about which it has no inertia: nothing determines that turn."""
    slender = [b for b in bodies if is_slender(b)]
    if not slender:
        return
    now, _, _ = matrices(system, state, t, parameters)
    stacked = np.vstack([now.M / max(np.abs(now.M).max(), 1e-300), now.A])
    _, sizes, directions = np.linalg.svd(stacked)
    loose = directions[sizes < WEAK * sizes[0]] if len(sizes) == len(directions) else directions[len(sizes) :]
    for b in slender:
        columns = [system.coordinates.index(q) for q in b.coordinates[b.dimension :]]
        if len(loose) and np.linalg.norm(loose[:, columns]) > SHARE:
            raise UndeterminedError(
                f"{b.who} has no inertia about an axis about which it is free to turn: give it a small moment there, "
                f"or hold that turn with a joint",
                where=("bodies", b.name),
            )


def is_slender(body: MassBody) -> bool:
    """Whether a moment of inertia is zero, a principal one beside the others; of symbols nothing is known here."""
    if isinstance(body, PlanarBody):
        return bool(scalar(body.who, body.inertia) == 0)
    if not isinstance(body, Body) or not all(is_number(x) for row in body.inertia_matrix for x in row):
        return False
    moments = np.linalg.eigvalsh(np.array(body.inertia_matrix, dtype=float))
    return bool(moments[0] <= WEAK * max(moments[-1], 1e-300))
