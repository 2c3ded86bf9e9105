"""Memory of steps in machine code: what is given is laid out once, and what is found is read from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array, Indices
from zwang.compile import Kernel
from zwang.engines.stepping.blocks import NEARLY_MASSLESS, NO_MASS_LEFT
from zwang.engines.stepping.loop import compiled
from zwang.engines.stepping.patterns import Entries, pattern
from zwang.engines.stepping.record import ANSWER, DENSE_ROWS, FACTORS, PROFILE_ROOM, SHORT, WALK, Outcome

MOST_IN_FULL = 16  # coordinates of a block with full matrices; of more, sparse factors take less time
KEPT_AT_ONCE = 2_000_000  # numbers of steps that are kept in full before they are taken out
AT_A_TIME = 512  # steps after which the loop comes back at the latest
HEAD = 9  # numbers before the arrays of a step that is kept in full

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Given:
    """What the loop is told: kernels, places of entries in what they give, and rows by what they are.

    `kernel` gives M, Q, A, b, C, residual, residual_rate, size and row_size; `M`, `A` and `sums` have row and column of
    the entries, `residual` and `residual_rate` the rows that have some. `slips` are the rows of slips of each contact.
    """

    kernel: Kernel
    ledger: Kernel
    event: Kernel | None
    events: int
    n: int
    rows: int
    M: Pairs
    A: Pairs
    sums: Pairs
    residual: NDArray[np.intp]
    residual_rate: NDArray[np.intp]
    order: NDArray[np.intp]
    equal: NDArray[np.intp]
    contacts: Sequence[int]
    slips: Sequence[Sequence[int]]
    always: NDArray[np.bool_]
    restitution: Array
    friction: Array
    parameters: Array
    hastens: bool
    lifts: NDArray[np.bool_]
    """(rows,) equalities that are added to masses, where these are singular."""


@dataclass(frozen=True)
class Blocks:
    """Coordinates that masses or equalities connect: of each its block and its place there, and those of each block."""

    of: Indices
    local: Indices
    first: Indices
    coordinates: Indices

    @property
    def sizes(self) -> Indices:
        """How many coordinates they have."""
        return np.diff(self.first)


def blocks_of(given: Given) -> Blocks:
    """The blocks of a system."""
    parent = list(range(given.n))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, j in zip(*(part.tolist() for part in given.M), strict=True):
        parent[root(i)] = root(j)
    of_row: dict[int, int] = {}
    equal = {*given.equal.tolist()}
    for row, column in zip(*(part.tolist() for part in given.A), strict=True):
        if row in equal:
            parent[root(column)] = root(of_row.setdefault(row, column))
    _, block = np.unique([root(i) for i in range(given.n)], return_inverse=True)
    coordinates = np.argsort(block, kind="stable")
    first = np.searchsorted(block[coordinates], np.arange(block.max() + 2))
    local = np.empty(given.n, dtype=np.int64)
    local[coordinates] = np.arange(given.n) - first[block[coordinates]]
    return Blocks(block.astype(np.int64), local, first.astype(np.int64), coordinates.astype(np.int64))


def grouped(keys: Indices, count: int) -> tuple[Indices, Indices]:
    """Where those of each of so many keys begin, in an order that has them together; and the order."""
    order = np.argsort(keys, kind="stable")
    return np.searchsorted(keys[order], np.arange(count + 1)).astype(np.int64), order.astype(np.int64)


def place_among(keys: Indices) -> Indices:
    """How many of the same key are before each."""
    first, order = grouped(keys, int(keys.max(initial=-1)) + 1)
    found = np.empty(len(keys), dtype=np.int64)
    found[order] = np.arange(len(keys)) - first[keys[order]]
    return found


class Loop:
    """Steps of one system, from a state on."""

    def __init__(self, given: Given) -> None:
        """Lay out what does not change."""
        self.given = given
        self._kept: list[Any] = []
        self._record = np.zeros(1, WALK)
        self._blocks = blocks_of(given)
        self._large = self._blocks.sizes > MOST_IN_FULL
        self._advance = compiled()
        n, rows, k = given.n, given.rows, len(given.contacts)
        out = given.kernel.outputs
        self._set(n=n, rows=rows, contacts=k, blocks=len(self._blocks.sizes), masses=len(given.M[0]))
        self._set(events=given.events, hastens=int(given.hastens), kernel=given.kernel.address)
        self._set(ledger=given.ledger.address, event=given.event.address if given.event else 0)
        self._set(out_power=given.ledger.outputs["power"].start, out_sums=out["row_size"].start)
        self._set(**{f"out_{name}": out[name].start for name in ("M", "Q", "A", "b", "C")})
        self._lay_out_rows()
        self._lay_out_answers()
        self._lay_out_arrays()

    def _set(self, **fields: Any) -> None:
        """Write numbers, or the addresses of arrays, which are kept."""
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                self._kept.append(value)
                value = value.ctypes.data
            self._record[name] = value

    def _integers(self, **tables: Any) -> None:
        self._set(**{name: np.array(table, dtype=np.int64) for name, table in tables.items()})

    def _lay_out_rows(self) -> None:
        given, blocks, rows = self.given, self._blocks, self.given.rows
        row_first, order = grouped(given.A[0], rows)
        sum_first, sums = grouped(given.sums[0], rows)
        self._integers(row_first=row_first, row_column=given.A[1][order], row_entry=order)
        self._integers(sum_first=sum_first, sum_entry=sums, order=given.order)
        pairs = np.unique(np.stack([given.A[0], blocks.of[given.A[1]]], axis=1).reshape(-1, 2), axis=0)
        touch_first, order = grouped(pairs[:, 0], rows)
        self._integers(touch_first=touch_first, touch=pairs[order, 1])
        self._touched = int(blocks.sizes[pairs[:, 1]].sum())
        out = given.kernel.outputs
        for name, places, start in (
            ("reading", given.residual, "residual"),
            ("rate", given.residual_rate, "residual_rate"),
            ("size", given.residual, "size"),
        ):
            table = np.full(rows, -1, dtype=np.int64)
            table[places] = out[start].start + np.arange(len(places))
            self._integers(**{name: table})
        self._integers(contact=given.contacts, slip=[r for slips in given.slips for r in slips])
        self._integers(slip_first=np.cumsum([0, *map(len, given.slips)]))
        i, j = given.M
        own, wide = blocks.of[i], blocks.sizes[blocks.of[i]]
        masses = np.where(self._large, np.bincount(own, minlength=len(blocks.sizes)), blocks.sizes**2)
        at_M = np.concatenate([[0], np.cumsum(masses)])
        place = np.where(self._large[own], place_among(own), blocks.local[i] * wide + blocks.local[j])
        self._integers(mass_at=at_M[own] + place, mass_block=own)
        self._integers(block=blocks.of, local=blocks.local, block_first=blocks.first, at_M=at_M[:-1])
        self._integers(block_coordinate=blocks.coordinates)
        self._masses = int(at_M[-1])

    def _lay_out_answers(self) -> None:
        given, blocks = self.given, self._blocks
        entries = dict(zip(given.A[0].tolist(), given.A[1].tolist(), strict=True))
        levels = [given.equal, given.equal[given.order[given.equal] == 0], given.equal[given.order[given.equal] <= 1]]
        made: list[Indices] = []
        which, room = [], 0
        for rows in levels:
            known = [a for a, other in enumerate(made) if np.array_equal(rows, other)]
            which.append(known[0] if known else len(made))
            made += [] if known else [rows]
        self._answers = np.zeros(len(made), ANSWER)
        for answer, rows in zip(self._answers, made, strict=True):
            block = np.array([blocks.of[entries.get(int(r), 0)] for r in rows], dtype=np.int64)
            first, order = grouped(block, len(blocks.sizes))
            count = np.diff(first)
            entries_of = np.bincount(blocks.of[given.A[1]][np.isin(given.A[0], rows)], minlength=len(blocks.sizes))
            at_E = np.concatenate([[0], np.cumsum(np.where(self._large, entries_of, count * blocks.sizes))])
            at_S = np.concatenate([[0], np.cumsum(np.where(self._large, 0, count**2))])
            tables = {"first": first, "rows": rows[order].astype(np.int64), "at_E": at_E[:-1], "at_S": at_S[:-1]}
            tables |= {"M": np.zeros(self._masses), "K": np.zeros(self._masses), "S": np.zeros(at_S[-1])}
            tables |= {"E": np.zeros(at_E[-1]), "G": np.zeros(at_E[-1]), "ranks": np.zeros(len(count))}
            for name, table in tables.items():
                table = np.ascontiguousarray(table)
                self._kept.append(table)
                answer[name] = table.ctypes.data
            answer["factors"] = self._factors(rows[order], first)
            full = blocks.sizes**2 + 2 * count * blocks.sizes + 2 * count**2 + count
            room = max(room, int(full[~self._large].max(initial=0)))
        self._integers(level=which)
        self._set(answers=self._answers, scratch=np.zeros(len(blocks.sizes) + room))

    def _factors(self, rows: Indices, first: Indices) -> int:
        """The address of the factors of large blocks, with equalities in the order of blocks."""
        given, blocks = self.given, self._blocks
        found = np.zeros(len(blocks.sizes), FACTORS)
        row_first, order = grouped(given.A[0], given.rows)
        for b in np.flatnonzero(self._large):
            own = rows[first[b] : first[b + 1]]
            entries = [order[row_first[r] : row_first[r + 1]] for r in own]
            row = np.repeat(np.arange(len(own)), [len(part) for part in entries])
            columns = blocks.local[given.A[1][np.concatenate([np.zeros(0, dtype=np.int64), *entries])]]
            here = blocks.of[given.M[0]] == b
            mass = blocks.local[given.M[0][here]], blocks.local[given.M[1][here]]
            lifts = given.lifts[own]
            least = NO_MASS_LEFT if lifts.all() else NEARLY_MASSLESS
            block = Entries(int(blocks.sizes[b]), len(own), mass, (row, columns), lifts)
            for name, table in pattern(block, least).items():
                if isinstance(table, np.ndarray):
                    table = np.ascontiguousarray(table)
                    self._kept.append(table)
                    table = table.ctypes.data
                found[b][name] = table
        self._kept.append(found)
        return int(found.ctypes.data)

    def _lay_out_arrays(self) -> None:
        given, n, rows, k = self.given, self.given.n, self.given.rows, len(self.given.contacts)
        kernels = [x for x in (given.kernel, given.ledger, given.event) if x is not None]
        widest = max(x.output_size for x in kernels)
        self._set(room=np.zeros(max(x.work_size for x in kernels) + 1))
        self._set(out=np.zeros(widest + 1), later=np.zeros(widest + 1))
        self._set(given=np.concatenate([np.zeros(1 + 2 * n), given.parameters]))
        self._set(always=given.always.astype(float), restitution=np.array(given.restitution, dtype=float))
        self._set(holding=given.friction[:, 0].copy(), rubbing=given.friction[:, 1].copy())
        self.q, self.v, self.rates, self.last = (np.zeros(size) for size in (n, n, rows, rows))
        self.stuck, self.readings = np.zeros(k), np.zeros(2 * given.events)
        self._set(q=self.q, v=self.v, rates=self.rates, last=self.last, stuck=self.stuck, readings=self.readings)
        of_n = (
            "middle",
            "free",
            "first_free",
            "change",
            "w",
            "force",
            "mean",
            "end_q",
            "end_v",
            "after",
            "moved",
            "jump",
        )
        self._set(**{name: np.zeros(n) for name in (*of_n, "impulse", "pushed_by")})
        self._set(**{name: np.zeros(rows) for name in ("lambda_free", "multipliers", "guess", "asked", "end_rates")})
        of_k = (
            "gap",
            "least",
            "bounces",
            "before",
            "speed_after",
            "sticks",
            "depth",
            "slot",
            "closed",
            "mu",
            "settled",
            "state",
        )
        self._set(**{name: np.zeros(k) for name in of_k}, own=np.zeros(9 * k))
        self._set(
            **{name: np.zeros(rows) for name in ("c", "x", "u", "good", "aim", "face", "missing", "direction")},
            best=np.zeros(max(rows, DENSE_ROWS)),
        )
        self._set(value=np.zeros(len(given.A[0])), answer=np.zeros(self._touched))
        whole = {
            "who": k,
            "begin": k + 1,
            "which": rows,
            "owner": rows,
            "value_first": rows + 1,
            "answer_first": rows + 1,
        }
        whole |= {"column": len(given.A[0]), "answer_column": self._touched, "places": max(rows, DENSE_ROWS) + 3}
        self._set(**{name: np.zeros(size, dtype=np.int64) for name, size in whole.items()})
        self._set(dense=np.zeros(DENSE_ROWS * (DENSE_ROWS + 1)), mobilities=np.zeros(DENSE_ROWS**2))
        self._lay_out_profile()
        length = HEAD + 8 * n + rows + 4 * k
        self._full = np.zeros((max(2, min(AT_A_TIME, KEPT_AT_ONCE // length)), length))
        self._short = np.zeros((AT_A_TIME, SHORT))
        self._set(length=length, room_for=len(self._full), full=self._full, short=self._short)

    def _lay_out_profile(self) -> None:
        """Room for many contacts at once; pages that are never written to take none."""
        rows, k, blocks = self.given.rows, len(self.given.contacts), len(self._blocks.sizes)
        room = PROFILE_ROOM if rows > DENSE_ROWS else 0
        whole = {"meet_first": blocks + 1, "meet": self._touched, "seen": blocks, "low": rows, "profile_first": rows}
        whole |= dict.fromkeys(("sequence", "position", "reach", "table_first", "base"), k + 1)
        self._set(**{name: np.zeros(size, dtype=np.int64) for name, size in whole.items()})
        self._set(**{name: np.zeros(room) for name in ("table", "lower", "upper")})

    def begin(self, t: float, until: float, count: int, wanted: NDArray[np.bool_]) -> None:
        """So many steps are to be made from a time to another; some are wanted in full."""
        self._set(t=t, began=t, until=until, count=count, number=0, wanted=wanted.astype(float))

    @property
    def t(self) -> float:
        """The time that was reached."""
        return float(self._record["t"][0])

    @property
    def number(self) -> int:
        """The number of the next step."""
        return int(self._record["number"][0])

    @property
    def lifted_by_all(self) -> bool:
        """Whether all equalities of large blocks lift their masses; full matrices do so by themselves."""
        return bool(self.given.lifts[self.given.equal].all()) or not self._large.any()

    def lift_by_all(self) -> None:
        """Let them: masses have become singular on the way."""
        self.given.lifts[self.given.equal] = True
        self._lay_out_answers()

    def advance(self, most: int) -> tuple[Outcome, Array, Array]:
        """So many steps at most: why it came back, what is kept of each (…, SHORT), and those in full (…, length)."""
        self._set(noted=0, kept=0)
        outcome = Outcome(self._advance(self._record.ctypes.data, min(most, AT_A_TIME)))
        return outcome, self._short[: self._record["noted"][0]].copy(), self._full[: self._record["kept"][0]].copy()


def parts_of(full: Array, n: int, rows: int, contacts: int) -> dict[str, Any]:
    """What a step that was kept in full says, by name."""
    names = ("number", "t", "until", "left", "sweeps", "struck", "rank", "unique", "impact")
    found: dict[str, Any] = dict(zip(names, full[:HEAD].tolist(), strict=True))
    at = HEAD
    sizes = dict.fromkeys(("q", "v", "end_q", "end_v", "after", "jump", "moved", "impulse"), n)
    sizes |= {"multipliers": rows} | dict.fromkeys(("before", "speed_after", "sticks", "depth"), contacts)
    for name, size in sizes.items():
        found[name] = full[at : at + size]
        at += size
    return found
