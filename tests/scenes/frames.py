"""The same mechanism in other words: elsewhere, turned, in other units, its bodies and parts in another order."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import xarray as xr

from tests.scenes.scene import Scene
from zwang import multibody as mb

AXIS = np.array([1.0, 2.0, 2.0]) / 3  # about which a scene in space is turned: none of its own axes


@dataclass(frozen=True)
class Frame:
    """Where a scene is, how it is turned, and how many of its units are one metre, kilogram and second."""

    shift: float = 0.0
    turn: float = 0.0
    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def rotation(self, dimension: int) -> np.ndarray:
        """The matrix that turns vectors."""
        c, s = np.cos(self.turn), np.sin(self.turn)
        if dimension == 2:
            return np.array([[c, -s], [s, c]])
        across = np.cross(np.eye(3), AXIS)
        return c * np.eye(3) + s * across + (1 - c) * np.outer(AXIS, AXIS)

    def vector(self, given: Any, unit: float) -> tuple[float, ...]:
        """A vector, turned and in other units."""
        return tuple(unit * (self.rotation(len(given)) @ np.asarray(given, float)))

    def point(self, given: Any) -> tuple[float, ...]:
        """A point, elsewhere."""
        away = self.shift * np.array([1.0, -0.7, 0.4])[: len(given)]
        return tuple(np.add(self.vector(given, self.length), self.length * away))

    def orientation(self, given: Any) -> tuple[float, ...]:
        """A quaternion, after the turn."""
        (a, u), (b, v) = (np.cos(self.turn / 2), np.sin(self.turn / 2) * AXIS), (given[0], np.asarray(given[1:], float))
        return (a * b - u @ v, *(a * v + b * u + np.cross(u, v)))

    def told(self, what: str, given: Any) -> Any:
        """An argument of a body, a joint or a force, by its name."""
        rate = self.length / self.time
        changes: dict[str, Callable[[Any], Any]] = {
            **dict.fromkeys(("position", "at"), self.point),
            **dict.fromkeys(("normal", "rim"), lambda v: self.vector(v, 1)),
            **dict.fromkeys(("radius", "radii", "box", "corners"), lambda v: (self.length * np.asarray(v)).tolist()),
            "velocity": lambda v: self.vector(v, rate),
            "acceleration": lambda v: self.vector(v, rate / self.time),
            "angular_velocity": lambda v: self.vector(v, 1 / self.time),
            "spin": lambda w: w / self.time,
            "angle": lambda a: a + self.turn,
            "orientation": self.orientation,
            "mass": lambda m: m * self.mass,
            "inertia": lambda J: (np.asarray(J) * self.mass * self.length**2).tolist(),
        }
        return changes[what](given) if what in changes and given is not None and np.size(given) else given


def in_frame(scene: Scene, frame: Frame, order: Callable[[list], list] = list) -> Scene:
    """A scene of a mechanism in another frame, its bodies, joints and forces in another order."""
    known: dict[int, Any] = {}

    def told(part: Any) -> Any:
        """A body or a part in the frame, one for each."""
        if part is mb.ground:
            return part
        if id(part) not in known:
            changes = {}
            for field in fields(part):
                value = getattr(part, field.name)
                inner = value is mb.ground or hasattr(value, "__dataclass_fields__")
                if field.name == "at" and value is None and getattr(part, "normal", None) is not None:
                    value = (0.0,) * len(part.normal)  # a plane goes through the origin unless it is said where
                # a rate that is not stated is found when the mechanism is put together
                if not (value is field.default and field.name in ("velocity", "spin", "angular_velocity")):
                    changes[field.name] = told(value) if inner else frame.told(field.name, value)
            known[id(part)] = replace(part, **changes)
        return known[id(part)]

    model = scene.model
    parts = (order([told(part) for part in some]) for some in (model.bodies, model.joints, model.forces))
    return Scene(mb.Mechanism(*parts), scene.until * frame.time, scene.size * frame.length, options=scene.options)


def as_told(motion: xr.Dataset, scene: Scene, frame: Frame = Frame()) -> dict[str, np.ndarray]:
    """What a motion does, brought back from a frame: places of bodies, their velocities, its impacts and losses."""
    names = {name: k for k, name in enumerate(motion.coordinate.values.tolist())}
    found = {}
    for body in sorted(scene.model.bodies, key=lambda body: body.name):
        size = body.dimension
        where = [names[f"{body.name}.{axis}"] for axis in "xyz"[:size]]
        back = frame.rotation(size)
        origin = np.array(frame.point((0.0,) * size))
        found[body.name] = (motion.q.values[:, where] - origin) @ back / frame.length
        found[f"{body.name} velocity"] = motion.v.values[:, where] @ back * frame.time / frame.length
    losses = motion.energy_loss.values * frame.time**2 / frame.mass / frame.length**2
    found["energy lost"] = losses.sum()
    # Impacts that take much. How many of those that accumulate are followed, rounding decides.
    found["impacts"] = motion.transition_time.values[losses > 1e-3 * losses.sum()] / frame.time
    return found
