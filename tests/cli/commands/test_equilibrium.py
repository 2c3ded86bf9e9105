"""`zwang equilibrium` and `zwang steady`."""

import json

import pytest

from tests.files.analyses.models import BODIES, CONICAL, PENDULUM
from zwang.cli.exits import Exit


def test_it_says_where_the_model_rests_and_whether_that_is_stable(zwang):
    result = zwang("equilibrium", "pendulum.toml")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "Pendulum, at rest"
    assert {"x 0", "y -1"} <= set(lines)
    assert lines[-1].startswith("Stable: ")


def test_upright_it_is_not(zwang):
    told = json.loads(zwang("equilibrium", "pendulum.toml", "--start", "x=0.01", "--start", "y=1", "--json").stdout)
    assert told["stable"] is False
    assert told["state"]["y"] == pytest.approx(1, abs=1e-14)


def test_parameters_and_holds_are_heeded(zwang):
    told = json.loads(zwang("equilibrium", "m.toml", "--set", "L=2", "--json", m=PENDULUM).stdout)
    assert told["state"]["y"] == pytest.approx(-2, abs=1e-14)
    assert told["unique"] == {"rod": False, "again": False}
    result = zwang("equilibrium", "m.toml", "--hold", "x=0.5")
    assert result.exit_code == Exit.NOT_FOUND
    assert "remains" in result.stderr


def test_bodies_and_robots_rest_too(zwang, here):
    assert "Stable: " in zwang("equilibrium", "b.toml", b=BODIES).stdout
    urdf = """<robot name="Arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="shoulder" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
    </robot>"""
    (here / "arm.urdf").write_text(urdf, encoding="utf-8")
    told = json.loads(zwang("equilibrium", "arm.urdf", "--start", "shoulder=0.2", "--json").stdout)
    assert told["stable"] is True
    modes = json.loads(zwang("modes", "arm.urdf", "--start", "shoulder=-0.3", "--json").stdout)
    frequency = modes["variables"]["frequency"]["values"][0]
    assert frequency == pytest.approx((9.81 * 0.5 / (0.1 + 0.25)) ** 0.5, abs=1e-9)


def test_steady_motions(zwang):
    result = zwang("steady", "m.toml", m=CONICAL)
    assert result.exit_code == 0
    assert "steady in angle, angle' and turn'" in result.stdout
    assert "1.1675569" in result.stdout
    typed = zwang("steady", "m.toml", "--constant", "angle", "--constant", "angle'", "--constant", "turn'", "--json")
    assert json.loads(typed.stdout)["state"]["angle"] == pytest.approx(1.167556904, abs=1e-9)


def test_steady_motions_need_what_stays_constant(zwang):
    result = zwang("steady", "pendulum.toml")
    assert result.exit_code == Exit.USAGE
    assert "give --constant NAME, or put constant = … under [steady]" in " ".join(result.stderr.split())


def test_derivatives_that_are_not_finite_are_told(zwang):
    result = zwang("equilibrium", "bead_with_drag")
    assert result.exit_code == Exit.NOT_FOUND
    assert "derivatives are not finite" in " ".join(result.stderr.split())
