"""What follows from a model: eigenvalues along speeds, positions of a linkage, a fit, a long chain at rest.

Times are of the processor, each the shortest of some calls after one that sets everything up, whose time is told
beside it. The systems are those of the tests: Whipple's bicycle of nine coordinates with a redundant row, ten bars in
bodies and joints, a pendulum in redundant Cartesian coordinates, a bead on a hoop that turns, with a redundant row,
chains of 150 and 300 links.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small; threads would wait for each other

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the systems of the tests

import zwang as zw
from tests.analysis.fitting import test_fit as pendulum
from tests.analysis.systems import bicycle, chain, hanging
from tests.analysis.test_follow import HOOP
from tests.analysis.test_kinematics import ten_bars
from zwang.files.read import read_model

ROUNDS = 5


def main() -> None:
    """All of them, one line each."""
    print(f"{'what':58} {'first call':>11} {'again':>9}")
    for words, call in problems():
        began = time.process_time()
        call()
        first = time.process_time() - began
        again = min(timed(call) for _ in range(ROUNDS))
        print(f"{words:58} {first:9.2f} s {1e3 * again:6.0f} ms")


def timed(call: Callable[[], Any]) -> float:
    """Processor time of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def problems() -> list[tuple[str, Callable[[], Any]]]:
    """What is measured, in words and as a call."""
    wheels = bicycle()
    a, _, z, _, roll, _, steer, rear, front = wheels.coordinates
    v = np.linspace(0, 10, 100)
    rolling = dict.fromkeys(wheels.coordinates, 0.0)
    rolling |= {z: -0.3, zw.dot(a): v, zw.dot(rear): -v / 0.3, zw.dot(front): -v / 0.35}
    states = [roll, steer, zw.dot(roll), zw.dot(steer)]

    bars, times = ten_bars(), np.linspace(0, 6.2, 1000)

    x, y, dot = pendulum.x, pendulum.y, zw.dot
    truth = {pendulum.g: 9.81, pendulum.L: 1.3, pendulum.c: 0.15}
    begin = {x: 1.3 * np.sin(0.9), y: -1.3 * np.cos(0.9), dot(x): 0, dot(y): 0}
    seen = zw.simulate(pendulum.PENDULUM, begin, 5, times=np.linspace(0.05, 5, 100), parameters=truth)
    both = {"x": x, "y": y}

    bead = read_model(HOOP)

    def along(count: int) -> Any:
        return replace(bead.analyses["linear"], against={"w": f"5:3.2:{count}"}).modes(bead)

    links, more = chain(150), chain(300)
    return [
        ("eigenvalues of a bicycle at 100 speeds", lambda: zw.modes(wheels, rolling, states=states)),
        ("1,000 crank positions of ten bars, with forces", lambda: zw.kinematics(bars, times=times)),
        (
            "a fit of four parameters to 200 points",
            lambda: zw.fit(pendulum.PENDULUM, seen, pendulum.GUESS, start=pendulum.START, observe=both),
        ),
        (
            "the same in five pieces",
            lambda: zw.fit(pendulum.PENDULUM, seen, pendulum.GUESS, start=pendulum.START, observe=both, pieces=5),
        ),
        ("rest and modes of a bead on a hoop along 101 speeds", lambda: along(101)),
        ("the same along 1,000 speeds", lambda: along(1000)),
        ("rest of a chain of 150 links, 300 coordinates", lambda: zw.equilibrium(links, nearby(links))),
        ("its modes", lambda: zw.modes(links, hanging(links))),
        ("rest of a chain of 300 links, 600 coordinates", lambda: zw.equilibrium(more, nearby(more))),
        ("its modes", lambda: zw.modes(more, hanging(more))),
        ("the lowest twenty of them", lambda: zw.modes(more, hanging(more), count=20)),
    ]


def nearby(links: zw.System) -> dict[Any, float]:
    """A rough guess of how a chain hangs."""
    straight, rng = hanging(links), np.random.default_rng(0)
    return {q: straight[q] + 0.02 * rng.standard_normal() for q in links.coordinates}


if __name__ == "__main__":
    main()
