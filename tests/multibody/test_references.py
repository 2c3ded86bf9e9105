"""Benchmark mechanisms, described by bodies and joints, against reference solutions (their origin is beside them)."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references.problems import numbers
from zwang import multibody as mb

G = mb.ground
R = sp.Rational


# A01: simple pendulum


def pendulum():
    bob = mb.Particle("bob", 1, position=(1, 0))
    return mb.Mechanism([bob], [mb.Rod("rod", G, bob, start=(0, 0), end=(1, 0))], [mb.Gravity((0, -9.81))])


@pytest.mark.parametrize(
    ("method", "drift", "until", "accuracy"),
    [
        ("native", "none", 10, 1e-12),
        ("taylor", "none", 100, 1e-10),
        ("native", "projection", 2000, 1e-9),
        ("native", "baumgarte", 2000, 1e-9),
    ],
)
def test_pendulum_up_to_two_thousand_seconds(method, drift, until, accuracy):
    swinging = pendulum()
    rows = {float(s): np.array(xy, dtype=float) for s, xy in numbers("pendulum")["xy"].items() if float(s) <= until}
    motion = zw.simulate(
        swinging.system, swinging.start, until, times=list(rows), tol=1e-15, method=method, drift=drift
    )
    path = swinging.track(motion, "bob").values
    assert np.abs(path - np.array(list(rows.values()))).max() < accuracy
    # The multiplier of a rod is its tension, 3 m g cos φ.
    assert np.abs(motion.multiplier.values[:, 0] + 3 * 9.81 * path[:, 1]).max() < 30 * accuracy


# A02: chain of four-bars, through its singular positions

ENDS = {1: (0.4783850577608, 0.8781501787913), 5: (0.2357891358452, 0.9718042413045)}


def four_bars(loops):
    """Cranks and couplers as planar bodies on pins, upright, moving to the right."""
    cranks = [
        mb.PlanarBody(f"crank{i}", 1, R(1, 12), position=(i, 0.5), angle=np.pi / 2, velocity=(0.5, 0), spin=-1)
        for i in range(loops + 1)
    ]
    couplers = [mb.PlanarBody(f"coupler{i}", 1, R(1, 12), position=(i + 0.5, 1), velocity=(1, 0)) for i in range(loops)]
    joints = [mb.Revolute(f"A{i}", G, crank, at=(i, 0)) for i, crank in enumerate(cranks)]
    for i, coupler in enumerate(couplers):
        joints.append(mb.Revolute(f"B{i}", cranks[i], coupler, at=(i, 1)))
        joints.append(mb.Revolute(f"C{i}", coupler, cranks[i + 1], at=(i + 1, 1)))
    return mb.Mechanism([*cranks, *couplers], joints, [mb.Gravity((0, -9.81))])


@pytest.mark.parametrize("loops", [1, 5])
def test_four_bars_through_ten_singular_positions(loops):
    chain = four_bars(loops)
    assert zw.diagnose(chain.system, chain.start).degrees_of_freedom == 1
    motion = zw.simulate(chain.system, chain.start, 10.0, samples=21, tol=1e-13, method="native")
    tip = chain.track(motion, "crank0", (0.5, 0)).values[-1]
    assert np.abs(tip - ENDS[loops]).max() < 1e-8
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-7
    assert motion.message.count("Leapt the singular position") == 10


def test_two_four_bars_at_published_times():
    chain = four_bars(2)
    rows = numbers("four-bar")["N=2"]["B0"]
    truth = np.array([[float(row[k]) for k in ("x", "y", "vx", "vy")] for row in rows.values()])
    motion = zw.simulate(chain.system, chain.start, 10.0, times=[float(s) for s in rows], tol=1e-13, method="native")
    tip = chain.track(motion, "crank0", (0.5, 0)).values
    angle, spin = (getattr(motion, x).sel(coordinate="crank0.angle").values for x in "qv")
    velocity = np.column_stack([-np.sin(angle) * spin, np.cos(angle) * spin])
    assert np.abs(np.hstack([tip, velocity]) - truth).max() < 1e-8


def test_a_four_bar_in_space_through_ten_singular_positions():
    # Four revolute joints in space: three conditions are redundant on top of the singular positions.
    J, upright = (R(1, 1200), R(1, 12), R(1, 12)), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    left, right = (
        mb.Body(f"crank{i}", 1, J, (i, 0.5, 0), upright, velocity=(0.5, 0, 0), angular_velocity=(0, 0, -1))
        for i in (0, 1)
    )
    coupler = mb.Body("coupler", 1, J, position=(0.5, 1, 0), velocity=(1, 0, 0))
    joints = [
        mb.Revolute("A0", G, left, at=(0, 0, 0)),
        mb.Revolute("A1", G, right, at=(1, 0, 0)),
        mb.Revolute("B0", left, coupler, at=(0, 1, 0)),
        mb.Revolute("C0", coupler, right, at=(1, 1, 0)),
    ]
    chain = mb.Mechanism([left, right, coupler], joints, [mb.Gravity((0, -9.81, 0))])
    motion = zw.simulate(chain.system, chain.start, 10.0, samples=21, tol=1e-13, method="native")
    tip = chain.track(motion, "crank0", (0.5, 0, 0)).values[-1]
    assert np.abs(tip - (*ENDS[1], 0)).max() < 1e-8
    assert motion.message.count("Leapt the singular position") == 10


# A05: stiff flyball governor


def governor():
    """Shaft, slider, two rods with a ball each, springs with dampers from the slider to the rods' middles."""
    spin, a = np.array([0, 0, 2 * np.pi]), np.pi / 6
    thin, wide = R(1, 100), R(1, 10)
    shaft = mb.Body("shaft", R(3, 10), mb.inertia.box(R(3, 10), (thin, thin, 1)), (0, 0, 0.5), angular_velocity=spin)
    slider = mb.Body("slider", 3, mb.inertia.box(3, (wide, wide, wide)), (0, 0, 0.5), angular_velocity=spin)
    bodies = [shaft, slider]
    joints = [
        mb.Revolute("axle", G, shaft, at=(0, 0, 0), axis=(0, 0, 1)),
        mb.Prismatic("sleeve", shaft, slider, at=(0, 0, 0.5), axis=(0, 0, 1)),
    ]
    forces = [mb.Gravity((0, 0, -9.81))]
    for name, side, tilt in (("right", 1, a), ("left", -1, np.pi - a)):
        hinge, along = np.array([side * 0.05, 0, 1]), np.array([np.cos(tilt), 0, -np.sin(tilt)])
        middle, tip = hinge + along / 2, hinge + along
        rod = mb.Body(
            f"{name} rod",
            R(3, 10),
            mb.inertia.box(R(3, 10), (1, thin, thin)),
            position=middle,
            orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
            velocity=np.cross(spin, middle),
            angular_velocity=spin,
        )
        ball = mb.Particle(f"{name} ball", 5, position=tip, velocity=np.cross(spin, tip))
        bodies += [rod, ball]
        joints += [
            mb.Revolute(f"{name} hinge", shaft, rod, at=hinge, axis=(0, side, 0), reading=a),
            mb.Spherical(f"{name} tip", rod, ball, at=tip),
        ]
        ends = {"start": (side * 0.05, 0, 0.5), "end": middle}
        forces.append(mb.Spring(f"{name} spring", slider, rod, **ends, stiffness=8e5, rest=0.5, damping=4e4))
    return mb.Mechanism(bodies, joints, forces, name="flyball governor")


