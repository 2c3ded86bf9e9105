"""Twins: a part whose coordinates and numbers are symbols, so that what it says of itself is a template for its kind.

A twin is a part of the same class. The bodies that it stands between are twins without a place, its numbers are
symbols, but for zeros and ones, which make expressions simpler. Parts of one key have the same template, and differ in
the names of coordinates and in numbers only.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.model.symbols import as_scalar, rates, t
from zwang.model.time import coordinate
from zwang.multibody.body import AnyBody, Ground, MassBody, Moving, Particle
from zwang.multibody.freedom import Freedom, Measured
from zwang.multibody.joint import Joint
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.spatial_body import Body

TWINS = (Body, PlanarBody, Particle)
PLAIN = {0: sp.S.Zero, 1: sp.S.One, -1: sp.S.NegativeOne}  # numbers that stay
SAYS = ("conditions", "kinetic", "potential", "forces", "nonideal")  # methods that write what a part says


class UnlikeError(Exception):
    """A part that has no twin: it is written out."""


class Bindings:
    """What stands in the places of a template for one part: names of coordinates, numbers, and what all else is.

    With `make`, twins are made on the way.
    """

    def __init__(self, known: Mapping[str, Any], make: bool = False) -> None:
        """`known` are the names of a mechanism's coordinates."""
        self.known, self.make = known, make
        self.names: list[str] = []
        self.symbols: list[sp.Expr] = []
        self.values: list[Any] = []
        self.key: list[Any] = []
        self.bodies: list[Any] = []
        """Twins of bodies with mass."""
        self._met: dict[int, tuple[int, Any]] = {}
        self._own: dict[sp.Expr, sp.Expr] = {}

    def twin(self, part: Any, held: tuple[str, ...]) -> Any:
        """The twin of a part, if it is to be made; `held` are the attributes that hold its numbers."""
        kind = type(part)
        self.key += (kind, *held)
        if isinstance(part, MassBody):
            made = self._body(part)
            numbers = {name: self.put(getattr(part, name)) for name in held}
            if self.make:
                made.__dict__.update(numbers)
            return made
        given = {
            name: self.put(value)
            for name in field_names(kind)
            if isinstance(value := getattr(part, name), AnyBody | Joint)
        }
        given |= {name: self.put(getattr(part, name)) for name in held}
        if not self.make:
            return None
        made = object.__new__(kind)
        # nothing of the start may be in a template: what asks for it there is a mistake, and fails
        made.__dict__.update({name: getattr(part, name) for name in field_names(kind)} | given | {"start_poses": None})
        return made

    def put(self, x: Any) -> Any:
        """A number, a body, a coordinate of a joint or of the system, an expression, or several, as a twin has it."""
        kind = type(x)
        if kind is tuple or kind is list:
            self.key.append(len(x))
            return tuple([self.put(each) for each in x])
        if isinstance(x, float | int | sp.Number) and kind is not bool:
            return self._number(x)
        if isinstance(x, AnyBody):
            return self._body(x)
        if isinstance(x, Freedom):
            return self._freedom(x)
        if isinstance(x, Joint):
            return self._joint(x)
        if isinstance(x, dict):
            self.key += x
            return {name: self.put(value) for name, value in x.items()}
        if isinstance(x, sp.Basic):
            return self._expression(x)
        if x is None or isinstance(x, str | bool):
            self.key.append(x)
            return x
        return self.put(tuple(x)) if hasattr(x, "__len__") else self._expression(as_scalar(x))

    def _number(self, x: Any) -> Any:
        value = float(x)
        plain = PLAIN.get(value)  # type: ignore[call-overload]
        if plain is not None:
            self.key.append(value)
            return plain
        return self._bound(value, "number")

    def _bound(self, value: Any, sort: str) -> sp.Symbol | None:
        self.values.append(value)
        self.key.append(sort)
        return number_symbol(len(self.values)) if self.make else None

    def _body(self, body: AnyBody) -> Any:
        met = self._met.get(id(body))
        if met is not None:
            self.key.append(met[0])
            return met[1]
        if type(body) in TWINS:
            self.key += (type(body), body.dimension)  # type: ignore[attr-defined]
            self.names += body.coordinate_names  # type: ignore[attr-defined]
            twin = twin_body(body, f"body {len(self._met) + 1}") if self.make else None  # type: ignore[arg-type]
            if twin is not None:
                self.symbols += twin.coordinates
                self.bodies.append(twin)
        elif isinstance(body, Ground):
            self.key.append(Ground)
            twin = body
        elif isinstance(body, Moving):  # where it is does not depend on who is joined to it
            self.key.append(body)
            twin = body
        else:
            raise UnlikeError
        self._met[id(body)] = len(self._met), twin
        return twin

    def _joint(self, joint: Joint) -> Any:
        met = self._met.get(id(joint))
        if met is None:
            self._met[id(joint)] = met = len(self._met), self.twin(joint, ())
        else:
            self.key.append(met[0])
        return met[1]

    def _freedom(self, freedom: Freedom) -> Freedom:
        if isinstance(freedom, Measured):
            self.key.append(type(freedom))
            joint = self.put(freedom.joint)
            numbers = {name: self.put(getattr(freedom, name)) for name in freedom.held}
            return type(freedom)(freedom.kind, joint, **numbers) if self.make else freedom
        if not isinstance(freedom.value, AppliedUndef):
            raise UnlikeError
        self.key.append(freedom.kind)
        value, start = self.put(freedom.value), self.put(freedom.start)
        return Freedom(freedom.kind, rates(value)[0], value, start=start) if self.make else freedom

    def _expression(self, e: sp.Basic) -> Any:
        """A parameter is bound; of an expression, coordinates and numbers with a fraction."""
        if isinstance(e, sp.Symbol) and "." not in e.name and e != t:  # with a dot: a name of templates, as spring.rate
            return self._bound(e, "parameter")
        if isinstance(e, AppliedUndef):
            return self._coordinate(e)
        if e.is_number and isinstance(e, sp.Expr):
            return self._number(e)
        standing: dict[sp.Basic, Any] = {}
        found: dict[sp.Basic, Any] = {}
        for f in sorted(e.atoms(AppliedUndef), key=self._place):
            found[f] = self._coordinate(f)
            standing[f] = coordinate(f"place {self.names.index(f.func.__name__)}")
        for x in dict.fromkeys(part for part in sp.preorder_traversal(e) if isinstance(part, sp.Float)):
            if float(x) not in PLAIN:
                found[x] = self._bound(float(x), "number")
                standing[x] = number_symbol(len(self.values))
        self.key.append(e.xreplace(with_rates(standing)))
        return e.xreplace(with_rates(found)) if self.make else None

    def _place(self, f: AppliedUndef) -> tuple[int, str]:
        """What has a place already comes first."""
        name = f.func.__name__
        return (self.names.index(name), "") if name in self.names else (len(self.names), name)

    def _coordinate(self, f: AppliedUndef) -> Any:
        name = f.func.__name__
        if f.args != (t,) or name not in self.known:
            raise UnlikeError  # a known function of time, or one that the system will refuse
        if name in self.names:
            place = self.names.index(name)
            self.key.append(place)
        else:
            place = len(self.names)
            self.key.append("coordinate")
            self.names.append(name)
            self.symbols.append(coordinate(f"own {place}"))
        return self.symbols[place] if self.make else f


