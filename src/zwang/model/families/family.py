"""Families: one expression, in other symbols and with other numbers, for many places."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from zwang.arrays import Indices
from zwang.display import Displayed, told
from zwang.errors import InputError
from zwang.model.constraint import Constraint
from zwang.model.families.array import CoordinateArray
from zwang.model.families.column import FUNCTION, NUMBER, Column, column
from zwang.model.symbols import as_expression, in_a_line, label, rates, t
from zwang.words import listed

MOST_NAMED = 6


@dataclass(frozen=True, eq=False)
class Kind:
    """Members of a family that differ in the names of coordinates and parameters, and in numbers, only."""

    expression: sp.Expr
    """The template; what is bound to numbers has no rates there, what is bound to one coordinate is one symbol, and
    zeros are put in."""
    members: Indices
    functions: dict[sp.Expr, Column]
    """Functions of time and what they stand for; themselves if they are not bound."""
    parameters: dict[sp.Expr, Column]
    numbers: dict[sp.Expr, Column]


@dataclass(frozen=True, eq=False)
class Family(Displayed):
    """One expression for many places: a template, and what its symbols stand for in each member. See `family`."""

    template: Any
    columns: Mapping[sp.Expr, Column]
    """Symbol of the template → what it is bound to, all of one length."""
    names: tuple[str, ...] = ()
    writes: Callable[[int], Any] | None = None
    """What writes a member out, if it is not to be the template."""

    def __len__(self) -> int:
        """How many members."""
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        """The template, how often, and how the bindings begin."""
        bound = [f"{label(s)} = {label(c.value(0))}{', …' if len(self) > 1 else ''}" for s, c in self.columns.items()]
        return told(self, "", f"{in_a_line(self.template)}, {len(self):,} times", listed(bound, MOST_NAMED))

    @cached_property
    def key(self) -> "Key":
        """What makes two families the same."""
        return Key((self.template, tuple((s, c.key) for s, c in self.columns.items())))

    @cached_property
    def functions(self) -> frozenset[str]:
        """The names of the functions of time that symbols are bound to."""
        return frozenset().union(*(c.names for c in self.columns.values()))

    @cached_property
    def free(self) -> frozenset[sp.Expr]:
        """Functions of time and parameters of the template that are not bound."""
        found = {f for f in self.template.atoms(AppliedUndef) if f.args == (t,)} | self.template.free_symbols
        return frozenset(found - self.columns.keys() - {t})

    @cached_property
    def parameters(self) -> frozenset[sp.Symbol]:
        """All parameters that occur in members."""
        own = frozenset(s for s in self.free if isinstance(s, sp.Symbol))
        return own.union(*(c.parameters for c in self.columns.values()))

    def member(self, k: int) -> Any:
        """The expression, or relation, of one member."""
        if self.writes is not None:
            return self.writes(k)
        values: dict[sp.Expr, Any] = {}
        for symbol, bound in self.columns.items():
            value = values[symbol] = bound.value(k)
            if isinstance(symbol, AppliedUndef):
                moving = bound.sorts[k] == FUNCTION
                values |= zip(rates(symbol), rates(value) if moving else (sp.S.Zero, sp.S.Zero), strict=True)
        return self.template.xreplace(values)

    @cached_property
    def members(self) -> tuple[Any, ...]:
        """The expressions of all members, made when somebody reads them."""
        return tuple(self.member(k) for k in range(len(self)))

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The members by what their symbols are bound to: mostly there is one kind."""
        moving = [f for f in sorted(self.free, key=str) if isinstance(f, AppliedUndef)]  # may be bound elsewhere, too
        free = {f: Column.repeated(f, len(self)) for f in moving}
        symbols, columns = [*self.columns, *free], [*self.columns.values(), *free.values()]
        sorts = np.stack([c.sorts for c in columns], axis=1)
        numbers: dict[str, int] = {}
        ids = np.full(sorts.shape, -1)
        for j, c in enumerate(columns):
            where = c.sorts == FUNCTION
            ids[where, j] = [numbers.setdefault(name, len(numbers)) for name in c.entries[where].tolist()]
        first = np.tile(np.arange(len(columns)), (len(self), 1))  # where the same coordinate is bound first
        for j in range(len(columns)):
            for i in range(j - 1, -1, -1):
                first[(ids[:, i] == ids[:, j]) & (ids[:, j] >= 0), j] = i
        zero = np.stack([zeros_of(c) for c in columns], axis=1)  # what is zero makes an expression simpler
        pattern = np.concatenate([sorts, first, zero], axis=1)
        if (pattern == pattern[0]).all():
            groups = [np.arange(len(self))]
        else:
            _, group = np.unique(pattern, axis=0, return_inverse=True)
            order = np.argsort(group.ravel(), kind="stable")
            groups = np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])
        return tuple(self._kind(symbols, columns, first[which[0]].tolist(), which) for which in groups)

    def _kind(self, symbols: list[sp.Expr], columns: list[Column], first: list[int], which: Indices) -> Kind:
        kept = [c.of(which) for c in columns]
        stand_in: dict[sp.Expr, sp.Expr] = {}
        functions: dict[sp.Expr, Column] = {}
        parameters: dict[sp.Expr, Column] = {}
        numbers: dict[sp.Expr, Column] = {}
        for j, (symbol, bound) in enumerate(zip(symbols, kept, strict=True)):
            sort, moves = bound.sorts[0], isinstance(symbol, AppliedUndef)
            if sort == FUNCTION:
                one = symbols[first[j]]
                if not isinstance(one, AppliedUndef):  # a parameter's symbol that stands for coordinates
                    one = stand_in.setdefault(one, sp.Function(f"bound {one.name}")(t))
                if one != symbol:
                    stand_in[symbol] = one
                    stand_in |= dict(zip(rates(symbol), rates(one), strict=True)) if moves else {}
                functions[one] = bound
                continue
            if zeros_of(bound)[0]:
                stand_in |= dict.fromkeys((symbol, *(rates(symbol) if moves else ())), sp.S.Zero)
                continue
            if moves:
                still = sp.Dummy(symbol.func.__name__, real=True)
                stand_in |= {symbol: still} | dict.fromkeys(rates(symbol), sp.S.Zero)
                symbol = still
            (numbers if sort == NUMBER else parameters)[symbol] = bound
        return Kind(replaced(self.template, tuple(stand_in.items())), which, functions, parameters, numbers)

    def __add__(self, other: Any) -> "Sum":
        """A sum with another family, or with an expression."""
        return Sum.of(self).__add__(other)

    def __radd__(self, other: Any) -> "Sum":
        """A sum."""
        return self.__add__(other)

    def __sub__(self, other: Any) -> "Sum":
        """A difference."""
        return Sum.of(self).__add__(-other)

    def __rsub__(self, other: Any) -> "Sum":
        """A difference."""
        return self.__neg__().__add__(other)

    def __neg__(self) -> "Family":
        """Every member with the other sign."""
        return self.__mul__(-1)

    def __mul__(self, factor: Any) -> "Family":
        """Every member times a number or an expression."""
        if isinstance(self.template, Relational) or isinstance(factor, Family | Sum | CoordinateArray):
            return NotImplemented
        by = as_expression(factor)
        if captured := [s for s in self.columns if by.has(s)]:
            raise InputError(
                f"a family that binds {label(captured[0])} is multiplied by {by}: use another symbol there"
            )
        return replace(self, template=self.template * by)

    def __rmul__(self, factor: Any) -> "Family":
        """Every member times a number or an expression."""
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Family":
        """Every member divided by a number or an expression."""
        return self.__mul__(1 / as_expression(divisor))


