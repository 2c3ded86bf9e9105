"""A model's numbers: matrices, accelerations, forces and multipliers at one state or at a stack of states.

The derivation runs in SymEngine and the result in native code; one kernel serves every state, time and
parameter value of a model, and is kept for as long as the process lives.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

import numpy as np
import symengine as se
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from zwang.compile import Kernel, Program, compile_program
from zwang.equations.derivation import Derived, Description, derive_plain
from zwang.equations.languages import in_symengine
from zwang.equations.sizes import has_sum, size_of
from zwang.errors import InputError
from zwang.formulations.solution import Solution
from zwang.formulations.solve import Names, solve_named
from zwang.functions import FLOORS
from zwang.given import column_of, numbers, parameter_values, state_arrays
from zwang.model import System

Array = NDArray[np.float64]
T = TypeVar("T")

# A one-sided constraint this close to its limit, relative to the terms that make it up, touches it.
CONTACT_TOL = 1e-9
CONTACT_ROUNDING = 8 * float(np.finfo(float).eps)

# A row of A this long beside the terms that its entries are made of is what rounding has left of zero.
VANISHED = 16 * float(np.finfo(float).eps)

_KEPT = 64  # derivations and kernels that a process remembers


@dataclass(frozen=True)
class Matrices:
    """M (…, n, n), Q, C (…, n), A (…, m, n), b (…, m) at a stack of states, and what the constraints read there.

    `position` and `velocity` (…, m) are the constraints' left-hand sides; NaN at a level below the one at
    which a constraint was given. `size` and `rate_size` are how large the terms are that make them up. `row_size`
    (…, m, n) is the same of A; a row of A that is rounding beside it is zero.
    """

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    position: Array
    velocity: Array
    size: Array
    rate_size: Array
    row_size: Array


@dataclass(frozen=True)
class ModelKernel:
    """Native code for a model's matrices; only entries that are not zero by structure are computed."""

    kernel: Kernel
    M_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    A_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    sum_index: tuple[NDArray[np.intp], NDArray[np.intp]]
    """Entries of A that are sums somewhere, so that their terms may cancel."""
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
        position, velocity, size, rate_size = np.full((4, *shape, self.m), np.nan)
        position[..., self.position_index] = out["position"]
        velocity[..., self.velocity_index] = out["velocity"]
        size[..., self.position_index] = out["size"]
        rate_size[..., self.velocity_index] = out["rate_size"]
        row_size = np.abs(A)
        row_size[..., *self.sum_index] = out["row_size"]
        lengths = row_lengths(row_size)
        vanished = (row_lengths(A) <= VANISHED * lengths) & np.isfinite(lengths)
        if vanished.any():
            A = np.where(vanished[..., None], 0.0, A)
        return Matrices(M, out["Q"], A, out["b"], out["C"], position, velocity, size, rate_size, row_size)


def row_lengths(X: Array) -> Array:
    """(…, m) the lengths of rows; infinite or not a number where an entry is."""
    largest = np.abs(X).max(axis=-1, initial=0.0)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    return np.asarray(scale * np.sqrt(np.square(X / scale[..., None]).sum(axis=-1)))


@dataclass(frozen=True)
class Model:
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


def model_of(system: System, inputs: Mapping[sp.Expr, Any]) -> Model:
    """The system derived in SymEngine, once; `inputs` says what its known functions of time are."""

    def build() -> Model:
        description, parameters = in_symengine(system, inputs)
        derived = derive_plain(description)
        return Model(description, between_jumps(derived) if description.switching else derived, parameters)

    return _MODELS.get((system.structure, tuple(inputs.items())), build)


def between_jumps(derived: Derived) -> Derived:
    """The same with derivatives of floors as zeros, which they are but for their jumps."""

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


def model_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> ModelKernel:
    """The native code of a model's matrices, compiled once."""
    key = (system.structure, tuple(inputs.items()))
    return _KERNELS.get(key, lambda: build_kernel(system, inputs))


def build_kernel(system: System, inputs: Mapping[sp.Expr, Any]) -> ModelKernel:
    """Derive a model's matrices in SymEngine and compile them."""
    model = model_of(system, inputs)
    derived = model.derived
    M = [(i, j, e) for i, row in enumerate(derived.M) for j, e in row.items()]
    A = [(i, j, e) for i, row in enumerate(derived.A) for j, e in row.items()]
    sums = [(i, j, e) for i, j, e in A if has_sum(e)]
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
        "size": tuple(size_of(e) for _, e in position),
        "rate_size": tuple(size_of(e) for _, e in velocity),
        "row_size": tuple(size_of(e) for *_, e in sums),
    }
    kernel = compile_program(Program(inputs=model.inputs, outputs=outputs, shapes={}), optimise=0)

    def index(entries: list[Any], axis: int) -> NDArray[np.intp]:
        return np.array([entry[axis] for entry in entries], dtype=np.intp)

    return ModelKernel(
        kernel=kernel,
        M_index=(index(M, 0), index(M, 1)),
        A_index=(index(A, 0), index(A, 1)),
        sum_index=(index(sums, 0), index(sums, 1)),
        position_index=index(position, 0),
        velocity_index=index(velocity, 0),
        n=len(system.coordinates),
        m=len(system.constraints),
    )


