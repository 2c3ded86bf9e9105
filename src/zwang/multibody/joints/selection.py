"""Which joint coordinate is meant: by the joint alone where it has one, by its name where it has several."""

from typing import Any

from zwang.errors import InputError
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Joint

Selected = Joint | tuple[Joint, str]


def selected(who: str, given: Any, argument: str, kind: str = "") -> Freedom:
    """The coordinate of a joint, or of a pair (joint, name), that is an argument of a part.

    It must be of a given kind, angle or travel, if one is asked for.
    """
    joint, name = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    return freedom_of(who, joint, name, kind, "(joint, name) with the name", (argument, argument))


def freedom_of(
    who: str,
    joint: Any,
    name: str | None,
    kind: str = "",
    how: str = "coordinate=",
    arguments: tuple[str, str] = ("joint", "coordinate"),
) -> Freedom:
    """The coordinate of a joint that a name says; without a name the only one.

    `how` is the way to choose one, and `arguments` are those that give joint and name.
    """
    by_joint, by_name = arguments
    if not isinstance(joint, Joint):
        raise InputError(f"{who}: {joint!r} is not a joint", where=(by_joint,))
    freedoms = {key: f for key, f in joint.freedoms.items() if kind in ("", f.kind)}
    what, choices = kind or "coordinate", " or ".join(map(repr, freedoms))
    if not freedoms:
        others = ", ".join(map(repr, joint.freedoms))
        only = f", only {others}" if others else ""
        raise InputError(f"{who}: {joint.who} leaves no {what} free{only}", where=(by_joint,))
    if name is None and len(freedoms) > 1:
        raise InputError(f"{who}: {joint.who} has several {what}s: choose {how} {choices}", where=(by_joint,))
    if name is not None and name not in freedoms:
        raise InputError(f"{who}: {joint.who} has no {what} {name!r}: choose {choices}", where=(by_name,))
    return freedoms[name] if name is not None else next(iter(freedoms.values()))


def bodies_of(*given: Any) -> tuple[AnyBody, ...]:
    """The bodies of the joints that selections name."""
    joints = [g[0] if isinstance(g, tuple) else g for g in given]
    return tuple(dict.fromkeys(b for j in joints if isinstance(j, Joint) for b in j.bodies))
