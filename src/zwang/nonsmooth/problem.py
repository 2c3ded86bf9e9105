"""A nonsmooth problem and its solutions as values: u = W f + c, one law for each block of rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, Array
from zwang.nonsmooth.laws import Law

COUPLED = 16 * EPS  # of the mobilities of two rows: a coupling below is rounding of a zero

Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """How rows answer impulses, W (r, r); their free speeds c (r,), targets taken off; laws of blocks.

    W is symmetric unless forces depend on multipliers (`response.Columns`).
    """

    W: Array
    c: Array
    laws: tuple[Law, ...]

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit the laws."""
        rows = sum(law.rows for law in self.laws)
        if self.c.shape != (rows,) or self.W.shape != (rows, rows):
            raise ValueError(
                f"The laws have {rows} rows, but W has the shape {self.W.shape} and c the shape {self.c.shape}."
            )
        if not (np.isfinite(self.W).all() and np.isfinite(self.c).all()):
            raise ValueError("W and c of a nonsmooth problem must be finite.")


@dataclass(frozen=True)
class Mode:
    """What each block does: whether its normal row is closed (k,), whether it sticks (k,), and where friction points.

    `along` (k, 2) is the direction of friction, against the slip, of blocks that slide; zero for others.
    """

    held: Bools
    stick: Bools
    along: Array

    def of(self, blocks: Indices) -> "Mode":
        """The mode of some blocks."""
        return Mode(self.held[blocks], self.stick[blocks], self.along[blocks])

    def key(self) -> bytes:
        """Bytes that are the same for the same mode, but for directions of slips in space."""
        return self.held.tobytes() + self.stick.tobytes() + np.sign(self.along[:, 0]).tobytes()


@dataclass(frozen=True)
class Solution:
    """Impulses and speeds (r,), the mode, and by how much each law is missed, as a speed (k,).

    `rung` says which solver found it, in so many `steps`.
    """

    f: Array
    u: Array
    mode: Mode
    left: Array
    rung: str
    steps: int


@dataclass(frozen=True)
class Part:
    """A part of a problem that moves by itself: its blocks and rows, and the problem they make."""

    problem: Problem
    blocks: Indices
    rows: Indices


@dataclass(frozen=True)
class Answer:
    """The solutions of a part with different motions, the one to take first.

    `complete` says that all modes were tried: then there is no other motion, and none at all if the list is empty.
    """

    part: Part
    solutions: tuple[Solution, ...] = ()
    complete: bool = False

    @property
    def impossible(self) -> bool:
        """Whether it is proved that no impulses obey the laws."""
        return self.complete and not self.solutions


def parts(problem: Problem) -> list[Part]:
    """The parts of a problem that do not move each other, in the order of their first blocks."""
    r = len(problem.c)
    sizes = np.array([law.rows for law in problem.laws], dtype=np.intp)
    k = len(sizes)
    everything = Part(problem, np.arange(k), np.arange(r))
    if k == 1:
        return [everything]
    block = np.repeat(np.arange(k), sizes)
    d = np.sqrt(np.abs(np.diagonal(problem.W)))
    touching = np.abs(problem.W) > COUPLED * d * d[:, None]
    if touching.all():
        return [everything]
    touching |= touching.T
    labels = connected(k, block, touching)
    count = int(labels.max()) + 1
    if count == 1:
        return [everything]
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1])
    first = np.cumsum(sizes) - sizes
    found = []
    for blocks in groups:
        rows = np.concatenate([np.arange(first[i], first[i] + sizes[i]) for i in blocks])
        laws = tuple(problem.laws[i] for i in blocks)
        found.append(Part(Problem(problem.W[np.ix_(rows, rows)], problem.c[rows], laws), blocks, rows))
    return found


def connected(k: int, block: Indices, touching: Bools) -> Indices:
    """(k,) the number of the part of each block, in the order of first blocks; `touching` (r, r) couples rows."""
    i, j = np.nonzero(touching)
    i, j = block[i], block[j]
    least = np.arange(k)
    while True:  # the least number spreads over each part
        before = least.copy()
        np.minimum.at(least, i, least[j])
        least = least[least]
        if (least == before).all():
            return np.unique(least, return_inverse=True)[1].astype(np.intp)


def combined(problem: Problem, answers: list[Answer]) -> Solution | None:
    """The first solutions of all parts as one of the whole problem; None if a part has none."""
    if not all(answer.solutions for answer in answers):
        return None
    if len(answers) == 1:
        return answers[0].solutions[0]
    k, r = len(problem.laws), len(problem.c)
    f, u, left = np.zeros(r), np.zeros(r), np.zeros(k)
    held, stick, along = np.zeros(k, dtype=bool), np.zeros(k, dtype=bool), np.zeros((k, 2))
    steps, rungs = 0, set()
    for answer in answers:
        one, rows, blocks = answer.solutions[0], answer.part.rows, answer.part.blocks
        f[rows], u[rows], left[blocks] = one.f, one.u, one.left
        held[blocks], stick[blocks], along[blocks] = one.mode.held, one.mode.stick, one.mode.along
        steps += one.steps
        rungs.add(one.rung)
    return Solution(f, u, Mode(held, stick, along), left, ", ".join(sorted(rungs)), steps)
