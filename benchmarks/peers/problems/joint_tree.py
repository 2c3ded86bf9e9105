"""Trees of bars on hinges, 20 and 40 of them: what a robot in a URDF file is, with its axes in all directions.

Every fifth bar belongs to a spine and hangs at the end of the fifth before; from each of them a limb of four more goes
on. The first bar hangs at the origin. A bar is 0.3 m long, has 0.5 kg, the inertia of a
slender bar across and 1e-3 kg m² about its own line, which is x of its frame; its hinge is z. Seen from the parent's
frame the hinge's frame is turned by the rotation vector (cos i, sin 2i, cos 3i). Gravity 9.81 along −z. Start: all
angles zero, at rest. Observed after 1 s: the far ends of two bars, the middle one and the last.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.peers.linkage import Hinged
from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

LENGTH, MASS, OWN = 0.3, 0.5, 1e-3


def joint_tree(count: int) -> Problem:
    """The tree of so many bars."""
    across = MASS * LENGTH**2 / 12
    end, centre, inertia = np.array([LENGTH, 0, 0]), np.array([LENGTH / 2, 0, 0]), np.array([OWN, across, across])
    bars = tuple(
        Hinged(
            parent=-1 if not i else i - 5 if i % 5 == 0 else i - 1,
            at=end if i else np.zeros(3),
            mass=MASS,
            centre=centre,
            inertia=inertia,
            angle=0.0,
            turn=Rotation.from_rotvec([np.cos(i), np.sin(2 * i), np.cos(3 * i)]).as_matrix(),
        )
        for i in range(count)
    )
    return Problem(
        name=f"joint_tree_{count}",
        title=f"tree of {count} bars on hinges in space, 1 s",
        until=1.0,
        data={"g": 9.81, "bodies": bars, "seen": ((count // 2, end), (count - 1, end))},
        observe=("x, y, z of the first end", "x, y, z of the second"),
        reference=reference(f"joint_tree_{count}"),
        targets=(1e-3, 1e-6, 1e-9),
    )


PROBLEMS = tuple(joint_tree(count) for count in (20, 40))
