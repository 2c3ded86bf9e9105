"""A system as a function of its state, for those who call it often: controllers, optimisers, other integrators."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from zwang.arrays import TINIEST, Array
from zwang.compile import Kernel, Program
from zwang.compile.guarded import Guarded, address_of, bound, guarded, many_compiled
from zwang.display import named, told
from zwang.engines.native.engine import compiled, optimised
from zwang.errors import InputError
from zwang.evaluation import solved, state_residuals, warn_of_violations
from zwang.lowering import large
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rolled.families import rolled
from zwang.lowering.rows import RowBasis, mobilities
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, own_start, system_of
from zwang.model.values import numbers, one_number, state_arrays
from zwang.motion.handles.inputs import Inputs, inputs_of, require_equalities, require_plain
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.setup import Setup
from zwang.motion.singular.other_rows import HEALTHY
from zwang.motion.start import basis_at

DOUBLE = np.dtype(np.float64)
MASS_PIVOT = 1e-7  # of its size where rows were chosen: a pivot of M below it costs more digits than refinement gives
VOLUME = 3e-4  # the same for the volume of damped rows, which falls or grows where the rank does
State = tuple[float, Array, Array]
Maker = Callable[["Choice"], Guarded]


@dataclass(frozen=True, eq=False)
class Choice:
    """The rows that kernels stand on, and what their pivots must be above."""

    basis: RowBasis
    limits: Array


class Quantity:
    """One thing that a system has at a state, as a function of it: call it with t, q, v and its inputs.

    `f(t, q, v, u, out)` gives an array, or writes into `out` and gives that; `f.batch(t, Q, V, U)` does so for many
    states, which are the leading axis of the arrays; `f.address` is for other languages:

        int64_t f(double *out, const double *in, double *work)

    with `in` = [t, q, v, u] in one row, `work` of `f.work_size` doubles of the caller's own, and 0 where all is well.
    It may be called from any thread. It stands on the rows that were chosen when it was asked for.
    """

    def __init__(self, core: "Core", name: str, shape: tuple[int, ...]) -> None:
        self._core, self._name, self._shape = core, name, shape
        n, k = core.n, len(core.inputs.symbols)
        self._row = np.zeros(1 + 2 * n + k)
        self._q, self._v, self._u = self._row[1 : 1 + n], self._row[1 + n : 1 + 2 * n], self._row[1 + 2 * n :]
        self._out = np.zeros(shape)
        self._vector, self._inputs = (n,), (k,)
        self._lock = Lock()
        self._guard: Guarded | None = None
        self._choice: Choice | None = None
        self._work = np.zeros(0)
        self._run: Callable[[], int] = self._first
        self._last: Any = None  # the last `out` that was found fit
        self._held: list[Any] = []  # machine code and tables whose addresses were given out
        if core.inputs.first is not None:
            self._u[...] = core.inputs.first

    def __call__(
        self, t: float, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """The value at a state. Without u the inputs are what they were given as in the system or in `parameters`."""
        with self._lock:
            if self._choice is not self._core.choice:
                self._run = self._first
            # what is not spelled out here costs a call: this is the way of those who call a million times
            if (
                type(q) is type(v) is ndarray
                and q.dtype is v.dtype is DOUBLE
                and q.shape == v.shape == self._vector
                and type(t) is float
            ):
                self._row[0] = t
                self._q[...] = q
                self._v[...] = v
            else:
                self._row[0] = one_number(t, "t")
                self._q[...] = vector(q, "q", self._core.system)
                self._v[...] = vector(v, "v", self._core.system)
            if type(u) is ndarray and u.dtype is DOUBLE and u.shape == self._inputs:
                self._u[...] = u
            elif u is not None or self._inputs != (0,):
                self._u[...] = self._read(u)
            if self._run():
                self._out[...] = self._core.slowly(self._name, self._row)
            if out is None:
                return self._out.copy()
            if out is not self._last:
                self._last = self._fit(out, self._shape)
            out[...] = self._out
            return out

    def batch(
        self, t: ArrayLike, Q: ArrayLike, V: ArrayLike, U: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """The values at N states: Q and V (N, n); t a number or (N,); U (N, k), or (k,) for all of them."""
        system, n, k = self._core.system, self._core.n, len(self._core.inputs.symbols)
        q, v, times = numbers(Q, "Q"), numbers(V, "V"), numbers(t, "t")
        count = len(q) if q.ndim == 2 else -1
        if q.shape != (count, n) or v.shape != (count, n) or times.shape not in ((), (count,)):
            raise InputError(
                f"Q has shape {q.shape}, V {v.shape} and t {times.shape}: states of "
                f"{', '.join(system.coordinate_names)} are (N, {n}), and times a number or (N,)"
            )
        rows = np.empty((count, 1 + 2 * n + k))
        rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n] = times, q, v
        if U is not None and np.ndim(U) == 2:
            u = numbers(U, "U")
            if u.shape != (count, k):
                raise InputError(f"U has shape {u.shape}: for each of {count} states give {self._core.inputs.said}")
            rows[:, 1 + 2 * n :] = u
        elif U is not None or k:
            rows[:, 1 + 2 * n :] = self._read(U)
        whole = np.empty((count, *self._shape))
        if count:
            self._fill(rows, whole)
        if out is None:
            return whole
        self._fit(out, whole.shape)[...] = whole
        return out

    def __reduce__(self) -> Any:
        """Machine code does not travel: a copy, and what was sent elsewhere, is made anew of what this was made of."""
        return remade, (*self._core.made_of, self._name)

    def __deepcopy__(self, _: Any) -> "Quantity":
        """The same: a system is frozen and needs no copy."""
        return remade(*self._core.made_of, self._name)

    @property
    def address(self) -> int:
        """The function for other languages; it is good for as long as this object lives."""
        with self._lock:
            address, code = address_of(self._made())
            self._held.append(code)
            return address

    @property
    def work_size(self) -> int:
        """How many doubles of working space `address` needs."""
        with self._lock:
            return self._made().work_size

    def _made(self) -> Guarded:
        """The guard, if it is known what it stands on."""
        if self._core.choice is None and self._core.stands(self._name):
            raise InputError(
                "the rows to stand on are chosen at a state: call this function once, then ask for address"
            )
        if self._choice is not self._core.choice or self._guard is None:
            self._make()
        assert self._guard is not None
        return self._guard

    def _read(self, u: ArrayLike | None) -> Array:
        """The inputs of a call."""
        if u is None and self._core.inputs.first is not None:
            return self._core.inputs.first
        return self._core.inputs.read(u)

    def _fill(self, rows: Array, whole: Array) -> None:
        """Many states, in machine code; those that the guard refuses one by one."""
        with self._lock:
            if self._core.choice is None and self._core.stands(self._name):
                self._core.choose(rows[0], level=5)
            if self._choice is not self._core.choice or self._guard is None:
                self._make()
            guard, work = self._guard, self._work
            assert guard is not None
            failed = many_compiled()(guard.at, whole.ctypes.data, rows.ctypes.data, work.ctypes.data, len(rows))
            if failed:
                bad = np.isnan(whole.reshape(len(rows), -1)).any(axis=1)
                for i in np.flatnonzero(bad):
                    whole[i] = self._core.slowly(self._name, rows[i])

    def _make(self) -> None:
        """The guard for the rows that are chosen."""
        core = self._core
        if core.choice is None and core.stands(self._name):
            core.choose(self._row, level=6)
        self._choice = core.choice
        self._guard = guard = core.guard(self._name)
        self._work = np.zeros(guard.work_size)
        self._run = bound(guard, self._out.ctypes.data, self._row.ctypes.data, self._work.ctypes.data)

    def _first(self) -> int:
        """The first call, and the first one on other rows."""
        self._make()
        return self._run()

    def _fit(self, out: Any, shape: tuple[int, ...]) -> Array:
        """An array that can hold the result, or a refusal."""
        if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != DOUBLE or not out.flags.writeable:
            what = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(f"out is {what}: an array of float64 with shape {shape} is needed, that can be written to")
        return out


class Function(Quantity):
    """The accelerations of a system as a function of its state; beside them its multipliers and matrices.

    All take t, q, v, u and out, and have `batch` and `address`: `multipliers` λ (m,), in the order of the constraints,
    `reactions` (n,), the forces of constraint Q_c, `mass` M (n, n) and `bias` (n,), with M q̈ + bias = reactions.
    """

    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]

    def __init__(self, core: "Core") -> None:
        super().__init__(core, "acceleration", (core.n,))
        n, m = core.n, len(core.system.constraint_names)
        self.coordinates, self.inputs = core.system.coordinate_names, core.inputs.names
        self.multipliers = Quantity(core, "multiplier", (m,))
        self.reactions = Quantity(core, "constraint_force", (n,))
        self.bias = Quantity(core, "Q", (n,))

    @cached_property
    def mass(self) -> Quantity:
        """M (n, n), with room made for it when it is asked for: of a large system that is much."""
        return Quantity(self._core, "M", (self._core.n,) * 2)

    def residuals(self, t: float, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> tuple[float, float]:
        """‖φ‖ and ‖φ̇‖, how far a state is off the constraints in position and velocity.

        A call of the handle does not ask: at a state that is off, its numbers belong to no motion.
        """
        system = self._core.system
        inputs = self._read(u) if u is not None or self._inputs != (0,) else np.zeros(0)
        row = [np.array([one_number(t, "t")]), vector(q, "q", system), vector(v, "v", system), inputs]
        position, velocity = self._core.residuals(np.concatenate(row))
        return float(position), float(velocity)

    def __repr__(self) -> str:
        """What it takes, in a line."""
        inputs = [named("inputs", self.inputs)] if self.inputs else []
        return told(self, self._core.system.name, named("coordinates", self.coordinates), *inputs)


def function(
    system: System | HasSystem, parameters: Mapping[Any, Any] | None = None, inputs: Sequence[Any] = ()
) -> Function:
    """A system as a function: f(t, q, v, u) is q̈ at a time t, positions q, velocities v and inputs u.

    What `evaluate` finds out about a state in a millisecond this computes in machine code, with a microsecond around
    it: for loops of control, other integrators, optimisation. Arrays of doubles are taken as they are, in the order of
    the system's coordinates; `out` saves making an array.

    `inputs` are parameters and known functions of time, by symbol or name, whose values u come with every call, in this
    order; all others have the values that they are given here or in the system. `f.multipliers`, `f.reactions`,
    `f.mass` and `f.bias` are the same for λ, the forces of constraint, M and what M q̈ lacks to these; `f.batch` is for
    many states at once, and `f.address` for C, numba and their like (see `Quantity`).

    What the acceleration stands on is chosen at the first state (of a mechanism: at its start), and anew where that
    does not serve; at singular positions the answer is that of `evaluate`, in its time. So it is with multipliers of
    redundant constraints, of which the shortest are given. Handles may be called from several threads.

    A `ConstraintViolationWarning` says if the first state does not satisfy the constraints. Later calls do not look,
    for that would take longer than they do: `f.residuals(t, q, v, u)` gives ‖φ‖ and ‖φ̇‖ of any state.

    >>> import numpy as np
    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g, F = zw.parameters("m g F")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y, forces={x: F},
    ...                      constraints={"rod": (x**2 + y**2 - 4)/2}, parameters={m: 1, g: 10})
    >>> f = zw.function(pendulum, inputs=[F])
    >>> q, v = np.array([0.0, -2.0]), np.array([3.0, 0.0])
    >>> f(0.0, q, v, [2.0]), f.multipliers(0.0, q, v, [2.0])
    (array([2. , 4.5]), array([-7.25]))
    """
    built = system_of(system, "function", parameters)
    require_equalities(built, "zwang.evaluate")
    found = inputs_of(built, parameters, inputs, sloping=False)
    require_plain(built, found.symbols)
    if found.values.p.ndim != 1:
        raise InputError("parameters are arrays: a function takes one value each; what varies are inputs")
    setup = prepare(built, found.values, RunOptions(1.0, method="native"))
    made = Function(Core(setup, found, (system, parameters and dict(parameters), found.symbols)))
    if isinstance(system, HasSystem) and found.first is not None:
        t = begin_of(system, None)
        q, v = state_arrays(built, own_start(system, parameters, t))
        made._core.choose(np.concatenate([[t], q, v, found.first]))
    return made


def remade(
    system: System | HasSystem, parameters: Mapping[Any, Any] | None, inputs: Sequence[Any], name: str
) -> Quantity:
    """A quantity of a function that is made anew."""
    made = function(system, parameters, inputs)
    of_name = {"multiplier": "multipliers", "constraint_force": "reactions", "Q": "bias", "M": "mass"}
    found: Quantity = getattr(made, of_name[name]) if name in of_name else made
    return found


class Core:
    """What the quantities of one system share: its numbers and the rows that were chosen."""

    on_rows: ClassVar = ("acceleration", "multiplier", "constraint_force")

    def __init__(self, setup: Setup, inputs: Inputs, made_of: tuple[Any, Any, Sequence[Any]]) -> None:
        self.setup, self.inputs, self.system = setup, inputs, setup.system
        self.made_of = made_of  # system, parameters and inputs, as they were given
        self.n = len(self.system.coordinate_names)
        self.choice: Choice | None = None
        self._lock = Lock()
        self._asked, self._next = 0, 1  # how often the guard refused, and when rows are looked for again

    def stands(self, name: str) -> bool:
        """Whether a quantity stands on rows that are chosen."""
        return name in self.on_rows

    def guard(self, name: str) -> Guarded:
        """The machine code of a quantity behind its guard."""
        places, p, n = self.inputs.places, self.setup.p, self.n
        if not self.stands(name):
            kernel, entries = self.plain(name)
            return guarded(kernel, p, places, entries, n * n if name == "M" else n, factor=-1.0 if name == "Q" else 1.0)
        assert self.choice is not None
        basis, limits, m = self.choice.basis, {"pivots": self.choice.limits}, len(self.system.constraint_names)
        kind = "report" if basis.damping or name != "acceleration" else "acceleration"
        whole = self.setup.program(kind, basis)
        if "agreement" in whole.outputs:
            limits["agreement"] = np.full(m, -TINIEST)
        if basis.damping and name == "multiplier":
            limits["pivots"] = np.full(len(limits["pivots"]), np.inf)  # the shortest are wanted: no kernel gives them
        program = self.setup.program(kind, basis, (name, *limits))
        kernel = optimised(program)
        source = np.arange(kernel.output_size)[kernel.outputs[name]]
        to, size = (np.array(basis.used, dtype=int), m) if name == "multiplier" else (np.arange(n), n)
        behind = self.setup.locked.literal if self.setup.locked and "modes" in program.inputs else np.zeros(0)
        return guarded(kernel, np.concatenate([p, behind]), places, (list(source), list(to)), size, limits)

    def plain(self, name: str) -> tuple[Kernel, tuple[list[int], list[int]]]:
        """A kernel for M or Q, and where its outputs go."""
        lowered, n = self.setup.lowered, self.n
        if rolled(lowered) is not None:
            matrices = matrix_kernel(self.system, self.setup.inputs)
            kernel, (i, j) = matrices.kernel, matrices.M_index
            to = i * n + j if name == "M" else np.arange(n)
        else:
            M = {i * n + j: e for i, row in enumerate(lowered.derived.M) for j, e in row.items()}
            outputs = tuple(M.values()) if name == "M" else tuple(lowered.derived.Q)
            to = np.array(list(M), dtype=int) if name == "M" else np.arange(n)
            kernel = optimised(Program(lowered.inputs, {name: outputs}))
        return kernel, ([int(k) for k in np.arange(kernel.output_size)[kernel.outputs[name]]], [int(k) for k in to])

    def state(self, row: Array) -> tuple[State, Setup]:
        """A packed state as time, positions and velocities, and the setup with its inputs."""
        n, p = self.n, self.setup.p.copy()
        p[list(self.inputs.places)] = row[1 + 2 * n :]
        return (float(row[0]), row[1 : 1 + n].copy(), row[1 + n : 1 + 2 * n].copy()), replace(self.setup, p=p)

    def residuals(self, row: Array) -> tuple[Array, Array]:
        """‖φ‖ and ‖φ̇‖ at a packed state."""
        state, setup = self.state(require_finite(self, row))
        return state_residuals(self.system, matrix_kernel(self.system, setup.inputs).one(*state, setup.p))

    def choose(self, row: Array, level: int = 0) -> None:
        """Rows for a state, and what their pivots are judged by; a `level` of the stack is warned of violations."""
        state, setup = self.state(require_finite(self, row))
        if level:
            now = matrix_kernel(self.system, setup.inputs).one(*state, setup.p)
            warn_of_violations(self.system, now, *state[1:], level=level)
        with self._lock:
            basis = basis_at(setup, state)
            program = setup.program("acceleration", basis)
            pivots = np.abs(compiled(program)(**setup.named(program, state))["pivots"])
            if basis.damping:
                limits = np.concatenate([VOLUME * pivots[:2], MASS_PIVOT * pivots[2:]])
            else:
                rows = list(basis.rows)
                kernel = matrix_kernel(setup.system, setup.inputs)
                if kernel.large:
                    mobility = large.mobilities(kernel.sparse(*state, setup.p), basis.lifted)[rows]
                else:
                    now = setup.matrices(*state)
                    mobility = mobilities(now.M, now.A[rows], basis.lifted)
                own = HEALTHY * mobility
                limits = np.concatenate([own, MASS_PIVOT * pivots[len(rows) :]])
            if self.choice is None or better(self.choice, basis, pivots, limits):
                self.choice = Choice(basis, limits)

    def slowly(self, name: str, row: Array) -> Array:
        """A quantity where the guard refused its kernel: as `evaluate` finds it, or a refusal by name."""
        state, setup = self.state(require_finite(self, row))
        now = setup.matrices(*state)
        if not self.stands(name):
            return now.M if name == "M" else -now.Q
        self._asked += 1
        if self._asked == self._next:  # where rows fail for good, others are chosen; where they fail now and then, not
            self._next *= 2
            self.choose(row)
        solution = solved(self.system, now, *state[1:])
        found = {
            "acceleration": solution.acceleration,
            "multiplier": solution.multipliers,
            "constraint_force": solution.constraint_force,
        }
        return found[name]


def better(old: Choice, basis: RowBasis, pivots: Array, limits: Array) -> bool:
    """Whether rows chosen at a state serve there, and stand for as high a rank as those before."""
    return len(basis.rows) >= len(old.basis.rows) and bool((pivots > limits).all())


def vector(x: ArrayLike, name: str, system: System) -> Array:
    """Positions or velocities (n,), or a refusal by name."""
    found = numbers(x, name)
    n = len(system.coordinate_names)
    if found.shape != (n,):
        raise InputError(
            f"{name} has shape {found.shape}: give ({n},) numbers for {', '.join(system.coordinate_names)}"
        )
    return found


def require_finite(core: Core, row: Array) -> Array:
    """Refuse a packed state with something in it that is not a finite number, by its name."""
    bad = np.flatnonzero(~np.isfinite(row))
    if len(bad):
        names = core.system.coordinate_names
        called = ["t", *names, *(f"{name}'" for name in names), *core.inputs.names]
        raise InputError(f"{called[bad[0]]} = {row[bad[0]]} is not finite")
    return row
