"""The certificate of a motion: what it says of itself is held against the motion, and what disagrees is said.

Two things can be looked at without computing anything again. The energy gained must be the work of all forces, which
is integrated with the motion. And where a state is interpolated, the slope of the velocities must be the acceleration
that the equation of motion has there: a force that acts only between the stages of a step shows in the one and not in
the other. An error is beyond the tolerance if no change of the state within the tolerance makes as much.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from zwang.arrays import EPS, Array
from zwang.engines.native.engine import compiled
from zwang.linalg.sparse.ranked import NO_DIGITS
from zwang.lowering.rows import RowBasis
from zwang.motion.observe import ALL, Segment, reporting
from zwang.motion.options import instants_apart
from zwang.motion.setup import Setup
from zwang.motion.start import State, polished, rank_of
from zwang.results.dataset import balance

LEAST_ERROR = 4 * EPS  # of a number: no step keeps more
CLOSE_ENERGIES = 10.0  # tolerances: an error of the energies that is no larger needs no second look
STEP_ERRS = 30.0  # tolerances that a step may err by, as it shows in the energy
LEAP_ERRS = 30.0  # tolerances: leaps that err by more are said
SLOPES = 1e4  # tolerances by which the velocity gained in a step may differ from that of the interpolated motion
UNSOLVED = 10.0  # tolerances that multipliers may be off by, where forces depend on them
LOOKED_AT_ONCE = 10_000  # numbers whose slopes are compared together
SECOND_LOOKS = 32  # states at which it is tried out what a change within the tolerance makes
TryOut = Callable[[Any], dict[str, Array]]  # from some of the saved states to what `changes` finds there

NEARLY_DEPENDENT = (
    "constraints are so nearly dependent at the start that rounding alone costs the tolerance; drop one of them, or "
    "write them so that they say different things"
)
REMEDY = "something narrow may have been stepped over: ask for a smaller max_step"


class Account(Protocol):
    """What a run has counted, as in `Path`."""

    @property
    def steps(self) -> int:
        """How many steps were made."""

    @property
    def leapt(self) -> float:
        """Errors of leaps."""

    @property
    def turned(self) -> float:
        """Energy that has come and gone: more than is saved of it, perhaps."""


def doubts(setup: Setup, segments: Sequence[Segment], values: dict[str, Any], run: Account) -> tuple[str, ...]:
    """Sentences on what disagrees beyond the tolerance along a motion; none where all is well.

    Of values that nothing calls for a closer look at (`vouched_for`) some will do.
    """
    times = np.concatenate([s.times for s in segments]) if segments else np.zeros(0)
    if not len(times):
        return ()
    found = list[str]()
    if values.keys() >= ALL:
        try_out = partial(changes, setup, segments, values)
        found.append(energy(times, values, setup.tol, run, try_out))
        if setup.drift != "baumgarte":  # which follows another equation beside its constraints
            found.append(slopes(setup.system.coordinate_names, times, values, setup.tol, try_out))
        found.append(late(times, values, setup.tol))
    found += [lost(setup, segments[0]), unsolved(setup, segments), leaps(run, setup.tol)]
    return tuple(sentence for sentence in found if sentence)


def leaps(run: Account, tol: float) -> str:
    """Whether leaps across singular positions cost more than the tolerance, by their own estimate."""
    if not run.leapt > LEAP_ERRS * max(tol, LEAST_ERROR):
        return ""
    return (
        f"Not vouched for: leaps across singular positions may have cost {run.leapt:.2g}, by their own estimate; what "
        f"follows from them is off by as much and what the motion makes of it."
    )


def lost(setup: Setup, first: Segment) -> str:
    """Whether the constraints are so nearly dependent at the start that refinement cannot make up for it."""
    if not len(first.times) or not costs_tolerance(setup, first.basis, (float(first.times[0]), first.q[0], first.v[0])):
        return ""
    return f"Not vouched for: {NEARLY_DEPENDENT}."


def costs_tolerance(setup: Setup, basis: RowBasis, state: State) -> bool:
    """Whether rows are so nearly dependent at a start that rounding alone costs the tolerance."""
    return basis.close and rank_of(polished(setup, state), setup.system.coordinate_names).closest <= NO_DIGITS


def unsolved(setup: Setup, segments: Sequence[Segment]) -> str:
    """Whether the steps that solve for nonideal forces with multipliers have left something undone."""
    if not setup.lowered.description.reactions:
        return ""
    for segment in segments:
        error = left_undone(setup, segment.basis, segment.named(slice(None)), segment.modes is not None)
        bad = np.flatnonzero(~(error <= UNSOLVED * max(setup.tol, LEAST_ERROR)))
        if len(bad):
            return (
                f"Not vouched for: the multipliers that nonideal forces depend on are off by a share of "
                f"{error[bad[0]]:.2g} at t = {segment.times[bad[0]]:.9g}, for they depend on them strongly."
            )
    return ""


def solved(setup: Setup, basis: RowBasis, given: dict[str, Array]) -> Any:
    """(…,) at which states the same steps have left nothing undone."""
    return left_undone(setup, basis, given, False) <= UNSOLVED * max(setup.tol, LEAST_ERROR)


def left_undone(setup: Setup, basis: RowBasis, given: dict[str, Array], rests: bool) -> Array:
    """(…,) the share by which multipliers are off at states."""
    return np.abs(compiled(setup.program("report", basis, ("implicit",), rests))(**given)["implicit"][..., 0])


def vouched_for(setup: Setup, segments: Sequence[Segment], values: dict[str, Any]) -> bool:
    """Whether nothing of a motion calls for a closer look, by what `LOOKED_AT` names of it."""
    times = np.concatenate([s.times for s in segments])
    stacked = {name: value[None] for name, value in values.items() if name != "unique"}
    return not len(times) or not suspicious(times, stacked, setup.tol).any()


def suspicious(
    times: Array, values: dict[str, Any], tol: float, steps: Array | None = None, turned: Array | None = None
) -> Any:
    """(S,) which of many motions need a closer look; values are (S, T, …).

    `steps` and `turned` are their accounts, if they are known: energies that `energy` would let pass by these without
    trying out what a change makes need no look.
    """
    (gap, size), unit = energy_gap(values), max(tol, LEAST_ERROR)
    close = CLOSE_ENERGIES * unit * size
    if steps is not None and turned is not None:
        close = np.fmax(close, STEP_ERRS * (steps + 1) * unit * np.fmax(size, turned))
    return (slope_ratios(values, tol) > 1).any(axis=1) | (gap > close) | bool(late(times, values, tol))


def energy_gap(values: dict[str, Any]) -> tuple[Any, Any]:
    """The largest energy gained beyond the work of all forces, and the largest energy on the way (…,)."""
    gap = np.fmax.reduce(np.abs(balance(values["jacobi"], values["work"])), axis=-1, initial=0.0)
    sizes = [np.fmax.reduce(np.abs(values[name]), axis=-1, initial=0.0) for name in ("kinetic", "potential")]
    return gap, np.maximum(*sizes)


def energy(times: Array, values: dict[str, Any], tol: float, run: Account, try_out: TryOut) -> str:
    """Whether energy is gained or lost beyond the work of all forces."""
    (gap, size), unit = energy_gap(values), max(tol, LEAST_ERROR)
    if not gap > CLOSE_ENERGIES * unit * size:
        return ""
    some = np.unique(np.linspace(0, len(times) - 1, SECOND_LOOKS).astype(int))
    made = {name: float(np.nanmax(made, initial=0.0)) for name, made in try_out(some).items()}
    step = max(made["jacobi"], unit * max(size, run.turned))
    pull, span = np.abs(values["multiplier"]), abs(times[-1] - times[0])
    drift = pull * (np.nan_to_num(np.abs(values["residual"])) + span * np.nan_to_num(np.abs(values["residual_rate"])))
    allowed = (
        STEP_ERRS * (run.steps + 1) * step
        + 10 * run.leapt * size
        + span * made["power"]
        + 3 * float(np.nanmax(drift.sum(axis=1), initial=0.0))
    )
    if not gap > allowed:
        return ""
    at = int(np.nanargmax(np.abs(balance(values["jacobi"], values["work"]))))
    return f"Not vouched for: the energy is off by {gap:.2g} at t = {times[at]:.9g}; {REMEDY}."


def slopes(names: Sequence[str], times: Array, values: dict[str, Any], tol: float, try_out: TryOut) -> str:
    """Whether the saved accelerations are those of the motion."""
    ratios = slope_ratios(values, tol)
    suspect = np.flatnonzero(ratios > 1)
    if not len(suspect):
        return ""
    worst = suspect[np.argsort(-ratios[suspect])][:SECOND_LOOKS]
    few = {name: values[name][worst] for name in ("v", "a", "slope", "size")}
    off, allowed = slope_error(few, tol, slice(None))
    made = few["size"][:, None] * try_out(worst)["acceleration"]
    far = np.flatnonzero((off > allowed + SLOPES * made).any(axis=1))
    if not len(far):
        return ""
    first, at = far[0], int(worst[far[0]])
    which = int(np.argmax((off / allowed)[first]))
    return (
        f"Not vouched for: the acceleration of {names[which]} at t = {times[at]:.9g} is not that of the motion, by "
        f"{off[first, which]:.2g} in velocity over a step of {values['size'][at]:.2g}; {REMEDY}."
    )


def slope_ratios(values: dict[str, Any], tol: float) -> Any:
    """(…, T) by how much accelerations and slopes differ at most, in units of what is allowed."""
    largest = np.zeros(values["size"].shape)
    if not values["size"].any():  # nothing was interpolated
        return largest
    count = values["a"].shape[-1]
    some = max(1, LOOKED_AT_ONCE // max(largest.size, 1))
    for j in range(0, count, some):  # some at a time: all together would take as much memory as the results
        off, allowed = slope_error(values, tol, slice(j, min(j + some, count)))
        largest = np.fmax(largest, np.fmax.reduce(off / allowed, axis=-1))
    return largest


def slope_error(values: dict[str, Any], tol: float, which: slice) -> tuple[Array, Array]:
    """(…, T, k) the difference for some coordinates, in the velocity gained in a step, and what is allowed."""
    a, size = values["a"][..., which], values["size"][..., None]
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.where(size > 0, np.abs(values["slope"][..., which] - a) * size, 0.0)
        return off, SLOPES * max(tol, LEAST_ERROR) * (1 + np.abs(values["v"][..., which]) + size * np.abs(a))


def changes(setup: Setup, segments: Sequence[Segment], values: dict[str, Any], which: Any) -> dict[str, Array]:
    """By how much Jacobi's energy, the power of all forces and the accelerations change at some states, for changes
    within the tolerance.
    """
    sizes = {name: np.zeros(len(which)) for name in ("jacobi", "power")}
    sizes["acceleration"] = np.zeros((len(which), values["q"].shape[1]))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, 2, values["q"].shape[1]))
    unit, begin = max(setup.tol, LEAST_ERROR), 0
    for segment in segments:
        mine = np.flatnonzero((which >= begin) & (which < begin + len(segment.times)))
        rows = which[mine] - begin
        begin += len(segment.times)
        if not len(mine):
            continue
        kernel = compiled(reporting(setup, segment))
        q, v, given = segment.q[rows], segment.v[rows], segment.named(rows)
        here = with_power(kernel(**given), v)
        for dq, dv in signs:
            beside = {"q": q + unit * dq * (1 + np.abs(q)), "v": v + unit * dv * (1 + np.abs(v))}
            there = with_power(kernel(**given | beside), beside["v"])
            for name, size in sizes.items():
                size[mine] = np.fmax(size[mine], np.abs(there[name] - here[name]))
    return sizes


def with_power(found: dict[str, Array], v: Array) -> dict[str, Array]:
    """What a report says of states, and the power of all forces there."""
    return found | {"power": np.vecdot(found["force"] + found["constraint_force"], v)}


def late(times: Array, values: dict[str, Any], tol: float) -> str:
    """Whether the motion begins so late that the resolution of time costs digits."""
    if not (apart := instants_apart(float(times[0]), float(times[-1]))):
        return ""
    spacing, speed = float(np.spacing(np.abs(times).max())), float(np.nanmax(np.abs(values["v"]), initial=0.0))
    way = 1 + float(np.nanmax(np.abs(values["q"]), initial=0.0))
    if not spacing * speed > tol * way:
        return ""
    return f"Not vouched for: {apart}, in which the motion goes further than its tolerance: let it begin at t = 0."
