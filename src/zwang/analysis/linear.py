"""First-order motion beside a state: A = (P F T + (Hess h · f) T)(P T)⁺ in states y = h(x).

T spans the tangent space of the states that obey the constraints, F T is how velocities and accelerations change along
it, P = ∂h/∂x. Where the states say all that matters, the closure ‖(…)(I − (P T)⁺P T)‖ vanishes and ẏ = A y is a
closed system: one formula for minimal coordinates, redundant ones, nonholonomic systems and cyclic reduction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.analysis.dynamics import Change, Dynamics, Point, unchanged
from zwang.analysis.readings import Readings
from zwang.analysis.tangent import Tangent
from zwang.arrays import EPS, TINIEST, Array
from zwang.errors import InputError
from zwang.linalg.rank import row_norms
from zwang.lowering.cache import Kept
from zwang.words import listed

DEPENDENT_STATES = 1e-10  # a share of a state's change that is not made of other states': below it, they are dependent
CLOSED = 1e-7  # a share of the rates that other directions change: below it, states say all that matters
STANDING = 1e-8  # rates of states this small beside what they are made of vanish
ROUNDED_ENTRY = 16 * EPS  # entries of A below this share of the largest of their row are rounding
LEAST_STATE = 1e-4  # a state near zero is not expected to be nearer than this, times the share above
UNCHANGED_RATE = 1e-6  # of what a rate is made of: times CLOSED it is above rounding, and changes below that are none
OTHER_TIMES = (0.7390851332, 1.9021605823, -3.5969937123)  # where a system is looked at again, for time in it

TIMED = (
    "the equations depend on time itself: there is neither an equilibrium nor a linear system of constant "
    "coefficients; give known functions of time a constant value, or list them among inputs"
)

_TIMED: Kept[bool] = Kept()


@dataclass(frozen=True, eq=False)
class Linear:
    """A state, states y = h(x) beside it, and how these change; of a stack with a leading axis …"""

    point: Point
    states: Readings
    tangent: Tangent
    change: Change

    @cached_property
    def _read(self) -> dict[str, Array]:
        return self.states.along(self.point, self.tangent.dq, self.tangent.dv, self.change)

    @property
    def rates(self) -> Array:
        """(…, s) ẏ at the state itself: zero where it is steady."""
        return self._read["rate"]

    @property
    def reading(self) -> Array:
        """(…, s) y at the state itself."""
        return self._read["reading"]

    @cached_property
    def scale(self) -> Array:
        """(…, s) by how much states change in a step of unit length, so that none is large or small by its units."""
        return row_norms(self._read["d_reading"].mT)

    @cached_property
    def changes(self) -> Array:
        """(…, s, d) the states' changes along the tangent space, in equal units."""
        return np.asarray(self._read["d_reading"].mT / self.scale[..., None])

    @cached_property
    def rate_changes(self) -> Array:
        """(…, s, d) their rates' changes, likewise."""
        return np.asarray(self._read["d_rate"].mT / self.scale[..., None])

    @cached_property
    def _inverse(self) -> Array:
        return np.asarray(np.linalg.pinv(self.changes, rcond=DEPENDENT_STATES))

    @cached_property
    def A(self) -> Array:
        """(…, s, s) ẏ = A y."""
        scaled = self.rate_changes @ self._inverse
        zero = np.abs(scaled) <= ROUNDED_ENTRY * np.abs(scaled).max(axis=-1, initial=0.0, keepdims=True)
        return np.asarray(np.where(zero, 0.0, scaled) * self.scale[..., None] / self.scale[..., None, :])

    @property
    def lift(self) -> Array:
        """(…, d, s) from states to the tangent space: T(P T)⁺ is a state's part in all coordinates."""
        return np.asarray(self._inverse / self.scale[..., None, :])

    @cached_property
    def _beyond(self) -> Array:
        """(…, s, d) what the rates depend on beside the states."""
        return np.asarray(self.rate_changes - self.rate_changes @ self._inverse @ self.changes)

    @cached_property
    def closure(self) -> float:
        """The share of the rates that the states do not determine; of a stack the largest.

        Rates that do not change at all, as of what spins by itself, are rounding of what they are made of.
        """
        faster = np.abs(self.tangent.dv).max(axis=-2, initial=0.0)  # steps of unit length, beside a slow motion, too
        made_of = (self.sizes(faster) / self.scale).max(axis=-1, initial=0.0)
        size = np.maximum(np.abs(self.rate_changes).max(axis=(-2, -1), initial=0.0), UNCHANGED_RATE * made_of)
        share = np.abs(self._beyond).max(axis=(-2, -1), initial=0.0) / np.maximum(size, TINIEST)
        return float(share.max(initial=0.0))

    def seen(self, changes: Array, names: Sequence[str], most: float) -> Array:
        """(…, z, s) what changes (…, z, d) along the tangent space are in the states; refused if these do not tell."""
        C = changes @ self.lift
        changed = np.abs(changes).max(axis=-1, initial=0.0)
        beyond = np.abs(changes - C @ (self.changes * self.scale[..., None])).max(axis=-1, initial=0.0)
        bad = beyond > most * np.maximum(changed, TINIEST)
        if bad.any():
            name = names[int(np.argwhere(bad)[0][-1])]
            raise InputError(f"the output {name} depends on more than these states say: add states, or leave it out")
        scaled = np.abs(C * self.scale[..., None, :])
        size = np.maximum(scaled.max(axis=-1, initial=0.0), changed)[..., None]
        return np.asarray(np.where(scaled <= ROUNDED_ENTRY * size, 0.0, C))

    @property
    def unmoved(self) -> list[str]:
        """States of one point that do not change along the constraints, to first order."""
        still = np.abs(self.changes).max(axis=-1, initial=0.0) <= DEPENDENT_STATES * np.abs(self.changes).max(
            initial=0.0
        )
        return [name for name, s in zip(self.states.names, still, strict=True) if s]

    def require_independent(self) -> None:
        """Refuse states that depend on each other along the constraints."""
        s = (
            np.linalg.svd(self.changes, compute_uv=False)
            if self.changes.size
            else np.zeros((*self.scale.shape[:-1], 0))
        )
        rank = np.count_nonzero(s > DEPENDENT_STATES * s.max(axis=-1, initial=0.0, keepdims=True), axis=-1)
        if (len(self.states.names) <= rank).all():
            return
        first = int(np.argmax(rank < len(self.states.names)))
        null = np.linalg.svd(self.changes.reshape(-1, *self.changes.shape[-2:])[first])[0][:, -1]
        names = [name for name, share in zip(self.states.names, null, strict=True) if abs(share) > 1e-6]
        if len(names) == 1:
            raise InputError(f"states: {names[0]} does not change along the constraints: leave it out")
        raise InputError(f"states: {listed(names)} depend on each other along the constraints: leave one of them out")

    def require_closed(self) -> None:
        """Refuse states that do not determine their own rates, and say what else these depend on."""
        if self.closure <= CLOSED:
            return
        units, tangent = self.point.units, self.tangent.rows
        *place, row = np.unravel_index(np.abs(self._beyond).max(axis=-1).argmax(), self._beyond.shape[:-1])
        name, at = self.states.names[int(row)], tuple(map(int, place))
        moved = self._beyond[(*at, row)] @ tangent[at] * np.concatenate([units[at], units[at]])
        system = self.point.dynamics.system
        names = [*system.coordinate_names, *(f"{q}'" for q in system.coordinate_names)]
        most = [names[i] for i in np.argsort(-np.abs(moved))[:3] if abs(moved[i]) > 0.1 * np.abs(moved).max()]
        raise InputError(
            f"these states do not close: the rate of {name} depends on more than they say, such as {listed(most)}; "
            f"add states, or leave out {name}"
        )

    def sizes(self, faster: float | Array = 0.0) -> Array:
        """(…, s) sizes of what the rates of the states are made of, where coordinates go by as much faster."""
        point, n = self.point, self.point.q.shape[-1]
        dq, dv = (np.eye(n) * x[..., None, :] for x in (np.abs(point.v) + faster, point.rounding / EPS))
        zero, nothing = np.zeros((n, n)), unchanged(point, n)
        by_q = self.states.along(point, dq, zero, nothing)["d_reading"]
        by_v = self.states.along(point, zero, dv, nothing)["d_reading"]
        return np.asarray(np.abs(by_q).sum(axis=-2) + np.abs(by_v).sum(axis=-2))

    @property
    def residual(self) -> float:
        """The largest rate of a state, as a share of what it is made of, or of its own slopes."""
        return float(self.shares.max(initial=0.0))

    @cached_property
    def shares(self) -> Array:
        """(…, s) rates of states, as shares of what they are made of, or of their own slopes."""
        slope = np.abs(self.rate_changes).max(axis=-1, initial=0.0) * self.scale
        state = np.abs(np.concatenate([self.point.q, self.point.v], axis=-1)).max(axis=-1, keepdims=True)
        size = self.sizes() + slope * np.maximum(state, LEAST_STATE)
        return np.asarray(np.abs(self.rates) / np.maximum(size, TINIEST))

    def require_steady(self) -> None:
        """Refuse a state at which states change, naming the one that does and how fast."""
        shares, rates = np.atleast_2d(self.shares), np.atleast_2d(self.rates)
        worst = int(shares.max(axis=1, initial=0.0).argmax())
        bad = [i for i in np.argsort(-shares[worst]) if shares[worst, i] > STANDING]
        if not bad:
            return
        words = listed([f"{self.states.names[i]} changes at {rates[worst, i]:.6g}" for i in bad], 3)
        raise InputError(
            f"this state is neither an equilibrium nor steady in these states: {words}; find one with "
            f"zwang.equilibrium or zwang.steady, or leave out states that are to change"
        )


