"""A control loop: a cart balances a pole, is pushed, and balances it again.

The motion advances a millisecond at a time, under a force that the controller chooses from what it sees: angle and
place with their rates, weighed by hand. What it costs is told at the end.
"""

import sys
import time

import numpy as np

import zwang as zw

x, X, Y = zw.coordinates("x X Y")
M, m, l, g, F, push = zw.parameters("M m l g F push")
CART_POLE = zw.System(
    (x, X, Y),
    kinetic=(M * zw.dot(x) ** 2 + m * (zw.dot(X) ** 2 + zw.dot(Y) ** 2)) / 2,
    potential=m * g * Y,
    forces={x: F, X: push},
    constraints={"pole": (X - x) ** 2 + Y**2 - l**2},
    parameters={M: 1, m: 0.2, l: 0.5, g: 9.81, push: 0},
    name="A cart balances a pole",
)
LEAN = 0.2
START = {x: 0, X: 0.5 * np.sin(LEAN), Y: 0.5 * np.cos(LEAN), zw.dot(x): 0, zw.dot(X): 0, zw.dot(Y): 0}
WEIGHTS = np.array([40.0, 6.0, 2.0, 4.0])  # of angle, its rate, place, speed
DT = 0.001


def seen(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Angle, its rate, place and speed: what the controller knows."""
    across, up = q[1] - q[0], q[2]
    return np.array([np.arctan2(across, up), ((v[1] - v[0]) * up - across * v[2]) / (across**2 + up**2), q[0], v[0]])


def main() -> None:
    """Six seconds of balance; somebody pushes the bob at three."""
    stepper = zw.Stepper(CART_POLE, START, inputs=[F, push])
    q, v, spent = stepper.q, stepper.v, 0.0
    print(f"{CART_POLE.name}\n\n   t / s   angle / °   cart / m")
    for step in range(6000):
        state = seen(q, v)
        if step % 500 == 0:
            print(f"   {stepper.t:5.1f} {np.degrees(state[0]):11.3f} {state[2]:10.4f}")
        u = np.array([WEIGHTS @ state, 1.0 if 3000 <= step < 3100 else 0.0])
        began = time.process_time()
        _, q, v = stepper.advance(DT, u)
        spent += time.process_time() - began
    print(f"\nafter {stepper.t:.1f} s it leans by {np.degrees(seen(q, v)[0]):.3f}°")
    print(f"length of the pole: off by {abs(np.hypot(q[1] - q[0], q[2]) - 0.5):.1e}")
    print(f"processor time: {1e6 * spent / 6000:.1f} µs a step")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
