"""A constraint: what the motion must obey, at the level its author wrote it, and how it becomes A q̈ = b.

The functions `velocity_level` and `acceleration_row` use nothing but derivatives, `+` and `*` on plain symbols,
so the same lines serve SymPy (for people) and SymEngine (for machines).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from zwang.display import Displayed, told
from zwang.errors import InputError
from zwang.model.contact_law import as_friction, as_restitution, as_slip, is_smooth, out_of_range
from zwang.model.differentiation import differentiator
from zwang.model.identity import degree_at_most, is_zero
from zwang.model.symbols import Plain, as_expression, in_a_line, t

LEVELS = ("position", "velocity", "acceleration")


@dataclass(frozen=True)
class Constraint(Displayed):
    """One scalar constraint: `expression = 0`, or `expression ≥ 0` where `one_sided`.

    Give an expression, an `Eq`, or for a one-sided constraint a relation such as `y >= 0`. The constraint
    finds its own order: 0 for φ(q, t), 1 for ψ(q, q̇, t), 2 for rows linear in q̈. Functions of time in `given`
    are known inputs, not coordinates.

    A one-sided constraint is a contact. Its `restitution`, from 0 to 1, says how much of the approach an impact turns
    round; `friction` is a coefficient μ, or a pair (μ_s, μ_k) of sticking and of sliding, and `slip` the speed at
    which the surfaces rub, or the two speeds in space. Coefficients may be expressions in parameters.

    >>> from zwang import coordinates, dot
    >>> x, y = coordinates("x y")
    >>> rod = Constraint(sp.Eq(x**2 + y**2, 4), "rod")
    >>> rod.order, rod.kinds
    (0, ('holonomic', 'scleronomic', 'catastatic', 'linear in velocity'))
    >>> rod.row((x, y))
    (Matrix([[2*x(t), 2*y(t)]]), -2*Derivative(x(t), t)**2 - 2*Derivative(y(t), t)**2)
    """

    expression: sp.Expr
    name: str = ""
    one_sided: bool = False
    given: frozenset[sp.Expr] = frozenset()
    restitution: sp.Expr = sp.S.Zero
    friction: tuple[sp.Expr, ...] = ()
    slip: tuple[sp.Expr, ...] = ()

    def __post_init__(self) -> None:
        """Bring every accepted way of writing a constraint to `expression` and `one_sided`."""
        try:
            given = as_expression(self.expression)
        except InputError as error:
            raise InputError(f"{self._who}: {error}") from None
        expression, one_sided = given, self.one_sided
        if isinstance(given, Relational):
            if isinstance(given, sp.Ne):
                raise InputError(f"{self._who}: {given} is not a constraint: use Eq(…), >= or <=")
            expression = given.lhs - given.rhs
            one_sided = not isinstance(given, sp.Eq)
            if isinstance(given, sp.Le | sp.Lt):
                expression = -expression
        elif not isinstance(given, sp.Expr) or given.is_Matrix:
            why = "always true" if given is sp.true else "never true" if given is sp.false else "not an expression"
            raise InputError(f"{self._who}: {given} is {why}: give an expression (= 0), Eq(…) or expression >= 0")
        object.__setattr__(self, "expression", expression)
        object.__setattr__(self, "one_sided", one_sided)
        try:
            restitution, friction = as_restitution(self.restitution, one_sided), as_friction(self.friction)
            slip = as_slip(self.slip, friction, smooth=is_smooth(self.friction))
        except InputError as error:
            raise InputError(f"{self._who}: {error}") from None
        if wrong := out_of_range(restitution, friction):
            raise InputError(f"{self._who}: {wrong}")
        object.__setattr__(self, "restitution", restitution)
        object.__setattr__(self, "friction", friction)
        object.__setattr__(self, "slip", slip)

    @classmethod
    def member(cls, template: "Constraint", name: str, expression: Callable[[], sp.Expr]) -> "Constraint":
        """A constraint of a family: like its template in all but name, and written out when somebody reads it."""
        made = object.__new__(cls)
        made.__dict__.update(template._shared, name=name, _template=template, _expression=expression)
        return made

    @cached_property
    def _shared(self) -> dict[str, Any]:
        """What a template shares with its members: all fields but the expression."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "expression"}

    def __getattr__(self, key: str) -> Any:
        """The expression of a member of a family, when it is first read."""
        if key != "expression" or "_expression" not in self.__dict__:
            raise AttributeError(key)
        self.__dict__["expression"] = Constraint(self._expression(), self.name, self.one_sided).expression
        return self.__dict__["expression"]

    def __getstate__(self) -> dict[str, Any]:
        """What to pickle: the fields."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The fields back from a pickle."""
        self.__dict__.update(state)

    def __repr__(self) -> str:
        """The constraint in a line."""
        return told(self, self.name, f"{in_a_line(self.expression)} {'≥' if self.one_sided else '='} 0")

    @property
    def _alike(self) -> "Constraint | None":
        """The template of a member of a family."""
        return self.__dict__.get("_template")

    @property
    def law(self) -> dict[str, sp.Expr]:
        """Restitution, friction and slip by their names, those that are not zero."""
        parts = {"restitution": self.restitution} if self.restitution != 0 else {}
        parts |= {f"friction{i or ''}": mu for i, mu in enumerate(dict.fromkeys(self.friction))}
        return parts | {f"slip{i or ''}": speed for i, speed in enumerate(self.slip)}

    @property
    def _who(self) -> str:
        return f"constraint {self.name!r}" if self.name else "a constraint"

    @cached_property
    def functions(self) -> tuple[sp.Expr, ...]:
        """The coordinates that occur, in alphabetical order: functions of time alone that are not given."""
        found = {f for f in self._parts if isinstance(f, AppliedUndef) and f.args == (t,)}
        return tuple(sorted(found - self.given, key=lambda f: f.func.__name__))

    @cached_property
    def order(self) -> int:
        """How often coordinates are differentiated in the constraint as given: 0, 1 or 2 (higher is a mistake)."""
        if (alike := self._alike) is not None:
            return alike.order
        derivatives = [d for d in self._parts if isinstance(d, sp.Derivative)]
        return max((d.derivative_count for d in derivatives if d.expr in self.functions), default=0)

    @cached_property
    def _parts(self) -> set[sp.Basic]:
        return set(self.expression.atoms(AppliedUndef, sp.Derivative))

    @property
    def level(self) -> str:
        """The order in words: position, velocity or acceleration."""
        return LEVELS[self.order]

    @property
    def holonomic(self) -> bool:
        """Given as φ(q, t). (A ψ that someone could integrate counts as nonholonomic: it was given so.)"""
        return self.order == 0

    @cached_property
    def rheonomic(self) -> bool:
        """Time occurs explicitly."""
        if (alike := self._alike) is not None:
            return alike.rheonomic
        return bool(self._plain_expression.has(t))

    @cached_property
    def catastatic(self) -> bool | None:
        """Rest is allowed: the velocity-level form holds with all rates zero (None at acceleration level)."""
        if (alike := self._alike) is not None:
            return alike.catastatic
        if self.order > 1:
            return None
        if self.order == 0:
            return not self.rheonomic or is_zero(self._plain_expression.diff(t))
        return is_zero(self._plain_expression.subs(dict.fromkeys(self._plain.v, 0)))

    @cached_property
    def linear(self) -> bool:
        """The velocity-level form is linear in the velocities."""
        if (alike := self._alike) is not None:
            return alike.linear
        return self.order != 1 or degree_at_most(self._plain_expression, self._plain.v, 1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What kind of constraint this is, in the papers' words."""
        words = ["holonomic" if self.holonomic else "nonholonomic"]
        words.append("rheonomic" if self.rheonomic else "scleronomic")
        if self.catastatic is not None:
            words.append("catastatic" if self.catastatic else "acatastatic")
        words.append(
            "given at acceleration level"
            if self.order == 2
            else "linear in velocity"
            if self.linear
            else "nonlinear in velocity"
        )
        if self.one_sided:
            words.append("one-sided")
        return tuple(words)

    def row(self, coordinates: Sequence[sp.Expr]) -> tuple[sp.ImmutableMatrix, sp.Expr]:
        """The row of A and the entry of b: this constraint as A q̈ = b (≥ b where one-sided)."""
        plain = Plain.of(coordinates)
        A, b = acceleration_row(plain.put(self.expression), self.order, Axes.of_sympy(plain))
        row = sp.ImmutableMatrix([[plain.back(A.get(j, sp.S.Zero)) for j in range(len(coordinates))]])
        return row, plain.back(b)

    @cached_property
    def _plain(self) -> Plain:
        return Plain.of(self.functions)

    @cached_property
    def _plain_expression(self) -> sp.Expr:
        return self._plain.put(self.expression)


@dataclass(frozen=True)
class Axes:
    """The plain symbols of q, q̇, q̈ and t in one algebra, its sum and its derivatives: what differentiation needs."""

    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]
    t: Any
    add: Callable[..., Any]
    diff: Callable[[Any, Any], Any] = lambda f, s: f.diff(s)

    @classmethod
    def of_sympy(cls, plain: Plain) -> "Axes":
        """The axes of a system in SymPy."""
        return cls(plain.q, plain.v, plain.a, t, sp.Add, differentiator())

    @cached_property
    def index(self) -> tuple[dict[Any, int], dict[Any, int], dict[Any, int]]:
        """Symbol → number, for q, v and a."""
        q, v, a = ({s: i for i, s in enumerate(symbols)} for symbols in (self.q, self.v, self.a))
        return q, v, a


