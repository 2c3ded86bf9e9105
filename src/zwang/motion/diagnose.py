"""The public verdict on a system's constraints at a state."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.errors import InputError
from zwang.linalg.threads import one_thread
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, start_of_one, system_of
from zwang.model.values import numbers, parameter_values, state_arrays
from zwang.motion.contact.standing import verdict_at
from zwang.motion.start import start_of
from zwang.verdict import Verdict


def diagnose(
    system: System | HasSystem,
    state: Mapping[Any, ArrayLike] | None = None,
    t: float | None = None,
    parameters: Mapping[Any, Any] | None = None,
) -> Verdict:
    """The verdict on a system's constraints at one state; of a mechanism at its start, if none is given.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> slide = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, name="A slide",
    ...                   constraints={"ramp": x - y, "again": 3*x - 3*y})
    >>> verdict = zw.diagnose(slide, {x: 1, y: 1, zw.dot(x): 0, zw.dot(y): 0})
    >>> verdict.rank, dict(verdict.redundant), verdict.ok
    (1, {'again': ('ramp',)}, True)
    """
    given, t = system, begin_of(system, t)
    system = system_of(given, "diagnose", parameters)
    at = start_of_one(given, state, parameters, t, "state")
    q, _ = state_arrays(system, at)
    p, _ = parameter_values(system, parameters)
    if q.ndim != 1 or p.ndim != 1 or np.ndim(numbers(t, "t")):
        raise InputError("diagnose takes one state: give numbers, not arrays")
    with one_thread(system.size):
        return verdict_at(start_of(system, at, float(numbers(t, "t")), parameters))
