"""What is said of samples beside their values."""

from dataclasses import dataclass, field
from typing import Any

from zwang.arrays import Array
from zwang.engines.task import Status

BAD_START, ERROR = "inconsistent start", "error"
STATUSES = (*map(str, Status), BAD_START, ERROR)
"""How samples end, in words; stores hold their numbers."""


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
    """Events (k, 2 + 2n) by sample: instant, which, q and v."""
    contacts: list[Any] = field(default_factory=list)
    """What is said of the contacts of each sample (`contacts`), if there are any; None where it was not run."""
