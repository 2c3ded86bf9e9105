"""A model's numbers: matrices, accelerations, forces and multipliers at one state or at a stack of states.

The derivation runs in SymEngine and the result in native code; one kernel serves every state, time and
parameter value of a model, and is kept for as long as the process lives.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from zwang.compile import Kernel, Program, compile_program
from zwang.equations.derivation import derive_plain
from zwang.equations.languages import in_symengine
from zwang.errors import InputError
from zwang.formulations import Solution
from zwang.formulations.solve import Names, solve_named
from zwang.model import System
from zwang.model.check import missing_values

Array = NDArray[np.float64]

# A one-sided constraint this close to its limit, relative to the terms that make it up, touches it.
CONTACT_TOL = 1e-9

_KERNELS: dict[Any, "ModelKernel"] = {}
_MOST_KERNELS = 64


@dataclass(frozen=True)
class Matrices:
    """M (…, n, n), Q, C (…, n), A (…, m, n), b (…, m) at a stack of states, and what the constraints read there.

    `position` and `velocity` (…, m) are the constraints' left-hand sides; NaN at a level below the one at
    which a constraint was given.
    """

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    position: Array
    velocity: Array


@dataclass(frozen=True)
class ModelKernel:
    """Native code for a model's matrices; only entries that are not zero by structure are computed."""

    kernel: Kernel
    M_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    A_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    position_index: NDArray[np.intp]
    velocity_index: NDArray[np.intp]
    n: int
    m: int

    def __call__(self, t: ArrayLike, q: Array, v: Array, p: Array) -> Matrices:
        """The matrices at times t (…,), positions and velocities (…, n) and parameters (…, k)."""
        out = self.kernel(t=np.asarray(t, dtype=float)[..., None], q=q, v=v, p=p)
        shape = out["Q"].shape[:-1]
        M, A = np.zeros((*shape, self.n, self.n)), np.zeros((*shape, self.m, self.n))
        M[..., *self.M_index] = out["M"]
        A[..., *self.A_index] = out["A"]
        position, velocity = np.full((2, *shape, self.m), np.nan)
        position[..., self.position_index] = out["position"]
        velocity[..., self.velocity_index] = out["velocity"]
        return Matrices(M, out["Q"], A, out["b"], out["C"], position, velocity)


def model_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> ModelKernel:
    """The native code of a model, compiled once; `inputs` says what its known functions of time are."""
    key = (system.structure, tuple(inputs.items()))
    if key not in _KERNELS:
        if len(_KERNELS) >= _MOST_KERNELS:
            del _KERNELS[next(iter(_KERNELS))]
        _KERNELS[key] = build_kernel(system, inputs)
    return _KERNELS[key]


def build_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> ModelKernel:
    """Derive a model's matrices in SymEngine and compile them."""
    description, parameters = in_symengine(system, inputs)
    derived = derive_plain(description)
    M = [(i, j, e) for i, row in enumerate(derived.M) for j, e in row.items()]
    A = [(i, j, e) for i, row in enumerate(derived.A) for j, e in row.items()]
    position = [(i, e) for i, e in enumerate(derived.position) if e is not None]
    velocity = [(i, e) for i, e in enumerate(derived.velocity) if e is not None]
    outputs = {
        "M": tuple(e for *_, e in M),
        "Q": tuple(derived.Q),
        "A": tuple(e for *_, e in A),
        "b": tuple(derived.b),
        "C": tuple(derived.C),
        "position": tuple(e for _, e in position),
        "velocity": tuple(e for _, e in velocity),
    }
    names = {"t": (description.t,), "q": tuple(description.q), "v": tuple(description.v), "p": parameters}
    kernel = compile_program(Program(inputs=names, outputs=outputs, shapes={}))

    def index(entries: list[Any], axis: int) -> NDArray[np.intp]:
        return np.array([entry[axis] for entry in entries], dtype=np.intp)

    return ModelKernel(
        kernel=kernel,
        M_index=(index(M, 0), index(M, 1)),
        A_index=(index(A, 0), index(A, 1)),
        position_index=index(position, 0),
        velocity_index=index(velocity, 0),
        n=len(system.coordinates),
        m=len(system.constraints),
    )


