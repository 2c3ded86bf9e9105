"""zwang itself: the system as a user would describe it, `simulate` with the native engine.

The time of a run is that of the integration, `run_seconds` of the motion; the whole call of `simulate`, with its
forces, residuals and energies, has a table of its own.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from scipy.spatial.transform import Rotation

import zwang as zw
import zwang.motion.ensemble.many
import zwang.motion.simulate
from benchmarks import andrews
from benchmarks.peers.linkage import Hinged, linkage, place, poses
from benchmarks.peers.points import Points
from benchmarks.peers.problem import TOLERANCES, Outcome, Prepared, Problem, clock, written
from zwang import dot
from zwang import multibody as mb

# zwang, SymPy and xarray import what they need when it is needed; the peers do so at once, before the clock starts.
for _module in (
    "llvmlite.binding",
    "scipy.interpolate",
    "symengine",
    "sympy.assumptions.wrapper",
    "sympy.sets.setexpr",
    "sympy.tensor.tensor",
    "xarray.computation.nanops",
):
    importlib.import_module(_module)


def prepare(problem: Problem) -> Prepared:
    """The model, compiled by a first short run."""
    build = written(BUILD, problem, "not written")
    if problem.name == "ensemble":
        return ensemble(problem)
    system, start, observe, conservative = build(problem)

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        motion = zw.simulate(system, start, until, samples=2, tol=tol, method="native", progress=False)
        call = clock() - began
        energy = float(abs(motion.energy - motion.energy[0]).max()) if conservative else float("nan")
        drift = float(np.nanmax(abs(motion.residual.values[-1]), initial=0.0))
        # run_seconds is told by the clock on the wall: on a busy machine the call's processor time bounds it
        seconds = min(motion.attrs["run_seconds"], call)
        return Outcome(observe(motion.q.values[-1]), drift, energy, seconds, call)

    run(1e-3, problem.until * 1e-3)
    return Prepared(run, TOLERANCES, "simulate, native engine", {"zwang": zw.__version__})


def ensemble(problem: Problem) -> Prepared:
    """All pendulums in one call of simulate_many, on all cores."""
    system, *_ = chain(problem)
    places = np.cumsum(np.stack([np.cos(problem.data["angles"]), np.sin(problem.data["angles"])], axis=-1), axis=1)
    starts = {q: places.reshape(len(places), -1)[:, i] for i, q in enumerate(system.coordinates)}
    starts |= {dot(q): 0.0 for q in system.coordinates}

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        motions = zw.simulate_many(system, starts, until, samples=2, tol=tol)
        call = clock() - began
        end = motions.q.values[::10, -1]
        return Outcome(end[:, -2:], seconds=float(motions.attrs["run_seconds"]), call_seconds=call)

    run(1e-3, 0.01)
    return Prepared(run, TOLERANCES[::2], "simulate_many, native engine, threads", {"zwang": zw.__version__})


Built = tuple[zw.System, dict[Any, Any], Callable[[np.ndarray], Any], bool]


def chain(problem: Problem) -> Built:
    """Point masses in Cartesian coordinates, rods as constraints."""
    masses, g = problem.data["masses"], sp.Float(problem.data["g"])
    q = [zw.coordinates(f"x{i} y{i}") for i in range(1, masses + 1)]
    flat = [c for pair in q for c in pair]
    before = [(sp.S.Zero, sp.S.Zero), *q[:-1]]
    rods = {
        f"rod {i + 1}": ((x - u) ** 2 + (y - w) ** 2 - 1) / 2
        for i, ((x, y), (u, w)) in enumerate(zip(q, before, strict=True))
    }
    system = zw.System(
        flat,
        kinetic=sp.Add(*[dot(c) ** 2 / 2 for c in flat]),
        potential=sp.Add(*[g * y for _, y in q]),
        constraints=rods,
        name=problem.name,
    )
    angles = np.atleast_2d(problem.data["angles"])[0]
    place = np.cumsum(np.stack([np.cos(angles), np.sin(angles)], axis=1), axis=0).ravel()
    start = dict(zip(flat, map(float, place), strict=True)) | {dot(c): 0.0 for c in flat}
    if problem.name.startswith("chain"):
        seen = [i for k in problem.data["seen"] for i in (2 * k - 2, 2 * k - 1)]
        return system, start, lambda end: end[seen], True
    return system, start, lambda end: end, True


def squeezer(problem: Problem) -> Built:
    """Andrews' mechanism in its seven angles."""
    system = andrews.mechanism()
    start = dict(zip(system.coordinates, map(float, andrews.START), strict=True))
    return system, start | {dot(c): 0.0 for c in system.coordinates}, lambda end: end, False


