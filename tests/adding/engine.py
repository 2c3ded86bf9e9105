"""An engine that is added to the table, and everything that then offers it; run in a process of its own.

The toy engine hands the compiled acceleration to one of SciPy's solvers, and knows nothing of events and switches.
"""

import json
import runpy
import sys
from pathlib import Path

from zwang.engines.registry import ENGINES, Engine

MODEL = """
name = "Pendulum"
[coordinates]
x = { start = 0.6, rate = 0.0 }
y = { start = -0.8, rate = 0.0 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
[run]
until = 0.5
method = "toy"
tol = 1e-10
"""


def run(task):
    import numpy as np
    from scipy.integrate import solve_ivp

    from zwang.engines.native.engine import compiled
    from zwang.engines.task import Status, Trajectory

    kernel, n = compiled(task.acceleration), len(task.q)

    def slope(t, y):
        out = kernel(t=np.array([t]), q=y[:n], v=y[n:], p=task.p)
        return np.concatenate([y[n:], out["acceleration"]])

    start, end = np.concatenate([task.q, task.v]), task.times[-1]
    found = solve_ivp(
        slope, (task.t, end), start, "DOP853", t_eval=task.times, rtol=task.tol, atol=task.tol, max_step=0.01
    )
    last = found.y[:, -1]
    return Trajectory(Status.FINISHED, found.y[:n].T, found.y[n:].T, (end, last[:n], last[n:]), steps=found.nfev // 12)


ENGINES["toy"] = Engine(
    what="a toy on SciPy's solvers",
    purpose="testing the table of engines",
    run=run,
    tightest=1e-11,
    quick_from=1e-10,
    preferred_below=1e-17,
    reads_signals=False,
    finds_events=False,
)


def main(folder):
    import numpy as np
    import sympy as sp
    from asking import command, refusal

    import zwang as zw
    from zwang.motion.compare import compare_engines

    path = Path(folder) / "toy.toml"
    path.write_text(MODEL, encoding="utf-8")

    model = zw.load_model(path)
    system, start = model.system, model.start
    motion = model.simulate()
    usual = zw.simulate(system, start, 0.5, tol=1e-12, samples=motion.sizes["time"])
    z, u = zw.coordinates("z u")
    driven = zw.System([z], kinetic=zw.dot(z) ** 2 / 2, forces={z: u}, parameters={u: zw.Signal([0, 1], [0, 1])})
    rough = zw.System([z], kinetic=zw.dot(z) ** 2 / 2, forces={z: -sp.sign(z)})
    tables = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_site" / "tables.py"))["TABLES"]
    return {
        "help of run": command("run", "--help"),
        "wrong choice": command("run", path, "--method", "nothing"),
        "simulate refuses": refusal(zw.simulate, system, start, 0.5, method="nothing"),
        "too tight": refusal(zw.simulate, system, start, 0.5, method="toy", tol=1e-12),
        "no signals": refusal(zw.simulate, driven, {z: 0, zw.dot(z): 0}, 1.0, method="toy", tol=1e-9),
        "no events": refusal(
            zw.simulate, system, start, 0.5, method="toy", tol=1e-9, events=[zw.Event(system.coordinates[0], "x")]
        ),
        "no switches": refusal(zw.simulate, rough, {z: 1, zw.dot(z): 0}, 1.0, method="toy", tol=1e-9),
        "schema": command("schema"),
        "run": command("run", path),
        "compare": command("compare", path),
        "tables": "".join(make() for make in tables.values()),
        "disagreement": next(row.error for row in compare_engines(system, start, 0.5) if row.engine == "toy"),
        "difference": float(np.abs(motion.q.values - usual.q.values).max()),
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
