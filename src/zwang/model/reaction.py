"""Multipliers in nonideal forces: which ones occur, and mistakes with them.

C may depend on the multipliers λ, as friction does: −μ|λ| sign(v) of a bead on a wire, −μ r √(λx² + λy²) sign(ω) of a
journal. The acceleration is then implicit, and solved for by Newton's method (`lowering.implicit`).
"""

from collections.abc import Iterable, Iterator, Sequence

import sympy as sp

from zwang.mistakes import Mistake
from zwang.model.described import Described
from zwang.model.event import REACTION
from zwang.words import nearest


def reactions_in(symbols: Iterable[sp.Symbol], names: Sequence[str]) -> dict[int, sp.Symbol]:
    """Of some symbols those that are multipliers, by the numbers of their constraints, in the order of these."""
    found = {m.group(2): s for s in symbols if (m := REACTION.fullmatch(s.name)) and m.group(1) == "multiplier"}
    if not found:
        return {}
    place = {name: i for i, name in enumerate(names)}
    return dict(sorted((place[name], s) for name, s in found.items() if name in place))


def wrong_reactions(system: Described) -> Iterator[Mistake]:
    """Multipliers of constraints that are not there, or where none may be, and forces of constraint."""
    for where, expression in system.places.items():
        used = sorted((s for s in expression.free_symbols if REACTION.fullmatch(s.name)), key=str)
        for s in used:
            yield from wrong_reaction(s, where, system.constraint_names)


def wrong_reaction(s: sp.Symbol, where: tuple[str | int, ...], names: Sequence[str]) -> Iterator[Mistake]:
    """What is wrong with a multiplier or a force of constraint in one place."""
    match = REACTION.fullmatch(s.name)
    assert match is not None
    kind, name = match.groups()
    said = f"{where[0]} contains {kind}({name!r})"
    if kind == "constraint_force":
        yield Mistake(f"{said}, which is for events", where=where, remedy="use multiplier(name) of the constraints")
    elif where[0] != "nonideal":
        remedy = "put the force that depends on it into nonideal"
        yield Mistake(f"{said}: multipliers stand in nonideal forces and in events only", where=where, remedy=remedy)
    elif name not in names:
        meant = nearest(name, names)
        remedy = f"did you mean {meant!r}?" if meant else f"there are {', '.join(map(repr, names)) or 'none'}"
        yield Mistake(f"{said}, but there is no such constraint", where=where, remedy=remedy)
