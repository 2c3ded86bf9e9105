"""What contacts do to the energy, each by itself: friction takes from it, surfaces that move work on the system.

A slip is γ = t q̇ + c, with what the surface does by itself, c. The force F along it has the power F t q̇ = Fγ − Fc on
the system: Fγ is that of friction, never positive and zero where a contact sticks, −Fc is what the surface drives. A
normal force N on a gap g(q, t) has the power N n q̇ = −N ∂g/∂t while it is closed.
"""

from collections.abc import Mapping
from typing import Any

import symengine as se

from zwang.lowering.friction import heading
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import constraint_rates
from zwang.lowering.rows import RowBasis

FRICTION, SURFACE = 0, 1


def contact_powers(
    lowered: Lowered, basis: RowBasis, multipliers: Mapping[int, Any], sliding: Mapping[int, Any]
) -> tuple[Any, ...]:
    """The powers of contacts, in the order of `contact_parts`."""
    speeds = lowered.derived.residual_rate
    slips, across = dict(basis.rubbing), dict(basis.across)
    moving, drifts = normal_rates(lowered, basis), slip_drifts(lowered, basis)
    found = []
    for kind, i in contact_parts(lowered, basis):
        rows = [row for row in (slips.get(i), across.get(i)) if row is not None]
        if kind == FRICTION:
            ways = heading(lowered, basis, i)
            found.append(se.Add(*[sliding[i] * d * speeds[row] for d, row in zip(ways, rows, strict=True)]))
            continue
        terms = [multipliers[i] * moving[i]] if i in moving else []
        for k, row in enumerate(rows):
            if drifts[row] != 0:
                force = se.Add(*[e for e in (multipliers[row], sliding[i] * heading(lowered, basis, i)[k]) if e])
                terms.append(-force * drifts[row])
        found.append(se.Add(*terms))
    return tuple(found)


def contact_parts(lowered: Lowered, basis: RowBasis) -> tuple[tuple[int, int], ...]:
    """Whose powers there are on some rows: kinds and contacts, of those that rub, then of those whose surfaces move."""
    moving, drifts = normal_rates(lowered, basis), slip_drifts(lowered, basis)
    slips, across = dict(basis.rubbing), dict(basis.across)
    contacts = sorted({*contacts_of(lowered, basis), *slips})
    driven = [i for i in contacts if i in moving or any(drifts[of[i]] != 0 for of in (slips, across) if i in of)]
    return (*((FRICTION, i) for i in slips), *((SURFACE, i) for i in driven))


def contacts_of(lowered: Lowered, basis: RowBasis) -> list[int]:
    """The contacts that are rows of an equation."""
    return [i for i, _ in basis.masked if i < len(lowered.description.constraints)]


def normal_rates(lowered: Lowered, basis: RowBasis) -> dict[int, Any]:
    """What the limits of contacts and guides do by themselves, −∂g/∂t, where that is not nothing."""
    which = sorted({*contacts_of(lowered, basis), *dict(basis.rubbing)})
    return constraint_rates(lowered, which, off=False)


def slip_drifts(lowered: Lowered, basis: RowBasis) -> dict[int, Any]:
    """What surfaces do by themselves along their slips, by row."""
    still = dict.fromkeys(lowered.description.axes.v, se.Integer(0))
    rows = [row for _, row in (*basis.rubbing, *basis.across)]
    return {row: lowered.derived.residual_rate[row].xreplace(still) for row in rows}
