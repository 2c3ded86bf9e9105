"""The system in words: parameters, coordinates, energies, forces, inputs and events, as the model gives them."""

import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.model import System
from zwang.model.event import DIRECTIONS, Event
from zwang.model.signal import Signal
from zwang.model.symbols import as_expression
from zwang.model.values import by_name
from zwang.show.report.html import NOTHING, PageSection, details, number, pairs, table
from zwang.show.report.math import Notation
from zwang.show.report.subject import Subject

NOISE = 1e-12  # of the largest value: no tolerance that is in use says more about a value that is zero
MANY = 60  # entries before they are folded away


def system_section(subject: Subject) -> PageSection:
    """What the model says the system is."""
    parts = [folded("Coordinates", coordinates(subject), len(subject.system.coordinate_names))]
    if subject.values:
        parts.append(folded("Parameters", parameters(subject), len(subject.values)))
    parts.append(pairs(descriptions(subject.system, subject.inputs, subject.notation)))
    if subject.model.events:
        parts.append(events(subject))
    if "rest_switch" in subject.motion:
        parts.append(rests(subject))
    return PageSection("system", "The system", "\n".join(parts))


def folded(what: str, html: str, rows: int) -> str:
    """A long table folded away."""
    return html if rows <= MANY else details(f"{what}: {rows}", html)


def coordinates(subject: Subject) -> str:
    """Where each coordinate begins and ends."""
    notation, motion = subject.notation, subject.motion
    units, rates = subject.units("unit_q"), subject.units("unit_v")
    shown = {"q": without_noise(motion.q.values, units), "v": without_noise(motion.v.values, rates)}
    rows = []
    for i, q in enumerate(subject.system.coordinates):
        ends = [NOTHING] * 4
        if not subject.empty:
            values = [shown[name][k, i] for name, k in (("q", 0), ("v", 0), ("q", -1), ("v", -1))]
            ends = [number(float(x), unit, 6) for x, unit in zip(values, (units[i], rates[i]) * 2, strict=True)]
        rows.append([notation.show(q), *ends])
    head = ["Coordinate", "Start", "Rate at the start", "End", "Rate at the end"]
    return table("Coordinates", head, rows, "numbers")


def without_noise(values: Array, units: list[str]) -> Array:
    """(time, n) the same values, 0 for those that are nothing beside the largest of the same unit.

    >>> without_noise(np.array([[1.0, 3e-16, 3e-16]]), ["m", "m", "s"])
    array([[1.e+00, 0.e+00, 3.e-16]])
    """
    sizes = np.abs(values).max(axis=0, initial=0.0)
    scale = [max(size for size, other in zip(sizes, units, strict=True) if other == unit) for unit in units]
    return np.where(np.abs(values) < NOISE * np.array(scale), 0.0, values)


def parameters(subject: Subject) -> str:
    """The parameters and their values; those set for this run say what the model has."""
    defaults, items = subject.system.parameters, []
    for s, value in subject.values.items():
        own = defaults.get(s)
        note = ""
        if own is not None and value is not None and not math.isclose(own, value, rel_tol=1e-15):
            note = f' <span class="none">(model: {number(float(own), digits=6)})</span>'
        size = NOTHING if value is None else number(float(value), digits=9)
        items.append(f"<li>{subject.notation.show(s)} = {size}{note}</li>")
    return f'<div class="table"><p class="caption">Parameters</p><ul class="grid">{"".join(items)}</ul></div>'


def descriptions(system: System, inputs: Mapping[sp.Expr, Any], notation: Notation) -> list[tuple[str, str]]:
    """Energies, forces and inputs, each with its formula."""
    said: list[tuple[str, str]] = []
    if system.kinetic is not None:
        said.append(("Kinetic energy", notation.show(system.kinetic)))
    if system.mass is not None:
        said.append(("Mass matrix", notation.show(system.mass)))
    if system.potential != 0:
        said.append(("Potential energy", notation.show(system.potential)))
    given = "Forces, all of them" if system.mass is not None else "Further forces"
    for what, vector in ((given, system.forces), ("Nonideal part of the forces of constraint", system.nonideal)):
        acting = [(q, f) for q, f in zip(system.coordinates, vector, strict=True) if f != 0]
        if acting:
            said.append((what, lines(f"along {notation.show(q)}: {notation.show(f)}" for q, f in acting)))
    if inputs:
        said.append(("Known functions of time", lines(one_input(notation, f, x) for f, x in inputs.items())))
    return said


def lines(entries: Any) -> str:
    """Several things, one below the other."""
    found = list(entries)
    body = "".join(f'<div class="line">{entry}</div>' for entry in found)
    return body if len(found) <= MANY else details(f"{len(found)} of them", body)


def one_input(notation: Notation, function: sp.Expr, value: Any) -> str:
    """A known function of time: its formula, or what its table covers."""
    name = notation.show(function)
    if isinstance(value, Signal):
        kind = {"linear": "straight between", "cubic": "a cubic spline through"}.get(value.kind, value.kind)
        return f"{name}: a table, {kind} {len(value.times):,} points from t = {value.span}"
    return name if value is None else f"{name} = {notation.show(as_expression(value))}"


def events(subject: Subject) -> str:
    """What was watched, and when it happened."""
    motion, rows = subject.motion, []
    for i, event in enumerate(subject.model.events):
        name = event.name or f"event {i + 1}"
        met = motion.event_time.values[motion.event_name.values == name] if "event_time" in motion else np.zeros(0)
        when = ", ".join(number(float(x), digits=9) for x in met[:5])
        if len(met) > 5:
            when += f" and {len(met) - 5} more"
        happens = f"{subject.notation.show(event.expression)} crosses zero {DIRECTIONS[event.direction]}"
        then = [f"{subject.notation.show(of)} = {subject.notation.show(e)}" for of, e in reset_of(subject, event)]
        then += ["the motion stops"] if event.stop else []
        rows.append([escape(name), happens, "<br>".join(then) or "it is recorded", when or "not met"])
    return table("Events", ["Event", "When", "And then", "Met at t ="], rows)


def rests(subject: Subject) -> str:
    """What was held by forces such as dry friction, and when."""
    motion, unit = subject.motion, subject.unit("time")
    begins, ends = ([number(float(x), unit, 9) for x in motion[name].values] for name in ("rest_begin", "rest_end"))
    rows = [list(row) for row in zip(map(escape, map(str, motion.rest_switch.values)), begins, ends, strict=True)]
    return folded("Rests", table("Rests", ["Held", "From t =", "To t ="], rows), len(rows))


def reset_of(subject: Subject, event: Event) -> list[tuple[sp.Expr, sp.Expr]]:
    """What the reset of an event sets, and to what."""
    return [(by_name(subject.system, key), value) for key, value in event.reset.items()]
