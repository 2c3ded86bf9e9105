"""Accelerations of the sloppy robots by Pinocchio: python -m tests.references.sloppy_urdf writes sloppy-urdf.json.

Joints by name. Of a floating base: position and quaternion (scalar first) of the base, its velocity in world axes and
its angular velocity in its own; the acceleration is the derivative of these.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.multibody.readers.sloppy import SLOPPY, Sloppy

FILE = Path(__file__).with_name("sloppy-urdf.json")
STATES = 2


def accelerations(case: Sloppy) -> list[dict[str, dict[str, Any]]]:
    """Values, rates and accelerations by joint, at a few states."""
    import pinocchio as pin

    text = case.clean or case.text
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if case.floating else pin.buildModelFromXML(text)
    data, rng, found = model.createData(), np.random.default_rng(5), []
    for _ in range(STATES):
        v, values, rates, second = rng.uniform(-1, 1, model.nv), {}, {}, {}
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
        a = pin.aba(model, data, q, v, np.zeros(model.nv))
        for name, j in zip(model.names[1:], model.joints[1:], strict=True):
            if j.nv == 6:
                turn = pin.Quaternion(q[j.idx_q + 3 : j.idx_q + 7]).toRotationMatrix()
                linear, spin = np.split(v[j.idx_v : j.idx_v + 6], 2)
                pushed, spun = np.split(a[j.idx_v : j.idx_v + 6], 2)
                values["base"] = [*q[j.idx_q : j.idx_q + 3], *np.roll(q[j.idx_q + 3 : j.idx_q + 7], 1)]
                rates["base"] = [*(turn @ linear), *spin]
                second["base"] = [*(turn @ (pushed + np.cross(spin, linear))), *spun]
                continue
            angle = q[j.idx_q] if j.nq == 1 else np.arctan2(q[j.idx_q + 1], q[j.idx_q])
            values[name], rates[name], second[name] = float(angle), float(v[j.idx_v]), float(a[j.idx_v])
        found.append({"values": values, "rates": rates, "accelerations": second})
    return found


if __name__ == "__main__":
    import pinocchio

    written = {"origin": f"Pinocchio {pinocchio.__version__}, aba, gravity (0, 0, -9.81), without damping"}
    written["robots"] = {name: accelerations(case) for name, case in SLOPPY.items()}
    FILE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
