"""A model's matrices in native code, at one state or at a stack of states.

One kernel serves every state, time and parameter value of a system, and is kept for as long as the process lives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from zwang.arrays import EPS, Array
from zwang.compile import Kernel, Program, compile_program
from zwang.compile.rolled.kernel import compile_rolled
from zwang.equations.sizes import has_sum, size_of
from zwang.linalg.sparse.matrix import Sparse, largest_in_rows, scaled, sparse
from zwang.lowering.cache import Kept
from zwang.lowering.implicit import known_part
from zwang.lowering.implicit_kernel import ImplicitKernel, implicit_kernel
from zwang.lowering.lowered import AnyMatrices, Lowered, Matrices, SparseMatrices, lower
from zwang.lowering.rolled.families import rolled
from zwang.lowering.rolled.programs import matrices_program
from zwang.model import System

# A row of A this long beside the terms that its entries are made of is what rounding has left of zero.
VANISHED = 16 * EPS

# Coordinates and constraints from which on matrices are sparse: dense ones would take longer than everything else. No
# more than from which on a system is rolled: with dense ones, rows that lift M would be sought in expressions.
SPARSE_FROM = 200


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
    implicit: "ImplicitKernel | None" = None
    """What solves for nonideal forces that depend on multipliers."""

    @property
    def large(self) -> bool:
        """Whether matrices of this system are to be sparse."""
        return self.n + self.m >= SPARSE_FROM

    def one(self, t: float, q: Array, v: Array, p: Array) -> AnyMatrices:
        """The matrices at one state, in the form that fits their size."""
        return self.sparse(t, q, v, p) if self.large else self(t, q, v, p)

    def sparse(self, t: float, q: Array, v: Array, p: Array) -> SparseMatrices:
        """The matrices at one state as sparse ones."""
        out = self.kernel(t=np.array([t], dtype=float), q=q, v=v, p=p)
        M = sparse(out["M"], *self.M_index, (self.n, self.n))
        A = sparse(out["A"], *self.A_index, (self.m, self.n))
        terms = sparse(np.abs(out["A"]), *self.A_index, (self.m, self.n))
        more = sparse(out["row_size"], *self.sum_index, (self.m, self.n))
        lengths = sparse_lengths(terms.maximum(more) if more.nnz else terms)
        vanished = (sparse_lengths(A) <= VANISHED * lengths) & np.isfinite(lengths)
        A.data[np.repeat(vanished, np.diff(A.indptr))] = 0.0
        C = out["C"]
        if self.implicit is not None:
            given = {"t": np.array([t], dtype=float), "q": q, "v": v, "p": p}
            C = self.implicit(given, M.toarray(), out["Q"], A.toarray(), out["b"])
        return SparseMatrices(M, out["Q"], A, out["b"], C, *self.readings(out, ()))

    def readings(self, out: Mapping[str, Array], shape: tuple[int, ...]) -> Array:
        """(4, …, m) what constraints read in position and velocity, and the sizes of their terms; NaN where nothing."""
        found = np.full((4, *shape, self.m), np.nan)
        for k, name in enumerate(("residual", "residual_rate", "size", "rate_size")):
            found[k][..., self.residual_rate_index if "rate" in name else self.residual_index] = out[name]
        return found

    def __call__(self, t: ArrayLike, q: Array, v: Array, p: Array) -> Matrices:
        """The matrices at times t (…,), positions and velocities (…, n) and parameters (…, k)."""
        out = self.kernel(t=np.asarray(t, dtype=float)[..., None], q=q, v=v, p=p)
        shape = out["Q"].shape[:-1]
        M, A = np.zeros((*shape, self.n, self.n)), np.zeros((*shape, self.m, self.n))
        M[..., *self.M_index] = out["M"]
        A[..., *self.A_index] = out["A"]
        row_size = np.abs(A)
        row_size[..., *self.sum_index] = out["row_size"]
        lengths = row_lengths(row_size)
        vanished = (row_lengths(A) <= VANISHED * lengths) & np.isfinite(lengths)
        if vanished.any():
            A = np.where(vanished[..., None], 0.0, A)
        residual, residual_rate, size, rate_size = self.readings(out, shape)
        C = out["C"]
        if self.implicit is not None:
            given = {"t": np.asarray(t, dtype=float)[..., None], "q": q, "v": v, "p": p}
            C = self.implicit(given, M, out["Q"], A, out["b"])
        return Matrices(M, out["Q"], A, out["b"], C, residual, residual_rate, size, rate_size, row_size)


def row_lengths(X: Array) -> Array:
    """(…, m) the lengths of rows; infinite or not a number where an entry is."""
    largest = np.abs(X).max(axis=-1, initial=0.0)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    return np.asarray(scale * np.sqrt(np.square(X / scale[..., None]).sum(axis=-1)))


def sparse_lengths(X: Sparse) -> Array:
    """(m,) the same of a sparse matrix."""
    largest = largest_in_rows(X)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    unit = scaled(X, rows=scale)
    return np.asarray(scale * np.sqrt((unit * unit).sum(axis=1)))


def matrix_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> MatrixKernel:
    """The native code of a model's matrices, compiled once."""
    key = (system.structure, tuple(inputs.items()))
    return _KERNELS.get(key, lambda: build_kernel(system, inputs))


def build_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> MatrixKernel:
    """Derive a model's matrices in SymEngine and compile them."""
    return kernel_of(lower(system, inputs), [i for i, c in enumerate(system.constraints) if not c.one_sided])


def kernel_of(lowered: Lowered, equal: Sequence[int] = ()) -> MatrixKernel:
    """The matrices of a lowered system as native code; `equal` are its equalities, which nonideal forces may know."""
    n, m = len(lowered.description.axes.q), len(lowered.description.orders)
    if (families := rolled(lowered)) is not None:
        program, where = matrices_program(families)
        kernel = compile_rolled(program)
        return MatrixKernel(kernel, where.M, where.A, where.sums, where.holonomic, where.first, n, m)
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
        "C": tuple(known_part(lowered)),
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
        n=n,
        m=m,
        implicit=implicit_kernel(lowered, list(equal)),
    )


_KERNELS: Kept[MatrixKernel] = Kept()