@dataclass(frozen=True, eq=False)
class Sum(Displayed):
    """Families and an expression, added up."""

    families: tuple[Family, ...]
    rest: sp.Expr = sp.S.Zero

    @classmethod
    def of(cls, given: Any) -> "Sum":
        """A family, a sum or an expression as a sum."""
        if isinstance(given, Sum):
            return given
        if not isinstance(given, Family):
            return cls((), as_expression(given))
        if isinstance(given.template, Relational):
            raise InputError(f"a family of {given.template} is made of constraints, not of terms: it has no sum")
        return cls((given,))

    def __repr__(self) -> str:
        """Its parts."""
        return told(self, "", *map(repr, self.families), in_a_line(self.rest) if self.rest != 0 else "")

    def __add__(self, other: Any) -> "Sum":
        """A longer sum."""
        more = Sum.of(other)
        return Sum(self.families + more.families, self.rest + more.rest)

    def __radd__(self, other: Any) -> "Sum":
        """A sum."""
        return self.__add__(other)

    def __sub__(self, other: Any) -> "Sum":
        """A difference."""
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> "Sum":
        """A difference."""
        return self.__neg__().__add__(other)

    def __neg__(self) -> "Sum":
        """With the other sign."""
        return self.__mul__(-1)

    def __mul__(self, factor: Any) -> "Sum":
        """Every term times a number or an expression."""
        return Sum(tuple(family * factor for family in self.families), self.rest * as_expression(factor))

    def __rmul__(self, factor: Any) -> "Sum":
        """Every term times a number or an expression."""
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Sum":
        """Every term divided by a number or an expression."""
        return self.__mul__(1 / as_expression(divisor))


class Key:
    """Something to compare and to look up by: its hash is computed once."""

    def __init__(self, parts: tuple[Any, ...]) -> None:
        """Of parts that can be compared and hashed."""
        self.parts, self.hash = parts, hash(parts)

    def __hash__(self) -> int:
        """As it was computed."""
        return self.hash

    def __eq__(self, other: object) -> bool:
        """Whether all parts are the same."""
        return self is other or (isinstance(other, Key) and self.hash == other.hash and self.parts == other.parts)


