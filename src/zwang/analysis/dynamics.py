"""A system with numbers and its first derivatives: what every analysis at a state begins with.

The states that obey the constraints form N = {φ = 0, φ̇ = 0, ψ = 0}. All derivatives are taken along N, never across:
rows that are redundant only where the constraints hold contradict each other beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.compile import Kernel, compile_program
from zwang.errors import InputError
from zwang.evaluation import limits, names_of, require_finite_matrices
from zwang.formulations.inputs import require_symmetric
from zwang.formulations.solve import require_consistent
from zwang.linalg.factors import Stack
from zwang.linalg.rank import row_norms, row_rank
from zwang.linalg.ranked import Ranked, ranked
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Lowered, Matrices, lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.perturbed import balance_program
from zwang.model import System
from zwang.model.signal import Signal
from zwang.model.symbols import label
from zwang.model.values import GivenValues, given_values, input_values, named_like, one_number

SINGULAR_CHANGE = 1e-6  # a share of dependent rows' changes by which they move apart: there the rank changes
FAR_BELOW = 1e-20  # coordinates below this share of the largest one are zero
ROUNDED_CHANGE = 1e3 * EPS  # the same of rounding, beside the terms that rows are made of
AT_SWITCH = 1e-9  # what a condition compares with zero is zero below this

RANK_CHANGES = "the rank of the constraints changes at this state, at {!r}: there is no derivative; move away from it"
_BALANCES: Kept[Kernel] = Kept()


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A system with numbers at a time, and which of its one-sided constraints are closed, by number.

    Those take part as if they were two-sided; others take none, as long as a state is not at their limit.
    """

    system: System
    values: GivenValues
    t: float
    closed: tuple[int, ...] = ()

    @cached_property
    def one_sided(self) -> Any:
        """(m,) which constraints are one-sided."""
        return np.array([c.one_sided for c in self.system.constraints], dtype=bool)

    @cached_property
    def two_sided(self) -> Indices:
        """The constraints that hold, closed ones included."""
        holds = ~self.one_sided
        holds[list(self.closed)] = True
        return np.flatnonzero(holds)

    @cached_property
    def order(self) -> Indices:
        """Of each two-sided constraint, how often coordinates are differentiated in it."""
        return np.array([self.system.constraints[i].order for i in self.two_sided], dtype=np.intp)

    @cached_property
    def lowered(self) -> Lowered:
        """The system in SymEngine."""
        return lower(self.system, self.values.inputs)

    @property
    def key(self) -> tuple[Any, ...]:
        """By what kernels of this system are kept."""
        return (self.system.structure, tuple(self.values.inputs.items()))

    @cached_property
    def balance(self) -> Kernel:
        """What the equation reads, and how that changes along a direction."""
        if self.system.reactions:
            name = self.system.constraint_names[next(iter(self.system.reactions))]
            raise InputError(
                f"nonideal forces depend on multiplier({name!r}): how such forces change is not derived here; leave "
                f"them out, or give them as functions of the state"
            )
        return _BALANCES.get(self.key, lambda: compile_program(balance_program(self.lowered), optimise=0))

    def matrices(self, q: Array, v: Array, t: float | None = None) -> Matrices:
        """M, Q, C, and of the two-sided constraints A, b and what they read."""
        now = self.all_matrices(q, v, t)
        if len(self.two_sided) == len(self.system.constraint_names):
            return now
        rows = self.two_sided
        of_rows = ("A", "b", "residual", "residual_rate", "size", "rate_size", "row_size")
        return Matrices(
            **{name: getattr(now, name)[rows] if name in of_rows else getattr(now, name) for name in vars(now)}
        )

    def all_matrices(self, q: Array, v: Array, t: float | None = None) -> Matrices:
        """The same with all constraints, one-sided ones that are open included."""
        return matrix_kernel(self.system, self.values.inputs)(self.t if t is None else t, q, v, self.values.p)

    def at(self, q: Array, v: Array, t: float | None = None) -> "Point":
        """The system at a state."""
        # an Euler parameter far below rounding is as light as its square: no factors could bear that
        q = np.where(np.abs(q) > FAR_BELOW * np.abs(q).max(initial=0.0), q, 0.0)
        now = self.matrices(q, v, t)
        require_finite_matrices(self.system, now)
        return Point(self, q, v, now, self.t if t is None else t)

    def beyond(self, q: Array, v: Array) -> Indices:
        """The one-sided constraints that are open, and whose limit a state exceeds."""
        if len(self.two_sided) == len(self.system.constraint_names):
            return np.zeros(0, dtype=np.intp)
        over = limits(self.system, self.all_matrices(q, v), q, v)[1]
        over[list(self.closed)] = False
        return np.flatnonzero(over)


