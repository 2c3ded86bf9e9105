"""One step of Moreau and Jean's method, from (t, q, v) to t + h.

    q_m = q + ½hv;   M(v' − v) = h(Q + C) + EᵀΛ_E + nᵀΛ + tᵀΛ_T  at q_m;   q' = q_m + ½hv'.

A contact acts if its gap is zero, or would be negative in the middle of the next step, g_m + hγ' < 0; so it acts before
it is penetrated, not after. Then 0 ≤ Λ ⊥ γ' + εγ ≥ 0, if it bounces, and Coulomb's law holds for Λ_T and the slip
afterwards. A bounce that would be over within a step is none: the contact lands, 0 ≤ Λ ⊥ γ' + g_m/h ≥ 0. Limits of
velocities act at any time. Which contacts act is asked of γ' without impulses first; then, of those that have pushed
until now or move slowly, with the impulses that were found: what falls together is pressed together by others.

γ and γ' are the speeds at both ends of the step; with those in the middle, γ_m = n v + ∂g/∂t, it is
γ' = n v' + ∂g/∂t + (γ_m − γ). So Λ does the work ½Λ(γ + γ') ≤ 0; what separates and is pushed all the same may
approach as fast as it went, so that this holds. Equalities hold for the mean of both velocities, and forces that depend
on velocities are those of the mean, by one repetition. So steps are of second order while nothing closes or sticks, and
of first order across that.

At the end positions are moved, by least kinetic energy, onto the equalities and out of contacts that are penetrated and
stay closed or linger, or were run into; what bounces leaves by itself. Velocities are moved onto the equalities.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import TINIEST, Array
from zwang.compile import Kernel
from zwang.engines.stepping.back import ALSO_NEAR, BACK_AT_MOST, MOVED_BACK, SWEEPS_BACK
from zwang.engines.stepping.contacts import AT_STANDSTILL
from zwang.engines.stepping.readings import ROUNDED_TERMS
from zwang.engines.stepping.step import DRAWN_IN_AT_MOST, STRIKES
from zwang.engines.stepping.tables import Given
from zwang.engines.task import Status
from zwang.linalg.sparse.matrix import is_sparse
from zwang.lowering.lowered import AnyMatrices
from zwang.lowering.stepping import stepped
from zwang.motion.contact.coefficients import coefficients
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.steps.impulses import Rubs, impulses, laid_out
from zwang.motion.contact.steps.response import AnyResponse, response
from zwang.motion.contact.steps.step import Acting, Step
from zwang.motion.setup import Setup
from zwang.motion.start import State

SAVED_AT_ONCE = 256  # saved states whose matrices are evaluated together
CONTRADICTED = 1e-8  # of the largest speed: what is left of laws that cannot be obeyed together, and more


class Scheme:
    """The method for one system."""

    def __init__(self, setup: Setup, start: State) -> None:
        """With the system's numbers, at a start."""
        assert setup.contact is not None
        system = setup.system
        self.setup, self.made = setup, stepped(setup.lowered)
        self.rows = list(setup.contact.rows)
        self.place = {i: k for k, i in enumerate(self.rows)}
        self.m = len(system.constraints)
        self.equal = np.array([i for i in range(self.m) if i not in self.place], dtype=np.intp)
        order = np.array([c.order for c in system.constraints], dtype=int)
        self.order = order
        self.holonomic = self.equal[order[self.equal] == 0]
        self.first = self.equal[order[self.equal] <= 1]
        self.always = np.array([order[i] == 1 for i in self.rows], dtype=bool)
        self.slips: dict[int, list[int]] = {}
        for k, i in enumerate(self.made.slips):
            self.slips.setdefault(i, []).append(self.m + k)
        found = coefficients(setup, self.rows)
        self.restitution = found.restitution[self.rows]
        self.friction = np.array([found.friction.get(i, (0.0, 0.0)) for i in self.rows]).reshape(-1, 2)
        self.slips = {i: rows for i, rows in self.slips.items() if self.friction[self.place[i], 0] > 0}
        self.last = np.zeros(self.m + len(self.made.slips))
        self.stuck = np.zeros(len(self.rows), dtype=bool)
        self.rates = self.matrices(*start).residual_rate
        """What constraints and slips read in velocity where the next step begins."""
        self._known: tuple[Any, Any, AnyResponse] | None = None

    def matrices(self, t: float, q: Array, v: Array) -> AnyMatrices:
        """The system's matrices at a state, with a row for each slip."""
        return self.made.matrices.one(t, q, v, self.setup.p)

    def at_once(self, states: Sequence[State]) -> Iterator[tuple[slice | int, AnyMatrices]]:
        """The same at several states: of small systems at many together, of large ones one by one."""
        if self.made.matrices.large:
            for k, state in enumerate(states):
                yield k, self.matrices(*state)
            return
        for begin in range(0, len(states), SAVED_AT_ONCE):
            t, q, v = (np.array(part) for part in zip(*states[begin : begin + SAVED_AT_ONCE], strict=True))
            yield slice(begin, begin + len(t)), self.made.matrices(t, q, v, self.setup.p)

    def given(self, ledger: Kernel, event: Kernel | None) -> Given | None:
        """The same for a loop in machine code; None if something of it is not made for that."""
        matrices = self.made.matrices
        if matrices.implicit is not None:
            return None
        return Given(
            matrices.kernel, ledger, event, len(self.setup.events), matrices.n, matrices.m, matrices.M_index,
            matrices.A_index, matrices.sum_index, matrices.residual_index, matrices.residual_rate_index,
            np.concatenate([self.order, np.ones(matrices.m - self.m, dtype=int)]), self.equal, self.rows,
            [self.slips.get(i, []) for i in self.rows], self.always, self.restitution, self.friction, self.setup.p,
            self.made.hastens,
        )  # fmt: skip

    def response(self, M: Any, E: Any) -> AnyResponse:
        """How velocities answer; the last one is kept, for masses often do not change."""
        if self._known is not None and same(self._known[0], M) and same(self._known[1], E):
            return self._known[2]
        found = response(M, E)
        self._known = (M, E, found)
        return found

    def forward(self, state: State, until: float) -> Step:
        """The next step, from a state to a time."""
        (t, q, v), rows = state, self.rows
        h = until - t
        middle = t + h / 2, q + h / 2 * v
        now = self.matrices(*middle, v)
        answer = self.response(now.M, now.A[self.equal])
        free = self.pushed(now, now, answer, Bounds.none(), v, h)
        bounds = self.bounds(now, middle[1], free.change, h)
        found = self.agreed(now, now, answer, bounds, v, h) if len(bounds.contacts) else free
        for _ in range(DRAWN_IN_AT_MOST):
            more = self.pressed(now, bounds, free.change, found.change, h)
            if not len(more):
                break
            bounds = bounds.joined(more, rows, self.landing(now, h)[more])
            found = self.agreed(now, now, answer, bounds, v, h)
        if self.made.hastens:
            later = self.matrices(*middle, v + found.change / 2)
            found = self.agreed(now, later, answer, bounds, v, h)
        after = v + found.change
        if not np.isfinite(after).all():
            raise Stop(Status.NOT_FINITE, "A velocity is not finite after the step.")
        # At rest, what impulses take from an approach is rounding beside all that they do.
        approach = np.where(found.before < 0, found.before, 0.0) @ found.multipliers[rows]
        jump = found.change - free.change
        met = bool(-approach > STRIKES * abs(found.impulse @ jump))
        step = Step(
            state, (until, middle[1] + h / 2 * after, after), after, jump, np.zeros(len(q)),
            found.multipliers, found.impulse, (found.before, found.after), found.sticks,
            found.left, found.sweeps, np.zeros(len(rows)), found.acting, found.dulled, met,
        )  # fmt: skip
        step = self.back(step)
        self.last, self.stuck = found.multipliers, found.sticks
        return step

    def bounds(self, now: AnyMatrices, q: Array, change: Array, h: float) -> "Bounds":
        """What contacts ask of their speeds at the end of a step, where these matter; `change` is that without them."""
        rows, gaps = self.rows, now.residual[self.rows]
        gamma = self.rates[rows]
        without = 2 * now.residual_rate[rows] - gamma + now.A[rows] @ change
        fastest = float(max(np.abs(gamma).max(initial=0.0), np.abs(without).max(initial=0.0)))
        with np.errstate(invalid="ignore"):  # limits of velocities have no gaps
            reached = gaps + h * without < 0
            near = (gaps <= self.rounding(now, q)[rows]) | ((self.restitution == 0) & (gaps < h * fastest))
        bounces = reached & (-2 * self.restitution * gamma > gamma - without)
        landing = self.landing(now, h)
        least = np.where(bounces, -self.restitution * gamma, landing)
        least = np.where(self.always, -self.restitution * np.minimum(gamma, 0.0), least)
        which = np.flatnonzero(self.always | reached | near)
        landing = np.where(self.always, 0.0, landing)
        return Bounds(which, [rows[k] for k in which], least[which], landing[which])

    def landing(self, now: AnyMatrices, h: float) -> Array:
        """(k,) the least speeds of contacts that land; what separates may approach as fast as it went."""
        gaps, gamma = now.residual[self.rows], self.rates[self.rows]
        return -np.maximum(np.maximum(gaps, 0.0) / h, np.maximum(gamma, 0.0))

    def pressed(self, now: AnyMatrices, bounds: "Bounds", free: Array, change: Array, h: float) -> NDArray[np.intp]:
        """The places of further contacts that impulses of others press together.

        Only those that have pushed until now, or are no faster than forces alone make things in a step: what is struck
        fast bounces, in the next step.
        """
        rows = self.rows
        A, gaps = now.A[rows], now.residual[rows]
        after = 2 * now.residual_rate[rows] - self.rates[rows] + A @ change
        calm = (self.last[rows] > 0) | (np.abs(after) <= abs(A) @ np.abs(free))
        with np.errstate(invalid="ignore"):  # limits of velocities have no gaps
            return np.flatnonzero((gaps + h * after < 0) & calm & ~bounds.active(len(rows)))

    def agreed(
        self, now: AnyMatrices, forces: AnyMatrices, answer: AnyResponse, bounds: "Bounds", v: Array, h: float
    ) -> "Pushed":
        """The same as `pushed`; where contacts contradict each other, as in a wedge, less is asked of them in a step.

        Nothing bounces, and surfaces do not turn against the motion: rest is allowed then, and there is a solution.
        """
        found = self.pushed(now, forces, answer, bounds, v, h)
        if found.left <= CONTRADICTED:
            return found
        without = self.pushed(now, forces, answer, bounds.relaxed, v, h)
        return replace(without, dulled=True) if without.left < found.left else found

    def pushed(
        self, now: AnyMatrices, forces: AnyMatrices, answer: AnyResponse, bounds: "Bounds", v: Array, h: float
    ) -> "Pushed":
        """Velocities changed by forces, equalities and contacts; `forces` has those at the mean of the velocities."""
        contacts = bounds.contacts
        rows, first = laid_out(contacts, self.slips)
        asked = np.where(self.order[self.equal] == 2, h * forces.b[self.equal], -2 * now.residual_rate[self.equal])
        given = h * (forces.Q + forces.C)
        change, lam = answer.solve(given, asked)
        multipliers = np.zeros(len(self.last))
        count = len(self.rows)
        before, after, sticks = np.full(count, np.nan), np.full(count, np.nan), np.zeros(count, dtype=bool)
        left, sweeps, acting = 0.0, 0, None
        if rows:
            A, which = now.A[rows], bounds.which
            columns = answer.columns(A)
            W = answer.mobility(A, columns)
            speeds = self.rates[rows]
            beyond = (
                2 * now.residual_rate[rows] - speeds - A @ v
            )  # what A v' lacks of the speeds at the end of the step
            if bounds.easy:
                bends = now.residual_rate[rows] - speeds
                kept = np.zeros(len(rows))
                kept[first[:-1]] = np.maximum(bends[first[:-1]], 0.0)
                beyond = beyond - bends + kept
            free = A @ (v + change) + beyond
            free[first[:-1]] -= bounds.least
            rubs = Rubs(first, self.friction[which], self.stuck[which], speeds)
            found, size = impulses(W, free, rubs, self.last[rows])
            slips = rubs.slips(found.u)
            pushes = found.x[first[:-1]] > 0
            stays = (
                pushes & (rubs.sizes > 1) & (np.sqrt((slips * slips).sum(axis=1)) <= AT_STANDSTILL * max(size, TINIEST))
            )
            change = change + columns @ found.x
            multipliers[rows] = found.x
            if stays.any() and isinstance(W, np.ndarray):
                stuck = np.concatenate([np.arange(first[k] + 1, first[k + 1]) for k in np.flatnonzero(stays)])
                slip = A[stuck] @ (v + change) + beyond[stuck]
                rest = np.linalg.lstsq(W[np.ix_(stuck, stuck)], -slip, rcond=None)[0]
                change = change + columns[:, stuck] @ rest
            lam = lam + answer.solve(A.T @ found.x, np.zeros(len(asked)))[1]
            sticks[which] = stays
            before[which], after[which] = speeds[first[:-1]], found.u[first[:-1]] + bounds.least
            left, sweeps = found.left / size if size > 0 else 0.0, found.sweeps
            acting = W, first, pushes, sticks[which]
        multipliers[self.equal] = lam
        impulse = now.A.T @ multipliers
        return Pushed(change, multipliers, impulse, before, after, sticks, left, sweeps, Acting(answer.rank, acting))

    def back(self, step: Step) -> Step:
        """The step with its end moved back onto the equalities, and out of contacts that stay closed."""
        (t, q, v), rows, (before, after) = step.end, self.rows, step.speeds
        pushes, h = step.multipliers[rows] > 0, t - step.begin[0]
        closed = np.isnan(before) | (
            pushes & ~(after > AT_STANDSTILL * np.abs(before))
        )  # what bounces leaves by itself
        for turn in range(BACK_AT_MOST + 1):
            now = self.matrices(t, q, v)
            near = self.rounding(now, q)
            gaps = np.where(self.always, np.inf, now.residual[rows])
            off = now.residual[self.holonomic]
            lingers = ~pushes & ~(after * h >= -gaps)  # what does not push, and is not out of it within a step
            stays = (closed | lingers) & (gaps < -near[rows])
            fine = not stays.any() and not (np.abs(off) > near[self.holonomic]).any()
            if fine or turn == BACK_AT_MOST:
                break
            q = q + self.move(now, off, gaps, stays)
        self.rates = now.residual_rate
        if len(self.first):
            answer = response(now.M, now.A[self.first])
            onto = -answer.solve(np.zeros(len(v)), now.residual_rate[self.first])[0]
            v, self.rates = v + onto, self.rates + now.A @ onto
        depth = np.where(self.always, 0.0, np.maximum(-gaps, 0.0))
        return replace(step, end=(t, q, v), moved=q - step.end[1], depth=depth)

    def move(self, now: AnyMatrices, off: Array, gaps: Array, stays: NDArray[np.bool_]) -> Array:
        """How to move positions, by least kinetic energy, so that equalities hold and contacts are not penetrated."""
        answer = response(now.M, now.A[self.holonomic])
        dq, _ = answer.solve(np.zeros(len(now.Q)), -off)
        if not stays.any():
            return dq
        deepest = float(-gaps[stays].min())
        which = np.flatnonzero(gaps < ALSO_NEAR * deepest)
        contacts = [self.rows[k] for k in which]
        A = now.A[contacts]
        columns = answer.columns(A)
        wanted = np.where(stays[which], -gaps[which], np.minimum(-gaps[which], 0.0))
        free = A @ dq - wanted
        count = len(contacts)
        first = np.arange(count + 1)
        rubs = Rubs(first, np.zeros((count, 2)), np.zeros(count, dtype=bool), free)
        found, _ = impulses(answer.mobility(A, columns), free, rubs, np.zeros(count), SWEEPS_BACK, MOVED_BACK)
        return dq + columns @ found.x

    def rounding(self, now: AnyMatrices, q: Array) -> Array:
        """(m,) what of a gap is rounding."""
        A = now.A[: self.m]
        return np.asarray(ROUNDED_TERMS * (np.nan_to_num(now.size[: self.m]) + abs(A) @ np.abs(q)))


