"""From a system in plain symbols to M, Q, A, b and C: written once, run in two algebras.

SymEngine speaks SymPy's language, and nothing below uses more of it than derivatives, `.args`, `.free_symbols`,
`+` and `*`. Rows are sparse (index → entry), and energies are differentiated term by term, so that a chain of
a thousand bodies costs a hundred times what a chain of ten costs, not ten thousand times.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from zwang.arrays import Array, Indices
from zwang.model.constraint import Axes, acceleration_row, velocity_level

Row = dict[int, Any]


@dataclass(frozen=True, eq=False)
class Repeat:
    """An expression in symbols of its own, and what stands in their places, for many terms, forces or constraints."""

    place: str
    """"kinetic", "potential", "forces", "nonideal" or "constraints"."""
    expression: Any
    axes: Axes
    parameters: tuple[Any, ...]
    """Symbols of parameters, then those of numbers."""
    coordinates: Indices
    """(count, …) numbers of coordinates; of forces, the first is the one along which they act."""
    given: Indices
    """(count, …) numbers of parameters."""
    constants: Array
    """(count, …)"""
    rows: Indices
    """(count,) numbers of constraints; none in other places."""
    order: int = 0


@dataclass(frozen=True, eq=False)
class Repeats:
    """A description by families: these, and what is written beside them, with the rows of its constraints."""

    families: tuple[Repeat, ...]
    beside: "Description"
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Description:
    """A system in plain symbols of one algebra: q, q̇, q̈ and t are independent of each other."""

    axes: Axes
    kinetic: Any | None
    potential: Any
    forces: Sequence[Any]
    mass: Sequence[Sequence[Any]] | None
    constraints: Sequence[tuple[Any, int]]
    nonideal: Sequence[Any]
    slips: Sequence[tuple[int, Any]] = field(default_factory=tuple)  # no attribute of the class: `later` has none
    """Speeds at which surfaces of constraints rub, each with the number of its constraint."""
    reactions: Sequence[tuple[int, Any]] = ()
    """Multipliers that occur in nonideal forces: the numbers of their constraints, and their symbols."""
    switching: bool = True
    """Whether an expression may contain conditions or floors; False saves looking for them."""
    repeats: Repeats | None = None
    """The same by families, if it was described so."""

    @classmethod
    def later(
        cls,
        axes: Axes,
        orders: Sequence[int],
        switching: bool,
        repeats: Repeats,
        rubs: bool,
        write: Callable[[], "Description"],
    ) -> "Description":
        """A description by families that is written out when somebody reads it; `rubs` says whether there are slips."""
        made = object.__new__(cls)
        made.__dict__.update(axes=axes, orders=tuple(orders), switching=switching, repeats=repeats, _write=write)
        if not rubs:
            made.__dict__["slips"] = ()  # nothing is written out to see that
        return made

    def with_slips_as_rows(self) -> "Description":
        """The same with a row behind all constraints for each slip."""
        more, m, repeats = [(slip, 1) for _, slip in self.slips], len(self.orders), self.repeats
        if repeats is not None:
            beside = replace(repeats.beside, constraints=[*repeats.beside.constraints, *more])
            repeats = replace(repeats, beside=beside, rows=(*repeats.rows, *range(m, m + len(more))))
        return replace(self, constraints=[*self.constraints, *more], slips=(), repeats=repeats)

    def __getattr__(self, key: str) -> Any:
        """The written description, when something of it is first read."""
        parts = ("kinetic", "potential", "forces", "mass", "constraints", "nonideal", "slips")
        if key not in parts or "_write" not in vars(self):
            raise AttributeError(key)
        written = self._write()
        self.__dict__.update({k: value for k, value in vars(written).items() if k not in vars(self)})
        return self.__dict__[key]

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """How often coordinates are differentiated in each constraint."""
        return tuple(order for _, order in self.constraints)

    @property
    def mass_given(self) -> bool:
        """Whether a mass matrix is given, and not a kinetic energy."""
        return (self.repeats.beside if self.repeats else self).mass is not None


@dataclass(frozen=True)
class Derived:
    """M q̈ = Q + Aᵀλ + C, A q̈ = b, with sparse rows of M and A.

    `residual` and `residual_rate` are each constraint's left-hand side at these levels; None at a level below the
    one at which it was given.
    """

    M: list[Row]
    Q: list[Any]
    A: list[Row]
    b: list[Any]
    C: list[Any]
    residual: list[Any]
    residual_rate: list[Any]


def derive_plain(system: Description) -> Derived:
    """The matrices of a described system."""
    if system.kinetic is not None:
        M, Q = lagrange_equations(system)
    else:
        assert system.mass is not None
        M = [{j: e for j, e in enumerate(row) if e != 0} for row in system.mass]
        Q = list(system.forces)
    rows = [acceleration_row(f, order, system.axes) for f, order in system.constraints]
    return Derived(
        M=M,
        Q=Q,
        A=[A for A, _ in rows],
        b=[b for _, b in rows],
        C=list(system.nonideal),
        residual=[f if order == 0 else None for f, order in system.constraints],
        residual_rate=[velocity_level(f, order, system.axes) if order < 2 else None for f, order in system.constraints],
    )


def lagrange_equations(system: Description) -> tuple[list[Row], list[Any]]:
    """M and Q from T and V, with p = ∂T/∂q̇:  M = ∂p/∂q̇,  Q = F + ∂(T − V)/∂q − (∂p/∂q) q̇ − ∂p/∂t."""
    axes = system.axes
    n, add, diff = len(axes.q), axes.add, axes.diff
    q, v, _ = axes.index
    M: list[defaultdict[int, list[Any]]] = [defaultdict(list) for _ in range(n)]
    Q: list[list[Any]] = [[force] for force in system.forces]
    for term in terms(system.kinetic):
        for s in term.free_symbols:
            if s in q:
                Q[q[s]].append(diff(term, s))
            elif s in v:
                i, p = v[s], diff(term, s)
                for r in p.free_symbols:
                    if r in v and v[r] >= i:
                        M[i][v[r]].append(diff(p, r))
                    elif r in q:
                        Q[i].append(-diff(p, r) * axes.v[q[r]])
                    elif r == axes.t:
                        Q[i].append(-diff(p, r))
    for term in terms(system.potential):
        for s in term.free_symbols:
            if s in q:
                Q[q[s]].append(-diff(term, s))
    rows: list[Row] = [{} for _ in range(n)]
    for i in range(n):
        for j, parts in M[i].items():
            if (entry := add(*parts)) != 0:
                rows[i][j] = rows[j][i] = entry
    return rows, [add(*parts) for parts in Q]


def terms(expression: Any) -> Iterator[Any]:
    """The addends of an expression, products with one sum in them multiplied out: m(a + b) → ma, mb."""
    if expression.is_Add:
        for arg in expression.args:
            yield from terms(arg)
        return
    if expression.is_Mul:
        sums = [i for i, arg in enumerate(expression.args) if arg.is_Add]
        if len(sums) == 1:
            args = expression.args
            rest = type(expression)(*args[: sums[0]], *args[sums[0] + 1 :]) if len(args) > 1 else 1
            for arg in args[sums[0]].args:
                yield from terms(rest * arg)
            return
    yield expression
