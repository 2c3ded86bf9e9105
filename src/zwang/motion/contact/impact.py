"""Impacts: velocities that change at once, by impulses of the contacts that are closed.

M(v⁺ − v⁻) = A_EᵀΛ_E + nᵀΛ, with A_E v⁺ = A_E v⁻ and Λ ≥ 0. Three laws say what Λ is; γ = n v + ∂g/∂t are the speeds at
which gaps open.

*Moreau's*: 0 ≤ Λ ⊥ γ⁺ + εγ⁻ ≥ 0, the conditions of a quadratic program in the kinetic-energy metric. *Poisson's*: a
plastic impact with impulses Λ_C, then 0 ≤ Λ − (1 + ε)Λ_C ⊥ γ⁺ ≥ 0. *One after the other*: each impact by itself, the
fastest approach first, until no contact approaches (`one_by_one`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, Array
from zwang.engines.task import Status
from zwang.formulations.solve import Names, solve_named
from zwang.motion.contact.one_by_one import MOST_IN_A_ROW, in_turn
from zwang.motion.contact.units import balanced, mass_units

AT_REST = 512 * EPS  # of the speeds that make up γ: below, it is rounding


class Stop(Exception):
    """The motion does not go on from an instant: why, and in words."""

    def __init__(self, status: Status, words: str) -> None:
        self.status = status
        super().__init__(words)


@dataclass(frozen=True)
class Collision:
    """What meets in an impact: masses, rows of equalities and of contacts, restitutions and velocities before.

    `moving` (k,) is ∂g/∂t, the part of γ that the velocities do not make.
    """

    M: Array
    equal: Array
    contact: Array
    restitution: Array
    v: Array
    moving: Array
    names: Names

    def speeds(self, v: Array) -> Array:
        """(k,) γ, at which gaps open."""
        return np.asarray(self.contact @ v + self.moving)

    def sizes(self, v: Array) -> Array:
        """(k,) how large the terms of γ are."""
        return np.asarray(np.abs(self.contact) @ np.abs(v) + np.abs(self.moving))

    def push(self, force: Array, least: Array) -> tuple[Array, Array]:
        """The change of velocities by an impulse, and Λ of the contacts, whose speeds change by at least so much."""
        A = np.concatenate([self.equal, self.contact])
        b = np.concatenate([np.zeros(len(self.equal)), least])
        sided = np.arange(len(A)) >= len(self.equal)
        found = solve_named(
            self.M, force, A, b, C=None, form="fundamental", rank_tol=None, one_sided=sided, v=None, names=self.names
        )
        return np.asarray(found.acceleration), np.asarray(found.multipliers[len(self.equal) :])


def held(
    M: Array, A: Array, v: Array, change: Array, names: Names, rubs: Mapping[int, Array], force: Array | None = None
) -> tuple[Array, Array]:
    """The least change of velocities, in the kinetic-energy metric, that changes A v by so much, but for rounding.

    That is of the largest velocities v until now.

    With a force it is the acceleration that has A q̈ of such a size.

    `rubs` are rows −μ s t of slips by their places among those of A: impulses there, which are given, too, have such
    ones of friction with them.
    """

    def response(force: Array, change: Array) -> tuple[Array, Array]:
        found = solve_named(
            M, force, A, change, C=None, form="fundamental", rank_tol=None, one_sided=None, v=None, names=names,
            slack=rounding,
        )  # fmt: skip
        return np.asarray(found.acceleration), np.asarray(found.multipliers)

    rounding = AT_REST * (np.abs(A) @ np.abs(v))
    x, normal = response(np.zeros(len(M)) if force is None else force, change)
    if not rubs:
        return x, np.zeros(0)
    by = [response(row, 0 * change) for row in rubs.values()]  # (C1): (I + RμS) N = N⁰
    places = list(rubs)
    among = np.eye(len(places)) - np.array([multipliers[places] for _, multipliers in by]).T
    impulses = np.linalg.lstsq(among, normal[places])[0]
    return x + np.array([moves for moves, _ in by]).T @ impulses, impulses


@dataclass(frozen=True)
class Impact:
    """An impact: velocities after it, impulses (k,) of the contacts, and the energy that it cost.

    `work` (k,) is what moving surfaces have done; the kinetic energy has changed by Σ work − loss.
    """

    v: Array
    impulse: Array
    loss: float
    work: Array
    touching: NDArray[np.bool_]
    """(k,) which contacts are closed afterwards: their γ⁺ is zero."""
    off: float = 0.0
    """The share of its impulses that it may be off by, if it is a limit of infinitely many; zero otherwise."""


def natural_speeds(M: Array, rows: Array, v: Array) -> Array:
    """(k,) how fast gaps could open with the kinetic energy that there is: what rounding of velocities is beside."""
    mobility = np.einsum("ij,ji->i", rows, balanced(M, rows[:0], rows.T, mass_units(M, rows[:0])))
    return np.asarray(np.sqrt(np.maximum(mobility, 0.0) * max(float(v @ M @ v), 0.0)))


@dataclass(frozen=True)
class Struck:
    """Velocities after an impact, and impulses (k,); `off` is the share of these by which a limit may be off."""

    v: Array
    impulse: Array
    off: float = 0.0


def moreau(c: Collision) -> Struck:
    """Velocities after, and impulses, by Moreau's law."""
    if len(c.contact) == 1 and (alone := by_itself(c)) is not None:
        return alone
    change, impulse = c.push(np.zeros(len(c.v)), -(1 + c.restitution) * c.speeds(c.v))
    return Struck(c.v + change, impulse)