def dynamics_of(system: System, parameters: Mapping[Any, Any] | None, t: float) -> Dynamics:
    """A system with numbers, from the values of parameters that a user gives."""
    values = given_values(system, parameters)
    if values.p.ndim != 1:
        raise InputError("parameters are arrays: give one value each here")
    return Dynamics(system, values, t)


def with_constants(
    system: System, parameters: Mapping[Any, Any] | None, t: float, inputs: Sequence[sp.Expr]
) -> dict[Any, Any]:
    """Parameters, with those known functions of time that are `inputs` held at their values at t."""
    given, functions = dict(parameters or {}), input_values(system, parameters)
    for f in inputs:
        if f in functions:
            for key in [key for key in given if named_like(key, [f]) is not None]:
                del given[key]
            given |= {f: constant_of(f), constant_of(f): value_at(f, functions[f], system, parameters, t)}
    return given


def constant_of(f: sp.Expr) -> sp.Symbol:
    """The parameter that stands for a known function of time while it is held."""
    return sp.Symbol(f"{label(f)}(t)")


def value_at(f: sp.Expr, value: Any, system: System, parameters: Mapping[Any, Any] | None, t: float) -> float:
    """What a known function of time is at an instant; zero where nothing is said."""
    if value is None:
        return 0.0
    if isinstance(value, Signal):
        return float(value(t))
    from zwang.model.symbols import t as time

    known = dict(system.parameters) | {named_like(k, system.parameters) or k: x for k, x in (parameters or {}).items()}
    numbers = {s: one_number(known[s], str(s)) for s in value.free_symbols - {time} if known.get(s) is not None}
    found = value.xreplace(numbers | {time: sp.Float(t)}).evalf()
    if not found.is_number:
        missing = sorted(map(str, found.free_symbols))
        raise InputError(f"{label(f)} = {value} has no number at t = {t:g}: give a value to {', '.join(missing)}")
    return float(found)


@dataclass(frozen=True, eq=False)
class Change:
    """How accelerations and reactions change along some directions, each a row."""

    a: Array
    """(d, n)"""
    multipliers: Array
    """(d, m) of all constraints, those of least length"""
    force: Array
    """(d, n) the force of constraint"""