def linear_at(point: Point, states: Readings) -> Linear:
    """The first-order motion beside a state, in given states."""
    tangent = point.tangent
    return Linear(point, states, tangent, point.change(tangent.dq, tangent.dv))


def require_autonomous(point: Point) -> None:
    """Refuse a system whose equations beside a state change with time."""
    dynamics = point.dynamics
    if not depends_on_time(dynamics):
        return
    tangent = point.tangent
    here = point.change(tangent.dq, tangent.dv).a
    for shift in OTHER_TIMES:
        later = dynamics.at(point.q, point.v, point.t + shift)
        off = np.nan_to_num(np.concatenate([later.now.residual, later.now.residual_rate], axis=-1))
        size = np.nan_to_num(np.concatenate([later.now.size, later.now.rate_size], axis=-1))
        moved = (np.abs(off) > 1e-8 * size + TINIEST).any()
        if not moved:
            there = later.change(tangent.dq, tangent.dv).a
            gap = np.abs(later.a - point.a).max(initial=0.0) > 1e-8 * (point.rounding.max() / 2.2e-16)
            moved = gap or np.abs(there - here).max(initial=0.0) > 1e-8 * np.abs(here).max(initial=0.0)
        if moved:
            raise InputError(TIMED)


def depends_on_time(dynamics: Dynamics) -> bool:
    """Whether time occurs in the equations."""
    return _TIMED.get(dynamics.key, lambda: time_occurs(dynamics))


def time_occurs(dynamics: Dynamics) -> bool:
    """The same, looked up in all of them."""
    derived, time = dynamics.lowered.derived, dynamics.lowered.description.axes.t
    parts = [*derived.Q, *derived.C, *derived.b, *(e for row in (*derived.M, *derived.A) for e in row.values())]
    parts += [e for e in (*derived.residual, *derived.residual_rate) if e is not None]
    return any(time in e.free_symbols for e in parts)
