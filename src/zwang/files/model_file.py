"""A model as a file describes it: a system, a start, a run, events, units and a drawing."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.display import named, told
from zwang.errors import InputError
from zwang.files.analyses.analysis import Analysis, AskedModel
from zwang.files.ranges import grid_of
from zwang.model import System
from zwang.model.drawing import Drawing
from zwang.model.event import REACTION, Event
from zwang.model.fixed import FrozenValue
from zwang.model.moved import Moved, tell
from zwang.model.state import Description, Statement, place_of, state_name
from zwang.model.symbols import as_scalar, label, t
from zwang.model.values import InPython, named_like, one_number, state_arrays, suggestion
from zwang.motion.assemble import assemble
from zwang.motion.options import RunOptions, check_span
from zwang.motion.prepare import prepare
from zwang.motion.simulate import motion_from
from zwang.motion.start import Start, start_of
from zwang.results.drawing import with_drawing
from zwang.results.inputs import read_attribute
from zwang.results.moved import moved_shapes
from zwang.results.units import Units, with_units

if TYPE_CHECKING:
    import xarray as xr

    from zwang.multibody import Mechanism


@dataclass(frozen=True)
class Run(InPython):
    """How to simulate: the arguments of `simulate`, and whether to bring the start onto its constraints first."""

    until: float | None = None
    samples: int | None = None
    begin: float = 0.0
    tol: float = 1e-12
    max_step: float | None = None
    method: str = "auto"
    form: str = "fundamental"
    impacts: str = "moreau"
    split: str = "compliant"
    contacts: str = "events"
    step: float | None = None
    drift: str | tuple[str, float, float] = "none"
    assemble: bool = False


MOST_SAVED = 10**8  # numbers of a motion: 800 MB


def most_samples(coordinates: int, constraints: int) -> int:
    """How many instants of a motion are saved at most."""
    return MOST_SAVED // (7 * coordinates + 3 * constraints + 10)


def too_many(samples: int, coordinates: int) -> str:
    """What to say of more samples than that."""
    return f"{samples:,} samples of {coordinates} coordinates are more than {MOST_SAVED:,} numbers"


@dataclass(frozen=True)
class ModelFile(AskedModel):
    """Everything that a model file says. `load_model` reads one, `save_model` writes one.

    `start` maps every coordinate and every rate to a number or to an expression in parameters. Where the file
    describes bodies, `mechanism` is what they make, and `start` is put together.
    """

    system: System
    start: Mapping[sp.Expr, sp.Expr]
    run: Run = field(default_factory=Run)
    events: tuple[Event, ...] = ()
    drawing: Drawing = field(default_factory=Drawing)
    units: Units = field(default_factory=Units)
    description: str = ""
    text: str = ""
    path: Path | None = None
    mechanism: "Mechanism | None" = None
    sweep: Mapping[str, str | tuple[float, ...]] = field(default_factory=dict)
    """Parameters to vary, by name: a range "from:to:count", or values."""
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    """What the model asks, by section: `ask` answers it."""
    tables: tuple[str, ...] = ()
    """The names of the CSV files beside the model that its inputs are read from."""
    warnings: tuple[str, ...] = ()
    """What was mended in a robot's file, or left out although it changes the motion."""
    rebuilt: "Callable[[Mapping[str, float]], ModelFile] | None" = field(default=None, repr=False, compare=False)
    """Builds the model with other values of parameters, from the document that was parsed when it was read."""
    as_read: "ModelFile | None" = field(default=None, repr=False, compare=False)
    """The model as it was read: what differs from it, somebody has changed since."""
    unstated: frozenset[sp.Expr] = field(default=frozenset(), repr=False, compare=False)
    """Coordinates and rates that the file leaves out: they start at zero, and are free if the start is assembled."""

    def __post_init__(self) -> None:
        """Refuse a start that is neither number nor expression, by name."""
        for key, value in self.start.items():
            try:
                as_scalar(value)
            except InputError as error:
                raise InputError(f"start of {label(key)}: {error}") from None

    def __repr__(self) -> str:
        """The model in a line."""
        system, events = self.system, (event.name or "without a name" for event in self.events)
        parts = named("coordinates", system.coordinate_names), named("constraints", system.constraint_names)
        return told(self, system.name or (self.path.name if self.path else ""), *parts, named("events", events))

    def with_parameters(self, parameters: Mapping[Any, Any] | None) -> "ModelFile":
        """The same model, built again if these values change places of its mechanism; otherwise as it is.

        A place is a number: where the joints are is computed from the parameters when the file is read. Values of
        parameters that have none become the system's own, for a start or a drawing may need them where it does not.
        """
        model, fixed = self, self.fixed
        given = {named_like(key, list(fixed)): value for key, value in (parameters or {}).items()}
        changed = {str(s): one_number(value, str(s)) for s, value in given.items() if s is not None}
        if any(fixed[sp.Symbol(name)] != value for name, value in changed.items()):
            assert self.rebuilt is not None  # only a file makes a mechanism with values that stand for parameters
            model = self.with_changes(self.rebuilt(changed))
        given = {named_like(key, model.missing): value for key, value in (parameters or {}).items()}
        added = {s: one_number(value, str(s)) for s, value in given.items() if s is not None}
        if not added:
            return model
        return replace(model, system=model.system.with_values(added))

    def with_changes(self, again: "ModelFile") -> "ModelFile":
        """A model that was built again, with everything that was changed since this one was read."""
        built = ("system", "mechanism", "rebuilt", "as_read", "run")
        kept = [f.name for f in fields(self) if f.name not in built and self.is_changed(f.name)]
        return replace(again, run=self.run, **{name: getattr(self, name) for name in kept})

    def is_changed(self, name: str) -> bool:
        """Whether a field is no more what was read."""
        return self.as_read is not None and getattr(self, name) is not getattr(self.as_read, name)

    @property
    def is_assembled(self) -> bool:
        """Whether a mechanism is put together at the start: not one that has a start of its own, or was given one."""
        as_described = self.rebuilt is not None and not self.is_changed("start")
        return self.mechanism is not None and (as_described or not self.start)

    def state(self, parameters: Mapping[Any, Any] | None = None) -> dict[sp.Expr, float]:
        """The start in numbers, on its constraints if the run asks for that; `parameters` override defaults.

        A mechanism is put together, unless it was made elsewhere and came with a start.
        """
        if self.is_assembled:
            made = self.with_parameters(parameters).mechanism
            assert made is not None
            return dict(made.assembled(parameters, self.run.begin))
        given = {key: as_scalar(value) for key, value in self.start.items()}
        needed = set().union(*(value.free_symbols for value in given.values()))
        values = dict.fromkeys(sorted({*self.system.symbols} | needed, key=str)) | dict(self.system.parameters)
        for key, value in (parameters or {}).items():
            if (symbol := named_like(key, list(values))) is None:
                raise InputError(f"parameters sets {key}, which this model does not have{suggestion(key, [*values])}")
            values[symbol] = value
        stated = {s: v for s, v in values.items() if isinstance(s, sp.Symbol) and v is not None}
        numbers = {s: sp.Float(one_number(v, str(s))) for s, v in stated.items()}
        missing = sorted(needed - numbers.keys(), key=str)
        if missing:
            raise InputError(f"the start needs a value of {', '.join(map(str, missing))}: give it in parameters")
        start = {key: float(value.xreplace(numbers).evalf()) for key, value in given.items()}
        if not self.run.assemble:
            return start
        return dict(assemble(self.system, self.described(start), parameters=parameters, t=self.run.begin))

    def described(self, start: Mapping[sp.Expr, float]) -> Description:
        """A start in numbers, with what of it is stated: all but what the file leaves out and is zero still."""
        q, v = state_arrays(self.system, start)
        stated = {}
        for key, value in start.items():
            place = place_of(self.system, key)
            if place is not None and (value != 0 or key not in self.unstated):
                stated[place] = Statement(state_name(self.system, place))
        return Description(self.system, np.concatenate([q, v]), stated)

    def begin(self, parameters: Mapping[Any, Any] | None = None, state: Mapping[Any, float] | None = None) -> Start:
        """The start of the run, to be evaluated, checked and ranked once; in the given state, if that is known."""
        state = self.state(parameters) if state is None else state
        return start_of(self.system, state, self.run.begin, parameters)

    def simulate(
        self,
        *,
        start: Mapping[Any, float] | Start | None = None,
        parameters: Mapping[Any, Any] | None = None,
        progress: Any = None,
        throw: bool = True,
        **changes: Any,
    ) -> "xr.Dataset":
        """The motion that the file asks for, with its drawing and units; `changes` are fields of `Run`.

        `start` is the start in numbers, if it is known already, or even evaluated; otherwise `state` computes it.
        """
        run = replace(self.run, **changes)
        if run.until is None:
            raise InputError("the model does not say when to stop: put until = … under [run], or give until=")
        model = replace(self, run=run).with_parameters(parameters)
        if start is None and not parameters:
            tell(model.moved_with(None, run.begin))
        if not isinstance(start, Start):
            start = model.begin(parameters, start)
        motion = motion_from(start, model.options(start, progress=progress, throw=throw))
        return model.dressed(motion, parameters)

    def options(self, start: Start, **more: Any) -> RunOptions:
        """How its motion is computed from a start; what does not fit together is refused."""
        assert self.run.until is not None
        until, t = check_span(self.run.until, start.state[0])
        asked = {key: value for key, value in asdict(self.run).items() if key not in ("until", "begin", "assemble")}
        return RunOptions(until, t, events=self.events, **asked, **more)

    def require_run(self, start: Start) -> None:
        """Refuse what `simulate` would refuse of its run, without computing a motion; nothing if it has no end."""
        if self.run.until is not None:
            prepare(start.system, start.values, self.options(start), contacts=True)

    @property
    def swept(self) -> dict[str, Array]:
        """All combinations of the parameters under [sweep], one entry a sample: the `parameters` of `simulate_many`."""
        return grid_of(self.sweep)

    @property
    def span(self) -> tuple[float, float | None]:
        """When the run begins and ends."""
        return self.run.begin, self.run.until

    def system_with(self, parameters: Mapping[Any, Any] | None) -> System:
        """The system, built again where values of parameters change places."""
        return self.with_parameters(parameters).system

    @property
    def start_symbols(self) -> frozenset[sp.Symbol]:
        """The parameters in the expressions of its start."""
        return frozenset().union(*(as_scalar(value).free_symbols for value in self.start.values()))

    def guess_with(self, parameters: Mapping[Any, Any] | None) -> Mapping[Any, float]:
        """The start as the file has it, in numbers, and what of it the file states."""
        model = self.with_parameters(parameters)
        if model.is_assembled:
            assert model.mechanism is not None
            return model.mechanism.guess
        return model.described(replace(model, run=replace(self.run, assemble=False)).state(parameters))

    def start_with(self, parameters: Mapping[Any, Any] | None, t: float) -> dict[sp.Expr, float]:
        """The start of a run that begins at this time."""
        return replace(self, run=replace(self.run, begin=t)).state(parameters)

    def moved_with(
        self, parameters: Mapping[Any, Any] | None, t: float, start: Mapping[sp.Expr, float] | None = None
    ) -> Moved | None:
        """How far bodies, or what is drawn, stand from where the file describes them; None if nothing is assembled.

        The start may be given, if it is known.
        """
        model = replace(self, run=replace(self.run, begin=t)).with_parameters(parameters)
        if model.is_assembled:
            assert model.mechanism is not None
            return model.mechanism.moved_with(parameters, t)
        if not self.run.assemble:
            return None
        start = model.state(parameters) if start is None else start
        return moved_shapes(model.system, model.drawing, model.guess_with(parameters), start, parameters, t)

    def readings_with(self, parameters: Mapping[Any, Any] | None) -> Sequence[Mapping[str, sp.Expr]]:
        """What can be read of the states of its mechanism, by name."""
        mechanism = self.with_parameters(parameters).mechanism
        return () if mechanism is None else mechanism.readings_with(parameters)

    def dressed(self, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None) -> "xr.Dataset":
        """A motion with the drawing and units of the file, and with the parameters that are numbers in its system."""
        model = self.with_parameters(parameters)
        used = read_attribute(motion, "parameters") | {str(s): float(v) for s, v in model.fixed.items()}
        motion = with_drawing(motion, model.drawing, model.system, parameters)
        return with_units(motion.assign_attrs(parameters=json.dumps(used)), model.units)

    @property
    def further_expressions(self) -> list[sp.Expr]:
        """The expressions of the model that are not its system's: of start, events, drawing and questions."""
        places = [e for shape in self.drawing.shapes for point in shape.points for e in point]
        places += [e for shape in self.drawing.shapes for e in (*(shape.normal or ()), shape.radius) if e is not None]
        places += [e for shape in self.drawing.shapes for row in shape.orientation or () for e in row]
        asked = [e for one in self.analyses.values() for e in one.expressions]
        return [
            *map(as_scalar, self.start.values()),
            *(e for event in self.events for e in event.expressions),
            *places,
            *asked,
        ]

    @property
    def missing(self) -> tuple[sp.Symbol, ...]:
        """The parameters that occur somewhere and have no value."""
        used = set(self.system.symbols).union(*(e.free_symbols for e in self.further_expressions))
        open_ones = (s for s in used - self.system.parameters.keys() - {t} if not REACTION.fullmatch(s.name))
        return tuple(sorted(open_ones, key=str))

    @property
    def fixed(self) -> dict[sp.Expr, float]:
        """The parameters that places of the mechanism depend on: they are numbers in the system."""
        return {s: value for s, value in self.system.parameters.items() if isinstance(value, FrozenValue)}
