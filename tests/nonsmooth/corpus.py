"""Problems that tests of contacts and switches have met, with the motions that were accepted: `corpus.xz`.

They were recorded while modes were still found by enumeration, exchange, sweeps and pivoting, each with the answer
that those solvers gave. `python tests/nonsmooth/corpus.py IN.pickle` packs a choice of such records. Numbers
of W and c are kept to the last bit, accepted speeds to 13 digits, and as zero where they are rounding.
"""

import io
import lzma
import pickle
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth import Law, Problem

FILE = Path(__file__).with_name("corpus.xz")
FAMILIES = ("gauss", "decide", "later", "phase", "together", "step", "box")
NORMALS = ("none", "unilateral", "bilateral")
DIGITS = 43  # bits of accepted speeds: 13 digits
ROUNDING = 1e-14  # of the largest speed: an accepted one below is zero
ROUNDED = 1e-13  # free speeds below are rounding of scenes of size one: any motion is accepted there
MOST = {"step": 2_500, "later": 6_000, "decide": 6_000, "gauss": 4_000, "phase": 6_000, "box": 1_000, "together": 2_000}


@dataclass(frozen=True)
class Record:
    """A problem, the family it is from, and the accepted speeds of its rows."""

    family: str
    problem: Problem
    u: Array


def law_of(row: Array) -> Law:
    """A law from its row of numbers."""
    normal, tangents, mu, static, bound, low, *way = row.tolist()
    t = int(tangents)
    if not t:
        mu = static = 0.0
    return Law(NORMALS[int(normal)], t, mu, static, bound, low, tuple(way[:t]) if any(way) else ())  # type: ignore[arg-type]


def read(path: Path = FILE) -> Iterator[Record]:
    """All records."""
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as data:
        laws = [law_of(row) for row in data["laws"]]
        which, sizes, families = data["which"], data["sizes"], data["families"]
        numbers = {name: unshuffled(data[name]) for name in ("W", "c", "u")}
    at = dict.fromkeys((*numbers, "law"), 0)

    def take(name: str, count: int) -> Array:
        at[name] += count
        return numbers[name][at[name] - count : at[name]]

    for family, k in zip(families.tolist(), sizes.tolist(), strict=True):
        mine = tuple(laws[i] for i in which[at["law"] : at["law"] + k])
        at["law"] += k
        r = sum(law.rows for law in mine)
        W = np.zeros((r, r))
        W[np.triu_indices(r)] = take("W", r * (r + 1) // 2)
        W = np.triu(W) + np.triu(W, 1).T
        yield Record(FAMILIES[family], Problem(W, take("c", r), mine), take("u", r))


def shuffled(x: Array) -> Any:
    """The bytes of numbers, the first of all numbers first: what repeats then stands together."""
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8).reshape(-1, 8).T.copy()


def unshuffled(x: Any) -> Array:
    """Numbers from their bytes."""
    return np.frombuffer(np.ascontiguousarray(x.T).tobytes(), np.float64)


def rounded(u: Array) -> Array:
    """Speeds to 13 digits."""
    u = np.where(np.abs(u) <= ROUNDING * np.abs(u).max(initial=0.0), 0.0, u)
    mantissa, exponent = np.frexp(u)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**DIGITS) / 2.0**DIGITS, exponent))


def pack(records: list[tuple[str, Array, Array, Array, Array]], path: Path = FILE) -> int:
    """Write a choice of recorded problems; how many."""
    groups: dict[str, list[Any]] = defaultdict(list)
    for family, W, c, laws, u in records:
        laws[:, 5] = np.maximum(laws[:, 5], 0.0)  # impulses of a first phase may be rounding below zero
        if np.abs(c).max() > ROUNDED:
            groups[family].append((family, W, c, laws, u))
    chosen = []
    for family, found in groups.items():
        step = max(1, -(-len(found) // MOST[family]))
        chosen += found[::step]
    table: dict[bytes, int] = {}
    which, rows = [], []
    for _, _, _, laws, _ in chosen:
        for law in laws:
            key = law.tobytes()
            if key not in table:
                table[key] = len(rows)
                rows.append(law)
            which.append(table[key])
    triangles = [W[np.triu_indices(len(W))] for _, W, _, _, _ in chosen]
    out = io.BytesIO()
    np.savez(
        out, laws=np.array(rows), which=np.array(which, dtype=np.uint16),
        sizes=np.array([len(r[3]) for r in chosen], dtype=np.uint16),
        families=np.array([FAMILIES.index(r[0]) for r in chosen], dtype=np.uint8),
        W=shuffled(np.concatenate(triangles)), c=shuffled(np.concatenate([r[2] for r in chosen])),
        u=shuffled(np.concatenate([rounded(r[4]) for r in chosen])),
    )  # fmt: skip
    path.write_bytes(lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    return len(chosen)


if __name__ == "__main__":
    print(pack(pickle.loads(Path(sys.argv[1]).read_bytes())), "problems")
