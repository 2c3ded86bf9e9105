"""A problem laid out in arrays, in units in which every block has a mobility of about one; its residual there."""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.problem import Bools, Indices, Mode, Problem

OFF = 1e-11  # of the terms of a condition, by which a mode may miss it: between rounding (1e-15) and OBEYS
OBEYS = 1e-9  # of the terms of a law, by which a solution may miss it: accepted steps miss theirs by 4e-9 at most
FAR_FROM_DEPENDENT = 1e-7  # pivots of scaled W above this need no singular values: half of the digits are left
IMMOBILE = 1e-20  # of the largest mobility: below, it is the square of rounding, and the block keeps its units


@dataclass(frozen=True)
class Layout:
    """The rows of a problem by block, k blocks and r rows; row number r stands for one that a block does not have."""

    problem: Problem
    n: Indices
    """(k,) normal rows,"""
    t: Indices
    """and (k, 2) tangential ones."""
    has: Bools
    """Which blocks have normal rows,"""
    bilateral: Bools
    """which are equalities,"""
    tangents: Indices
    """how many tangential rows there are,"""
    known: Bools
    """where directions of slip are known,"""
    ways: Array
    """and these directions (k, 2)."""
    mu: Array
    static: Array
    bound: Array
    low: Array
    s: Array
    """(k,) the unit of impulses of each block: those of the problem are s times those here, speeds 1/s times."""
    scale: Array
    """(r,) the same by row."""
    W: Array
    abs_W: Array
    c: Array
    flat: bool
    """Whether no block slides in a direction of the plane that is not known: modes are then finitely many."""
    regular: bool
    """Whether all rows are far from depending on each other."""

    @property
    def k(self) -> int:
        """The number of blocks."""
        return len(self.n)

    @property
    def r(self) -> int:
        """The number of rows."""
        return len(self.c)

    def radius(self, normal: Array, mu: Array) -> Array:
        """(…, k) the bounds of friction with normal impulses."""
        return np.asarray(mu * np.abs(normal) + self.bound)

    def slopes(self, slides: Bools) -> Array:
        """(k,) coefficients of friction of blocks that slide, or stick."""
        return np.where(slides, self.mu, self.static)

    def left(self, f: Array, u: Array) -> Array:
        """(k,) by how much laws are missed, as speeds in units of the problem: the natural map.

        Alart and Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
        methods, Comput. Methods Appl. Mech. Eng. 92, eq. 2.13: f_N − max(low, f_N − u_N) and f_T − P_r(f_T − u_T) with
        P_r the projection onto the disk of radius r(f_N).
        """
        f, u = padded(f), padded(u)
        N, fT, uT = f[self.n], f[self.t], u[self.t]
        normal = np.where(self.bilateral, u[self.n], N - np.maximum(self.low, N - u[self.n])) * self.has
        still = OBEYS * (np.abs(self.c).max(initial=0.0) + np.abs(fT).max(initial=0.0))
        r = self.radius(N, self.slopes(lengths(uT) > still))
        w = fT - uT
        size = lengths(w)
        off = fT - w * np.where(size > r, r / np.where(size > 0, size, 1.0), 1.0)[:, None]
        off = np.where(self.known[:, None], fT + self.radius(N, self.mu)[:, None] * self.ways, off)
        off[self.t == self.r] = 0.0
        return np.asarray(np.sqrt(normal**2 + (off**2).sum(axis=1)) / self.s)

    def size(self, f: Array) -> Array:
        """(k,) how large the terms of the speeds of each block are, in units of the problem."""
        terms = padded(np.abs(self.c) + self.abs_W @ np.abs(f))
        return np.asarray((terms[self.n] * self.has + terms[self.t].sum(axis=1)) / self.s)

    def start(self) -> Mode:
        """The mode to begin with where none is known: all closed and sticking."""
        return Mode(self.has.copy(), ~self.known & (self.tangents > 0), self.known_along(np.zeros((self.k, 2))))

    def known_along(self, along: Array) -> Array:
        """Directions of friction, against those of slips where these are known."""
        return np.where(self.known[:, None], -self.ways, along)


def padded(x: Array) -> Array:
    """(…, r + 1) with a zero behind, for rows that are not there."""
    return np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)


def lengths(x: Array) -> Array:
    """(…,) the lengths of vectors (…, 2)."""
    return np.asarray(np.hypot(x[..., 0], x[..., 1]))


def lay_out(problem: Problem) -> Layout:
    """The layout of a problem."""
    laws, W = problem.laws, problem.W
    k, r = len(laws), len(problem.c)
    sizes = np.array([law.rows for law in laws], dtype=np.intp)
    first = np.cumsum(sizes) - sizes
    has = np.array([law.normal != "none" for law in laws], dtype=bool)
    tangents = np.array([law.tangents for law in laws], dtype=np.intp)
    t = np.where(np.arange(2) < tangents[:, None], (first + has)[:, None] + np.arange(2), r)
    mu, static, bound, low = np.array([(law.mu, law.mu_static, law.bound, law.low) for law in laws]).reshape(k, 4).T
    block = np.repeat(np.arange(k), sizes)
    mean = np.bincount(block, np.diagonal(W), k) / np.maximum(sizes, 1)
    s = 1 / np.sqrt(np.where(mean > IMMOBILE * mean.max(initial=0.0), mean, 1.0))
    scale = s[block]
    scaled = W * scale * scale[:, None]
    known = np.array([bool(law.way) for law in laws], dtype=bool)
    ways = np.zeros((k, 2))
    for i in np.flatnonzero(known):
        ways[i, : tangents[i]] = laws[i].way
    return Layout(
        problem, np.where(has, first, r), t, has, np.array([law.normal == "bilateral" for law in laws], dtype=bool),
        tangents, known, ways, mu, static, bound / s, low / s, s, scale, scaled, np.abs(scaled), problem.c * scale,
        not ((tangents == 2) & ~known).any(), is_regular(scaled, bool((W == W.T).all())),
    )  # fmt: skip


def is_regular(W: Array, symmetric: bool) -> bool:
    """Whether all pivots of a scaled response are far from zero; singular values where it is not symmetric."""
    if not symmetric:  # scaled rows are not to the last bit
        s = np.linalg.svd(W, compute_uv=False)
        return bool(s[-1] > FAR_FROM_DEPENDENT * s[0])
    try:
        return bool((np.diagonal(np.linalg.cholesky(W)) ** 2 > FAR_FROM_DEPENDENT).all())
    except np.linalg.LinAlgError:
        return False
