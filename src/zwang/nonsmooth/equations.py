"""A mode as linear equations of impulses, and their exact solution.

Rows that are closed or stick have zero speed. Impulses of rows that are open or slide follow from the others: low, or
μ f_N times the direction of friction. In space, where this direction is not known, the equation is that of a step of
Newton's method on the natural map (Alart and Curnier 1991, eq. 4.9).

Where rows depend on each other, the impulses of a mode are a family. Of it the member is taken that is the limit of
contacts which all give way alike, u + εf = 0 with ε → 0: the impulses of least length, where nothing slides.
"""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.layout import OBEYS, Layout, lengths, padded
from zwang.nonsmooth.problem import Bools, Indices, Mode

ROWS_DEPEND = (
    1e-11  # of the largest singular value of a mode's rows: below, it is the rounding of W, which is a product
)
GIVE_ALIKE = 1e-9  # of the largest singular value, in the equations that choose the member of a family


@dataclass(frozen=True)
class Equations:
    """A mode as linear equations, J y = b, for the impulses y of some rows."""

    rows: Indices
    J: Array
    b: Array
    speeds: Bools
    """Which of these equations say that a speed is zero."""
    rest: Array
    """(r,) impulses of the other rows as far as they are given,"""
    follow: tuple[tuple[Indices, Indices, Array], ...]
    """and rows of friction, the normal rows that they follow, and the ratios."""

    def expand(self, y: Array) -> Array:
        """(r,) impulses of all rows."""
        f = self.rest.copy()
        f[self.rows] = y
        for t, n, ratio in self.follow:
            f[t] += ratio * f[n]
        return f

    def members(self, null: Array) -> Array:
        """(r, d) changes of the impulses of all rows, for changes (·, d) of y."""
        f = np.zeros((len(self.rest), null.shape[1]))
        f[self.rows] = null
        for t, n, ratio in self.follow:
            f[t] += ratio[:, None] * f[n]
        return f


def equations(p: Layout, mode: Mode, f: Array, u: Array) -> Equations:
    """The equations of a mode; those of slips in space are linear around impulses f and speeds u."""
    N, r, W = padded(f)[p.n], p.r, p.W
    rest, asked, speeds = np.zeros(r + 1), np.zeros(r + 1, dtype=bool), np.zeros(r + 1, dtype=bool)
    speeds[p.n[mode.held]] = speeds[p.t[mode.stick]] = True
    free = p.has & ~mode.held
    rest[p.n[free]] = p.low[free]
    slides = (p.tangents > 0) & ~mode.stick
    turning = slides & (p.tangents == 2) & ~p.known & (mode.held | ~p.has | (p.low > 0)) & (p.radius(N, p.mu) > 0)
    asked[p.t[turning]] = True
    speeds[r] = asked[r] = False
    rows = np.flatnonzero(speeds[:r] | asked[:r])
    place = np.full(r + 1, -1)
    place[rows] = np.arange(len(rows))
    J, follow = W[np.ix_(rows, rows)], []
    sign = np.where(p.bilateral & (N < 0), -1.0, 1.0)
    for j in range(2):
        i = np.flatnonzero(slides & ~turning & (p.tangents > j))
        rest[p.t[i, j]] += p.bound[i] * mode.along[i, j]
        i = i[p.has[i]]
        n, t, ratio = p.n[i], p.t[i, j], p.mu[i] * sign[i] * mode.along[i, j]
        closed = mode.held[i]
        rest[t[~closed]] += ratio[~closed] * rest[n[~closed]]
        if closed.any():
            n, t, ratio = n[closed], t[closed], ratio[closed]
            follow.append((t, n, ratio))
            J[:, place[n]] += W[np.ix_(rows, t)] * ratio
    rest = rest[:r]
    b = -(p.c[rows] + W[rows] @ rest)
    for block in np.flatnonzero(turning).tolist():
        t = p.t[block]
        turn_of(p, mode, block, (place, J, b), (f[t], u[t], float(N[block]), float(sign[block])))
    return Equations(rows, J, b, speeds[rows], rest, tuple(follow))


