"""The report: a model and its motion as one HTML file that needs nothing from outside.

It asks the browser itself to forbid every request (its content security policy), and everything that comes from the
model is escaped, so that a report can be opened whoever sent it.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from zwang.files.model_file import ModelFile
from zwang.show.player import asset, player_html
from zwang.show.report.checks import checks_section
from zwang.show.report.equations import equations_section
from zwang.show.report.figures import Plots, figures_section
from zwang.show.report.html import POLICY, SCRIPTLESS, PageSection, inert_json
from zwang.show.report.joints import joints_section
from zwang.show.report.ledger import ledger_section
from zwang.show.report.opening import header, told
from zwang.show.report.settings import settings_section
from zwang.show.report.subject import Subject
from zwang.show.report.system import system_section

if TYPE_CHECKING:
    import xarray as xr


def report(
    model: ModelFile,
    motion: "xr.Dataset",
    *,
    forms: Sequence[str] = ("fundamental",),
    parameters: Mapping[Any, Any] | None = None,
    checks: bool = True,
) -> str:
    """A motion of a model as one HTML page to read, to print and to hand on.

    `parameters` are those given to `simulate`, `forms` the forms of the equations of motion to show. With `checks`
    the motion is computed again in other forms, by other engines and with other tolerances.
    """
    return report_on(Subject(model.with_parameters(parameters), motion, parameters), forms, checks)


def report_on(subject: Subject, forms: Sequence[str] = ("fundamental",), checks: bool = True) -> str:
    """The same of a subject that may know the start of its motion already."""
    plots = Plots.of(subject)
    sections = [
        animation_section(subject),
        system_section(subject),
        equations_section(subject, forms),
        ledger_section(subject),
        figures_section(subject, plots),
        joints_section(subject, plots),
        checks_section(subject, plots, checks),
        settings_section(subject),
    ]
    return page(subject, [section for section in sections if section is not None], plots)


def animation_section(subject: Subject) -> PageSection | None:
    """The animation, where the model says what to draw."""
    if "drawing" not in subject.motion or subject.empty:
        return None
    return PageSection("animation", "Animation", player_html(subject.motion, "animation-player"))


def page(subject: Subject, sections: list[PageSection], plots: Plots) -> str:
    """The whole file."""
    from plotly.offline import get_plotlyjs

    contents = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in sections)
    head = f'{header(subject)}\n<nav aria-label="Contents"><ul>{contents}</ul></nav>'
    scripts = f"<script>{get_plotlyjs()}</script>\n<script>{asset('report.js')}</script>" if plots.figures else ""
    after = f"""<noscript><p class="note">Plots and animation need JavaScript; everything else is here.</p></noscript>
<script type="application/json" id="report-data">{inert_json(plots.data)}</script>
{scripts}
"""
    return document(subject.name, POLICY, head, sections, after)


def equations_page(model: ModelFile, forms: Sequence[str]) -> str:
    """The equations of a model in some forms as a page of their own: MathML, which needs no script."""
    import xarray as xr

    subject = Subject(model, xr.Dataset())  # of the motion it takes nothing
    head = f"<header><h1>{escape(subject.name)}</h1>{told(subject)}</header>"
    return document(subject.name, SCRIPTLESS, head, [equations_section(subject, forms)])


def document(title: str, policy: str, head: str, sections: list[PageSection], after: str = "") -> str:
    """A page in our style; `after` follows what is to be read."""
    body = "\n".join(section.html for section in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{asset("report.css")}</style>
</head>
<body>
<main>
{head}
{body}
<footer><p>Made with zwang.</p></footer>
</main>
{after}</body>
</html>
"""
