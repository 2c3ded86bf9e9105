"""Compute references.json: the end of every problem in quadruple precision (Taylor's method, heyoka, 34 digits).

    .venv/bin/python -m benchmarks.peers.make_references [problem …]

Two tolerances are compared, and the digits on which they agree are written. Where the equations are reduced by hand
(the parallelogram) or the solution is closed, that is used instead. The chains of 1,000 are too large for quadruple
precision here: their references are the native engine's in double precision at two tolerances. Nets, trees, chains of
bodies, the platform and Fekete's points have theirs from another tool.
"""

import importlib
import json
import sys

import numpy as np

import zwang as zw
from benchmarks.peers.peers import zwang as ours
from benchmarks.peers.problem import Problem, written
from benchmarks.peers.problems import ALL
from benchmarks.peers.references import FILE


def main(names: list[str]) -> None:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in names or [n for n in ALL if n != "appell"]:
        values, origin, agree = compute(ALL[name])
        known[name] = {"values": [repr(float(x)) for x in values], "origin": origin, "agreement": agree}
        print(name, origin, agree, flush=True)
        FILE.write_text(json.dumps(known, indent=1) + "\n")


def compute(problem: Problem) -> tuple[np.ndarray, str, float]:
    if problem.name == "andrews":
        from benchmarks.motion.problems import squeezer

        return np.array(squeezer().exact), "34 digits, extrapolation of order 24 from the index-1 form", 1e-19
    if problem.name == "four_bar_singular":
        return parallelogram(problem)
    if problem.name == "ensemble":
        return every_tenth(problem)
    if problem.name == "spatial_loop":
        return reduced_bennett(problem)
    if problem.kind in OUTSIDE and problem.name != "spatial_chain_1000":  # Pinocchio's memory grows as n³
        return by_another(problem, OUTSIDE[problem.kind])
    system, start, observe, _ = written(ours.BUILD, problem, "not written")(problem)
    large = len(system.coordinates) > 300

    def end(tol: float) -> np.ndarray:
        options = {"method": "native"} if large else {"precision": "quad"}
        drift = "none"
        motion = zw.simulate(system, start, problem.until, samples=2, tol=tol, drift=drift, progress=False, **options)
        return np.asarray(observe(motion.q.values[-1]))

    coarse, tol = ((1e-13, 1e-14) if problem.kind == "spatial_chain" else (1e-14, 1e-15)) if large else (1e-16, 1e-18)
    fine, finer = end(coarse), end(tol)
    origin = "native engine" if large else "Taylor's method in quadruple precision"
    origin = f"{origin}, tol {tol:.0e}"
    return finer, origin, float(np.abs(fine - finer).max())


OUTSIDE = {
    "net": "scipy",
    "fekete": "scipy",
    "joint_tree": "pinocchio",
    "spatial_chain": "pinocchio",
    "stewart": "pinocchio",
}
"""Too large for quadruple precision here: another tool's accelerations and SciPy's DOP853, in double precision."""


def by_another(problem: Problem, peer: str) -> tuple[np.ndarray, str, float]:
    """The end by another tool at two tolerances, in an environment where it is installed."""
    run = importlib.import_module(f"benchmarks.peers.peers.{peer}").prepare(problem).run
    fine, finer = (np.asarray(run(tol).observed) for tol in (1e-12, 1e-13))
    return finer, f"{peer}, DOP853, tol 1e-13", float(np.abs(fine - finer).max())


def parallelogram(problem: Problem) -> tuple[np.ndarray, str, float]:
    """J φ̈ = k g sin φ in quadruple precision."""
    phi = zw.coordinates("phi")
    import sympy as sp

    g = sp.Rational(981, 100)
    system = zw.System((phi,), kinetic=sp.Rational(5, 6) * zw.dot(phi) ** 2, potential=2 * g * sp.cos(phi))
    ends = []
    for tol in (1e-16, 1e-18):
        motion = zw.simulate(
            system, {phi: 0.0, zw.dot(phi): 1.0}, problem.until, samples=2, tol=tol, precision="quad", progress=False
        )
        ends.append(float(motion.q.values[-1, 0]))
    values = np.array([np.sin(ends[1]), np.cos(ends[1])])
    return values, "reduced equation, Taylor's method in quadruple precision", abs(ends[0] - ends[1])


