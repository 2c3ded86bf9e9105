"""Switches in time end a step: pulses, steps and kinks of every kind, on every engine, wherever they stand."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import Signal, dot, t
from zwang.errors import InputError
from zwang.lowering.rolled.timed import SwitchesOfMembers
from zwang.model.values import given_values
from zwang.motion.breaks import breaks_in, switches_in
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare

x, y = zw.coordinates("x y")
u = zw.coordinates("u")
ENGINES = ("native", "taylor", "radau", "lsoda")
REST = {x: 0, dot(x): 0}


def pushed(force, **more):
    return zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: force}, **more)


def last(motion):
    return float(motion.q[-1, 0]), float(motion.v[-1, 0])


# Each with its impulse ∫F dt and its moment ∫F (10 − t) dt over 0 … 10, integrated by hand: the body ends with that
# velocity at that place.
pulse = sp.Piecewise((2, (t > 5) & (t < 5.5)), (0, True))
CASES = {
    "a pulse": (pulse, 1.0, 4.75),
    "closed": (sp.Piecewise((2, (t >= 5) & (t <= 5.5)), (0, True)), 1.0, 4.75),
    "10 ms": (sp.Piecewise((100, (t > 7) & (t < 7.01)), (0, True)), 1.0, 2.995),
    "30 microseconds": (sp.Piecewise((2**15, (t > 7) & (t < 7 + sp.Rational(1, 2**15))), (0, True)), 1.0, 3 - 0.5**16),
    "two steps": (2 * sp.Heaviside(t - 5) - 2 * sp.Heaviside(t - 5.5), 1.0, 4.75),
    "signs": (sp.sign(t - 5) - sp.sign(t - 5.5), 1.0, 4.75),
    "not, or": (sp.Piecewise((0, sp.Or(t < 5, sp.Not(t < 5.5))), (2, True)), 1.0, 4.75),
    "exclusive or": (sp.Piecewise((2, sp.Xor(t > 5, t > 5.5)), (0, True)), 1.0, 4.75),
    "if": (sp.Piecewise((2, sp.ITE(t > 5, t < 5.5, sp.false)), (0, True)), 1.0, 4.75),
    "a tent": (sp.Max(0, 0.1 - sp.Abs(t - 5)), 0.01, 0.05),
    "the least": (sp.Min(0, sp.Abs(t - 5) - 0.1), -0.01, -0.05),
    "an instant": (sp.Piecewise((1e6, sp.Eq(t, 5)), (1, True)), 10.0, 50.0),
    "but for an instant": (sp.Piecewise((1, sp.Ne(t, 5)), (1e6, True)), 10.0, 50.0),
    "a parabola": (sp.Piecewise((1, (t - 3) * (t - 3.01) < 0), (0, True)), 0.01, 0.06995),
    "nested": (sp.Piecewise((1, sp.Piecewise((t - 2, t < 4), (7 - t, True)) > 0), (0, True)), 5.0, 27.5),
    "a step inside": (sp.Heaviside(sp.Piecewise((1, (t > 5) & (t < 5.5)), (-1, True))) * 2, 1.0, 4.75),
}


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_a_force_that_switches_in_time_is_not_stepped_over(name, method):
    force, impulse, moment = CASES[name]
    tol = 1e-9 if method == "lsoda" else 1e-12
    motion = zw.simulate(pushed(force), REST, 10.0, method=method, tol=tol, samples=3)
    assert motion.attrs["status"] == "finished"
    assert last(motion) == pytest.approx((moment, impulse), rel=1e-9 if tol < 1e-10 else 1e-6, abs=1e-13)


# floor(2t) and its kin over 0 … 10, by sums.
FLOORS = {
    "floor": (sp.floor(2 * t), sum(k / 2 for k in range(20))),
    "ceiling": (sp.ceiling(2 * t), sum(k / 2 for k in range(1, 21))),
    "saw": (sp.Mod(t, sp.Rational(1, 10)), 100 * 0.1**2 / 2),
    "fraction": (sp.frac(10 * t), 100 * 0.1 / 2),
    "square wave": (1 + sp.sign(sp.sin(40 * t)), None),
    "beats": (sp.Heaviside(sp.sin(5 * t) - 0.3), None),
}


def square_wave():
    """∫ 1 + sign(sin 40t): each half wave counts π/40 or nothing; 10 s are 63 whole waves and a rest."""
    wave = np.pi / 20
    whole, rest = divmod(10, wave)
    return 2 * (whole * wave / 2 + min(rest, wave / 2))


def beats():
    """The share of time in which sin 5t > 0.3: from asin(0.3) to π − asin(0.3) of each turn."""
    a = np.arcsin(0.3)
    whole, rest = divmod(50, 2 * np.pi)
    return (whole * (np.pi - 2 * a) + min(max(rest - a, 0), np.pi - 2 * a)) / 5


@pytest.mark.parametrize("name", FLOORS)
@pytest.mark.parametrize("method", ["native", "radau"])
def test_floors_and_waves_switch_at_every_instant(name, method):
    force, impulse = FLOORS[name]
    impulse = {"square wave": square_wave, "beats": beats}[name]() if impulse is None else impulse
    motion = zw.simulate(pushed(force), REST, 10.0, method=method, samples=2)
    assert last(motion)[1] == pytest.approx(impulse, rel=1e-11)


@pytest.mark.parametrize("method", ENGINES)
def test_a_known_function_of_time_that_switches_is_not_stepped_over(method):
    system = pushed(u, parameters={u: pulse})
    assert last(zw.simulate(system, REST, 10.0, method=method, tol=1e-9))[1] == pytest.approx(1, rel=1e-8)


def test_instants_depend_on_parameters_sample_by_sample():
    begin, length = sp.symbols("begin length")
    system = pushed(sp.Piecewise((2, (t > begin) & (t < begin + length)), (0, True)))
    starts, lengths = np.linspace(0.5, 8.5, 11), np.linspace(1e-3, 1, 11)
    many = zw.simulate_many(system, REST, 10.0, parameters={begin: starts, length: lengths}, samples=2)
    assert many.v.values[:, -1, 0] == pytest.approx(2 * lengths, rel=1e-10)
    assert many.q.values[:, -1, 0] == pytest.approx(2 * lengths * (10 - starts - lengths / 2), rel=1e-10)


def test_a_signal_that_passes_a_threshold_switches():
    w = zw.coordinates("w")
    ramp = Signal([0, 4, 4.02, 10], [0, 0, 1, 0])
    system = pushed(sp.Piecewise((1, w > 0.999), (0, True)), parameters={w: ramp})
    width = 0.02 * 0.001 + 5.98 * 0.001
    assert last(zw.simulate(system, REST, 10.0))[1] == pytest.approx(width, rel=1e-9)


@pytest.mark.parametrize("method", ENGINES)
def test_a_constraint_on_velocities_may_have_a_kink_in_time(method):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"drive": dot(x) - sp.Max(0, 0.1 - sp.Abs(t - 5))})
    motion = zw.simulate(system, REST, 10.0, method=method, tol=1e-9)
    assert last(motion)[0] == pytest.approx(0.01, rel=1e-6)


def test_a_constraint_on_accelerations_may_jump():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"drive": dot(dot(x)) - pulse})
    assert last(zw.simulate(system, REST, 10.0))[1] == pytest.approx(1, rel=1e-10)


@pytest.mark.parametrize(
    "constraint",
    [
        x - sp.Heaviside(t - 1),
        x - sp.Max(0, t - 1),
        x - sp.Abs(t - 1) + 1,
        dot(x) - sp.Piecewise((1, t > 1), (0, True)),
        dot(x) - sp.floor(t),
        x - sp.Max(0, t - 1) * y,
    ],
)
def test_a_constraint_that_jumps_is_refused_by_name(constraint):
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, constraints={"drive": constraint})
    with pytest.raises(InputError, match=r"'drive' asks .* jumps at t = (1|0\.9+): no finite force"):
        zw.simulate(system, {x: 0, dot(x): 0, y: 0, dot(y): 0}, 2.0)


def test_a_mass_that_jumps_in_time_is_refused_by_name():
    system = zw.System((x,), kinetic=(1 + sp.Heaviside(t - 1)) * dot(x) ** 2 / 2)
    with pytest.raises(InputError, match=r"kinetic: the momentum of x jumps at t = "):
        zw.simulate(system, {x: 0, dot(x): 1}, 2.0)


def test_a_potential_may_jump_in_time():
    """Its force is its slope in x, which is finite: −1 from t = 1 on."""
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x * sp.Heaviside(t - 1))
    assert last(zw.simulate(system, REST, 3.0)) == pytest.approx((-2, -2), rel=1e-12)


@pytest.mark.parametrize("step", [sp.Heaviside(t - 1), sp.sign(t - 1), sp.Piecewise((1, t > 1), (0, True))])
def test_the_derivative_of_a_jump_is_never_taken_for_zero(step):
    with pytest.raises(InputError, match=r"derivative of u\(t\) is used, but u\(t\) jumps at t = (1|0\.9)"):
        zw.simulate(pushed(dot(u), parameters={u: step}), REST, 2.0)


def test_the_derivative_of_a_kink_is_a_step():
    system = pushed(dot(u), parameters={u: sp.Max(0, 0.1 - sp.Abs(t - 5))})
    assert last(zw.simulate(system, REST, 10.0)) == pytest.approx((0.01, 0), abs=1e-12)


def test_more_instants_than_can_be_met_are_refused():
    with pytest.raises(InputError, match=r"floor\(10000000\.?0?\*t\) switches more than 1,000,000 times"):
        zw.simulate(pushed(sp.floor(10**7 * t)), REST, 10.0)


def test_a_model_file_with_pulses(tmp_path):
    """Each of weight 1, by `if`, `abs` with `sign`, `min` with `max`, and `floor`."""
    forces = {
        "a": "if(t > 5, if(t < 5.01, 100, 0), 0)",
        "b": "50*(1 - sign(abs(t - 5) - 0.01))/2",
        "c": "10000*max(0, min(t - 5, 5.02 - t))",
        "d": "64*(1 - min(1, abs(floor(64*t) - 320)))",
    }
    kinetic = " + ".join(f"{name}'^2/2" for name in forces)
    coordinates = [f"{name} = {{ start = 0, rate = 0 }}" for name in forces]
    lines = ["[coordinates]", *coordinates, "[energy]", f'kinetic = "{kinetic}"', "[forces]"]
    lines += [f'{name} = "{force}"' for name, force in forces.items()]
    path = tmp_path / "pulses.toml"
    path.write_text("\n".join([*lines, "[run]", "until = 10"]))
    motion = zw.load_model(path).simulate()
    assert motion.v.values[-1] == pytest.approx(1, rel=1e-10)


ARGUMENTS = [
    sp.sin(31 * t) - 0.97,
    sp.exp(-t) * sp.cos(9 * t) - 0.05,
    (t - 1) * (t - 1.001) * (t - 7),
    sp.tan(2.3 * t) - 1.7,
    1 / (t - 3.7) - 0.4,
    sp.sqrt(t + 1) - 2.2 + sp.sin(7 * t) / 3,
    sp.atan2(sp.sin(t), t - 5) - 0.3,
    sp.erf(t - 4) - sp.log(t + 1) / 2,
    sp.Abs(sp.sin(3 * t)) - sp.Heaviside(t - 4) * 0.8 - 0.1,
    sp.Mod(t, 0.7) - 0.3,
    sp.cos(t) ** 2 * sp.floor(t) - 2.2,
    t**1.7 - 9 * sp.cosh(t - 5) ** -1,
]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=str)
def test_no_switch_is_left_out_between_two_breaks(argument):
    """Read densely on the way, the sign of the argument changes only from a break to the next double."""
    system = pushed(sp.sign(argument))
    setup = prepare(system, given_values(system, None), RunOptions(np.inf))
    (breaks,) = breaks_in(setup, setup.p[None], 0.0, 10.0)
    times = np.unique(np.concatenate([np.linspace(0, 10, 20_001), breaks, np.nextafter(breaks, np.inf)]))
    found, p = switches_in(setup), setup.p
    if isinstance(found, SwitchesOfMembers):
        ((family, found),) = found.kinds
        p = family.constants[0]
    read = found.read(times, np.broadcast_to(p, (len(times), len(p))))
    changes = times[:-1][(np.diff(read, axis=0) != 0).any(axis=1)]
    assert len(changes)
    assert np.isin(changes, breaks).all()
