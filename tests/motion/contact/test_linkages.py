"""Linkages with more rows than they need, and a stop: the motion is that of one angle."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

G, ANGLE, SPEED = 9.81, 0.8, 1.0
x1, y1, x2, y2 = POINTS = zw.coordinates("x1 y1 x2 y2")
turn = zw.coordinates("turn")
STOPS = {"floor": (y1 + 0.5, dot(x1)), "wall": (x1 + 0.6, dot(y1)), "both": (y1 + y2 + 1.2, dot(x1))}
MORE = {
    "level": zw.Constraint(y2 - y1, "level"),
    "bar": zw.Constraint((((x1 + x2) / 2 - 1) ** 2 + ((y1 + y2) / 2) ** 2 - 1) / 2, "middle"),
    "again": zw.Constraint(2 * (x1**2 + y1**2 - 1), "again"),
}


def stop_of(gap, slip, restitution, friction):
    law = {"friction": friction, "slip": slip} if friction else {}
    return zw.Constraint(gap, "stop", one_sided=True, restitution=restitution, **law)


def linkage(more, stop, restitution, friction):
    """A parallelogram of two bars and a coupler with masses at its pins, with one row more, and its start."""
    bars = [zw.Constraint((x1**2 + y1**2 - 1) / 2, "left"), zw.Constraint(((x2 - 2) ** 2 + y2**2 - 1) / 2, "right")]
    coupler = zw.Constraint(((x2 - x1) ** 2 + (y2 - y1) ** 2 - 4) / 2, "coupler")
    rows = [*bars, coupler, MORE[more], stop_of(*STOPS[stop], restitution, friction)]
    system = zw.System(POINTS, kinetic=sum(dot(e) ** 2 for e in POINTS) / 2, potential=G * (y1 + y2), constraints=rows)
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    start = dict(zip(POINTS, (c, s, 2 + c, s), strict=True))
    return system, start | {dot(e): SPEED * u for e, u in zip(POINTS, (-s, c, -s, c), strict=True)}


def by_angle(stop, restitution):
    """The same by its angle alone, without friction: of one degree of freedom it has no say in an impact."""
    c, s = sp.cos(turn), sp.sin(turn)
    gap = {"floor": s + 0.5, "wall": c + 0.6, "both": 2 * s + 1.2}[stop]
    limit = zw.Constraint(gap, "stop", one_sided=True, restitution=restitution)
    system = zw.System([turn], kinetic=dot(turn) ** 2, potential=2 * G * s, constraints=[limit])
    return system, {turn: ANGLE, dot(turn): SPEED}


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("restitution", [0, 0.5, 1])
def test_rows_that_only_say_again_what_holds_change_no_impact_with_friction(stop, restitution):
    motion = zw.simulate(*linkage("level", stop, restitution, 0.3), 1.5)
    angle = zw.simulate(*by_angle(stop, restitution), 1.5)
    assert motion.attrs["status"] == "finished"
    assert motion.q.sel(coordinate="x1").values == pytest.approx(np.cos(angle.q.values[:, 0]), abs=1e-8)
    assert motion.q.sel(coordinate="y2").values == pytest.approx(np.sin(angle.q.values[:, 0]), abs=1e-8)
    impacts = [m.transition_time.values[m.transition_kind.values == "impact"] for m in (motion, angle)]
    assert len(impacts[0]) == len(impacts[1]) > 0
    assert impacts[0] == pytest.approx(impacts[1], abs=1e-8)
    assert float(abs(motion.energy_balance).max()) < 1e-9
