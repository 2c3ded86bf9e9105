"""An elementary function that is added to the table, and everything that then knows it; run in a process of its own."""

import json
import math
import runpy
import sys
from pathlib import Path

import sympy as sp

from zwang.functions import FUNCTIONS, Function


class versin(sp.Function):
    """1 − cos x, as a SymPy function."""

    def fdiff(self, argindex=1):
        return sp.sin(self.args[0])

    def _eval_is_extended_real(self):
        return self.args[0].is_extended_real


FUNCTIONS["versin"] = Function(
    "versed sine, 1 − cos",
    ("versin",),
    numbers=lambda x: 1 - math.cos(x),
    sympy=versin,
    mpmath=lambda mp, x: 1 - mp.cos(x),
    recipe=lambda language, x: 1 - language.cos(x),
)

MODEL = """
name = "A pendulum by its versed sine"
[coordinates]
a = { start = 1.0, rate = 0.0 }
[energy]
kinetic = "a'^2/2"
potential = "9.81*FUNCTION"
[run]
until = 2.0
"""


def main(folder):
    import numpy as np

    import zwang as zw
    from zwang.errors import ZwangError
    from zwang.files.read import read_model
    from zwang.motion.independent import compare_derivation

    model = read_model(MODEL.replace("FUNCTION", "versin(a)"))
    plain = read_model(MODEL.replace("FUNCTION", "(1 - cos(a))"))
    path = Path(folder) / "again.toml"
    zw.save_model(model, path)
    try:
        read_model(MODEL.replace("FUNCTION", "versine(a)"))
        message = ""
    except ZwangError as error:
        message = str(error)
    motion = model.simulate()
    difference = {}
    for method, tol in {"native": 1e-12, "taylor": 1e-14, "radau": 1e-8, "lsoda": 1e-9}.items():
        one, other = (zw.simulate(m.system, m.start, 2.0, method=method, tol=tol, samples=3) for m in (model, plain))
        difference[method] = float(np.abs(one.q.values - other.q.values).max())
    tables = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_site" / "tables.py"))["TABLES"]
    return {
        "file": path.read_text(encoding="utf-8"),
        "unknown": message,
        "tables": "".join(make() for make in tables.values()),
        "latex": zw.derive(model.system).latex(),
        "derivation": compare_derivation(model.system, motion).error,
        "difference": difference,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
