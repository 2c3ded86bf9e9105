"""Many forces that depend on multipliers, friction and nonideal ones, solved for in one sparse system.

`friction` and `implicit` write out a dense system of these multipliers, and one more solution for each. That is short
while they are few; for k of them in a chain it is k² and k³ lines. Here what a multiplier pushes stands beside its row
in the saddle-point matrix (`skew`), which remains as sparse as it was: the lines grow as the system does.

Newton's step from multipliers λ' is one such solution, with S = ∂C/∂λ at λ' and the force C(λ') − S λ' beside those
that are known. The margin of a row is its pivot beside the one that it has without such forces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from zwang.lowering.contact import symbol
from zwang.lowering.equation import Equation
from zwang.lowering.friction import slip_direction, zero_for_none
from zwang.lowering.saddle import Row, Saddle

# Multipliers that forces depend on, of which a dense system is about as short. Measured on belts round a drum, lines of
# an acceleration: 5,300 against 3,200 with 8 corners, 68,400 against 13,300 with 32.
FEW_MULTIPLIERS = 8
OFF_ZERO = 1e-140  # is added to multipliers where C is differentiated: at √(λx² + λy²) = 0 there is no derivative


@dataclass(frozen=True)
class Many:
    """q̈ and multipliers of the rows used, nonideal forces by coordinate, friction and margins by row.

    `error` is by how much one more step of Newton's would change the multipliers, as a share of these.
    """

    acceleration: list[Any]
    multipliers: list[Any]
    forces: dict[int, Any]
    sliding: dict[int, Any]
    margins: dict[int, Any]
    error: Any


def solved_sparsely(
    equation: Equation, known: Sequence[Any], b: Sequence[Any], laws: Mapping[int, Any], symbols: Mapping[int, Any],
    newton: int, told: int,
) -> Many:  # fmt: skip
    """The equation solved with friction, and with forces by coordinate whose `laws` are in `symbols` of multipliers.

    These are given by row. By so many steps of Newton's; `error` is that after `told` of them.
    """
    steps, basis, name = equation.saddle.steps, equation.basis, equation.saddle.steps.name
    place = {row: k for k, row in enumerate(basis.used)}
    unknown = {place[row]: s for row, s in symbols.items()}
    rubs = {
        place[row]: {j: -symbol("kappa", row) * e for j, e in slip_direction(equation.lowered, basis, row).items()}
        for row, _ in basis.rubbing
    }
    linear = not any(law.diff(s).free_symbols & {*unknown.values()} for law in laws.values() for s in unknown.values())
    lam: list[Any] = [None] * len(basis.used)
    if laws and not linear:
        lam = equation.solve_for(known, b)[1]
    error: Any = se.Integer(0)
    for count in range(1, (1 if linear else newton) + 1):
        at = Linear.of(equation, laws, unknown, lam)
        skew = equation.skewed(merged(rubs, at.slopes, steps))
        loaded = [f if j not in at.rest else f + at.rest[j] for j, f in enumerate(known)]
        x, lam = equation.solve_for(loaded, b, skew)
        if count == told and not linear:
            error = at.error(skew, lam)
    put = {s: zero_for_none(lam[k]) for k, s in unknown.items()}
    forces = {j: name(law.xreplace(put)) for j, law in laws.items()}
    rows = [row for row, _ in basis.rubbing]
    sliding = {row: name(-symbol("kappa", row) * zero_for_none(lam[place[row]])) for row in rows}
    n, plain = skew.n, equation.saddle
    margins = {
        row: name(skew.pivot[n + k] / plain.pivot[n + k]) for row, k in place.items() if k in rubs or k in unknown
    }
    return Many(x, lam, forces, sliding, margins, error)


@dataclass(frozen=True)
class Linear:
    """Nonideal forces by coordinate beside multipliers λ': C(λ) = `rest` + S λ, S by places of rows."""

    equation: Equation
    laws: Mapping[int, Any]
    unknown: Mapping[int, Any]
    slopes: dict[int, Row]
    rest: dict[int, Any]

    @classmethod
    def of(
        cls, equation: Equation, laws: Mapping[int, Any], unknown: Mapping[int, Any], lam: Sequence[Any]
    ) -> "Linear":
        """Beside multipliers of all rows used."""
        name = equation.saddle.steps.name
        here = {s: zero_for_none(lam[k]) for k, s in unknown.items()}
        off = {s: e + se.RealDouble(OFF_ZERO) for s, e in here.items()}
        slopes: dict[int, Row] = {}
        rest: dict[int, Any] = {}
        for j, law in laws.items():
            terms = [law.xreplace(here)]
            for k, s in unknown.items():
                if s in law.free_symbols:
                    slope = name(law.diff(s).xreplace(off))
                    slopes.setdefault(k, {})[j] = slope
                    terms.append(-slope * here[s])
            rest[j] = name(se.Add(*terms))
        return cls(equation, laws, unknown, slopes, rest)

    def error(self, skew: Saddle, lam: Sequence[Any]) -> Any:
        """By how much the next step changes the multipliers, as a share of them; by the factors that are there."""
        name = self.equation.saddle.steps.name
        here = {s: zero_for_none(lam[k]) for k, s in self.unknown.items()}
        missing: list[Any] = [None] * skew.n
        for j, law in self.laws.items():
            linear = [self.slopes[k][j] * here[s] for k, s in self.unknown.items() if j in self.slopes.get(k, {})]
            missing[j] = name(se.Add(law.xreplace(here), -self.rest[j], *(-e for e in linear)))
        _, change = skew.solve(missing, [None] * len(lam))
        moved = [se.Abs(e) for k in self.unknown if (e := change[k]) is not None]
        return name(se.Add(*moved) / se.Add(*map(se.Abs, here.values()), se.RealDouble(OFF_ZERO)))


def merged(rubs: Mapping[int, Row], slopes: Mapping[int, Row], steps: Any) -> dict[int, Row]:
    """What multipliers push beside their rows, by friction and by nonideal forces."""
    found: dict[int, Row] = {}
    for k in (*rubs, *(k for k in slopes if k not in rubs)):
        entries: dict[int, list[Any]] = {}
        for part in (rubs, slopes):
            for j, e in part.get(k, {}).items():
                entries.setdefault(j, []).append(e)
        found[k] = {j: steps.name(se.Add(*terms)) for j, terms in entries.items()}
    return found
