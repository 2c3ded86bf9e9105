"""What a new process needs for its first trajectory; then Andrews' mechanism, warm, as JSON on standard output."""

import json
import sys
import time
from pathlib import Path

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
pendulum = zw.System(
    (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints={"rod": x**2 + y**2 - 1}
)
zw.simulate(pendulum, {x: 1, y: 0, dot(x): 0, dot(y): 0}, until=10.0)

if len(sys.argv) == 1:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import andrews

    system = andrews.mechanism()
    start = dict(zip(system.coordinates, andrews.START, strict=True)) | dict.fromkeys(system.velocities, 0.0)
    began = time.perf_counter()
    motion = zw.simulate(system, start, until=0.03)
    print(json.dumps({"andrews": time.perf_counter() - began - motion.attrs["run_seconds"]}))