def evaluate(
    system: System,
    state: Mapping[Any, ArrayLike],
    t: ArrayLike = 0.0,
    parameters: Mapping[Any, Any] | None = None,
    form: str = "fundamental",
    **choice: Any,
) -> Solution:
    """Acceleration, forces of constraint and multipliers of a model at a state, or at a stack of states.

    `state` maps every coordinate and every rate to a number or to an array; arrays broadcast, and so do
    times and parameter values. `form` and its choices are those of `solve`.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": (x**2 + y**2 - 4)/2}, parameters={m: 1, g: 10})
    >>> now = zw.evaluate(pendulum, {x: 0, y: -2, zw.dot(x): 3, zw.dot(y): 0})
    >>> now.acceleration, now.constraint_force
    (array([0. , 4.5]), array([ 0. , 14.5]))
    """
    if choice.get("eliminate") is not None:
        choice["eliminate"] = [column_of(system, q) for q in choice["eliminate"]]
    now, q, v = matrices(system, state, t, parameters)
    A, b = now.A, now.b
    one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    if one_sided.any():
        idle = one_sided & ~touching(system, now, q, v)
        A = np.where(idle[..., None], 0.0, A)  # 0 ≥ −1: a row that asks for nothing
        b = np.where(idle, -1.0, b)
    solution = solve_named(
        now.M,
        now.Q,
        A,
        b,
        C=now.C,
        form=form,
        rank_tol=None,
        one_sided=one_sided,
        v=v,
        names=names_of(system),
        **choice,
    )
    if one_sided.any():
        free = solution.free_acceleration
        solution = replace(solution, error=now.b - np.einsum("...ij,...j->...i", now.A, free))
    return solution


def names_of(system: System) -> Names:
    """Names of coordinates and constraints as messages use them."""
    return Names(system.coordinate_names, tuple(f"constraint {name!r}" for name in system.constraint_names))


def matrices(
    system: System, state: Mapping[Any, ArrayLike], t: ArrayLike, parameters: Mapping[Any, Any] | None
) -> tuple[Matrices, Array, Array]:
    """A model's matrices at a state, with the state as arrays q and v."""
    q, v = state_arrays(system, state)
    p, inputs = parameter_values(system, parameters)
    try:
        time = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"t = {t!r} is no time: give a number or an array of numbers") from None
    now = model_kernel(system, inputs)(time, q, v, p)
    require_finite_matrices(system, now)
    return now, q, v


def require_finite_matrices(system: System, now: Matrices) -> None:
    """Refuse NaN and infinity by the name of the constraint or coordinate that they come from."""
    n = names_of(system)
    for what, values, names in (
        ("row of A", now.A.max(axis=-1, initial=0.0) + now.A.min(axis=-1, initial=0.0), n.rows),
        ("entry of b", now.b, n.rows),
        ("row of M", now.M.max(axis=-1) + now.M.min(axis=-1), n.coordinates),
        ("entry of Q", now.Q, n.coordinates),
        ("nonideal force", now.C, n.coordinates),
    ):
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise InputError(
                f"the {what} of {names[bad[0][-1]]} is not finite at this state: a division by zero, or a root "
                f"or logarithm of a negative number; check the state and the expression"
            )