def by_itself(c: Collision) -> Struck | None:
    """The impact of one contact, which is a linear system; None if that is singular, or nothing approaches.

    It is what the quadratic program would find, many times as fast: balls bounce often.
    """
    speed = c.speeds(c.v)
    if not speed[0] < 0:
        return None
    A, n, m = np.concatenate([c.equal, c.contact]), len(c.v), len(c.equal) + 1
    saddle = np.zeros((n + m, n + m))
    saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = c.M, -A.T, A
    right = np.zeros(n + m)
    right[-1] = -(1 + c.restitution[0]) * speed[0]
    try:
        x = np.linalg.solve(saddle, right)
        x += np.linalg.solve(saddle, right - saddle @ x)
    except np.linalg.LinAlgError:
        return None
    off = np.abs(right - saddle @ x) > AT_REST * (np.abs(saddle) @ np.abs(x))
    if off.any() or not x[-1] > 0:
        return None
    return Struck(c.v + np.asarray(x[:n]), np.asarray(x[-1:]))


def poisson(c: Collision) -> Struck:
    """Velocities after, and impulses, by Poisson's law: compression, then expansion."""
    change, compression = c.push(np.zeros(len(c.v)), -c.speeds(c.v))
    middle = c.v + change
    given = c.restitution * compression
    change, more = c.push(c.contact.T @ given, -c.speeds(middle))
    return Struck(middle + change, compression + given + more)


def sequential(c: Collision) -> Struck:
    """Velocities after, and impulses, of impacts one after the other."""
    change = responses(c)
    G = c.contact @ change
    rest = AT_REST * (c.sizes(c.v) + natural_speeds(c.M, c.contact, c.v))
    held = (np.diagonal(G) <= AT_REST * np.abs(np.diagonal(G)).max(initial=0.0)) & (c.speeds(c.v) < -rest)
    if held.any():  # it cannot give way: that is said by who solves for it
        return moreau(c)
    found = in_turn(G, c.speeds(c.v), c.restitution, rest)
    if not found.ends:
        words = f"Impacts one after the other do not come to an end there: {MOST_IN_A_ROW:,} were made at one instant."
        raise Stop(Status.CHATTERING, words)
    return Struck(c.v + change @ found.impulse, found.impulse, found.off)


def responses(c: Collision) -> Array:
    """(n, k) the changes of velocities by unit impulses of the contacts."""
    load = np.concatenate([c.contact.T, np.zeros((len(c.equal), len(c.contact)))])
    return balanced(c.M, c.equal, load, mass_units(c.M, c.equal))[: len(c.v)]


LAWS: dict[str, Callable[[Collision], Struck]] = {
    "moreau": moreau,
    "poisson": poisson,
    "sequential": sequential,
}


def impact(c: Collision, law: str) -> Impact:
    """The impact by a law, with its account of energy."""
    found = LAWS[law](c)
    v, impulse = found.v, found.impulse
    before, after = c.speeds(c.v), c.speeds(v)
    touching = np.abs(after) <= AT_REST * (c.sizes(c.v) + c.sizes(v))
    if len(touching) > 1:  # by itself it has all of the velocities in its own terms
        touching |= np.abs(after) <= AT_REST * natural_speeds(c.M, c.contact, c.v)
    # ΔT = ½Λ(γ⁺ + γ⁻) − Λ ∂g/∂t: the second term is the work of surfaces that move
    loss, work = -0.5 * float(impulse @ (before + after)), -impulse * c.moving
    return Impact(v, impulse, loss, work, touching, found.off)
