"""A system with numbers and its first derivatives: what every analysis at a state begins with.

The states that obey the constraints form N = {φ = 0, φ̇ = 0, ψ = 0}. All derivatives are taken along N, never across:
rows that are redundant only where the constraints hold contradict each other beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.tangent import RowSpace, Tangent
from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.compile import Kernel, compile_program
from zwang.errors import InputError
from zwang.evaluation import limits, names_of, require_finite_matrices
from zwang.formulations.inputs import require_symmetric
from zwang.formulations.solve import require_consistent
from zwang.linalg.factors import Stack, dot
from zwang.linalg.rank import row_norms, take, take_rows
from zwang.linalg.ranked import Ranked, ranked
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Lowered, Matrices, lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.perturbed import balance_program
from zwang.model import System
from zwang.model.values import GivenValues, given_values, numbers
from zwang.results.evaluate_along import unused_values

SINGULAR_CHANGE = 1e-6  # a share of dependent rows' changes by which they move apart: there the rank changes
ROUNDED_CHANGE = 1e3 * EPS  # the same of rounding, beside the terms that rows are made of
TO_BOTH_SIDES = 1e-9  # natural units to both sides of a switch
ALIKE = 1e-6  # share of the largest slope by which slopes may differ there, where nothing switches to first order
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
    def spare(self) -> dict[sp.Symbol, Array]:
        """Parameters that do not occur in the system, each with its value (…): readings may use them."""
        unused = unused_values(self.system, self.values.given, self.values.symbols)
        return {s: numbers(value, str(s)) for s, value in unused.items()}

    @cached_property
    def all_p(self) -> Array:
        """(…, k + s) values of the parameters, then of the spare ones."""
        p = self.values.p
        spare = np.stack(np.broadcast_arrays(*self.spare.values()), axis=-1) if self.spare else np.zeros(0)
        shape = np.broadcast_shapes(p.shape[:-1], spare.shape[:-1])
        return np.concatenate([np.broadcast_to(x, (*shape, x.shape[-1])) for x in (p, spare)], axis=-1)

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
        """The system at a state, or at a stack of states (…, n); then its parameters may be one, too."""
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
    dynamics = Dynamics(system, given_values(system, parameters), t)
    if dynamics.all_p.ndim != 1:
        raise InputError("parameters are arrays: give one value each here")
    return dynamics


@dataclass(frozen=True, eq=False)
class Change:
    """How accelerations and reactions change along some directions, each a row."""

    a: Array
    """(…, d, n)"""
    multipliers: Array
    """(…, d, m) of all constraints, those of least length"""
    force: Array
    """(…, d, n) the force of constraint"""


@dataclass(frozen=True, eq=False)
class Point:
    """A system at a state: its matrices there, acceleration, multipliers, and derivatives along N.

    Several states of one kind, with the rows of one rank, are a stack: a leading axis, … below, everywhere.
    """

    dynamics: Dynamics
    q: Array
    v: Array
    now: Matrices
    t: float

    @property
    def _stack(self) -> tuple[int, ...]:
        """The shape of the stack; empty for one state."""
        return self.q.shape[:-1]

    def _flat(self, x: Array) -> Array:
        """Arrays as factors take them: a stack of one, if there is none."""
        return x if self._stack else x[None]

    def _back(self, x: Any) -> Any:
        """The same the other way round."""
        return x if self._stack else x[0]

    @cached_property
    def ranked(self) -> Ranked:
        """The rank of the constraints, with factors."""
        require_symmetric(self.now.M)
        return ranked(self.now.M, self.now.A, self.dynamics.system.coordinate_names)

    @cached_property
    def units(self) -> Array:
        """(…, n) units of equal mass."""
        return self.ranked.units

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        """q̈ and the multipliers of the independent rows; constraints that contradict each other are refused."""
        now, factors = self.now, self.ranked.factors
        force, A, b = map(self._flat, (now.Q + now.C, now.A, now.b))
        x, lam = factors.solve(force, b)
        rows = np.array(names_of(self.dynamics.system).rows)[self.dynamics.two_sided]
        names = type(names_of(self.dynamics.system))(self.dynamics.system.coordinate_names, tuple(rows))
        require_consistent(factors, force, A, b, x, names, Stack(np.arange(len(x)), self._stack))
        return self._back(x), self._back(lam)

    @property
    def a(self) -> Array:
        """(…, n) the acceleration."""
        return self._solution[0]

    @cached_property
    def rounding(self) -> Array:
        """(…, n) sizes of what the acceleration is made of, times the precision of doubles."""
        terms = self.ranked.factors.terms(self._flat(self.now.Q + self.now.C), self._flat(self.a))
        return np.asarray(EPS * self._back(terms))

    @cached_property
    def all_multipliers(self) -> tuple[Array, Any]:
        """Multipliers of least length, of all constraints, and which of them are unique."""
        lam, _, unique = self.ranked.factors.all_multipliers(self._flat(self._solution[1]))
        shape = (*self._stack, len(self.dynamics.system.constraint_names))
        whole, flags, rows = np.zeros(shape), np.ones(shape, dtype=bool), self.dynamics.two_sided
        whole[..., rows], flags[..., rows] = self._back(lam), self._back(unique)
        return whole, flags

    @property
    def multipliers(self) -> Array:
        """(…, m) those multipliers."""
        return self.all_multipliers[0]

    # Derivatives

    @cached_property
    def _held(self) -> dict[str, Array]:
        """What is held while directions vary, with an axis for these."""
        lam, rows = self.multipliers[..., self.dynamics.two_sided], self.ranked.factors.rows
        G, own = take_rows(self._flat(self.now.A), rows), take(self._flat(lam), rows)
        scale = row_norms(G)
        w = dot(np.asarray(np.linalg.pinv(G / scale[..., None])), own / scale)  # A⁺λ
        held = {
            "q": self.q,
            "v": self.v,
            "p": self.dynamics.values.p,
            "a": self.a,
            "lam": self.multipliers,
            "w": self._back(w),
        }
        return {"t": np.array([self.t])} | {name: x[..., None, :] for name, x in held.items()}

    def read(self, dq: Array, dv: Array, dp: Array | None = None) -> dict[str, Array]:
        """How everything reads along directions (…, d, n), (…, d, n) and (…, d, k), with q̈ and λ held."""
        dp = np.zeros((dq.shape[-2], self.dynamics.values.p.shape[-1])) if dp is None else dp
        with np.errstate(all="ignore"):
            found = self.dynamics.balance(**self._held, dq=dq, dv=dv, dp=dp)
        return {name: x[..., 0, :] if name.startswith("d_") else x for name, x in found.items()}

    def change(self, dq: Array, dv: Array, dp: Array | None = None) -> Change:
        """How q̈ and the reactions change along directions on N, each a row, by the same factors."""
        found, rows = self.read(dq, dv, dp), self.dynamics.two_sided
        missing = found["d_missing"][..., rows]
        da, dlam = self.ranked.factors.solve_many(found["d_force"], missing)
        self._require_constant_rank(slice(None), missing, da)
        multipliers = np.zeros((*da.shape[:-1], len(self.dynamics.system.constraint_names)))
        if len(rows):
            multipliers[..., rows] = self._shared(dlam, found["d_pushed"][..., rows])
        return Change(da, multipliers, found["d_reaction"] + multipliers[..., rows] @ self.now.A)

    def _shared(self, lam: Array, pushed: Array) -> Array:
        """Changes of all multipliers (…, d, m) from those of independent rows: of least length they remain.

        With Aᵀλ = f and P onto null Aᵀ: δλ = (Aᵀ)⁺(δf − δAᵀλ) + P δA A⁺λ.
        """
        factors = self.ranked.factors
        if factors.rank == self.now.A.shape[-2]:
            return lam
        family, own = factors.dependence, self._flat(lam)
        direct = np.zeros((*own.shape[:-1], self.now.A.shape[-2]))
        np.put_along_axis(direct, np.broadcast_to(factors.rows[:, None], own.shape), own, axis=-1)
        shared = np.where(family.unique[:, None], direct, own @ family.inverse)
        N = family.null_space
        return np.asarray(self._back(shared + self._flat(pushed) @ N @ N.mT))

    def _require_constant_rank(self, rows: Any, wanted: Array, found: Array) -> None:
        """Refuse where rows that depend on each other here do not do so beside this state: A x = wanted, x found."""
        A = self.now.A[..., rows, :]
        if not A.shape[-2]:
            return
        scale, units = row_norms(A)[..., None, :], self.units[..., None, :]
        missed = np.abs(wanted - found @ A.mT) / scale
        size = (np.abs(wanted) + np.abs(found) @ np.abs(A).mT) / scale
        largest = np.abs(found * units).max(axis=-1, initial=0.0, keepdims=True)
        terms = (self.now.row_size[..., rows, :] / units).sum(axis=-1)[..., None, :]
        most = np.maximum(size.max(axis=(-2, -1), initial=0.0, keepdims=True), TINIEST)
        bad = missed > SINGULAR_CHANGE * most + ROUNDED_CHANGE * largest * terms / scale
        if bad.any():
            names = np.array(self.dynamics.system.constraint_names)[self.dynamics.two_sided][rows]
            raise InputError(RANK_CHANGES.format(str(names[int(np.argwhere(bad)[0][-1])])))

    @cached_property
    def tangent(self) -> Tangent:
        """Directions that span the tangent space of N."""
        order, A = self.dynamics.order, self.now.A
        holonomic, first = order == 0, order <= 1
        whole = RowSpace.of(A[..., first, :], self.units, self.ranked.rank if first.all() else None)
        free = whole if holonomic.sum() == first.sum() else RowSpace.of(A[..., holonomic, :], self.units)
        along = np.zeros((*free.free.shape[:-1], whole.scale.shape[-1]))
        if self.v.any() or not holonomic.all():
            read = self.read(free.free, np.zeros_like(free.free))
            along = read["d_residual_rate"][..., self.dynamics.two_sided[first]]
        beside = -whole.shortest(along)
        self._require_constant_rank(first, -along, beside)
        dq = np.concatenate([free.free, np.zeros_like(whole.free)], axis=-2)
        return Tangent(dq, np.concatenate([beside, whole.free], axis=-2), free.free.shape[-2])

    def require_regular(self) -> None:
        """Refuse a state beside which rows are independent that depend on each other here; elsewhere Nᵀ δA Z = 0."""
        # N are combinations of rows that vanish, Z what all leave free; one vector w stands for all of it
        A, rank = self.now.A, self.ranked.rank
        if rank == A.shape[-2] or rank == A.shape[-1]:
            return
        free = RowSpace.of(A, self.units, rank).free
        w = np.random.default_rng(0).standard_normal(free.shape[-2]) @ free
        dq = self.tangent.dq[..., : self.tangent.positions, :]
        nothing = np.zeros((dq.shape[-2], self.dynamics.values.p.shape[-1]))
        held = self._held | {"w": w[..., None, :], "dq": dq, "dv": np.zeros_like(dq), "dp": nothing}
        scaled = A / self.units[..., None, :]
        scale = row_norms(scaled)
        turned = self.dynamics.balance(**held)["d_pushed"][..., 0, self.dynamics.two_sided] / scale[..., None, :]
        N = np.linalg.svd(scaled / scale[..., None])[0][..., rank:]
        reach = np.abs(dq).max(axis=(-2, -1), initial=0.0)
        reach = reach / np.maximum(np.abs(self.q).max(axis=-1, initial=0.0), TINIEST)
        terms = np.einsum("...ij,...j->...i", self.now.row_size, np.abs(w)) / scale
        rounding = ROUNDED_CHANGE * terms.max(axis=-1) * reach
        apart = np.abs(turned @ N).max(axis=(-2, -1), initial=0.0)
        if (apart > SINGULAR_CHANGE * np.abs(turned).max(axis=(-2, -1), initial=0.0) + rounding).any():
            share = np.abs(N).max(axis=-1).reshape(-1, len(self.dynamics.two_sided))[0]
            name = self.dynamics.system.constraint_names[self.dynamics.two_sided[int(share.argmax())]]
            raise InputError(RANK_CHANGES.format(name))

    def _alike_beside(self) -> bool:
        """Whether the equations and their slopes are the same on both sides of this one state, as those of |v| v."""
        tangent, rng = self.tangent, np.random.default_rng(0)
        step = TO_BOTH_SIDES * max(1.0, float(np.abs(self.q * self.units).max(initial=0.0)))
        nothing = np.zeros((len(tangent.dq), self.dynamics.values.p.shape[-1]))

        def beside(way: Array) -> dict[str, Array]:
            q, v = self.q + way @ tangent.dq, self.v + way @ tangent.dv
            with np.errstate(all="ignore"):
                held = self._held | {"q": q[None], "v": v[None]}
                return self.dynamics.balance(**held, dq=tangent.dq, dv=tangent.dv, dp=nothing)

        for way in step * rng.standard_normal((2, len(tangent.dq))):
            here, there = beside(way), beside(-way)
            gap = {name: float(np.abs(here[name] - there[name]).max(initial=0.0)) for name in here}
            slope = max(float(np.abs(here[name]).max(initial=0.0)) for name in ("d_force", "d_missing"))
            steady = max(gap["force"], gap["missing"]) <= 100 * step * slope
            if not (steady and max(gap["d_force"], gap["d_missing"]) <= ALIKE * slope):
                return False
        return True

    def require_smooth(self) -> None:
        """Refuse a state at which a condition of the model switches."""
        if not self.dynamics.lowered.description.switching:
            return
        nothing = np.zeros((1, self.q.shape[-1]))
        at_switch = (np.abs(self.read(nothing, nothing)["switches"]) <= AT_SWITCH).any()
        if at_switch and (self._stack or not self._alike_beside()):
            raise InputError(
                "the equations switch at this state, from one formula to another: there is no derivative; move the "
                "state off the switch, or replace sign, Abs or Piecewise by something smooth"
            )


def unchanged(point: Point, count: int) -> Change:
    """Directions along which neither accelerations nor reactions change."""
    stack, n = point.q.shape[:-1], point.q.shape[-1]
    zero = np.zeros((*stack, count, n))
    return Change(zero, np.zeros((*stack, count, len(point.dynamics.system.constraint_names))), zero)
