"""Large systems by families: the same numbers as straight-line code, from few kinds of terms."""

import subprocess
import sys
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from symengine import Integer, Symbol, cos, sqrt

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.compile import compile_program
from zwang.compile.rolled.kernel import compile_rolled
from zwang.errors import InputError
from zwang.lowering import acceleration, projection, report
from zwang.lowering.lowered import lower
from zwang.lowering.rolled import families, programs
from zwang.lowering.rolled.canonical import read
from zwang.lowering.rolled.families import families_of
from zwang.lowering.rows import choose
from zwang.motion.start import start_of

FOLDER = files("zwang") / "examples"
EXAMPLES = sorted(f.name.removesuffix(".toml") for f in FOLDER.iterdir() if f.name.endswith(".toml"))


def agree(straight, rolled, within=1e-9):
    assert straight.keys() == rolled.keys()
    for name, expected in straight.items():
        size = np.nan_to_num(np.abs(expected)).max(initial=0.0) + 1e-3
        np.testing.assert_allclose(rolled[name] / size, expected / size, rtol=0, atol=within, err_msg=name)


def both_ways(start):
    """Every program of a system, straight and rolled, a little beside a start."""
    system, values = start.system, start.values
    lowered = lower(system, values.inputs)
    if lowered.description.switching:
        return
    found = families_of(lowered)
    now, rank = start.polished
    basis = choose(now, system.coordinate_names, lowered=lowered, found=rank)
    t, q, v = start.state
    rng = np.random.default_rng(3)
    state = {"t": [t + 0.3], "q": q, "v": v + 0.1 * rng.normal(size=len(v)), "p": values.p}
    gains = acceleration.GAINS
    pairs = [
        (
            acceleration.acceleration_program(lowered, basis),
            programs.acceleration_program(found, basis, False, None),
            {},
        ),
        (
            acceleration.acceleration_program(lowered, basis, "lagrange", gains),
            programs.acceleration_program(found, basis, True, gains),
            {"gains": [3.0, 4.0]},
        ),
        (projection.projection_program(lowered, basis, None), programs.projection_program(found, basis, None), {}),
        (report.report_program(lowered, basis), programs.report_program(found, basis), {}),
    ]
    for straight, rolled, more in pairs:
        here = compile_program(straight, optimise=0)(**state, **more)
        there = compile_rolled(rolled)(**state, **more)
        if straight.outputs.keys() >= {"pivots"}:  # constant ones are left out of straight-line code
            counted = len(basis.rows) if not basis.damping else 2
            here["pivots"], there["pivots"] = here["pivots"][:counted], there["pivots"][:counted]
        # beside the start rows contradict each other: what they make of it is their damping's, of which rounding takes
        least = np.min(np.array(basis.damping) / basis.units) if basis.damping else 1.0
        agree(here, there, max(1e-9, np.finfo(float).eps / least))


@pytest.mark.parametrize("name", EXAMPLES)
def test_rolled_programs_say_what_straight_ones_say(name):
    both_ways(zw.load_model(FOLDER / f"{name}.toml").begin())


def linkage():
    """A chain of bodies in space, driven, with a spring, a damper and two joints that say the same."""
    sizes = (1.0, 0.2, 0.3)
    bodies = [mb.Body(f"b{i}", mass=1 + i, inertia=mb.inertia.box(1 + i, sizes), position=(i, 0, 0)) for i in range(3)]
    joints = [mb.Revolute("j0", mb.ground, bodies[0], at=(-0.5, 0, 0), axis=(0, 0, 1))]
    for i in range(2):
        joints.append(mb.Revolute(f"j{i + 1}", bodies[i], bodies[i + 1], at=(i + 0.5, 0, 0), axis=(0, 0, 1)))
    again = mb.Revolute("again", bodies[1], bodies[2], at=(1.5, 0, 0), axis=(0, 0, 1))
    drive = mb.Driver("drive", joints[0], 0.3 * sp.sin(zw.t))
    spring = mb.Spring("spring", mb.ground, bodies[2], stiffness=3, damping=0.2, rest=1)
    return mb.Mechanism(bodies, joints=[*joints, again, drive], forces=[mb.Gravity((0, -9.81, 0)), spring])


def test_bodies_in_space_are_rolled_too():
    mechanism = linkage()
    both_ways(start_of(mechanism.system, mechanism.start))


