"""The work of all forces is integrated with the motion: the balance of energies is the integrator's error."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot, t
from zwang.formulations.forms import integrable

x, y, a, r, p = zw.coordinates("x y a r p")
ENGINES = ("native", "taylor", "radau", "lsoda")


def damped():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2, forces={x: -dot(x) / 2})
    return system, {x: 1, dot(x): 0}, 10.0


def kapitza():
    """A pendulum, upright on a pivot that shakes 0.1 m at 100 rad/s."""
    u, w = sp.sin(a), -sp.cos(a) + sp.cos(100 * t) / 10
    kinetic = (sp.diff(u, t) ** 2 + sp.diff(w, t) ** 2) / 2
    return zw.System((a,), kinetic=kinetic, potential=9.81 * w), {a: 3, dot(a): 0}, 1.0


def shaken_rod():
    """The same in x and y: the rod's force does all the work."""
    pivot = sp.cos(100 * t) / 10
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=9.81 * y,
        constraints={"rod": x**2 + (y - pivot) ** 2 - 1},
    )
    return system, {x: np.sin(3), y: -np.cos(3) + 0.1, dot(x): 0, dot(y): 0}, 1.0


def spun_bead():
    """A bead on a spoke that a motor turns: a constraint at velocity level with power."""
    kinetic = (dot(r) ** 2 + r**2 * dot(p) ** 2) / 2
    system = zw.System((r, p), kinetic=kinetic, constraints={"motor": dot(p) - 2 - sp.sin(t)})
    return system, {r: 1, p: 0, dot(r): 0, dot(p): 2}, 2.0


def rubbed():
    """A body on a circle with friction as a nonideal force."""
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=9.81 * y,
        constraints={"rod": x**2 + y**2 - 1},
        nonideal={x: -dot(x) / 5, y: -dot(y) / 5},
    )
    return system, {x: 1, y: 0, dot(x): 0, dot(y): 0}, 3.0


def by_mass_matrix():
    """A mass that grows with x, and a force."""
    return zw.System((x,), mass=[[1 + x**2]], forces={x: -x}), {x: 1, dot(x): 1}, 5.0


PROBLEMS = (damped, kapitza, shaken_rod, spun_bead, rubbed, by_mass_matrix)


def gap(motion):
    """The largest gap in the account, in units of the largest energy."""
    size = max(float(abs(motion.kinetic).max()), float(abs(motion.potential).max()))
    return float(abs(motion.energy_balance).max()) / size


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", ENGINES)
def test_the_balance_is_the_integrators_error_whatever_is_saved(problem, method):
    # Errors of steps add up: by their number, which is a thousand or less, and in a drifting rod by its square.
    system, start, until = problem()
    tol = 1e-6 if method == "radau" else 1e-9
    for samples in (3, 201):
        motion = zw.simulate(system, start, until, samples=samples, method=method, tol=tol, max_step=np.inf)
        assert gap(motion) < 1e3 * tol


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("form", integrable()[1:])
def test_in_every_form(problem, form):
    system, start, until = problem()
    assert gap(zw.simulate(system, start, until, form=form, tol=1e-11)) < 1e-8


@pytest.mark.parametrize("problem", PROBLEMS)
def test_in_lanes_as_alone(problem):
    system, start, until = problem()
    key = list(start)[-1]
    many = zw.simulate_many(system, start | {key: np.full(9, float(start[key]))}, until, tol=1e-11, samples=11)
    alone = zw.simulate(system, start, until, tol=1e-11, samples=11)
    assert np.abs(many.energy_balance - alone.energy_balance).max() < 1e-9 * float(abs(alone.kinetic).max())


def test_in_quadruple_precision():
    system, start, until = damped()
    assert gap(zw.simulate(system, start, until, samples=5, precision="quad", method="taylor", tol=1e-18)) < 1e-15


@pytest.mark.parametrize("method", ["native", "radau"])
def test_the_work_is_that_of_the_closed_form(method):
    # x = e^(-t/4) (cos ωt + sin ωt/(4ω)), ω² = 15/16: the energy that the damper took.
    system, start, until = damped()
    motion = zw.simulate(system, start, until, method=method, samples=7)
    w, s = np.sqrt(15) / 4, motion.time.values
    place = np.exp(-s / 4) * (np.cos(w * s) + np.sin(w * s) / (4 * w))
    speed = -np.exp(-s / 4) * np.sin(w * s) / w
    assert np.abs(motion.energy.values - (place**2 + speed**2) / 2).max() < 1e-11
    assert float(abs(motion.energy_balance).max()) < 1e-11


def test_what_stops_and_goes_on_keeps_its_account():
    # Events, breaks of a signal, and a run that begins late in its account.
    f = zw.coordinates("f")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2, forces={x: f}, parameters={f: None})
    push = zw.Signal([0.0, 1.0, 1.5, 9.0], [0.0, 2.0, -1.0, 0.0])
    for method in ("native", "radau", "lsoda"):
        motion = zw.simulate(
            system, {x: 1, dot(x): 0}, 9.0, parameters={f: push}, method=method, times=np.linspace(2, 9, 5), tol=1e-10
        )
        assert gap(motion) < 1e-7
    stopped = zw.simulate(*damped(), events=[zw.Event(x, stop=True)])
    assert stopped.attrs["status"] == "event"
    assert gap(stopped) < 1e-11


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_across_singular_positions(method):
    # A parallelogram that flattens, with a damper at each joint: leaps and crossings are on the ledger.
    u1, w1, u2, w2 = zw.coordinates("u1 w1 u2 w2")
    rates = [dot(c) for c in (u1, w1, u2, w2)]
    system = zw.System(
        (u1, w1, u2, w2),
        kinetic=sum(rate**2 for rate in rates) / 2,
        potential=9.81 * (w1 + w2),
        forces={c: -dot(c) / 10 for c in (u1, w1, u2, w2)},
        constraints={
            "left": u1**2 + w1**2 - 1,
            "right": (u2 - 1) ** 2 + w2**2 - 1,
            "coupler": (u2 - u1) ** 2 + (w2 - w1) ** 2 - 1,
        },
    )
    start = {u1: 0, w1: 1, u2: 1, w2: 1, dot(u1): 1, dot(w1): 0, dot(u2): 1, dot(w2): 0}
    motion = zw.simulate(system, start, 2.0, method=method)
    assert "Leapt" in motion.attrs["message"]
    assert gap(motion) < 1e-8


def test_nothing_is_integrated_where_nothing_changes_the_energy():
    from zwang.lowering.rows import RowBasis
    from zwang.model.values import given_values
    from zwang.motion.options import RunOptions
    from zwang.motion.prepare import prepare

    rod = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints={"rod": x**2 + y**2 - 1}
    )
    edge = zw.System(
        (x, y, a),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(a) ** 2) / 2,
        constraints={"edge": dot(x) * sp.sin(a) - dot(y) * sp.cos(a)},
    )
    for system in (rod, edge):
        setup = prepare(system, given_values(system, None), RunOptions(np.inf))
        assert "power" not in setup.program("acceleration", RowBasis((0,))).outputs


def test_what_time_alone_says_of_an_energy_is_no_part_of_the_account():
    # A slow motion whose potential has a fast part that moves nothing: no step resolves it, and none has to.
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2 + 50 * sp.sin(1e4 * t))
    motion = zw.simulate(system, {x: 1, dot(x): 0}, 5.0, samples=50)
    assert float(abs(motion.energy_balance).max()) < 1e-11
