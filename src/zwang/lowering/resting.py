"""Motion along a switch (Filippov 1960): forces between those of its two sides, such that the motion stays on it.

A switch with the argument s(t, q, q̇) has the forces Q⁺ where s > 0 and Q⁻ where s < 0. Where both push back onto s = 0,
as dry friction −c sign(q̇) does, the switch *rests*: the motion goes on along it with

    Q = Q⁺ + (σ − 1) G,   G = ½ (Q⁺ − Q⁻),   −1 ≤ σ ≤ 1,   ṡ = s_t + s_q q̇ + s_q̇ q̈ = 0,

and σ G is what holds it. Where |σ| reaches 1 it leaves, to the side of the sign of σ. With the response q̈ʲ to G_j, by
the same factorisation, switches that rest together have Σ_j (s_q̇ q̈ʲ)_i σ_j = −ṡ_i of the other forces: one small linear
system. Where they depend on each other, as the joints of a mechanism with one freedom, their shares are not unique,
though the motion is: as many *lead* as are independent, and the others follow with σ_i = Σ_j ρ_ij σ_j, such that the
shares have the least length.

Which switches rest, which of them lead, and ρ are numbers beside the modes, so one program serves all of them; the mode
of a switch that rests is 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import symengine as se

from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Lowered
from zwang.lowering.saddle import Row, Steps
from zwang.model.constraint import acceleration_row

HOLDS_BEYOND = 1e-12  # beyond 1: a share that is no larger holds, and one that is leaves, whatever rounding says
_MULTIPLYING: Kept[frozenset[tuple[int, int]]] = Kept()

NO_PULL = 1e-100  # is taken from the diagonal: a switch that nothing holds, and nothing moves, has σ = 0


def mode(i: int) -> Any:
    """The symbol of a switch's mode."""
    return se.Symbol(f"mode{i}")


def mask(i: int) -> Any:
    """The symbol of what is 1 while a switch rests, and 0 otherwise."""
    return se.Symbol(f"along{i}")


def lead(i: int) -> Any:
    """The symbol of what is 1 while a switch rests and leads, and 0 otherwise."""
    return se.Symbol(f"lead{i}")


def ratio(i: int, j: int) -> Any:
    """The symbol of ρ_ij, by which the share of switch i follows that of switch j; 0 where it does not."""
    return se.Symbol(f"ratio{i}_{j}")


def sigma(i: int) -> Any:
    """The symbol of the share σ of a switch that rests."""
    return se.Symbol(f"sigma{i}")


def side(e: Any, i: int, sign: int) -> Any:
    """An expression on one side of a switch."""
    return e.xreplace({mode(i): se.Integer(sign)})


def half_jump(e: Any, i: int) -> Any:
    """G of an expression: half of what it jumps by at a switch, from below to above; of terms and factors that jump."""
    if mode(i) not in e.free_symbols:
        return se.Integer(0)
    if isinstance(e, se.Add):
        return se.Add(*[half_jump(term, i) for term in e.args])
    factors = e.args if isinstance(e, se.Mul) else ()
    jumping = [factor for factor in factors if mode(i) in factor.free_symbols]
    if len(jumping) == 1:
        return se.Mul(*[f for f in factors if mode(i) not in f.free_symbols], half_jump(jumping[0], i))
    return (side(e, i, 1) - side(e, i, -1)) / 2


def between(lowered: Lowered, e: Any, shares: Mapping[int, Any] | None = None) -> Any:
    """An expression with the shares of all switches that rest; these are symbols if they are not known."""
    parts = [
        mask(i) * ((sigma(i) if shares is None else shares[i]) - 1) * half_jump(e, i)
        for i, _ in lowered.rests
        if mode(i) in e.free_symbols
    ]
    return se.Add(e, *parts)


def may_rest(lowered: Lowered, arguments: Sequence[tuple[int, Any]]) -> tuple[tuple[int, Any], ...]:
    """Those of a model's switches, given by their arguments, that may rest.

    Those can whose arguments depend on velocities and not on multipliers, and which nothing but forces depend on.
    """
    description, derived = lowered.description, lowered.derived
    speeds, unknown = {*description.axes.v}, {s for _, s in description.reactions}
    rows = [*derived.M, *derived.A]
    fixed = {s for row in rows for e in row.values() for s in e.free_symbols}
    energies = [description.potential, *([] if description.kinetic is None else [description.kinetic])]
    fixed |= {s for e in (*derived.b, *energies) for s in e.free_symbols}
    return tuple(
        (i, s)
        for i, s in arguments
        if s.free_symbols & speeds and not s.free_symbols & unknown and mode(i) not in fixed
    )


