"""Large systems: nets, chains, mechanisms, robots and many coordinates; beside SciPy, and MuJoCo where it is installed.

    .venv/bin/python benchmarks/large.py            everything
    .venv/bin/python benchmarks/large.py 10 20      nets of these sides only

SciPy's side writes down M, Q, A and b of point masses on links in NumPy and solves the saddle-point system by a sparse
LU. Both sides do the same: describe the system and compute the first acceleration (set-up), then accelerations at other
states. MuJoCo reads the same mechanism as XML and computes its first acceleration, in joint coordinates. Times are
processor times, so that a busy machine troubles both sides alike. Growth is the exponent of N, fitted to set-up.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse import bmat, csc_matrix, diags
from scipy.sparse.linalg import splu

import zwang as zw
from zwang import multibody as mb
from zwang.model.values import state_arrays

G, ROUNDS, CALLS = 9.81, 5, 20
NETS, CHAINS = (10, 20, 30, 50), (100, 1000, 10000)
BODIES, ROBOTS, FLAT = (100, 300, 1000), (20, 40), 50_000
ALONE = "--alone"  # in a process of its own


def main() -> None:
    if ALONE in sys.argv:
        what, size = sys.argv[-2], int(sys.argv[-1])
        print(memory_of_net(size) if what == "net" else set_up_of_robot(size))
        return
    sizes = [int(x) for x in sys.argv[1:]]
    if (load := os.getloadavg()[0]) > 0.5:
        print(f"the machine is busy (load {load:.1f}): times are higher than they need be")
    points(sizes or NETS, () if sizes else CHAINS)
    if not sizes:
        mechanisms()
        many_coordinates()
        a_net_in_motion(20)


def alone(what: str, size: int) -> float:
    """A number that a process of its own finds."""
    command = [sys.executable, __file__, ALONE, what, str(size)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout)


def memory_of_net(side: int) -> float:
    """The largest memory of this process after the first acceleration of a net."""
    of_zwang(*net(side))
    return peak()


def set_up_of_robot(joints: int) -> float:
    """Set-up of a robot, in a process that has imported everything and has met other mechanisms only."""
    first_of(hinged(20))
    return timed(lambda: first_of(mb.read_urdf(robot(joints)).mechanism))[1]


def peak() -> float:
    """The largest memory of this process, in MB; `getrusage` counts that of the process which started it, too."""
    with open("/proc/self/status", encoding="ascii") as told:
        return next(int(line.split()[1]) for line in told if line.startswith("VmHWM")) / 1e3


def points(nets: Sequence[int], chains: Sequence[int]) -> None:
    """Point masses on links, beside SciPy."""
    print(f"{'':14}{'n + m':>8}{'set-up':>10}{'SciPy':>10}{'one q̈':>10}{'SciPy':>10}{'ratio':>8}{'differ by':>11}")
    of_zwang(*net(9))  # kinds are on disk from here on, and imported what will be
    grown("nets", [(side**2, compare(f"net {side} × {side}", *net(side))) for side in nets])
    grown("chains", [(count, compare(f"chain {count:,}", *chain(count, 3))) for count in chains])
    if chains:
        of_zwang(*chain(9, 2))
        compare(f"plane {FLAT:,}", *chain(FLAT, 2), calls=3)
        print(f"memory of a process with the net 50 × 50 alone: {alone('net', 50):.0f} MB")


def grown(what: str, found: Sequence[tuple[int, float]]) -> None:
    """Say how set-up grows: the exponent of N that fits best, of all sizes and from the last but one to the last."""
    if len(found) > 1:
        n, seconds = np.log(np.array(found)).T
        last = (seconds[-1] - seconds[-2]) / (n[-1] - n[-2])
        print(f"set-up of {what} grows with N^{np.polyfit(n, seconds, 1)[0]:.2f}, at the end with N^{last:.2f}")


def chain(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Masses in a row, in space or in the plane."""
    places = np.zeros((count, size))
    places[:, 0] = np.arange(count)
    return places, np.stack([np.arange(1, count), np.arange(count - 1)], axis=1)


def mechanisms() -> None:
    """Bodies on hinges in space, and robots: describe to first acceleration, beside MuJoCo."""
    print(f"\n{'':30}{'n + m':>8}{'set-up':>10}{'MuJoCo':>10}{'ratio':>8}")
    first_of(hinged(20, odd=True))
    for odd, what in ((False, "on hinges"), (True, "with odd frames")):
        grown(what, [(n, row(f"{n:,} bodies {what}", lambda n=n, o=odd: hinged(n, o), bars(n))) for n in BODIES])
    for count in ROBOTS:
        alone("robot", count)  # kinds are on disk from here on
        seconds = min(alone("robot", count) for _ in range(3))
        told(f"robot of {count} joints (URDF)", mb.read_urdf(robot(count)).mechanism, seconds, robot(count))


