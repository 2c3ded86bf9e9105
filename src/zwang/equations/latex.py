"""Equations of motion as LaTeX that a person would put in a paper."""

from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.physics.vector.printing import vlatex

from zwang.linalg import exact
from zwang.symbols import t

if TYPE_CHECKING:
    from zwang.equations.equations import Equations

# Each form in general; Q is written for the whole given force, Q + C where constraints are nonideal.
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
    key = choice.get("equation", "S0 29") if form == "generalized-inverse" else form
    lines = [GENERAL[key].replace("Q", r"\left(Q + C\right)") if any(equations.C) else GENERAL[key]]
    lines.append(
        rf"q = {vector(equations.coordinates)},\quad M = {vlatex(equations.M)},\quad Q = {vlatex(equations.Q)}"
    )
    if any(equations.C):
        lines.append(rf"C = {vlatex(equations.C)}")
    if equations.names:
        lines.append(
            rf"A = {vlatex(equations.A)},\quad b = {vlatex(equations.b)},"
            rf"\quad \operatorname{{rank}} A = {equations.rank}"
        )
    if form == "gibbs-appell":
        lines.append(gibbs_appell_lines(equations, choice))
    if form == "lagrange" and equations.names:
        lines.append(rf"\lambda = {vlatex(equations.multipliers())}{family(equations)}")
    acceleration = equations.acceleration(form=form, **choice)
    lines += [f"{vlatex(q.diff(t, 2))} = {vlatex(a)}" for q, a in zip(equations.coordinates, acceleration, strict=True)]
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
    return rf"{vlatex(matrix)}{vector(kept)} = {vlatex(right)}"


def family(equations: "Equations") -> str:
    """What may be added to the multipliers where they are not unique."""
    null_space = equations.null_space()
    if not null_space.cols:
        return ""
    free = sp.Matrix(sp.symbols(f"w_1:{null_space.cols + 1}"))
    return rf" + {vlatex(null_space)}{vlatex(free)}"


def vector(entries: Any) -> str:
    """A column vector."""
    return str(vlatex(sp.Matrix(list(entries))))
