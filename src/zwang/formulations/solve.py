"""From M, Q, A, b and C to accelerations, forces and multipliers: arrays in, arrays out, stacks welcome."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.errors import InconsistentError, InputError, MassError
from zwang.formulations import gauss, generalized_inverse, gibbs_appell, lagrange, one_sided
from zwang.formulations.solution import Residuals, Solution
from zwang.linalg.factors import Factors, dot, dot_t, factorise, of_stack, require_finite, take, take_rows
from zwang.linalg.rank import CONSISTENCY_TOL, Array, row_rank

FORMS = ("fundamental", "generalized-inverse", "gauss", "gibbs-appell", "lagrange")
BLOCK = 1000  # systems solved at a time in a stack
CHOICES = {"generalized-inverse": {"equation", "inverse"}, "gibbs-appell": {"eliminate"}}


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
    """Solve M q̈ = Q + Aᵀλ + C, A q̈ = b for q̈, at any rank of A, by any of the papers' equations.

    M (n, n) symmetric positive definite, or semidefinite with rank [M; A] = n; Q, C (n,); A (m, n); b (m,);
    any of them with leading axes, which broadcast. `one_sided` (m,) marks rows that mean A q̈ ≥ b. `v` (n,)
    are velocities, wanted only for the power of the force of constraint. `rank_tol` is the relative pivot
    below which a row counts as dependent, by default `linalg.rank.rank_tolerance`.

    `form` is one of "fundamental" (the default: Cholesky whitening, complete orthogonal decomposition and
    refinement, accurate to the last digits), "generalized-inverse" (with `equation=` and `inverse=`),
    "gauss", "gibbs-appell" (with `eliminate=`, the indices of eliminated coordinates) or "lagrange".

    >>> M = [[5, 4, 1], [4, 6, 4], [1, 4, 5]]
    >>> now = solve(M, [1, 0, 0], [[1, 1, 0], [2, 2, 0]], [1, 2])
    >>> now.acceleration
    array([ 0.5,  0.5, -0.5])
    >>> now.multipliers, now.unique
    (array([0.6, 1.2]), array([False, False]))
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
    """`solve` with names for coordinates and rows, which its messages then use."""
    require_form(form, choice)
    shape, M, Q, A, b, C, v = as_stacks(M, Q, A, b, C, v)
    m, n = A.shape[1:]
    if names is None:
        names = Names(tuple(f"coordinate {j}" for j in range(n)), tuple(f"row {i}" for i in range(m)))
    mask = np.zeros(m, dtype=bool) if one_sided is None else np.asarray(one_sided, dtype=bool)
    if mask.shape != (m,):
        raise InputError(f"one_sided has shape {mask.shape}, but A has {m} rows: give one flag a row")
    if rank_tol is not None and not 0 <= rank_tol < 1:
        raise InputError(f"rank_tol = {rank_tol}: a relative tolerance between 0 and 1 is meant")

    def block(systems: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], Solution]]:
        if mask.any():
            return [
                (
                    systems[[i]],
                    solve_one_sided(M[[k]], Q[[k]], A[[k]], b[[k]], C[[k]], mask, form, rank_tol, names, choice),
                )
                for i, k in enumerate(systems)
            ]
        rank = row_rank(A[systems], rank_tol)
        groups = [systems[rank == r] for r in np.unique(rank)]
        return [
            (i, solve_uniform(M[i], Q[i], A[i], b[i], C[i], int(r), form, names, choice, (i, len(M))))
            for i, r in zip(groups, np.unique(rank), strict=True)
        ]

    # Blocks that fit the processor's cache, side by side: NumPy lets go of the interpreter lock in its loops.
    blocks = np.split(np.arange(len(M)), range(BLOCK, len(M), BLOCK))
    if len(blocks) > 1:
        with ThreadPoolExecutor(min(len(blocks), os.cpu_count() or 1)) as pool:
            solved = list(pool.map(block, blocks))
    else:
        solved = [block(blocks[0])]
    index, parts = zip(*[piece for pieces in solved for piece in pieces], strict=True) if len(M) else ((), ())
    solution = scatter(parts, index, shape, m, n)
    if v is None:
        return solution
    power = np.einsum("...i,...i->...", solution.constraint_force, v.reshape((*shape, n)))
    return replace(solution, constraint_power=power)


