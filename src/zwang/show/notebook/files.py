"""Models as files describe them, and systems that come from functions."""

from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING

from zwang.model.event import Event
from zwang.model.symbols import label
from zwang.show.notebook.mechanism import tables
from zwang.show.notebook.model import ledger, parts_of, start_of
from zwang.show.notebook.pieces import bounded, heading, names, value
from zwang.show.report.html import pairs, paragraph
from zwang.show.report.math import Notation
from zwang.words import count, shortened

if TYPE_CHECKING:
    from zwang.files.model_file import ModelFile
    from zwang.motion.blackbox import BlackBox

LONGEST = 800  # characters of a description


def model_file(given: "ModelFile") -> str:
    """A model: its description, its system or its bodies, where it begins, how it runs and what is watched."""
    system = given.system
    facts = (
        count(len(system.coordinate_names), "coordinate"),
        count(len(system.constraint_names), "constraint"),
        given.path.name if given.path else "",
    )
    body = [heading("Model", system.name, *facts)]
    if given.description:
        body.append(paragraph(shortened(given.description, LONGEST)))
    if given.mechanism is not None:
        body.append(tables(given.mechanism))
    else:
        body += [parts_of(system), ledger(system), start_of(given.start, system)]
    events = [[escape(e.name), Notation.of([e.expression]).show(e.expression), then(e)] for e in given.events]
    body.append(bounded("Events", ("Event", "What crosses zero", "And then"), events))
    run = [(f.name, value(getattr(given.run, f.name))) for f in fields(given.run) if changed(given, f.name)]
    body.append(pairs([("Run", ", ".join(f"{escape(name)} = {said}" for name, said in run))]) if run else "")
    return "".join(body)


def changed(given: "ModelFile", name: str) -> bool:
    """Whether a setting of the run is not what it would be by itself."""
    said = getattr(given.run, name)
    return bool(said != getattr(type(given.run)(), name))


def black_box(given: "BlackBox") -> str:
    """A black box: its names, and which of its functions are constants."""
    entries = [("Coordinates", names(given.coordinates))]
    if given.constraints is not None:
        entries.append(("Constraints", names(given.constraints)))
    for name in ("M", "Q", "A", "b", "C"):
        function = getattr(given, name)
        if function is not None:
            entries.append((name, "a function" if callable(function) else "constant"))
    return heading("Black box", given.name, count(len(given.coordinates), "coordinate")) + pairs(entries)


def then(event: Event) -> str:
    """What an event does."""
    sets = f"sets {', '.join(escape(label(key)) for key in event.reset)}" if event.reset else ""
    return " and ".join(filter(None, (sets, "stops" if event.stop else ""))) or "is recorded"
