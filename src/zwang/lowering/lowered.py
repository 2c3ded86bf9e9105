"""A system lowered: derived in SymEngine, and its matrices in native code, at one state or at a stack of states.

One kernel serves every state, time and parameter value of a system, and is kept for as long as the process lives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import symengine as se
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from zwang.arrays import EPS, Array
from zwang.compile import Kernel, Program, compile_program
from zwang.equations.derivation import Derived, Description, derive_plain
from zwang.equations.languages import in_symengine
from zwang.equations.sizes import has_sum, size_of
from zwang.functions import FLOORS
from zwang.lowering.cache import Kept
from zwang.model import System

# A row of A this long beside the terms that its entries are made of is what rounding has left of zero.
VANISHED = 16 * EPS


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


@dataclass(frozen=True)
class MatrixKernel:
    """Native code for a model's matrices; only entries that are not zero by structure are computed."""

    kernel: Kernel
    M_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    A_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    sum_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    """Entries of A that are sums somewhere, so that their terms may cancel."""
    residual_index: NDArray[np.intp]
    residual_rate_index: NDArray[np.intp]
    n: int
    m: int

    def __call__(self, t: ArrayLike, q: Array, v: Array, p: Array) -> Matrices:
        """The matrices at times t (…,), positions and velocities (…, n) and parameters (…, k)."""
        out = self.kernel(t=np.asarray(t, dtype=float)[..., None], q=q, v=v, p=p)
        shape = out["Q"].shape[:-1]
        M, A = np.zeros((*shape, self.n, self.n)), np.zeros((*shape, self.m, self.n))
        M[..., *self.M_index] = out["M"]
        A[..., *self.A_index] = out["A"]
        residual, residual_rate, size, rate_size = np.full((4, *shape, self.m), np.nan)
        residual[..., self.residual_index] = out["residual"]
        residual_rate[..., self.residual_rate_index] = out["residual_rate"]
        size[..., self.residual_index] = out["size"]
        rate_size[..., self.residual_rate_index] = out["rate_size"]
        row_size = np.abs(A)
        row_size[..., *self.sum_index] = out["row_size"]
        lengths = row_lengths(row_size)
        vanished = (row_lengths(A) <= VANISHED * lengths) & np.isfinite(lengths)
        if vanished.any():
            A = np.where(vanished[..., None], 0.0, A)
        return Matrices(M, out["Q"], A, out["b"], out["C"], residual, residual_rate, size, rate_size, row_size)


def row_lengths(X: Array) -> Array:
    """(…, m) the lengths of rows; infinite or not a number where an entry is."""
    largest = np.abs(X).max(axis=-1, initial=0.0)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    return np.asarray(scale * np.sqrt(np.square(X / scale[..., None]).sum(axis=-1)))


@dataclass(frozen=True)
class Lowered:
    """A system in SymEngine: its parts in plain symbols, and what was derived from them."""

    description: Description
    derived: Derived
    parameters: tuple[Any, ...]
    modes: tuple[Any, ...] = ()
    """Numbers that hold its switches, if they are held."""

    @property
    def inputs(self) -> dict[str, tuple[Any, ...]]:
        """The inputs of every kernel made from this model, in their order."""
        axes = self.description.axes
        inputs = {"t": (axes.t,), "q": axes.q, "v": axes.v, "p": self.parameters}
        return inputs | {"modes": self.modes} if self.modes else inputs


def lower(system: System, inputs: Mapping[sp.Expr, Any]) -> Lowered:
    """The system derived in SymEngine, once; `inputs` says what its known functions of time are."""

    def build() -> Lowered:
        description, parameters = in_symengine(system, inputs)
        derived = derive_plain(description)
        return Lowered(description, between_jumps(derived) if description.switching else derived, parameters)

    return _MODELS.get((system.structure, tuple(inputs.items())), build)


def between_jumps(derived: Derived) -> Derived:
    """Derived equations in which derivatives of floors are zeros, as they are everywhere between their jumps."""

    def flat(e: Any) -> Any:
        if isinstance(e, dict):
            return {key: flat(value) for key, value in e.items()}
        if isinstance(e, list):
            return [flat(value) for value in e]
        steps = [d for d in e.atoms(se.Subs, se.Derivative) if is_step(d)] if e is not None else []
        return e.xreplace(dict.fromkeys(steps, se.Integer(0))) if steps else e

    return Derived(**{part.name: flat(getattr(derived, part.name)) for part in fields(derived)})


def is_step(derivative: Any) -> bool:
    """Whether this is the derivative of a floor."""
    inner = derivative.args[0]
    return is_step(inner) if isinstance(inner, se.Derivative) else type(inner).__name__ in FLOORS


def matrix_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> MatrixKernel:
    """The native code of a model's matrices, compiled once."""
    key = (system.structure, tuple(inputs.items()))
    return _KERNELS.get(key, lambda: build_kernel(system, inputs))


def build_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> MatrixKernel:
    """Derive a model's matrices in SymEngine and compile them."""
    lowered = lower(system, inputs)
    derived = lowered.derived
    M = [(i, j, e) for i, row in enumerate(derived.M) for j, e in row.items()]
    A = [(i, j, e) for i, row in enumerate(derived.A) for j, e in row.items()]
    sums = [(i, j, e) for i, j, e in A if has_sum(e)]
    residual = [(i, e) for i, e in enumerate(derived.residual) if e is not None]
    residual_rate = [(i, e) for i, e in enumerate(derived.residual_rate) if e is not None]
    outputs = {
        "M": tuple(e for *_, e in M),
        "Q": tuple(derived.Q),
        "A": tuple(e for *_, e in A),
        "b": tuple(derived.b),
        "C": tuple(derived.C),
        "residual": tuple(e for _, e in residual),
        "residual_rate": tuple(e for _, e in residual_rate),
        "size": tuple(size_of(e) for _, e in residual),
        "rate_size": tuple(size_of(e) for _, e in residual_rate),
        "row_size": tuple(size_of(e) for *_, e in sums),
    }
    kernel = compile_program(Program(inputs=lowered.inputs, outputs=outputs, shapes={}), optimise=0)

    def index(entries: list[Any], axis: int) -> NDArray[np.intp]:
        return np.array([entry[axis] for entry in entries], dtype=np.intp)

    return MatrixKernel(
        kernel=kernel,
        M_index=(index(M, 0), index(M, 1)),
        A_index=(index(A, 0), index(A, 1)),
        sum_index=(index(sums, 0), index(sums, 1)),
        residual_index=index(residual, 0),
        residual_rate_index=index(residual_rate, 0),
        n=len(system.coordinates),
        m=len(system.constraints),
    )


_MODELS: Kept[Lowered] = Kept()


_KERNELS: Kept[MatrixKernel] = Kept()