def with_rates(standing: dict[sp.Basic, Any]) -> dict[sp.Basic, Any]:
    """What stands for functions of time, with what stands for their rates."""
    moving = [(f, g) for f, g in standing.items() if isinstance(f, AppliedUndef)]
    return standing | {a: b for f, g in moving for a, b in zip(rates(f), rates(g), strict=True)}


def twin_body(body: MassBody, name: str) -> Any:
    """A body whose coordinates are symbols of a template, and that has no place."""
    twin = object.__new__(type(body))
    given = {each: getattr(body, each) for each in field_names(type(body))}
    twin.__dict__.update(given | {"name": name, "position": (None,) * body.dimension, "orientation": None})
    return twin


def held_by(part: Any) -> tuple[str, ...]:
    """What holds the numbers of a part; nothing where it is to be written out."""
    return part.held if says_as_held(type(part)) else ()


def says_as_held(kind: type) -> bool:
    """Whether a class that says what holds its numbers writes its expressions itself.

    A class of a stranger that writes others than its parent does says so anew.
    """
    order = [vars(base) for base in kind.__mro__]
    first = next((i for i, own in enumerate(order) if "held" in own), len(order))
    return not any(name in own for own in order[:first] for name in SAYS)


def field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a part."""
    return tuple(f.name for f in fields(kind))


@lru_cache(maxsize=1024)
def number_symbol(count: int) -> sp.Symbol:
    """What stands for a number of a part."""
    return sp.Symbol(f"number {count}", real=True)
