"""Where on its way a motion with impacts and resets may begin: between them, with all contacts open."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from zwang.analysis.shooting import Problem
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.motion.simulate import simulate

if TYPE_CHECKING:
    import xarray as xr

NEAR_A_JUMP = 0.05  # of a period: a start that is nearer to an impact or a reset than this is moved away from it
FOLLOWED = 1.5  # periods that a motion is followed to find where to begin
LOOKS_ALONG = 401  # states of it that are looked at


def between(problem: Problem, q: Array, v: Array, T: float) -> tuple[Array, Array]:
    """A state on the motion from a guess that is well between impacts and resets: the guess itself, or one later."""
    motion = looked_at(problem, q, v, FOLLOWED * T)
    times, is_open = motion.time.values - motion.time.values[0], all_open(motion)
    met = instants(motion) - motion.time.values[0]
    if is_open[0] and all(min(abs(s), abs(s - T)) > NEAR_A_JUMP * T for s in met):
        return q, v
    marks = np.concatenate([[0.0], np.unique(met), times[-1:]])
    stays = [(b - a, (a + b) / 2) for a, b in pairwise(marks.tolist()) if b > a]
    for _, middle in sorted(stays, reverse=True):
        at = int(np.argmin(np.abs(times - middle)))
        if is_open[at]:
            return motion.q.values[at], motion.v.values[at]
    raise InputError(
        "contacts are closed all along the motion from this guess: a periodic motion has to begin where all are open"
    )


def require_between(problem: Problem, q: Array, v: Array, T: float) -> tuple[Array, Array]:
    """The guess, if contacts are open there; else refused by name, for it says where to begin."""
    motion = looked_at(problem, q, v, T)
    if not all_open(motion)[0]:
        modes = motion["mode"].values[0]
        name = next(str(c) for c, mode in zip(motion.contact.values, modes, strict=True) if mode != "open")
        raise InputError(
            f"the guess begins where the contact {name!r} is closed: begin where all contacts are open, between impacts"
        )
    return q, v


def looked_at(problem: Problem, q: Array, v: Array, lasts: float, samples: int = LOOKS_ALONG) -> "xr.Dataset":
    """The motion from a guess, as far as it gets."""
    dynamics = problem.search.dynamics
    system = dynamics.system
    state = dict(zip([*system.coordinates, *system.velocities], [*q.tolist(), *v.tolist()], strict=True))
    return simulate(
        system, state, dynamics.t + lasts, t=dynamics.t, parameters=problem.parameters, tol=problem.tol,
        events=problem.resets, samples=samples, progress=False, throw=False,
    )  # fmt: skip


def instants(motion: "xr.Dataset") -> Array:
    """When events reset the state, and when contacts change."""
    found = [motion[name].values for name in ("event_time", "transition_time") if name in motion]
    return np.sort(np.concatenate([np.zeros(0), *found]))


def all_open(motion: "xr.Dataset") -> Array:
    """(T,) whether all contacts are open."""
    if "mode" not in motion:
        return np.ones(motion.sizes["time"], dtype=bool)
    return np.asarray((motion["mode"].values == "open").all(axis=1))
