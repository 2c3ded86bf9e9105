"""The acceleration at a state from the energies and constraints themselves, by another way than the motion's.

What is integrated comes from one derivation of M, Q, A and b in SymEngine, so that all forms and engines share its
mistakes, if it has any. Here nothing is derived: the description is evaluated as it stands, with ninety digits, and
differentiated by differences, of steps so small that they are exact to twenty digits:

    M = ∂²T/∂q̇²,  Q = F + ∂(T − V)/∂q − d/dτ ∂T/∂q̇,  A = ∂φ/∂q, ∂ψ/∂q̇ or ∂χ/∂q̈,  b = −φ̈, −ψ̇ or −χ

with d/dτ along q + q̇τ, q̇, t + τ. The equations are then solved in NumPy, on the null space of A.
"""

import operator
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import nan
from typing import TYPE_CHECKING, Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef

from zwang.arrays import Array
from zwang.errors import InputError, ZwangError
from zwang.generic_rank import natural_units
from zwang.model import System
from zwang.model.has_system import HasSystem, system_of
from zwang.model.identity import CONDITIONS, MPMATH
from zwang.model.signal import signals_in
from zwang.model.symbols import rates, t
from zwang.model.values import input_values, parameter_values

if TYPE_CHECKING:
    import xarray as xr

DIGITS = 90
STEP = mpmath.mpf(2) ** -66  # 1e-20, the error of a difference; a second one is rounded to ninety digits less forty
ROUNDED_INERTIA = 1e-30  # an inertia that is this small beside the largest is rounding
CHECKED_STATES = 9  # saved states at which a motion is compared, as far as the budget lasts
CHECK_BUDGET = 5.0  # seconds of processor time
OPERATION = 2e-6  # seconds that an operation with ninety digits takes
SMALLEST = 1e-3  # accelerations that are this small beside the largest, in natural units, count as large as this
MOST_SECANTS = 50
SAME_MULTIPLIERS = 1e-15  # of multipliers: a change by less is none
DEPENDENT = 1e-9  # singular values of unit rows below this share of the largest count as zero

# What is computed from arguments.
OPERATIONS: dict[str, Callable[..., Any]] = {
    **MPMATH,
    **CONDITIONS,
    "Add": lambda *args: mpmath.fsum(args),
    "Mul": lambda *args: reduce(operator.mul, args),
    "Pow": operator.pow,
    "ExprCondPair": lambda value, condition: (value, condition),
    "Piecewise": lambda *pieces: next((value for value, condition in pieces if condition), mpmath.nan),
}


@dataclass(frozen=True)
class DerivationRow:
    """The accelerations of a motion beside those that the description itself gives, without any derivation."""

    error: float
    """Largest disagreement of the acceleration, of each coordinate relative to its own size; NaN if not compared.

    One that hardly accelerates counts as if it did a little, in units that make lengths and angles comparable.
    """
    states: int
    seconds: float
    note: str = ""


def compare_derivation(
    system: System | HasSystem, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None = None
) -> DerivationRow:
    """The accelerations of a motion beside those from its energies and constraints, by differences at saved states.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> slide = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=9.81*y, constraints=[x - y])
    >>> motion = zw.simulate(slide, {x: 0, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=1)
    >>> compare_derivation(slide, motion).error < 1e-12
    True
    """
    system = system_of(system, "compare_derivation", parameters)
    began, saved = clock.thread_time(), motion.sizes["time"]
    if not saved:
        return DerivationRow(nan, 0, 0.0, "the motion has no saved states")
    if any(c.friction for c in system.constraints):
        return DerivationRow(nan, 0, 0.0, "left out: friction of contacts is not derived a second time")
    try:
        description = Independent.of(system, parameters)
        if description.operations() * OPERATION > CHECK_BUDGET:
            return DerivationRow(
                nan, 0, 0.0, f"left out: it takes long with {len(system.coordinate_names)} coordinates"
            )
        known = motion.a.values
        inertia, pairs = np.zeros(len(system.coordinate_names)), []
        free = np.flatnonzero(~held_on_switches(motion))
        if not len(free):
            return DerivationRow(nan, 0, 0.0, "left out: what holds switches at rest is not derived a second time")
        for i in free[np.unique(np.linspace(0, len(free) - 1, CHECKED_STATES).astype(int))]:
            now = description.at(motion.time.values[i], motion.q.values[i], motion.v.values[i])
            now = without_open(system, now, motion, int(i))
            if now.finite and np.isfinite(known[i]).all():
                pairs.append((now.acceleration(), known[i]))
                inertia = np.maximum(inertia, np.sqrt(np.abs(np.diag(now.M))))
            if clock.thread_time() - began > CHECK_BUDGET:
                break
    except ZwangError as refusal:
        return DerivationRow(nan, 0, clock.thread_time() - began, f"refused: {refusal}")
    seconds = clock.thread_time() - began
    if not pairs:
        return DerivationRow(nan, 0, seconds, "at no saved state is the acceleration finite")
    found, wanted = np.array(pairs).swapaxes(0, 1)
    size = np.abs(wanted).max(axis=0)
    size = np.maximum(size, SMALLEST * natural_units(inertia, size))
    return DerivationRow(float((np.abs(found - wanted) / size).max()), len(pairs), seconds)