def mass_given():
    x, y, z = zw.coordinates("x y z")
    m = zw.parameters("m")
    M = sp.Matrix([[m, 0.2 * sp.cos(y), 0], [0.2 * sp.cos(y), 2, 0], [0, 0, 1 + x**2]])
    system = zw.System(
        (x, y, z), mass=M, forces={x: -x + sp.sin(zw.t), z: -dot(z) * sp.Abs(2)}, nonideal={y: -0.1 * dot(y)},
        constraints={"moving": x + y - zw.t * z, "rolling": dot(z) - x * dot(y)}, parameters={m: 1.5},
    )  # fmt: skip
    start = zw.assemble(system, {x: 0.1, y: 0.2, z: 0.3, dot(x): 0, dot(y): 0, dot(z): 0})
    return system, start


def test_a_given_mass_matrix_is_rolled_too():
    both_ways(start_of(*mass_given()))


Q = [Symbol(f"q{i}") for i in range(6)]
ROLES = {s: ("q", i) for i, s in enumerate(Q)}


def key(e):
    return tuple(read(e, ROLES).key)


def test_a_key_does_not_depend_on_symbols_or_numbers_but_on_what_is_done_with_them():
    a, b, c, d = Q[:4]
    assert key((a - b) ** 2 + 3) == key((d - c) ** 2 + 7)
    assert key(5 * a * cos(b)) == key(9 * c * cos(d))
    assert key(a**2 * b) != key(a * b)
    assert key(a * cos(a)) != key(a * cos(b))
    assert key(sqrt(a) + b) == key(d + sqrt(c))


def test_numbers_that_differ_in_their_last_digit_differ():
    a, b = 1.2345678901234567, 1.2345678901234561
    assert a != b
    assert key(Q[0] ** a) != key(Q[0] ** b)


def test_constants_are_the_nearest_doubles_and_refused_where_there_are_none():
    reading = read(Q[0] * Integer(10**17 + 1) / 11, ROLES)
    assert reading.constants == [(10**17 + 1) / 11]  # Python's quotient of integers is the nearest double
    with pytest.raises(InputError, match="range of doubles"):
        read(Q[0] * Integer(10) ** 400, ROLES)


def test_symbols_are_told_apart_by_all_places_in_which_they_occur():
    a, b, c, d = Q[:4]
    # where a second look decides: in (a − b)² + (c − d)² + a·c the pairs are told apart by the product
    first = (a - b) ** 2 + (c - d) ** 2 + 4 * a * c
    again = (d - c) ** 2 + (b - a) ** 2 + 9 * d * b
    assert key(first) == key(again)


def test_a_template_is_its_expression_with_other_symbols_put_in():
    a, b, c = Q[:3]
    e = 3.5 * (a - b) ** 2 * cos(2 * c) / 7 + sqrt(b) + 11
    reading = read(e, ROLES)
    local, constants = [Symbol(f"x{i}") for i in range(3)], [Symbol(f"c{i}") for i in range(len(reading.constants))]
    template = reading.template({"q": local, "v": [], "a": [], "p": [], "c": constants})
    back = {local[place]: Q[number] for number, place in reading.coordinates.items()}
    back |= dict(zip(constants, reading.constants, strict=True))
    values = {a: 0.3, b: 0.7, c: 1.1}
    assert abs(float(template.subs(back).subs(values)) - float(e.subs(values))) < 1e-14
    assert not template.free_symbols & set(Q)


def net(size):
    """Point masses on inextensible links in a square net."""
    at = {(i, j): zw.coordinates(f"x{i}_{j} y{i}_{j} z{i}_{j}") for i in range(size) for j in range(size)}
    flat = [c for point in at.values() for c in point]
    links = [((i, j), o) for i, j in at for o in ((i + 1, j), (i, j + 1)) if o in at]
    constraints = {f"{a}-{b}": sp.Add(*[(u - w) ** 2 for u, w in zip(at[a], at[b], strict=True)]) - 1 for a, b in links}
    kinetic = sp.Add(*[(1 + 0.01 * k) * dot(c) ** 2 / 2 for k, c in enumerate(flat)])
    potential = sp.Add(*[9.81 * z for *_, z in at.values()]) + 50 * at[0, 0][2] ** 2
    system = zw.System(flat, kinetic=kinetic, potential=potential, constraints=constraints)
    places = {c: float(x) for (i, j), point in at.items() for c, x in zip(point, (i, j, 0), strict=True)}
    return system, places | {dot(c): 0.0 for c in flat}


