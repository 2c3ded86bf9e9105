"""Stops: ends of the range of a joint's coordinate."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.constraint import Constraint
from zwang.model.contact_law import as_restitution, out_of_range
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.joints.selection import bodies_of, freedom_of
from zwang.multibody.vectors import is_number, scalar


@dataclass(frozen=True, eq=False)
class Stop(Constrainer):
    """A joint's angle or travel stays within a range: it meets the ends of it, and bounces or rests there.

    ::

           lower        upper
             ▌    ───►    ▐
        ─────┴────────────┴─────► angle, travel

    The constraints are called name.lower and name.upper, and read how far the coordinate is from the end; without one
    of them the range is open. `restitution`, from 0 to 1, says how much of its speed a stop gives back; `coordinate`
    names the coordinate where the joint has several. The multiplier is the torque or force of the stop.

    An angle in space is known by its sine and cosine only: there both ends are given, less than a turn apart.

    >>> from zwang import multibody as mb
    >>> arm = mb.PlanarBody("arm", 1, 1)
    >>> elbow = mb.Revolute("elbow", mb.ground, arm, at=(0, 0))
    >>> {suffix: c.expression for suffix, c in mb.Stop("stop", elbow, lower=0, upper=2).asked.items()}
    {'lower': arm.angle(t), 'upper': 2 - arm.angle(t)}
    """

    name: str
    joint: Joint
    lower: Any = None
    upper: Any = None
    coordinate: str | None = None
    restitution: Any = 0

    @property
    def who(self) -> str:
        """What messages call the stop."""
        return f"stop {self.name!r}"

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Those of the joint."""
        return bodies_of(self.joint)

    def conditions(self) -> dict[str, Constraint]:
        """How far the coordinate is from either end, which is not negative."""
        freedom = freedom_of(self.who, self.joint, self.coordinate)
        ends = {
            what: scalar(self.who, end, (what,))
            for what, end in (("lower", self.lower), ("upper", self.upper))
            if end is not None
        }
        if not ends:
            raise InputError(f"{self.who} has no end: give lower, upper, or both", where=("lower",))
        if len(ends) == 2 and is_number(width := ends["upper"] - ends["lower"]) and not width > 0:
            words = f"its range is from {self.lower} to {self.upper}, and nothing is between: the upper end is higher"
            raise InputError(f"{self.who}: {words}", where=("upper",))
        try:
            restitution = as_restitution(self.restitution, True)
        except InputError as error:
            raise InputError(f"{self.who}: {error}", where=("restitution",)) from None
        if wrong := out_of_range(restitution, ()):
            raise InputError(f"{self.who}: {wrong}", where=("restitution",))
        value = freedom.value if freedom.value is not None else self.about_the_middle(freedom, ends)
        gaps = {what: (value - end if what == "lower" else end - value) for what, end in ends.items()}
        return {
            what: Constraint(gap, f"{self.name}.{what}", one_sided=True, restitution=restitution)
            for what, gap in gaps.items()
        }

    def about_the_middle(self, freedom: Freedom, ends: dict[str, sp.Expr]) -> sp.Expr:
        """An angle in space, counted so that it has no jump where it may be: half a turn to both sides of the middle.

        The ends are then less than that from the middle, and the angle is nowhere near its jump.
        """
        if len(ends) < 2:
            words = "an angle in space needs both ends of its range: its turns are not counted"
            raise InputError(f"{self.who}: {words}", where=tuple({"lower", "upper"} - ends.keys()))
        width = ends["upper"] - ends["lower"]
        if is_number(width) and not width < 2 * sp.pi:
            words = f"its range is {float(width):.6g} wide, but an angle in space is known within a turn only"
            raise InputError(f"{self.who}: {words}", where=("upper",))
        middle = (ends["upper"] + ends["lower"]) / 2
        c, s = sp.cos(middle), sp.sin(middle)
        sine, cosine = freedom.sine * c - freedom.cosine * s, freedom.cosine * c + freedom.sine * s
        return middle + sp.atan2(sine, cosine)
