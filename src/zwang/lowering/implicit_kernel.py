"""Nonideal forces that depend on multipliers, C(λ), in numbers: at one state or at a stack of states.

Here Newton's method goes on until it is done (`implicit` writes a few steps out), and what has no solution is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from zwang.arrays import EPS, Array
from zwang.compile import Kernel, Program, compile_program
from zwang.errors import UndeterminedError
from zwang.lowering.implicit import all_linear, linear_in
from zwang.lowering.lowered import Lowered
from zwang.lowering.many import OFF_ZERO

MOST_NEWTON_STEPS = 50
SOLVED = 64 * EPS  # of the multipliers: a step that changes them by less is the last one


@dataclass(frozen=True)
class ImplicitKernel:
    """C and ∂C/∂λ as native code, and the rows whose multipliers are known: all but those of contacts."""

    kernel: Kernel
    unknown: tuple[int, ...]
    """The rows whose multipliers occur in C, as places among `rows`,"""
    places: tuple[int, ...]
    """and where they are among all multipliers in C."""
    count: int
    """How many these are; those of contacts are taken for zero."""
    rows: tuple[int, ...]
    all_linear: bool
    """Whether C is linear in all multipliers."""

    def __call__(self, given: Mapping[str, Array], M: Array, Q: Array, A: Array, b: Array) -> Array:
        """C (…, n) at states `given`, with the system's matrices there; contacts are taken for open."""
        *shape, n = Q.shape
        rows, m, k = list(self.rows), len(self.rows), len(self.unknown)
        units = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
        units = np.where(units > 0, units, 1.0)
        A, b = A[..., rows, :] / units[..., None, :], b[..., rows]
        lengths = np.linalg.norm(A, axis=-1)
        lengths = np.where(lengths > 0, lengths, 1.0)
        saddle = np.zeros((*shape, n + m, n + m))
        saddle[..., :n, :n] = M / units[..., None] / units[..., None, :]
        saddle[..., n:, :n] = A / lengths[..., None]
        saddle[..., :n, n:] = -saddle[..., n:, :n].swapaxes(-1, -2)
        inverse = np.linalg.pinv(saddle, rcond=SOLVED)
        places = [n + i for i in self.unknown]  # of the saddle-point matrix
        scale = lengths[..., list(self.unknown)]
        R = inverse[..., places, :n] / units[..., None, :] / scale[..., None]
        known = R @ Q[..., None] + (inverse[..., places, n:] / scale[..., None]) @ (b / lengths)[..., None]
        start = known[..., 0]
        z, one = start, np.eye(k)
        every = np.zeros((*shape, self.count))
        for _ in range(MOST_NEWTON_STEPS):
            every[..., list(self.places)] = z
            out = self.kernel(**given, l=every)
            slope, plain = (
                one - R @ out[name].reshape(*shape, n, self.count)[..., list(self.places)]
                for name in ("slope", "linear")
            )
            missing = z - start - np.einsum("...kj,...j->...k", R, out["C"])
            try:
                with np.errstate(all="ignore"):
                    change = np.linalg.solve(np.where(np.isfinite(slope), slope, one), missing[..., None])[..., 0]
            except np.linalg.LinAlgError:  # singular to the last digit
                break
            z = z - change
            size = np.abs(z).sum(axis=-1) + np.abs(start).sum(axis=-1)
            if (np.abs(change).sum(axis=-1) <= SOLVED * size).all():
                least = SOLVED * (1 + np.linalg.norm(one - slope, axis=(-2, -1)))
                sound = np.linalg.svd(slope, compute_uv=False).min(axis=-1, initial=np.inf) > least
                if (sound & (np.linalg.det(slope) * np.linalg.det(plain) > 0)).all():
                    every[..., list(self.places)] = z
                    return np.asarray(self.kernel(**given, l=every)["C"])
                break
        if self.all_linear:
            raise UndeterminedError(
                "the forces that are linear in multipliers do not determine these at this state: they cannot bring "
                "about what the constraints ask for; look at where they act, or at another state"
            )
        raise UndeterminedError(
            "the nonideal forces that depend on multipliers have no solution at this state, or several: with friction "
            "this is Painlevé's paradox; lower the coefficients, or look at another state"
        )


def implicit_kernel(lowered: Lowered, rows: Sequence[int]) -> ImplicitKernel | None:
    """The native code of C(λ) and its derivative; None if C does not depend on multipliers."""
    reactions = dict(lowered.description.reactions)
    if not reactions:
        return None
    C, symbols = lowered.derived.C, tuple(reactions.values())
    off = {s: s + se.RealDouble(OFF_ZERO) for s in symbols}
    slope = tuple(c.diff(s).xreplace(off) if s in c.free_symbols else se.Integer(0) for c in C for s in symbols)
    parts = [linear_in(c, symbols) for c in C]
    linear = tuple(part.diff(s) for part in parts for s in symbols)
    program = Program({**lowered.inputs, "l": symbols}, {"C": tuple(C), "slope": slope, "linear": linear})
    kernel, known = compile_program(program, optimise=0), [k for k, row in enumerate(reactions) if row in rows]
    unknown = tuple(list(rows).index(list(reactions)[k]) for k in known)
    return ImplicitKernel(kernel, unknown, tuple(known), len(reactions), tuple(rows), all_linear(lowered))
