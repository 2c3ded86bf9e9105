"""The report's beginning: what the system is, how it fared, in a paragraph and in figures."""

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from zwang.results.account import LEVELS
from zwang.results.units import with_unit
from zwang.show.report.html import MOST_LISTED, badge, number
from zwang.show.report.subject import Subject
from zwang.verdict import Verdict
from zwang.words import count, listed

LONG_MESSAGE = 400
CODE = re.compile(r"`([^`\n]+)`")


def header(subject: Subject) -> str:
    """The title, what the author says of the model, the summary and the key figures."""
    return (
        f'<header>\n<p class="kind">Motion of a constrained system {status(subject)}</p>\n'
        f'<h1>{escape(subject.name)}</h1>\n{told(subject)}\n<p class="summary">{" ".join(sentences(subject))}</p>\n'
        f"{tiles(subject)}\n</header>"
    )


def told(subject: Subject) -> str:
    """What the author says of the model; what stands in `backticks` is code."""
    words = CODE.sub(r"<code>\1</code>", escape(subject.model.description.strip()))
    return f'<p class="lead">{words}</p>' if words else ""


def status(subject: Subject) -> str:
    """How the motion ended, as a badge."""
    word = str(subject.motion.attrs["status"])
    if word == "event":
        return badge("stopped by an event", "good")
    return badge(word, "good" if subject.finished else "bad")


def sentences(subject: Subject) -> list[str]:
    """The summary, sentence by sentence, as HTML."""
    system, verdict = subject.system, subject.verdict
    n, m = len(system.coordinate_names), len(system.constraint_names)
    said = [f"{escape(subject.name)} is described by {count(n, 'coordinate')} and {kinds(subject)}."]
    if isinstance(verdict, str):
        said.append(f"There is no verdict on the constraints at the start: {escape(verdict)}")
    elif m:
        who = "It has" if m == 1 else "They have"
        said.append(f"{who} rank {verdict.rank} at the start, so {freedom(verdict)}.")
        said.append(escape(" ".join(verdict.conclusions)))
    if subject.moved is not None:
        words = escape(f"T{str(subject.moved)[1:]}.")
        said.append(f"<strong>{words}</strong>" if subject.moved.remarkable else words)
    said.append(ending(subject))
    if subject.motion.attrs.get("doubts"):
        said.append(f"<strong>{escape(subject.motion.attrs['doubts'])}</strong>")
    if subject.empty:
        return said
    gap, size = subject.balance
    unit = subject.unit("energy")
    share = f", {number(gap / size, digits=2)} of the largest energy on the way" if size else ""
    said.append(f"Its energy is accounted for to {number(gap, unit, 2)}{share}.")
    if m:
        found = worst(subject)
        said.append(f"The largest residual of any constraint is {number(found[0], digits=2)} ({escape(found[1])}).")
    return said


def freedom(verdict: Verdict) -> str:
    """How many degrees are left."""
    left = verdict.degrees_of_freedom
    if left == 0:
        return "no freedom remains"
    return f"{count(left, 'degree')} of freedom {'remains' if left == 1 else 'remain'}"


def kinds(subject: Subject) -> str:
    """How many constraints of which kinds."""
    constraints = subject.system.constraints
    if not constraints:
        return "no constraints"
    found = Counter(listed(kind_words(c.kinds)) for c in constraints)
    if len(found) == 1:
        each = {1: "", 2: "both "}.get(len(constraints), "all ")
        return f"{count(len(constraints), 'constraint')}, {each}{next(iter(found))}"
    parts = [f"{many} {kind}" for kind, many in found.items()]
    return f"{count(len(constraints), 'constraint')}: {listed(parts, MOST_LISTED)}"


def kind_words(kinds_of_one: tuple[str, ...]) -> list[str]:
    """The words that matter for a summary: holonomic or not, and what is out of the ordinary."""
    plain = ("scleronomic", "catastatic", "linear in velocity")
    return [word for word in kinds_of_one if word not in plain]


def ending(subject: Subject) -> str:
    """From when to when, and how it ended."""
    message = str(subject.motion.attrs["message"]).replace(str(subject.motion.attrs.get("doubts", "")), "").strip()
    if len(message) > LONG_MESSAGE:  # a run with a hundred remarks; the section on repeating it has them all
        message = f"{message[:LONG_MESSAGE].rpartition('. ')[0]}. There are more remarks, listed at the end."
    if subject.empty:
        return f"The motion did not begin: {escape(message)}"
    unit = subject.unit("time")
    begin, end = subject.span
    saved = "" if subject.finished else f" States are saved up to t = {number(end, unit, 6)}."
    return f"The motion began at t = {number(begin, unit)} and {escape(with_unit(message, unit))}{saved}"


def worst(subject: Subject) -> tuple[float, str]:
    """The largest residual of all, and which constraint at which level it belongs to."""
    found = [
        (value, f"{name}, in {level}")
        for name, both in subject.residuals.items()
        for value, level in zip(both, LEVELS.values(), strict=True)
        if value == value
    ]
    return max(found, default=(float("nan"), "none is read at position or velocity level"))


def tiles(subject: Subject) -> str:
    """The key figures."""
    a, verdict = subject.motion.attrs, subject.verdict
    n, m = len(subject.system.coordinate_names), len(subject.system.constraint_names)
    entries = [("coordinates", str(n), "")]
    if isinstance(verdict, Verdict):
        entries.append(("constraints", str(m), f"rank {verdict.rank}" if m else "none"))
        entries.append(("degrees of freedom", str(verdict.degrees_of_freedom), ""))
    if not subject.empty:
        (gap, size), unit = subject.balance, subject.unit("energy")
        entries.append(("energy balance", number(gap, unit, 2), f"of {number(size, unit, 3)}"))
        if m:
            entries.append(("largest residual", number(worst(subject)[0], digits=2), escape(worst(subject)[1])))
    entries.append(("steps", f"{int(a['steps']):,}", f"{int(a['evaluations']):,} evaluations"))
    entries.append(("computed in", seconds(float(a["run_seconds"])), f"{escape(str(a['method']))}, {accuracy_of(a)}"))
    cells = "".join(
        f'<li><span class="label">{label}</span><strong>{value}</strong><span class="more">{more}</span></li>'
        for label, value, more in entries
    )
    return f'<ul class="tiles" aria-label="Key figures">{cells}</ul>'


def seconds(value: float) -> str:
    """A duration for people."""
    if value < 0.1:
        return number(value * 1000, "ms", 2)
    return number(value, "s", 3)


def accuracy_of(a: Mapping[str, Any]) -> str:
    """What bounds the error, in short: the tolerance, or the length of steps."""
    return f"steps of {float(a['step']):g}" if a.get("contacts") == "steps" else f"tol {a['tol']:g}"
