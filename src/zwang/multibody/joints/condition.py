"""Conditions of the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zwang.errors import InputError
from zwang.model.symbols import as_expression
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Constrainer


@dataclass(frozen=True, eq=False)
class Condition(Constrainer):
    """Anything that the mechanism must obey, as an expression that is zero, an `Eq`, or one-sided with >=.

    ::

        f(bodies' coordinates, their rates, time, parameters) = 0

    Give one (name.zero), or several as a mapping suffix → expression (name.suffix). Bodies and joints say in
    expressions where they are: `body.point(s)`, `body.point_velocity(s)`, `body.direction(d)`,
    `joint.freedoms["travel"].value`, `joint.freedoms["angle"].rate`.

    >>> from zwang import multibody as mb
    >>> rod = mb.PlanarBody("rod", 1, 1)
    >>> x, y = rod.point((2, 0))
    >>> mb.Condition("rule", y - x**2).conditions()
    {'zero': -(rod.x(t) + 2*cos(rod.angle(t)))**2 + rod.y(t) + 2*sin(rod.angle(t))}
    """

    name: str
    expressions: Any

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Unknown: the expressions say which coordinates take part."""
        return ()

    def conditions(self) -> dict[str, Any]:
        """The expressions, as given."""
        named = self.expressions if isinstance(self.expressions, Mapping) else {"zero": self.expressions}
        if not named:
            raise InputError(f"condition {self.name!r} asks for nothing: give an expression", where=("expressions",))
        found: dict[str, Any] = {}
        for suffix, e in named.items():
            try:
                found[str(suffix)] = as_expression(e)
            except InputError as error:
                where = ("expressions", str(suffix)) if named is self.expressions else ("expressions",)
                raise InputError(f"condition {self.name!r}: ", *error.mistakes, where=where) from None
        return found
