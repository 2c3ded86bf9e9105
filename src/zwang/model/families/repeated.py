"""A system described by families: what stands in which place, and what is written beside them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from zwang.arrays import Indices
from zwang.errors import InputError
from zwang.model.constraint import Constraint
from zwang.model.families.array import CoordinateArray
from zwang.model.families.column import FUNCTION, Column
from zwang.model.families.family import Family, Key, Kind, Sum
from zwang.model.symbols import as_scalar, t
from zwang.model.time import coordinate
from zwang.words import listed

MOST_NAMED = 12
ON = sp.Function("along")(t)  # the coordinate along which a member of a family of forces acts


@dataclass(frozen=True, eq=False)
class Share:
    """A family in its place: "kinetic", "potential", "forces", "nonideal" or "constraints"."""

    place: str
    family: Family
    """Of forces, `ON` is bound to the coordinate along which each of them acts."""
    rows: Indices
    """The numbers of constraints; none in other places."""
    given: frozenset[sp.Expr] = frozenset()
    """Known functions of time."""

    @cached_property
    def templates(self) -> tuple[tuple[Kind, Constraint], ...]:
        """The kinds of a family of constraints, each with its template as a constraint."""
        return tuple((kind, Constraint(kind.expression, given=self.given)) for kind in self.family.kinds)

    @property
    def key(self) -> Key:
        """What makes two of them the same."""
        return Key((self.place, self.family.key, self.rows.tobytes()))


@dataclass(frozen=True, eq=False)
class Repeated:
    """All of a system's description but for its parameters: families, and what is written beside them."""

    names: tuple[str, ...]
    own: Mapping[str, sp.Expr]
    """Coordinates that were given as SymPy's objects, by their names; the others are made when asked for."""
    kinetic: sp.Expr | None
    potential: sp.Expr
    forces: Mapping[int, sp.Expr]
    nonideal: Mapping[int, sp.Expr]
    constraints: Mapping[int, Constraint]
    """Row → constraint."""
    constraint_names: tuple[str, ...]
    shares: tuple[Share, ...]
    writes: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """What writes fields of `System` out, if it is not to be the families."""

    @cached_property
    def index(self) -> dict[str, int]:
        """Name → number of a coordinate."""
        return {name: i for i, name in enumerate(self.names)}

    def coordinate(self, name: str) -> sp.Expr:
        """The coordinate of a name."""
        return self.own.get(name) or coordinate(name)

    def number(self, f: Any) -> int | None:
        """The number of a coordinate, None for what is not one."""
        if not (isinstance(f, AppliedUndef) and f.args == (t,)):
            return None
        i = self.index.get(f.func.__name__)
        return i if i is not None and self.coordinate(self.names[i]) == f else None

    def of(self, place: str) -> list[Share]:
        """The families in a place."""
        return [share for share in self.shares if share.place == place]

    @cached_property
    def rest(self) -> tuple[sp.Expr, ...]:
        """All expressions beside the families."""
        written = [*self.forces.values(), *self.nonideal.values(), *(c.expression for c in self.constraints.values())]
        return (*(() if self.kinetic is None else (self.kinetic,)), self.potential, *written)

    @property
    def templates(self) -> list[tuple[tuple[str, ...], sp.Expr]]:
        """What is written beside the families, and the expression of every kind: each with the place of its first."""
        found: list[tuple[tuple[str, ...], sp.Expr]] = [(("potential",), self.potential)]
        found += [] if self.kinetic is None else [(("kinetic",), self.kinetic)]
        for place in ("forces", "nonideal"):
            found += [((place, self.names[i]), e) for i, e in getattr(self, place).items()]
        for c in self.constraints.values():
            found += [(("constraints", c.name), c.expression)]
            found += [(("constraints", c.name, what), e) for what, e in c.law.items()]
        for share in self.shares:
            for kind in share.family.kinds:
                where: tuple[str, ...] = (share.place,)
                k = int(kind.members[0])
                if share.place in ("forces", "nonideal"):
                    where = (share.place, share.family.columns[ON].entries[k])
                elif share.place == "constraints":
                    where = (share.place, self.constraint_names[int(share.rows[k])])
                found.append((where, kind.expression))
        return found

    @cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        """Every parameter that occurs, and perhaps the time."""
        beside = (e.free_symbols for e in self.rest)
        return frozenset().union(*beside, *(share.family.parameters for share in self.shares))

    @cached_property
    def key(self) -> Key:
        """What makes two of them the same."""
        rows = tuple((i, c.expression, c.order, c.one_sided) for i, c in self.constraints.items())
        own = tuple(sorted(self.own.items(), key=lambda item: item[0]))
        beside = (self.kinetic, self.potential, tuple(self.forces.items()), tuple(self.nonideal.items()), rows)
        return Key((self.names, own, *beside, tuple(share.key for share in self.shares)))

    def written(self, what: str) -> Any:
        """A field of `System`, written out."""
        if what in self.writes:
            return self.writes[what]()
        if what == "coordinates":
            return tuple(map(self.coordinate, self.names))
        if what in ("kinetic", "potential"):
            beside = getattr(self, what)
            terms = [e for share in self.of(what) for e in share.family.members]
            return beside if beside is None and not terms else sp.Add(beside or 0, *terms)
        if what in ("forces", "nonideal"):
            along: dict[int, list[sp.Expr]] = {i: [e] for i, e in getattr(self, what).items()}
            for share in self.of(what):
                for name, e in zip(share.family.columns[ON].entries, share.family.members, strict=True):
                    along.setdefault(self.index[name], []).append(e)
            return tuple(sp.Add(*along.get(i, ())) for i in range(len(self.names)))
        assert what == "constraints"
        found = dict(self.constraints)
        for share in self.of(what):
            for kind, template in share.templates:
                for k in kind.members.tolist():
                    i = int(share.rows[k])
                    found[i] = Constraint.member(template, self.constraint_names[i], partial(share.family.member, k))
        return tuple(found[i] for i in range(len(found)))

    @cached_property
    def orders(self) -> Indices:
        """How often coordinates are differentiated in each constraint."""
        found = np.zeros(len(self.constraint_names), dtype=np.int64)
        for i, c in self.constraints.items():
            found[i] = c.order
        for share in self.of("constraints"):
            for kind, template in share.templates:
                found[share.rows[kind.members]] = template.order
        return found


