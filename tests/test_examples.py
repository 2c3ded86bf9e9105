"""The examples run as a person runs them, and say what they should."""

import math
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


def number_after(printed: str, words: str) -> float:
    """The number that follows some words in what was printed."""
    return float(printed.split(words)[1].split()[0])


def test_andrews_reaches_its_reference() -> None:
    printed = run("andrews.py")
    assert "7 coordinates, 6 constraints of rank 6, 1 degree of freedom" in printed
    assert "30    15.810771195           -24631.763" in printed  # the reference's angle and acceleration
    assert number_after(printed, "largest relative error of the end position: ") < 1e-11
    assert number_after(printed, "largest gap in a loop: ") < 1e-13


def test_robot_arm_finds_its_path_and_its_torques() -> None:
    printed = run("robot_arm.py")
    assert "q1 = -0.214580 rad" in printed  # by the law of cosines, as in the test of the model file
    assert "q2 =  1.314500 rad" in printed
    torques = [[float(x) for x in row.split()[-2:]] for row in printed.splitlines() if "in the gripper" in row]
    assert torques == sorted(torques)
    assert torques[0] == [33.515, 5.125]
    assert number_after(printed, "largest distance from the path: ") < 1e-10


def test_tall_building_spares_its_soft_floor() -> None:
    printed = run("tall_building.py")
    free, ruled = (
        [float(x) for x in row.split()[-10:]] for row in printed.splitlines() if "itself" in row or "its rule  " in row
    )
    assert free[0] > 1.5 * free[1]
    assert ruled[0] == ruled[1] < 0.8 * free[0]
    assert number_after(printed, "It is kept to ") < 1e-11


def test_hoop_lifts_its_bead_only_when_it_turns_fast_enough() -> None:
    printed = run("hoop.py")
    rows = [[float(x) for x in row.split()] for row in printed.splitlines()[3:]]
    for turn, _, highest, about, _ in rows:
        if turn**2 < 9.81:
            assert highest == 5.730  # it only swings back: the start was the highest place
        else:
            # θ̇ = 0 again where Ω²(sin²θ − sin²θ₀)/2 = g(cos θ₀ − cos θ), which is cos θ + cos θ₀ = 2 cos(about)
            cosine = 2 * math.cos(math.radians(about)) - math.cos(0.1)
            assert abs(highest - math.degrees(math.acos(cosine))) < 2e-3
    assert len(rows) == 5


def test_balance_brings_the_pole_upright_twice() -> None:
    printed = run("balance.py")
    assert "     3.5      -5.0" in printed  # after the push
    assert abs(float(printed.split("it leans by ")[1].split("°")[0])) < 0.5
    assert number_after(printed, "length of the pole: off by ") < 1e-14


def test_a_column_flutters_at_ziegler_s_loads() -> None:
    printed = run("ziegler.py")
    assert "flutter without damping from P = 2.085786 on; 7/2 - sqrt(2) = 2.085786" in printed
    assert "with dampers c = 0.1 from   P = 1.46929 on; 41/28 + c^2/2 = 1.46929" in printed
    assert "P = 2.2: unstable" in printed


def test_a_regulator_brings_the_pole_upright() -> None:
    printed = run("regulator.py")
    assert "gains: [ -1.       -30.30906   -2.231416  -6.688774]" in printed  # as python-control has them
    assert "regulated: stable" in printed
    assert number_after(printed, "it is off by ") < 1e-3


def test_a_pendulum_is_fitted_from_its_film() -> None:
    printed = run("fitted_pendulum.py")
    assert number_after(printed, "largest distance from the truth: ") < 3
    assert "From the angle alone: Of g and L only g/L can be told" in printed
    assert "With the mass unknown: Of c and m only c/m can be told" in printed


def test_a_shaken_pivot_holds_from_an_amplitude_on() -> None:
    printed = run("kapitza.py")
    held = number_after(printed, "held from a = ")
    assert math.isclose(held, number_after(printed, "sqrt(2 g)/w = "), rel_tol=0.01)


def test_a_wheel_keeps_itself_upright_from_a_speed_on() -> None:
    printed = run("wheel.py")
    assert "v = 1.0: unstable" in printed
    assert "held from v = 1.81 on; sqrt(g r/3) = 1.8083" in printed
    assert "it must spin at -1.981402767 rad/s" in printed
