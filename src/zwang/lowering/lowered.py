"""A system lowered: described and derived in SymEngine, once for as long as the process lives."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import symengine as se
import sympy as sp

from zwang.arrays import Array
from zwang.equations.derivation import Derived, Description, derive_plain
from zwang.equations.languages import in_symengine
from zwang.functions import FLOORS
from zwang.linalg.sparse.matrix import Sparse
from zwang.lowering.cache import Kept
from zwang.model import System

MASS_LEFT = 1e-8  # of a mass: if elimination leaves less of it, M is taken for one that may be singular


@dataclass(frozen=True)
class Matrices:
    """M (…, n, n), Q, C (…, n), A (…, m, n), b (…, m) at a stack of states, and what the constraints read there.

    `residual` and `residual_rate` (…, m) are the constraints' left-hand sides; NaN at a level below the one at
    which a constraint was given. `size` and `rate_size` are how large the terms are that make them up. `row_size`
    (…, m, n) is the same of A; a row of A that is rounding beside it is zero.
    """

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    residual: Array
    residual_rate: Array
    size: Array
    rate_size: Array
    row_size: Array

    @cached_property
    def free(self) -> Array:
        """(n,) M⁻¹(Q + C) at one state, the shortest where M is singular."""
        return self._responses[:, -1]

    @cached_property
    def mobility(self) -> Array:
        """(m,) how much each row accelerates along itself by a unit force, without any constraint, at one state."""
        return np.asarray(np.einsum("ij,ji->i", self.A, self._responses[:, :-1]))

    @cached_property
    def _responses(self) -> Array:
        loads = np.concatenate([self.A.T, (self.Q + self.C)[:, None]], axis=1)
        if definite(self.M):
            return np.asarray(np.linalg.solve(self.M, loads))
        return np.asarray(np.linalg.lstsq(self.M, loads, rcond=None)[0])


def definite(M: Array) -> bool:
    """Whether elimination leaves enough of every mass: then it serves, and takes a fifth of the time."""
    try:
        left = np.diagonal(np.linalg.cholesky(M)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool((left > MASS_LEFT * np.diagonal(M)).all())


@dataclass(frozen=True)
class SparseMatrices:
    """The same of a large system at one state, in sparse matrices M (n, n) and A (m, n)."""

    M: Sparse
    Q: Array
    A: Sparse
    b: Array
    C: Array
    residual: Array
    residual_rate: Array
    size: Array
    rate_size: Array


AnyMatrices = Matrices | SparseMatrices


@dataclass(frozen=True, eq=False)
class Lowered:
    """A system in SymEngine: its parts in plain symbols, and what was derived from them."""

    description: Description
    parameters: tuple[Any, ...]
    modes: tuple[Any, ...] = ()
    """Numbers that hold its switches, if they are held."""
    contact: tuple[Any, ...] = ()
    """Numbers that hold a mode of its contacts, if it has some and they are held."""
    rests: tuple[tuple[int, Any], ...] = ()
    """The switches along which its motion may go on, with their arguments (`resting`)."""

    @cached_property
    def derived(self) -> Derived:
        """M, Q, A, b and C, derived when they are first asked for."""
        derived = derive_plain(self.description)
        return between_jumps(derived) if self.description.switching else derived

    @property
    def inputs(self) -> dict[str, tuple[Any, ...]]:
        """The inputs of every kernel made from this model, in their order."""
        axes = self.description.axes
        inputs = {"t": (axes.t,), "q": axes.q, "v": axes.v, "p": self.parameters}
        inputs |= {"modes": self.modes} if self.modes else {}
        return inputs | {"contact": self.contact} if self.contact else inputs


def lower(system: System, inputs: Mapping[sp.Expr, Any]) -> Lowered:
    """The system derived in SymEngine, once; `inputs` says what its known functions of time are."""

    def build() -> Lowered:
        return Lowered(*in_symengine(system, inputs))

    return _MODELS.get((system.structure, tuple(inputs.items())), build)


def between_jumps(derived: Derived) -> Derived:
    """Derived equations in which derivatives of floors are zeros, as they are everywhere between their jumps."""
    return Derived(**{part.name: flat(getattr(derived, part.name)) for part in fields(derived)})


def flat(e: Any) -> Any:
    """Expressions, in lists or by keys, in which derivatives of floors are zeros."""
    if isinstance(e, dict):
        return {key: flat(value) for key, value in e.items()}
    if isinstance(e, list):
        return [flat(value) for value in e]
    steps = [d for d in e.atoms(se.Subs, se.Derivative) if is_step(d)] if e is not None else []
    return e.xreplace(dict.fromkeys(steps, se.Integer(0))) if steps else e


def is_step(derivative: Any) -> bool:
    """Whether this is the derivative of a floor."""
    inner = derivative.args[0]
    return is_step(inner) if isinstance(inner, se.Derivative) else type(inner).__name__ in FLOORS


_MODELS: Kept[Lowered] = Kept()
