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


CRANK = (*POINTS, *zw.coordinates("x3 y3"))
SINGULAR = {(more, stop): (0.8, 1.0, 1.5) for more in ("bar", "again", "crank") for stop in STOPS}
SINGULAR |= {("again", "floor fast"): (1.2, -4.0, 1.5), ("bar", "wall fast"): (0.3, 7.0, 1.5)}


def through(more, stop, restitution, angle, speed):
    """The same linkage from another start; with `crank`, a third crank and a mass in the middle of the coupler."""
    system, start = linkage("again" if more == "crank" else more, stop.split()[0], restitution, 0)
    c, s = np.cos(angle), np.sin(angle)
    points = POINTS
    if more == "crank":
        points, (x3, y3) = CRANK, CRANK[4:]
        rows = [r for r in system.constraints if r.name != "again"]
        rows += [zw.Constraint(((x3 - 1) ** 2 + y3**2 - 1) / 2, "third")]
        rows += [
            zw.Constraint(((x3 - a) ** 2 + (y3 - b) ** 2 - 1) / 2, n) for a, b, n in ((x1, y1, "l"), (x2, y2, "r"))
        ]
        kinetic, potential = sum(dot(e) ** 2 for e in points) / 2, G * (y1 + y2 + y3)
        system = zw.System(points, kinetic=kinetic, potential=potential, constraints=rows)
    places = (c, s, 2 + c, s, 1 + c, s)[: len(points)]
    start = dict(zip(points, places, strict=True))
    return system, start | {dot(e): speed * (-s, c)[k % 2] for k, e in enumerate(points)}


@pytest.mark.parametrize("restitution", [0, 0.5, 1])
@pytest.mark.parametrize(("more", "stop"), SINGULAR)
def test_a_linkage_with_redundant_rows_goes_through_its_singular_position_to_a_stop(more, stop, restitution):
    # flat, the parallelogram may become another linkage: the rank of its rows drops; by its angle it is a pendulum
    angle, speed, until = SINGULAR[more, stop]
    motion = zw.simulate(*through(more, stop, restitution, angle, speed), until)
    one = by_angle(stop.split()[0], restitution)[0]
    reference = zw.simulate(one, {turn: angle, dot(turn): speed}, until)
    assert motion.attrs["status"] == "finished"
    caught = (stop, restitution) == ("wall fast", 0)  # by the wall, before the position
    assert ("Leapt the singular position" in motion.attrs["message"]) != caught
    near = 1e-5 if more == "crank" else 1e-7  # leaps say how far off they may be
    assert motion.q.sel(coordinate="x1").values == pytest.approx(np.cos(reference.q.values[:, 0]), abs=near)
    assert motion.q.sel(coordinate="y2").values == pytest.approx(np.sin(reference.q.values[:, 0]), abs=near)
    met = [m.transition_time.values[m.transition_kind.values == "impact"] for m in (motion, reference)]
    assert met[0][:3] == pytest.approx(met[1][:3], abs=near)


@pytest.mark.parametrize("angle", [-0.001, -0.1])
def test_a_fast_linkage_with_redundant_rows_leaps_far_enough(angle):
    # damped rows stop nearer to the position than independent ones may land behind it
    system, start = through("again", "floor", 0, angle, 5.4)
    free = zw.System(POINTS, kinetic=system.kinetic, potential=system.potential,
                     constraints=[c for c in system.constraints if not c.one_sided])  # fmt: skip
    motion = zw.simulate(free, start, 1.5)
    pendulum = zw.System([turn], kinetic=dot(turn) ** 2, potential=2 * G * sp.sin(turn))
    reference = zw.simulate(pendulum, {turn: angle, dot(turn): 5.4}, 1.5)
    assert motion.q.sel(coordinate="y1").values == pytest.approx(np.sin(reference.q.values[:, 0]), abs=1e-7)
