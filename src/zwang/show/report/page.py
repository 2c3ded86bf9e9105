"""The report: a model and its motion as one HTML file that needs nothing from outside.

It asks the browser itself to forbid every request (its content security policy), and everything that comes from the
model is escaped, so that a report can be opened whoever sent it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from zwang.errors import InputError
from zwang.files.made import model_of
from zwang.files.model_file import ModelFile, Run
from zwang.files.write import model_text
from zwang.model import System
from zwang.model.has_system import HasSystem
from zwang.results.inputs import changed_values
from zwang.show.player import asset, player_html, whole_page
from zwang.show.quantities import require_motion
from zwang.show.report.analyses.answers import answer_sections
from zwang.show.report.checks import checks_section
from zwang.show.report.contacts import contacts_section
from zwang.show.report.equations import equations_section
from zwang.show.report.figures import Plots, figures_section
from zwang.show.report.html import MOST_LISTED, POLICY, SCRIPTLESS, PageSection, details, inert_json, paragraph
from zwang.show.report.joints import joints_section
from zwang.show.report.ledger import ledger_section
from zwang.show.report.opening import header, told
from zwang.show.report.settings import settings_section
from zwang.show.report.subject import Subject
from zwang.show.report.system import system_section
from zwang.waiting import waiting
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr


def report(
    model: System | HasSystem,
    motion: "xr.Dataset",
    *,
    forms: Sequence[str] = ("fundamental",),
    parameters: Mapping[Any, Any] | None = None,
    checks: bool = True,
) -> str:
    """A motion of a system, a mechanism or a model as one HTML page to read, to print and to hand on.

    `parameters` stand in the place of those that the motion was computed with, `forms` are the forms of the equations
    of motion to show. With `checks` the motion is computed again in other forms, by other engines and with
    other tolerances.
    """
    require_motion(motion, "report")
    described = model_of(model, "report")
    require_its_motion(described, motion)
    parameters = changed_values(described.system, motion, parameters)
    described = described.with_parameters(parameters)
    if not described.text:
        described = with_text(described, motion, parameters)
    if "drawing" not in motion and motion.sizes["time"]:
        motion = described.dressed(motion, parameters)
    return report_on(Subject(described, motion, parameters), forms, checks)


NEEDED = ("status", "message", "method", "form", "tol", "drift")  # attributes of a motion that a report tells of


def require_its_motion(model: ModelFile, motion: "xr.Dataset") -> None:
    """Refuse a motion of many samples, and one of another system."""
    if "sample" in motion.dims:
        raise InputError("this is a motion of many samples: choose one to report on, motion.isel(sample=0)")
    missing = [name for name in NEEDED if name not in motion.attrs]
    missing += [name for name in ("v", "unique", "constraint") if name not in motion]
    if missing:
        raise InputError(
            f"a report takes a motion as simulate gives it, and this one has no {listed(missing, 6)}: simulate it with "
            f"all outputs"
        )
    names, own = tuple(map(str, motion.coordinate.values)), model.system.coordinate_names
    if names != own:
        raise InputError(
            f"this motion is not one of this system: its coordinates are {listed(names, 6)}, those of the system "
            f"{listed(own, 6)}"
        )
    rows = tuple(map(str, motion.constraint.values))
    if rows != tuple(model.system.constraint_names):
        raise InputError(
            f"this motion is not one of this system: its constraints are {listed(rows, 6) or 'none'}, those of the "
            f"system {listed(model.system.constraint_names, 6) or 'none'}"
        )


def with_text(model: ModelFile, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None) -> ModelFile:
    """A model that was made in Python, with the text of a model file that repeats this motion, if there is one."""
    if motion.sizes["time"] < 2:
        return model
    a, times, first = motion.attrs, motion.time.values, motion.isel(time=0)
    state = zip([*model.system.coordinates, *model.system.velocities], [*first.q.values, *first.v.values], strict=True)
    run = Run(float(times[-1]), len(times), float(times[0]), tol=float(a["tol"]), drift=str(a["drift"]))
    run = replace(run, method=str(a["method"]).partition(",")[0], form=str(a["form"]))
    if a.get("contacts") == "steps":
        run = Run(run.until, run.samples, run.begin, contacts="steps", step=float(a["step"]))
    start = {key: float(value) for key, value in state}
    inputs = {f: value for f, value in (parameters or {}).items() if f in model.system.inputs}
    used = {s for value in inputs.values() for s in getattr(value, "free_symbols", ())}
    numbers = {s: value for s, value in (parameters or {}).items() if s in used}  # what the inputs are made of
    made = replace(with_inputs(model, inputs | numbers), run=run, start=start)
    if any(made.system.inputs[f] != value for f, value in inputs.items()):
        return replace(model, run=run, start=start)  # a part of the mechanism has an input of its own
    if made.mechanism is not None and made.mechanism.assembled(parameters, run.begin) != made.start:
        return made  # it began elsewhere, which no file of bodies says
    try:
        return replace(made, text=model_text(made))
    except InputError:
        return made


def with_inputs(model: ModelFile, inputs: Mapping[Any, Any]) -> ModelFile:
    """A model whose inputs are those of its motion, where it was driven by others than its own."""
    if not inputs:
        return model
    if (made := model.mechanism) is None:
        return replace(model, system=replace(model.system, parameters={**model.system.parameters, **inputs}))
    made = replace(made, parameters={**made.parameters, **inputs})
    return replace(model, mechanism=made, system=made.system)


@waiting("writing the report")
def report_on(subject: Subject, forms: Sequence[str] = ("fundamental",), checks: bool = True) -> str:
    """The same of a subject that may know the start of its motion already."""
    plots = Plots.of(subject)
    sections = [
        animation_section(subject),
        warnings_section(subject),
        system_section(subject),
        equations_section(subject, forms),
        ledger_section(subject),
        figures_section(subject, plots),
        contacts_section(subject),
        joints_section(subject, plots),
        *answer_sections(subject, plots),
        checks_section(subject, plots, checks),
        settings_section(subject),
    ]
    return page(subject, [section for section in sections if section is not None], plots)


def animation_section(subject: Subject) -> PageSection | None:
    """The animation, where the model says what to draw."""
    if "drawing" not in subject.motion or subject.empty:
        return None
    return PageSection("animation", "Animation", player_html(subject.motion, "animation-player"))


def warnings_section(subject: Subject) -> PageSection | None:
    """What was mended in a robot's file, or left out although it changes the motion; the first ones stand open."""
    items = [f"<li>{escape(words)}</li>" for words in subject.model.warnings]
    if not items:
        return None
    said = paragraph("The robot's file was not read quite as it stands; the motion is that of the mended model.")
    first, more = items[:MOST_LISTED], items[MOST_LISTED:]
    rest = details(f"{len(more)} more", f'<ul class="warnings">{"".join(more)}</ul>') if more else ""
    return PageSection("warnings", "Mended or left out", f'{said}\n<ul class="warnings">{"".join(first)}</ul>{rest}')


def page(subject: Subject, sections: list[PageSection], plots: Plots) -> str:
    """The whole file."""
    contents = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in sections)
    head = f'{header(subject)}\n<nav aria-label="Contents"><ul>{contents}</ul></nav>'
    scripts = ""
    if plots.figures:
        own = asset("report-plots.js") + asset("report.js")
        scripts = f'<svg id="report-svg" hidden></svg>\n<script>(() => {{\n"use strict";\n{own}}})();</script>'
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
    main = f"<main>\n{head}\n{body}\n<footer><p>Made with zwang.</p></footer>\n</main>\n{after}"
    return whole_page(escape(title), policy, "report.css", main)
