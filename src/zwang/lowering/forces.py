"""All given and nonideal forces at a state, as a program of the multipliers and shares that they depend on.

Where it is decided what contacts do, neither is known yet: F(λ, σ) and its derivatives are asked for again and again.
Switches that may rest (`resting`) are s = 0 with ṡ = J q̈ + c.
"""

from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.lowering.lowered import Lowered
from zwang.lowering.many import OFF_ZERO
from zwang.lowering.resting import between, sigma
from zwang.model.constraint import acceleration_row


def forces_program(lowered: Lowered) -> Program:
    """F = Q + C (n,) for multipliers `l` (k,) and shares `s` (r,), ∂F/∂l (n, k), ∂F/∂s (n, r), and s, J and −c.

    At √(λx² + λy²) = 0 there is no derivative: multipliers are taken a little off zero for it.
    """
    derived, axes = lowered.derived, lowered.description.axes
    multipliers = tuple(s for _, s in lowered.description.reactions)
    rests = [i for i, _ in lowered.rests]
    shares, n = tuple(map(sigma, rests)), len(derived.Q)
    forces = [between(lowered, f + c) for f, c in zip(derived.Q, derived.C, strict=True)]
    off = {s: s + se.RealDouble(OFF_ZERO) for s in multipliers}
    rows = [acceleration_row(s, 1, axes) for _, s in lowered.rests]

    def slopes(symbols: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(f.diff(s).xreplace(off) if s in f.free_symbols else se.Integer(0) for f in forces for s in symbols)

    outputs = {
        "force": tuple(forces),
        "by_multiplier": slopes(multipliers),
        "by_share": slopes(shares),
        "argument": tuple(s for _, s in lowered.rests),
        "row": tuple(A.get(j, se.Integer(0)) for A, _ in rows for j in range(n)),
        "right": tuple(b for _, b in rows),
    }
    shapes = {"by_multiplier": (n, len(multipliers)), "by_share": (n, len(shares)), "row": (len(rows), n)}
    given = {name: symbols for name, symbols in (("l", multipliers), ("s", shares)) if symbols}
    return Program(lowered.inputs | given, outputs, shapes)
