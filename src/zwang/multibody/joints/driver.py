"""Drivers: a joint coordinate moves as prescribed."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.symbols import as_scalar
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Constrainer, Joint
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

    @property
    def who(self) -> str:
        """What messages call the driver."""
        return f"driver {self.name!r}"

    @property
    def held(self) -> tuple[str, ...]:
        """The coordinate and what it is to do; of an angle in space that is to have a speed, its rate alone."""
        return ("freedom", "motion") if self.motion is not None else ("moving", "speed")

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Whether it is a motion or a speed."""
        return ("motion",) if self.motion is not None else ("speed",)

    @cached_property
    def freedom(self) -> Freedom:
        """The joint's coordinate."""
        return freedom_of(self.who, self.joint, self.coordinate)

    @cached_property
    def moving(self) -> Freedom:
        """The same by its rate alone."""
        return self.freedom.moving

    def require(self) -> None:
        """Refuse what is given a motion and a speed, or none, or not as an expression."""
        if (self.motion is None) == (self.speed is None):
            given = "both motion and speed" if self.motion is not None else "neither motion nor speed"
            raise InputError(f"{self.who} is given {given}: give one of them", where=("motion",))
        what = self.suffixes[0]
        scalar(self.who, getattr(self, what), (what,))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The coordinate is, or moves, as prescribed."""
        if self.motion is not None:
            return {"motion": self.freedom.equals(self._target)}
        return {"speed": self.moving.rate - scalar(self.who, self.speed, ("speed",))}

    def tied(self) -> list[tuple[Freedom, sp.Expr]]:
        """The coordinate, to the motion."""
        return [] if self.motion is None else [(self.freedom, self._target)]

    @property
    def _target(self) -> sp.Expr:
        """What the coordinate is to be."""
        return scalar(self.who, self.motion, ("motion",)).xreplace({start: as_scalar(self.freedom.start)})
