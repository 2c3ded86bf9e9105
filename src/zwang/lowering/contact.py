"""One program for all modes of contact: rows that are masked, and what is watched of each contact, are numbers.

A masked row a is σ a with σ = 1 while its contact is closed and 0 while it is open, and −(1 − σ)w stands on its
diagonal of the saddle-point matrix: where σ = 0 its multiplier is zero exactly, and nothing else has changed. The
weight w is of the size that the row's pivot has when it is closed, so that pivots keep their scale.

Of each contact one function is watched, which falls through zero where its mode ends: its gap while it is open, its
normal force while it is closed. Which of them it is, and a slack where it begins in the rounding of zero, are numbers
as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Array
from zwang.compile import Program
from zwang.equations.derivation import Derived
from zwang.lowering.lowered import Lowered, Matrices
from zwang.lowering.rows import DAMPING, RowBasis, mobilities
from zwang.model.constraint import acceleration_row

KINDS = ("mask", "gap", "push", "slack")  # the numbers of a contact
ASIDE = (1.0, 0.0)  # the direction of a slip in space that nothing rubs along
ROUGH_KINDS = ("kappa", "hold", "mu", "rub", "grip")  # those of one with friction


@dataclass(frozen=True, eq=False)
class Held:
    """The numbers that hold a mode of contact while an engine runs.

    `masks` (k,) are 1 for contacts that take part in the equation of motion. Those in `open` are watched by their gaps,
    those in `pushing` by their normal forces, the others not at all; `slack` (k,) is added to what is watched.
    """

    rows: tuple[int, ...]
    """The constraints that are contacts."""
    masks: Array
    open: Array
    pushing: Array
    slack: Array
    rough: "Friction | None" = None
    guides: tuple[int, ...] = ()
    """The equalities that have friction: they are always closed."""
    still: tuple[int, ...] = ()
    """Switches that closed contacts hold at zero: their forces have no say in the motion."""

    @property
    def shown(self) -> tuple[int, ...]:
        """The constraints that results tell of as contacts: those that are, and guides, in their order."""
        return tuple(sorted((*self.rows, *self.guides)))

    @property
    def numbers(self) -> Array:
        """(4k,) what programs take: masks, what is watched, and what is added; 1 where nothing is watched."""
        idle = 1.0 - self.open - self.pushing
        own = np.concatenate([self.masks, self.open, self.pushing, self.slack + idle])
        return own if self.rough is None else np.concatenate([own, self.rough.numbers])

    @property
    def watched(self) -> int:
        """How many functions are watched."""
        return len(self.rows) + (0 if self.rough is None else 2 * len(self.rough.rows) + len(self.guides))

    @property
    def closed(self) -> bool:
        """Whether any contact or guide takes part in the equation of motion."""
        return bool(self.masks.any()) or bool(self.guides)

    @classmethod
    def all_open(cls, rows: Sequence[int], rough: "Friction | None" = None, guides: tuple[int, ...] = ()) -> "Held":
        """Contacts of which none is closed; `rough` is the friction of a mode, of which only coefficients are kept."""
        k = len(rows)
        if rough is not None:
            none = np.zeros(len(rough.rows))
            rough = replace(rough, sticks=none, masks=none, signs=none, grip=none, across=np.zeros(len(rough.space)))
        return cls(tuple(rows), np.zeros(k), np.ones(k), np.zeros(k), np.zeros(k), rough, guides)


@dataclass(frozen=True, eq=False)
class Friction:
    """The numbers of contacts with friction (k,), in the order of their slips.

    `sticks` are 1 where a contact sticks, `masks` where its slip is a row of the equation, too; `signs` are those of
    slips where it slides; `mu_s` and `mu_k` are its coefficients. Where it sticks, (μ_s N)² − F² is watched, where it
    slides, its slip times its sign; `grip` is added to that. What is watched of forces is those that rows have, or
    where these depend on each other, `shares` of them and something beside: λ' = S λ + `beside`, of all contacts,
    then of all slips, then of all second ones. `sides` are 1, or of guides, which push either way, the signs of their
    multipliers: these are watched as well, with `rest` added to them.
    """

    rows: tuple[int, ...]
    sticks: Array
    masks: Array
    signs: Array
    mu_s: Array
    mu_k: Array
    grip: Array
    shares: Array
    beside: Array
    sides: Array | None = None
    rest: Array = field(default_factory=lambda: np.zeros(0))
    """(g,) of guides."""
    guides: tuple[int, ...] = ()
    veer: Array = field(default_factory=lambda: np.zeros((0, 2)))
    """(s, 2) what is added to the slips of contacts in space where their direction is asked for."""
    space: tuple[int, ...] = ()
    """The contacts with two slips. Their sign is 1 where they slide, and their slip along `head` is watched."""
    across: Array = field(default_factory=lambda: np.zeros(0))
    """(s,) 1 where the second slip is a row of the equation."""
    head: Array = field(default_factory=lambda: np.zeros((0, 2)))
    """(s, 2) the directions of slips in space where a stretch began: along them a slip that ends falls through zero."""

    @property
    def numbers(self) -> Array:
        """What programs take: κ = μ s, what is watched, bounds, masks of slips, shares, sides, and those in space."""
        idle = 1.0 - self.sticks - np.abs(self.signs)
        sides = np.ones(len(self.rows)) if self.sides is None else self.sides
        kappa = self.mu_k * self.signs * sides
        own = [kappa, self.sticks, self.mu_s, self.signs, self.grip + idle, self.masks]
        of_guides = sides[[self.rows.index(i) for i in self.guides]]
        every = [*own, self.shares.ravel(), self.beside, of_guides, self.rest, self.across]
        slides = self.signs[[self.rows.index(i) for i in self.space]] != 0
        every += [np.where(slides[:, None], self.veer, ASIDE).ravel(), self.head.ravel()]
        return np.concatenate(every)


def symbol(kind: str, row: int) -> Any:
    """The symbol of a number of a contact."""
    return se.Symbol(f"{kind}{row}")


def share(i: int, j: int) -> Any:
    """The symbol of the share that the force of row i has of that of row j."""
    return se.Symbol(f"share{i}_{j}")


def with_contacts(lowered: Lowered, rows: Sequence[int]) -> Lowered:
    """A model whose programs take the numbers of its contacts, too; nothing is derived anew."""
    numbers = [symbol(kind, i) for kind in KINDS for i in rows]
    if lowered.description.slips:
        slips = slip_rows(lowered)
        numbers += [symbol(kind, i) for kind in ROUGH_KINDS for i in slips]
        numbers += [symbol("mask", row) for row in slips.values()]
        across = across_rows(lowered)
        every = (*rows, *(i for i in slips if i not in rows), *slips.values(), *across.values())
        numbers += [share(i, j) for i in every for j in every] + [symbol("beside", i) for i in every]
        numbers += [symbol(kind, i) for kind in ("side", "rest") for i in slips if i not in rows]
        numbers += [symbol("mask", row) for row in across.values()]
        numbers += [symbol(f"{kind}_{axis}_", i) for kind in ("veer", "head") for i in across for axis in "xy"]
    made = replace(lowered, contact=tuple(numbers))
    made.__dict__["derived"] = with_slips(lowered)
    return made


def ordered_slips(lowered: Lowered) -> list[tuple[int, Any]]:
    """The slips of constraints with friction, first ones first: in space there are second ones."""
    given = lowered.description.slips
    second = [k for k in range(1, len(given)) if given[k][0] == given[k - 1][0]]
    return [given[k] for k in range(len(given)) if k not in second] + [given[k] for k in second]


def slip_rows(lowered: Lowered) -> dict[int, int]:
    """The constraints with friction, each with the row of its slip, behind those of all constraints."""
    count = len(lowered.description.constraints)
    return {i: count + k for k, i in enumerate(dict.fromkeys(i for i, _ in lowered.description.slips))}


def across_rows(lowered: Lowered) -> dict[int, int]:
    """The constraints with friction in space, each with the row of its second slip, behind those of all first ones."""
    first = slip_rows(lowered)
    begin = len(lowered.description.constraints) + len(first)
    return {i: begin + k for k, (i, _) in enumerate(ordered_slips(lowered)[len(first) :])}


def with_slips(lowered: Lowered) -> Derived:
    """What was derived, with a row for each slip behind those of the constraints."""
    derived, axes = lowered.derived, lowered.description.axes
    slips = [slip for _, slip in ordered_slips(lowered)]
    rows = [acceleration_row(slip, 1, axes) for slip in slips]
    return replace(
        derived,
        A=[*derived.A, *(A for A, _ in rows)],
        b=[*derived.b, *(b for _, b in rows)],
        residual=[*derived.residual, *(None for _ in slips)],
        residual_rate=[*derived.residual_rate, *slips],
    )


def slip_program(lowered: Lowered) -> Program:
    """Rows, right-hand sides and speeds of all slips at a state; second ones behind all first ones."""
    derived, axes = with_slips(lowered), lowered.description.axes
    rows = [*slip_rows(lowered).values(), *across_rows(lowered).values()]
    A = tuple(derived.A[i].get(j, se.Integer(0)) for i in rows for j in range(len(axes.q)))
    outputs = {
        "A": A,
        "b": tuple(derived.b[i] for i in rows),
        "slip": tuple(derived.residual_rate[i] for i in rows),
    }
    return Program(lowered.inputs, outputs, {"A": (len(rows), len(axes.q))})


def masked(
    basis: RowBasis,
    now: Matrices,
    rows: Sequence[int],
    slips: Mapping[int, int],
    slip_A: Array | None = None,
    across: Mapping[int, int] | None = None,
) -> RowBasis:
    """The basis with all contacts and slips as masked rows.

    Their weights are powers of two, so that programs are the same. `slips` are rows of slips by contact, `slip_A` what
    they are here.
    """
    A = now.A if slip_A is None else np.concatenate([now.A, slip_A])
    mobility = mobilities(now.M, A, basis.lifted)
    mobility[~(mobility > 0)] = 1.0  # a row that vanishes here
    weights = (2.0 ** np.round(np.log2(mobility))).tolist()
    across = across or {}
    every = (*rows, *slips.values(), *across.values())
    together = tuple(sorted({*basis.rows, *every}))
    damping, units = basis.damping, basis.units
    if damping:
        damping = (*damping, *(0.0 for _ in (*slips, *across)))
        units = tuple(units[i] if i < len(units) and damping[i] else weights[i] for i in range(len(damping)))
        damping = tuple(mu or DAMPING * weights[i] for i, mu in enumerate(damping))
    masks = tuple((i, weights[i]) for i in every)
    pairs = tuple(slips.items()), tuple(across.items())
    basis = replace(basis, rows=together, damping=damping, units=units, open=(), masked=masks)
    return replace(basis, rubbing=pairs[0], across=pairs[1])


def shared(forces: Mapping[int, Any], every: Sequence[int]) -> dict[int, Any]:
    """Forces of contacts and slips, shared out among those whose rows depend on each other."""
    split = {i: se.Add(symbol("beside", i), *(share(i, j) * forces[j] for j in every)) for i in every}
    return {**forces, **split}


def watched(rows: Sequence[int], gaps: Sequence[Any], forces: Mapping[int, Any]) -> tuple[Any, ...]:
    """What is watched of each contact: its gap or its normal force, if it has one, and its slack."""
    found = []
    for i in rows:
        terms = [symbol("gap", i) * gaps[i], symbol("slack", i)]
        if forces.get(i) is not None:
            terms.append(symbol("push", i) * forces[i])
        found.append(se.Add(*terms))
    return tuple(found)


def watched_friction(
    slips: Mapping[int, int], speeds: Sequence[Any], forces: Mapping[int, Any], margins: Mapping[int, Any],
    guides: Sequence[int], across: Mapping[int, int],
) -> tuple[Any, ...]:  # fmt: skip
    """What is watched of friction: of each contact what is in reserve where it sticks, or its slip; then its margin.

    Of guides, the multiplier times its sign, too; in space, the slip along its `head`. Where no contact takes part in
    the equation, there are no forces and nothing is watched.
    """
    if not forces:
        return tuple(se.Integer(1) for _ in (*slips, *slips, *guides))
    found = []
    for i, row in slips.items():
        bound, friction, slip = symbol("mu", i) * forces[i], forces[row] ** 2, speeds[row]
        if i in across:
            friction = friction + forces[across[i]] ** 2
            slip = symbol("head_x_", i) * slip + symbol("head_y_", i) * speeds[across[i]]
        reserve = symbol("hold", i) * (bound**2 - friction)
        found.append(se.Add(reserve, symbol("rub", i) * slip, symbol("grip", i)))
    sides = (symbol("side", i) * forces[i] + symbol("rest", i) for i in guides)
    return (*found, *(margins[i] for i in slips), *sides)
