"""The report's sections on what the model asks, in the order of its file."""

from collections.abc import Callable

from zwang.errors import ZwangError
from zwang.files.analyses.analysis import Analysis
from zwang.show.report.analyses.equilibrium import equilibrium_part
from zwang.show.report.analyses.fit import fit_part
from zwang.show.report.analyses.linear import linear_part
from zwang.show.report.analyses.motions import kinematics_part, lyapunov_part, periodic_part
from zwang.show.report.figures import Plots
from zwang.show.report.html import PageSection, paragraph
from zwang.show.report.subject import Subject

PARTS: dict[str, tuple[str, Callable[[Subject, Plots, Analysis], list[str]]]] = {
    "equilibrium": ("Equilibrium", equilibrium_part),
    "steady": ("Steady motion", equilibrium_part),
    "linear": ("Modes and state space", linear_part),
    "kinematics": ("Kinematics", kinematics_part),
    "periodic": ("Periodic motion", periodic_part),
    "lyapunov": ("Lyapunov exponents", lyapunov_part),
    "fit": ("Fit to measurements", fit_part),
}
"""The heading of each section of a file, and who writes it."""


def answer_sections(subject: Subject, plots: Plots) -> list[PageSection]:
    """A section for each one of the file that asks something; where there is no answer, it says why."""
    found = []
    for name, asks in subject.model.analyses.items():
        title, part = PARTS[name]
        try:
            body = part(subject, plots, asks)
        except ZwangError as error:
            body = [paragraph(f"There is no answer: {error}", "note")]
        found.append(PageSection(f"asked-{name}", title, "\n".join(body)))
    return found
