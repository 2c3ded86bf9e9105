"""Andrews' squeezing mechanism in Python: seven bodies, three closed loops, and the forces in the joints.

The same as the model file `andrews.toml`, built with SymPy. The end position is compared with the 19 digits that an
extrapolation method found in 34-digit arithmetic; the problem is "andrews" of the IVP test set.
"""

import sys

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

# The angle of the crank, and of the six bodies it moves.
beta, theta, gamma, phi, delta, omega, epsilon = q = zw.coordinates("beta Theta gamma Phi delta Omega epsilon")
START = (
    -0.061713890014276450, 0.0, 0.45527981916307038, 0.22266839016588588,
    0.48736497954384255, -0.22266839016588588, 1.2305474445498212,
)  # fmt: skip
END = (
    15.810771195153707, -15.756371058411839, 0.040822240119645805, -0.53473011634207959,
    0.52440996587995407, 0.53473011634207959, 1.0480807410419379,
)  # fmt: skip

# Masses in kg, moments of inertia in kg m², lengths in m. Numbers may stand in a system as they are; a parameter is a
# number that one wants to change later, such as the motor's torque.
m = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
I = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
rr, ra, d, da, ss, sa, sb, sc, sd = 0.007, 0.00092, 0.028, 0.0115, 0.035, 0.01874, 0.01043, 0.018, 0.02
zt, ta, tb, le, ea, u, ua, ub, zf, fa = 0.04, 0.02308, 0.00916, 0.02, 0.01421, 0.04, 0.01228, 0.00449, 0.02, 0.01421
torque = zw.parameters("torque")


def arrow(length: float, angle: sp.Expr) -> sp.Matrix:
    """An arrow of some length in some direction."""
    return sp.Matrix([length * sp.cos(angle), length * sp.sin(angle)])


def body(number: int, centre: sp.Matrix, angle: sp.Expr) -> sp.Expr:
    """The kinetic energy of a body, from where its centre of mass is and how it is turned."""
    speed = dot(centre)
    return (m[number - 1] * speed.dot(speed) + I[number - 1] * dot(angle) ** 2) / 2


def squeezer() -> zw.System:
    """The mechanism: where its joints are, then energies, torque and the closure of its loops."""
    quarter = sp.pi / 2
    a, b, c = sp.Matrix(A), sp.Matrix(B), sp.Matrix(C)
    F = arrow(rr, beta)
    E = F - arrow(d, beta + theta)
    D = b + arrow(sd, gamma) + arrow(sc, gamma - quarter)
    G = a + arrow(zt, delta)
    H = a + arrow(u, epsilon - quarter)
    spring = (D - c).norm()
    kinetic = (
        body(1, arrow(ra, beta), beta)
        + body(2, F - arrow(da, beta + theta), beta + theta)
        + body(3, b + arrow(sa, gamma - quarter) + arrow(sb, gamma), gamma)
        + body(4, G + arrow(le - ea, phi + delta - quarter), phi + delta)
        + body(5, a + arrow(ta, delta) + arrow(tb, delta + quarter), delta)
        + body(6, H + arrow(zf - fa, omega + epsilon), omega + epsilon)
        + body(7, a + arrow(ua, epsilon - quarter) + arrow(ub, epsilon + sp.pi), epsilon)
    )
    loops = {
        "first": E - b - arrow(ss, gamma - quarter),
        "second": E - G - arrow(le, phi + delta - quarter),
        "third": E - H - arrow(zf, omega + epsilon),
    }
    return zw.System(
        q,
        kinetic=kinetic,
        potential=4530 * (spring - 0.07785) ** 2 / 2,
        forces={beta: torque},
        constraints={f"{name} {axis}": row for name, gap in loops.items() for axis, row in zip("xy", gap, strict=True)},
        parameters={torque: 0.033},
        name="Andrews' squeezing mechanism",
    )


def main() -> None:
    """Run the mechanism and print what it does."""
    system = squeezer()
    start = dict(zip(q, START, strict=True)) | dict.fromkeys(system.velocities, 0.0)
    print(zw.diagnose(system, start))
    motion = zw.simulate(system, start, until=0.03, samples=301, tol=1e-13)
    print(f"\n{motion.attrs['method']} engine, {motion.attrs['steps']} steps, {motion.attrs['message']}")

    print("\n     t / ms     crank / rad     acceleration of the crank / (rad/s²)")
    for row in motion.isel(time=slice(0, None, 50)).time:
        now = motion.sel(time=row)
        print(f"   {1000 * float(row):8.0f} {float(now.q[0]):15.9f} {float(now.a[0]):20.3f}")

    error = np.abs(motion.q.values[-1] / np.array(END) - 1).max()
    print(f"\nlargest relative error of the end position: {error:.0e}")
    force = np.hypot(*motion.multiplier.sel(constraint=["first x", "first y"]).values.T)
    print(f"largest force where the first loop closes: {force.max():.1f} N")
    print(f"largest gap in a loop: {float(abs(motion.residual).max()):.0e} m")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
