"""A motion keeps what it was driven by, and whatever is computed from it later has it, too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import xarray as xr

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError
from zwang.files.store import load_motion, save_motion
from zwang.results.inputs import INPUTS, used_values

u = zw.coordinates("u")
A = zw.parameters("A")
TABLE = zw.Signal([0, 0.3, 0.7, 1.0], [0.0, 3.0, -2.0, 1.0])
SPLINE = zw.Signal([0, 0.3, 0.7, 1.0], [0.0, 3.0, -2.0, 1.0], kind="cubic", outside="zero")
DRIVES: dict[str, tuple[dict[Any, Any], Callable[[np.ndarray], Any]]] = {
    "number": ({u: 2.5}, lambda t: 2.5 + 0 * t),
    "by name": ({"u": 2.5}, lambda t: 2.5 + 0 * t),
    "expression": ({u: A * sp.cos(3 * zw.t), A: 2.0}, lambda t: 2 * np.cos(3 * t)),
    "switch": ({u: sp.Piecewise((1, zw.t < 0.55), (-3, True))}, lambda t: np.where(t < 0.55, 1.0, -3.0)),
    "table": ({u: TABLE}, lambda t: np.interp(t, [0, 0.3, 0.7, 1.0], [0.0, 3.0, -2.0, 1.0])),
    "spline": ({u: SPLINE}, SPLINE),
}
drives = pytest.mark.parametrize("which", DRIVES)


def arm(own: Any = None) -> mb.Mechanism:
    """A rod on a pin with a motor of torque u."""
    rod = mb.PlanarBody("rod", mass=3, inertia=1, position=(1, 0))
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    return mb.Mechanism([rod], joints=[pin], forces=[mb.Torque("motor", rod, u)], parameters={u: own})


def driven(mechanism: mb.Mechanism, which: str) -> xr.Dataset:
    return zw.simulate(mechanism, until=1.0, samples=11, parameters=DRIVES[which][0])


@drives
@pytest.mark.parametrize("own", [None, 7.0], ids=["no value of its own", "another of its own"])
def test_the_power_of_a_motor_is_its_torque_times_its_speed(which: str, own: float | None) -> None:
    # P = u ω, with u as it was given
    mechanism = arm(own)
    motion = driven(mechanism, which)
    omega = motion.v.sel(coordinate="rod.angle").values

    power = mechanism.energies(motion).power.sel(element="motor").values

    assert power == pytest.approx(DRIVES[which][1](motion.time.values) * omega, rel=1e-12, abs=1e-12)
    assert power == pytest.approx(motion.given_power.values, rel=1e-9, abs=1e-9)


@drives
def test_a_motion_in_a_file_keeps_its_inputs(tmp_path: Path, which: str) -> None:
    mechanism = arm()
    motion = driven(mechanism, which)

    save_motion(motion, tmp_path / "a.nc")
    again = load_motion(tmp_path / "a.nc")

    assert again.identical(motion)
    assert used_values(mechanism.system, again)[u] == used_values(mechanism.system, motion)[u]
    assert mechanism.energies(again).identical(mechanism.energies(motion))


@drives
def test_reactions_and_coordinates_have_the_inputs(which: str) -> None:
    # about the pin: (I + m l²) ω' = u + M; a pin bears no moment, and u is 0.5 turns of many that are counted
    mechanism = arm()
    motion = driven(mechanism, which)

    angle = mechanism.coordinates(motion).angle.sel(joint="pin").values
    moment = mechanism.reactions(motion).moment.values

    assert angle == pytest.approx(motion.q.sel(coordinate="rod.angle").values, abs=1e-12)
    assert abs(moment).max() < 1e-9


def test_turns_between_samples_are_counted_with_the_inputs() -> None:
    # a body in space turned by a torque about z, from rest: φ = u t²/(2 I), 25 turns between two samples
    wheel = mb.Body("wheel", mass=1, inertia=(1, 1, 2))
    pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1))
    mechanism = mb.Mechanism([wheel], joints=[pin], forces=[mb.Torque("motor", wheel, (0, 0, u))], parameters={u: 0})
    motion = zw.simulate(mechanism, until=1.0, samples=2, parameters={u: 200 * np.pi})

    angle = mechanism.coordinates(motion).angle.sel(joint="pin").values

    assert angle[-1] == pytest.approx(50 * np.pi, rel=1e-9)


def test_a_sample_of_many_has_its_own_inputs() -> None:
    mechanism = arm()
    given = {u: A * zw.t, A: np.array([1.0, 2.0, -4.0])}
    many = zw.simulate_many(mechanism, until=1.0, samples=5, parameters=given)

    for i, a in enumerate(given[A]):
        one = many.isel(sample=i)
        power = mechanism.energies(one).power.sel(element="motor").values
        assert power == pytest.approx(a * one.time.values * one.v.sel(coordinate="rod.angle").values, abs=1e-12)


def test_a_parameter_that_all_samples_share_is_kept() -> None:
    m = zw.parameters("m")
    rod = mb.PlanarBody("rod", mass=m, inertia=1, position=(1, 0))
    mechanism = mb.Mechanism([rod], joints=[mb.Revolute("pin", mb.ground, rod, at=(0, 0))], parameters={m: 1.0})
    many = zw.simulate_many(mechanism, {**mechanism.start}, until=1.0, samples=3, parameters={m: 5.0})

    one = many.isel(sample=0) if "sample" in many.dims else many

    # T = (I + m l²) ω²/2
    omega = one.v.sel(coordinate="rod.angle").values
    total = mechanism.energies(one).kinetic.sel(body="rod").values
    assert total == pytest.approx((1 + 5.0) * omega**2 / 2)


def test_contacts_by_events_and_by_steps_keep_the_inputs() -> None:
    y = zw.coordinates("y")
    ball = zw.System((y,), kinetic=zw.dot(y) ** 2 / 2, forces={y: u - 9.81},
                     constraints={"floor": zw.Constraint(y >= 0)}, parameters={u: None})  # fmt: skip
    for way in ({}, {"contacts": "steps", "step": 1e-3}):
        motion = zw.simulate(ball, {y: 0.1, zw.dot(y): 0}, until=0.3, samples=4, parameters={u: TABLE}, **way)

        assert used_values(ball, motion) == {u: TABLE}


def test_an_old_motion_is_read_with_the_systems_own_inputs_and_says_so() -> None:
    mechanism = arm(2.5)
    motion = driven(mechanism, "number")
    wanted = mechanism.energies(motion)
    del motion.attrs[INPUTS]

    with pytest.warns(UserWarning, match="inputs"):
        found = mechanism.energies(motion)

    assert found.identical(wanted)


def test_an_old_motion_whose_input_nobody_knows_says_what_to_do() -> None:
    mechanism = arm()
    motion = driven(mechanism, "number")
    del motion.attrs[INPUTS]

    with pytest.raises(InputError, match="compute the motion again"), pytest.warns(UserWarning, match="inputs"):
        mechanism.energies(motion)


def test_an_input_that_no_data_say_is_refused_later_and_not_taken_for_another() -> None:
    odd = sp.gamma(zw.t + 1) ** 200
    mechanism = arm(1.0)
    motion = zw.simulate(mechanism, until=0.1, samples=2, parameters={u: odd})

    with pytest.raises(InputError, match="input u"):
        mechanism.energies(motion)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"u": 5}', '{"u": [["__import__", 1]]}', '{"u": {"text": 1}}',
                                  '{"u": {"kind": "linear", "outside": "hold", "points": [0, 99]}}',
                                  "[" * 100_000])  # fmt: skip
def test_damaged_inputs_are_refused_by_a_sentence(text: str) -> None:
    mechanism = arm(1.0)
    motion = driven(mechanism, "number").assign_attrs({INPUTS: text})

    with pytest.raises(InputError, match="motion"):
        mechanism.energies(motion)


def test_an_animation_shows_the_motion_with_its_own_parameters() -> None:
    # a stroke of length L, of which the motion has another than the system
    x = zw.coordinates("x")
    L = zw.parameters("L")
    mass = zw.System((x,), kinetic=L * zw.dot(x) ** 2 / 2, forces={x: u}, parameters={L: 1.0, u: 0})
    motion = zw.simulate(mass, {x: 0, zw.dot(x): 0}, until=1.0, samples=3, parameters={L: 2.5, u: 1})
    drawing = zw.Drawing((zw.Shape("rod", "line", ((0, 0), (L, u))),))

    shown = zw.animate(motion, drawing, mass).motion

    assert shown.drawing.values[:, 1].tolist() == [[2.5, 1.0]] * 3


def test_a_report_has_the_inputs_of_its_motion() -> None:
    page = zw.report(arm(), driven(arm(), "expression"), checks=False)

    assert "u = &quot;A*cos(3*t)&quot;" in page
