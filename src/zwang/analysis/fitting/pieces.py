"""Multiple shooting: a long motion in pieces, each with a start of its own, joined where they meet.

Over a long time a motion depends on its start and its parameters so strongly that a first guess leads nowhere near the
data, and least squares have many false minima. In pieces it stays near the data from the beginning. With the unknowns θ
and the starts x_j of the pieces on the states N that obey the constraints, moved along their tangent spaces T_j by y_j,

    minimise ½|r(θ, y)|²    subject to    c_j = T_{j+1}⁺(x(t_{j+1}; x_j, θ) − x_{j+1}) = 0,

by the method of Gauss and Newton (Bock 1987): each step solves the linear problem, with orthonormal directions Z of the
null space of ∂c, which stay of unit length however fast neighbours of the motion part. At the end c = 0: it is one
motion, and the estimate that of all data at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.dynamics import dynamics_of
from zwang.analysis.fitting.trial import Trial
from zwang.analysis.readings import readings_of
from zwang.analysis.settle import Search, units_along
from zwang.arrays import TINIEST, Array
from zwang.errors import AssemblyError, InputError, SimulationError, ZwangError
from zwang.formulations.one_sided import quadratic_program
from zwang.motion.direction import admissible
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

FITTED_STEP = 1e-10  # a step in shares of the unknowns and natural units of the starts that ends the search
JOINED = 1e-8  # natural units by which pieces may miss each other
ROUNDED_STEP = 1e-9  # singular values below this share of the largest move nothing that data tell
FIRST_LOOK = 1e-3  # the same where a start is first looked for in its piece alone
LONGEST_MOVE = 1.0  # of a start in a step, in natural units
MOST_TURNS = 100
LOOKS = 8  # at each piece alone


@dataclass(frozen=True, eq=False)
class Node:
    """The start of a piece on its constraints: its tangent space, and how it follows the unknowns."""

    x: Array
    unit: Array
    basis: Array
    """(2n, d) orthonormal in natural units"""
    following: Array
    """(2n, k) admissible changes with the unknowns, others held"""

    @property
    def inverse(self) -> Array:
        """(d, 2n) T⁺."""
        return np.asarray(self.basis.T / self.unit)


@dataclass(frozen=True, eq=False)
class Linearised:
    """Residuals r (N,) and gaps c (m,) at some values, with their derivatives by all variables."""

    r: Array
    J: Array
    c: Array
    C: Array
    nodes: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, eq=False)
class Cut:
    """A trial in pieces: which times of the data belong to each, and when the later ones begin."""

    trial: Trial
    rows: tuple[Any, ...]
    begins: tuple[float, ...]

    @classmethod
    def of(cls, trial: Trial, pieces: int) -> "Cut":
        """A trial in pieces of about as many times each."""
        times = trial.data.times
        if pieces > len(times):
            raise InputError(f"pieces = {pieces}: data at {count(len(times), 'time')} cannot be cut into so many")
        rows = list(np.array_split(np.arange(len(times)), pieces))
        if len(rows) > 1 and times[rows[1][0]] <= trial.t:
            raise InputError(f"pieces = {pieces}: data begin too near to the start to be cut so")
        return cls(trial, tuple(rows), tuple(float(times[part[0]]) for part in rows[1:]))

    def search(self, theta: Array, t: float) -> Search:
        """The states that obey the constraints, with these values, at a time."""
        system, values = self.trial.system, self.trial.values(theta)
        dynamics = dynamics_of(system, values, t)
        rates = readings_of(dynamics, system.velocities, "constant")
        return Search(dynamics, rates, None, np.zeros(0), rest=False)

    def node(self, theta: Array, j: int, x: Array, unit: Array, like: Node | None = None) -> Node:
        """The start of piece j + 1 nearest to a state; in directions like those of one nearby."""
        system, n, t = self.trial.system, len(self.trial.system.coordinates), self.begins[j]
        search = self.search(theta, t)
        x, found = search.onto(x, unit)
        if not found:
            raise AssemblyError(f"no state near the start of piece {j + 2} obeys every constraint with these values")
        point = search.dynamics.at(x[:n], x[n:])
        basis = np.linalg.qr((point.tangent.rows / unit).T)[0]
        if like is not None and like.basis.shape == basis.shape:
            U, _, Vt = np.linalg.svd(basis.T @ like.basis)
            basis = basis @ U @ Vt
        following = np.zeros((2 * n, len(theta)))
        if any(constraint.order < 2 for constraint in system.constraints) and self.trial.own:
            state = self.trial.state(x)
            ways = admissible(system, state, list(self.trial.own), parameters=self.trial.values(theta), t=t)
            for s, way in zip(self.trial.own, ways.values(), strict=True):
                i = self.trial.unknown.index(s)
                following[:, i] = [way.get(key, 0.0) for key in self.trial.keys]
        return Node(x, unit, basis, following)

    def units(self, theta: Array, passed: Sequence[Array]) -> Array:
        """(2n,) natural units along the motion, from states that it passes."""
        n = len(self.trial.system.coordinates)
        states = np.array(passed)
        return units_along(self.search(theta, self.trial.t), states[:, :n], states[:, n:])

    def directions(self, theta: Array, node: Node | None) -> tuple[Any, list[dict[Any, float]]]:
        """The start of a piece, and the directions of the unknowns, then of its own tangent space."""
        if node is None:
            return self.trial.begin(theta)
        keys, own = self.trial.keys, self.trial.own
        ways = []
        for i, s in enumerate(self.trial.unknown):
            way = {key: float(d) for key, d in zip(keys, node.following[:, i], strict=True) if d}
            ways.append(way | ({s: 1.0} if s in own else {}))
        for column in (node.basis * node.unit[:, None]).T:
            ways.append({key: float(d) for key, d in zip(keys, column, strict=True) if d})
        return self.trial.state(node.x), ways

    def piece(self, theta: Array, j: int, node: Node | None) -> tuple[Array, Array, Array, Array]:
        """Residuals and end of a piece, with their derivatives by the unknowns and its start."""
        rows, last = self.rows[j], j == len(self.begins)
        times = self.trial.data.times[rows]
        begin = self.trial.t if node is None else self.begins[j - 1]
        state, ways = self.directions(theta, node)
        there = times if last else np.append(times, self.begins[j])
        course = self.trial.followed(state, ways, begin, there, theta)
        r, J = self.trial.residuals(theta, rows, course.first(len(times)))
        end = np.concatenate([course.q[-1], course.v[-1]])
        return r, J, end, np.concatenate([course.dq[-1], course.dv[-1]])


@dataclass(eq=False)
class Shooting:
    """All trials in pieces, and the search for unknowns and starts together."""

    trials: Sequence[Trial]
    pieces: int
    evaluations: int = 0

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """The trials in pieces."""
        return tuple(Cut.of(trial, self.pieces) for trial in self.trials)

    def first_nodes(self, theta: Array) -> tuple[tuple[Node, ...], ...]:
        """Starts of the pieces, one after the other: where the piece before ends, then as its own data say."""
        found = []
        for cut in self.cuts:
            nodes: list[Node] = []
            state, _ = cut.trial.begin(theta)
            passed = [np.array([state[key] for key in cut.trial.keys])]
            for j in range(len(cut.begins)):
                passed.append(cut.piece(theta, j, nodes[-1] if nodes else None)[2])
                nodes.append(looked_for(cut, theta, j, cut.node(theta, j, passed[-1], cut.units(theta, passed))))
            units = cut.units(theta, passed)
            found.append(tuple(cut.node(theta, j, node.x, units) for j, node in enumerate(nodes)))
        return tuple(found)

    def linearised(self, theta: Array, nodes: tuple[tuple[Node, ...], ...]) -> Linearised:
        """Residuals and gaps with their derivatives, by θ and then by the y of all nodes, trial by trial."""
        self.evaluations += 1
        k, sizes = len(theta), [node.basis.shape[1] for chain in nodes for node in chain]
        starts = k + np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        width, place = int(starts[-1]), 0
        r, J, c, C = [], [], [], []
        for cut, chain in zip(self.cuts, nodes, strict=True):
            before: Node | None = None
            for j in range(len(cut.rows)):
                residual, dr, end, dend = cut.piece(theta, j, before)
                own = slice(starts[place - 1], starts[place]) if before is not None else slice(0, 0)
                r.append(residual)
                J.append(spread(dr, k, own, width))
                if j < len(chain):
                    after = chain[j]
                    c.append(after.inverse @ (end - after.x))
                    change = spread(dend, k, own, width)
                    change[:, :k] -= after.following
                    rows = after.inverse @ change
                    rows[:, starts[place] : starts[place + 1]] -= np.eye(after.basis.shape[1])
                    C.append(rows)
                    before, place = after, place + 1
        gaps = (np.concatenate(c), np.vstack(C)) if c else (np.zeros(0), np.zeros((0, width)))
        return Linearised(np.concatenate(r), np.vstack(J), *gaps, nodes)

    def moved(
        self, theta: Array, nodes: tuple[tuple[Node, ...], ...], step: Array
    ) -> tuple[Array, tuple[tuple[Node, ...], ...]]:
        """Unknowns and starts a step farther, each start on its constraints."""
        k = len(theta)
        there, place, found = theta + step[:k], k, []
        for cut, chain in zip(self.cuts, nodes, strict=True):
            new = []
            for j, node in enumerate(chain):
                d = node.basis.shape[1]
                x = node.x + node.following @ step[:k] + node.unit * (node.basis @ step[place : place + d])
                new.append(cut.node(there, j, x, node.unit, node))
                place += d
            found.append(tuple(new))
        return there, tuple(found)

    def fitted(self, theta: Array, low: Array, high: Array) -> tuple[Array, Linearised]:
        """The values with the least squares, and everything there."""
        nodes = self.first_nodes(theta)
        here, k = self.linearised(theta, nodes), len(theta)
        for _ in range(MOST_TURNS):
            sizes = scale_of(theta, here)
            step = solved(here, here.r, here.c, sizes, theta, low, high)
            length = float(np.abs(step / sizes).max())
            if length <= FITTED_STEP and np.abs(here.c).max(initial=0.0) <= JOINED:
                return theta, here
            share = min(1.0, LONGEST_MOVE / max(float(np.abs(step[k:]).max(initial=0.0)), TINIEST))
            better = None
            for _ in range(10):
                try:
                    there, moved = self.moved(theta, nodes, share * step)
                    new = self.linearised(there, moved)
                except (SimulationError, AssemblyError):
                    share /= 2
                    continue
                # what is to go, by the slopes at hand, must become less: then stiff directions do not hide others
                to_go = solved(here, new.r, new.c, sizes, there, low, high)
                if np.linalg.norm(to_go / sizes) < (1 - share / 4) * np.linalg.norm(step / sizes):
                    better = there, moved, new
                    break
                share /= 2
            if better is None:
                break
            theta, nodes, here = better
        if np.abs(here.c).max(initial=0.0) <= JOINED:
            return theta, here
        raise InputError(
            f"no motion through all pieces was found: two of them miss each other by {np.abs(here.c).max():.3g} in "
            f"natural units; give better first guesses, or cut the data into more pieces"
        )

    def motions(self, theta: Array, here: Linearised) -> "tuple[xr.Dataset, ...]":
        """The motion of each trial, piece after piece."""
        import xarray as xr

        found = []
        for cut, chain in zip(self.cuts, here.nodes, strict=True):
            parts = []
            for j, rows in enumerate(cut.rows):
                begin = cut.trial.t if j == 0 else cut.begins[j - 1]
                state = None if j == 0 else cut.trial.state(chain[j - 1].x)
                data = replace(cut.trial.data, times=cut.trial.data.times[rows], values=cut.trial.data.values[rows])
                parts.append(replace(cut.trial, data=data, t=begin).motion(theta, state))
            whole = xr.concat(
                parts, dim="time", data_vars="minimal", coords="minimal", compat="override", join="override"
            )
            found.append(whole.assign_attrs(parts[-1].attrs))
        return tuple(found)


def looked_for(cut: Cut, theta: Array, j: int, node: Node) -> Node:
    """The start of piece j + 1 with which it comes nearest to its own data, the unknowns held; or the one given."""
    k = len(theta)
    try:
        r, J, _, _ = cut.piece(theta, j + 1, node)
        for _ in range(LOOKS):
            step = np.linalg.lstsq(J[:, k:], -r, rcond=FIRST_LOOK)[0]
            share = min(1.0, LONGEST_MOVE / max(float(np.abs(step).max(initial=0.0)), TINIEST))
            there = cut.node(theta, j, node.x + share * node.unit * (node.basis @ step), node.unit)
            new, slopes, _, _ = cut.piece(theta, j + 1, there)
            if not new @ new < 0.99 * (r @ r):
                break
            node, r, J = there, new, slopes
    except ZwangError:  # a start that cannot be: the last one that could serves
        pass
    return node


def spread(rows: Array, k: int, own: slice, width: int) -> Array:
    """Derivatives by the unknowns and by the own start of a piece, at their places among all variables."""
    whole = np.zeros((len(rows), width))
    whole[:, :k] = rows[:, :k]
    whole[:, own] = rows[:, k:]
    return whole


def scale_of(theta: Array, here: Linearised) -> Array:
    """By how much variables may change: unknowns by their own size, starts by natural units."""
    sizes = np.ones(here.J.shape[1])
    sizes[: len(theta)] = np.where(theta != 0, np.abs(theta), 1.0)
    return sizes


def free_directions(here: Linearised, sizes: Array) -> tuple[Array, Array]:
    """Y R⁻ᵀ (w, m), from gaps to the shortest change that closes them, and Z (w, w − m), changes that open none."""
    m, width = here.C.shape
    if not m:
        return np.zeros((width, 0)), np.eye(width)
    Q, R = np.linalg.qr((here.C * sizes).T, mode="complete")
    return np.asarray(np.linalg.solve(R[:m], Q[:, :m].T).T), np.asarray(Q[:, m:])


def solved(here: Linearised, r: Array, c: Array, sizes: Array, theta: Array, low: Array, high: Array) -> Array:
    """The step of Gauss and Newton for some residuals and gaps, with the slopes at hand and within bounds."""
    back, Z = free_directions(here, sizes)
    J, k = here.J * sizes, len(theta)
    particular = -back @ c
    reduced, wanted = J @ Z, -(r + J @ particular)
    step = particular + Z @ np.linalg.lstsq(reduced, wanted, rcond=ROUNDED_STEP)[0]
    there = theta + (step * sizes)[:k]
    if (there >= low).all() and (there <= high).all():
        return np.asarray(step * sizes)
    bounded = np.isfinite(low), np.isfinite(high)
    rows = np.vstack([Z[:k][bounded[0]], -Z[:k][bounded[1]]])
    offset = (theta / sizes[:k]) + particular[:k]
    limits = np.concatenate([(low / sizes[:k] - offset)[bounded[0]], (offset - high / sizes[:k])[bounded[1]]])
    H = reduced.T @ reduced
    found = quadratic_program(H + 1e-12 * np.trace(H) * np.eye(len(H)), -reduced.T @ wanted, rows, limits)
    return np.asarray((particular + Z @ found[0]) * sizes if found is not None else step * sizes)