@dataclass(frozen=True)
class Bounds:
    """Contacts that matter in a step, by their places and as constraints, and their least speeds at its end."""

    which: NDArray[np.intp]
    contacts: list[int]
    least: Array
    landing: Array
    """The same if nothing bounces."""
    easy: bool = False
    """Whether surfaces that turn towards the motion are taken as if they did not."""

    @property
    def relaxed(self) -> "Bounds":
        """The same contacts, asked for less."""
        return replace(self, least=np.minimum(self.least, self.landing), easy=True)

    @classmethod
    def none(cls) -> "Bounds":
        """No contacts."""
        return cls(np.zeros(0, dtype=np.intp), [], np.zeros(0), np.zeros(0))

    def joined(self, more: NDArray[np.intp], rows: list[int], landing: Array) -> "Bounds":
        """The same with further contacts, which land."""
        which = np.concatenate([self.which, more])
        order = np.argsort(which)
        least, land = np.concatenate([self.least, landing]), np.concatenate([self.landing, landing])
        return Bounds(which[order], [rows[k] for k in which[order]], least[order], land[order])

    def active(self, count: int) -> NDArray[np.bool_]:
        """(k,) which of so many contacts are among them."""
        found = np.zeros(count, dtype=bool)
        found[self.which] = True
        return found


@dataclass(frozen=True)
class Pushed:
    """What forces, equalities and contacts have done to the velocities; see `Step`."""

    change: Array
    multipliers: Array
    impulse: Array
    before: Array
    after: Array
    sticks: NDArray[np.bool_]
    left: float
    sweeps: int
    acting: "Acting"
    dulled: bool = False
    """Whether restitutions contradicted each other, and were left out."""


def same(X: Any, Y: Any) -> bool:
    """Whether two matrices are the same."""
    if is_sparse(X):
        return (
            X.shape == Y.shape
            and X.nnz == Y.nnz
            and bool((X.data == Y.data).all())
            and bool((X.indices == Y.indices).all())
        )
    return bool(np.array_equal(X, Y))
