"""Equations of motion as LaTeX that a person would put in a paper."""

from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.physics.vector.printing import vlatex

from zwang.linalg import exact
from zwang.symbols import t

if TYPE_CHECKING:
    from zwang.equations.equations import Equations

# Each form in general; where constraints are nonideal, F = Q + C takes the place of Q.
GENERAL = {
    "fundamental": r"M\ddot{q} = Q + A^{\mathsf T}\left(A M^{-1} A^{\mathsf T}\right)^{+}\left(b - A M^{-1} Q\right)",
    "S0 29": r"\ddot{q} = \left\{A^{-} - P H^{-} M^{1/2} A^{-}\right\} b + P H^{-} M^{-1/2} Q,\quad "
    r"P = I - A^{-}A,\quad H = M^{1/2} P",
    "S3 24": r"\ddot{q} = M^{-1} Q + M^{-1/2}\left(A M^{-1/2}\right)^{(1,4)}\left(b - A M^{-1} Q\right)",
    "S3 26": r"M\ddot{q} = Q + A^{\mathsf T}\left(A M^{-1} A^{\mathsf T}\right)^{(1)}\left(b - A M^{-1} Q\right)",
    "gauss": r"\min_{\ddot{q}}\ \tfrac12\left(\ddot{q} - M^{-1}Q\right)^{\mathsf T} M "
    r"\left(\ddot{q} - M^{-1}Q\right)\quad\text{subject to}\quad A\ddot{q} = b",
    "gibbs-appell": r"\left(M_{II} + R^{\mathsf T}M_{ee}R - M_{Ie}R - R^{\mathsf T}M_{eI}\right)\ddot{q}_I = "
    r"Q_I - R^{\mathsf T}Q_e + \left(R^{\mathsf T}M_{ee} - M_{Ie}\right)A_e^{+}b,\quad "
    r"\ddot{q}_e = A_e^{+}b - R\,\ddot{q}_I,\quad R = A_e^{+}A_I",
    "lagrange": r"M\ddot{q} = Q + A^{\mathsf T}\lambda,\qquad A\ddot{q} = b",
}


def document(equations: "Equations", form: str, choice: dict[str, Any]) -> str:
    """An `aligned` block: the form in general, its matrices, what was assumed, and q̈ written out."""
    lines = setting(equations, form, choice)
    if form == "gibbs-appell" and equations.names:
        lines.append(gibbs_appell_lines(equations, choice))
    if form == "lagrange" and equations.names:
        lines.append(rf"\lambda = {latex(equations.multipliers())}{family(equations)}")
    acceleration = equations.acceleration(form=form, **choice)
    lines += [f"{latex(q.diff(t, 2))} = {latex(a)}" for q, a in zip(equations.coordinates, acceleration, strict=True)]
    return aligned(lines)


def setting(equations: "Equations", form: str, choice: dict[str, Any]) -> list[str]:
    """The form in general and its matrices: what can be written down at once, however large the system is."""
    key = choice.get("equation", "S0 29") if form == "generalized-inverse" else form
    general = GENERAL[key] if equations.names else r"M\ddot{q} = Q"
    lines = [general.replace("Q", "F") + r",\quad F = Q + C" if any(equations.C) else general]
    lines.append(rf"q = {vector(equations.coordinates)},\quad M = {latex(equations.M)},\quad Q = {latex(equations.Q)}")
    if any(equations.C):
        lines.append(rf"C = {latex(equations.C)}")
    if equations.names:
        lines.append(
            rf"A = {latex(equations.A)},\quad b = {latex(equations.b)},"
            rf"\quad \operatorname{{rank}} A = {equations.rank}"
        )
    return lines


def aligned(lines: list[str]) -> str:
    """Lines as one block."""
    body = " \\\\\n".join("& " + line for line in lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def gibbs_appell_lines(equations: "Equations", choice: dict[str, Any]) -> str:
    """The equations for the accelerations that are not eliminated, in matrix form."""
    chosen = choice.get("eliminate")
    if chosen is None:
        G = equations.A.extract(list(equations.rows), list(range(equations.A.cols)))
        chosen = [equations.coordinates[j] for j in exact.independent_rows(G.T)]
    matrix, right = equations.gibbs_appell_system(chosen)
    kept = [q.diff(t, 2) for q in equations.coordinates if q not in chosen]
    return rf"{latex(matrix)}{vector(kept)} = {latex(right)}"


def family(equations: "Equations") -> str:
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
    return str(vlatex(expression.xreplace(names)))
