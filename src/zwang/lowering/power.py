"""The power that changes the energy of a system, as an expression; zero by structure where nothing changes it."""

from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from zwang.lowering.lowered import Lowered
from zwang.lowering.resting import between
from zwang.model.constraint import time_derivative


def energies(lowered: Lowered) -> tuple[Any, Any, Any]:
    """T, Jacobi's energy h = ½q̇ᵀMq̇ − T₀ + V, and the power that changes it beside that of constraints.

    With T = ½q̇ᵀMq̇ + T₁ + T₀ by degree in q̇: ḣ = (F + Q_c)·q̇ + ∂V/∂t − ∂T/∂t. For energies without explicit
    time and T₀ = T₁ = 0, h is T + V. Where a mass matrix is given, ḣ = (Q + Q_c)·q̇ + ½q̇ᵀṀq̇.
    """
    description, derived, axes = lowered.description, lowered.derived, lowered.description.axes
    v = axes.v
    quadratic = se.Add(*[e * v[i] * v[j] / 2 for i, row in enumerate(derived.M) for j, e in row.items()])
    if description.kinetic is None:
        drift = [time_derivative(e, axes) * v[i] * v[j] / 2 for i, row in enumerate(derived.M) for j, e in row.items()]
        power = se.Add(*[f * vi for f, vi in zip(derived.Q, v, strict=True)], *drift)
        return quadratic, quadratic, power
    T, V = description.kinetic, description.potential
    at_rest = T.subs(dict.fromkeys(v, 0))
    power = se.Add(*[f * vi for f, vi in zip(description.forces, v, strict=True)], V.diff(axes.t), -T.diff(axes.t))
    return T, quadratic - at_rest + V, power


def ledger(lowered: Lowered) -> tuple[Any, Any]:
    """Jacobi's energy and the power that changes it beside that of constraints, both without what time alone says.

    A term of the energies that contains time and no coordinate is not part of the motion, which may be much slower.
    """
    _, jacobi, power = energies(lowered)
    axes = lowered.description.axes
    if lowered.description.kinetic is None:
        return jacobi, power
    own = {*axes.q, *axes.v}
    idle = se.Add(*alone(lowered.description.potential, own)) - se.Add(
        *alone(lowered.description.kinetic.subs(dict.fromkeys(axes.v, 0)), own)
    )
    return jacobi - idle, power - idle.diff(axes.t)


def alone(e: Any, own: set[Any]) -> list[Any]:
    """The terms of a sum that contain none of some symbols."""
    terms = e.args if isinstance(e, se.Add) else (e,)
    return [term for term in terms if not term.free_symbols & own]


def constraint_rates(lowered: Lowered, rows: Sequence[int], off: bool) -> dict[int, Any]:
    """(A q̇)ᵢ by row, where it does not vanish on the constraints: the power of a constraint is λᵢ times that.

    A q̇ is −∂φ/∂t for a holonomic constraint, and zero for one that is homogeneous in q̇. With `off`, it is what
    it is off the constraints, too.
    """
    derived, axes = lowered.derived, lowered.description.axes
    rates = {}
    for i in rows:
        position, velocity = derived.residual[i], derived.residual_rate[i]
        if position is not None and not off:
            rates[i] = -position.diff(axes.t)
            continue
        rates[i] = se.Add(*[e * axes.v[j] for j, e in derived.A[i].items()])
        if velocity is not None and not off:
            rates[i] = on_constraint(rates[i], list(derived.A[i].values()), velocity, axes.v)
    return {i: rate for i, rate in rates.items() if rate != 0}


def on_constraint(rate: Any, row: Sequence[Any], velocity: Any, v: Sequence[Any]) -> Any:
    """ψ_q̇ q̇ where ψ = 0, for ψ of first degree in q̇, with or without a rest, or homogeneous of second degree.

    Told from derivatives, not by expanding: in space a row has thousands of products.
    """
    still = dict.fromkeys(v, 0)
    rest = velocity.subs(still)
    moving = [e for e in row if e.free_symbols & set(v)]
    if not moving:
        return -rest  # ψ = ψ_q̇ q̇ + rest
    bends = [e.diff(x) for e in moving for x in v]
    quadratic = not any(bend.free_symbols & set(v) for bend in bends) and all(e.subs(still) == 0 for e in row)
    return se.Integer(0) if quadratic and rest == 0 else rate  # Euler's theorem: ψ_q̇ q̇ = 2ψ


def total_power(
    lowered: Lowered,
    rates: Mapping[int, Any],
    multipliers: Mapping[int, Any],
    C: Sequence[Any] | None = None,
    shares: Mapping[int, Any] | None = None,
) -> Any:
    """What changes Jacobi's energy (`ledger`): given forces, explicit time, nonideal forces, constraints that move.

    C is the nonideal force, if it is not as derived: with multipliers in it. `shares` are those of switches that rest.
    """
    v = lowered.description.axes.v
    nonideal = [c * vi for c, vi in zip(lowered.derived.C if C is None else C, v, strict=True)]
    moving = [multipliers[i] * rate for i, rate in rates.items() if multipliers[i] is not None]
    return se.Add(between(lowered, ledger(lowered)[1], shares), *nonideal, *moving)