def touching(system: System, now: Matrices, q: Array, v: Array) -> NDArray[np.bool_]:
    """(…, m) which one-sided constraints are at their limit, so that their accelerations count.

    A state beyond a limit, or at a position limit and moving into it, has no acceleration: that is an impact.
    """
    scale_q = CONTACT_TOL * (1 + np.einsum("...ij,...j->...i", np.abs(now.A), np.abs(q)))
    scale_v = CONTACT_TOL * (1 + np.einsum("...ij,...j->...i", np.abs(now.A), np.abs(v)))
    order = np.array([c.order for c in system.constraints])
    at_position = np.where(order == 0, np.abs(np.nan_to_num(now.position)) <= scale_q, True)
    at_velocity = np.where(order < 2, np.abs(np.nan_to_num(now.velocity)) <= scale_v, True)
    beyond = (order == 0) & (now.position < -scale_q)
    beyond |= (order < 2) & at_position & (now.velocity < -scale_v)
    for i, c in enumerate(system.constraints):
        if c.one_sided and beyond[..., i].any():
            raise InputError(
                f"the state violates the one-sided constraint {c.name!r}: it reads "
                f"{np.nanmin(now.position[..., i]):.6g} and changes at {np.nanmin(now.velocity[..., i]):.6g}, where "
                f"{c.expression} >= 0 is asked for; move the state back, or resolve the impact first"
            )
    return np.asarray(at_position & at_velocity)


def state_arrays(system: System, state: Mapping[Any, ArrayLike]) -> tuple[Array, Array]:
    """Positions and velocities (…, n) of a state given by coordinate and rate."""
    if not isinstance(state, Mapping):
        raise InputError(
            f"a state maps coordinates and rates to numbers, {{x: 0, dot(x): 1, …}}; got {type(state).__name__}"
        )
    wanted = [*system.coordinates, *system.velocities]
    unknown = [key for key in state if key not in wanted]
    if unknown:
        raise InputError(
            f"the state sets {unknown[0]}, which is no coordinate or rate of this system"
            f"{suggestion(unknown[0], wanted)}"
        )
    missing = [str(key) for key in wanted if key not in state]
    if missing:
        raise InputError(f"the state does not say what {', '.join(missing)} is: give every coordinate and every rate")
    values = [numbers(state[key], str(key)) for key in wanted]
    try:
        values = list(np.broadcast_arrays(*values))
    except ValueError:
        shapes = ", ".join(f"{key}: {x.shape}" for key, x in zip(wanted, values, strict=True))
        raise InputError(f"the arrays of the state do not broadcast: {shapes}") from None
    both = np.stack(values, axis=-1)
    n = len(system.coordinates)
    return both[..., :n], both[..., n:]


def parameter_values(system: System, parameters: Mapping[Any, Any] | None) -> tuple[Array, dict[sp.Expr, Any]]:
    """Values (…, k) of the parameters in the order of `system.symbols`, and the known functions of time."""
    values = dict(system.parameters)
    symbols = [*system.symbols, *system.parameters]
    for key, value in (parameters or {}).items():
        found = [s for s in symbols if s == key or (isinstance(key, str) and str(s) == key)]
        if not found:
            raise InputError(f"parameters sets {key}, which this system does not have{suggestion(key, symbols)}")
        values[found[0]] = value
    missing = missing_values(system, values)
    if missing:
        raise InputError("; ".join(missing))
    columns = np.broadcast_arrays(*[numbers(values[s], str(s)) for s in system.symbols])
    p = np.stack(columns, axis=-1) if columns else np.zeros(0)
    return p, {f: values[f] for f in system.inputs}


def numbers(value: Any, name: str) -> Array:
    """Finite numbers, or a refusal by name."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {value!r} is no number") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} = {value} is not finite")
    return array


def suggestion(wrong: Any, known: list[Any]) -> str:
    """A hint at what may have been meant, and what there is."""
    names = list(dict.fromkeys(str(k) for k in known))
    close = difflib.get_close_matches(str(wrong), names, n=1)
    same = f"; did you mean {close[0]}?" if close and close[0] != str(wrong) else ""
    lookalike = "; it looks like one of them but is another symbol" if str(wrong) in names else ""
    return f"{same}{lookalike} (there are {', '.join(names)})"


def column_of(system: System, coordinate: Any) -> int:
    """The index of a coordinate, given itself, its name or its index."""
    for i, q in enumerate(system.coordinates):
        if coordinate in (q, i, system.coordinate_names[i]):
            return i
    raise InputError(f"{coordinate} is no coordinate; there are {', '.join(map(str, system.coordinates))}")
