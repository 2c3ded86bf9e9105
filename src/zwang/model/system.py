"""A mechanical system: what it is and what it must obey. Frozen, SymPy, no numbers but default parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.display import Displayed, named, told
from zwang.errors import InputError, ModelError
from zwang.mistakes import Mistake, Where
from zwang.model.check import find_mistakes, place_name
from zwang.model.constraint import Constraint
from zwang.model.families.check import find_mistakes_in_families
from zwang.model.families.repeated import Repeated, described, is_repeated, named_constraint, one_by_one
from zwang.model.reaction import reactions_in
from zwang.model.signal import Signal
from zwang.model.symbols import as_expression, as_scalar, rates, t
from zwang.waiting import waiting

WRITTEN_OUT = ("coordinates", "kinetic", "potential", "forces", "constraints", "nonideal")  # where there are families


class Structure(tuple[Any, ...]):
    """What systems are compared and looked up by, at every step of some motions: its hash is computed once."""

    def __hash__(self) -> int:
        """As it was computed first."""
        if "known" not in self.__dict__:
            self.__dict__["known"] = super().__hash__()
        return int(self.__dict__["known"])

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the hash: texts have another one in every process."""
        return Structure, (tuple(self),)


@dataclass(frozen=True, init=False)
class System(Displayed):
    """M q̈ = Q + Aᵀλ + C with A q̈ = b, described by energies or matrices and by what the motion must obey.

    Give `kinetic` (and `potential`): Lagrange's equations then make M and Q, and `forces` are the further
    generalized forces. Or give `mass` with `forces` as the whole Q. `forces` and `nonideal` (the vector C
    of nonideal constraints, S1) are a mapping coordinate → expression or a sequence in coordinate order; C may contain
    `multiplier(name)`, as friction does, and is then solved for with the acceleration;
    `constraints` a mapping name → constraint or a sequence. `parameters` are default values, None for none; a
    function of time that is not a coordinate, such as a driving α(t), is declared there too, with an expression
    in t, a `Signal` or None.

    Energies, forces and constraints may be families, or sums with them (see `family`); forces are then given by arrays
    of coordinates, {x: family}, each member along the coordinate in its place.

    Every mistake of the description is reported at once, in a `ModelError`.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g, L = zw.parameters("m g L")
    >>> pendulum = zw.System(
    ...     (x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...     constraints={"rod": x**2 + y**2 - L**2}, parameters={m: 1, g: 9.81, L: 1})
    >>> pendulum.constraint_names
    ('rod',)
    """

    coordinates: tuple[sp.Expr, ...]
    kinetic: sp.Expr | None
    potential: sp.Expr
    forces: tuple[sp.Expr, ...]
    mass: sp.ImmutableMatrix | None
    constraints: tuple[Constraint, ...]
    nonideal: tuple[sp.Expr, ...]
    parameters: Mapping[sp.Expr, Any] = field(hash=False)
    name: str

    def __init__(
        self,
        coordinates: Sequence[sp.Expr],
        *,
        kinetic: sp.Expr | None = None,
        potential: sp.Expr = 0,
        forces: Mapping[sp.Expr, Any] | Sequence[Any] | None = None,
        mass: Any = None,
        constraints: Mapping[str, Any] | Sequence[Any] = (),
        nonideal: Mapping[sp.Expr, Any] | Sequence[Any] | None = None,
        parameters: Mapping[sp.Expr, Any] | None = None,
        name: str = "",
    ) -> None:
        """Bring the description to one normal form, then look for mistakes."""
        mistakes = Mistakes()
        attempt = mistakes.attempt
        found: dict[str, Any] = {"name": name, "parameters": MappingProxyType(values_given(parameters, attempt))}
        object.__setattr__(self, "parameters", found["parameters"])
        parts = coordinates, kinetic, potential, forces, nonideal, constraints
        repeats = is_repeated(*parts)
        if repeats:
            found["repeated"] = described(*parts, frozenset(self.inputs), attempt)
        else:
            found |= normal(*parts, frozenset(self.inputs), attempt)
        n = len(found["repeated"].names if repeats else found["coordinates"])
        found["mass"] = None
        if mass is not None:
            found["mass"] = attempt(("mass",), lambda: square_matrix(mass, n), sp.eye(n), "mass: ")
        for key, value in found.items():
            object.__setattr__(self, key, value)
        with waiting("checking the description"):
            mistakes += find_mistakes_in_families(self, found["repeated"]) if repeats else find_mistakes(self)
        if mistakes:
            raise ModelError(mistakes, name)

    @classmethod
    def by_families(cls, repeated: Repeated, parameters: Mapping[sp.Expr, Any], name: str = "") -> "System":
        """A system that is described by families already: by a mechanism, for one."""
        made, mistakes = object.__new__(cls), Mistakes()
        values = MappingProxyType(values_given(parameters, mistakes.attempt))
        made.__dict__.update(repeated=repeated, mass=None, parameters=values, name=name)
        with waiting("checking the description"):
            mistakes += find_mistakes_in_families(made, repeated)
        if mistakes:
            raise ModelError(mistakes, name)
        return made

    @classmethod
    def from_sympy(cls, method: Any, *, parameters: Mapping[sp.Expr, Any] | None = None, name: str = "") -> "System":
        """The same system from SymPy's `System`, `LagrangesMethod` or `KanesMethod`, with its constraints and loads."""
        from zwang.model.from_sympy import describe

        return cls(**describe(method), parameters=parameters, name=name)

    def __repr__(self) -> str:
        """The system in a line."""
        parts = named("coordinates", self.coordinate_names), named("constraints", self.constraint_names)
        return told(self, self.name, *parts, named("parameters", self.parameters))

    def __getattr__(self, key: str) -> Any:
        """What is described by families is written out when somebody reads it."""
        repeated = self.__dict__.get("repeated")
        if repeated is None or key not in WRITTEN_OUT:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")
        value = self.__dict__[key] = repeated.written(key)
        return value

    def __hash__(self) -> int:
        """By its names: what is written out and what is described by families may be equal."""
        return hash((self.coordinate_names, self.constraint_names, self.name))

    def __getstate__(self) -> dict[str, Any]:
        """What to pickle: the fields; a read-only view of a dictionary cannot be pickled, the dictionary can."""
        kept = {"repeated", "mass", "name"} if self.families is not None else {f.name for f in fields(self)}
        own = {key: getattr(self, key) for key in kept} | {"parameters": dict(self.parameters)}
        return own | ({"further": self.further} if self.further else {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The fields back from a pickle."""
        self.__dict__.update(state | {"parameters": MappingProxyType(state["parameters"])})

    @property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """The rates q̇ of the coordinates."""
        return tuple(rates(q)[0] for q in self.coordinates)

    @property
    def families(self) -> Repeated | None:
        """The description by families, if there are some."""
        return self.__dict__.get("repeated")

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """The coordinates' names, without the (t)."""
        return self.families.names if self.families else tuple(q.func.__name__ for q in self.coordinates)

    @property
    def size(self) -> int:
        """How many coordinates and constraints there are together."""
        return len(self.coordinate_names) + len(self.constraint_names)

    @cached_property
    def coordinate_index(self) -> dict[str, int]:
        """Name → number of a coordinate."""
        return {name: i for i, name in enumerate(self.coordinate_names)}

    @cached_property
    def places_found(self) -> dict[Any, int]:
        """Keys of states that were looked up, and their places: `model.state.place_of` keeps them."""
        return {}

    def coordinate(self, i: int) -> sp.Expr:
        """A coordinate by its number."""
        return self.families.coordinate(self.families.names[i]) if self.families else self.coordinates[i]

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """The constraints' names, in their order."""
        return self.families.constraint_names if self.families else tuple(c.name for c in self.constraints)

    @property
    def inputs(self) -> dict[sp.Expr, Any]:
        """The known functions of time that `parameters` declares, and what they are (None: not said)."""
        return {f: value for f, value in self.parameters.items() if isinstance(f, AppliedUndef)}

    @property
    def further(self) -> frozenset[sp.Symbol]:
        """Parameters with places among the numbers of this system, though its equations do not use them."""
        found: frozenset[sp.Symbol] = self.__dict__.get("further", frozenset())
        return found

    def with_symbols(self, symbols: Iterable[sp.Symbol]) -> "System":
        """The same system, which gives places among its numbers to further parameters: only events use these."""
        new = frozenset(symbols) - self._described
        if not new:
            return self
        made = object.__new__(type(self))
        made.__setstate__(self.__getstate__() | {"further": self.further | new})
        return made

    def with_values(self, parameters: Mapping[sp.Symbol, float]) -> "System":
        """The same system with values for further parameters, or with others; families stay as they are."""
        made = object.__new__(type(self))
        made.__setstate__(self.__getstate__() | {"parameters": {**self.parameters, **parameters}})
        return made

    @cached_property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The parameters that occur in the description, in alphabetical order."""
        return self.symbols_with(self.inputs)

    def symbols_with(self, inputs: Mapping[sp.Expr, Any]) -> tuple[sp.Symbol, ...]:
        """The parameters that occur when the known functions of time are the given ones."""
        described = self._described - frozenset(self.reactions.values())
        found = described.union(*(value.free_symbols for value in inputs.values() if value is not None))
        return tuple(sorted(found - {t}, key=lambda s: (s.name, str(s.assumptions0))))

    @cached_property
    def _described(self) -> frozenset[sp.Symbol]:
        if self.families is not None:
            laws = [e.free_symbols for c in self.constraints if c.one_sided for e in c.law.values()]
            mass = self.mass.free_symbols if self.mass is not None else frozenset()
            return self.further | self.families.symbols | frozenset().union(mass, *laws)
        return self.further.union(*(e.free_symbols for e in self.places.values()))

    @cached_property
    def reactions(self) -> dict[int, sp.Symbol]:
        """Constraints whose multipliers occur in nonideal forces: their numbers, with the symbols of these."""
        return reactions_in(self._described, self.constraint_names)

    @cached_property
    def structure(self) -> tuple[Any, ...]:
        """Everything but names and default values: systems of one structure have the same equations."""
        further = sorted(self.further, key=str)
        if self.families is not None:
            laws = tuple((i, *c.law.items()) for i, c in enumerate(self.constraints) if c.one_sided)
            return Structure((self.families.key, self.mass, laws, *self.reactions.items(), *further))
        constraints = tuple((c.expression, c.order, c.one_sided, *c.law.items()) for c in self.constraints)
        return Structure(
            (
                self.coordinates,
                self.kinetic,
                self.potential,
                self.forces,
                self.mass,
                constraints,
                self.nonideal,
                *self.reactions.items(),
                *further,
            )
        )

    @property
    def places(self) -> dict[Where, sp.Basic]:
        """Every expression of the description that is not zero, by where it stands: ("forces", "x")."""
        parts: dict[Where, sp.Basic] = {}
        if self.kinetic is not None:
            parts[("kinetic",)] = self.kinetic
        if self.mass is not None:
            parts[("mass",)] = self.mass
        parts[("potential",)] = self.potential
        names = self.coordinate_names
        parts |= {("forces", name): f for name, f in zip(names, self.forces, strict=False) if f != 0}
        parts |= {("nonideal", name): f for name, f in zip(names, self.nonideal, strict=False) if f != 0}
        parts |= {("constraints", c.name): c.expression for c in self.constraints}
        return parts | {("constraints", c.name, what): e for c in self.constraints for what, e in c.law.items()}

    @property
    def templates(self) -> list[tuple[Where, sp.Basic]]:
        """The same with one expression for all members of a family, by where the first is: in time, all are alike."""
        if self.families is None:
            return list(self.places.items())
        return [*self.families.templates, *([] if self.mass is None else [(("mass",), self.mass)])]

    @property
    def expressions(self) -> dict[str, sp.Basic]:
        """The same expressions by the names that messages use: forces[x(t)], constraint 'rod'."""
        return {str(place_name(where, self.coordinates)): e for where, e in self.places.items()}


class Mistakes(list[Mistake]):
    """Mistakes of a description, collected as they are met."""

    def attempt(self, where: Where, build: Any, fallback: Any, *what: object) -> Any:
        """What is built; what stands in for it if that is refused."""
        try:
            return build()
        except InputError as error:
            self.append(Mistake(*what, *error.mistakes, where=where))
            return fallback


def is_formula(value: Any) -> bool:
    """Whether the value of a known function of time is a formula, and not a signal or missing."""
    return value is not None and not isinstance(value, Signal)


def values_given(parameters: Any, attempt: Callable[..., Any]) -> dict[Any, Any]:
    """Default values, known functions of time as expressions."""
    values = attempt(("parameters",), lambda: as_mapping(parameters), {}, "parameters: ")
    for f in [f for f, value in values.items() if isinstance(f, AppliedUndef) and is_formula(value)]:
        where = ("parameters", f.func.__name__)
        values[f] = attempt(where, lambda f=f: as_expression(values[f]), None, "parameters[", f, "]: ")
    # a symbol without a value is as good as one that is not mentioned; a function of time is thereby declared
    return {s: value for s, value in values.items() if value is not None or not isinstance(s, sp.Symbol)}


def normal(
    coordinates: Any,
    kinetic: Any,
    potential: Any,
    forces: Any,
    nonideal: Any,
    constraints: Any,
    known: frozenset[sp.Expr],
    attempt: Callable[..., Any],
) -> dict[str, Any]:
    """A description in its normal form; what cannot be read is told to `attempt`, place by place."""
    q = tuple(coordinates if isinstance(coordinates, Sequence | sp.MatrixBase) else (coordinates,))
    energy = None if kinetic is None else attempt(("kinetic",), lambda: as_scalar(kinetic), None, "kinetic: ")
    if kinetic is not None and energy is None:
        # stands in for what is not an energy, so that nothing else is said of it
        energy = sp.Add(*[rates(f)[0] ** 2 for f in q if isinstance(f, AppliedUndef)])
    zero = (sp.S.Zero,) * len(q)
    by_name = isinstance(constraints, Mapping)
    named = constraints.items() if by_name else ((None, c) for c in one_by_one(constraints))
    built = [
        attempt(
            ("constraints", i if n is None else str(n)),
            lambda n=n, c=c, i=i: named_constraint(n, c, i, known),
            None,
        )
        for i, (n, c) in enumerate(named)
    ]
    return {
        "coordinates": q,
        "kinetic": energy,
        "potential": attempt(("potential",), lambda: as_scalar(potential), sp.S.Zero, "potential: "),
        "forces": attempt(("forces",), lambda: per_coordinate(forces, q), zero, "forces: "),
        "nonideal": attempt(("nonideal",), lambda: per_coordinate(nonideal, q), zero, "nonideal: "),
        "constraints": tuple(c for c in built if c is not None),
    }


def as_mapping(given: Any) -> dict[Any, Any]:
    """A copy of a mapping as a dictionary; None gives an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{given!r} is not a mapping: give {{symbol: value}}")
    return dict(given or {})


def per_coordinate(given: Any, q: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    """One expression a coordinate, from a mapping coordinate → expression or a sequence in their order."""
    if given is None:
        return (sp.S.Zero,) * len(q)
    if isinstance(given, Mapping):
        known = set(q)
        strangers = [str(k) for k in given if k not in known]
        if strangers:
            raise InputError(f"{', '.join(strangers)}: no such coordinate; there are {', '.join(map(str, q))}")
        return tuple(as_scalar(given.get(qi, 0)) for qi in q)
    values = one_by_one(given)
    if len(values) != len(q):
        raise InputError(f"{len(values)} entries for {len(q)} coordinates ({', '.join(map(str, q))}): give one each")
    return tuple(as_scalar(value) for value in values)


def square_matrix(given: Any, n: int) -> sp.ImmutableMatrix:
    """An n×n matrix from anything SymPy takes for one."""
    try:
        matrix = sp.ImmutableMatrix(
            [[as_scalar(e) for e in row] for row in (given.tolist() if hasattr(given, "tolist") else given)]
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"is not a matrix ({error}): give {n} rows of {n} expressions") from None
    if matrix.shape != (n, n):
        raise InputError(f"has shape {matrix.shape}, but {n} coordinates need ({n}, {n})")
    return matrix
