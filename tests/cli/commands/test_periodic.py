"""`zwang periodic` and `zwang lyapunov`."""

import json

import pytest

from tests.files.analyses.models import VANDERPOL
from zwang.cli.exits import Exit


def test_a_limit_cycle(zwang, here):
    result = zwang("periodic", "m.toml", "--out", "m.nc", m=VANDERPOL)
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "period 6.3806" in words
    assert "Stable: neighbours come nearer" in words
    assert (here / "m.nc").exists()
    told = json.loads(zwang("periodic", "m.toml", "--set", "mu=0.1", "--json").stdout)
    assert told["attributes"]["period"] == pytest.approx(6.28711, abs=1e-4)  # 2π (1 + μ²/16) to this order
    assert len(told["variables"]["floquet"]["values"][0]) == 2


def test_a_period_is_needed(zwang):
    result = zwang("periodic", "pendulum.toml")
    assert result.exit_code == Exit.USAGE
    assert "give --period TIME" in result.stderr
    assert zwang("periodic", "pendulum.toml", "--period", "-1").exit_code == Exit.USAGE


def test_where_nothing_repeats_itself_the_exit_code_says_so(zwang):
    free = '[coordinates]\nx = { start = 0.0, rate = 1.0 }\n[energy]\nkinetic = "x\'^2/2"\n'
    result = zwang("periodic", "m.toml", "--period", "1", m=free)
    assert result.exit_code == Exit.NOT_FOUND
    assert "Traceback" not in result.output


def test_exponents_of_a_damped_spring(zwang):
    damped = """
[coordinates]
x = 1.0
[energy]
kinetic = "x'^2/2"
potential = "2*x^2"
[forces]
x = "-x'/5"
[lyapunov]
until = 100.0
"""
    result = zwang("lyapunov", "m.toml", m=damped)
    assert result.exit_code == 0
    told = json.loads(zwang("lyapunov", "m.toml", "--count", "1", "--json").stdout)
    assert told["variables"]["exponent"]["values"] == pytest.approx([-0.1], abs=0.02)


def test_an_end_is_needed(zwang):
    endless = '[coordinates]\nx = 0.1\n[energy]\nkinetic = "x\'^2/2"\npotential = "x^2/2"\n'
    result = zwang("lyapunov", "m.toml", m=endless)
    assert result.exit_code == Exit.USAGE
    assert "give --until TIME" in " ".join(result.stderr.split())
    assert zwang("lyapunov", "pendulum.toml", "--until", "0").exit_code == Exit.USAGE


def test_wrong_numbers_are_explained(zwang):
    assert zwang("lyapunov", "pendulum.toml", "--count", "0").exit_code == Exit.USAGE
    many = zwang("lyapunov", "pendulum.toml", "--count", "9")
    assert many.exit_code == Exit.USAGE
    assert "a whole number from 1 to 2" in many.stderr
    assert zwang("lyapunov", "pendulum.toml", "--until", "-1").exit_code == Exit.USAGE
