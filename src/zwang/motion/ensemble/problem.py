"""What is asked of an ensemble: a system, starts and parameters of all samples, and options, in whole or in part.

A part knows nothing of the others but the *lead*, the first sample that can move: rows are chosen there. So a part
computes the same bits wherever and whenever it is computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.errors import AssemblyError, InputError
from zwang.evaluation import satisfied
from zwang.lowering.matrices import matrix_kernel
from zwang.model import System
from zwang.model.has_system import HasSystem, is_array, numbered_with, start_of_each, start_of_one, system_of
from zwang.model.values import GivenValues, given_values, state_arrays
from zwang.motion.breaks import breaks_in, require_fit
from zwang.motion.continuity import require_continuous
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.setup import Setup


@dataclass(frozen=True, eq=False)
class Sampled:
    """A system, its starts and its parameters, of so many samples: parameters are numbers, or have one a sample."""

    given: System | HasSystem
    start: tuple[Array, Array] | None
    """Positions and velocities (n,) or (S, n); without, what has a system begins at its own start."""
    parameters: dict[Any, Any]
    options: RunOptions
    count: int

    @property
    def system(self) -> System:
        """The system, with places among its numbers for whatever differs from sample to sample."""
        system = system_of(self.given, "simulate_many", self.parameters)
        varied = {getattr(key, "name", key) for key, x in self.parameters.items() if is_array(x)}
        return numbered_with(system, self.options.events, varied)

    def part(self, which: slice) -> "Sampled":
        """Some of the samples."""

        def cut(values: Array) -> Array:
            return values[which] if len(values) == self.count else values

        start = self.start
        if start and start[0].ndim == 2:
            start = cut(start[0]), cut(start[1])
        varied = {k: cut(np.asarray(x)) for k, x in self.parameters.items() if is_array(x)}
        count = len(range(self.count)[which])
        return replace(self, start=start, parameters=self.parameters | varied, count=count)

    def ensemble(self) -> "Ensemble":
        """The same in numbers, with the own starts of what has some."""
        system = self.system
        values, t, start = given_values(system, self.parameters), self.options.t, self.start
        refused: dict[int, str] = {}
        if start is None:
            try:
                start = state_arrays(system, start_of_each(self.given, None, self.parameters, t, "starts"))
            except AssemblyError:
                start, refused = self.one_by_one(system)
        q, v, p = spread(*start, values.p, self.count)
        setup = replace(prepare(system, replace(values, p=p[0]), self.options, contacts=True), in_lanes=True)
        return Ensemble(setup, self.options, values, q, v, p, refused)

    def one_by_one(self, system: System) -> tuple[tuple[Array, Array], dict[int, str]]:
        """Own starts where some cannot be put together: those are not numbers, and it is said why."""
        q, v = np.full((2, self.count, len(system.coordinates)), np.nan)
        refused: dict[int, str] = {}
        for i in range(self.count):
            one = self.part(slice(i, i + 1)).parameters
            try:
                found = state_arrays(system, start_of_each(self.given, None, one, self.options.t, "starts"))
            except AssemblyError as error:
                if self.count == 1:
                    raise
                refused[i] = str(error)
            else:
                q[i], v[i] = found[0].reshape(-1), found[1].reshape(-1)
        return (q, v), refused


def sampled(
    given: System | HasSystem,
    starts: Mapping[Any, Any] | None,
    parameters: Mapping[Any, Any] | None,
    options: RunOptions,
) -> Sampled:
    """What is asked, checked, with the number of its samples."""
    system = system_of(given, "simulate_many", parameters)
    p = given_values(system, parameters).p
    varied = [np.asarray(x) for x in (parameters or {}).values() if is_array(x)]
    start = None
    if starts is not None or not isinstance(given, HasSystem):
        start = state_arrays(system, start_of_one(given, starts, None, options.t, "starts"))
    shapes = [p.shape[:-1], *(x.shape for x in varied), start[0].shape[:-1] if start else ()]
    if max(map(len, shapes)) > 1:
        raise InputError("starts and parameters have more than one axis: give arrays (S,), one entry a sample")
    sizes = [size for shape in shapes for size in shape]
    count = max(sizes, default=1)
    if 0 in sizes:
        raise InputError("starts and parameters have no entries: give arrays (S,), one entry a sample")
    if start:
        spread(*start, p, count)
    return Sampled(given, start, dict(parameters or {}), options, count)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Starts (S, n) and parameters (S, k) of some samples, in numbers, with all that their runs have in common."""

    setup: Setup
    """Its parameters are those of the first sample."""
    options: RunOptions
    values: GivenValues
    """Of all samples."""
    q: Array
    v: Array
    p: Array
    refused: Mapping[int, str] = field(default_factory=dict)
    """Samples that have no start, and why."""

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self.q)

    @property
    def t(self) -> float:
        """When samples begin."""
        return self.options.t

    @property
    def until(self) -> float:
        """When they end."""
        return self.options.until

    @cached_property
    def grid(self) -> Array:
        """The times to save."""
        return self.options.grid

    def of(self, sample: int) -> Setup:
        """One sample's setup."""
        return replace(self.setup, p=self.p[sample], breaks=self.breaks[sample])

    def state(self, sample: int) -> tuple[float, Array, Array]:
        """One sample's start."""
        return self.t, self.q[sample], self.v[sample]

    def part(self, which: slice) -> "Ensemble":
        """Some of the samples."""
        begin, end, _ = which.indices(len(self))
        refused = {i - begin: words for i, words in self.refused.items() if begin <= i < end}
        cut = replace(self, q=self.q[which], v=self.v[which], p=self.p[which], refused=refused)
        cut.__dict__["breaks"] = self.breaks[which]  # they are known
        return cut

    @cached_property
    def breaks(self) -> list[Array]:
        """The breaks of each sample."""
        return breaks_in(self.setup, self.p, self.t, self.until)

    @cached_property
    def consistent(self) -> NDArray[np.bool_]:
        """(S,) which starts satisfy their constraints, with all numbers finite."""
        q, v, system = self.q, self.v, self.setup.system
        now = matrix_kernel(system, self.setup.inputs)(self.t, q, v, self.p)
        finite = [np.isfinite(x).reshape(len(q), -1).all(axis=1) for x in (now.M, now.Q, now.A, now.b, now.C)]
        with np.errstate(invalid="ignore", over="ignore"):
            good = satisfied(system, now, q, v).all(axis=1)
        return np.asarray(good & np.all(finite, axis=0))

    def check(self) -> None:
        """Refuse what no sample could be run with, and what would need impulses in one."""
        require_fit(self.setup.system, self.setup.signals, self.setup.method, self.t, self.until)
        kinds = {own.tobytes(): sample for sample, own in enumerate(self.breaks)} if self.has_breaks else {}
        for sample in kinds.values():
            require_continuous(self.of(sample), self.q[sample], self.v[sample])

    @property
    def has_breaks(self) -> bool:
        """Whether one of the samples has a break."""
        return any(map(len, self.breaks))


def spread(q: Array, v: Array, p: Array, count: int) -> tuple[Array, Array, Array]:
    """States and parameters as arrays (S, …)."""
    try:
        return tuple(np.broadcast_to(x, (count, x.shape[-1])) for x in (q, v, p))  # type: ignore[return-value]
    except ValueError:
        raise InputError(f"{len(q)} starts and {len(p)} parameter values do not broadcast") from None