def four_bar(problem: Problem) -> Built:
    """Bars between points: each has the consistent mass matrix of a uniform bar; coordinates of A and B."""
    ground, crank, coupler, rocker = problem.data["lengths"]
    xa, ya, xb, yb = q = zw.coordinates("xA yA xB yB")
    g = sp.Float(problem.data["g"])

    def bar(length: float, p: tuple[Any, Any], r: tuple[Any, Any]) -> sp.Expr:
        return (
            sp.Float(length) / 6 * sum(dot(a) ** 2 + dot(a) * dot(b) + dot(b) ** 2 for a, b in zip(p, r, strict=True))
        )

    O, C, A, B = (sp.S.Zero, sp.S.Zero), (sp.Float(ground), sp.S.Zero), (xa, ya), (xb, yb)
    bars = ((crank, O, A), (coupler, A, B), (rocker, C, B))
    system = zw.System(
        q,
        kinetic=sum(bar(*b) for b in bars),
        potential=g * sum(length * (p[1] + r[1]) / 2 for length, p, r in bars),
        constraints={
            name: ((r[0] - p[0]) ** 2 + (r[1] - p[1]) ** 2 - length**2) / 2
            for name, (length, p, r) in zip(("crank", "coupler", "rocker"), bars, strict=True)
        },
    )
    d = problem.data
    normal = [np.array([-np.sin(a), np.cos(a)]) for a in d["angles"]]
    velocity = [crank * d["rates"][0] * normal[0], rocker * d["rates"][2] * normal[2]]
    values = (*d["A"], *d["B"], *velocity[0], *velocity[1])
    keys = (*q, *(dot(c) for c in q))
    return system, dict(zip(keys, map(float, values), strict=True)), lambda end: end, True


def four_bar_singular(problem: Problem) -> Built:
    """The parallelogram in the coordinates of its two joints."""
    x0, y0, x1, y1 = q = zw.coordinates("x0 y0 x1 y1")
    g = sp.Float(problem.data["g"])

    def bar(p: tuple[Any, Any], r: tuple[Any, Any]) -> sp.Expr:
        return sum(dot(a) ** 2 + dot(a) * dot(b) + dot(b) ** 2 for a, b in zip(p, r, strict=True)) / sp.Integer(6)

    one, zero = sp.S.One, sp.S.Zero
    bars = (((zero, zero), (x0, y0)), ((one, zero), (x1, y1)), ((x0, y0), (x1, y1)))
    system = zw.System(
        q,
        kinetic=sum(bar(*b) for b in bars),
        potential=g * (y0 + y1),
        constraints={
            name: ((r[0] - p[0]) ** 2 + (r[1] - p[1]) ** 2 - 1) / 2
            for name, (p, r) in zip(("left", "right", "coupler"), bars, strict=True)
        },
    )
    start = dict(zip(q, (0.0, 1.0, 1.0, 1.0), strict=True)) | dict(zip(map(dot, q), (1.0, 0.0, 1.0, 0.0), strict=True))
    return system, start, lambda end: end[:2], True


