"""A problem that every tool is given: the physics in words and numbers, and what is looked at in the end."""

import os
import re
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

TOLERANCES = tuple(10.0 ** (-k / 2) for k in range(6, 31))
"""From 1e-3 to 1e-15, two a decade, for tools that take a tolerance."""

TARGET = 1e-9
"""The end error at which all tools are compared."""


@dataclass(frozen=True)
class Problem:
    """The physics is in the docstring of the problem's module; `data` are its numbers.

    A tool returns `observed`, the quantities named in `observe` at the end. `reference` are the same in high
    precision, as text (origin in the module). `answer` problems have no accuracy to compare: a tool answers or not.
    """

    name: str
    title: str
    until: float
    data: Mapping[str, Any]
    observe: tuple[str, ...]
    reference: tuple[str, ...]
    starts: int = 1
    """How many trajectories: above 1 the observed quantities of all stand one after the other."""
    targets: tuple[float, ...] = (1e-3, 1e-6, 1e-9, 1e-12)

    @property
    def kind(self) -> str:
        """The name without its size."""
        return re.sub(r"_\d+$", "", self.name)

    def error(self, observed: Any) -> float:
        """The largest error, relative to the largest reference value."""
        exact = np.array([float(x) for x in self.reference])
        got = np.asarray(observed, dtype=float).ravel()
        if got.shape != exact.shape:
            raise ValueError(f"{self.name}: {got.shape} observed, {exact.shape} expected")
        if not np.isfinite(got).all():
            return float("inf")
        return float(np.abs(got - exact).max() / np.abs(exact).max())


PROCESSOR = "ZWANG_BENCH_PROCESSOR"
"""Set in the environment of a worker whose times are those of the processor: the machine does other things, too."""


def clock() -> float:
    """Seconds: of the clock on the wall or, on a busy machine, of the processor, called compilers included."""
    if not os.environ.get(PROCESSOR):
        return time.perf_counter()
    called = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + called.ru_utime + called.ru_stime


class CannotExpress(Exception):
    """A tool has no way to state a problem; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What one run gave: the observed quantities at the end, and how well it obeyed the physics."""

    observed: Any
    drift: float = float("nan")
    """The largest violation of a constraint in position at the end (of joints that the tool keeps by constraints)."""
    energy: float = float("nan")
    """The largest change of energy that physics does not explain, where energy is conserved."""
    seconds: float | None = None
    """Time of the integration alone, where the tool itself reports it; else the run is timed."""
    call_seconds: float | None = None
    """Time of the whole call that a user makes, where it does more than integrate."""


@dataclass(frozen=True)
class Prepared:
    """A model ready to run: `run` takes a setting (a tolerance or a step), coarse to fine."""

    run: Callable[[float], Outcome]
    settings: tuple[float, ...]
    how: str
    """How the tool was used, in a few words."""
    versions: Mapping[str, str] = field(default_factory=dict)


def written(table: Mapping[str, T], problem: Problem, reason: str) -> T:
    """What a tool has for a problem of this name or kind, or the reason why it has nothing."""
    for name in (problem.name, problem.kind):
        if name in table:
            return table[name]
    raise CannotExpress(reason)
