"""A form that is added to the table, and everything that then offers it; run in a process of its own.

The toy form solves the saddle-point system by a plain LU decomposition.
"""

import json
import runpy
import sys
from pathlib import Path

from zwang.formulations.forms import FORMS, Elimination, Form

MODEL = """
name = "Pendulum"
[coordinates]
x = { start = 0.6, rate = 0.0 }
y = { start = -0.8, rate = 0.0 }
[parameters]
g = 9.81
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
[constraints]
rod = "x^2 + y^2 = 1"
[run]
until = 0.5
form = "toy"
"""


def solve(given):
    import numpy as np

    k, m, n = given.A.shape
    matrix = np.zeros((k, n + m, n + m))
    matrix[:, :n, :n] = given.M
    matrix[:, :n, n:] = -given.A.swapaxes(1, 2)
    matrix[:, n:, :n] = given.A
    right = np.concatenate([given.Q, given.b], axis=1)
    return np.linalg.solve(matrix, right[:, :, None])[:, :n, 0] / given.D


def exact(M, Q, A, b, rows):
    import sympy as sp

    n, m = A.cols, A.rows
    matrix = sp.Matrix(sp.BlockMatrix([[M, -A.T], [A, sp.zeros(m, m)]]))
    return matrix.LUsolve(sp.Matrix.vstack(sp.Matrix(Q), sp.Matrix(b)))[:n, :]


FORMS["toy"] = Form(
    title="Toy equations",
    how="All unknowns at once, as a toy.",
    text="[M −Aᵀ; A 0] [q̈; λ] = [Q; b]  (toy)",
    latex=r"\text{toy}\colon M\ddot{q} = Q + A^{\mathsf T}\lambda",
    theory=("20", "6-lagrange-and-which-multipliers-are-unique"),
    needs="independent rows",
    cost="(n + m)³",
    purpose="testing the table of forms",
    exact=exact,
    solve=solve,
    elimination=Elimination.COORDINATES_FIRST,
    beside="multipliers",
)


def main(folder):
    import numpy as np
    from asking import command, refusal

    import zwang as zw
    from zwang.motion.compare import compare_forms

    path = Path(folder) / "toy.toml"
    path.write_text(MODEL, encoding="utf-8")

    model = zw.load_model(path)
    motion, usual = (zw.simulate(model.system, model.start, 0.5, form=form) for form in ("toy", "fundamental"))
    fixture = ([[5, 4, 1], [4, 6, 4], [1, 4, 5]], [1, 0, 0], [[1, 1, 0]], [1])
    found, wanted = (zw.derive(model.system).acceleration(form) for form in ("toy", "fundamental"))
    tables = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_site" / "tables.py"))["TABLES"]
    return {
        "help of run": command("run", "--help"),
        "help of equations": command("equations", "--help"),
        "wrong choice": command("run", path, "--form", "nothing"),
        "solve refuses": refusal(zw.solve, *fixture, form="nothing"),
        "simulate refuses": refusal(zw.simulate, model.system, model.start, 0.5, form="gauss"),
        "choices": refusal(zw.solve, *fixture, form="toy", eliminate=[0]),
        "schema": command("schema"),
        "equations": command("equations", path, "--form", "toy"),
        "all equations": command("equations", path, "--all"),
        "latex": zw.derive(model.system).latex("toy"),
        "report": zw.report(model, motion, forms=["toy"], checks=False),
        "run": command("run", path),
        "compare": command("compare", path),
        "tables": "".join(make() for make in tables.values()),
        "disagreement": next(row.error for row in compare_forms(model.system, motion) if row.form == "toy"),
        "difference in motion": float(np.abs(motion.q.values - usual.q.values).max()),
        "difference in symbols": str((found - wanted).applyfunc(lambda e: e.simplify()).norm()),
        "solution": zw.solve(*fixture, form="toy").acceleration.tolist(),
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