def gradient(f: Any, axes: Axes, order: int) -> dict[int, Any]:
    """∂f/∂s for the q, q̇ or q̈ (order 0, 1, 2) that occur in f, by their number; the others are zero."""
    index = axes.index[order]
    found = sorted((index[s], s) for s in f.free_symbols if s in index)
    return {i: d for i, s in found if (d := axes.diff(f, s)) != 0}


def time_derivative(f: Any, axes: Axes) -> Any:
    """ḟ = Σ ∂f/∂q q̇ + ∂f/∂t of a function of q, q̇ and t, with q̇ held: the part that accelerations do not make."""
    return axes.add(*[d * axes.v[i] for i, d in gradient(f, axes, 0).items()], axes.diff(f, axes.t))


def velocity_level(f: Any, order: int, axes: Axes) -> Any:
    """The constraint as a statement on velocities: φ̇ for order 0, ψ itself for order 1."""
    return time_derivative(f, axes) if order == 0 else f


def acceleration_row(f: Any, order: int, axes: Axes) -> tuple[dict[int, Any], Any]:
    """The row of A (index → entry) and the entry of b, by the right number of differentiations.

    Order 0, S1 (2)→(4):  A = φ_q,  b = −(q̇ᵀφ_qq q̇ + 2φ_qt q̇ + φ_tt).
    Order 1, S1 (3)→(4):  A = ψ_q̇,  b = −(ψ_q q̇ + ψ_t).
    Order 2, S4 (3):      A = χ_q̈,  b = −χ at q̈ = 0.
    """
    A = gradient(f, axes, order)
    if order == 2:
        return A, -f.subs({s: 0 for s in f.free_symbols if s in axes.index[2]})
    return A, -time_derivative(velocity_level(f, order, axes), axes)
