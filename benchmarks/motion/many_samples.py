"""A run with 1,000,000 saved samples of 20 coordinates: size of the results and peak memory, as JSON."""

import json
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import problems

import zwang as zw

problem = problems.chain(10, 1.0)
zw.simulate(problem.system, problem.start, problem.until, samples=11)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
motion = zw.simulate(problem.system, problem.start, problem.until, samples=1_000_000, tol=1e-9, progress=False)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
print(json.dumps({"results": motion.nbytes, "peak": peak, "samples": motion.sizes["time"]}))
