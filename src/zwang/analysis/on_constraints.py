"""States of a system that obey their constraints, to the last digit, and beside which there are derivatives."""

import numpy as np

from zwang.analysis.dynamics import Dynamics, Point
from zwang.analysis.linear import require_autonomous
from zwang.analysis.tangent import RowSpace
from zwang.arrays import EPS, Array
from zwang.errors import InputError
from zwang.evaluation import require_finite_matrices, satisfied
from zwang.linalg.masses import mass_units
from zwang.linalg.newton import POLISHES
from zwang.lowering.lowered import AnyMatrices
from zwang.lowering.matrices import matrix_kernel
from zwang.model import System
from zwang.motion.start import to_the_last_digit


def checked(point: Point) -> Point:
    """A state beside which there are derivatives, and equations that time does not change."""
    require_autonomous(point)
    point.require_smooth()
    point.require_regular()
    return point


def point_at(dynamics: Dynamics, q: Array, v: Array) -> Point:
    """A state that obeys its constraints, to the last digit; one that does not is refused by name."""
    system, kernel = dynamics.system, matrix_kernel(dynamics.system, dynamics.values.inputs)
    now = kernel(dynamics.t, q, v, dynamics.values.p)
    require_finite_matrices(system, now)
    require_satisfied(system, now, q, v)
    if dynamics.one_sided.any():
        return dynamics.at(q, v)
    if q.ndim > 1:
        return dynamics.at(*polished(dynamics, q, v))
    return dynamics.at(*to_the_last_digit(system, kernel, dynamics.values.p, (dynamics.t, q, v), now))


def require_satisfied(system: System, now: AnyMatrices, q: Array, v: Array) -> None:
    """Refuse a state that does not obey its constraints, naming them."""
    if (good := satisfied(system, now, q, v)).all():
        return
    *at, _ = map(int, np.argwhere(~good)[0])
    words = "; ".join(
        f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.residual[*at, i]):.6g} in position and "
        f"{np.nan_to_num(now.residual_rate[*at, i]):.6g} in velocity"
        for i in np.flatnonzero(~good[*at])
    )
    raise InputError(
        f"the state does not satisfy its constraints: {words}; zwang.equilibrium and zwang.steady give states that do"
    )


def polished(dynamics: Dynamics, q: Array, v: Array) -> tuple[Array, Array]:
    """A stack of states on its constraints, to the last digit: Newton's shortest steps as long as they lead nearer."""
    holonomic, first = dynamics.order == 0, dynamics.order <= 1
    for level, size, rows in (("residual", "size", holonomic), ("residual_rate", "rate_size", first)):
        for _ in range(POLISHES):
            now = dynamics.matrices(q, v)
            read, most = getattr(now, level)[..., rows], getattr(now, size)[..., rows]
            if not (np.abs(read) > EPS * most).any():
                break
            x = q if level == "residual" else v
            step = RowSpace.of(now.A[..., rows, :], mass_units(now.M, now.A)).shortest(read[..., None, :])[..., 0, :]
            moved = (x - step, v) if level == "residual" else (q, x - step)
            nearer = np.abs(getattr(dynamics.matrices(*moved), level)[..., rows]).max(axis=-1)
            better = (nearer < np.abs(read).max(axis=-1))[..., None]
            q, v = (np.where(better, new, old) for new, old in zip(moved, (q, v), strict=True))
    return q, v
