"""Equations of motion as LaTeX that a person would put in a paper."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.physics.vector.printing import vlatex

from zwang.formulations.forms import DEFAULT, FORMS
from zwang.linalg import exact
from zwang.model.event import REACTION
from zwang.model.symbols import t

PLAIN = re.compile(r"\w[\w.]*")
MOST_ROWS, MOST = 12, 1200  # rows of a matrix that is read as a formula, and operations of all matrices together


class EquationsInSymbols(Protocol):
    """What is written: `Equations`, as far as this file reads them. It stands here so that only they import it."""

    @property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """The coordinates, as they are written in q."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the constraints."""

    @property
    def M(self) -> sp.ImmutableMatrix:
        """The mass matrix."""

    @property
    def Q(self) -> sp.ImmutableMatrix:
        """The impressed forces."""

    @property
    def A(self) -> sp.ImmutableMatrix:
        """The constraints' rows."""

    @property
    def b(self) -> sp.ImmutableMatrix:
        """Their right-hand sides."""

    @property
    def C(self) -> sp.ImmutableMatrix:
        """The nonideal forces."""

    @property
    def rows(self) -> tuple[int, ...]:
        """The independent rows."""

    @property
    def rank(self) -> int:
        """How many they are."""

    @property
    def reactions(self) -> dict[int, sp.Symbol]:
        """The multipliers that occur in C, by constraint."""

    def acceleration(self, form: str = ..., **choice: Any) -> sp.ImmutableMatrix:
        """q̈ by a form."""

    def multipliers(self) -> sp.ImmutableMatrix:
        """λ of least norm."""

    def null_space(self) -> sp.ImmutableMatrix:
        """What may be added to λ."""

    def gibbs_appell_system(self, eliminate: Any) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """Matrix and right-hand side for the accelerations that are kept."""


def document(equations: EquationsInSymbols, form: str, choice: dict[str, Any]) -> str:
    """An `aligned` block: the form in general, its matrices, what was assumed, and q̈ written out.

    Where C depends on multipliers, so does q̈; what these solve is written out as well.
    """
    lines = setting(equations, form, choice)
    lines += beside(equations, form, choice)
    if equations.reactions:
        found = equations.multipliers()
        lines += [f"{latex(symbol)} = {latex(found[i])}" for i, symbol in equations.reactions.items()]
    acceleration = equations.acceleration(form=form, **choice)
    lines += [f"{latex(q.diff(t, 2))} = {latex(a)}" for q, a in zip(equations.coordinates, acceleration, strict=True)]
    return aligned(lines)


def setting(equations: EquationsInSymbols, form: str, choice: dict[str, Any]) -> list[str]:
    """The form in general and its matrices: what can be written down at once, however large the system is."""
    lines = [general(form, choice, bool(equations.names), any(equations.C))]
    lines.append(rf"q = {vector(equations.coordinates)},\quad M = {latex(equations.M)},\quad Q = {latex(equations.Q)}")
    if any(equations.C):
        lines.append(rf"C = {latex(equations.C)}")
    if equations.names:
        lines.append(
            rf"A = {latex(equations.A)},\quad b = {latex(equations.b)},"
            rf"\quad \operatorname{{rank}} A = {equations.rank}"
        )
    return lines


def for_notebooks(equations: EquationsInSymbols) -> str | None:
    """The matrices as a displayed formula; None where they are too large to read, or where a name is not a plain word.

    Whoever shows this hands it to a program that knows TeX's commands, so that no name may be one.
    """
    matrices = (equations.M, equations.Q, equations.A, equations.b, equations.C)
    if max(equations.M.rows, equations.A.rows) > MOST_ROWS or exact.operations([e for X in matrices for e in X]) > MOST:
        return None
    used = set().union(*(X.free_symbols | X.atoms(AppliedUndef) for X in matrices), equations.coordinates)
    if not all(PLAIN.fullmatch(str(e.func.__name__ if isinstance(e, AppliedUndef) else e)) for e in used):
        return None
    return f"$$\n{aligned(setting(equations, DEFAULT, {}))}\n$$"


def general(form: str, choice: Mapping[str, Any], constrained: bool, nonideal: bool) -> str:
    """A form in general; where constraints are nonideal, F = Q + C takes the place of Q."""
    text = FORMS[form].equation(choice) if constrained else r"M\ddot{q} = Q"
    return text.replace("Q", "F") + r",\quad F = Q + C" if nonideal else text


def beside(equations: EquationsInSymbols, form: str, choice: Mapping[str, Any]) -> list[str]:
    """What a form finds beside q̈, if that is worth a line."""
    kind = FORMS[form].beside
    return [BESIDE[kind](equations, choice)] if kind and equations.names else []


def aligned(lines: list[str]) -> str:
    """Lines as one block."""
    body = " \\\\\n".join("& " + line for line in lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def multipliers(equations: EquationsInSymbols, choice: Mapping[str, Any]) -> str:
    """The multipliers, and what may be added to them."""
    return rf"\lambda = {latex(equations.multipliers())}{family(equations)}"


def reduced_system(equations: EquationsInSymbols, choice: Mapping[str, Any]) -> str:
    """The equations for the accelerations that are not eliminated, in matrix form."""
    chosen = choice.get("eliminate")
    if chosen is None:
        G = equations.A.extract(list(equations.rows), list(range(equations.A.cols)))
        chosen = [equations.coordinates[j] for j in exact.independent_rows(G.T)]
    matrix, right = equations.gibbs_appell_system(chosen)
    kept = [q.diff(t, 2) for q in equations.coordinates if q not in chosen]
    return rf"{latex(matrix)}{vector(kept)} = {latex(right)}"


def family(equations: EquationsInSymbols) -> str:
    """What may be added to the multipliers where they are not unique."""
    null_space = equations.null_space()
    if not null_space.cols:
        return ""
    free = vector(sp.symbols(f"w_1:{null_space.cols + 1}")) if null_space.cols > 1 else "w"
    return rf" + {latex(null_space)} {free}"


def vector(entries: Any) -> str:
    """A column vector."""
    return latex(sp.Matrix(list(entries)))


def latex(expression: Any) -> str:
    """LaTeX with dots for rates; an unspecified h(x, y, t) is written h, and its partial derivatives h_x, h_t."""
    names: dict[sp.Basic, sp.Symbol] = {}
    for e in expression.atoms(sp.Subs, sp.Derivative, AppliedUndef):
        derivative = e.expr if isinstance(e, sp.Subs) else e
        function = derivative.expr if isinstance(derivative, sp.Derivative) else derivative
        if isinstance(function, AppliedUndef) and function.args != (t,):
            variables = derivative.variables if function is not derivative else ()
            if isinstance(e, sp.Subs):
                variables = [dict(zip(e.variables, e.point, strict=True)).get(s, s) for s in variables]
            index = "".join(vlatex(s) for s in variables)
            name = sp.latex(sp.Symbol(function.func.__name__))
            names[e] = sp.Symbol(rf"{name}_{{{index}}}" if index else name)
    for e in expression.free_symbols:
        if reaction := REACTION.fullmatch(e.name):
            letter = r"\lambda" if reaction[1] == "multiplier" else "Q"
            names[e] = sp.Symbol(rf"{letter}_{{\mathrm{{{escaped(reaction[2])}}}}}")
    return str(vlatex(expression.xreplace(names)))


def escaped(name: str) -> str:
    """A name for TeX, with none of its commands."""
    return "".join(rf"\{c}" if c in "_&%$#{}" else c for c in name if c not in "\\^~")


BESIDE: dict[str, Callable[..., str]] = {"multipliers": multipliers, "reduced system": reduced_system}
