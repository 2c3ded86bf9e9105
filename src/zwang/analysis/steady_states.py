"""States for the motion beside a steady one: what stays constant, not only at an instant, but all along the motion.

A part of the quaternion of a spinning wheel stands still for an instant, and a linear system in it would be another one
a moment later. So the motion is followed for a while, about a radian of whatever turns. What changes on the way is no
state, and A has to be the same at the end. What turns is left out, if its own speed is told: all velocities that the
constraints leave free have to be told by rates that stay constant. Coordinates and their rates are tried first; where
they do not serve, further readings, as the rates of a body in its own axes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.dynamics import Dynamics, Point, unchanged
from zwang.analysis.linear import STANDING, Linear, linear_at
from zwang.analysis.on_constraints import point_at
from zwang.analysis.readings import Readings, readings_of
from zwang.arrays import TINIEST, Array
from zwang.errors import InputError, ZwangError
from zwang.linalg.rank import row_norms
from zwang.model.symbols import in_a_line, rates
from zwang.motion.assemble import natural_units
from zwang.words import listed

LOOKS = (0.42, 1.0)  # shares of the stretch that is followed
A_TURN = 1.0  # rad: how far what turns does so on the stretch; a half turn, too, would show quaternions as they were
DEPARTING = 3.0  # exponents by which what is unstable may depart from the motion on it: rounding stays below 1e-13
FASTEST = 30.0  # radians of the fastest oscillation or decay on it, so that few steps suffice
FOLLOWED_TOL = 1e-12  # of these steps
STAYS = 1e-6  # natural units: states are steady to 1e-8 (STANDING), and depart by some times as much
AS_BEFORE = 1e-6  # of the largest entry of a row of A: entries that differ by less are the same
MASSLESS = 1e-12  # of the largest inertia along the constraints: what has less has none
AS_BEFORE_BESIDE = 1e-9  # the same of the largest of all: rows of zeros have what is left of 1e-12 after some growth
ALONG_RATES = 1e-9  # of a reading's change: one that changes so little along velocities is made of positions only
LEFT_OF_COLUMNS = 1e-8  # of a unit: what is left of a column that depends on those that were chosen

Further = Callable[[], Sequence[Mapping[str, sp.Expr]]]


@dataclass(frozen=True, eq=False)
class Course:
    """A state at which a system moves, and where its motion is a little later."""

    begin: Point

    @property
    def moves(self) -> bool:
        """Whether there is any motion."""
        return bool(self.begin.v.any())

    @cached_property
    def _slopes(self) -> Array:
        """(d, d) how directions change at once, in units of equal mass."""
        point, tangent = self.begin, self.begin.tangent
        unit = np.concatenate([point.units, point.units])
        change = point.change(tangent.dq, tangent.dv)
        rates = np.concatenate([tangent.dv, change.a], axis=-1) * unit
        return np.asarray(rates @ np.linalg.pinv(tangent.rows * unit))

    @cached_property
    def stretch(self) -> float:
        """The time in which what turns does so by a radian, or else coordinates change by as much as matters."""
        point = self.begin
        turned = np.where(np.abs(point.a) > 1e3 * point.rounding, np.abs(point.a), 0.0) * point.units
        values = np.linalg.eigvals(self._slopes) if len(self._slopes) else np.zeros(1)
        turning = float(turned.max(initial=0.0)) / max(float((np.abs(point.v) * point.units).max()), TINIEST)
        fastest = max(turning, float(np.abs(values).max()) / FASTEST, float(values.real.max()) / DEPARTING)
        return A_TURN / (fastest or self._pace)

    @cached_property
    def later(self) -> tuple[Point, ...]:
        """The states there; as far as there is a motion."""
        from scipy.integrate import solve_ivp

        if not self.moves:
            return ()
        dynamics, n = self.begin.dynamics, self.begin.q.size

        def flow(_: float, x: Array) -> Array:
            return np.concatenate([x[n:], dynamics.at(x[:n], x[n:]).a])

        x = np.concatenate([self.begin.q, self.begin.v])
        least = FOLLOWED_TOL * self._unit * np.repeat([1.0, 1 / self.stretch], n)
        try:
            found = solve_ivp(
                flow, (0, self.stretch), x, "DOP853", [self.stretch * look for look in LOOKS],
                rtol=FOLLOWED_TOL, atol=least,
            )  # fmt: skip
            return tuple(point_at(dynamics, y[:n], y[n:]) for y in found.y.T)
        except (ZwangError, np.linalg.LinAlgError) as error:
            raise InputError(f"the motion from this state cannot be followed: {error}") from None

    @cached_property
    def _unit(self) -> Array:
        """(2n,) by how much coordinates and, during the stretch, rates change in a change that matters."""
        now = self.begin.now
        holonomic = self.begin.dynamics.order == 0
        unit = natural_units(self.begin.q, now.size[holonomic], now.A[holonomic], now.M)
        return np.concatenate([unit, unit])

    @cached_property
    def _pace(self) -> float:
        """How fast coordinates change, in natural units; 1 at rest."""
        return float((np.abs(self.begin.v) / self._unit[: self.begin.q.size]).max(initial=0.0)) or 1.0

    def units(self, readings: Readings) -> Array:
        """(s,) by how much readings change in a change that matters."""
        n, point = self.begin.q.size, self.begin
        ways = np.diag(self._unit * np.repeat([1.0, self._pace], n))
        return row_norms(readings.along(point, ways[:, :n], ways[:, n:], unchanged(point, 2 * n))["d_reading"].mT)

    def constant(self, readings: Readings) -> Any:
        """(s,) which readings stay constant, at the state and later."""
        here = linear_at(self.begin, readings)
        stays = here.shares <= STANDING
        unit = self.units(readings)
        for point in self.later:
            stays &= np.abs(readings.at(point)["reading"] - here.reading) <= STAYS * unit
        return stays

    def slopes(self, readings: Readings, point: Point) -> Array:
        """(2s, 2s) lengths of the slopes of readings and of their rates, and angles between them, measured by masses.

        Symmetries do not change these: where a motion turns a body, they stay for what is told of it from outside or
        in its own axes, not for parts of its quaternion.
        """
        linear, pace = linear_at(point, readings), 1 / self.stretch
        tangent = linear.tangent
        W = tangent.dq @ point.now.M @ tangent.dq.T + tangent.dv @ point.now.M @ tangent.dv.T / pace**2
        S = np.concatenate([linear.changes, linear.rate_changes / pace]) * np.tile(linear.scale, 2)[:, None]
        return np.asarray(S @ np.linalg.pinv(W, rcond=MASSLESS, hermitian=True) @ S.T)

    def conflicts(self, readings: Readings) -> Any:
        """(s, s) which readings do not keep these lengths and angles along the motion."""
        s = len(readings.names)
        found = np.zeros((s, s), dtype=bool)
        if not self.later:
            return found
        here = self.slopes(readings, self.begin)
        size = np.sqrt(np.maximum(np.diagonal(here), 0.0))
        size = np.tile(np.maximum(np.maximum(size[:s], size[s:]), TINIEST), 2)
        for point in self.later:
            changed = np.abs(self.slopes(readings, point) - here) > AS_BEFORE * np.outer(size, size)
            found |= changed.reshape(2, s, 2, s).any(axis=(0, 2))
        return found

    @property
    def turning(self) -> list[str]:
        """The coordinates whose rates do not stay: what turns, in most cases."""
        system, n = self.begin.dynamics.system, self.begin.q.size
        changed = np.abs(self.begin.a) * self.stretch > STAYS * self._pace * self._unit[:n]
        for point in self.later:
            changed |= np.abs(point.v - self.begin.v) > STAYS * self._pace * self._unit[:n]
        return [name for name, one in zip(system.coordinate_names, changed, strict=True) if one]

    @property
    def turning_quaternions(self) -> list[sp.Expr]:
        """Parts of quaternions that turn, and their rates; some of them may be zero all the time.

        A quaternion is what a constraint holds at a length of 1: four coordinates, in proportion to which its row is.
        """
        point, turning = self.begin, {*self.turning}
        system, found = point.dynamics.system, list[sp.Expr]()
        names = dict(zip(system.coordinates, system.coordinate_names, strict=True))
        for number in point.dynamics.two_sided:
            parts = four_of_a_unit(system.constraints[number].expression, system.coordinates)
            if any(names[q] in turning for q in parts):
                found += [x for q in parts for x in (q, rates(q)[0])]
        return found

    def changed_entry(self, linear: Linear) -> tuple[str, str] | None:
        """Two states, where the rate of the first depends on the second in another way a little later; None if not."""
        here = scaled(linear, linear.scale)
        size = np.abs(here)
        # where nothing but rounding is in A, as of a wheel that spins, the motion itself says how much that is
        largest = max(float(size.max(initial=0.0)), 1 / self.stretch)
        most = AS_BEFORE * size.max(axis=1, initial=0.0, keepdims=True) + AS_BEFORE_BESIDE * largest
        for point in self.later:
            gap = np.abs(scaled(linear_at(point, linear.states), linear.scale) - here)
            if (gap > most).any():
                i, j = np.unravel_index((gap / np.maximum(most, TINIEST)).argmax(), gap.shape)
                return linear.states.names[int(i)], linear.states.names[int(j)]
        return None

    def require_constant(self, linear: Linear) -> None:
        """Refuse states that stand still for an instant only, and a linear system that changes along the motion."""
        turning = self.turning
        while_turning = f" ({listed(turning, 6)} {'changes' if len(turning) == 1 else 'change'})" if turning else ""
        stays = self.constant(linear.states)
        if not stays.all():
            name = linear.states.names[int(np.argmin(stays))]
            raise InputError(
                f"the state {name} stands still at this instant only, not along the motion{while_turning}: choose "
                f"states that stay constant, as rates in a body's own axes, or leave states out to have them chosen"
            )
        if (entry := self.changed_entry(linear)) is not None:
            rate, by = entry
            raise InputError(
                f"these states have no constant A along the motion{while_turning}: how the rate of {rate} depends on "
                f"{by} is another a moment later; choose states that turn with the motion"
            )


def four_of_a_unit(expression: sp.Expr, coordinates: Sequence[sp.Expr]) -> list[sp.Expr]:
    """The four coordinates of whose squares a constraint is the sum, but for a number; none if it is another one.

    >>> import zwang as zw
    >>> a, b, c, d = zw.coordinates("a b c d")
    >>> four_of_a_unit((a**2 + b**2 + c**2 + d**2 - 1) / 2, (a, b, c, d))
    [a(t), b(t), c(t), d(t)]
    """
    own = [q for q in coordinates if expression.has(q)]
    if len(own) != 4 or expression.has(sp.Derivative):
        return []
    slopes = [sp.expand(expression.diff(q) / q) for q in own]
    return own if slopes[0].is_number and all(slope == slopes[0] for slope in slopes) else []


def scaled(linear: Linear, scale: Array) -> Array:
    """A in given units of its states."""
    return np.asarray(linear.A / scale[:, None] * scale[None, :])


def states_at_rest(dynamics: Dynamics, point: Point) -> Readings:
    """Coordinates and rates that describe the states beside rest well: the ones most independent of each other."""
    system, tangent, k = dynamics.system, point.tangent, point.tangent.positions
    allowed = np.ones(len(point.q), dtype=bool)
    positions = most_independent_columns(tangent.dq[:k] * point.units, allowed)
    rates = most_independent_columns(tangent.dv[k:] * point.units, allowed, positions)
    chosen = [system.coordinates[i] for i in positions] + [system.velocities[i] for i in rates]
    return readings_of(dynamics, chosen, "states")


def chosen_states(courses: Sequence[Course], preferred: Mapping[str, sp.Expr], further: Further) -> Readings:
    """States for all of these: those preferred if they serve, else coordinates and rates, else further readings too.

    Of samples that move the first one decides which are most independent; the states stay constant in all of them.
    """
    course = next((course for course in courses if course.moves), courses[0])
    dynamics = course.begin.dynamics
    if preferred:
        kept = independent(course, readings_of(dynamics, preferred, "states"))
        if kept.names and fault_of(courses, kept) is None:
            return kept
    if not course.moves:
        return states_at_rest(dynamics, course.begin)
    plain = {in_a_line(x): x for x in (*dynamics.system.coordinates, *dynamics.system.velocities)}
    ranks: list[Mapping[str, sp.Expr]] = [plain]
    if (found := Choice(course, courses, ranks).states) is not None:
        return found
    others = further()
    for ranks in ([plain, *others], [*others[::-1], plain]) if others else ():
        if (found := Choice(course, courses, ranks).states) is not None:
            return found
    raise InputError(refusal(course))


def independent(course: Course, readings: Readings) -> Readings:
    """As many of some readings as do not depend on each other beside a state."""
    P = linear_at(course.begin, readings).changes
    kept = most_independent_columns(P.T, np.ones(len(P), dtype=bool))
    return readings_of(course.begin.dynamics, {readings.names[i]: readings.expressions[i] for i in kept}, "states")


def changing(course: Course, readings: Readings) -> str | None:
    """Why readings that stand still at a state are not constant in its motion, in words; None if they are."""
    kept = independent(course, readings)
    try:
        course.require_constant(linear_at(course.begin, kept))
    except InputError as error:
        return str(error)
    return None


def fault_of(courses: Sequence[Course], states: Readings) -> str | None:
    """Why states do not serve beside a motion, in words; None if they do."""
    for course in courses:
        linear = linear_at(course.begin, states)
        try:
            linear.require_independent()
            linear.require_steady()
            linear.require_closed()
            course.require_constant(linear)
        except InputError as error:
            return str(error)
    return None


@dataclass(frozen=True, eq=False)
class Choice:
    """What states are chosen from, in ranks, those of the first one before all others; the first course decides."""

    course: Course
    courses: Sequence[Course]
    ranks: Sequence[Mapping[str, sp.Expr]]

    @cached_property
    def readings(self) -> Readings:
        """All of them."""
        return readings_of(self.course.begin.dynamics, {k: e for rank in self.ranks for k, e in rank.items()}, "states")

    @cached_property
    def stays(self) -> Any:
        """(c,) which of them stay constant in all motions, and describe what is beside them alike."""
        moving = [c for c in self.courses if c.moves]
        stays = np.all([c.constant(self.readings) for c in moving], axis=0)
        for c in moving:
            stays &= ~np.isin(self.readings.expressions, c.turning_quaternions)
        apart = np.any([c.conflicts(self.readings) for c in moving], axis=0)
        stays &= ~np.diagonal(apart)
        ends = np.cumsum([len(rank) for rank in self.ranks])
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            own = slice(begin, end)
            stays[own] &= ~(apart[own, :begin] & stays[:begin]).any(axis=1)
            while (counts := (apart[own, own] & stays[own]).sum(axis=1) * stays[own]).any():
                stays[begin + int(counts.argmax())] = False
        return stays

    @cached_property
    def _chosen(self) -> tuple[list[int], list[int]]:
        """Readings of positions, and further ones of velocities."""
        point, tangent = self.course.begin, self.course.begin.tangent
        k, system, expressions = tangent.positions, point.dynamics.system, self.readings.expressions
        P = self.readings.along(point, tangent.dq, tangent.dv, unchanged(point, len(tangent.dq)))["d_reading"]
        along, whole = np.linalg.norm(P[k:], axis=0), np.linalg.norm(P, axis=0)
        units = dict(zip([*system.coordinates, *system.velocities], [*point.units, *point.units], strict=True))
        is_rate = np.array([isinstance(e, sp.Derivative) for e in expressions])
        of_positions = (along <= ALONG_RATES * whole) & ~is_rate
        weight = np.array(
            [units.get(e, 1 / max(size, TINIEST)) for e, size in zip(expressions, whole.tolist(), strict=True)]
        )
        rank = np.repeat(np.arange(len(self.ranks)), [len(rank) for rank in self.ranks])
        positions = most_independent_columns(P[:k] * weight, self.stays & of_positions, rank=rank)
        moving = [expressions[i] for i in positions]
        twins = [i for i, e in enumerate(expressions) if isinstance(e, sp.Derivative) and e.expr in moving]
        return positions, most_independent_columns(P[k:] * weight, self.stays & ~of_positions, twins, rank)

    @cached_property
    def states(self) -> Readings | None:
        """What is chosen; None where it does not serve."""
        point, (positions, rates) = self.course.begin, self._chosen
        if len(rates) < len(point.tangent.dq) - point.tangent.positions or not (positions or rates):
            return None
        chosen = {self.readings.names[i]: self.readings.expressions[i] for i in (*positions, *rates)}
        found = readings_of(point.dynamics, chosen, "states")
        return found if fault_of(self.courses, found) is None else None


def refusal(course: Course) -> str:
    """Why there are no states that stay constant, in words."""
    point, names = course.begin, course.begin.dynamics.system.coordinate_names
    changing = [f"{name}' changes at {point.a[names.index(name)]:.6g}" for name in course.turning]
    changing = changing or [f"{name} changes at {v:.6g}" for name, v in zip(names, point.v, strict=True) if v]
    return (
        f"this state is neither an equilibrium nor steady in coordinates and rates that describe the motion beside it: "
        f"{listed(changing, 6)}; find a steady motion with zwang.steady and name states that stay constant, as the "
        f"tilt of what turns and rates in its own axes; or find rest with zwang.equilibrium"
    )


def most_independent_columns(rows: Array, allowed: Any, preferred: Sequence[int] = (), rank: Any = 0) -> list[int]:
    """As many columns of (d, n) as there are independent ones among those allowed, in their order.

    Of columns that serve about as well the preferred ones, then the first, are taken; those of a lower rank before all
    of a higher one.
    """
    left, chosen = rows.copy(), list[int]()
    ranks = np.broadcast_to(rank, rows.shape[1])
    for own in np.unique(ranks):
        for _ in range(len(rows)):
            length = np.where(allowed & (ranks == own), np.linalg.norm(left, axis=0), 0.0)
            length[chosen] = 0.0
            if length.max(initial=0.0) <= LEFT_OF_COLUMNS:
                break
            good = [int(i) for i in np.flatnonzero(length > 0.7 * length.max())]
            best = next((i for i in good if i in preferred), good[0])
            chosen.append(best)
            unit = left[:, best] / np.linalg.norm(left[:, best])
            left -= np.outer(unit, unit @ left)
    return sorted(chosen)
