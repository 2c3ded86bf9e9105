"""Mechanisms: bodies, joints and force elements, and what was read from another program's file."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from zwang.show.notebook.pieces import MOST_NAMES, MOST_ROWS, bounded, heading, names, value
from zwang.show.report.html import details, pairs
from zwang.words import count

if TYPE_CHECKING:
    from zwang.multibody.mechanism import Mechanism
    from zwang.multibody.readers.imported import Imported

MOST_LINES = 30  # of a list of what was read


def mechanism(given: "Mechanism") -> str:
    """A mechanism: what it is made of. Its system is not built for this."""
    facts = (
        count(len(given.bodies), "body", "bodies"),
        count(len(given.joints), "joint"),
        count(len(given.forces), "force element"),
        given.known_moved,
    )
    return heading("Mechanism", given.name, *facts) + tables(given)


def tables(given: "Mechanism") -> str:
    """Bodies, joints and force elements, the first ones of each."""
    bodies = [
        [escape(b.name), kind_of(b), value(getattr(b, "mass", None) or ""), names(own(b))]
        for b in given.bodies[:MOST_ROWS]
    ]
    joints = [[escape(j.name), kind_of(j), between(j), names(j.row_names)] for j in given.joints[:MOST_ROWS]]
    forces = [[escape(f.name), kind_of(f), acted_on(f)] for f in given.forces[:MOST_ROWS]]
    return (
        bounded("Bodies", ("Body", "Kind", "Mass", "Coordinates"), bodies, "", len(given.bodies))
        + bounded("Joints", ("Joint", "Kind", "Between", "Constraints"), joints, "", len(given.joints))
        + bounded("Forces", ("Force element", "Kind", "Acts on"), forces, "", len(given.forces))
    )


def kind_of(given: object) -> str:
    """What a part of a mechanism is called."""
    return escape(type(given).__name__)


def own(body: Any) -> list[str]:
    """The names of a body's coordinates."""
    return [q.func.__name__ for q in body.coordinates]


def between(joint: Any) -> str:
    """The bodies that a joint is between; the joint that a driver moves."""
    ends = [getattr(joint, end, None) for end in ("first", "second", "joint")]
    return names(end.name for end in ends if end is not None)


def acted_on(element: Any) -> str:
    """The bodies or joints that a force element names; one that names none acts on all."""
    named = [each.name for each in (*element.bodies, *element.joints)]
    return names(named) if named else "all bodies"


def part(given: Any) -> str:
    """A body, joint, force element or solid: its arguments that say something."""
    found = []
    for f in fields(given) if is_dataclass(given) else ():
        said = getattr(given, f.name)
        empty = said is None or (isinstance(said, tuple | list | str) and not said)
        if f.name != "name" and not empty:
            found.append((f.name, value(said)))
    return heading(type(given).__name__, getattr(given, "name", "")) + pairs(found[:MOST_NAMES])


def imported(given: "Imported") -> str:
    """What was read from a file, what to mind, what was left out, and the mechanism that it makes."""
    facts = [f"{len(given.read)} read", f"{len(given.ignored)} ignored", count(len(given.warnings), "warning")]
    lists = "".join(
        folded(title, lines)
        for title, lines in (("Warnings", given.warnings), ("Read", given.read), ("Ignored", given.ignored))
        if lines
    )
    return heading("Imported", given.mechanism.name, *facts) + lists + tables(given.mechanism)


def folded(title: str, lines: Sequence[str]) -> str:
    """A list to unfold; what is to be minded stands open."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines[:MOST_LINES])
    more = f"<li>… and {len(lines) - MOST_LINES} more</li>" if len(lines) > MOST_LINES else ""
    body = f"<ul>{items}{more}</ul>"
    return f"<p>{escape(title)}</p>{body}" if title == "Warnings" else details(f"{title}: {len(lines)}", body)
