"""Everything that the results say of a state, as one program."""

from collections.abc import Sequence
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.lowering.equation import Equation, constraint_forces, filled, masked_entries
from zwang.lowering.friction import heading, sliding_forces
from zwang.lowering.implicit import WRITTEN_STEPS_OF_REPORT, balanced, known_part
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import energies, ledger
from zwang.lowering.resting import between
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps, factorise_saddle

REFINEMENTS_OF_REPORT = 4  # near singular positions, too, its digits should be right; it has few states to solve for
AGREE = 1e-10  # of the terms of a row: what is missed by more is looked at again, with all digits
NEGLIGIBLE_SQUARE = 1e-300  # in place of the square of a mass that is zero
# Of the accelerations that constraints take away, where they balance the other forces: less is rounding.
BALANCED = 1e-13


def report_program(lowered: Lowered, basis: RowBasis) -> Program:
    """Everything that the results say of a state, but for multipliers of redundant rows."""
    description, derived = lowered.description, lowered.derived
    n, m = len(derived.Q), len(description.constraints)
    steps = Steps(se.Symbol, se.Add)
    Q = [steps.name(e) for e in derived.Q]  # of switches that rest, not yet with their shares
    nonideal = any(c != 0 for c in derived.C) or bool(basis.rubbing)
    whole = [steps.name(f + c) for f, c in zip(Q, known_part(lowered), strict=True)] if nonideal else Q
    b = [derived.b[i] for i in basis.used]
    equation = Equation.of(lowered, basis, steps, b, refinements=REFINEMENTS_OF_REPORT)
    found = balanced(equation, whole, b, WRITTEN_STEPS_OF_REPORT)
    x, lam = found.acceleration, found.multipliers
    if lowered.rests:
        Q = [steps.name(between(lowered, e, found.shares)) for e in derived.Q]
    ideal_part = constraint_forces(equation.A, lam, n, steps)
    rubbing = sliding_forces(lowered, basis, found.sliding)
    force = [steps.name(f + c + r) for f, c, r in zip(ideal_part, found.nonideal, rubbing, strict=True)]
    ideal = constraint_forces(equation.A, equation.solve(Q)[1], n, steps) if nonideal else force
    if basis.lifted:
        gaussian = se.RealDouble(float("nan"))
    else:
        deviation, _ = factorise_saddle(derived.M, [], steps).solve(force, [])
        gaussian = se.Add(*[d * f / 2 for d, f in zip(deviation, force, strict=True) if d is not None])
    kinetic, _, given_power = energies(lowered)
    outputs = {
        "acceleration": filled(x),
        "force": tuple(Q),
        "constraint_force": tuple(force),
        "ideal_force": tuple(ideal),
        "multiplier": filled(lam),
        "residual": tuple(se.RealDouble(float("nan")) if e is None else e for e in derived.residual[:m]),
        "residual_rate": tuple(se.RealDouble(float("nan")) if e is None else e for e in derived.residual_rate[:m]),
        "kinetic": (kinetic,),
        "potential": (description.potential,),
        "jacobi": (ledger(lowered)[0],),
        "given_power": (between(lowered, given_power, found.shares),),
        "gaussian": (gaussian,),
        "pivots": tuple(equation.pivots),
    }
    if found.error is not None:
        outputs["implicit"] = (found.error,)
    if basis.damping:
        outputs["agreement"] = agreement(equation, x, lam, masked_entries(basis, basis.used, equation.b))
    if basis.rubbing:
        of = dict(zip(basis.used, filled(lam), strict=True))
        ways = {i: heading(lowered, basis, i) for i, _ in basis.rubbing}
        outputs["friction"] = tuple(of[slip] + found.sliding[i] * ways[i][0] for i, slip in basis.rubbing)
        if basis.across:
            outputs["friction_across"] = tuple(of[slip] + found.sliding[i] * ways[i][1] for i, slip in basis.across)
    scalars = ("kinetic", "potential", "jacobi", "given_power", "gaussian")
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(scalars, ())
    return Program(inputs=lowered.inputs, outputs=outputs, shapes=shapes, steps=tuple(steps.done))


def agreement(equation: Equation, x: Sequence[Any], lam: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """What rows may be missed by, less what they are missed by: negative where redundant ones do not agree.

    Damped rows have an acceleration wherever they are: at odds with each other, or more of them independent than where
    they were damped, it obeys none of them. Where a coordinate rests, its acceleration is the rounding of forces. And
    rounding of a solution spreads over all coordinates, in the metric of masses: what a row reads of that is none
    of its terms, which may be rounding themselves, as across the plane of a linkage in space.
    """
    forces: dict[int, list[Any]] = {}
    for row, l in zip(equation.A, lam, strict=True):
        for j, e in row.items() if l is not None else ():
            forces.setdefault(j, []).append(se.Abs(e * l))
    masses = [row.get(j, se.Integer(0)) for j, row in enumerate(equation.lowered.derived.M)]
    name = equation.saddle.steps.name
    whole = name(se.sqrt(se.Add(*(m * a**2 for m, a in zip(masses, x, strict=True) if a is not None))))
    taken = {
        j: name(taken_away(se.Add(*each), name(masses[j])) + spread_to(whole, name(masses[j])))
        for j, each in forces.items()
    }
    found = []
    for row, right in zip(equation.A, b, strict=True):
        terms = [e * x[j] for j, e in row.items() if x[j] is not None]
        size = se.Add(*map(se.Abs, (*terms, right)))
        noise = se.Add(*(se.Abs(e) * taken[j] for j, e in row.items() if j in taken))
        found.append(AGREE * size + BALANCED * noise - se.Abs(se.Add(*terms, -right)))
    return tuple(found)


def spread_to(whole: Any, mass: Any) -> Any:
    """What a mass would be accelerated by if a motion of such length, in the metric of masses, were all its own."""
    return whole * se.sqrt(mass) * mass / (mass * mass + NEGLIGIBLE_SQUARE)


def taken_away(force: Any, mass: Any) -> Any:
    """The acceleration of a mass that forces of such size take away; 0 where there is none."""
    return force * mass / (mass * mass + NEGLIGIBLE_SQUARE)
