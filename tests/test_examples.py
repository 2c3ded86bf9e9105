"""The examples run as a person runs them, and say what they should."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str) -> str:
    """What an example prints."""
    return subprocess.run(
        [sys.executable, EXAMPLES / name],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONWARNINGS": "error"},
    ).stdout


def test_appell_goes_from_description_to_forces_and_warns_at_rest() -> None:
    printed = run("appell.py")
    for essential in (
        "⎡-2⋅ẋ  -2⋅ẏ  2⋅ż⎤",  # A, with dots
        "rank 1 of 2 rows assumed; independent: 'cone'",
        "⎣λ₂⎦",
        "redundant: follows from cone",
        "q̈ = (-2.943, -3.924, -4.905)",
        "Q_c = (-2.943, -3.924, 4.905)",
        "λ = (0.0981, 0.1962)",
        "λ₁ + 2λ₂ = 0.4905",
        "Singular: the rank is 0 here but 1 at nearby states.",
        "z̈ = -4.905",
        "z̈ = -9.81",
    ):
        assert essential in printed
    last = printed.rstrip().splitlines()[-1]
    assert "All five forms of the equations agree" in last
    assert float(last.split("largest difference ")[1].split()[0]) < 1e-12
    assert max(map(len, printed.splitlines())) <= 100