def spatial_loop(problem: Problem) -> Built:
    """The Bennett linkage by bodies and four revolute joints; which conditions are redundant is for zwang to find."""
    d = problem.data
    bodies = []
    for i, bar in enumerate(d["bars"]):
        x, y, z, w = Rotation.from_matrix(bar["turn"]).as_quat()
        across = bar["length"] ** 3 / 12
        bodies.append(
            mb.Body(
                f"bar{i + 1}", bar["length"], (d["own"], across, across), position=bar["centre"],
                orientation=(w, x, y, z), velocity=bar["velocity"], angular_velocity=bar["omega"],
            )
        )  # fmt: skip
    chain_ = [mb.ground, *bodies, mb.ground]
    joints = [
        mb.Revolute(f"j{i + 1}", chain_[i], chain_[i + 1], at=d["points"][i], axis=d["axes"][i]) for i in range(4)
    ]
    linkage = mb.Mechanism(bodies, joints, [mb.Gravity((0, 0, -d["g"]))])
    names = linkage.system.coordinate_names
    first, third = names.index("bar1.x"), names.index("bar3.x")

    def observe(end: np.ndarray) -> np.ndarray:  # P and R are opposite ends of bars 1 and 3, whose other ends are fixed
        return np.concatenate([2 * end[first : first + 3], 2 * end[third : third + 3] - d["points"][3]])

    return linkage.system, linkage.start, observe, True


def rolling_disc(problem: Problem) -> Built:
    """The disc by a body and a rolling joint."""
    d = problem.data
    axis, omega, radius = np.array(d["axis"]), np.array(d["omega"]), d["radius"]
    height = radius * np.sqrt(1 - axis[2] ** 2)
    arm = -radius * (np.array([0, 0, 1]) - axis[2] * axis) / np.sqrt(1 - axis[2] ** 2)
    x, y, z, w = Rotation.align_vectors([axis], [[0, 0, 1]])[0].as_quat()
    disc = mb.Body(
        "disc", d["mass"], mb.inertia.disc(d["mass"], radius), position=(0, 0, height), orientation=(w, x, y, z),
        velocity=-np.cross(omega, arm), angular_velocity=omega,
    )  # fmt: skip
    roll = mb.RollingDisc("roll", mb.ground, disc, at=(0, 0, 0), normal=(0, 0, 1), radius=radius, axis=axis)
    rolling = mb.Mechanism([disc], [roll], [mb.Gravity((0, 0, -d["g"]))])

    def observe(end: np.ndarray) -> np.ndarray:
        w, x, y, z = end[3:7]
        return np.array([*end[:3], 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])

    return rolling.system, rolling.start, observe, True


def appell(problem: Problem) -> Built:
    """The constraint and its double, as they are."""
    x, y, z = q = zw.coordinates("x y z")
    cone = dot(z) ** 2 - dot(x) ** 2 - dot(y) ** 2
    system = zw.System(
        q,
        kinetic=sum(dot(c) ** 2 for c in q) / 2,
        potential=sp.Float(problem.data["g"]) * z,
        constraints={"cone": cone, "twice": 2 * cone},
    )
    start = dict.fromkeys(q, 0.0) | dict(zip(map(dot, q), problem.data["velocity"], strict=True))
    return system, start, lambda end: end, True


def hinged(problem: Problem) -> Built:
    """A body and a revolute joint for each bar."""
    parts = linkage(problem)
    where = poses(parts, parts.angles)
    bodies, joints = list[mb.Body](), list[Any]()
    for i, (bar, (turn, at)) in enumerate(zip(parts.bodies, where, strict=True)):
        bodies.append(placed(f"bar{i}", bar, turn, at))
        parent = bodies[bar.parent] if bar.parent >= 0 else mb.ground
        joints.append(mb.Revolute(f"hinge{i}", parent, bodies[i], at=at, axis=turn[:, 2]))
    return assembled(problem, mb.Mechanism(bodies, joints, [mb.Gravity(parts.gravity)]))