def turn_of(
    p: Layout, mode: Mode, i: int, into: tuple[Indices, Array, Array], at: tuple[Array, Array, float, float]
) -> None:
    """Write the two equations of friction in space of block i into J and b: f_T = r(f_N) w/|w| with w = f_T − u_T."""
    place, J, b = into
    fT, uT, N, sign = at
    t, d, w = place[p.t[i]], mode.along[i], fT - uT
    radius = float(p.mu[i] * abs(N) + p.bound[i])
    turn = radius / max(float(np.hypot(*w)), radius) * (np.eye(2) - np.outer(d, d))
    given = p.bound[i] + (0.0 if mode.held[i] or not p.has[i] else p.mu[i] * p.low[i])
    J[t], b[t] = turn @ J[t], turn @ b[t] + given * d
    J[t[:, None], t] += np.eye(2) - turn
    if mode.held[i] and p.has[i]:
        J[t, place[p.n[i]]] -= p.mu[i] * sign * d


def impulses(p: Layout, mode: Mode, f: Array, u: Array, soft: float = 0.0) -> Array | None:
    """(r,) the impulses of a mode; None if there are none.

    `soft` ones are those of contacts that give way by this share of their mobility.
    """
    made = equations(p, mode, f, u)
    J, b = made.J, made.b
    if not len(b):
        return made.expand(b)
    if soft:
        J[np.diag_indices(len(J))] += soft * made.speeds * alike(p)[made.rows]
    if p.regular or soft:
        try:
            y = np.asarray(np.linalg.solve(J, b))
        except np.linalg.LinAlgError:
            return None
        return made.expand(y) if np.isfinite(y).all() else None
    return of_family(p, made)


def alike(p: Layout) -> Array:
    """(r,) how far rows give way with unit impulses, if all contacts give way alike in units of the problem."""
    return np.asarray((p.scale / p.scale.max()) ** 2)


def of_family(p: Layout, made: Equations) -> Array | None:
    """The impulses of contacts that give way alike, where equations depend on each other.

    Where the equations have no solution, the impulses nearest to one show which contacts must open.
    """
    J, b = made.J, made.b
    try:
        U, s, Vt = np.linalg.svd(J)
    except np.linalg.LinAlgError:
        return None
    rank = int((s > ROWS_DEPEND * s[0]).sum())
    y = np.asarray(Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank]))
    y += Vt[:rank].T @ ((U[:, :rank].T @ (b - J @ y)) / s[:rank])
    L, null = U[:, rank:], Vt[rank:].T
    if rank == len(s) or np.abs(L.T @ b).max() > OBEYS * (np.abs(b).max() + np.abs(y).max()):
        return made.expand(y)
    gives = L.T * (made.speeds * alike(p)[made.rows])
    y -= null @ np.linalg.lstsq(gives @ null, gives @ y, rcond=GIVE_ALIKE)[0]
    return made.expand(y)


def refined(p: Layout, mode: Mode, f: Array, u: Array) -> Array:
    """Impulses of a mode once more, from what its equations leave."""
    made = equations(p, mode, f, u)
    y = f[made.rows]
    try:
        return made.expand(y + np.linalg.solve(made.J, made.b - made.J @ y)) if len(y) else f
    except np.linalg.LinAlgError:
        return f


def mode_of(p: Layout, f: Array, u: Array) -> Mode:
    """The mode that impulses and speeds suggest which nearly obey the laws."""
    f, u = padded(f), padded(u)
    N, w = f[p.n], f[p.t] - u[p.t]
    held = p.has & (p.bilateral | (N - p.low - u[p.n] > 0))
    size = lengths(w)
    within = size <= p.radius(N, p.static) * (1 + OBEYS)
    stick = (p.tangents > 0) & ~p.known & within & (held | (p.low > 0) | ~p.has)
    return Mode(held, stick, p.known_along(w / np.where(size > 0, size, 1.0)[:, None]))
