"""A report has a part for every section that asks something, and says why where there is no answer."""

import json
import re

import numpy as np
import pytest

from tests.files.analyses.models import ASKS, BODIES, CONICAL, CRANK, PENDULUM, SPRING, VANDERPOL
from zwang.files.read import load_model, read_model
from zwang.show.report.page import report

DRAWN = PENDULUM + ASKS + '[draw]\nrod = { line = [[0, 0], ["x", "y"]] }\n'


def page_of(model, **options):
    """The report of a model's own motion, without comparisons."""
    return report(model, model.simulate(until=1.0, samples=20), checks=False, **options)


def figures(page):
    """The plots of a page, as its script gets them."""
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1])["figures"]


def test_an_equilibrium_its_modes_and_its_response():
    page = page_of(read_model(DRAWN))
    assert '<section id="asked-equilibrium"' in page
    assert "Modes and state space" in page
    assert 'id="mode-0"' in page or 'id="mode-1"' in page
    response = figures(page)["response"]
    assert response["logAxis"]
    assert [curve["name"] for curve in response["panels"][0]["curves"]] == ["pull by F", "speed by F"]
    assert '<section id="asked-lyapunov"' in page


def test_a_root_locus_along_a_parameter():
    page = page_of(read_model(CONICAL + "[run]\nuntil = 1.0\n"))
    assert "Steady motion" in page
    found = figures(page)
    assert found["locus"]["plane"]
    assert found["against"]["axis"] == "turns"
    assert len(found["against"]["panels"][0]["curves"][0]["y"]) == 5
    assert "Disturbances do not grow" in page


def test_periodic_motions_and_kinematics():
    assert "Floquet multipliers" in page_of(read_model(VANDERPOL))
    page = page_of(read_model(CRANK.replace("y = 0.1", "y = { start = 0.0, rate = 1.0 }")))
    assert "nothing is integrated" in page
    assert "kinematics-force" in figures(page)


def test_bodies_have_their_modes_too():
    page = page_of(read_model(BODIES))
    assert '<section id="asked-linear"' in page
    assert "top.angle" in page


def test_a_fit_shows_data_beside_the_motion(tmp_path):
    rows = [f"{t},{0.3 * np.cos(2 * t) + 0.1}" for t in np.linspace(0, 3, 20)]
    (tmp_path / "spring.csv").write_text("\n".join(["t,seen", *rows]), encoding="utf-8")
    (tmp_path / "m.toml").write_text(SPRING, encoding="utf-8")
    page = page_of(load_model(tmp_path / "m.toml"))
    motion, measured = figures(page)["fit-0"]["panels"][0]["curves"]
    assert measured["dots"]
    assert motion["y"] == pytest.approx(measured["y"], abs=1e-5)
    assert "only k/m can be told" in page


def test_where_there_is_no_answer_the_reason_stands_in_its_place():
    free = """
[parameters]
k = 1
[coordinates]
x = 0.0
[energy]
kinetic = "k*x'^2/2"
potential = "2*x"
[equilibrium]
[fit]
unknown = ["k"]
"""
    page = page_of(read_model(free))
    assert page.count("There is no answer: ") == 2
    assert "the model names no data" in page


def test_what_comes_from_the_model_is_escaped():
    page = page_of(read_model(DRAWN.replace("speed = ", '"<i>speed</i>" = ')))
    assert "<i>speed</i>" not in page