def stewart(problem: Problem) -> Built:
    """Legs of two bodies: a universal joint, a slide with its spring and a ball joint each."""
    parts = linkage(problem)
    where = poses(parts, parts.angles)
    heavy = {i: placed(f"body{i}", part, *where[i]) for i, part in enumerate(parts.bodies) if part.mass}
    plate, tops = heavy[5], [where[5][1], *(place(where, c.first, c.on_first) for c in parts.closures)]
    joints, springs = list[Any](), list[Any]()
    uppers = [i for i, part in enumerate(parts.bodies) if part.slides]
    for leg, (i, top) in enumerate(zip(uppers, tops, strict=True)):
        turn, foot = where[i]
        lower, upper = heavy[i - 1], heavy[i]
        joints += [
            mb.Universal(f"foot{leg}", mb.ground, lower, at=foot, axes=(turn[:, 0], turn[:, 1])),
            mb.Prismatic(f"slide{leg}", lower, upper, at=foot, axis=turn[:, 2]),
            mb.Spherical(f"ball{leg}", upper, plate, at=top),
        ]
        springs.append(mb.JointSpring(f"spring{leg}", joints[-2], stiffness=parts.bodies[i].stiffness))
    return assembled(problem, mb.Mechanism([*heavy.values()], joints, [mb.Gravity(parts.gravity), *springs]))


def placed(name: str, part: Hinged, turn: np.ndarray, at: np.ndarray) -> mb.Body:
    """A body at rest."""
    x, y, z, w = Rotation.from_matrix(turn).as_quat()
    return mb.Body(name, part.mass, tuple(part.inertia), position=at + turn @ part.centre, orientation=(w, x, y, z))


def assembled(problem: Problem, mechanism: mb.Mechanism) -> Built:
    """What is looked at: points of bodies, from their places and quaternions."""
    parts = linkage(problem)
    names = mechanism.system.coordinate_names
    heavy = [i for i, part in enumerate(parts.bodies) if part.mass]
    seen = [
        (names.index(f"{mechanism.bodies[heavy.index(i)].name}.x"), parts.bodies[i], p) for i, p in problem.data["seen"]
    ]

    def observe(end: np.ndarray) -> np.ndarray:
        found = []
        for first, part, point in seen:
            w, x, y, z = end[first + 3 : first + 7]
            turn = Rotation.from_quat((x, y, z, w)).as_matrix()
            found.append(end[first : first + 3] + turn @ (point - part.centre))
        return np.concatenate(found)

    return mechanism.system, mechanism.start, observe, True


def net(problem: Problem) -> Built:
    """Masses in Cartesian coordinates, links as constraints: a family each."""
    points: Points = problem.data["points"]
    x = zw.coordinates("x", shape=points.start.shape)
    a, b = zw.coordinates("a b", shape=3)
    i, j = points.links.T
    system = zw.System(
        x,
        kinetic=zw.family((dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(sp.Float(points.g) * a[2], {a[2]: x[:, 2]}),
        constraints={"link": zw.family((((a - b) ** 2).sum() - 1) / 2, {a: x[i], b: x[j]})},
        name=problem.name,
    )
    return system, {x: points.start, dot(x): points.velocity}, partly(problem), True


def fekete(problem: Problem) -> Built:
    """Points on a sphere with the potential of their repulsion."""
    points: Points = problem.data["points"]
    x = zw.coordinates("x", shape=points.start.shape)
    a, b = zw.coordinates("a b", shape=3)
    u = zw.coordinates("u")
    i, j = np.tril_indices(len(points.start), -1)
    system = zw.System(
        x,
        kinetic=zw.family((dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(-sp.log(((a - b) ** 2).sum()) / 2, {a: x[i], b: x[j]}),
        forces={x: zw.family(-dot(u) / 2, {u: x})},
        constraints={"sphere": zw.family(((a**2).sum() - 1) / 2, {a: x})},
        name=problem.name,
    )
    return system, {x: points.start, dot(x): points.velocity}, partly(problem), False


def partly(problem: Problem) -> Callable[[np.ndarray], Any]:
    """The points that are looked at."""
    return lambda end: end.reshape(-1, 3)[list(problem.data["seen"])].ravel()


BUILD: dict[str, Callable[[Problem], Built]] = {
    "stewart": stewart,
    "joint_tree": hinged,
    "spatial_chain": hinged,
    "net": net,
    "fekete": fekete,
    "triple_pendulum": chain,
    "ensemble": chain,
    "chain": chain,
    "andrews": squeezer,
    "four_bar": four_bar,
    "four_bar_singular": four_bar_singular,
    "spatial_loop": spatial_loop,
    "rolling_disc": rolling_disc,
    "appell": appell,
}
