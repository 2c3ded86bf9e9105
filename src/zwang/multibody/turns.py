"""How often joints in space have turned: angles that are known by sine and cosine only, counted along a motion.

Samples alone cannot tell how often a joint turned between them: a wheel that swings to and fro in a second and one that
turns once look the same at whole seconds, in angle and speed. Where the samples are not clearly close enough, the
motion is computed again between them, from the states that were saved.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array, Indices
from zwang.engines.registry import AUTO, methods
from zwang.errors import ZwangError
from zwang.motion.assemble import assemble
from zwang.motion.simulate import simulate
from zwang.multibody.described import DescribedMechanism
from zwang.multibody.freedom import Freedom
from zwang.multibody.joints.driver import Driver
from zwang.results.evaluate_along import along

if TYPE_CHECKING:
    import xarray as xr


Flags = NDArray[np.bool_]

TURN = 2 * np.pi
CLEAR = 1.0  # rad; samples between which the rates turn a joint by less are close enough
ASTRAY = 0.1  # rad; and then the rates say what is read, up to this
STEPS = 2.0  # steps of the integrator between two samples, on average, that these do not miss anything of
LOOKS = 4  # places to look at in each step of the integrator
FINER = 4  # how much closer to look where that was not enough
STEPS_UNKNOWN = 1000  # taken for granted where a motion does not say how many steps it took
ENTRIES, FEWEST = 1_000_000, 1000  # coordinates of states in memory at a time; states
AGREES = 1e-2  # rad, and this in tolerances: how near a motion that is computed again comes to the one that is given
AGREES_TOL, AT_MOST = 1e2, 0.5


def counted(
    mechanism: DescribedMechanism,
    motion: "xr.Dataset",
    angles: Sequence[tuple[str, Freedom]],
    parameters: Mapping[Any, float],
) -> tuple[Array, str]:
    """(time, k) angles in space with all their turns; and what is not vouched for, in words, if anything.

    Each angle comes with the name of its joint. An angle that a condition ties to a motion or a travel is that one
    all along. Others begin within half a turn of their reading in the start position.
    """
    targets = tied(mechanism)
    aims = [targets.get(id(f), f.start) for _, f in angles]
    readings = along(motion, mechanism.system, [f.reading for _, f in angles], parameters)
    aimed = along(motion, mechanism.system, aims, parameters)
    found = nearest_turn(readings, aimed)
    free = [k for k, (_, f) in enumerate(angles) if id(f) not in targets]
    if not free or not len(motion.time):
        return found, ""
    course = Turning(mechanism, motion, tuple(angles[k][1] for k in free), parameters)
    gained, sure = course.gained()
    first, known = course.first(aimed[0, free])
    counts = first + np.vstack([np.zeros(len(free)), np.cumsum(gained, axis=0)])
    found[:, free] = nearest_turn(readings[:, free], counts)
    doubts = [] if known else [f"before t = {float(motion.time[0]):.6g}"]
    if not sure.all():
        doubts.append(f"from t = {float(motion.time[np.argmin(sure)]):.6g} on")
    if not doubts:
        return found, ""
    names = ", ".join(dict.fromkeys(angles[k][0] for k in free))
    return found, (
        f"the turns of {names} {' and '.join(doubts)} are not vouched for: the samples do not show them, and computed "
        f"again, from the start as described or from the states saved, the motion is another; save more samples"
    )


def tied(mechanism: DescribedMechanism) -> dict[int, Any]:
    """What conditions in positions say that angles are, with all turns; by the identity of the joint coordinate."""
    drivers = [j for j in mechanism.joints if isinstance(j, Driver)]
    others = [j for j in mechanism.joints if not isinstance(j, Driver)]
    return {id(f): target for j in (*others, *drivers) for f, target in j.tied()}


def nearest_turn(reading: Array, target: Array) -> Array:
    """The angles that read the same, give or take whole turns, and are nearest to a target."""
    return np.asarray(target + wrapped(reading - target))


def wrapped(angle: Array) -> Array:
    """An angle between −π and π."""
    return np.asarray((angle + np.pi) % TURN - np.pi)


@dataclass(frozen=True, eq=False)
class Turning:
    """Angles along a motion of a mechanism."""

    mechanism: DescribedMechanism
    motion: "xr.Dataset"
    angles: tuple[Freedom, ...]
    parameters: Mapping[Any, float]

    @cached_property
    def times(self) -> Array:
        """The times of the samples."""
        return np.asarray(self.motion.time.values)

    @cached_property
    def readings(self) -> tuple[Array, Array]:
        """(time, k) the angles, between −π and π, and their rates."""
        expressions = [e for f in self.angles for e in (f.reading, f.rate)]
        values = along(self.motion, self.mechanism.system, expressions, self.parameters)
        return values[:, ::2], values[:, 1::2]

    def off(self, other: "Turning", samples: Any, others: Any) -> Array:
        """By how much the angles at some samples differ from another course's, in what is allowed."""
        tol = float(self.motion.attrs.get("tol", 0.0))
        apart = np.abs(wrapped(self.readings[0][samples] - other.readings[0][others]))
        return np.asarray(apart.max(axis=-1) / min(AGREES + AGREES_TOL * tol, AT_MOST))

    def gained(self) -> tuple[Array, Flags]:
        """(time − 1, k) what the angles gain from sample to sample; and where that is vouched for."""
        gained, sure = turned(self.times, *self.readings)
        intervals = max(len(gained), 1)
        steps = float(self.motion.attrs.get("steps", STEPS_UNKNOWN))
        if steps > STEPS * intervals:
            sure = np.diff(self.times) == 0.0
        looks = LOOKS * steps / intervals + np.abs(gained).max(axis=1, initial=0.0) / CLEAR
        most = max(ENTRIES // self.motion.sizes["coordinate"], FEWEST)
        lost = np.zeros(len(sure), dtype=bool)
        while (unsure := ~(sure | lost)).any():
            for window in windows(np.flatnonzero(unsure), looks, most):
                self.look(window, looks, gained, sure, lost)
            looks = np.where(sure, looks, FINER * looks)
            lost |= looks > most
        return gained, sure

    def look(self, window: Indices, looks: Array, gained: Array, sure: Flags, lost: Flags) -> None:
        """Compute the motion again over consecutive intervals: what the angles gain in each, where it comes out."""
        while len(window):
            begin = int(window[0])
            parts = [places(self.times[i], self.times[i + 1], looks[i]) for i in window]
            again = self.again(begin, np.concatenate([*parts, self.times[window[-1:] + 1]]))
            if again is None:
                lost[window] = True
                return
            marks = np.cumsum([0, *map(len, parts)])
            marks = marks[marks < len(again.times)]  # it may have stopped early
            apart = again.off(self, marks, slice(begin, begin + len(marks)))
            same = int(np.argmax(np.append(apart > 1.0, True))) - 1  # intervals over which it is the same motion
            change, clear = turned(again.times, *again.readings)
            for i in range(same):
                inside = slice(marks[i], marks[i + 1])
                gained[begin + i], sure[begin + i] = change[inside].sum(axis=0), clear[inside].all()
            if same < 1:
                lost[begin] = True
            window = window[max(same, 1) :]  # from where it went astray, again from the state saved

    def again(self, sample: int, times: Array) -> "Turning | None":
        """The course from a saved state on, at other times; None if it cannot be computed."""
        system, saved = self.mechanism.system, self.motion.isel(time=sample)
        values = map(float, [*saved.q.values, *saved.v.values])
        return self.computed(dict(zip([*system.coordinates, *system.velocities], values, strict=True)), times)

    def computed(self, state: Mapping[Any, float], times: Array) -> "Turning | None":
        """The course from a state at the first of some times, computed as the motion was."""
        known, begin = self.motion.attrs, float(times[0])
        options: dict[str, Any] = {
            "method": known["method"] if known.get("method") in methods() else AUTO,
            **{key: known[key] for key in ("tol", "form", "drift") if key in known},
        }
        for drifted in (False, True):  # what has drifted is brought back to its constraints first
            try:
                if drifted:
                    state = assemble(self.mechanism.system, state, parameters=self.parameters, t=begin)
                motion = simulate(
                    self.mechanism.system, state, float(times[-1]), times=times, t=begin, parameters=self.parameters,
                    throw=False, progress=False, **options,
                )  # fmt: skip
            except ZwangError:
                continue
            return Turning(self.mechanism, motion, self.angles, self.parameters)
        return None

    def first(self, starts: Array) -> tuple[Array, bool]:
        """The angles at the first sample, with the turns since the start; and whether these are known.

        `starts` are their readings in the start position. Where the first sample is later, the motion from the start
        as described leads to it or it does not.
        """
        begin = float(self.times[0])
        here = nearest_turn(self.readings[0][0], starts)
        if begin == 0.0 or self.is_described(begin):
            return here, True
        start = self.described(0.0)
        ahead = self.computed(start, np.array([0.0, begin])) if start is not None and begin > 0.0 else None
        if ahead is None or len(ahead.times) < 2 or ahead.off(self, -1, 0) > 1.0:
            return here, False
        gained, sure = ahead.gained()
        return nearest_turn(self.readings[0][0], nearest_turn(ahead.readings[0][0], starts) + gained[0]), bool(
            sure.all()
        )

    def described(self, t: float) -> Mapping[Any, float] | None:
        """The start as described, put together at a time; None if it cannot be."""
        try:
            return self.mechanism.assembled(self.parameters, t)
        except ZwangError:
            return None

    def is_described(self, t: float) -> bool:
        """Whether the first sample is the start as described, put together at its time."""
        start = self.described(t)
        names = self.mechanism.system.coordinates
        return start is not None and np.allclose([start[q] for q in names], self.motion.q.values[0], 1e-6, 1e-9)


def turned(times: Array, angle: Array, rate: Array) -> tuple[Array, Flags]:
    """What angles gain between times, from readings and rates there, and whether that is clear for all of them."""
    span = np.diff(times)[:, None]
    expected = span * (rate[1:] + rate[:-1]) / 2
    gained = nearest_turn(np.diff(angle, axis=0), expected)
    most = span * np.maximum(np.abs(rate[1:]), np.abs(rate[:-1]))
    return gained, np.asarray(((most < CLEAR) & (np.abs(gained - expected) < ASTRAY)).all(axis=1))


def places(begin: float, end: float, looks: float) -> Array:
    """Times from `begin` to before `end`, unevenly spaced: what repeats itself is not always met at the same place."""
    count = int(np.ceil(looks)) + 2
    j = np.arange(count)
    shift = np.where(j > 0, 0.4 * (j * 0.6180339887498949 % 1.0 - 0.5), 0.0)
    return np.asarray(begin + (end - begin) * (j + shift) / count)


def windows(intervals: Indices, looks: Array, most: int) -> Iterator[Indices]:
    """Runs of consecutive intervals that are looked at together."""
    begin, total = 0, 0.0
    for k, i in enumerate(intervals):
        if k > begin and (i != intervals[k - 1] + 1 or total + looks[i] > most):
            yield intervals[begin:k]
            begin, total = k, 0.0
        total += looks[i]
    if len(intervals):
        yield intervals[begin:]
