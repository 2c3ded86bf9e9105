"""How to repeat the run: settings, versions, the model's text and the command."""

import platform
import shlex
from collections.abc import Mapping
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from zwang._version import __version__
from zwang.errors import InputError
from zwang.files.language.printer import expression_text
from zwang.model.signal import INTERPOLATIONS, Signal
from zwang.model.symbols import as_scalar
from zwang.model.values import named_like
from zwang.show.report.html import PageSection, details, number, paragraph, table
from zwang.show.report.opening import LONG_MESSAGE, seconds
from zwang.show.report.subject import Subject
from zwang.words import listed

MADE = (
    "The model was made in Python, and this motion of it has no model file; where one can be written, save_model does."
)
PACKAGES = ("numpy", "scipy", "sympy", "symengine", "llvmlite", "heyoka", "xarray")


def settings_section(subject: Subject) -> PageSection:
    """The section that lets a reader repeat the run."""
    body = [
        command(subject) if subject.model.text else paragraph(MADE),
        '<div class="columns">',
        table("Settings of the run", ("Setting", "Value"), settings(subject), "compact"),
        table("Versions", ("Program", "Version"), versions(subject), "compact"),
        "</div>",
    ]
    message = str(subject.motion.attrs["message"])
    if len(message) > LONG_MESSAGE:
        body.append(details("All remarks on the run", paragraph(message)))
    if subject.model.text.strip():
        text = f"<pre><code>{escape(subject.model.text)}</code></pre>"
        body.append(details(f"The model file, {subject.file_name}", text))
    return PageSection("repeat", "To repeat it", "\n".join(body))


def command(subject: Subject) -> str:
    """The command that repeats the run."""
    words = " ".join(f"<span>{escape(shlex.quote(word))}</span>" for word in repeat(subject))  # a line ends between two
    said = paragraph("This command repeats the run and writes this report.")
    tables = [str(getattr(f, "name", f)) for f, x in (subject.parameters or {}).items() if isinstance(x, Signal)]
    if tables:
        names = escape(listed(tables, 6))
        said += paragraph(f"It reads the tables that the run was driven by, of {names}, as CSV files.")
    return f'{said}\n<pre class="command"><code>{words}</code></pre>'


def input_words(name: str, value: Any) -> str:
    """What drives an input, as the command has it; a table goes by the name of its input."""
    if isinstance(value, Signal):
        return f"{name}.csv" if value.kind == INTERPOLATIONS[0] else f"{name}.csv,{value.kind}"
    try:
        return expression_text(as_scalar(value))
    except InputError:
        return str(value)


def settings(subject: Subject) -> list[tuple[str, str]]:
    """How the motion was computed and what it took."""
    a, run = subject.motion.attrs, subject.model.run
    drift = run.drift if isinstance(run.drift, str) else " ".join(map(str, run.drift))
    return [
        ("Engine", escape(str(a["method"]))),
        ("Form", escape(str(a["form"]))),
        *accuracy(a),
        ("Drift", escape(str(drift if str(a["drift"]) in drift else a["drift"]))),
        ("Start assembled", "yes" if run.assemble or subject.model.mechanism else "no"),
        ("Saved states", f"{subject.motion.sizes['time']:,}"),
        ("Steps", f"{int(a['steps']):,}"),
        ("Evaluations", f"{int(a['evaluations']):,}"),
        ("Compiling", seconds(float(a["compile_seconds"]))),
        ("Integrating", seconds(float(a["run_seconds"]))),
        ("In all", seconds(float(a["total_seconds"]))),
    ]


def accuracy(a: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What bounds the error: a tolerance; of steps, their length, and what they left of gaps and laws of contacts."""
    if a.get("contacts") != "steps":
        return [("Tolerance", number(float(a["tol"]), digits=3))]
    left = number(float(a["contact_residual"]), digits=2)
    return [
        ("Step", number(float(a["step"]), digits=3)),
        ("Deepest penetration", number(float(a["penetration"]), digits=2)),
        ("Laws of contacts hold to", f"{left} of the largest speed"),
    ]


def versions(subject: Subject) -> list[tuple[str, str]]:
    """What it was computed with."""
    own = str(subject.motion.attrs.get("zwang_version", __version__))
    found = [("zwang", own if own == __version__ else f"{own} (this report: {__version__})")]
    found.append(("Python", platform.python_version()))
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    found.append(("System", f"{platform.system()} {platform.machine()}"))
    return [(escape(name), escape(what)) for name, what in found]


def repeat(subject: Subject) -> list[str]:
    """The words of the command that repeats the run, with everything said that it could be said differently."""
    a, run = subject.motion.attrs, subject.model.run
    until = run.until if run.until is not None else (subject.span[1] if not subject.empty else 1.0)
    words = ["zwang", "run", subject.file_name, "--until", f"{until!r}"]
    samples = run.samples or subject.motion.sizes["time"]
    words += ["--samples", str(samples)]
    by_steps = a.get("contacts") == "steps"
    if by_steps:
        words += ["--contacts", "steps", "--step", f"{float(a['step'])!r}"]
    else:
        words += ["--tol", f"{float(a['tol'])!r}"]
        if run.max_step is not None:
            words += ["--max-step", f"{run.max_step!r}"]
        words += ["--method", str(a["method"]).partition(",")[0], "--form", str(a["form"])]
    if run.drift != "none" and not by_steps:
        words += ["--drift", run.drift if isinstance(run.drift, str) else ",".join(map(str, run.drift))]
    if subject.model.mechanism is None:  # those are put together in any case
        words.append("--assemble" if run.assemble else "--no-assemble")
    for key, value in (subject.parameters or {}).items():
        name, is_input = str(getattr(key, "name", key)), named_like(key, subject.system.inputs) is not None
        words += [*(("--input", f"{name}={input_words(name, value)}") if is_input else ("--set", f"{name}={value}"))]
    words += ["--report", f"{subject.file_name.rpartition('.')[0] or subject.file_name}.html"]
    return words
