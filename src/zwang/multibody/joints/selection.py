"""Which joint coordinate is meant: by the joint alone where it has one, by its name where it has several."""

from typing import Any

from zwang.errors import InputError
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Freedom, Joint

Selected = Joint | tuple[Joint, str]


def selected(who: str, given: Any, kind: str = "") -> Freedom:
    """The coordinate of a joint, or of a pair (joint, name); of a given kind, angle or travel, if one is asked for."""
    joint, name = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(joint, Joint):
        raise InputError(f"{who}: {joint!r} is no joint: give a joint, or (joint, 'angle')")
    freedoms = {key: f for key, f in joint.freedoms.items() if kind in ("", f.kind)}
    there = f"it has {', '.join(freedoms)}" if freedoms else "it has none"
    what = kind or "coordinate"
    if name is not None:
        if name not in freedoms:
            raise InputError(f"{who}: {joint.who} has no {what} {name!r}; {there}")
        return freedoms[name]
    if len(freedoms) != 1:
        problem = "no" if not freedoms else "more than one"
        raise InputError(f"{who}: {joint.who} has {problem} {what}; {there}")
    return next(iter(freedoms.values()))


def bodies_of(*given: Any) -> tuple[AnyBody, ...]:
    """The bodies of the joints that selections name."""
    joints = [g[0] if isinstance(g, tuple) else g for g in given]
    return tuple(dict.fromkeys(b for j in joints if isinstance(j, Joint) for b in j.bodies))
