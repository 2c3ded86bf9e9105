"""A thin disc of 2 kg and radius 0.5 m rolling without slipping on a horizontal plane, g = 9.81, 5 s.

Start: the centre above (0, 0), the disc's axis tilted: it makes the angle 1.1 rad with the vertical, its horizontal
part along x; angular velocity (world axes) 0.4 about x, 0.2 about y, 1.5 about z, plus 6 rad/s of spin about the
disc's own axis; the centre's velocity follows from rolling. Observed: x, y, z of the centre and the three components
of the disc's axis.
"""

from math import cos, sin

from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

TILT, SPIN, TURN = 1.1, 6.0, (0.4, 0.2, 1.5)
AXIS = (sin(TILT), 0.0, cos(TILT))

PROBLEM = Problem(
    name="rolling_disc",
    title="thin disc rolling without slipping, 5 s",
    until=5.0,
    data={
        "mass": 2.0,
        "radius": 0.5,
        "g": 9.81,
        "axis": AXIS,
        "omega": tuple(w + SPIN * a for w, a in zip(TURN, AXIS, strict=True)),
    },
    observe=("x", "y", "z", "axis x", "axis y", "axis z"),
    reference=reference("rolling_disc"),
)