def reduced_bennett(problem: Problem) -> tuple[np.ndarray, str, float]:
    """The Bennett linkage in its one joint angle θ, tan(θ₂/2) = K/tan(θ/2), in quadruple precision."""
    import sympy as sp

    d = problem.data
    a, b = (sp.Rational(str(bar["length"])) for bar in d["bars"][:2])
    alpha = sp.pi / 6
    beta = sp.asin(b / a * sp.sin(alpha))
    K = sp.sin((beta + alpha) / 2) / sp.sin((beta - alpha) / 2)
    theta = zw.coordinates("theta")
    s, c = sp.sin(theta / 2), sp.cos(theta / 2)
    below = s**2 + K**2 * c**2
    rate2 = -K * zw.dot(theta) / below

    def about_x(cosine: sp.Expr, sine: sp.Expr) -> sp.Matrix:
        return sp.Matrix([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])

    def about_z(cosine: sp.Expr, sine: sp.Expr) -> sp.Matrix:
        return sp.Matrix([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])

    x, z = sp.Matrix([1, 0, 0]), sp.Matrix([0, 0, 1])
    turn1 = about_z(sp.cos(theta), sp.sin(theta))
    twist = turn1 * about_x(sp.cos(alpha), sp.sin(alpha))
    turn2 = twist * about_z((s**2 - K**2 * c**2) / below, 2 * K * s * c / below)
    P = turn1 * (a * x)
    R = P + turn2 * (b * x)
    far = sp.Matrix([-b, 0, 0])
    axis4 = about_x(sp.cos(beta), -sp.sin(beta)) * z
    spins = (zw.dot(theta) * z, zw.dot(theta) * z + rate2 * (twist * z), rate2 * axis4)
    ends = ((sp.zeros(3, 1), P), (P, R), (R, far))
    own, g = sp.Rational(str(d["own"])), sp.Rational(981, 100)
    kinetic = potential = sp.S.Zero
    for (p, r), spin, length in zip(ends, spins, (a, b, a), strict=True):
        centre, along = (p + r) / 2, (r - p) / length
        velocity = centre.diff(zw.t)
        kinetic += length * velocity.dot(velocity) / 2 + length**3 / 24 * spin.dot(spin)
        kinetic += (own - length**3 / 12) / 2 * spin.dot(along) ** 2
        potential += length * g * centre[2]
    system = zw.System((theta,), kinetic=kinetic, potential=potential)
    start = {theta: float(np.pi / 3), zw.dot(theta): 2.0}
    place = sp.lambdify([theta], list(P) + list(R))
    angles = [
        float(zw.simulate(system, start, problem.until, samples=2, tol=tol, precision="quad", progress=False).q[-1, 0])
        for tol in (1e-16, 1e-18)
    ]
    origin = "reduced equation in the joint angle, Taylor's method in quadruple precision"
    return np.array(place(angles[1]), dtype=float), origin, abs(angles[0] - angles[1])


def every_tenth(problem: Problem) -> tuple[np.ndarray, str, float]:
    """Every tenth pendulum of the ensemble."""
    system, *_ = ours.chain(problem)
    ends, worst = [], 0.0
    for angles in problem.data["angles"][::10]:
        place = np.cumsum(np.stack([np.cos(angles), np.sin(angles)], axis=1), axis=0).ravel()
        start = dict(zip(system.coordinates, map(float, place), strict=True))
        start |= {zw.dot(c): 0.0 for c in system.coordinates}
        pair = [
            zw.simulate(system, start, problem.until, samples=2, tol=tol, precision="quad", progress=False).q.values[-1]
            for tol in (1e-16, 1e-18)
        ]
        worst = max(worst, float(np.abs(pair[0] - pair[1]).max()))
        ends.append(pair[1][-2:])
    return np.concatenate(ends), "Taylor's method in quadruple precision, tol 1e-18", worst


if __name__ == "__main__":
    main(sys.argv[1:])
