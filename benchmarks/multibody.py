"""Bodies and joints: building, compiling and running against the number of spatial bodies.

    .venv/bin/python benchmarks/multibody.py

A chain of rods hangs from one hinge, axes y and z in turn; a closed loop hangs between two ball joints, its rods joined
by universal joints. Each body has position and quaternion: 7 coordinates. Motion for 1 s at tol 1e-9.
"""

import time
from collections.abc import Callable

import numpy as np

import zwang as zw
from zwang import multibody as mb

SIZES = (2, 5, 10, 20, 40)
GRAVITY = mb.Gravity((0, 0, -9.81))
INERTIA = (0.001, 1 / 12, 1 / 12)


def chain(bodies: int) -> mb.Mechanism:
    """Rods of 1 m in a row along x, hinged one to the next."""
    rods = [mb.Body(f"rod{i}", 1.0, INERTIA, position=(i + 0.5, 0, 0)) for i in range(bodies)]
    before = [mb.ground, *rods]
    axes = ((0, 1, 0), (0, 0, 1))
    joints = [mb.Revolute(f"hinge{i}", before[i], rod, at=(i, 0, 0), axis=axes[i % 2]) for i, rod in enumerate(rods)]
    return mb.Mechanism(rods, joints, [GRAVITY])


def loop(bodies: int) -> mb.Mechanism:
    """Rods of 1 m along a half circle between two points at one height, joined by universal joints."""
    radius = 0.5 / np.sin(np.pi / (2 * bodies))
    angles = np.pi * np.arange(bodies + 1) / bodies
    points = np.stack([-radius * np.cos(angles), 0 * angles, -radius * np.sin(angles)], axis=1)
    rods = []
    for i in range(bodies):
        tilt = np.arctan2(*(points[i + 1] - points[i])[[2, 0]])
        turn = (np.cos(tilt / 2), 0.0, -np.sin(tilt / 2), 0.0)
        rods.append(mb.Body(f"rod{i}", 1.0, INERTIA, position=(points[i] + points[i + 1]) / 2, orientation=turn))
    joints = [mb.Spherical("left", mb.ground, rods[0], at=points[0])]
    for i in range(bodies - 1):
        across = points[i + 2] - points[i + 1]
        normal = np.cross(across, (0, 1, 0))
        joints.append(mb.Universal(f"cross{i}", rods[i], rods[i + 1], at=points[i + 1], axes=((0, 1, 0), normal)))
    joints.append(mb.Spherical("right", mb.ground, rods[-1], at=points[-1]))
    return mb.Mechanism(rods, joints, [GRAVITY])


def measure(build: Callable[[int], mb.Mechanism], bodies: int) -> list[float]:
    """Seconds to describe, to assemble, to compile, to run; microseconds for an acceleration; energy error."""
    began = time.perf_counter()
    mechanism = build(bodies)
    system = mechanism.system
    described = time.perf_counter()
    start = mechanism.start
    assembled = time.perf_counter()
    first = zw.simulate(system, start, 1.0, samples=2, tol=1e-9, method="native", progress=False)
    ready = time.perf_counter()
    again = zw.simulate(system, start, 1.0, samples=2, tol=1e-9, method="native", progress=False)
    run = min(first.attrs["run_seconds"], again.attrs["run_seconds"])
    each = 1e6 * run / first.attrs["evaluations"]
    energy = float(abs(first.energy - first.energy[0]).max())
    return [described - began, assembled - described, ready - assembled, run, each, energy]


def main() -> None:
    measure(chain, 2)  # imports and the step loop are not the mechanism's
    for name, build in (("chain", chain), ("closed loop", loop)):
        print(f"{name}: bodies, describe, assemble, compile and first run, run again, an acceleration, energy error")
        rows = {}
        for bodies in SIZES:
            rows[bodies] = measure(build, bodies)
            *seconds, run, each, energy = rows[bodies]
            told = " ".join(f"{x:6.2f} s" for x in seconds)
            print(f"  {bodies:3}  {told} {1e3 * run:7.2f} ms {each:6.2f} µs  {energy:.0e}")
        small, large = rows[10], rows[40]
        powers = [np.log(b / a) / np.log(4) for a, b in zip(small[:5], large[:5], strict=True)]
        print("  growth from 10 to 40 bodies, N to the power of:", ", ".join(f"{p:.2f}" for p in powers))


if __name__ == "__main__":
    main()