def solve_uniform(
    M: Array,
    Q: Array,
    A: Array,
    b: Array,
    C: Array,
    rank: int,
    form: str,
    names: Names,
    choice: dict[str, Any],
    place: tuple[NDArray[np.intp], int],
) -> Solution:
    """A stack whose A all have the same rank."""
    factors = factorise(M, A, rank, names.coordinates)
    singular = factors.gauge is not None
    G = take_rows(A, factors.rows)
    x, lam = factors.solve(Q + C, b)
    free = factors.free(Q)
    require_consistent(factors, Q + C, A, b, x, names, place)
    if form == "fundamental":
        force = dot_t(G, lam) + C
    else:
        if singular:
            raise MassError(f"form {form!r} needs a positive definite M, and M is singular: use form 'fundamental'")
        x = literal_acceleration(form, M, Q + C, A, b, factors, choice)
        force = dot(M, x) - Q
        lam = dot(factors.Ri, dot_t(factors.Q1, dot(factors.Li, (force - C) / factors.D))) / take(
            factors.s, factors.rows
        )
    ideal = force
    if C.any():
        ideal = dot_t(G, factors.solve(Q, b)[1])
    multipliers, null_space, unique = factors.all_multipliers(lam)
    deviation = x - free
    Z = factors.null_space()
    return Solution(
        acceleration=x,
        constraint_force=force,
        ideal_force=ideal,
        nonideal_force=force - ideal if C.any() else np.zeros_like(force),
        multipliers=multipliers,
        null_space=null_space,
        unique=unique,
        rank=np.full(len(M), rank),
        gaussian=0.5 * np.einsum("ki,ki->k", deviation, force),
        free_acceleration=free,
        error=b - dot(A, free),
        deviation=deviation,
        weighted_inverse=factors.weighted_inverse(),
        residuals=Residuals(
            constraint=np.linalg.norm(dot(A, x) - b, axis=1),
            equilibrium=np.linalg.norm(dot_t(Z, dot(M, x) - Q - C), axis=1),
            consistency=np.linalg.norm((b - dot(A, x)) / factors.s, axis=1),
        ),
    )


def literal_acceleration(
    form: str, M: Array, Q: Array, A: Array, b: Array, factors: Factors, choice: dict[str, Any]
) -> Array:
    """q̈ by the equation that the paper prints, independent of the factors but for the rank and the rows."""
    if form == "generalized-inverse":
        return generalized_inverse.acceleration(M, Q, A, b, factors.rank, **choice)
    if form == "gauss":
        return gauss.acceleration(M, Q, A, b, factors.rank)
    if form == "gibbs-appell":
        return gibbs_appell.acceleration(M, Q, A, b, factors.rank, **choice)
    return lagrange.acceleration(M, Q, A, b, factors.rows)


def solve_one_sided(
    M: Array,
    Q: Array,
    A: Array,
    b: Array,
    C: Array,
    mask: NDArray[np.bool_],
    form: str,
    rank_tol: float | None,
    names: Names,
    choice: dict[str, Any],
) -> Solution:
    """One system with one-sided rows: find which of them act, then solve with those as equalities."""
    active = one_sided.active_rows(M[0], (Q + C)[0], A[0], b[0], mask, rank_tol, names.rows, names.coordinates)
    rank = int(row_rank(A[:, active], rank_tol)[0])
    acting = Names(names.coordinates, tuple(np.array(names.rows, dtype=object)[active]))
    part = solve_uniform(M, Q, A[:, active], b[:, active], C, rank, form, acting, choice, (np.array([0]), 1))
    lam = one_sided.nonnegative(A[0, active], part.multipliers[0], part.null_space[0], mask[active])
    m, n = A.shape[1:]

    def spread(x: Array, fill: float = 0.0, axis: int = 1) -> Array:
        whole = np.full((*x.shape[:axis], m, *x.shape[axis + 1 :]), fill, dtype=x.dtype)
        whole[(slice(None),) * axis + (active,)] = x
        return whole

    short = b - dot(A, part.acceleration)
    return replace(
        part,
        multipliers=spread(lam[None]),
        null_space=spread(part.null_space),
        unique=spread(part.unique, True),
        error=b - dot(A, part.free_acceleration),
        weighted_inverse=spread(part.weighted_inverse, axis=2),
        residuals=replace(
            part.residuals, constraint=np.linalg.norm(np.where(mask, np.maximum(short, 0), short), axis=1)
        ),
    )


def require_form(form: str, choice: dict[str, Any]) -> None:
    """Refuse an unknown form, or a choice that the form does not have."""
    if form not in FORMS:
        raise InputError(f"form={form!r} is unknown: choose one of {', '.join(map(repr, FORMS))}")
    for key in choice.keys() - CHOICES.get(form, set()):
        has = ", ".join(sorted(CHOICES.get(form, set()))) or "none"
        raise InputError(f"form {form!r} takes no {key!r}; its choices are: {has}")


def require_consistent(
    factors: Factors,
    Q: Array,
    A: Array,
    b: Array,
    x: Array,
    names: Names,
    place: tuple[NDArray[np.intp], int],
) -> None:
    """Refuse rows that contradict the others: dependent in A, at odds in b."""
    bad = contradictions(factors, Q, A, b, x)
    if not bad.any():
        return
    k = int(np.flatnonzero(bad.any(axis=1))[0])
    i = int(np.flatnonzero(bad[k])[0])
    others = partners(factors.dependence()[k], factors.rows[k], i)
    miss = b[k, i] - A[k, i] @ x[k]
    where = of_stack(int(place[0][k]), place[1])
    if not len(others):
        raise InconsistentError(
            f"{names.rows[i]}{where} is zero in A, yet b = {b[k, i]:.6g} asks for something: no acceleration obeys it",
            (i,),
        )
    listed = ", ".join(names.rows[j] for j in others)
    raise InconsistentError(
        f"{names.rows[i]}{where} contradicts {listed}: its row of A depends on theirs, but its b differs by {miss:.6g} "
        f"from what they imply; drop one of them or mend the right-hand sides",
        (i, *others),
    )


