"""What may stand where a system is meant: whatever has one, with a start of its own."""

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from zwang.display import Displayed
from zwang.errors import InputError
from zwang.model.event import Event, listed_events
from zwang.model.moved import Moved, tell
from zwang.model.signal import Signal
from zwang.model.system import System

if TYPE_CHECKING:
    import xarray as xr


class HasSystem(Displayed, ABC):
    """A mechanism, a model file: it has a system, and a start and a look of its own.

    Functions that take a `System` take it, too. Without a start they begin at its own, which is found for the values
    of parameters that they are given.
    """

    events: tuple[Event, ...] = ()
    """What is watched in its motions."""

    @property
    def span(self) -> tuple[float, float | None]:
        """When its motion begins, and when it ends if it says so."""
        return 0.0, None

    @property
    def start_symbols(self) -> frozenset[sp.Symbol]:
        """The parameters that its own start is written in."""
        return frozenset()

    @abstractmethod
    def system_with(self, parameters: Mapping[Any, Any] | None) -> System:
        """The system, for these values of parameters."""

    @abstractmethod
    def guess_with(self, parameters: Mapping[Any, Any] | None) -> Mapping[Any, float]:
        """The start as it is described, on its constraints or not."""

    @abstractmethod
    def start_with(self, parameters: Mapping[Any, Any] | None, t: float) -> Mapping[Any, float]:
        """The start for these values of parameters, at a time."""

    def moved_with(self, parameters: Mapping[Any, Any] | None, t: float) -> Moved | None:
        """How far that start is from where it is described; None where nothing is put together."""
        return None

    def readings_with(self, parameters: Mapping[Any, Any] | None) -> Sequence[Mapping[str, sp.Expr]]:
        """What can be read of its states beside coordinates and rates, by name, those to prefer first."""
        return ()

    @abstractmethod
    def dressed(self, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None) -> "xr.Dataset":
        """A motion of the system with what is drawn of it, and with units where they are known."""


class MechanismPart(Displayed):
    """A body, a joint or a force element: no system yet, but what one is made of."""

    name: str


def system_of(given: Any, what: str, parameters: Mapping[Any, Any] | None = None) -> System:
    """The system that is meant; what has none is refused, saying what was given and what takes it."""
    if not isinstance(parameters, Mapping | None):
        raise InputError(f"parameters maps parameters to values, {{k: 2, …}}; got {type(parameters).__name__}")
    if isinstance(given, System):
        return given
    if isinstance(given, HasSystem):
        return given.system_with(parameters)
    raise InputError(f"{what} takes a System, a Mechanism or a model; {instead(given)}")


def readings_beside(given: Any, parameters: Mapping[Any, Any] | None) -> Sequence[Mapping[str, sp.Expr]]:
    """What can be read of states beside coordinates and rates; nothing of a bare system."""
    return given.readings_with(parameters) if isinstance(given, HasSystem) else ()


def instead(given: Any) -> str:
    """What was given in place of a system, and what to do about it."""
    if isinstance(given, str | bytes):
        return f"got the text {given!r}: zwang.load_model reads a model from a file, or an example by its name"
    if isinstance(given, type):
        return f"got the class {given.__name__} itself: make one, {given.__name__}(…)"
    if isinstance(given, MechanismPart):
        name = getattr(given, "name", "")
        return f"got the {type(given).__name__} {name!r}, a part: make a Mechanism of bodies, joints and forces"
    if isinstance(given, list | tuple):
        return f"got {len(given)} things in a {type(given).__name__}: give one system, or one Mechanism of its parts"
    kind = type(given).__name__
    return "got None" if given is None else f"got {'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def begin_of(given: Any, t: Any) -> Any:
    """The time at which something begins: the one that is asked for, or its own."""
    if t is not None:
        return t
    return given.span[0] if isinstance(given, HasSystem) else 0.0


def end_of(given: Any, until: float | None) -> float:
    """The time at which a motion ends: the one that is asked for, or its own."""
    own = given.span[1] if isinstance(given, HasSystem) else None
    if until is None and own is None:
        raise InputError("when does the motion stop? give until=…, the time of its end")
    return until if until is not None else own  # type: ignore[return-value]


def start_of_one(given: Any, start: Any, parameters: Mapping[Any, Any] | None, t: float, what: str = "start") -> Any:
    """The start that is meant: the one that is given, or the own one of what has one."""
    if start is None and isinstance(given, HasSystem):
        return own_start(given, parameters, t)
    if start is None:
        raise InputError(
            f"a System has no start of its own: give {what}, which maps every coordinate and rate to a number; "
            f"a Mechanism has one"
        )
    if isinstance(given, HasSystem) and isinstance(start, int | float):
        raise InputError(f"{what} = {start!r} is a number, not a state: leave it out, or say until={start!r}")
    return start


def start_of_each(
    given: Any, start: Any, parameters: Mapping[Any, Any] | None, t: ArrayLike, what: str = "start"
) -> Any:
    """The same where parameters and times may be arrays: then there is a start for each of their entries."""
    if start is not None or not isinstance(given, HasSystem):
        return start_of_one(given, start, parameters, 0.0, what)
    varied = {key: np.asarray(value) for key, value in (parameters or {}).items() if is_array(value)}
    times = np.asarray(t, dtype=float)
    if not varied and not times.ndim:
        return own_start(given, parameters, float(times))
    try:
        times, *values = np.broadcast_arrays(times, *varied.values())
    except ValueError:
        shapes = ", ".join(f"{key}: {value.shape}" for key, value in varied.items())
        raise InputError(f"the arrays of the parameters do not broadcast: {shapes}") from None
    found: dict[Any, Any] = {}
    for place in np.ndindex(times.shape):
        own = dict(parameters or {}) | {key: value[place] for key, value in zip(varied, values, strict=True)}
        for key, value in given.start_with(own, float(times[place])).items():
            found.setdefault(key, np.empty(times.shape))[place] = value
    return found


def own_start(given: HasSystem, parameters: Mapping[Any, Any] | None, t: float) -> Mapping[Any, float]:
    """The start of something that has one; if it lies far from where it is described, there is a warning.

    Other values of parameters or another time move it as they should: of that nobody needs to be warned.
    """
    start = given.start_with(parameters, t)
    if not parameters and t == given.span[0]:
        tell(given.moved_with(parameters, t))
    return start


def is_array(value: Any) -> bool:
    """Whether the value of a parameter has entries, one for each sample."""
    return not isinstance(value, Signal | str | bytes) and getattr(np.asarray(value, dtype=object), "ndim", 0) > 0


def resets_of(given: Any, events: Event | Sequence[Event]) -> tuple[Event, ...]:
    """The events that reset the state, of those given and of a model's own."""
    own = given.events if isinstance(given, HasSystem) else ()
    return tuple(event for event in (*own, *listed_events(events)) if event.reset)


def numbered_with(system: System, events: Sequence[Event], only: Container[str] | None = None) -> System:
    """The system with places among its numbers for its parameters that only these events use; for all, or for some.

    Otherwise the values of such parameters are written into the events, and nothing can be varied there.
    """
    used = {s for event in events for e in event.expressions for s in e.free_symbols}
    declared = [s for s in system.parameters if isinstance(s, sp.Symbol) and s in used]
    return system.with_symbols(s for s in declared if only is None or s.name in only)
