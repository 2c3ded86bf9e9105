"""Many starts at once: one compilation, all cores, one dataset."""

import time as clock
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.engines.registry import DEFAULT
from zwang.errors import InputError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, end_of, is_array
from zwang.motion.ensemble.part import compute, shapes
from zwang.motion.ensemble.problem import Ensemble, Sampled, sampled
from zwang.motion.ensemble.together import Lead, lead_by
from zwang.motion.observe import chunks, settings
from zwang.motion.setup import RunOptions, check_span
from zwang.results.dataset import VARIABLES, dataset
from zwang.waiting import waiting
from zwang.words import count, nearest

if TYPE_CHECKING:
    import xarray as xr

LOOKED_AT = 1024  # starts that are looked at together, for one that can lead
STATUS_MEANS, DOUBTS_MEAN = "how each sample ended", "what cannot be vouched for"


def simulate_many(
    system: System | HasSystem,
    starts: Mapping[Any, ArrayLike] | None = None,
    until: float | None = None,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, ArrayLike] | None = None,
    form: str = "fundamental",
    tol: float = 1e-12,
    drift: str | tuple[str, float, float] = "none",
    t: float | None = None,
    max_step: float | None = None,
    threads: int | None = None,
    keep: Sequence[str] | None = None,
) -> "xr.Dataset":
    """Integrate a system from many starts, or for many parameter values, on all cores and one compilation.

    `starts` and `parameters` map to numbers or to arrays (S,), which broadcast. The dataset has the variables of
    `simulate` with a dimension `sample` in front, and `status` and `doubts` (sample) beside them; a sample that
    fails is marked with its status, NaN from there on, and does not stop the others. A mechanism begins at its own
    start where none is given, put together for each sample's values of parameters. Parameters that differ from sample
    to sample are coordinates along `sample`.

    `keep` names the variables that the dataset is to have, ("q", "energy"); all of them without it. The others are
    computed and looked at, so that doubts are told, but take no memory.

    >>> import numpy as np
    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> k = zw.parameters("k")
    >>> oscillator = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=k*x**2/2)
    >>> motion = zw.simulate_many(oscillator, {x: [1, 2, 3], zw.dot(x): 0}, until=np.pi, samples=2, parameters={k: 4})
    >>> motion.q.isel(time=-1, coordinate=0).values.round(9)
    array([1., 2., 3.])
    """
    until, t = check_span(end_of(system, until), begin_of(system, t))
    options = RunOptions(until, t, times, samples, DEFAULT, form, tol, drift, max_step=max_step)
    if threads is not None and (not isinstance(threads, int | np.integer) or threads < 1):
        raise InputError(f"threads = {threads!r}: a whole number from 1 on is needed, or None for all cores")
    asked = sampled(system, starts, parameters, options)
    ensemble = asked.ensemble()
    ensemble.check()
    setup, grid, names = ensemble.setup, ensemble.grid, kept_names(keep)
    values = {name: np.empty((len(ensemble), len(grid), *shapes(setup)[name])) for name in names}
    with waiting(f"simulating {count(len(ensemble), 'sample')}"):
        told = compute(ensemble, lead_of(ensemble), values, threads)
    total = clock.perf_counter() - options.began
    seconds = {"compile_seconds": total - told.seconds, "run_seconds": told.seconds, "total_seconds": total}
    unsure = np.array([told.doubts.get(i, "") for i in range(len(ensemble))] if told.doubts else [""] * len(ensemble))
    attributes = {"status": summary(Counter(told.statuses)), "doubts": summary_of_doubts(told.doubts, len(ensemble))}
    motion = dataset(
        values,
        grid,
        setup.system.coordinate_names,
        setup.system.constraint_names,
        told.unique,
        attributes | seconds | settings(replace(setup, drift="projection") if told.projected else setup),
        leading=("sample",),
    )
    return motion.assign(
        status=("sample", np.array(told.statuses, dtype=str), {"long_name": STATUS_MEANS}),
        doubts=("sample", unsure, {"long_name": DOUBTS_MEAN}),
    ).assign_coords(varied(asked, motion))


def kept_names(keep: Sequence[str] | None) -> list[str]:
    """The variables to keep, in the order of the results; all of them where nothing is said."""
    if keep is None:
        return list(VARIABLES)
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise InputError(f"keep = {keep!r}: give names of variables in a list or tuple, as in ('q', 'v')")
    names = list(keep)
    for name in names:
        if name not in VARIABLES:
            meant = nearest(str(name), VARIABLES)
            raise InputError(
                f"keep names {name!r}, which no motion has{f'; did you mean {meant!r}?' if meant else ''} "
                f"(there are {', '.join(VARIABLES)})"
            )
    if not names:
        raise InputError("keep is empty: name at least one variable, as in ('q', 'v'), or leave it out for all")
    return [name for name in VARIABLES if name in names]


def lead_of(ensemble: Ensemble) -> Lead | None:
    """The lead of an ensemble of which all samples are there: the first whose start is on its constraints."""
    for part in chunks(len(ensemble), LOOKED_AT):
        which = np.flatnonzero(ensemble.part(part).consistent)
        if len(which):
            return lead_by(ensemble, part.start + int(which[0]), len(ensemble))
    return None


def varied(asked: Sampled, motion: "xr.Dataset") -> dict[str, Any]:
    """The parameters that differ from sample to sample, by name; one that is called as a variable is has no place."""
    return {
        str(key): (
            "sample",
            np.broadcast_to(np.asarray(value, dtype=float), (asked.count,)),
            {"long_name": "parameter"},
        )
        for key, value in asked.parameters.items()
        if is_array(value) and str(key) not in motion.variables and str(key) not in motion.dims
    }


def summary_of_doubts(doubts: Mapping[int, str], samples: int) -> str:
    """How many samples are not vouched for, and what is said of the first."""
    if not doubts:
        return ""
    first = min(doubts)
    return f"Not vouched for: {len(doubts)} of {samples} samples; sample {first}: {doubts[first]}"


def summary(statuses: Mapping[str, int]) -> str:
    """How the samples fared together, from how many there are of each status."""
    return ", ".join(f"{number} {kind}" for kind, number in sorted(statuses.items(), key=lambda item: -item[1]))