@dataclass(frozen=True, eq=False)
class Point:
    """A system at a state: its matrices there, acceleration, multipliers, and derivatives along N."""

    dynamics: Dynamics
    q: Array
    v: Array
    now: Matrices
    t: float

    @cached_property
    def ranked(self) -> Ranked:
        """The rank of the constraints, with factors."""
        require_symmetric(self.now.M)
        return ranked(self.now.M, self.now.A, self.dynamics.system.coordinate_names)

    @cached_property
    def units(self) -> Array:
        """(n,) units of equal mass."""
        return self.ranked.units

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        """q̈ and the multipliers of the independent rows; constraints that contradict each other are refused."""
        now, factors = self.now, self.ranked.factors
        force, b = (now.Q + now.C)[None], now.b[None]
        x, lam = factors.solve(force, b)
        rows = np.array(names_of(self.dynamics.system).rows)[self.dynamics.two_sided]
        names = type(names_of(self.dynamics.system))(self.dynamics.system.coordinate_names, tuple(rows))
        require_consistent(factors, force, now.A[None], b, x, names, Stack(np.arange(1), ()))
        return x[0], lam[0]

    @property
    def a(self) -> Array:
        """(n,) the acceleration."""
        return self._solution[0]

    @cached_property
    def rounding(self) -> Array:
        """(n,) sizes of what the acceleration is made of, times the precision of doubles."""
        terms = self.ranked.factors.terms((self.now.Q + self.now.C)[None], self.a[None])[0]
        return np.asarray(EPS * terms)

    @cached_property
    def all_multipliers(self) -> tuple[Array, Any]:
        """Multipliers of least length, of all constraints, and which of them are unique."""
        lam, _, unique = self.ranked.factors.all_multipliers(self._solution[1][None])
        m = len(self.dynamics.system.constraint_names)
        whole, flags = np.zeros(m), np.ones(m, dtype=bool)
        whole[self.dynamics.two_sided], flags[self.dynamics.two_sided] = lam[0], unique[0]
        return whole, flags

    @property
    def multipliers(self) -> Array:
        """(m,) those multipliers."""
        return self.all_multipliers[0]

    # Derivatives

    @cached_property
    def _held(self) -> dict[str, Array]:
        lam, rows = self.multipliers[self.dynamics.two_sided], self.ranked.factors.rows[0]
        w = np.linalg.lstsq(self.now.A[rows], lam[rows], rcond=None)[0] if len(rows) else np.zeros_like(self.q)
        return {
            "t": np.array([self.t]),
            "q": self.q,
            "v": self.v,
            "p": self.dynamics.values.p,
            "a": self.a,
            "lam": self.multipliers,
            "w": w,
        }

    def read(self, dq: Array, dv: Array, dp: Array | None = None) -> dict[str, Array]:
        """How everything reads along directions (d, n), (d, n) and (d, k), with q̈ and λ held."""
        p = self.dynamics.values.p
        dp = np.zeros((len(dq), len(p))) if dp is None else dp
        with np.errstate(all="ignore"):
            found = self.dynamics.balance(**self._held, dq=dq, dv=dv, dp=dp)
        return {name: x[:, 0] if name.startswith("d_") else x for name, x in found.items()}

    def change(self, dq: Array, dv: Array, dp: Array | None = None) -> Change:
        """How q̈ and the reactions change along directions on N, each a row, by the same factors."""
        found, rows = self.read(dq, dv, dp), self.dynamics.two_sided
        factors, A = self.ranked.factors, self.now.A
        missing = found["d_missing"][:, rows]
        da, dlam = factors.solve_many(found["d_force"], missing)
        self._require_constant_rank(slice(None), missing, da)
        system = self.dynamics.system
        multipliers = np.zeros((len(dq), len(system.constraint_names)))
        if len(rows):
            multipliers[:, rows] = self._shared(dlam, found["d_pushed"][:, rows])
        return Change(da, multipliers, found["d_reaction"] + multipliers[:, rows] @ A)

    def _shared(self, lam: Array, pushed: Array) -> Array:
        """Changes of all multipliers (d, m) from those of independent rows: of least length they remain.

        With Aᵀλ = f and P onto null Aᵀ: δλ = (Aᵀ)⁺(δf − δAᵀλ) + P δA A⁺λ.
        """
        factors = self.ranked.factors
        if factors.rank == len(self.now.A):
            return lam
        family = factors.dependence
        direct = np.zeros((len(lam), len(self.now.A)))
        direct[:, factors.rows[0]] = lam
        shared = np.where(family.unique[0], direct, lam @ family.inverse[0])
        N = family.null_space[0]
        return np.asarray(shared + pushed @ N @ N.T)

    def _require_constant_rank(self, rows: Any, wanted: Array, found: Array) -> None:
        """Refuse where rows that depend on each other here do not do so beside this state: A x = wanted, x found."""
        A = self.now.A[rows]
        if not len(A):
            return
        scale = row_norms(A)
        missed = np.abs(wanted - found @ A.T) / scale
        size = (np.abs(wanted) + np.abs(found) @ np.abs(A).T) / scale
        largest = np.abs(found * self.units).max(axis=1, initial=0.0)[:, None]
        rounding = ROUNDED_CHANGE * largest * (self.now.row_size[rows] / self.units).sum(axis=1) / scale
        bad = missed > SINGULAR_CHANGE * max(size.max(initial=0.0), TINIEST) + rounding
        if bad.any():
            names = np.array(self.dynamics.system.constraint_names)[self.dynamics.two_sided][rows]
            raise InputError(RANK_CHANGES.format(str(names[int(np.argwhere(bad)[0][1])])))

    @cached_property
    def tangent(self) -> "Tangent":
        """Directions that span the tangent space of N."""
        order, n = self.dynamics.order, len(self.q)
        holonomic, first = order == 0, order <= 1
        whole = RowSpace.of(self.now.A[first], self.units, self.ranked.rank if first.all() else None)
        free = whole if holonomic.sum() == first.sum() else RowSpace.of(self.now.A[holonomic], self.units)
        along = np.zeros((len(free.free), len(whole.scale)))
        if self.v.any() or not holonomic.all():
            read = self.read(free.free, np.zeros_like(free.free))
            along = read["d_residual_rate"][:, self.dynamics.two_sided[first]]
        beside = -whole.shortest(along)
        self._require_constant_rank(first, -along, beside)
        dq = np.vstack([free.free, np.zeros((len(whole.free), n))])
        return Tangent(dq, np.vstack([beside, whole.free]), len(free.free))

    def require_regular(self) -> None:
        """Refuse a state beside which rows are independent that depend on each other here; elsewhere Nᵀ δA Z = 0."""
        # N are combinations of rows that vanish, Z what all leave free; one vector w stands for all of it
        A, rank = self.now.A, self.ranked.rank
        free = RowSpace.of(A, self.units, rank).free if len(A) else A
        if rank == len(A) or not len(free):
            return
        w = np.random.default_rng(0).standard_normal(len(free)) @ free
        dq = self.tangent.dq[: self.tangent.positions]
        held = self._held | {"w": w, "dq": dq, "dv": np.zeros_like(dq), "dp": np.zeros((len(dq), len(self._held["p"])))}
        scaled = A / self.units
        scale = row_norms(scaled)
        turned = self.dynamics.balance(**held)["d_pushed"][:, 0, self.dynamics.two_sided] / scale
        N = np.linalg.svd(scaled / scale[:, None])[0][:, rank:]
        reach = np.abs(dq).max(initial=0.0) / max(np.abs(self.q).max(initial=0.0), TINIEST)
        rounding = ROUNDED_CHANGE * float((self.now.row_size @ np.abs(w) / scale).max()) * reach
        if np.abs(turned @ N).max(initial=0.0) > SINGULAR_CHANGE * np.abs(turned).max(initial=0.0) + rounding:
            worst = self.dynamics.two_sided[int(np.abs(N).max(axis=1).argmax())]
            raise InputError(RANK_CHANGES.format(self.dynamics.system.constraint_names[worst]))

    def require_smooth(self) -> None:
        """Refuse a state at which a condition of the model switches."""
        if not self.dynamics.lowered.description.switching:
            return
        nothing = np.zeros((1, len(self.q)))
        arguments = self.read(nothing, nothing)["switches"][0]
        if (np.abs(arguments) <= AT_SWITCH).any():
            raise InputError(
                "the equations switch at this state, from one formula to another: there is no derivative; move the "
                "state off the switch, or replace sign, Abs or Piecewise by something smooth"
            )


