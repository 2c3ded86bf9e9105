"""A mechanism: bodies, joints and force elements, and the `System` that they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.arrays import EPS, Array
from zwang.display import named, told
from zwang.errors import AssemblyError, InputError, ModelError
from zwang.model import System
from zwang.model.drawing import Drawing
from zwang.model.has_system import HasSystem
from zwang.model.moved import Moved
from zwang.model.solids import Solid, require_solids
from zwang.model.state import Description, State, Statement, place_of, state_name
from zwang.model.symbols import as_scalar, label
from zwang.model.symbols import t as time
from zwang.model.values import input_values, one_number, parameter_values, state_arrays, suggestion
from zwang.motion.assemble import assemble
from zwang.multibody import results
from zwang.multibody.body import AnyBody, MassBody
from zwang.multibody.check import find_mistakes
from zwang.multibody.drawing import draw
from zwang.multibody.element import ForceElement
from zwang.multibody.families import by_families, facing_at, is_large, total
from zwang.multibody.inertia import require_inertia
from zwang.multibody.joint import Constrainer
from zwang.multibody.moved import moved_bodies
from zwang.multibody.valued import values_of
from zwang.multibody.vectors import is_number
from zwang.results.drawing import with_drawing

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Mechanism(HasSystem):
    """Bodies with what joins them and what acts on them.

    `joints` takes drivers, couplings, contacts, stops and conditions too. `parameters` are values of the symbols that
    the description uses. Bodies with prescribed motion and the ground need not be listed. `constraints` are further
    ones by name, as a `System` takes them, in the coordinates of bodies and joints. `scenery` are solids of the ground,
    in world axes, for pictures. `initial` are coordinates and rates at the start, by themselves or by name, in place of
    what the bodies say of it; where these are described, joints are described still.

    Whatever takes a `System` takes a mechanism, and begins at its `start`; `system` is the one that it makes.

    >>> import zwang as zw
    >>> from zwang import multibody as mb
    >>> rod = mb.PlanarBody("rod", mass=3, inertia=1, position=(1, 0))
    >>> pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    >>> pendulum = mb.Mechanism([rod], joints=[pin], forces=[mb.Gravity((0, -10))])
    >>> round(float(zw.evaluate(pendulum).acceleration[2]), 12)  # −m g l/(m l² + I)
    -7.5
    """

    bodies: Sequence[AnyBody]
    joints: Sequence[Constrainer] = ()
    forces: Sequence[ForceElement] = ()
    parameters: Mapping[sp.Expr, Any] = field(default_factory=dict)
    name: str = ""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    scenery: Sequence[Solid] = ()
    initial: Mapping[Any, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what does not fit together; every mistake at once."""
        for key in ("bodies", "joints", "forces"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        object.__setattr__(self, "scenery", require_solids("mechanism", self.scenery, "scenery"))
        mistakes = find_mistakes(self)
        if mistakes:
            raise ModelError(mistakes, self.name)

    def __repr__(self) -> str:
        """The mechanism in a line."""
        parts = {"bodies": self.bodies, "joints": self.joints, "forces": self.forces}
        words = [named(what, (each.name for each in some)) for what, some in parts.items()]
        return told(self, self.name, *words, self.known_moved)

    @property
    def movable(self) -> tuple[MassBody, ...]:
        """The bodies that have coordinates."""
        return tuple(b for b in self.bodies if isinstance(b, MassBody))

    @cached_property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """The names of the constraints of each joint."""
        return {j.name: j.row_names for j in self.joints}

    @cached_property
    def system(self) -> System:
        """The mechanism as a `System`: coordinates rod.x, rod.q0, …, constraints pin.x, pin.axis1, …."""
        inputs = {f: value for element in self.forces for f, value in element.inputs.items()}
        parameters = {**self.parameters, **inputs}
        if is_large(self):
            known = frozenset(f for f in parameters if isinstance(f, AppliedUndef))
            writes = {what: partial(self._written, what) for what in ("kinetic", "potential", "forces", "nonideal")}
            return System.by_families(by_families(self, known, writes), parameters, self.name)
        bodies = self.movable
        constraints: dict[str, Any] = {f"{b.name}.{suffix}": e for b in bodies for suffix, e in b.conditions.items()}
        for j in self.joints:
            constraints |= zip(j.row_names, j.asked.values(), strict=True)
        constraints |= self.constraints
        return System(
            self._written("coordinates"),
            kinetic=self._written("kinetic"),
            potential=self._written("potential"),
            forces=total([f.forces(bodies) for f in self.forces]),
            nonideal=total([f.nonideal(bodies) for f in self.forces]),
            constraints=constraints,
            parameters=parameters,
            name=self.name,
        )

    def _written(self, what: str) -> Any:
        """Coordinates, an energy, or forces by coordinate, written out."""
        bodies = self.movable
        if what == "kinetic":
            return sp.Add(*[b.kinetic for b in bodies], *[f.kinetic(bodies) for f in self.forces])
        if what == "potential":
            return sp.Add(*[f.potential(bodies) for f in self.forces])
        coordinates = (*(q for b in bodies for q in b.coordinates), *(q for j in self.joints for q in j.coordinates))
        if what == "coordinates":
            return coordinates
        forces = total([getattr(f, what)(bodies) for f in self.forces])
        return tuple(as_scalar(forces.get(q, 0)) for q in coordinates)

    @cached_property
    def guess(self) -> Description:
        """The start as described, before it is brought onto its constraints, and what of it is stated."""
        each = [b.start_values() for b in self.movable]
        own = [float(value) for j in self.joints for value in j.coordinates.values()]
        q, v = [x for positions, _ in each for x in positions], [x for _, speeds in each for x in speeds]
        values, stated = np.array([*q, *own, *v, *(0.0 for _ in own)]), self._stated
        initial = self._initial
        for place, value in initial.items():
            values[place] = value
            stated[place] = Statement(state_name(self.system, place), ("start", state_name(self.system, place)))
        return Description(self.system, values, stated, partial(described_rates, self.movable, initial))

    @property
    def _initial(self) -> dict[int, float]:
        """What is given of the start itself, by places in a state."""
        found = {}
        for key, value in self.initial.items():
            if (place := place_of(self.system, key)) is None:
                hint = suggestion(key, [*self.system.coordinates, *self.system.velocities])
                raise InputError(f"initial: {label(key)} is not a coordinate or rate{hint}", where=("start", str(key)))
            found[place] = one_number(value, f"initial: {label(key)}")
        return found

    @property
    def _stated(self) -> dict[int, Statement]:
        """What the bodies state of the start: the place of each number, and who says it."""
        found: dict[int, Statement] = {}
        n, first = len(self.system.coordinate_names), 0
        for body in self.movable:
            size = len(body.coordinate_names)
            places = [*range(first, first + size), *range(n + first, n + first + size)]
            first += size
            for argument, count in body.stated:
                own, places = places[:count], places[count:]
                if argument:
                    words = f"{argument} of {body.who}"
                    found |= dict.fromkeys(own, Statement(words, ("bodies", body.name, argument)))
        return found

    @cached_property
    def start(self) -> Mapping[Any, float]:
        """The state nearest to the one described that obeys every joint, in position and velocity."""
        return self.assembled()

    def assembled(self, parameters: Mapping[Any, Any] | None = None, t: float = 0.0) -> Mapping[Any, float]:
        """The start with other values of parameters, or at another time; the last one is kept."""
        values = parameter_values(self.system, parameters)[0].tobytes()
        inputs = tuple(input_values(self.system, parameters).values())
        asked = (values, inputs, float(t))
        kept = self._last.get("start")
        if kept is None or kept[0] != asked:
            kept = self._last["start"] = (asked, self._put_together(parameters, t))
        return dict(kept[1]) if isinstance(kept[1], dict) else kept[1]

    @cached_property
    def moved(self) -> Moved:
        """How far bodies stand at the start from where they are described."""
        return moved_bodies(self, self.start, None)

    @property
    def known_moved(self) -> str:
        """What moved, in words, where the start is known already and something did; for whatever shows a mechanism."""
        known = "start" in self.__dict__ or "moved" in self.__dict__
        return str(self.moved) if known and not self.moved.nothing else ""

    def moved_with(self, parameters: Mapping[Any, Any] | None, t: float) -> Moved:
        """The same with other values of parameters, or at another time."""
        usual = not parameters and t == 0
        return self.moved if usual else moved_bodies(self, self.assembled(parameters, t), parameters)

    @cached_property
    def _last(self) -> dict[str, tuple[Any, Mapping[Any, float]]]:
        return {}

    def _put_together(self, parameters: Mapping[Any, Any] | None, t: float) -> Mapping[Any, float]:
        try:
            state = assemble(self.system, self.guess, parameters=parameters, t=t)
        except AssemblyError as error:
            words, where = "the mechanism cannot be put together as described: ", error.mistakes[0].where
            raise AssemblyError(words, *error.mistakes, where=where) from None
        require_facing(self, state, parameters, t)
        require_inertia(self.system, self.movable, state, parameters, t)
        return without_noise(self, state)

    def system_with(self, parameters: Mapping[Any, Any] | None) -> System:
        """The system: values of parameters do not change it."""
        return self.system

    def guess_with(self, parameters: Mapping[Any, Any] | None) -> Mapping[Any, float]:
        """The start as described: places are numbers."""
        return self.guess

    def start_with(self, parameters: Mapping[Any, Any] | None, t: float) -> Mapping[Any, float]:
        """The start, put together for these values at this time."""
        return self.assembled(parameters, t)

    def readings_with(self, parameters: Mapping[Any, Any] | None) -> Sequence[Mapping[str, sp.Expr]]:
        """Joint coordinates, and places, axes and rates of bodies, by name."""
        return results.readings(self)

    def dressed(self, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None) -> "xr.Dataset":
        """A motion with the mechanism's drawing in it."""
        return with_drawing(motion, self.drawing, self.system, parameters)

    @cached_property
    def drawing(self) -> Drawing:
        """What the mechanism looks like: bodies by their solids or outlines, springs as lines, wheels as circles.

        A body that has neither is lines to its joints in the plane; in space a box of the same inertia and rods.
        """
        return draw(self.bodies, self.joints, self.forces, self.scenery, values_of(self.parameters))

    def track(self, motion: "xr.Dataset", body: str, point: Sequence[Any] | None = None) -> "xr.DataArray":
        """(time, axis) the world path of a point given in body axes from the centre of mass."""
        return results.track(self, motion, body, point)

    def reactions(self, motion: "xr.Dataset", frame: str = "world") -> "xr.Dataset":
        """Force and moment (time, joint, axis) on the second body of each joint, at the joint; and whether unique.

        A reaction does no work in the joint's free motions: what drives, springs or brakes the joint's coordinates is
        not part of it. `frame` is "world" or "joint", the joint's own axes, which turn with its first body.
        """
        return results.reactions(self, motion, frame)

    def coordinates(self, motion: "xr.Dataset") -> "xr.Dataset":
        """Joint angles and travels with their rates, (time, joint), all turns counted; NaN where a joint has none.

        Where the samples of a motion do not show the turns of a joint in space, the motion is computed again between
        them. What is not vouched for then is warned of, and said in the attribute `turns` of the angles.
        """
        return results.joint_coordinates(self, motion)

    def energies(self, motion: "xr.Dataset") -> "xr.Dataset":
        """Kinetic energy (time, body), potential energy and power (time, element)."""
        return results.energies(self, motion)


def described_rates(bodies: Sequence[MassBody], initial: Mapping[int, float], q: Array) -> Array:
    """The rates that bodies are described with, at other positions, and those that are given; others are zero."""
    v, first = np.zeros(len(q)), 0
    for body in bodies:
        own = slice(first, first := first + len(body.coordinate_names))
        v[own] = body.rates_at(q[own])
    for place, value in initial.items():
        if place >= len(q):
            v[place - len(q)] = value
    return v


def require_facing(
    mechanism: Mechanism, state: Mapping[Any, float], parameters: Mapping[Any, Any] | None, t: float
) -> None:
    """Refuse a start that meets a joint's conditions in a position that is not meant, half a turn off."""
    known = {**mechanism.parameters, **(parameters or {}), time: t}
    known = {key: value for key, value in known.items() if isinstance(key, sp.Symbol)}
    q, _ = state_arrays(mechanism.system, state)
    for j in mechanism.joints:
        now = facing_at(j, q, mechanism.system.coordinate_index)
        if now is None:
            now = sp.S.One if j.facing is None else j.facing.xreplace(dict(state)).subs(known)
        if is_number(now) and now < 0:
            raise AssemblyError(
                f"joint {j.name!r}: from where its bodies are described they come to stand half a turn off: describe "
                f"them nearer to how it holds them, less than a quarter of a turn away",
                where=("joints", j.name),
            )


def without_noise(mechanism: Mechanism, state: Mapping[Any, float]) -> Mapping[Any, float]:
    """A start in which what assembly left of zeros is zero: less than the rounding of the largest of its kind.

    Lengths, turns and their rates are of four kinds; what stands as it was described is not touched.
    """
    system = mechanism.system
    n = len(system.coordinate_names)
    length = np.array([k < b.dimension for b in mechanism.movable for k in range(len(b.coordinate_names))], dtype=bool)
    found = np.concatenate(state_arrays(system, state))
    described = np.concatenate(state_arrays(system, mechanism.guess))
    for kind in (np.flatnonzero(length), np.flatnonzero(~length)):
        for places in (kind, kind + n):
            limit = EPS * np.abs(found[places]).max(initial=0.0)
            noise = (np.abs(found[places]) < limit) & (found[places] != described[places])
            found[places[noise]] = 0.0
    if system.families is not None:
        return State(system, found)
    return dict(zip([*system.coordinates, *system.velocities], map(float, found), strict=True))
