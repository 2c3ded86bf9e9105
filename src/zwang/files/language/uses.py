"""Where expressions stand in a model file, and which kinds of names may be used there."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """A place for expressions: what it is called, and the kinds of names (beside parameters) that may stand there."""

    words: str
    allowed: frozenset[str]


def use(words: str, *allowed: str) -> Use:
    """A place for expressions."""
    return Use(words, frozenset(allowed))


CONSTANT = use("the value of a parameter")
START = use("a start", "parameter")
INPUT = use("an input", "parameter", "time")
POTENTIAL = use("the potential energy", "parameter", "time", "input", "coordinate")
KINETIC = use("the kinetic energy", "parameter", "time", "input", "coordinate", "rate")
MASS = use("the mass matrix", "parameter", "time", "input", "coordinate", "rate")
FORCE = use("a force", "parameter", "time", "input", "coordinate", "rate")
NONIDEAL = use("a nonideal force", "parameter", "time", "input", "coordinate", "rate", "reaction")
DRAWING = use("a drawing", "parameter", "time", "input", "coordinate", "rate")
CONSTRAINT = use("a constraint", "parameter", "time", "input", "coordinate", "rate", "acceleration")
COEFFICIENT = use("a coefficient of a contact", "parameter")
SLIP = use("a slip", "parameter", "time", "input", "coordinate", "rate")
DEFINITION = use("a definition", "parameter", "time", "input", "coordinate", "rate", "acceleration")
EVENT = use("an event", "parameter", "time", "input", "coordinate", "rate", "reaction")
RESET = use("a reset", "parameter", "time", "input", "coordinate", "rate")
SETTING = use("a value that is set", "parameter")
READING = use("what is read at a state", "parameter", "coordinate", "rate")
OUTPUT = use("an output", "parameter", "input", "coordinate", "rate", "acceleration", "reaction")
MEASURED = use("what was measured", "parameter", "time", "coordinate", "rate")

# Why a kind of name may not be used somewhere, for those places where people try.
WHY = {
    "acceleration": "accelerations are allowed in constraints and in outputs of [linear] only",
    "reaction": "multiplier(…) stands in [nonideal] and events only, constraint_force(…) in events; "
    "both in outputs of [linear]",
    "rate": "it may not contain rates",
    "coordinate": "it may not contain coordinates",
    "input": "it may not contain inputs",
    "time": "it may not contain the time t",
    "parameter": "it is a plain number",
    "local": "it is known elsewhere only",
}