def row(name: str, build: Callable[[], mb.Mechanism], xml: str) -> float:
    """One row of the table."""
    mechanism: list[mb.Mechanism] = []
    seconds = timed(lambda: (mechanism.append(build()), first_of(mechanism[0])))[1]
    told(name, mechanism[0], seconds, xml)
    return seconds


def told(name: str, mechanism: mb.Mechanism, seconds: float, xml: str) -> None:
    """Print it."""
    system = mechanism.system
    size = len(system.coordinate_names) + len(system.constraint_names)
    there = of_mujoco(xml)
    rival = f"{there:8.3f} s{seconds / there:8.1f}" if there else f"{'–':>10}{'–':>8}"
    print(f"{name:30}{size:8,}{seconds:8.2f} s{rival}", flush=True)


def first_of(mechanism: mb.Mechanism) -> Any:
    """The acceleration where the bodies are described."""
    function = zw.function(mechanism.system)
    return function(0.0, *state_arrays(mechanism.system, mechanism.guess))


def of_mujoco(xml: str) -> float | None:
    """Processor time from the text to the first acceleration; None without MuJoCo, or where it does not read it."""
    try:
        import mujoco
    except ImportError:
        return None

    def run() -> None:
        model = mujoco.MjModel.from_xml_string(xml)
        mujoco.mj_forward(model, mujoco.MjData(model))

    try:
        return min(timed(run)[1] for _ in range(2))
    except ValueError:
        return None


def hinged(count: int, odd: bool = False) -> mb.Mechanism:
    """Bars on hinges about y and z in turn, or about axes at random, with frames at random."""
    draw = np.random.default_rng(0)
    bodies, joints = list[mb.Body](), list[Any]()
    for i in range(count):
        turn = tuple(draw.normal(size=4)) if odd else (1, 0, 0, 0)
        axis = tuple(draw.normal(size=3)) if odd else ((0, 1, 0), (0, 0, 1))[i % 2]
        bodies.append(mb.Body(f"b{i}", 1.0, (0.01, 1 / 12, 1 / 12), position=(i + 0.5, 0, 0), orientation=turn))
        joints.append(mb.Revolute(f"j{i}", bodies[i - 1] if i else mb.ground, bodies[i], at=(i, 0, 0), axis=axis))
    return mb.Mechanism(bodies, joints, [mb.Gravity((0, 0, -G))])


def bars(count: int) -> str:
    """The first of these for MuJoCo."""
    one = '<inertial pos="0.5 0 0" mass="1" diaginertia="0.0101 0.08333333 0.08333333"/>'
    axes = ("0 1 0", "0 0 1")
    opened = [f'<body pos="{int(i > 0)} 0 0"><joint type="hinge" axis="{axes[i % 2]}"/>{one}' for i in range(count)]
    return f"<mujoco><worldbody>{''.join(opened)}{'</body>' * count}</worldbody></mujoco>"


def robot(count: int) -> str:
    """A tree of links on hinges with dampers, two on each, with frames at random."""
    draw = np.random.default_rng(1)
    parts = ['<link name="base"/>']
    for i in range(count):
        xx, yy, zz = draw.uniform(0.01, 0.014, 3)
        turn, axis = " ".join(map(str, draw.uniform(-1, 1, 3))), ("1 0 0", "0 1 0", "0 0 1")[i % 3]
        parts.append(
            f'<link name="l{i}"><inertial><origin xyz="0.1 0 0.05" rpy="0 0 {0.1 * i}"/><mass value="{1 + 0.1 * i}"/>'
            f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0.0001" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{i}" type="continuous"><parent link="{f"l{(i - 1) // 2}" if i else "base"}"/>'
            f'<child link="l{i}"/><origin xyz="0.2 0 0.1" rpy="{turn}"/><axis xyz="{axis}"/>'
            f'<dynamics damping="0.1"/></joint>'
        )
    return f'<robot name="robot">{"".join(parts)}</robot>'


def many_coordinates() -> None:
    """Whole calls of `simulate` beside their integration, where there is little to compute."""
    print(f"\n{'':38}{'first call':>12}{'second call':>13}{'integration':>13}")
    u = zw.coordinates("u")
    for name, count, constrained in (
        ("10,000 oscillators", 10_000, 0),
        ("30,000 coordinates, one constraint", 30_000, 1),
    ):
        x = zw.coordinates("x", shape=count)
        system = zw.System(
            x,
            kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}),
            potential=zw.family(u**2 / 2, {u: x}),
            constraints={"tie": x[0] - x[1]} if constrained else {},
        )
        start = {x: np.ones(count), zw.dot(x): 0.0}
        calls = [
            timed(lambda s=system, a=start: zw.simulate(s, a, 1.0, samples=2, tol=1e-9, progress=False)) for _ in "ab"
        ]
        (_, first), (motion, second) = calls
        off = float(np.abs(motion.q.values[-1] - np.cos(1.0)).max())
        run = min(motion.attrs["run_seconds"], second)  # by the clock on the wall: the processor's time bounds it
        print(f"{name:38}{first:10.2f} s{second:11.2f} s{run:11.2f} s   off by {off:.0e}")


