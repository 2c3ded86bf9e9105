"""From M, Q, A, b and C to accelerations, forces and multipliers: arrays in, arrays out, stacks welcome."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.errors import InconsistentError, InputError, MassError, UndeterminedError
from zwang.formulations import one_sided as sided
from zwang.formulations.forms import DEFAULT, FORMS
from zwang.formulations.inputs import Given, Scaled, as_mask, as_stacks, as_tolerance
from zwang.formulations.solution import Residuals, Solution
from zwang.linalg.factors import Factors, Stack, dot, dot_t, factorise_masses
from zwang.linalg.masses import Masses, masses
from zwang.linalg.rank import CONSISTENCY_TOL, row_rank, take

BLOCK = 1000  # systems solved at a time in a stack


@dataclass(frozen=True)
class Names:
    """What coordinates and constraint rows are called in messages."""

    coordinates: tuple[str, ...]
    rows: tuple[str, ...]


def solve(
    M: ArrayLike,
    Q: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    *,
    C: ArrayLike | None = None,
    form: str = "fundamental",
    rank_tol: float | None = None,
    one_sided: ArrayLike | None = None,
    v: ArrayLike | None = None,
    **choice: Any,
) -> Solution:
    """Solve M q̈ = Q + Aᵀλ + C, A q̈ = b for q̈, at any rank of A, by any of the papers' equations: see `zwang.solve`.

    >>> now = solve([[5, 4, 1], [4, 6, 4], [1, 4, 5]], [1, 0, 0], [[1, 1, 0], [2, 2, 0]], [1, 2])
    >>> now.acceleration
    array([ 0.5,  0.5, -0.5])
    """
    return solve_named(M, Q, A, b, C=C, form=form, rank_tol=rank_tol, one_sided=one_sided, v=v, names=None, **choice)


def solve_named(
    M: ArrayLike,
    Q: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    *,
    C: ArrayLike | None,
    form: str,
    rank_tol: float | None,
    one_sided: ArrayLike | None,
    v: ArrayLike | None,
    names: Names | None,
    **choice: Any,
) -> Solution:
    """`solve` with names for coordinates and rows, which its messages then use.

    Among the choices may be a `slack` (…, m), what b may be off by because the state is: redundant rows need not agree
    beyond it.
    """
    slack = choice.pop("slack", None)
    require_form(form, choice)
    given = as_stacks(M, Q, A, b, C, v)
    count, m, n = given.A.shape
    if (checked := FORMS[form].checked) is not None:
        choice = checked(given.shape, **choice)
    if names is None:
        names = Names(tuple(f"coordinate {j}" for j in range(n)), tuple(f"row {i}" for i in range(m)))
    off = np.zeros((1, m)) if slack is None else np.reshape(slack, (count, m))
    task = SolveJob(given, as_mask(one_sided, m), as_tolerance(rank_tol), form, names, choice, off)

    # Blocks that fit the processor's cache, side by side: NumPy lets go of the interpreter lock in its loops.
    blocks = [np.arange(i, min(i + BLOCK, count)) for i in range(0, count, BLOCK)]
    if len(blocks) > 1:
        with ThreadPoolExecutor(min(len(blocks), os.cpu_count() or 1)) as pool:
            solved = list(pool.map(task.block, blocks))
    else:
        solved = [task.block(blocks[0])]
    solution = gathered([piece for pieces in solved for piece in pieces], given.shape)
    if given.v is None:
        return solution
    power = np.einsum("...i,...i->...", solution.constraint_force, given.v.reshape((*given.shape, n)))
    return replace(solution, constraint_power=power)


@dataclass(frozen=True)
class SolveJob:
    """One call of `solve`, checked: the systems, and how they are to be solved."""

    given: Given
    one_sided: NDArray[np.bool_]
    rank_tol: float | None
    form: str
    names: Names
    choice: dict[str, Any]
    slack: Array
    """(1 or k, m)"""

    def block(self, systems: Indices) -> list[tuple[Indices, Solution]]:
        """Solutions of some systems, group by group: of one rank, and with M singular in all of them or in none."""
        if self.one_sided.any():
            return [(systems[[i]], self.solve_one_sided(systems[[i]])) for i in range(len(systems))]
        mass = masses(self.given.M[systems], self.given.A[systems])
        rank = row_rank(self.given.A[systems] / mass.units[:, None, :], self.rank_tol)
        kind = 2 * rank + mass.definite
        groups = [(one, kind == one) for one in np.unique(kind)]
        return [(systems[i], self.solve_alike(systems[i], mass.part(i), int(one) // 2)) for one, i in groups]

    def solve_alike(self, systems: Indices, mass: Masses, rank: int, rows: Indices | None = None) -> Solution:
        """Solutions of systems whose A have one rank; of A only the given rows, if any are."""
        M, Q, C = self.given.M[systems], self.given.Q[systems], self.given.C[systems]
        A, b = self.given.A[systems], self.given.b[systems]
        names = self.names
        if rows is not None:
            A, b = A[:, rows], b[:, rows]
            names = Names(names.coordinates, tuple(names.rows[i] for i in rows))
        stack = Stack(systems, self.given.shape)
        factors = factorise_masses(mass, A, rank, names.coordinates, stack, self.rank_tol)
        x, lam = factors.solve(Q + C, b)
        slack = self.slack if len(self.slack) == 1 else self.slack[systems]
        require_consistent(factors, Q + C, A, b, x, names, stack, slack if rows is None else slack[:, rows])
        if FORMS[self.form].solve is not None:
            x = self.literal(Q + C, b, factors, systems)
            lam = factors.multipliers(dot(M, x) - Q - C)
        force = constraint_force(M, Q, C, x, lam, factors)
        ideal = constraint_force(M, Q, 0 * C, *factors.solve(Q, b), factors) if C.any() else force.copy()
        free = factors.free(Q)
        multipliers, null_space, unique = factors.all_multipliers(lam)
        imbalance, basis = (dot(M, x) - Q - C) / factors.units, factors.row_basis()
        return Solution(
            acceleration=x,
            constraint_force=force,
            ideal_force=ideal,
            nonideal_force=force - ideal,
            multipliers=multipliers,
            null_space=null_space,
            unique=unique,
            rank=np.full(len(M), rank),
            gaussian=np.maximum(0.5 * np.einsum("ki,ki->k", x - free, force), 0.0),
            free_acceleration=free,
            error=b - dot(A, free),
            deviation=x - free,
            weighted_inverse=factors.weighted_inverse(),
            residuals=Residuals(
                constraint=np.linalg.norm(dot(A, x) - b, axis=1),
                equilibrium=np.linalg.norm(imbalance - dot(basis, dot_t(basis, imbalance)), axis=1),
                consistency=np.linalg.norm((b - dot(A, x)) / factors.s, axis=1),
            ),
        )

    def literal(self, Q: Array, b: Array, factors: Factors, systems: Indices) -> Array:
        """q̈ by the equation that a paper prints, independent of the factors but for the rank and the rows.

        In coordinates of unit mass, x̂ = D q̈: there no mass is lost beside a larger one.
        """
        if factors.gauge is not None:
            raise MassError(f"form {self.form!r} needs a positive definite M, and M is singular: use form {DEFAULT!r}")
        solve = FORMS[self.form].solve
        assert solve is not None
        given = Scaled(factors.M, Q, factors.A, b, factors.D, factors.rank, factors.rows, systems)
        return np.asarray(solve(given, **self.choice))

    def solve_one_sided(self, systems: Indices) -> Solution:
        """One system with one-sided rows: find which of them act, then solve with those as equalities."""
        k = systems[0]
        M, A, b, Q = self.given.M[k], self.given.A[k], self.given.b[k], self.given.Q[k] + self.given.C[k]
        mask, m = self.one_sided, len(b)
        stack = Stack(systems, self.given.shape)
        working, size = sided.working_rows(
            M, Q, A, b, mask, self.rank_tol, self.names.rows, self.names.coordinates, stack
        )
        mass = masses(M[None], A[None])
        scaled = A / mass.units
        part = self.solve_alike(systems, mass, int(row_rank(scaled[None, working], self.rank_tol)[0]), working)
        short = b - A @ part.acceleration[0]
        touching = sided.touching_rows(scaled, short, size, mask, working, self.rank_tol)
        rank = row_rank(scaled[None, touching], self.rank_tol)
        family = sided.family(scaled[touching], int(rank[0]))

        def spread(x: Any, rows: Indices, axis: int = 0, fill: Any = 0) -> Any:
            whole = np.full((*x.shape[:axis], m, *x.shape[axis + 1 :]), fill, dtype=x.dtype)
            whole[(slice(None),) * axis + (rows,)] = x
            return whole

        lam = spread(part.multipliers[0], working)[touching]
        return replace(
            part,
            rank=rank,
            multipliers=spread(sided.nonnegative(lam, family, mask[touching]), touching)[None],
            null_space=spread(family.null_space[0], touching)[None],
            unique=spread(family.unique[0], touching, fill=True)[None],
            error=b - dot(A[None], part.free_acceleration),
            weighted_inverse=spread(part.weighted_inverse, working, axis=2),
            residuals=replace(
                part.residuals, constraint=np.linalg.norm(np.where(mask, np.maximum(short, 0), short)[None], axis=1)
            ),
        )


def constraint_force(M: Array, Q: Array, C: Array, x: Array, lam: Array, factors: Factors) -> Array:
    """Q_c, as Aᵀλ + C or as M q̈ − Q, whichever is the difference of smaller terms, entry by entry."""
    by_rows, by_mass = factors.force(lam) + C, dot(M, x) - Q
    rows = factors.force(lam, np.abs) + np.abs(C)
    mass = dot(np.abs(M), np.abs(x)) + np.abs(Q)
    return np.where(rows <= mass, by_rows, by_mass)


def require_form(form: str, choice: dict[str, Any]) -> None:
    """Refuse an unknown form, or a choice that the form does not have."""
    if not isinstance(form, str) or form not in FORMS:
        raise InputError(f"form={form!r} is unknown: choose one of {', '.join(map(repr, FORMS))}")
    for key in choice.keys() - {*FORMS[form].choices}:
        has = ", ".join(sorted(FORMS[form].choices)) or "none"
        raise InputError(f"form {form!r} takes no {key!r}; its choices are: {has}")


def require_consistent(
    factors: Factors, Q: Array, A: Array, b: Array, x: Array, names: Names, stack: Stack, slack: Any = 0.0
) -> None:
    """Refuse rows that contradict the others: dependent in A, at odds in b by more than rounding and some slack."""
    if factors.rank == A.shape[1]:
        return
    lost = too_light(factors, A, b, x, slack)
    if lost.any():
        raise UndeterminedError(
            f"masses{stack.label(int(lost.argmax()))} are so far apart that rounding takes all digits of some rows, "
            f"which the others do not make up for; bring them nearer, or give what is so light no mass of its own"
        )
    bad = contradictions(factors, Q, A, b, x, slack)
    if not bad.any():
        return
    k, i = map(int, np.argwhere(bad)[0])
    others = partners(factors.dependence.X[k], factors.rows[k], i)
    raise contradiction(names, stack.label(k), i, others, float(b[k, i]), float(b[k, i] - A[k, i] @ x[k]))


def too_light(factors: Factors, A: Array, b: Array, x: Array, slack: Any = 0.0) -> NDArray[np.bool_]:
    """(k,) in which systems rows are missed that are dependent in units of equal mass, but not by themselves."""
    missed = np.abs(b - dot(A, x)) > CONSISTENCY_TOL * (np.abs(b) + dot(np.abs(A), np.abs(x))) + slack
    found = missed.any(axis=1)
    if found.any():
        found[found] = row_rank(A[found], factors.tolerance) > factors.rank
    return np.asarray(found)


def contradiction(names: Names, which: str, i: int, others: Indices, b: float, miss: float) -> InconsistentError:
    """The refusal of a row that contradicts others, or of a zero row that asks for something."""
    if not len(others):
        return InconsistentError(
            f"{names.rows[i]}{which} is zero in A, yet b = {b:.6g} asks for something: no acceleration "
            f"obeys it; drop the row or set its b to zero",
            (i,),
        )
    listed = ", ".join(names.rows[j] for j in others)
    return InconsistentError(
        f"{names.rows[i]}{which} contradicts {listed}: its row of A depends on theirs, but its b differs by "
        f"{miss:.6g} from what they imply; drop one of them or mend the right-hand sides",
        (i, *map(int, others)),
    )


def contradictions(factors: Factors, Q: Array, A: Array, b: Array, x: Array, slack: Any = 0.0) -> NDArray[np.bool_]:
    """(k, m) which dependent rows are missed by more than rounding, relative to the terms that make them up."""
    size = np.abs(b) + dot(np.abs(A), factors.terms(Q, x))
    # a dependent row is as uncertain as the rows it is made of
    size = np.maximum(size, dot(np.abs(factors.dependence.X), take(size, factors.rows)))
    # and so is one that is dependent only by the caller's own tolerance (4: rows are scaled to lengths from 1 to 2)
    # nor is any entry of x known better than that of the largest one, in units of equal mass
    rounding = max(EPS, 4 * factors.tolerance) * np.abs(x * factors.D).max(axis=-1, keepdims=True) / factors.D
    limit = max(CONSISTENCY_TOL, 4 * factors.tolerance) * size + len(x[0]) * dot(np.abs(A), rounding)
    if np.any(slack):  # a dependent row is off by what the rows are off by that it is made of
        limit = limit + np.maximum(slack, dot(np.abs(factors.dependence.X), take(slack + 0 * b, factors.rows)))
    bad = np.abs(b - dot(A, x)) > limit
    np.put_along_axis(bad, factors.rows, False, axis=1)
    return bad


def partners(dependence: Array, rows: NDArray[np.intp], i: int) -> NDArray[np.intp]:
    """The independent rows of which row i is a combination."""
    weight = np.abs(dependence[i])
    found = rows[weight > CONSISTENCY_TOL * max(weight.max(initial=0.0), TINIEST)]
    return np.sort(found[found != i])


def gathered(parts: Sequence[tuple[Indices, Solution]], shape: tuple[int, ...]) -> Solution:
    """One solution for the whole stack, put together from those of its groups."""
    width = max(part.null_space.shape[2] for _, part in parts)

    def padded(part: Solution) -> Array:
        missing = width - part.null_space.shape[2]
        return np.pad(part.null_space, ((0, 0), (0, 0), (0, missing))) if missing else part.null_space

    def gather(pick: Callable[[Any], Any]) -> Any:
        first = pick(parts[0][1])
        whole = first
        if len(parts) > 1:
            whole = np.empty((sum(len(i) for i, _ in parts), *first.shape[1:]), dtype=first.dtype)
            for i, part in parts:
                whole[i] = pick(part)
        return whole.reshape((*shape, *whole.shape[1:]))[()]  # a scalar for one system

    special = {"null_space", "residuals", "constraint_power"}
    plain = {f.name: gather(attrgetter(f.name)) for f in fields(Solution) if f.name not in special}
    rest = {name: gather(attrgetter(f"residuals.{name}")) for name in ("constraint", "equilibrium", "consistency")}
    return Solution(**plain, null_space=gather(padded), residuals=Residuals(**rest))
