"""The forms of the equations of motion: what each of them says and can do, declared once.

Everything that offers forms reads this table: `solve` and `derive`, the engines, the command and its help, the report,
`zwang compare`, messages, tables in the documentation and tests over all forms. So a new form is one file in this
folder, with its equation for arrays and for SymPy matrices, and one entry here.

The command reads this table before anything else, so nothing that is slow to import may be imported here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any

DEFAULT = "fundamental"


class Elimination(Enum):
    """In which order the unknowns of a form are eliminated where it is integrated."""

    ROWS_BETWEEN = "each constraint right after the coordinates that it holds"
    COORDINATES_FIRST = "all coordinates, then the constraints"
    BY_CONSTRAINTS = "as many accelerations as there are independent constraints, by these"


@dataclass(frozen=True)
class Form:
    """A form of the equations of motion.

    `solve(scaled, **choice)` gives q̈ (k, n) of a stack of systems, which are a `formulations.solve.Scaled`; a form
    without it is what `formulations.solve` itself does. `exact(M, Q, A, b, rows, **choice)` gives q̈ as a SymPy matrix,
    from M, Q, A, b and the places of independent rows of A.
    """

    title: str
    how: str
    """A sentence on what it does."""
    text: str
    """The equation in a line or two of text."""
    latex: str
    theory: tuple[str, str]
    """The numbers of its equations in docs/theory.md, and the heading under which they are."""
    needs: str
    cost: str
    purpose: str
    """What it is good for."""
    exact: Callable[..., Any]
    solve: Callable[..., Any] | None = None
    choices: tuple[str, ...] = ()
    """Keywords that it takes in `solve`, `evaluate` and `derive`."""
    checked: Callable[..., dict[str, Any]] | None = None
    """`checked(shape, **choice)` gives the choices for a stack of that shape as `solve` takes them, or refuses them."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """LaTeX of its other equations, by what `equation` is called."""
    elimination: Elimination | None = None
    """How it is integrated; None if it is not."""
    beside: str = ""
    """What it finds beside q̈ that is worth writing out: "multipliers" or "reduced system"."""

    @property
    def integrable(self) -> bool:
        """Whether engines can integrate it."""
        return self.elimination is not None

    @property
    def eliminates(self) -> bool:
        """Whether accelerations are eliminated by independent rows, which then must be chosen anew on the way."""
        return self.elimination is Elimination.BY_CONSTRAINTS

    def equation(self, choice: Mapping[str, Any]) -> str:
        """The equation in LaTeX, as chosen."""
        return self.variants.get(choice.get("equation", ""), self.latex)


def integrable() -> tuple[str, ...]:
    """The names of the forms that engines can integrate."""
    return tuple(name for name, form in FORMS.items() if form.integrable)


def late(module: str, name: str) -> Callable[..., Any]:
    """A function of this folder that is imported when it is called."""

    def call(*args: Any, **choice: Any) -> Any:
        return getattr(import_module(f"zwang.formulations.{module}"), name)(*args, **choice)

    return call


FORMS: dict[str, Form] = {
    "fundamental": Form(
        title="Fundamental equation",
        how="Explicit at any rank of A, with the Moore–Penrose inverse (+): no multiplier is left to solve for.",
        text="M q̈ = Q + Aᵀ(A M⁻¹Aᵀ)⁺(b − A M⁻¹Q)",
        latex=r"M\ddot{q} = Q + A^{\mathsf T}\left(A M^{-1} A^{\mathsf T}\right)^{+}\left(b - A M^{-1} Q\right)",
        theory=("5", "2-the-fundamental-equation"),
        needs="rank [M; A] = n",
        cost="one sparse factorisation in motion; n³ + n²r for arrays",
        purpose="everything; the default, also with a singular M",
        exact=late("fundamental", "exact"),
        elimination=Elimination.ROWS_BETWEEN,
    ),
    "generalized-inverse": Form(
        title="Generalized inverses",
        how="The same acceleration with generalized inverses (−) that are less than Moore–Penrose.",
        text="q̈ = {A⁻ − P H⁻M^½ A⁻} b + P H⁻M^−½ Q,  P = I − A⁻A,  H = M^½ P",
        latex=r"\ddot{q} = \left\{A^{-} - P H^{-} M^{1/2} A^{-}\right\} b + P H^{-} M^{-1/2} Q,\quad "
        r"P = I - A^{-}A,\quad H = M^{1/2} P",
        variants={
            "S3 24": r"\ddot{q} = M^{-1} Q + M^{-1/2}\left(A M^{-1/2}\right)^{(1,4)}\left(b - A M^{-1} Q\right)",
            "S3 26": r"M\ddot{q} = Q + A^{\mathsf T}\left(A M^{-1} A^{\mathsf T}\right)^{(1)}"
            r"\left(b - A M^{-1} Q\right)",
        },
        theory=("15–17", "4-families-of-generalized-inverses"),
        needs="M positive definite",
        cost="a pseudo-inverse, the dearest",
        purpose="following the papers; checking an inverse of your own",
        exact=late("generalized_inverse", "exact"),
        solve=late("generalized_inverse", "solve"),
        choices=("equation", "inverse"),
        checked=late("generalized_inverse", "as_choice"),
    ),
    "gauss": Form(
        title="Gauss's principle",
        how="Of all accelerations that obey the constraints, the one that is least far from the free one.",
        text="q̈ makes ½ (q̈ − M⁻¹Q)ᵀM(q̈ − M⁻¹Q) least, subject to A q̈ = b",
        latex=r"\min_{\ddot{q}}\ \tfrac12\left(\ddot{q} - M^{-1}Q\right)^{\mathsf T} M "
        r"\left(\ddot{q} - M^{-1}Q\right)\quad\text{subject to}\quad A\ddot{q} = b",
        theory=("9", "3-gausss-principle"),
        needs="M positive definite",
        cost="a null space, then n − r unknowns",
        purpose="seeing the principle at work; few degrees of freedom",
        exact=late("gauss", "exact"),
        solve=late("gauss", "solve"),
    ),
    "gibbs-appell": Form(
        title="Gibbs–Appell equations",
        how="Some accelerations, indexed e, are eliminated by the constraints; I are those that remain.",
        text="q̈ₑ = Aₑ⁺b − R q̈ᵢ,  R = Aₑ⁺Aᵢ,\n(Mᵢᵢ + RᵀMₑₑR − MᵢₑR − RᵀMₑᵢ) q̈ᵢ = Qᵢ − RᵀQₑ + (RᵀMₑₑ − Mᵢₑ)Aₑ⁺b",
        latex=r"\left(M_{II} + R^{\mathsf T}M_{ee}R - M_{Ie}R - R^{\mathsf T}M_{eI}\right)\ddot{q}_I = "
        r"Q_I - R^{\mathsf T}Q_e + \left(R^{\mathsf T}M_{ee} - M_{Ie}\right)A_e^{+}b,\quad "
        r"\ddot{q}_e = A_e^{+}b - R\,\ddot{q}_I,\quad R = A_e^{+}A_I",
        theory=("19", "5-gibbsappell"),
        needs="columns that stay independent on the way; M positive definite for arrays",
        cost="n − r unknowns",
        purpose="few degrees of freedom; the choice of coordinates is yours (`eliminate=`), and in motion it is made "
        "anew where it fails",
        exact=late("gibbs_appell", "exact"),
        solve=late("gibbs_appell", "solve"),
        choices=("eliminate",),
        elimination=Elimination.BY_CONSTRAINTS,
        beside="reduced system",
    ),
    "lagrange": Form(
        title="Lagrange multipliers",
        how="The multipliers λ are unknowns beside the accelerations.",
        text="M q̈ = Q + Aᵀλ,  A q̈ = b",
        latex=r"M\ddot{q} = Q + A^{\mathsf T}\lambda,\qquad A\ddot{q} = b",
        theory=("20", "6-lagrange-and-which-multipliers-are-unique"),
        needs="M positive definite for arrays",
        cost="a system of n + r",
        purpose="comparing with textbooks and other programs",
        exact=late("lagrange", "exact"),
        solve=late("lagrange", "solve"),
        elimination=Elimination.COORDINATES_FIRST,
        beside="multipliers",
    ),
}
