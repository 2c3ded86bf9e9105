"""A large system whose switches are held: its families, and which switch of the whole system each of theirs is."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from zwang.arrays import Indices
from zwang.lowering.locked import Holding, watched
from zwang.lowering.rolled.families import Families, Family
from zwang.lowering.rolled.same import Instances
from zwang.lowering.rolled.workspace import Workspace


@dataclass(frozen=True, eq=False)
class HeldFamilies(Families):
    """A whole system as families that are held."""

    holdings: tuple[Holding | None, ...]
    """How each family is held, if it has switches."""
    instances: Instances

    def groups(self) -> Iterator[tuple[Family, Holding, int, Indices]]:
        """Every switch once: members of a family, how they are held, which of its switches it is, and their numbers."""
        found, first = self.instances, self.instances.first
        which = np.stack([found.family[first], found.local[first]], axis=1)
        for k, local in np.unique(which, axis=0).tolist():
            switches = np.flatnonzero((which == (k, local)).all(axis=1))
            holding = self.holdings[k]
            assert holding is not None
            yield self.members[k].of(found.member[first[switches]]), holding, local, switches

    def watch(self, workspace: Workspace) -> Indices:
        """The places of what falls through zero where levels end, in the order of `rows`."""
        found = []
        for family, holding, local, _ in self.groups():
            for expression, _ in watched(holding, local):
                found.append(workspace.block(len(family)))
                workspace.members(family, [expression], found[-1][:, None])
        return np.concatenate(found)

    def rows(self) -> list[tuple[int, int]]:
        """Of what is watched, which switch it is and where its argument goes (`Locked.rows`)."""
        return [
            (int(switch), rises)
            for _, holding, local, switches in self.groups()
            for _, rises in watched(holding, local)
            for switch in switches
        ]
