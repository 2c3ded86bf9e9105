"""Files at random are accepted or refused, each in two seconds and 500 MB. `make fuzz` tries all of them.

Model files are refused with places. Stores are gone on with to equal bits, or refused by name.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("resource")
TOP = Path(__file__).parents[2]
AT_ONCE = 500  # files a process
BY = {
    "mutated": "tests.files.fuzz",
    "generated": "tests.files.fuzz",
    "stores": "tests.motion.ensemble.fuzz_stores",
    "motions": "tests.files.fuzz_motions",
    "robots": "tests.multibody.readers.fuzz_robots",
}
FORESEEN = ("accepted", "refused", "not shown", "not simulated")
NEEDS = {"stores": ("numcodecs", "dask", "distributed")}
MANY = {"mutated": 20_000, "generated": 2_000, "stores": 600, "motions": 600, "robots": 3_000}
LONGEST, LARGEST = 2.0, 500  # seconds of processor time, megabytes in all


def read(kind, first, count):
    """What became of some files, read in a process of their own."""
    for package in NEEDS.get(kind, ()):
        pytest.importorskip(package)
    words = [sys.executable, "-m", BY[kind], kind, str(first), str(count)]
    done = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == count, f"reading {kind} {first + len(rows)} ended the process: {done.stderr[-500:]}"
    return rows


def require(rows):
    """Every file is refused with places or accepted, soon, and nothing happened that nobody foresaw."""
    wrong = [r for r in rows if r["outcome"] not in FORESEEN or r["words"]]
    assert wrong == []
    assert [r for r in rows if r["seconds"] > LONGEST or r["megabytes"] > LARGEST] == []


@pytest.mark.parametrize(
    ("kind", "count"), [("mutated", 60), ("generated", 60), ("stores", 40), ("motions", 40), ("robots", 50)]
)
def test_some_files_at_random(kind, count):
    require(read(kind, 0, count))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), MANY.items())
def test_many_files_at_random(kind, count, capsys):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda first: read(kind, first, min(AT_ONCE, count - first)), range(0, count, AT_ONCE))
        rows = [row for part in parts for row in part]
    with capsys.disabled():
        print(figures(kind, rows))
    require(rows)


def figures(kind, rows):
    """How it went, in one line."""
    outcomes = ", ".join(f"{count:,} {what}" for what, count in sorted(Counter(r["outcome"] for r in rows).items()))
    seconds = sorted(r["seconds"] for r in rows)
    slowest = max(rows, key=lambda r: r["seconds"])
    return (
        f"\n{kind}: {len(rows):,} files, {outcomes}; {sum(seconds):.0f} s of processor time, half of them below "
        f"{1000 * seconds[len(seconds) // 2]:.0f} ms, 99% below {seconds[len(seconds) * 99 // 100]:.2f} s, the slowest "
        f"(seed {slowest['seed']}) {slowest['seconds']:.2f} s; at most {max(r['megabytes'] for r in rows)} MB"
    )