@dataclass(frozen=True, eq=False)
class Tangent:
    """Directions (d, n) and (d, n) that span a tangent space, the first `positions` of them moving coordinates."""

    dq: Array
    dv: Array
    positions: int

    @property
    def rows(self) -> Array:
        """(d, 2n)"""
        return np.hstack([self.dq, self.dv])


def unchanged(point: Point, count: int) -> Change:
    """Directions along which neither accelerations nor reactions change."""
    zero = np.zeros((count, len(point.q)))
    return Change(zero, np.zeros((count, len(point.dynamics.system.constraint_names))), zero)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Rows of A (m, n) of rank r taken apart in given units: A = scale · U s Vᵀ · units."""

    scale: Array
    units: Array
    inverse: Array
    """(n, m) from right-hand sides, rows at unit length, to the shortest solutions"""
    free: Array
    """(n − r, n) directions that the rows leave free, orthonormal in these units"""

    @classmethod
    def of(cls, A: Array, units: Array, rank: int | None = None) -> "RowSpace":
        """Taken apart; the rank is decided as everywhere, if it is not known."""
        n = len(units)
        if not len(A):
            return cls(np.ones(0), units, np.zeros((n, 0)), np.diag(1 / units))
        scaled = A / units
        rank = int(row_rank(scaled[None])[0]) if rank is None else rank
        scale = row_norms(scaled)
        U, s, Vt = np.linalg.svd(scaled / scale[:, None])
        inverse = Vt[:rank].T / s[:rank] @ U[:, :rank].T
        return cls(scale, units, inverse / units[:, None], Vt[rank:] / units)

    def shortest(self, b: Array) -> Array:
        """(k, n) the shortest x with A x = b (k, m), as near as dependent rows allow."""
        return np.asarray((b / self.scale) @ self.inverse.T)