def test_stiff_governor():
    # Up to t = 1, for time's sake; up to t = 10 the error is 1e-14.
    machine = governor()
    rows = {float(s): row for s, row in numbers("flyball")["samples"].items() if float(s) <= 1}
    truth = np.array([[float(row[k]) for k in ("alpha", "s", "alphadot", "sdot")] for row in rows.values()])
    motion = zw.simulate(
        machine.system, machine.start, 1.0, times=list(rows), tol=1e-12, method="native", drift="projection"
    )
    found = machine.coordinates(motion)
    s, rate = (getattr(motion, x).sel(coordinate="slider.z").values for x in "qv")
    for side in ("right", "left"):
        hinge = found.sel(joint=f"{side} hinge")
        assert np.abs(np.column_stack([hinge.angle, s, hinge.angle_rate, rate]) - truth).max() < 1e-12


# Andrews' squeezing mechanism: seven bodies, ten pins


def andrews():
    """Each body has its own centre of mass; bodies are placed one after the other by a point that is known already."""
    data = numbers("andrews")
    p = {key: float(text) for key, text in data["params"].items() if isinstance(text, str)}
    masses, inertias = ([float(text) for text in data["params"][key]] for key in "mI")
    beta, theta, gamma, phi, delta, omega, epsilon = map(float, data["q0"])
    A, B, C = ((p[f"x{k}"], p[f"y{k}"]) for k in "abc")

    def body(i, angle, known, local):
        """Body i, whose point `local` in body axes is at the place `known`."""
        c, s = np.cos(angle), np.sin(angle)
        return mb.PlanarBody(
            f"K{i}", masses[i - 1], inertias[i - 1], position=known - np.array([[c, -s], [s, c]]) @ local, angle=angle
        )

    def place(of, local):
        """Where a point of a body starts."""
        return np.array(of.start_pose(2).point(tuple(local)), dtype=float)

    # Points in body axes from the centre of mass, by the pin that sits there.
    E, F = p["e"] - p["ea"], p["zf"] - p["fa"]
    O1, tip1 = np.array([-p["ra"], 0]), np.array([p["rr"] - p["ra"], 0])
    tip2, P2 = np.array([p["da"], 0]), np.array([p["da"] - p["d"], 0])
    B3 = np.array([-p["sb"], p["sa"]])
    P3, D3 = np.add(B3, [0, -p["ss"]]), np.add(B3, [p["sd"], -p["sc"]])
    E4, P4 = np.array([0, E]), np.array([0, -p["ea"]])
    A5 = np.array([-p["ta"], -p["tb"]])
    E5 = np.add(A5, [p["zt"], 0])
    H6, P6 = np.array([-F, 0]), np.array([p["fa"], 0])
    A7 = np.array([-p["ub"], p["ua"]])
    H7 = np.add(A7, [0, -p["u"]])

    K1 = body(1, beta, (0, 0), O1)
    K2 = body(2, beta + theta, place(K1, tip1), tip2)
    K3 = body(3, gamma, B, B3)
    K5, K7 = body(5, delta, A, A5), body(7, epsilon, A, A7)
    K4, K6 = body(4, phi + delta, place(K5, E5), E4), body(6, omega + epsilon, place(K7, H7), H6)
    pins = {
        "O": (G, K1, (0, 0), O1),
        "tip": (K1, K2, tip1, tip2),
        "B": (G, K3, B, B3),
        "P3": (K2, K3, P2, P3),
        "A5": (G, K5, A, A5),
        "E": (K5, K4, E5, E4),
        "P4": (K2, K4, P2, P4),
        "A7": (G, K7, A, A7),
        "H": (K7, K6, H7, H6),
        "P6": (K2, K6, P2, P6),
    }
    joints = [mb.Revolute(name, first, second, at=(p, q)) for name, (first, second, p, q) in pins.items()]
    forces = [
        mb.Actuator("motor", joints[0], p["mom"]),
        mb.Spring("spring", G, K3, at=(C, D3), stiffness=p["c0"], rest=p["l0"]),
    ]
    return mb.Mechanism([K1, K2, K3, K4, K5, K6, K7], joints, forces, name="Andrews' squeezing mechanism")