def family(template: Any, bindings: Mapping[Any, Any], names: Sequence[str] = ()) -> Family:
    """One expression for many places: terms of energies, forces, constraints.

    `template` is an expression, an `Eq`, or a relation such as `a >= 0` for one-sided constraints. `bindings` say what
    its symbols stand for: coordinates, parameters or numbers, in arrays that broadcast to one length; `dot(a)` follows
    `a`. An array of coordinates in the template is bound as a whole, along the last axes. Other symbols stand for
    themselves.

    As an energy a family is the sum of its members, and may be added to expressions and to other families. As
    constraints under a name, the members are called name[0], name[1], …, or as `names` has it. Describing and compiling
    cost the same for ten members and for ten thousand.

    >>> import zwang as zw
    >>> x = zw.coordinates("x", shape=(5, 2))
    >>> a, b = zw.coordinates("a b", shape=2)
    >>> m, g, L = zw.parameters("m g L")
    >>> chain = zw.System(
    ...     x, kinetic=zw.family(m*(zw.dot(a)**2).sum()/2, {a: x}), potential=zw.family(m*g*a[1], {a[1]: x[:, 1]}),
    ...     constraints={"link": zw.family(((a - b)**2).sum() - L**2, {a: x[1:], b: x[:-1]})},
    ...     parameters={m: 1, g: 9.81, L: 1})
    >>> chain.constraint_names
    ('link[0]', 'link[1]', 'link[2]', 'link[3]')
    """
    if isinstance(template, Constraint):
        raise InputError(
            "family: a Constraint is one row, with its law: give the rule, as in a >= 0; rows with restitution or "
            'friction stand one by one, constraints={f"floor{i}": Constraint(…) for i in …}'
        )
    expression = as_expression(template)
    if not isinstance(expression, sp.Expr | Relational) or getattr(expression, "is_Matrix", False):
        raise InputError(f"family: {template} is not an expression: give one, Eq(…), or expression >= 0")
    if not isinstance(bindings, Mapping) or not bindings:
        raise InputError("family: there are no bindings: give {symbol of the template: array of coordinates}")
    found: dict[sp.Expr, tuple[Column, tuple[int, ...]]] = {}
    for key, given in bindings.items():
        for symbol, value in pairs(key, given):
            if symbol in found:
                raise InputError(f"family: {label(symbol)} is bound twice: bind it once")
            found[symbol] = column(symbol, value)
    occurring = expression.atoms(AppliedUndef) | expression.free_symbols
    unused = [label(s) for s in found if s not in occurring]
    if unused and not any(isinstance(key, CoordinateArray) for key in bindings):
        raise InputError(
            f"family: {listed(unused, MOST_NAMED)} is bound, but does not occur in the template {in_a_line(expression)}"
        )
    columns = broadcast({s: c for s, c in found.items() if s in occurring} or found)
    size = len(next(iter(columns.values())))
    if size == 0:
        raise InputError("family: the bindings are empty: a family has at least one member")
    made = tuple(map(str, names))
    if made and (len(made) != size or len(set(made)) != size):
        raise InputError(f"family: {len(set(made))} different names for {size} members: give one each")
    return Family(expression, columns, made)


def zeros_of(bound: Column) -> NDArray[np.bool_]:
    """Which entries of a column are the number zero."""
    zero = np.zeros(len(bound), dtype=bool)
    numbers = np.flatnonzero(bound.sorts == NUMBER)
    zero[numbers] = np.asarray(bound.entries[numbers] == 0, dtype=bool)
    return zero


def pairs(key: Any, given: Any) -> list[tuple[sp.Expr, Any]]:
    """The symbols of a key, each with its share of what is given: an array is bound along the last axes."""
    if not isinstance(key, CoordinateArray):
        symbol = as_expression(key)
        if not (isinstance(symbol, sp.Symbol) or (isinstance(symbol, AppliedUndef) and symbol.args == (t,))):
            raise InputError(f"family: {key} is not a symbol of a template: bind coordinates and parameters")
        if symbol == t:
            raise InputError("family: t is the time, which is the same for all members: bind another symbol")
        return [(symbol, given)]
    if key.order:
        raise InputError(f"family: {key!r} are rates: bind the coordinates, their rates follow")
    values = given if isinstance(given, CoordinateArray | np.ndarray) else np.array(given, dtype=object)
    if values.shape[values.ndim - key.ndim :] != key.shape or values.ndim < key.ndim:
        raise InputError(
            f"family: an array of shape {key.shape} is bound to one of shape {values.shape}: the last axes must agree"
        )
    return [(key[index], values[(..., *index)]) for index in np.ndindex(key.shape)]


def broadcast(found: Mapping[sp.Expr, tuple[Column, tuple[int, ...]]]) -> dict[sp.Expr, Column]:
    """Columns of one length."""
    try:
        shape = np.broadcast_shapes(*(shape for _, shape in found.values()))
    except ValueError:
        sizes = ", ".join(f"{label(s)}: {shape}" for s, (_, shape) in found.items())
        raise InputError(f"family: the arrays that symbols are bound to do not broadcast: {sizes}") from None
    return {
        s: c.of(np.broadcast_to(np.arange(len(c)).reshape(own), shape).ravel()) if own != shape else c
        for s, (c, own) in found.items()
    }


@lru_cache(maxsize=512)
def replaced(template: Any, values: tuple[tuple[sp.Expr, sp.Expr], ...]) -> Any:
    """A template with other symbols: bodies and joints of one kind have the same in every mechanism."""
    return template.xreplace(dict(values)) if values else template