def contradictions(factors: Factors, Q: Array, A: Array, b: Array, x: Array) -> NDArray[np.bool_]:
    """(k, m) which rows are missed by more than rounding, relative to the terms that make them up."""
    terms = np.abs(x) + dot_t(np.abs(factors.Li), np.abs(dot(factors.Li, Q / factors.D))) / factors.D
    size = np.abs(b) + dot(np.abs(A), terms)
    # a dependent row is as uncertain as the rows it is made of
    size = np.maximum(size, dot(np.abs(factors.dependence()), take(size, factors.rows)))
    return np.asarray(np.abs(b - dot(A, x)) > CONSISTENCY_TOL * size)


def partners(dependence: Array, rows: NDArray[np.intp], i: int) -> NDArray[np.intp]:
    """The independent rows of which row i is a combination."""
    weight = np.abs(dependence[i])
    found = rows[weight > CONSISTENCY_TOL * max(weight.max(initial=0.0), np.finfo(float).tiny)]
    return np.sort(found[found != i])


def as_stacks(*given: Any) -> tuple[Any, ...]:
    """The leading shape, and M, Q, A, b, C, v as stacks with one leading axis; checked for shape and finiteness."""
    M, Q, A, b = (as_array(x, name) for x, name in zip(given[:4], "MQAb", strict=True))
    if M.ndim < 2 or M.shape[-1] != M.shape[-2] or M.shape[-1] == 0:
        raise InputError(f"M has shape {M.shape}: a square matrix (n, n) with n ≥ 1 is needed")
    n = M.shape[-1]
    if A.size == 0 and A.ndim < 2:
        A = A.reshape(0, n)
    C = np.zeros(n) if given[4] is None else as_array(given[4], "C")
    v = None if given[5] is None else as_array(given[5], "v")
    if A.ndim < 2 or A.shape[-1] != n:
        raise InputError(f"A has shape {A.shape}: its last axis must have length {n}, like M's")
    m = A.shape[-2]
    for x, name, length in ((Q, "Q", n), (b, "b", m), (C, "C", n), (v, "v", n)):
        if x is not None and (x.ndim < 1 or x.shape[-1] != length):
            raise InputError(f"{name} has shape {x.shape}: its last axis must have length {length}")
    vectors = [x for x in (Q, b, C, v) if x is not None]
    leading = [x.shape[:-1] for x in vectors] + [M.shape[:-2], A.shape[:-2]]
    try:
        shape = np.broadcast_shapes(*leading)
    except ValueError:
        raise InputError(f"the leading axes of M, Q, A, b, C do not broadcast: {leading}") from None
    require_finite(M=M, Q=Q, A=A, b=b, C=C)
    lopsided = np.abs(M - M.swapaxes(-1, -2)) > 1e-12 * np.abs(M).max(axis=(-1, -2), initial=0.0)[..., None, None]
    if lopsided.any():
        *_, i, j = np.argwhere(lopsided)[0]
        raise MassError(f"M is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ")

    def stack(x: Array, tail: tuple[int, ...]) -> Array:
        return np.broadcast_to(x, (*shape, *tail)).reshape(int(np.prod(shape)), *tail)

    return (
        shape,
        stack(M, (n, n)),
        stack(Q, (n,)),
        stack(A, (m, n)),
        stack(b, (m,)),
        stack(C, (n,)),
        None if v is None else stack(v, (n,)),
    )


def as_array(x: Any, name: str) -> Array:
    """An array of floats, or a refusal by name."""
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of real numbers: {error}") from None


def scatter(
    parts: Sequence[Solution], index: Sequence[NDArray[np.intp]], shape: tuple[int, ...], m: int, n: int
) -> Solution:
    """One solution for the whole stack, put together from parts of equal rank."""
    count = int(np.prod(shape))
    width = max((part.null_space.shape[2] for part in parts), default=0)

    def gather(pick: Any) -> Any:
        pieces = [pick(part) for part in parts]
        if not pieces:
            raise InputError("an empty stack: give at least one system")
        whole = np.zeros((count, *pieces[0].shape[1:]), dtype=pieces[0].dtype)
        for i, piece in zip(index, pieces, strict=True):
            whole[i] = piece
        return whole.reshape((*shape, *whole.shape[1:]))[()]  # a scalar for one system

    def padded(part: Solution) -> Array:
        return np.pad(part.null_space, ((0, 0), (0, 0), (0, width - part.null_space.shape[2])))

    special = {"null_space", "residuals", "constraint_power"}
    plain = {f.name: gather(lambda p, f=f: getattr(p, f.name)) for f in fields(Solution) if f.name not in special}
    rest = {f.name: gather(lambda p, f=f: getattr(p.residuals, f.name)) for f in fields(Residuals)}
    return Solution(**plain, null_space=gather(padded), residuals=Residuals(**rest))