def is_repeated(*given: Any) -> bool:
    """Whether a description has families, or coordinates in arrays."""
    # each coordinate has a class of its own, of which it takes long to say whether it is a mapping
    return any(
        isinstance(part, Family | Sum | CoordinateArray | np.ndarray)
        or (isinstance(part, list | tuple) and is_repeated(*part))
        or (isinstance(part, Mapping) and is_repeated(*part.keys(), *part.values()))
        for part in given
        if not isinstance(part, sp.Basic)
    )


def listed_coordinates(given: Any) -> tuple[tuple[str, ...], dict[str, sp.Expr], list[Any]]:
    """Names of coordinates in arrays and lists, those that are SymPy's objects, and what is not a coordinate."""
    names: list[str] = []
    own: dict[str, sp.Expr] = {}
    wrong: list[Any] = []
    for part in [given] if isinstance(given, CoordinateArray) or not isinstance(given, Iterable) else given:
        if isinstance(part, CoordinateArray) and not part.order:
            names += part.names.ravel().tolist()
        elif isinstance(part, AppliedUndef) and part.args == (t,):
            names.append(part.func.__name__)
            if own.setdefault(part.func.__name__, part) != part:
                wrong.append(part)
        elif isinstance(part, np.ndarray):
            more, others, bad = listed_coordinates(part.ravel().tolist())
            names, own, wrong = [*names, *more], own | others, wrong + bad
        else:
            wrong.append(part)
    return tuple(names), own, wrong


def energy(what: str, given: Any, known: frozenset[sp.Expr]) -> tuple[sp.Expr, list[Share]]:
    """An energy as what is written beside families, and families."""
    total = Sum.of(given) if isinstance(given, Family | Sum) else Sum((), as_scalar(given))
    return written_out(what, total, known)


def written_out(what: str, total: Sum, known: frozenset[sp.Expr]) -> tuple[sp.Expr, list[Share]]:
    """A sum in which families that bind known functions of time are written out: each of these is something else."""
    names = {f.func.__name__ for f in known}
    apart = [family for family in total.families if family.functions & names]
    rest = sp.Add(total.rest, *(e for family in apart for e in family.members))
    none = np.zeros(0, dtype=np.int64)
    return rest, [Share(what, family, none) for family in total.families if family not in apart]


def along_coordinates(
    what: str, given: Any, names: Sequence[str], own: Mapping[str, sp.Expr], known: frozenset[sp.Expr]
) -> tuple[dict[int, sp.Expr], list[Share]]:
    """Forces by coordinate, or by arrays of coordinates: as what is written beside families, and families."""
    index = {name: i for i, name in enumerate(names)}
    beside: dict[int, list[sp.Expr]] = {}
    shares: list[Share] = []
    if given is not None and not isinstance(given, Mapping):
        values = list(given) if isinstance(given, Sequence | sp.MatrixBase | np.ndarray) else [given]
        if len(values) != len(names):
            raise InputError(
                f"{len(values)} entries for {len(names)} coordinates ({listed(names, MOST_NAMED)}): give one each, or "
                f"a mapping {{coordinate or array of coordinates: force}}"
            )
        given = {own.get(name) or coordinate(name): value for name, value in zip(names, values, strict=True)}
    for key, value in (given or {}).items():
        on = coordinates_of(key, index, own)
        total = Sum.of(value) if isinstance(value, Family | Sum) else Sum((), as_scalar(value))
        for family in total.families:
            if len(on) not in (1, len(family)):
                raise InputError(
                    f"a family of {len(family)} forces is to act along {len(on)} coordinates: give one coordinate, or "
                    f"an array with one for each of them"
                )
            every = on if len(on) == len(family) else on * len(family)
            if family.functions & {f.func.__name__ for f in known}:
                for name, e in zip(every, family.members, strict=True):
                    beside.setdefault(index[name], []).append(e)
                continue
            column = Column(np.full(len(family), FUNCTION, dtype=np.int8), np.array(every, dtype=object), own)
            acting = replace(family, columns={ON: column, **family.columns})
            shares.append(Share(what, acting, np.zeros(0, dtype=np.int64)))
        if total.rest != 0:
            for name in on:
                beside.setdefault(index[name], []).append(total.rest)
    return {i: sp.Add(*terms) for i, terms in sorted(beside.items())}, shares


