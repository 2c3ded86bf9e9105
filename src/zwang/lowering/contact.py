"""One program for all modes of contact: rows that are masked, and what is watched of each contact, are numbers.

A masked row a is σ a with σ = 1 while its contact is closed and 0 while it is open, and −(1 − σ)w stands on its
diagonal of the saddle-point matrix: where σ = 0 its multiplier is zero exactly, and nothing else has changed. The
weight w is of the size that the row's pivot has when it is closed, so that pivots keep their scale.

Of each contact one function is watched, which falls through zero where its mode ends: its gap while it is open, its
normal force while it is closed. Which of them it is, and a slack where it begins in the rounding of zero, are numbers
as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Array
from zwang.lowering.lowered import Lowered, Matrices
from zwang.lowering.rows import DAMPING, RowBasis, mobilities

KINDS = ("mask", "gap", "push", "slack")  # the numbers of a contact


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

    @property
    def numbers(self) -> Array:
        """(4k,) what programs take: masks, what is watched, and what is added; 1 where nothing is watched."""
        idle = 1.0 - self.open - self.pushing
        return np.concatenate([self.masks, self.open, self.pushing, self.slack + idle])

    @property
    def closed(self) -> bool:
        """Whether any contact takes part in the equation of motion."""
        return bool(self.masks.any())

    @classmethod
    def all_open(cls, rows: Sequence[int]) -> "Held":
        """Contacts of which none is closed."""
        k = len(rows)
        return cls(tuple(rows), np.zeros(k), np.ones(k), np.zeros(k), np.zeros(k))


def symbol(kind: str, row: int) -> Any:
    """The symbol of a number of a contact."""
    return se.Symbol(f"{kind}{row}")


def with_contacts(lowered: Lowered, rows: Sequence[int]) -> Lowered:
    """A model whose programs take the numbers of its contacts, too; nothing is derived anew."""
    made = replace(lowered, contact=tuple(symbol(kind, i) for kind in KINDS for i in rows))
    made.__dict__["derived"] = lowered.derived
    return made


def masked(basis: RowBasis, now: Matrices, rows: Sequence[int]) -> RowBasis:
    """The basis with all contacts as masked rows; their weights are powers of two, so that programs are the same."""
    mobility = mobilities(now.M, now.A, basis.lifted)
    mobility[~(mobility > 0)] = 1.0  # a row that vanishes here
    weights = (2.0 ** np.round(np.log2(mobility))).tolist()
    together = tuple(sorted({*basis.rows, *rows}))
    damping = basis.damping
    if damping:
        damping = tuple(mu or DAMPING * weights[i] for i, mu in enumerate(damping))
    return replace(basis, rows=together, damping=damping, open=(), masked=tuple((i, weights[i]) for i in rows))


def watched(rows: Sequence[int], gaps: Sequence[Any], forces: Mapping[int, Any]) -> tuple[Any, ...]:
    """What is watched of each contact: its gap or its normal force, if it has one, and its slack."""
    found = []
    for i in rows:
        terms = [symbol("gap", i) * gaps[i], symbol("slack", i)]
        if forces.get(i) is not None:
            terms.append(symbol("push", i) * forces[i])
        found.append(se.Add(*terms))
    return tuple(found)
