"""What is said of samples beside their values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.engines.task import Status

BAD_START, ERROR = "inconsistent start", "error"
STATUSES = (*map(str, Status), BAD_START, ERROR)
"""How samples end, in words; stores hold their numbers."""


@dataclass(frozen=True, eq=False)
class Met:
    """Events of some samples, in one array: they are many, and small arrays take more room than what is in them."""

    samples: Indices
    """(k,) ascending"""
    counts: Indices
    """(k,) how many each has met"""
    rows: Array
    """(sum of these, 2 + 2n) instant, which, q and v, one sample after another"""

    @staticmethod
    def of(hits: Mapping[int, Array], first: int = 0) -> "Met":
        """Events by sample, of samples that are counted from the first on."""
        samples = sorted(hits)
        counts = np.array([len(hits[i]) for i in samples], dtype=np.intp)
        return Met(np.array(samples, dtype=np.intp) + first, counts, np.concatenate([hits[i] for i in samples]))


@dataclass
class Told:
    """What is said of samples beside their values."""

    statuses: list[str]
    doubts: dict[int, str] = field(default_factory=dict)
    """What cannot be vouched for, or why a sample was not run, by sample."""
    unique: Any = True
    """(m,) whether multipliers are unique, in all of them"""
    projected: bool = False
    """Whether one of them was held on its constraints"""
    seconds: float = 0.0
    hits: dict[int, Array] = field(default_factory=dict)
    """Events (k, 2 + 2n) by sample, while they are collected: instant, which, q and v."""
    met: list[Met] = field(default_factory=list)
    """The same, once they are, in the order of samples."""
    contacts: list[Any] = field(default_factory=list)
    """What is said of the contacts of each sample (`contacts`), if there are any; None where it was not run."""
