"""How a motion is to be computed: what `simulate` and its kin are asked for, checked as far as no system is needed."""

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.engines.registry import AUTO, QUAD, names
from zwang.errors import InputError
from zwang.model.event import Event

DEFAULT_SAMPLES, MOST_SAMPLES = 201, 10**9


BAUMGARTE = (10.0, 10.0)


LATE = 100.0  # spans: a motion that begins so late has lost digits of time that it could have
FEWEST_STEPS = 20, 100  # of a motion, and of one that shows nothing a step size could be chosen by


@dataclass(frozen=True)
class RunOptions:
    """How a motion is to be computed: the options that `simulate` shares with its kin, one span checked already."""

    until: float
    t: float = 0.0
    times: ArrayLike | None = None
    samples: int | None = None
    method: str = AUTO
    form: str = "fundamental"
    tol: float = 1e-12
    drift: str | tuple[str, float, float] = "none"
    events: Sequence[Event] = ()
    precision: str = "double"
    max_step: float | None = None
    progress: Any = None
    throw: bool = True
    outputs: Sequence[str] | None = None
    impacts: str = "moreau"
    split: str = "compliant"
    contacts: str = "events"
    step: float | None = None
    began: float = field(default_factory=clock.perf_counter)
    """When the call began: its account counts from there."""

    def __post_init__(self) -> None:
        """Refuse what is not a word where one is meant: an array is neither among some words nor not."""
        for name in ("method", "form", "precision", "impacts", "split", "contacts"):
            if isinstance(getattr(self, name), np.ndarray):
                raise InputError(f"{name} is an array: a word is meant, such as {name}={getattr(RunOptions, name)!r}")

    @property
    def grid(self) -> Array:
        """The times to save."""
        return saved_times(self.t, self.until, self.times, self.samples)

    @property
    def longest(self) -> tuple[float, float]:
        """The longest step, and the longest quiet one."""
        return longest_step(self.max_step, self.until - self.t)


def drift_of(drift: str | tuple[str, float, float]) -> tuple[str, tuple[float, float]]:
    """What is done about drift, and the gains of Baumgarte's method."""
    kind, *gains = drift if isinstance(drift, tuple | list) and drift else (drift,)
    if (
        not isinstance(kind, str)
        or kind not in ("none", "baumgarte", "projection")
        or (gains and (kind != "baumgarte" or len(gains) != 2))
    ):
        raise InputError(f"drift={drift!r} is unknown: choose 'none', 'projection', 'baumgarte' or ('baumgarte', α, β)")
    if not all(isinstance(gain, int | float | np.number) and 0 <= gain < np.inf for gain in gains):
        raise InputError(f"drift={drift!r}: the gains must be numbers, finite and not negative")
    alpha, beta = gains or BAUMGARTE
    return kind, (alpha, beta)


def check_span(until: float, t: float) -> tuple[float, float]:
    """Start and end as finite numbers, the end after the start."""
    try:
        until, t = float(until), float(t)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"until = {until!r}, t = {t!r}: both must be numbers") from None
    if not (np.isfinite(until) and np.isfinite(t)):
        raise InputError(f"until = {until}, t = {t}: both must be finite")
    if until <= t:
        raise InputError(f"until = {until:g} is not after the start t = {t:g}: a positive duration is needed")
    return until, t


def longest_step(max_step: float | None, span: float) -> tuple[float, float]:
    """The longest step and the longest quiet one (see `Task`): what was asked for, or shares of the whole motion."""
    if max_step is None:
        return span / FEWEST_STEPS[0], span / FEWEST_STEPS[1]
    if not isinstance(max_step, int | float | np.number) or isinstance(max_step, bool) or not max_step > 0:
        raise InputError(f"max_step = {max_step!r}: a positive number is needed, or None for a share of the motion")
    try:
        longest = float(max_step)
    except OverflowError:  # a whole number beyond what a double can be
        longest = np.inf
    return longest, longest


def saved_times(t: float, until: float, times: ArrayLike | None, samples: int | None) -> Array:
    """The times to save, ascending, with the end among them."""
    if times is not None and samples is not None:
        raise InputError("times and samples are both given: give one of them")
    if times is None:
        count = DEFAULT_SAMPLES if samples is None else samples
        if not isinstance(count, int | np.integer) or not 2 <= count <= MOST_SAMPLES:
            raise InputError(f"samples = {samples!r}: a whole number from 2 to {MOST_SAMPLES:g} is needed")
        return np.linspace(t, until, int(count)) if count > 2 else np.array([t, until])
    try:
        grid = np.array(times, dtype=float).ravel()
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"times = {times!r}: numbers are needed") from None
    if not len(grid) or not np.isfinite(grid).all() or (np.diff(grid) < 0).any():
        raise InputError("times must be finite, at least one, and in ascending order")
    if grid[0] < t or grid[-1] > until:
        raise InputError(f"times run from {grid[0]:g} to {grid[-1]:g}, outside of the motion's {t:g} to {until:g}")
    return grid if grid[-1] == until else np.append(grid, until)


def in_precision(precision: str, method: str, usual: str) -> str:
    """The method that is meant: the usual one, or an engine that computes in quadruple precision."""
    able = names(lambda engine: engine.quad)
    if precision not in ("double", "quad") or (precision == "quad" and method not in (AUTO, *able)):
        raise InputError(
            f"precision={precision!r} with method={method!r}: choose 'double', or 'quad' with "
            f"{' or '.join(map(repr, able))}"
        )
    return usual if precision == "double" else f"{able[0] if method == AUTO else method}{QUAD}"


def instants_apart(begin: float, until: float) -> str:
    """How far instants are apart where a motion begins late, in words; nothing where it does not.

    >>> instants_apart(1e15, 1e15 + 10)
    'instants near t = 1e+15 are 0.125 apart'
    """
    if not abs(begin) > LATE * abs(until - begin):
        return ""
    return f"instants near t = {until:.4g} are {np.spacing(max(abs(begin), abs(until))):.3g} apart"
