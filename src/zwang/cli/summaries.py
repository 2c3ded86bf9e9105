"""A verdict and a motion in a few words each."""

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from zwang.cli.terminal import figure, seconds
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

    from zwang.model import System
    from zwang.verdict import Verdict

MOST = 8  # names listed before the rest is only counted
STANDS = 1e-9  # of a coordinate, and of the unit: what moves less is at rest
LONGEST = 600  # characters of a message


def first_few(names: Any) -> str:
    """Names with commas; of many, the first few and how many there are.

    >>> first_few("abc"), first_few("abcdefghij")
    ('a, b, c', 'a, b, c, d, e, f, g, … (10 in all)')
    """
    names = [str(name) for name in names]
    if len(names) <= MOST:
        return ", ".join(names)
    return f"{', '.join(names[: MOST - 1])}, … ({len(names)} in all)"


def levels(position: float, velocity: float) -> str:
    """What a constraint reads at the levels that it has."""
    named = ((position, "in position"), (velocity, "in velocity"))
    return ", ".join(f"{value:.3g} {level}" for value, level in named if not math.isnan(value))


def in_one_line(verdict: "Verdict | None") -> tuple[str, str]:
    """The verdict in one line, and its colour."""
    if verdict is None:
        return "takes long for a system of this size; `zwang check` gives it", "dim"
    if verdict.inconsistent:
        pairs = [f"{name} contradicts {first_few(others)}" for name, others in verdict.inconsistent.items()]
        return f"inconsistent: {listed_words(pairs)}", "red"
    if verdict.violated:
        return f"the start does not satisfy {first_few(verdict.violated)}", "red"
    if verdict.singular:
        return f"singular: rank {verdict.rank} at the start, {verdict.generic_rank} nearby", "yellow"
    if verdict.imprecise:
        return "the start is not exactly on its constraints", "yellow"
    if verdict.redundant:
        pairs = [
            f"{name} follows from {first_few(others)}" if others else f"{name} says nothing"
            for name, others in verdict.redundant.items()
        ]
        return f"redundant but consistent: {listed_words(pairs)}", "yellow"
    return ("independent and consistent", "green") if verdict.kinds else ("no constraints", "green")


def cut_at_word(message: str) -> str:
    """A message, cut if it is very long: each of a hundred singular positions may add a sentence to it."""
    return message if len(message) <= LONGEST else f"{message[:LONGEST].rsplit(' ', 1)[0]} …"


def is_still(motion: "xr.Dataset") -> bool:
    """Whether nothing moves, as far as rounding lets one tell."""
    if motion.sizes["time"] < 2:
        return False
    q = motion.q.values
    return bool((q.max(axis=0) - q.min(axis=0) <= STANDS * (1 + abs(q).max(axis=0))).all())


def listed_words(phrases: list[str]) -> str:
    """Phrases with semicolons; of many, the first few and how many more there are."""
    more = len(phrases) - MOST
    return "; ".join(phrases[:MOST]) + (f"; and {more} more" if more > 0 else "")


def verdict_values(verdict: "Verdict") -> dict[str, Any]:
    """The verdict for machines."""
    return {
        "ok": verdict.ok,
        "summary": in_one_line(verdict)[0],
        "rank": verdict.rank,
        "generic_rank": verdict.generic_rank,
        "degrees_of_freedom": verdict.degrees_of_freedom,
        "redundant": {name: list(others) for name, others in verdict.redundant.items()},
        "inconsistent": {name: list(others) for name, others in verdict.inconsistent.items()},
        "singular": verdict.singular,
        "imprecise": verdict.imprecise,
        "violated": list(verdict.violated),
        "inactive": list(verdict.inactive),
        "constraints": {
            name: {
                "kinds": list(kinds),
                "unique_multiplier": verdict.unique_multipliers[name],
                "position": verdict.residuals[name][0],
                "velocity": verdict.residuals[name][1],
            }
            for name, kinds in verdict.kinds.items()
        },
        "contacts": {name: asdict(standing) for name, standing in verdict.contacts.items()},
    }


def residual_words(motion: "xr.Dataset") -> str:
    """The largest residuals, and whose they are."""
    from zwang.results.account import LEVELS, worst_residual

    both = [
        f"{figure(found[0])} in {level} ({found[1]})"
        for variable, level in LEVELS.items()
        if (found := worst_residual(motion, variable))
    ]
    return ", ".join(both) or "–"


def energy_words(motion: "xr.Dataset") -> str:
    """How well the energy is accounted for."""
    from zwang.results.account import energy_gap

    gap, size = energy_gap(motion)
    unit = motion.energy.attrs.get("units") or ""
    return "–" if math.isnan(gap) else f"balanced to {figure(gap)} of {size:.4g} {unit}".rstrip()


def work_words(motion: "xr.Dataset") -> str:
    """What the motion cost."""
    a = motion.attrs
    return (
        f"{count(int(a['steps']), 'step')}, {count(int(a['evaluations']), 'evaluation')}; "
        f"compiled in {seconds(float(a['compile_seconds']))}, ran in {seconds(float(a['run_seconds']))}"
    )


def event_list(motion: "xr.Dataset") -> list[dict[str, Any]]:
    """The events that were met."""
    if "event_time" not in motion:
        return []
    found = zip(motion.event_name.values, motion.event_time.values, strict=True)
    return [{"name": str(name), "time": float(time)} for name, time in found]


def event_words(motion: "xr.Dataset", unit: str) -> str:
    """The events that were met, each with its times."""
    times: dict[str, list[str]] = {}
    for event in event_list(motion):
        times.setdefault(event["name"], []).append(f"{event['time']:.9g}")
    met = [f"{name} at t = {first_few(found)} {unit}".rstrip() for name, found in times.items()]
    return listed_words(met) if met else "none met"


def rest_list(motion: "xr.Dataset") -> list[dict[str, Any]]:
    """What was held by forces such as dry friction, and from when to when."""
    if "rest_switch" not in motion:
        return []
    found = zip(motion.rest_switch.values, motion.rest_begin.values, motion.rest_end.values, strict=True)
    return [{"switch": str(switch), "begin": float(begin), "end": float(end)} for switch, begin, end in found]


def rest_words(motion: "xr.Dataset", unit: str) -> str:
    """The same, each with its times."""
    times: dict[str, list[str]] = {}
    for rest in rest_list(motion):
        times.setdefault(rest["switch"], []).append(f"{rest['begin']:.9g} to {rest['end']:.9g}")
    return listed_words([f"{name} from t = {first_few(found)} {unit}".rstrip() for name, found in times.items()])


def input_words(system: "System", motion: "xr.Dataset") -> dict[str, str]:
    """What drove a motion, by the names of its inputs."""
    from zwang.model.symbols import label
    from zwang.results.inputs import used_inputs

    return {label(f): str(value) for f, value in used_inputs(system, motion, {}).items()}


def parameter_values(motion: "xr.Dataset") -> dict[str, Any]:
    """The parameters of a motion by name."""
    found: dict[str, Any] = json.loads(motion.attrs["parameters"])
    return found