def held_on_switches(motion: "xr.Dataset") -> NDArray[np.bool_]:
    """(time,) whether something rests on a switch at a saved time: what holds it is between what both sides say."""
    times = motion.time.values
    held = np.zeros(len(times), dtype=bool)
    if "rest_begin" in motion:
        for begin, end in zip(motion.rest_begin.values, motion.rest_end.values, strict=True):
            held |= (times >= min(begin, end)) & (times <= max(begin, end))
    return held


@dataclass(frozen=True)
class Tape:
    """Expressions as a list of operations on numbers: the first places are those of t, q, q̇, q̈ and the parameters."""

    operations: list[tuple[Callable[..., Any], tuple[int, ...]]]
    roots: list[int]

    @classmethod
    def of(cls, expressions: Sequence[sp.Basic], places: Sequence[sp.Basic]) -> "Tape":
        """The tape of some expressions; a subexpression that occurs often is computed once."""
        place = {e: i for i, e in enumerate(places)}
        operations: list[tuple[Callable[..., Any], tuple[int, ...]]] = []

        ahead = list(expressions)
        while ahead:  # arguments before what is made of them; no recursion, which long expressions would exhaust
            e = ahead[-1]
            waiting = [] if e in place or e.is_Atom else [x for x in e.args if x not in place]
            if waiting:
                ahead += waiting
                continue
            ahead.pop()
            if e not in place:
                operations.append((operation(e), () if e.is_Atom else tuple(place[x] for x in e.args)))
                place[e] = len(places) + len(operations) - 1
        return cls(operations, [place[e] for e in expressions])

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The expressions at the given numbers; NaN where one has no real value."""
        numbers = list(values)
        for work, arguments in self.operations:
            try:
                found = work(*[numbers[i] for i in arguments])
            except (ArithmeticError, ValueError, TypeError):  # TypeError: complex numbers have no order
                found = mpmath.nan
            numbers.append(found)
        return [mpmath.nan if isinstance(numbers[i], mpmath.mpc) else numbers[i] for i in self.roots]


def operation(e: sp.Basic) -> Callable[..., Any]:
    """What computes an expression from its arguments; a number from none."""
    if e in (sp.true, sp.false):
        truth = bool(e)
        return lambda: truth
    if e.is_Atom:
        if not e.is_number:
            raise InputError(f"{e} has no value")
        if e.is_Rational:
            value = int(e) if e.is_Integer else mpmath.mpf(e.p) / e.q
        else:
            value = mpmath.mpf(e._mpf_ if e.is_Float else sp.N(e, DIGITS)._mpf_)
        return lambda: value
    name = type(e).__name__
    if name == "Pow" and e.exp == sp.S.Half:
        return lambda x, _half: mpmath.sqrt(x)
    work = OPERATIONS.get(name)
    if work is None or isinstance(e, AppliedUndef):
        raise InputError(f"{e} cannot be evaluated with {DIGITS} digits")
    return work


@dataclass(frozen=True)
class EquationsInNumbers:
    """M (n, n), Q (n,), A (m, n) and b (m,) at a state; a nonideal force is part of Q."""

    M: Array
    Q: Array
    A: Array
    b: Array

    @property
    def finite(self) -> bool:
        """Whether all entries of M, Q, A and b are finite."""
        return all(np.isfinite(x).all() for x in (self.M, self.Q, self.A, self.b))

    def acceleration(self) -> Array:
        """q̈ (n,): a particular solution of A q̈ = b, and on the null space of A what M q̈ = Q asks for."""
        inertia = np.diag(self.M)
        D = np.sqrt(np.where(inertia > ROUNDED_INERTIA * inertia.max(), inertia, 1.0))
        M, Q, A = self.M / D / D[:, None], self.Q / D, self.A / D
        length = np.linalg.norm(A, axis=1)
        length = np.where(length > 0, length, 1.0)
        U, s, Vt = np.linalg.svd(A / length[:, None])
        rank = int(np.count_nonzero(s > DEPENDENT * s.max(initial=0.0)))
        fixed = Vt[:rank].T @ (U.T[:rank] @ (self.b / length) / s[:rank])
        Z = Vt[rank:].T
        free = np.linalg.lstsq(Z.T @ M @ Z, Z.T @ (Q - M @ fixed), rcond=None)[0] if Z.shape[1] else np.zeros(0)
        return np.asarray((fixed + Z @ free) / D)

    def multipliers(self) -> Array:
        """λ (m,) of least length with M q̈ = Q + Aᵀλ."""
        return np.asarray(np.linalg.lstsq(self.A.T, self.M @ self.acceleration() - self.Q, rcond=None)[0])

    def with_friction(self, nonideal: Callable[[Array], Array], rows: list[int]) -> "EquationsInNumbers":
        """The same with nonideal forces that depend on some multipliers: these are where C gives them back.

        By the method of secants in all directions (Broyden's), which asks for no derivative.
        """
        if not self.finite:
            return self

        def off(lam: Array) -> Array:
            return replace(self, Q=self.Q + nonideal(lam)).multipliers()[rows] - lam

        lam = self.multipliers()[rows]
        J, missing = -np.eye(len(rows)), off(lam)
        for _ in range(MOST_SECANTS):
            change = -np.linalg.lstsq(J, missing, rcond=None)[0]
            if not np.isfinite(change).all() or np.abs(change).sum() <= SAME_MULTIPLIERS * np.abs(lam).sum():
                break
            lam = lam + change
            after = off(lam)
            J = J + np.outer(after - missing - J @ change, change) / (change @ change)
            missing = after
        return replace(self, Q=self.Q + nonideal(lam))


def without_open(system: System, now: EquationsInNumbers, motion: "xr.Dataset", i: int) -> EquationsInNumbers:
    """The equations without the rows of contacts that are open at a saved state."""
    if "contact" not in motion.dims:
        return now
    modes = dict(zip(motion.contact.values.tolist(), motion["mode"].values[i].tolist(), strict=True))
    rows = [k for k, name in enumerate(system.constraint_names) if modes.get(name) != "open"]
    return replace(now, A=now.A[rows], b=now.b[rows])


@dataclass(frozen=True)
class Independent:
    """A system with values of its parameters, ready to be evaluated as it was described."""

    system: System
    values: dict[sp.Symbol, float]
    inputs: dict[sp.Expr, Any]

    @classmethod
    def of(cls, system: System, parameters: Mapping[Any, Any] | None) -> "Independent":
        """A system with the given values of its parameters, one of each."""
        p, inputs = parameter_values(system, parameters)
        values = dict(zip(system.symbols_with(inputs), map(float, p), strict=True))
        return cls(system, values, input_values(system, parameters))

    def operations(self) -> int:
        """About how many operations a state takes."""
        L, forces, mass, constraints = (0 if tape is None else len(tape.operations) for tape in self._tapes(0.0))
        n = len(self.system.coordinate_names)
        return (n * (n + 1) // 2 + 3 * n + 2) * L * (mass == 0) + forces + mass + (3 * n + 3) * constraints

    def at(self, time: float, q: Array, v: Array) -> EquationsInNumbers:
        """The equations of motion at a state."""
        with mpmath.workdps(DIGITS):
            return self._at(time, q, v)

    def _at(self, time: float, q: Array, v: Array) -> EquationsInNumbers:
        system, n = self.system, len(q)
        L, forces, mass, constraints = self._tapes(float(time))
        h, zero = STEP, [mpmath.mpf(0)] * n
        here = mpmath.mpf(float(time)), [mpmath.mpf(float(x)) for x in q], [mpmath.mpf(float(x)) for x in v]
        parameters = [mpmath.mpf(x) for x in self.values.values()]
        unknown = [mpmath.mpf(0)] * len(system.reactions)  # multipliers that nonideal forces depend on

        def values(tau: Any = 0, dq: int = -1, dv: Sequence[int] = (), da: int = -1) -> list[Any]:
            """The numbers of a tape at τ, with steps in some coordinates."""
            moved = [x + tau * rate for x, rate in zip(here[1], here[2], strict=True)]
            speed, acceleration = list(here[2]), list(zero)
            if dq >= 0:
                moved[dq] += h
            for i in dv:
                speed[i] += h
            if da >= 0:
                acceleration[da] = h
            return [here[0] + tau, *moved, *speed, *acceleration, *parameters, *unknown]

        Q = np.array([float(x) for x in forces(values())])
        Q = Q[:n] if system.reactions else Q[:n] + Q[n:]
        if mass is not None:
            M = np.array([float(x) for x in mass(values())]).reshape(n, n)
        else:
            (start,), (later,) = L(values()), L(values(h))
            turned = [L(values(dv=[i]))[0] for i in range(n)]
            M = np.empty((n, n))
            for i in range(n):
                for j in range(i, n):
                    both = L(values(dv=[i, j]))[0]
                    M[i, j] = M[j, i] = float((both - turned[i] - turned[j] + start) / h**2)
                moved = (L(values(dq=i))[0] - start) / h
                momentum = (L(values(h, dv=[i]))[0] - later - turned[i] + start) / h**2
                Q[i] += float(moved - momentum)
        A, b = np.zeros((len(system.constraint_names), n)), np.zeros(len(system.constraint_names))
        if not len(b):
            return EquationsInNumbers(M, Q, A, b)
        now, then, before = (constraints(values(tau)) for tau in (0, h, -h))
        steps: list[Callable[[int], list[Any]]] = [
            lambda j: values(dq=j),
            lambda j: values(dv=[j]),
            lambda j: values(da=j),
        ]
        shifted = {k: [constraints(steps[k](j)) for j in range(n)] for k in {c.order for c in system.constraints}}
        for i, c in enumerate(system.constraints):
            A[i] = [float((reading[i] - now[i]) / h) for reading in shifted[c.order]]
            rate = now[i], (then[i] - now[i]) / h, (then[i] - 2 * now[i] + before[i]) / h**2
            b[i] = -float(rate[2 - c.order])
        found = EquationsInNumbers(M, Q, A, b)

        def nonideal(lam: Array) -> Array:
            unknown[:] = map(mpmath.mpf, lam.tolist())
            return np.array([float(x) for x in forces(values())[n:]])

        return found.with_friction(nonideal, list(system.reactions)) if system.reactions else found

    def _tapes(self, time: float) -> tuple[Tape, Tape, Tape | None, Tape]:
        """T − V; forces and nonideal forces; M where it is given; and the constraints, as they were given."""
        system = self.system
        places = [t, *system.coordinates, *(rates(q)[0] for q in system.coordinates)]
        places += [*(rates(q)[1] for q in system.coordinates), *self.values, *system.reactions.values()]
        inputs = {f: value for f, value in self.inputs.items() if value is not None}
        for f, signal in signals_in(inputs).items():  # near this time it is a polynomial
            inputs[f] = sum(sp.Float(float(signal(time, k))) * (t - time) ** k / sp.factorial(k) for k in range(4))

        def tape(*expressions: sp.Basic) -> Tape:
            if inputs:
                expressions = tuple(e.subs(inputs).doit() if e.has(*inputs) else e for e in expressions)
            return Tape.of(expressions, places)

        energy = sp.S.Zero if system.kinetic is None else sp.Add(system.kinetic, -system.potential)
        mass = None if system.mass is None else tape(*system.mass)
        constraints = tape(*(c.expression for c in system.constraints))
        return tape(energy), tape(*system.forces, *system.nonideal), mass, constraints
