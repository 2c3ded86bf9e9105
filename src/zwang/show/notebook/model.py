"""What a model is made of: a system with its ledger, a constraint, an event, a signal, a drawing."""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.model.event import DIRECTIONS
from zwang.model.signal import Signal
from zwang.model.symbols import as_expression
from zwang.show.notebook.pieces import MOST_NAMES, MOST_ROWS, bounded, heading, value
from zwang.show.report.html import NOTHING, number, pairs
from zwang.show.report.ledger import condition
from zwang.show.report.math import Notation
from zwang.show.report.system import descriptions
from zwang.words import count

if TYPE_CHECKING:
    from zwang.model import Constraint, System
    from zwang.model.drawing import Drawing, Shape
    from zwang.model.event import Event

MOST_VALUES = 24  # parameters
CURVE = 200  # points of a small picture of a signal
WIDTH, HEIGHT = 320, 64


def system(given: "System") -> str:
    """A system: coordinates, energies, forces, parameters, and the ledger of its constraints."""
    facts = count(len(given.coordinates), "coordinate"), count(len(given.constraints), "constraint")
    return heading("System", given.name, *facts) + parts_of(given) + ledger(given)


def parts_of(given: "System") -> str:
    """What a system is, before its constraints."""
    inputs = given.inputs
    notation = notation_of(given)
    entries = [("Coordinates", ", ".join(notation.show(q) for q in given.coordinates[:MOST_NAMES]) + rest(given))]
    entries += descriptions(given, inputs, notation)
    values = {s: x for s, x in given.parameters.items() if s not in inputs}
    values |= {s: None for s in given.symbols if s not in values}
    if values:
        shown = [
            f"{notation.show(s)} = {NOTHING if x is None else value(x)}" for s, x in [*values.items()][:MOST_VALUES]
        ]
        cells = "".join(f"<span>{entry}</span>" for entry in shown)
        more = f'<span class="more">… and {len(values) - MOST_VALUES} more</span>' if len(values) > MOST_VALUES else ""
        entries.append(("Parameters", f'<span class="values">{cells}{more}</span>'))
    return pairs(entries)


def rest(given: "System") -> str:
    """How many coordinates are not shown."""
    more = len(given.coordinates) - MOST_NAMES
    return f' <span class="more">… and {more} more</span>' if more > 0 else ""


def notation_of(given: "System") -> Notation:
    """The names in what is shown of a system."""
    expressions = [*given.places.values(), *given.coordinates, *given.parameters, *given.symbols]
    for f, x in given.inputs.items():
        expressions += [f] if x is None or isinstance(x, Signal) else [f, as_expression(x)]
    return Notation.of(expressions)


def ledger(given: "System") -> str:
    """The constraints: name, what each asks for, and its kinds."""
    notation = notation_of(given)
    rows = [
        [f'{escape(c.name)}<span class="kinds">{escape(", ".join(c.kinds))}</span>', condition(notation, c)]
        for c in given.constraints[:MOST_ROWS]
    ]
    head = ("Constraint", "What it asks for")
    return bounded("Constraints", head, rows, "ledger", len(given.constraints))


def constraint(given: "Constraint") -> str:
    """A constraint: what it asks for, its kinds, and its row of A q̈ = b."""
    notation = Notation.of([given.expression])
    return heading("Constraint", given.name, *given.kinds) + f'<div class="line">{condition(notation, given)}</div>'


def event(given: "Event") -> str:
    """An event: what crosses zero, in which direction, and whether the motion stops there."""
    shown = Notation.of([given.expression]).show(given.expression)
    words = f"crosses zero {DIRECTIONS[given.direction]}"
    facts = "stops the motion" if given.stop else "is recorded"
    return heading("Event", given.name, facts) + f'<div class="line">{shown} <span>{escape(words)}</span></div>'


def signal(given: Signal) -> str:
    """A signal: its points, and a small picture."""
    times = np.linspace(float(given.times[0]), float(given.times[-1]), CURVE)
    readings = np.asarray(given(times), dtype=float)
    low, high = float(readings.min()), float(readings.max())
    entries = [
        ("Points", f"{len(given.times):,} from t = {escape(given.span)}"),
        ("Between them", "straight lines" if given.kind == "linear" else "a cubic spline"),
        ("Outside", escape(given.outside)),
        ("Values", f"{number(low)} to {number(high)}"),
    ]
    span = (times[-1] - times[0]) or 1.0
    x, y = WIDTH * (times - times[0]) / span, HEIGHT * (1 - (readings - low) / ((high - low) or 1.0))
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    picture = (
        f'<svg viewBox="-2 -2 {WIDTH + 4} {HEIGHT + 4}" width="{WIDTH}" role="img" aria-label="the signal over time">'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )
    return heading("Signal", "") + f'<div class="side">{pairs(entries)}{picture}</div>'


def drawing(given: "Drawing") -> str:
    """A drawing: its shapes, and what each is made of."""
    rows = [[escape(s.name), escape(s.kind), points(s), escape(s.color) or NOTHING] for s in given.shapes[:MOST_ROWS]]
    where = {0: "nothing to draw", 2: "in the plane", 3: "in space"}[given.dimension]
    head = ("Shape", "Kind", "Points", "Colour")
    return heading("Drawing", "", count(len(given.shapes), "shape"), where) + bounded(
        "Shapes", head, rows, "", len(given.shapes)
    )


def shape(given: "Shape") -> str:
    """A shape: its kind and its points."""
    entries = [("Points", points(given))]
    if given.radius is not None:
        entries.append(("Radius", value(given.radius)))
    if given.normal is not None:
        entries.append(("Normal", value(given.normal)))
    facts = given.kind, "in the plane" if given.dimension == 2 else "in space", given.color, "trail" * given.trail
    return heading("Shape", given.name, *facts) + pairs(entries)


def points(given: "Shape") -> str:
    """The places of a shape, the first few of them."""
    shown = [value(point) for point in given.points[:4]]
    more = f" … {len(given.points) - 4} more" if len(given.points) > 4 else ""
    return ", ".join(shown) + more


def start_of(start: Mapping[sp.Expr, Any], given: "System") -> str:
    """The start, coordinates with their rates."""
    notation = Notation.of([*given.coordinates, *(sp.sympify(x, strict=True) for x in start.values())])
    rows = [
        [notation.show(q), value(start.get(q, ""), notation), value(start.get(v, ""), notation)]
        for q, v in [*zip(given.coordinates, given.velocities, strict=True)][:MOST_ROWS]
    ]
    return bounded("Start", ("Coordinate", "Start", "Rate"), rows, "numbers", len(given.coordinates))