def coordinates_of(key: Any, index: Mapping[str, int], own: Mapping[str, sp.Expr]) -> list[str]:
    """The names of the coordinates that a key of a mapping stands for."""
    if isinstance(key, CoordinateArray) and not key.order:
        found = key.names.ravel().tolist()
        strange = next((name for name in found if name not in index), None)
    else:
        name = key.func.__name__ if isinstance(key, AppliedUndef) else str(key)
        found = [name]
        strange = str(key) if name not in index or (own.get(name) or coordinate(name)) != key else None
    if strange is not None:
        raise InputError(f"{strange}: no such coordinate; there are {listed(index, MOST_NAMED)}")
    return found


def members_of(
    name: str, family: Family, row: int, known: frozenset[sp.Expr]
) -> tuple[list[str], Share | list[Constraint]]:
    """The names of the constraints of a family that begins in a row, and the family in its place.

    A family that binds known functions of time is written out: its members are constraints of their own.
    """
    names = list(family.names) or [f"{name}[{k}]" for k in range(len(family))]
    if family.functions & {f.func.__name__ for f in known}:
        return names, [Constraint(e, own, given=known) for own, e in zip(names, family.members, strict=True)]
    if isinstance(family.template, Relational) and isinstance(family.template, sp.Ne):
        raise InputError(f"constraint {name!r}: {family.template} is not a constraint: use Eq(…), >= or <=")
    return names, Share("constraints", family, np.arange(row, row + len(family)), known)


def described(
    coordinates: Any,
    kinetic: Any,
    potential: Any,
    forces: Any,
    nonideal: Any,
    constraints: Any,
    known: frozenset[sp.Expr],
    attempt: Callable[..., Any],
) -> Repeated:
    """A description with families in its normal form; what cannot be read is told to `attempt`, place by place."""
    names, own, wrong = listed_coordinates(coordinates)
    for part in wrong[:MOST_NAMED]:
        attempt(("coordinates",), partial(refuse_coordinate, part), None)
    nothing: tuple[Any, list[Share]] = sp.S.Zero, []
    still: Any = None, []
    T, moving = (
        attempt(("kinetic",), lambda: energy("kinetic", kinetic, known), still, "kinetic: ")
        if (kinetic is not None)
        else still
    )
    V, stored = attempt(("potential",), lambda: energy("potential", potential, known), nothing, "potential: ")
    given: dict[str, Any] = {}
    shares = [*moving, *stored]
    for what, by_coordinate in (("forces", forces), ("nonideal", nonideal)):
        given[what], more = attempt(
            (what,), lambda w=what, f=by_coordinate: along_coordinates(w, f, names, own, known), ({}, []), f"{what}: "
        )
        shares += more
    rows: dict[int, Constraint] = {}
    row_names: list[str] = []
    named = constraints.items() if isinstance(constraints, Mapping) else ((None, c) for c in one_by_one(constraints))
    for k, (key, what) in enumerate(named):
        name, where = str(key or f"constraint {k + 1}"), ("constraints", k if key is None else str(key))
        if isinstance(what, Family):
            row = len(row_names)
            found = attempt(where, lambda n=name, w=what, i=row: members_of(n, w, i, known), None)
            if found is not None:
                if isinstance(found[1], Share):
                    shares.append(found[1])
                else:
                    rows |= enumerate(found[1], row)
                row_names += found[0]
            continue
        made = attempt(where, lambda n=key, c=what, i=k: named_constraint(n, c, i, known), None)
        if made is not None:
            rows[len(row_names)] = made
            row_names.append(made.name)
    kept = {name: f for name, f in own.items() if f is not coordinate(name)}
    return Repeated(names, kept, T, V, given["forces"], given["nonideal"], rows, tuple(row_names), tuple(shares))


def refuse_coordinate(part: Any) -> None:
    """Say that this is not a coordinate."""
    raise InputError(f"coordinate {part} is not a function of time: make it with zwang.coordinates")


def one_by_one(values: Any) -> list[Any]:
    """A sequence as a list; one value as a list of one."""
    several = isinstance(values, Sequence | sp.MatrixBase) and not isinstance(values, str)
    return list(values) if several else [values]


def named_constraint(name: str | None, what: Any, index: int, given: frozenset[sp.Expr]) -> Constraint:
    """A constraint under its name: the mapping's key, its own, or its number."""
    if isinstance(what, Constraint):
        return replace(what, name=str(name or what.name or f"constraint {index + 1}"), given=given)
    if isinstance(what, Sum):
        raise InputError(f"constraint {name or index + 1!r} is a sum of families: write the sum into one template")
    return Constraint(what, str(name or f"constraint {index + 1}"), given=given)
