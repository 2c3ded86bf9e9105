"""The equations of motion of a system in symbols: every form that the papers give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.display import Displayed, named, told
from zwang.equations.derivation import derive_plain
from zwang.equations.languages import in_sympy
from zwang.equations.textbook import SECONDS, textbook
from zwang.errors import InconsistentError, InputError, UndeterminedError
from zwang.formulations import fundamental, gibbs_appell
from zwang.formulations.forms import FORMS
from zwang.formulations.solve import require_form
from zwang.linalg import exact
from zwang.model.has_system import HasSystem, system_of
from zwang.model.reaction import reactions_in
from zwang.model.symbols import Plain, as_expression, t
from zwang.waiting import waiting

if TYPE_CHECKING:
    from zwang.model import System

PREPARING = 2.0
"""Seconds of processor time in which M, Q, A, b and C are each simplified before anything is solved with them."""


@dataclass(frozen=True)
class Equations(Displayed):
    """M q̈ = Q + Aᵀλ + C with A q̈ = b, as SymPy matrices, and everything that follows from them exactly.

    `rows` are the independent rows of A that were found (at almost every point of the space of q, q̇, t and
    parameters); `assumption` says so in words. Where rows depend on each other only while the constraints
    hold, as in closed linkages, choose yourself: `equations.with_rows("hinge x", …)`.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> slide = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                   constraints={"ramp": x - y, "again": 3*x - 3*y})
    >>> equations = zw.derive(slide)
    >>> equations.acceleration().T
    Matrix([[-g/2, -g/2]])
    >>> equations.assumption
    "rank 1 of 2 rows assumed; independent: 'ramp'"
    """

    coordinates: tuple[sp.Expr, ...]
    names: tuple[str, ...]
    M: sp.ImmutableMatrix
    Q: sp.ImmutableMatrix
    A: sp.ImmutableMatrix
    b: sp.ImmutableMatrix
    C: sp.ImmutableMatrix
    rows: tuple[int, ...]
    one_sided: tuple[str, ...] = ()
    """Constraints that are inequalities, taken here as equalities: as at their limit, with contact kept."""
    unread: int = 0
    """How many entries of M, Q, A, b and C there was no time to write as a textbook does: they stand as derived."""

    def __repr__(self) -> str:
        """The equations in a line."""
        coordinates = (q.func.__name__ for q in self.coordinates)
        return told(self, "", named("coordinates", coordinates), named("constraints", self.names))

    def _repr_latex_(self) -> str | None:
        from zwang.equations.latex import for_notebooks

        return for_notebooks(self)

    @property
    def rank(self) -> int:
        """The rank of A that is assumed."""
        return len(self.rows)

    @property
    def assumption(self) -> str:
        """Which rank of A the symbolic results assume."""
        independent = ", ".join(repr(self.names[i]) for i in self.rows) or "none"
        conditions = [
            f"; {name!r} agrees with them only where {gap} = 0"
            for name, gap in zip(self.names, self._gaps, strict=True)
            if gap != 0
        ]
        if self.one_sided:
            conditions.append(f"; taken as equalities: {', '.join(map(repr, self.one_sided))}")
        if self.reactions:
            names = ", ".join(repr(self.names[i]) for i in self.reactions)
            conditions.append(f"; C, and with it q̈, contains multipliers of {names}, which solve λ = multipliers()")
        return f"rank {self.rank} of {len(self.names)} rows assumed; independent: {independent}{''.join(conditions)}"

    @property
    def reactions(self) -> dict[int, sp.Symbol]:
        """The constraints whose multipliers occur in C, by number, with their symbols."""
        return reactions_in(self.C.free_symbols, self.names)

    def with_rows(self, *names: str) -> "Equations":
        """The same equations with another choice of independent rows, by name."""
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise InputError(f"no constraint {unknown[0]!r}: there are {', '.join(map(repr, self.names))}")
        rows = tuple(sorted({self.names.index(name) for name in names}))
        independent = exact.independent_rows(self.A.extract(list(rows), list(range(self.A.cols))))
        if len(independent) < len(rows):
            which = ", ".join(repr(self.names[row]) for i, row in enumerate(rows) if i not in independent)
            raise InputError(f"these rows are dependent: {which} follows from the others; leave it out")
        return replace(self, rows=rows)

    def simplified(self, seconds: float = SECONDS) -> "Equations":
        """The same equations with M, Q, A, b and C in the form in which a textbook prints them.

        `derive` does so with two seconds of processor time; entries that were not reached stay as they were derived,
        and `unread` says how many. Here they get more.
        """
        (M, Q, A, b, C), unread = textbook((self.M, self.Q, self.A, self.b, self.C), seconds)
        return replace(self, M=M, Q=Q, A=A, b=b, C=C, unread=unread)

    def acceleration(self, form: str = "fundamental", **choice: Any) -> sp.ImmutableMatrix:
        """The explicit q̈ by one of the papers' equations; all forms agree.

        "generalized-inverse" takes `equation` ("S0 29", "S3 24" or "S3 26") and `inverse`; "gibbs-appell"
        takes `eliminate`, the coordinates to eliminate.
        """
        require_form(form, choice)
        if choice.get("eliminate") is not None:
            choice["eliminate"] = self._indices(choice["eliminate"])
        return self._written(self._acceleration(form, choice))

    def _acceleration(self, form: str = "fundamental", choice: Mapping[str, Any] | None = None) -> sp.ImmutableMatrix:
        """q̈ in exact numbers, written out once; never longer than a plain LU decomposition would have it."""
        choice = choice or {}
        key = (form, repr(sorted(choice.items())))
        if key not in self._known:
            self.require_consistent()
            _, Q, A, b, C = self._exactly
            self._known[key] = exact.in_time(
                lambda: exact.simple(FORMS[form].exact(self._regular_mass, Q + C, A, b, self.rows, **choice)),
                self._plain_acceleration,
            )
        return self._known[key]

    @cached_property
    def _known(self) -> dict[Any, sp.ImmutableMatrix]:
        return {}

    @cached_property
    def _exactly(self) -> tuple[sp.ImmutableMatrix, ...]:
        """M, Q, A, b and C with decimal numbers as fractions, each entry simplified.

        Otherwise nothing cancels: a float makes all arithmetic approximate, and sin² + cos² stays as it is.
        """
        return tuple(exact.simple(exact.fractions(X), PREPARING) for X in (self.M, self.Q, self.A, self.b, self.C))

    def _written(self, matrix: sp.ImmutableMatrix) -> sp.ImmutableMatrix:
        """A result in decimal numbers, if the equations have some."""
        decimal = any(X.has(sp.Float) for X in (self.M, self.Q, self.A, self.b, self.C))
        return exact.decimals(matrix) if decimal else matrix

    @cached_property
    def _independent(self) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """The independent rows of A, and their b."""
        _, _, A, b, _ = self._exactly
        return A.extract(list(self.rows), list(range(A.cols))), b.extract(list(self.rows), [0])

    def _plain_acceleration(self) -> sp.ImmutableMatrix:
        """q̈ by a plain LU decomposition of Lagrange's equations (S2 30–31)."""
        (G, h), (M, Q, _, _, C) = self._independent, self._exactly
        n, r = G.cols, self.rank
        matrix = sp.Matrix(sp.BlockMatrix([[self._regular_mass, -G.T], [G, sp.zeros(r, r)]])) if r else M
        return exact.plain_solve(matrix, sp.Matrix.vstack(sp.Matrix(Q + C), sp.Matrix(h)))[:n, :]

    @cached_property
    def _regular_mass(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(exact.regular(self._exactly[0], self._independent[0]))

    def free_acceleration(self) -> sp.ImmutableMatrix:
        """a = M⁻¹Q, the acceleration without constraints; there is none where M is singular."""
        return self._written(self._free)

    @cached_property
    def _free(self) -> sp.ImmutableMatrix:
        M, Q, *_ = self._exactly
        if self._regular_mass != M:
            raise UndeterminedError("M is singular: without its constraints this system has no definite acceleration")
        return exact.in_time(lambda: exact.simple(exact.solve(M, Q)), lambda: exact.plain_solve(M, Q))

    def error(self) -> sp.ImmutableMatrix:
        """e = b − Aa, by which the free acceleration misses the constraints (S4)."""
        _, _, A, b, _ = self._exactly
        return self._written(exact.simple(b - A * self._free))

    def deviation(self) -> sp.ImmutableMatrix:
        """Δa = q̈ − a (S4 5c)."""
        return self._written(exact.simple(self._acceleration() - self._free))

    def constraint_force(self) -> sp.ImmutableMatrix:
        """Q_c = M q̈ − Q, the force of constraint, ideal and nonideal (S4 5b, S1 6)."""
        return self._written(self._constraint_force)

    @cached_property
    def _constraint_force(self) -> sp.ImmutableMatrix:
        M, Q, *_ = self._exactly
        return exact.simple(M * self._acceleration() - Q)

    def ideal_force(self) -> sp.ImmutableMatrix:
        """Q_i = K(b − Aa), the part that does no work in virtual displacements (S1 7)."""
        return self._written(self._ideal_force)

    @cached_property
    def _ideal_force(self) -> sp.ImmutableMatrix:
        M, Q, A, b, _ = self._exactly
        return exact.in_time(lambda: exact.simple(M * fundamental.exact(self._regular_mass, Q, A, b, self.rows) - Q))

    def nonideal_force(self) -> sp.ImmutableMatrix:
        """Q_ni = Q_c − Q_i, what a nonideal C adds (S1 8)."""
        return self._written(exact.simple(self._constraint_force - self._ideal_force))

    def multipliers(self) -> sp.ImmutableMatrix:
        """The λ of least length with M q̈ = Q + Aᵀλ + C (S0 35, S2 41–42)."""
        _, _, A, _, C = self._exactly
        force = self._constraint_force - C
        return self._written(exact.in_time(lambda: exact.simple(exact.moore_penrose(A, self.rows).T * force)))

    def null_space(self) -> sp.ImmutableMatrix:
        """A basis of null(Aᵀ) at the rank assumed: λ plus any combination of its columns serves as well as λ."""
        return self._written(exact.simple(exact.null_space(self._dependence.T, range(self.rank))))

    def gaussian(self) -> sp.Expr:
        """½ (q̈ − a)ᵀM(q̈ − a), which Gauss's principle makes least."""
        deviation = self._acceleration() - self._free
        return self._written(exact.simple(deviation.T * self._exactly[0] * deviation / 2))[0, 0]

    def gibbs_appell_system(self, eliminate: Sequence[sp.Expr]) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """Matrix and right-hand side of the equations for the accelerations that are not eliminated (S3 37)."""
        M, Q, A, b, C = self._exactly
        *_, matrix, right = gibbs_appell.exact_parts(M, Q + C, A, b, self._indices(eliminate))
        return self._written(exact.simple(matrix)), self._written(exact.simple(right))

    def latex(self, form: str = "fundamental", **choice: Any) -> str:
        """The equations as LaTeX, for a paper: the form in general, its matrices, and q̈ written out."""
        from zwang.equations.latex import document

        require_form(form, choice)
        return document(self, form, choice)

    def transform(self, coordinates: Sequence[sp.Expr], change: Mapping[sp.Expr, sp.Expr]) -> "Equations":
        """The equations in other coordinates η, where `change` says q = q(η, t) (U9 in docs/theory.md).

        With q̇ = Jη̇ + q_t and q̈ = Jη̈ + h:  M' = JᵀMJ, Q' = Jᵀ(Q − Mh), A' = AJ, b' = b − Ah, C' = JᵀC.
        """
        missing = [str(q) for q in self.coordinates if q not in change]
        if missing:
            raise InputError(f"the change of coordinates does not say what {', '.join(missing)} is")
        plain = Plain.of(coordinates)
        q = sp.Matrix([plain.put(as_expression(change[qi])) for qi in self.coordinates])
        new_q, new_v = sp.Matrix(plain.q), sp.Matrix(plain.v)
        J = q.jacobian(new_q)
        v = J * new_v + q.diff(t)
        h = v.jacobian(new_q) * new_v + v.diff(t)
        old = Plain.of(self.coordinates)
        values = dict(zip(old.q, q, strict=True)) | dict(zip(old.v, v, strict=True))

        def put(matrix: sp.ImmutableMatrix) -> Any:
            return old.put(matrix).subs(values)

        M, Q, A, b, C = map(put, (self.M, self.Q, self.A, self.b, self.C))
        new = (J.T * M * J, J.T * (Q - M * h), A * J, b - A * h, J.T * C)
        M, Q, A, b, C = (exact.simple(plain.back(sp.ImmutableMatrix(matrix))) for matrix in new)
        found = exact.independent_rows(A)
        kept = exact.independent_rows(A.extract(list(self.rows), list(range(A.cols))))
        rows = self.rows if len(kept) == self.rank else found  # the same rows, unless the change made them dependent
        return Equations(tuple(coordinates), self.names, M, Q, A, b, C, rows, self.one_sided)

    @cached_property
    def _dependence(self) -> sp.ImmutableMatrix:
        """F with A = FG, G being the independent rows: how every row is made of those."""
        if not self.rows:
            return sp.ImmutableMatrix.zeros(len(self.names), 0)
        G, _ = self._independent
        A = self._exactly[2]
        return exact.in_time(lambda: exact.simple(exact.solve(G * G.T, G * A.T).T))

    @cached_property
    def _gaps(self) -> sp.ImmutableMatrix:
        """b − F b_G: zero where every row asks for what the independent ones imply."""
        if self.rank == len(self.names):
            return sp.ImmutableMatrix.zeros(self.rank, 1)
        return exact.simple(self._exactly[3] - self._dependence * self._independent[1])

    def require_consistent(self) -> None:
        """Refuse rows that contradict the independent ones whatever the motion."""
        for i, difference in enumerate(self._gaps):
            if difference != 0 and difference.free_symbols <= {t} and not difference.atoms(AppliedUndef):
                F = self._dependence
                others = [self.names[j] for j, k in zip(self.rows, F[i, :], strict=True) if k != 0]
                against = f"contradicts {', '.join(map(repr, others))}" if others else "cannot be obeyed"
                raise InconsistentError(
                    f"constraint {self.names[i]!r} {against}: its right-hand side differs by {difference} from what "
                    f"they imply; drop one of them or mend the right-hand sides",
                    (i, *(self.names.index(name) for name in others)),
                )

    def _indices(self, eliminate: Sequence[sp.Expr]) -> list[int]:
        strangers = [str(q) for q in eliminate if q not in self.coordinates]
        if strangers:
            raise InputError(
                f"eliminate: {strangers[0]} is not a coordinate; there are {', '.join(map(str, self.coordinates))}"
            )
        return [self.coordinates.index(q) for q in eliminate]


def derive(system: "System | HasSystem") -> Equations:
    """M, Q, A, b and C of a system as SymPy matrices, ready for every form of the equations of motion.

    They are written as in a textbook, as far as two seconds go: (m₁ + m₂) l₁², cos(θ₁ − θ₂). One-sided constraints are
    taken as equalities, as at their limit with contact kept; `assumption` says so.

    >>> import sympy as sp
    >>> import zwang as zw
    >>> theta = zw.coordinates("theta")
    >>> m, g, l = zw.parameters("m g l")
    >>> x, y = l*sp.sin(theta), -l*sp.cos(theta)
    >>> pendulum = zw.System((theta,), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y)
    >>> zw.derive(pendulum).M
    Matrix([[l**2*m]])
    """
    system = system_of(system, "derive")
    with waiting("deriving the equations in symbols"):
        return as_derived(system).simplified()


def as_derived(system: "System") -> Equations:
    """The same as differentiation leaves it: at once, and for nobody to read."""
    description, plain = in_sympy(system)
    derived = derive_plain(description)
    n, m = len(system.coordinate_names), len(system.constraint_names)

    def matrix(rows: list[dict[int, Any]]) -> sp.ImmutableMatrix:
        return plain.back(sp.ImmutableMatrix(len(rows), n, lambda i, j: rows[i].get(j, 0)))

    def column(entries: list[Any]) -> sp.ImmutableMatrix:
        return plain.back(sp.ImmutableMatrix(len(entries), 1, entries))

    A = sp.ImmutableMatrix(m, n, lambda i, j: derived.A[i].get(j, 0))
    return Equations(
        coordinates=system.coordinates,
        names=system.constraint_names,
        M=matrix(derived.M),
        Q=column(derived.Q),
        A=matrix(derived.A),
        b=column(derived.b),
        C=column(derived.C),
        rows=exact.independent_rows(A),
        one_sided=tuple(c.name for c in system.constraints if c.one_sided),
    )
