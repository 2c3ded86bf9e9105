"""What must not jump at a known instant: no finite force changes a velocity at once."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import TINIEST, Array
from zwang.compile import AnyProgram, Program
from zwang.engines.native.engine import compiled
from zwang.equations.languages import in_pieces, translate
from zwang.errors import InputError
from zwang.linalg.sparse.matrix import Sparse, sparse
from zwang.lowering.cache import Kept
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rolled.families import rolled
from zwang.lowering.rolled.programs import momentum_program
from zwang.model.constraint import Constraint
from zwang.model.symbols import t as time
from zwang.motion.breaks import derivatives_used, switches_in
from zwang.motion.setup import Setup

A_LITTLE = 1e-9  # of the time
BREAKS_AT_ONCE = 64  # instants that are looked at together
DENSE_UP_TO = 200  # rows or columns of a matrix that is handled in full
SMOOTH = 1e-9  # a change by less than this share of a value's terms, from one double of time to the next, is none

_PROGRAMS: Kept[AnyProgram] = Kept()


def require_continuous(setup: Setup, q: Array, v: Array) -> None:
    """Refuse what switches in time and would need an impulse there.

    That is a holonomic constraint or its rate, a constraint on velocities, a momentum that jumps, or a known function
    of time that jumps where its derivative is used. They are read on both sides of each instant, and a little beside
    it, at a state beside the start, where nothing vanishes by chance.
    """
    if not len(setup.breaks) or switches_in(setup) is None:
        return
    after = np.nextafter(setup.breaks, np.inf)
    little = A_LITTLE * (setup.breaks - setup.breaks[0] + np.abs(setup.breaks).max() + TINIEST)
    times = np.stack([setup.breaks - little, setup.breaks, after, after + little])
    for what, function in differentiated_inputs(setup):
        require_no_jump(setup.breaks, jumps_of([function(each) for each in times], 0.0), [what].__getitem__)
    place, rate = beside(q), beside(v)
    for begin in range(0, len(setup.breaks), BREAKS_AT_ONCE):
        require_steady(setup, times[:, begin : begin + BREAKS_AT_ONCE], place, rate)


def require_steady(setup: Setup, times: Array, q: Array, v: Array) -> None:
    """Refuse constraints and momenta that jump at some instants, each with times beside it (4, T)."""
    matrices, system = matrix_kernel(setup.system, setup.inputs), setup.system
    now = [matrices.kernel(t=each[:, None], q=q, v=v, p=setup.p) for each in times]
    A = [sparse(entries, *matrices.A_index, (matrices.m, matrices.n)) for entries in now[1]["A"]]
    read = [matrices.readings(each, (times.shape[1],)) for each in now]
    for k, (level, at) in enumerate((("residual", q), ("residual_rate", v))):
        terms = np.array([abs(each) @ np.abs(at) for each in A])
        jumps = possible(A, jumps_of([each[k] for each in read], terms))
        require_no_jump(times[1], jumps, partial(followed, system.constraints, level))
    if not setup.lowered.description.mass_given:
        momentum, names = momenta(setup), system.coordinate_names
        jumps = jumps_of([momentum(each, q, v) for each in times], 0.0)
        require_no_jump(times[1], jumps, lambda i: f"kinetic: the momentum of {names[i]}")


def followed(constraints: Sequence[Constraint], level: str, i: int) -> str:
    """What a constraint asks for, for a message."""
    constraint = constraints[i]
    what = "something that" if level == "residual" or constraint.order else "a rate that"
    return f"constraint {constraint.name!r} asks the motion to follow {what}"


def beside(x: Array) -> Array:
    """Numbers near some others, and in no simple relation."""
    size = np.abs(x).max(initial=0.0) or 1.0
    return np.asarray(x + 0.1 * size * np.sqrt(2 + np.arange(len(x))))


def jumps_of(values: list[Array], terms: Any) -> Array:
    """(T, k) by how much values jump at the breaks, zero where they do not.

    A jump is larger than rounding, and than what changes in a little time before it or after it.
    """
    earlier, before, after, later = values
    size = np.maximum(np.maximum(np.abs(before), np.abs(after)), terms)
    change = np.maximum(np.abs(before - earlier), np.abs(later - after))
    jump = after - before
    real = (np.abs(jump) > SMOOTH * size) & (np.abs(jump) > change / 2)
    return np.where(real, jump, 0.0)


def possible(A: Sequence[Sparse], jumps: Array) -> Array:
    """Jumps (T, m) of constraints that some jump of velocities would satisfy.

    The others contradict each other from there on: a run finds that out, and says so.
    """
    kept = jumps.copy()
    for at in np.flatnonzero(jumps.any(axis=1)).tolist():
        missed = A[at] @ least_squares(A[at], jumps[at]) - jumps[at]
        if np.abs(missed).max() > 1e-6 * np.abs(jumps[at]).max():
            kept[at] = 0.0
    return kept


def least_squares(A: Sparse, b: Array) -> Array:
    """x for which A x is nearest to b."""
    if max(A.shape) <= DENSE_UP_TO:
        return np.asarray(np.linalg.lstsq(A.toarray(), b, rcond=None)[0])
    from scipy.sparse.linalg import lsqr

    return np.asarray(lsqr(A, b, atol=1e-12, btol=1e-12)[0])


def require_no_jump(breaks: Array, jumps: Array, name: Callable[[int], str]) -> None:
    """Refuse the first of some jumps (T, k) by name."""
    found = np.argwhere(jumps)
    if len(found):
        at, which = found[0].tolist()
        raise InputError(
            f"{name(which)} jumps at t = {breaks[at]:.9g}: no finite force can do that; smooth it, or end the motion "
            f"before"
        )


def momenta(setup: Setup) -> Callable[[Array, Array, Array], Array]:
    """∂T/∂q̇ at times (T,)."""
    key = (setup.system.structure, tuple(setup.inputs.items()), "momenta")

    def build() -> AnyProgram:
        families, description = rolled(setup.lowered), setup.lowered.description
        if families is not None:
            return momentum_program(families)
        assert description.kinetic is not None
        outputs = {"momentum": tuple(description.kinetic.diff(v) for v in description.axes.v)}
        return Program(setup.lowered.inputs, outputs)

    kernel = compiled(_PROGRAMS.get(key, build))
    return lambda times, q, v: kernel(t=times[:, None], q=q, v=v, p=setup.p)["momentum"]


def read(setup: Setup, program: Program) -> Callable[[Array], Array]:
    """A program of time and parameters as a function of times (T,)."""
    kernel = compiled(program)
    return lambda times: kernel(t=times[:, None], p=setup.p)["u"]


def differentiated_inputs(setup: Setup) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Known functions of time whose derivatives are used, and those of their derivatives that must not jump."""
    known = dict(zip(setup.symbols, setup.lowered.parameters, strict=True)) | {time: setup.lowered.description.axes.t}
    for f, highest in derivatives_used(setup).items():
        for order in range(highest):
            u = sp.diff(in_pieces(setup.inputs[f]), time, order) if order else in_pieces(setup.inputs[f])
            program = Program({"t": (known[time],), "p": setup.lowered.parameters}, {"u": (translate(u, dict(known)),)})
            lower = "a lower one of " if order else ""
            yield f"the derivative of {f} is used, but {lower}{f}", read(setup, program)