def with_rests(lowered: Lowered, arguments: Sequence[tuple[int, Any]], count: int) -> tuple[Lowered, Lowered | None]:
    """A model of so many switches with numbers for those that may rest, and the model in which they do; or as it is."""
    able = may_rest(lowered, arguments)
    if not able:
        return lowered, None
    more = [*map(mask, range(count)), *map(lead, range(count)), *(ratio(i, j) for i, _ in able for j, _ in able)]
    both = replace(lowered, modes=(*lowered.modes, *more)), replace(lowered, modes=(*lowered.modes, *more), rests=able)
    for made in both:
        made.__dict__["derived"] = lowered.derived  # not once more
    return both


def leaving(i: int) -> Any:
    """What falls through zero where a switch that rests has to leave; nothing while it does not rest."""
    square = sigma(i) ** 2
    reserve = (se.RealDouble((1 + HOLDS_BEYOND) ** 2) - square) / (1 + square)
    return se.Piecewise((-1, se.Eq(mask(i), 0)), (reserve, True))


def apart(i: int, argument: Any, allowed: Any) -> Any:
    """What falls through zero where a switch that rests and follows others has left zero by more than is allowed."""
    follows = se.Gt(mask(i) - lead(i), 0)
    return se.Piecewise((allowed**2 - argument**2, follows), (-1, True))


def exits(lowered: Lowered) -> tuple[Any, ...]:
    """What falls through zero where switches no longer rest: first by their shares, then by their arguments."""
    gives_way = [leaving(i) for i, _ in lowered.rests]
    return (*gives_way, *(apart(i, s, se.Symbol(f"ease{i}")) for i, s in lowered.rests))


def multiplied(lowered: Lowered | None, rest: Sequence[int]) -> bool:
    """Whether the jump of forces at one of some switches depends on the side of another: together they are no sum."""
    if lowered is None:
        return False
    some, pairs = {*rest}, _MULTIPLYING.get(lowered, lambda: multiplying(lowered))
    return any(i in some and j in some for i, j in pairs)


def multiplying(lowered: Lowered) -> frozenset[tuple[int, int]]:
    """Pairs of switches that may rest: the jump of forces at the first depends on the side of the second."""
    able = {mode(i): i for i, _ in lowered.rests}
    forces = [f + c for f, c in zip(lowered.derived.Q, lowered.derived.C, strict=True)]
    return frozenset(
        (i, able[s])
        for i in able.values()
        for e in forces
        for s in half_jump(e, i).free_symbols
        if s in able and able[s] != i
    )


@dataclass(frozen=True)
class Rates:
    """ṡ = J q̈ + c of all switches that may rest."""

    J: list[Row]
    c: list[Any]

    @classmethod
    def of(cls, lowered: Lowered, steps: Steps) -> "Rates":
        """From their arguments, named in the steps of a program."""
        found = [acceleration_row(s, 1, lowered.description.axes) for _, s in lowered.rests]
        return cls([{j: steps.name(e) for j, e in row.items()} for row, _ in found], [steps.name(-b) for _, b in found])

    def along(self, k: int, x: Sequence[Any]) -> Any:
        """J_k x."""
        return se.Add(*[e * x[j] for j, e in self.J[k].items() if x[j] is not None])

    def missing(self, lowered: Lowered, x: Sequence[Any], steps: Steps) -> list[Any]:
        """−ṡ of the switches that lead, 0 of others."""
        return [steps.name(-lead(i) * (self.along(k, x) + self.c[k])) for k, (i, _) in enumerate(lowered.rests)]

    def exactly(self, lowered: Lowered, x: Sequence[Any], steps: Steps) -> list[Any]:
        """Accelerations with ṡ = 0 not only up to rounding, where one of them has a number for its factor.

        So a body at rest stays where it is, to the last bit, however long.
        """
        made, used = list(x), set()
        for k, (i, _) in enumerate(lowered.rests):
            row = self.J[k]
            own = next((j for j, e in row.items() if e.is_Number and j not in used), None)
            if own is None:
                continue
            used.add(own)
            others = [e * made[j] for j, e in row.items() if j != own and made[j] is not None]
            value, free = -se.Add(self.c[k], *others) / row[own], made[own]
            free = se.Integer(0) if free is None else free
            made[own] = steps.name(se.Piecewise((value, se.Gt(mask(i), 0)), (free, True)))
        return made
