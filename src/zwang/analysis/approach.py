"""Where a large system rests, on sparse matrices: the guess that the careful search of `settle` begins with.

With H = −∂(Q + C + Aᵀλ)/∂q at the multipliers that hold best, each step solves the sparse system

    H δq − Aᵀμ = Q + C + Aᵀλ,    A δq = −φ,

and is bounded in natural units. The columns of H that meet in no row are read along one direction together. Nothing is
decided here: where it does not end near rest, the guess stays as it was.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.analysis.dynamics import Dynamics
from zwang.analysis.settle import FARTHEST, Search, units_at
from zwang.arrays import TINIEST, Array, Indices
from zwang.linalg.rank import row_norms

LARGE_SEARCH = 300  # coordinates: smaller systems are searched densely from the beginning
APPROACHES = 60  # steps
NEAR_REST = 1e-9  # natural units of a step that ends it
REDUNDANT_SHARE = 1e-10  # of the rows, at unit length: what keeps redundant ones solvable


@dataclass(frozen=True, eq=False)
class Slopes:
    """How forces change with positions, as a sparse matrix: its places, and a direction for the columns of a color."""

    dynamics: Dynamics
    rows: Indices
    columns: Indices

    @classmethod
    def of(cls, dynamics: Dynamics) -> "Slopes":
        """The places where a coordinate occurs in a force, or in a row that pulls there."""
        derived, axes = dynamics.lowered.derived, dynamics.lowered.description.axes
        number = {q: j for j, q in enumerate(axes.q)}

        def places(e: object) -> set[int]:
            return {number[s] for s in e.free_symbols if s in number}  # type: ignore[attr-defined]

        found = [places(Q) | places(C) for Q, C in zip(derived.Q, derived.C, strict=True)]
        for row in derived.A:
            for i, e in row.items():
                found[i] |= places(e)
        rows = np.repeat(np.arange(len(found)), [len(js) for js in found])
        return cls(dynamics, rows, np.array([j for js in found for j in sorted(js)], dtype=np.intp))

    @cached_property
    def colors(self) -> Indices:
        """(n,) one color for columns that no row has together."""
        n = len(self.dynamics.system.coordinate_names)
        rows_of: list[list[int]] = [[] for _ in range(n)]
        columns_of: list[list[int]] = [[] for _ in range(n)]
        for i, j in zip(self.rows.tolist(), self.columns.tolist(), strict=True):
            rows_of[j].append(i)
            columns_of[i].append(j)
        colors = np.full(n, -1, dtype=np.intp)
        for j in range(n):
            taken = {colors[k] for i in rows_of[j] for k in columns_of[i]}
            colors[j] = next(c for c in range(n + 1) if c not in taken)
        return colors

    def at(self, q: Array, lam: Array) -> tuple[Array, object]:
        """Q + C + Aᵀλ at rest, and H."""
        from scipy.sparse import csc_array

        dynamics, n = self.dynamics, len(q)
        dq = (np.arange(self.colors.max() + 1)[:, None] == self.colors).astype(float)
        zero, nothing = np.zeros(n), np.zeros((len(dq), len(dynamics.values.p)))
        read = dynamics.balance(
            t=np.array([dynamics.t]), q=q, v=zero, p=dynamics.values.p, a=zero, lam=lam, w=zero,
            dq=dq, dv=np.zeros_like(dq), dp=nothing,
        )  # fmt: skip
        slopes = read["d_force"][:, 0][self.colors[self.columns], self.rows]
        return read["force"][0], csc_array((-slopes, (self.rows, self.columns)), shape=(n, n))


def approached(search: Search, q: Array) -> Array:
    """A guess nearer to rest, if the system is large and a plain search finds one; the guess itself if not."""
    dynamics = search.dynamics
    fit = search.rest and search.held is None and not dynamics.one_sided.any() and not dynamics.system.reactions
    if not fit or search.n < LARGE_SEARCH or (dynamics.order != 0).any():
        return q
    with np.errstate(all="ignore"):
        return near_rest(search, q, Slopes.of(dynamics))


def near_rest(search: Search, begin: Array, slopes: Slopes) -> Array:
    """Newton's steps on sparse matrices from a guess; the guess itself where they do not end."""
    from scipy.sparse import block_array, csc_array, eye_array
    from scipy.sparse.linalg import splu

    n, q, still = search.n, begin, np.zeros(search.n)
    unit = units_at(search, q, still)[:n]
    for _ in range(APPROACHES):
        now = search.dynamics.matrices(q, still)
        scale = row_norms(now.A * unit)
        A = csc_array(now.A * unit / scale[:, None])  # in natural units, rows at unit length
        damping = REDUNDANT_SHARE * eye_array(A.shape[0], format="csc")
        try:
            hold = splu(block_array([[eye_array(n), A.T], [A, -damping]], format="csc"))
            lam = -hold.solve(np.concatenate([(now.Q + now.C) * unit, np.zeros(A.shape[0])]))[n:]
            force, H = slopes.at(q, lam / scale)
            H = H.multiply(unit).multiply(unit[:, None])  # type: ignore[attr-defined]
            left = np.concatenate([force * unit, -now.residual / scale])
            way = splu(block_array([[H, A.T], [A, -damping]], format="csc")).solve(left)[:n]
        except RuntimeError:  # singular
            return begin
        size = float(np.abs(way).max(initial=0.0))
        if not np.isfinite(size):
            return begin
        q = q + min(1.0, FARTHEST / max(size, TINIEST)) * way * unit
        if size <= NEAR_REST:
            return np.asarray(q)
    return begin