def a_net_in_motion(side: int) -> None:
    """One second of a net at 1e-9, beside SciPy's DOP853 on the function above."""
    places, links = net(side)
    i, j = places[:, 0], places[:, 1]
    speeds = np.stack([0 * i, 0 * i, 6 * np.sin(0.5 * i) * np.cos(0.3 * j)], axis=1)
    system = described(places, links)
    x = zw.coordinates("x", shape=places.shape)
    start = {x: places, zw.dot(x): speeds}
    runs = [timed(lambda: zw.simulate(system, start, 1.0, samples=2, tol=1e-9, progress=False)) for _ in range(3)]
    motion, call = runs[-1]
    theirs, n = of_scipy(places, links), places.size

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, v = (part.reshape(places.shape) for part in np.split(y, 2))
        return np.concatenate([y[n:], theirs(q, v)])

    begin = np.concatenate([places.ravel(), speeds.ravel()])
    other, seconds = timed(lambda: solve_ivp(rate, (0, 1), begin, method="DOP853", rtol=1e-9, atol=1e-9))
    apart = np.abs(other.y[:n, -1] - motion.q.values[-1]).max()
    run = min(min(motion.attrs["run_seconds"], call) for motion, call in runs)
    print(f"\nnet {side} × {side}, 1 s at 1e-9: {run * 1e3:.0f} ms of a call of {call * 1e3:.0f} ms", end="; ")
    print(f"SciPy {seconds:.1f} s, ratio {seconds / run:.0f}; they differ by {apart:.0e}")


def net(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Where masses are at first, and which are linked."""
    number = np.arange(side * side).reshape(side, side)
    links = np.stack([joined(number[1:], number[:, 1:]), joined(number[:-1], number[:, :-1])], axis=1)
    return np.stack([*np.divmod(number.ravel(), side), 0 * number.ravel()], axis=1).astype(float), links


def joined(*parts: np.ndarray) -> np.ndarray:
    return np.concatenate([part.ravel() for part in parts])


def compare(name: str, places: np.ndarray, links: np.ndarray, calls: int = CALLS) -> float:
    """One row of the table; what set-up took."""
    draw = np.random.default_rng(0)
    q = places + 0.01 * draw.standard_normal(places.shape)
    v = 0.1 * draw.standard_normal(places.shape)
    ours, set_up = timed(lambda: of_zwang(places, links))
    theirs, set_up_there = timed(lambda: of_scipy(places, links))
    here = there = np.inf
    for _ in range(ROUNDS):
        here = min(here, timed(lambda: [ours(q, v) for _ in range(calls)])[1] / calls)
        there = min(there, timed(lambda: [theirs(q, v) for _ in range(3)])[1] / 3)
    differ = np.abs(ours(q, v) - theirs(q, v)).max() / np.abs(theirs(q, v)).max()
    print(
        f"{name:14}{places.size + len(links):8,}{set_up:8.2f} s{set_up_there:8.2f} s{here * 1e6:7,.0f} µs"
        f"{there * 1e6:7,.0f} µs{there / here:8.1f}{differ:11.0e}",
        flush=True,
    )
    return set_up


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return run(), time.process_time() - began


def described(places: np.ndarray, links: np.ndarray) -> zw.System:
    """The system by families; gravity is along the last axis."""
    size = places.shape[1]
    x = zw.coordinates("x", shape=places.shape)
    a, b = zw.coordinates("a b", shape=size)
    return zw.System(
        x,
        kinetic=zw.family((zw.dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(G * a[size - 1], {a[size - 1]: x[:, size - 1]}),
        constraints={"link": zw.family(((a - b) ** 2).sum() - 1, {a: x[links[:, 0]], b: x[links[:, 1]]})},
    )


def of_zwang(places: np.ndarray, links: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The same as a function of its state, called once."""
    function = zw.function(described(places, links))

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(function(0.0, q.ravel(), v.ravel()))

    acceleration(places, 0 * places)
    return acceleration


def of_scipy(places: np.ndarray, links: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The same in NumPy, with a sparse LU of the saddle-point matrix."""
    n, m, size = places.size, len(links), places.shape[1]
    i, j = links.T
    row = np.repeat(np.arange(m), size)
    columns = [(size * k[:, None] + np.arange(size)).ravel() for k in (i, j)]
    M, Q = diags(np.ones(n)), np.tile([*[0.0] * (size - 1), -G], len(places))

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        d, rate = q[i] - q[j], v[i] - v[j]
        entries = (2 * d).ravel()
        A = csc_matrix((np.concatenate([entries, -entries]), (np.tile(row, 2), np.concatenate(columns))), (m, n))
        K = bmat([[M, A.T], [A, None]], format="csc")
        return np.asarray(splu(K).solve(np.concatenate([Q, -2 * (rate**2).sum(axis=1)]))[:n])

    acceleration(places, 0 * places)
    return acceleration


if __name__ == "__main__":
    main()
