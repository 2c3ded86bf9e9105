"""From a noun to its HTML: who writes which, in what frame, and for how long."""

from collections.abc import Callable
from html import escape
from typing import Any

from zwang.show.notebook.equations import equations
from zwang.show.notebook.files import black_box, model_file
from zwang.show.notebook.mechanism import imported, mechanism, part
from zwang.show.notebook.model import constraint, drawing, event, shape, signal, system
from zwang.show.notebook.numbers import equilibrium, fit, solution, stepper, verdict
from zwang.show.player import asset
from zwang.time_limit import within

SECONDS = 1.0  # of processor time; whoever waits for a cell does not wait for its picture

WRITERS: dict[str, Callable[[Any], str]] = {
    "System": system,
    "Constraint": constraint,
    "Event": event,
    "Signal": signal,
    "Drawing": drawing,
    "Shape": shape,
    "Equations": equations,
    "Verdict": verdict,
    "Equilibrium": equilibrium,
    "Fit": fit,
    "Solution": solution,
    "Stepper": stepper,
    "Mechanism": mechanism,
    "MechanismPart": part,
    "Solid": part,
    "Step": part,
    "Imported": imported,
    "ModelFile": model_file,
    "BlackBox": black_box,
}
"""By the name of a class: whatever is shown has imported its own class, and no other one is imported for it."""


def html(noun: object) -> str | None:
    """What a notebook shows of a noun; its line of text where that takes too long, None where nothing can be said.

    It never raises: an output that cannot be drawn must not take the place of the one that was computed.
    """
    try:
        writer = next(WRITERS[kind.__name__] for kind in type(noun).__mro__ if kind.__name__ in WRITERS)
        body = within(SECONDS, lambda: writer(noun))
        return framed(body or f"<p><code>{escape(repr(noun))}</code></p>")
    except Exception:
        return None


def framed(body: str) -> str:
    """A piece of HTML with the style that it needs, which touches nothing else on the page."""
    return f'<div class="zwang"><style>{asset("notebook.css")}</style>{body}</div>'
