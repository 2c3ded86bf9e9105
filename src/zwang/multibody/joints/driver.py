"""Drivers: a joint coordinate moves as prescribed."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.symbols import as_scalar
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Constrainer, Freedom, Joint
from zwang.multibody.joints.selection import bodies_of, freedom_of
from zwang.multibody.vectors import scalar

start = sp.Symbol("driver.start", real=True)  # dots keep it apart from anybody's parameters


@dataclass(frozen=True, eq=False)
class Driver(Constrainer):
    """A motor that makes a joint coordinate follow a motion, or have a speed: expressions in time and parameters.

    ::

              ╭───╮
        first │ M ├──── second     angle = motion(t), or its rate = speed(t)
              ╰───╯

    In a motion `mb.start` stands for what the coordinate reads where the bodies are described: `mb.start + sin(t)`
    begins there. `coordinate` names the coordinate where the joint has several. name.motion is written in positions,
    name.speed in velocities. The multiplier is the torque or force of the motor on the second body.

    >>> from zwang import multibody as mb, t
    >>> crank = mb.PlanarBody("crank", 1, 1)
    >>> pin = mb.Revolute("pin", mb.ground, crank, at=(0, 0))
    >>> mb.Driver("motor", pin, motion=2*t).conditions()
    {'motion': -2*t + crank.angle(t)}
    """

    name: str
    joint: Joint
    motion: Any = None
    speed: Any = None
    coordinate: str | None = None

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Those of the joint."""
        return bodies_of(self.joint)

    def conditions(self) -> dict[str, sp.Expr]:
        """The coordinate is, or moves, as prescribed."""
        who = f"driver {self.name!r}"
        if (self.motion is None) == (self.speed is None):
            given = "both motion and speed" if self.motion is not None else "neither motion nor speed"
            raise InputError(f"{who} is given {given}: give one of them", where=("motion",))
        freedom = freedom_of(who, self.joint, self.coordinate)
        if self.motion is not None:
            return {"motion": freedom.equals(self._target(freedom))}
        return {"speed": freedom.rate - scalar(who, self.speed, ("speed",))}

    def tied(self) -> list[tuple[Freedom, sp.Expr]]:
        """The coordinate, to the motion."""
        if self.motion is None:
            return []
        freedom = freedom_of(f"driver {self.name!r}", self.joint, self.coordinate)
        return [(freedom, self._target(freedom))]

    def _target(self, freedom: Freedom) -> sp.Expr:
        """What the coordinate is to be."""
        motion = scalar(f"driver {self.name!r}", self.motion, ("motion",))
        return motion.xreplace({start: as_scalar(freedom.start)})