@dataclass(frozen=True)
class Kept(Generic[T]):
    """The last things made, by what they were made from; the oldest goes first."""

    things: dict[Any, T] = field(default_factory=dict)

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """The thing for a key, made if there is none yet."""
        if (found := self.things.get(key)) is not None:
            return found
        made = self.things.setdefault(key, make())  # another thread may have been first
        while len(self.things) > _KEPT:
            self.things.pop(next(iter(self.things)), None)
        return made


_MODELS: Kept[Model] = Kept()
_KERNELS: Kept[ModelKernel] = Kept()


def evaluate(
    system: System,
    state: Mapping[Any, ArrayLike],
    t: ArrayLike = 0.0,
    parameters: Mapping[Any, Any] | None = None,
    form: str = "fundamental",
    **choice: Any,
) -> Solution:
    """Acceleration, forces of constraint and multipliers of a model at a state, or at a stack of states.

    `state` maps every coordinate and every rate, or their names "x" and "x'", to a number or to an array; arrays
    broadcast, and so do times and parameter values. `form` and its choices are those of `solve`.

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
    now = model_kernel(system, inputs)(numbers(t, "t"), q, v, p)
    require_finite_matrices(system, now)
    return now, q, v


def require_finite_matrices(system: System, now: Matrices) -> None:
    """Refuse NaN and infinity by the name of the constraint or coordinate that they come from."""
    n = names_of(system)
    for what, finite, names in (
        ("row of A", np.isfinite(now.A).all(axis=-1), n.rows),
        ("entry of b", np.isfinite(now.b), n.rows),
        ("row of M", np.isfinite(now.M).all(axis=-1), n.coordinates),
        ("entry of Q", np.isfinite(now.Q), n.coordinates),
        ("nonideal force", np.isfinite(now.C), n.coordinates),
    ):
        bad = np.argwhere(~finite)
        if len(bad):
            raise InputError(
                f"the {what} of {names[bad[0][-1]]} is not finite at this state: a division by zero, or a root "
                f"or logarithm of a negative number; check the state and the expression"
            )


def touching(system: System, now: Matrices, q: Array, v: Array) -> NDArray[np.bool_]:
    """(…, m) which one-sided constraints are at their limit, so that their accelerations count.

    A state beyond a limit, or at a position limit and moving into it, has no acceleration: that is an impact.
    """
    at_limit, beyond = limits(system, now, q, v)
    for i, c in enumerate(system.constraints):
        if beyond[..., i].any():
            worst = tuple(np.argwhere(beyond[..., i])[0])
            reading = "" if c.order else f"reads {now.position[(*worst, i)]:.6g} and "
            raise InputError(
                f"the state violates the one-sided constraint {c.name!r}: it {reading}"
                f"{'reads' if c.order else 'changes at'} {now.velocity[(*worst, i)]:.6g}, where "
                f"{c.expression} >= 0 is asked for; move the state back, or resolve the impact first"
            )
    return at_limit


def limits(system: System, now: Matrices, q: Array, v: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(…, m) which one-sided constraints are at their limit, and which are beyond it or moving beyond."""
    one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    scale_q, scale_v = contact_scale(now, q, now.size), contact_scale(now, v, now.rate_size)
    order = np.array([c.order for c in system.constraints])
    at_position = np.where(order == 0, np.abs(np.nan_to_num(now.position)) <= scale_q, True)
    at_velocity = np.where(order < 2, np.abs(np.nan_to_num(now.velocity)) <= scale_v, True)
    beyond = (order == 0) & (now.position < -scale_q)
    beyond |= (order < 2) & at_position & (now.velocity < -scale_v)
    return np.asarray(one_sided & at_position & at_velocity), np.asarray(one_sided & beyond)


def contact_scale(now: Matrices, x: Array, size: Array) -> Array:
    """(…, m) how near its limit a one-sided constraint touches it: in no units of the user's.

    Beside the terms that make it up counts the rounding of the largest coordinate or rate, in units of equal mass.
    """
    mass = np.sqrt(np.abs(np.einsum("...ii->...i", now.M)))
    mass = np.where(mass > 0, mass, 1.0)
    slope = np.abs(now.A)
    terms = np.nan_to_num(size) + np.einsum("...ij,...j->...i", slope, np.abs(x))
    largest = (mass * np.abs(x)).max(axis=-1, initial=0.0)[..., None]
    return np.asarray(CONTACT_TOL * terms + CONTACT_ROUNDING * (slope / mass[..., None, :]).sum(axis=-1) * largest)
