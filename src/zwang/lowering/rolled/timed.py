"""The switches in time of a large system: of each kind once, for all its members together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.lowering.rolled.families import Families, Family
from zwang.lowering.switches import TimeSwitches, expressions_of, switches_among
from zwang.model.signal import Signal


@dataclass(frozen=True)
class SwitchesOfMembers:
    """The switches of families that depend on time alone, and those of more expressions beside them."""

    kinds: Sequence[tuple[Family, TimeSwitches]]
    beside: TimeSwitches | None

    def instants(self, p: Array, t: float, until: float, signals: Iterable[Signal] = ()) -> list[Array]:
        """For each row of parameters (S, k), the instants in [t, until) right after which a switch reads otherwise."""
        signals = list(signals)
        found = [np.zeros(0) for _ in p] if self.beside is None else self.beside.instants(p, t, until, signals)
        for family, switches in self.kinds:
            for k, row in enumerate(p):
                own = np.unique(np.concatenate([row[family.parameters], family.constants], axis=1), axis=0)
                each = switches.instants(own, t, until, signals)
                found[k] = np.unique(np.concatenate([found[k], *each]))
        return found


def switches_of_members(
    families: Families, names: Mapping[Any, str | float], more: Iterable[Any] = ()
) -> SwitchesOfMembers | None:
    """The switches in time of families, and of more expressions of the whole system; None if there are none."""
    kinds = []
    for family in families.members:
        own = family.lowered
        varying = zip(own.parameters, family.parameters[0], strict=False)  # words of the first serve for all
        told = {symbol: names[families.lowered.parameters[i]] for symbol, i in varying}
        told |= zip(own.parameters[len(told) :], family.constants[0].tolist(), strict=True)
        found = switches_among(expressions_of(own.description), own, told)
        if found is not None:
            kinds.append((family, found))
    beside = switches_among(more, families.lowered, names)
    return SwitchesOfMembers(kinds, beside) if kinds or beside else None