def test_andrews_with_bodies_and_pins_to_thirteen_digits():
    machine = andrews()
    motion = zw.simulate(machine.system, machine.start, 0.03, samples=4, tol=1e-15, method="native", drift="projection")
    truth = np.array(numbers("andrews")["high_precision"]["y"], dtype=float)
    q, v, a, multiplier = truth[:7], truth[7:14], truth[14:21], truth[21:]

    def angles(what):
        """The seven angles of the reference: some are those of a body against another."""
        k = motion[what].isel(time=-1).sel(coordinate=[f"K{i}.angle" for i in range(1, 8)]).values
        return np.array([k[0], k[1] - k[0], k[2], k[3] - k[4], k[4], k[5] - k[6], k[6]])

    assert np.abs(angles("q") / q - 1).max() < 1e-13
    assert np.abs(angles("v") - v).max() < 1e-13 * np.abs(v).max()
    assert np.abs(angles("a") - a).max() < 1e-12 * np.abs(a).max()
    assert float(abs(motion.residual).max()) < 1e-16
    # The file's multipliers are the forces on three bodies at the pins that close the loops.
    found = machine.reactions(motion)
    closing = found.force.sel(joint=["P3", "P4", "P6"], axis=["x", "y"]).isel(time=-1).values.ravel()
    assert np.abs(closing - multiplier).max() < 1e-13 * np.abs(multiplier).max()
    assert found.unique.all()