def test_a_net_has_as_many_families_as_it_has_kinds_of_parts():
    counts = [len(families_of(lower(net(size)[0], {})).members) for size in (3, 5)]
    assert counts[0] == counts[1] <= 6


def test_motions_are_the_same_on_both_kinds_of_code(monkeypatch):
    system, start = net(3)
    straight = zw.simulate(system, start, 0.3, samples=4, tol=1e-12)
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    rolled = zw.simulate(system, start, 0.3, samples=4, tol=1e-12, drift="projection")
    np.testing.assert_allclose(rolled.q, straight.q, atol=1e-10)
    np.testing.assert_allclose(rolled.multiplier, straight.multiplier, atol=1e-8)
    assert abs(rolled.energy_balance).max() < 1e-10


def line_of_masses(count):
    """Masses between springs, written out: nothing is to be eliminated."""
    x = zw.coordinates(" ".join(f"x{i}" for i in range(count)))
    kinetic = sp.Add(*[dot(a) ** 2 / 2 for a in x])
    return zw.System(x, kinetic=kinetic, potential=sp.Add(*[(a - b) ** 2 / 2 for a, b in pairwise(x)]))


def test_a_large_system_with_little_to_reckon_runs_straight_and_one_with_much_in_loops():
    light, heavy = (lower(system, {}) for system in (line_of_masses(300), net(8)[0]))
    assert families.rolled(light) is not None
    assert families.rolled_to_run(light) is None
    assert families.rolled_to_run(light, in_lanes=True) is None
    assert families.rolled_to_run(heavy) is families.rolled(heavy) is not None
    assert families.operations(families.rolled(heavy)) > 5 * families.operations(families.rolled(light))


def test_what_is_described_as_families_runs_in_loops_however_light():
    x, a, b = zw.coordinates("x", shape=300), *zw.coordinates("a b")
    springs = zw.family((a - b) ** 2 / 2, {a: x[1:], b: x[:-1]})
    described = lower(zw.System(x, kinetic=zw.family(dot(a) ** 2 / 2, {a: x}), potential=springs), {})
    assert families.rolled_to_run(described) is not None


def test_many_runs_of_a_rolled_system_equal_single_ones(monkeypatch):
    for least in ("ROLLED_FROM", "ROLLED_IN_LANES_FROM"):
        monkeypatch.setattr(families, least, 0)
    system, start = net(2)
    heights = np.linspace(0, 0.1, 9)
    starts = start | {c: start[c] + heights for c in system.coordinates[2::3]}
    many = zw.simulate_many(system, starts, 0.2, samples=3, tol=1e-10)
    one = {k: float(np.broadcast_to(x, 9)[4]) for k, x in starts.items()}
    alone = zw.simulate(system, one, 0.2, samples=3, tol=1e-10)
    np.testing.assert_array_equal(many.q.isel(sample=4), alone.q)


def test_sums_are_added_up_in_the_same_order_in_every_process(tmp_path):
    code = (
        "from zwang.lowering.rolled.canonical import read\n"
        "from symengine import symbols, cos\n"
        "q = symbols('q0:5')\n"
        "e = (q[0]-q[1])**2 + cos(q[2])*q[3] + 3*q[4] + q[0]*q[2]\n"
        "print(read(e, {s: ('q', i) for i, s in enumerate(q)}).key)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_a_robot_of_many_joints_is_never_written_out_as_a_whole():
    """What it takes to move is found by kinds of joints: deriving all of it would take longer than everything else."""
    bodies, joints = [], []
    for i in range(16):
        box = mb.inertia.box(1, (1.0, 0.2, 0.3))
        bodies.append(mb.Body(f"b{i}", mass=1, inertia=box, position=(i + 0.5, 0, 0)))
        before = bodies[i - 1] if i else mb.ground
        joints.append(mb.Revolute(f"j{i}", before, bodies[i], at=(i, 0, 0), axis=(0, i % 2, 1 - i % 2)))
    robot = mb.Mechanism(bodies, joints=joints, forces=[mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(robot, until=0.05, samples=2, tol=1e-10)
    assert abs(motion.residual).max() < 1e-12
    assert abs(motion.energy_balance).max() < 1e-9
    assert "derived" not in vars(lower(robot.system, {}))
