"""The report of a motion with contacts: its law, a strip of modes, the table of transitions."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang.show.report.figures import MOST_MARKS, spread_out
from zwang.show.report.ledger import said_of_law

BALL = """
name = "Ball <b>"
[coordinates]
x = { start = 0, rate = 1, unit = "m" }
y = { start = 1, unit = "m" }
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
"floor" = { rule = "y >= 0", restitution = 0.5, friction = 0.3, slip = "x'" }
[units]
time = "s"
energy = "J"
[run]
until = 2
samples = 41
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = Path(tmp_path_factory.mktemp("ball")) / "ball.toml"
    path.write_text(BALL)
    model = zw.load_model(path)
    motion = model.simulate()
    return motion, zw.report(model, motion)


def test_every_transition_is_in_the_table_with_what_it_cost(page):
    motion, html = page
    assert html.count('<span class="badge note">impact</span>') == int((motion.transition_kind == "impact").sum()) > 3
    first = float(motion.transition_time[0])
    assert abs(first - np.sqrt(2 / 9.81)) < 1e-11  # the height of 1 m falls in this time
    assert "0.451523641&nbsp;s" in html
    assert f"take {float(motion.energy_loss.sum()):.6g} J out of the motion" in html


def test_the_strip_shows_modes_and_impacts(page):
    motion, html = page
    assert html.count("<title>floor: open</title>") >= 1
    assert ("<title>floor: sticking</title>" in html) or ("<title>floor: sliding</title>" in html)
    assert html.count("<line ") >= int((motion.transition_kind == "impact").sum())


def test_the_ledger_says_the_law_of_a_contact(page):
    assert "restitution 0.5, friction 0.3, slip x&#x27;" in page[1]


def test_equations_with_limits_say_when_they_hold(page):
    assert "One-sided constraints stand here as they are while they are at their limits." in page[1]


def test_impacts_are_marked_in_the_plots_and_contacts_have_tabs(page):
    _, html = page
    assert '"name": "impact floor"' in html or '"name":"impact floor"' in html
    for tab in ("Normal forces", "Friction", "Gaps", "Slips"):
        assert f">{tab}</button>" in html


def test_the_account_says_what_impacts_and_friction_took(page):
    motion, html = page
    assert "lost in impacts" in html
    assert "work of friction between surfaces" not in html  # it sticks from the first impact on
    assert "balance: what the integrator erred by" in html
    assert "Account of energy" in html
    assert float(abs(motion.energy_balance).max()) < 1e-10


def test_two_coefficients_of_friction_and_two_slips_are_said_in_words():
    x, y, z = zw.coordinates("x y z")
    floor = zw.Constraint(z >= 0, "floor", friction=(0.5, 0.4), slip=(zw.dot(x), zw.dot(y)))
    assert said_of_law(floor) == ["friction 0.5 in sticking, 0.4 in sliding", "slip x' and y'"]


def test_marks_of_very_many_impacts_go_to_the_end():
    """A plot that marks the first hundred of a thousand impacts looks as if they had ended."""
    impacts = [(0.3 * k, "impact floor") for k in range(1000)]
    shown = spread_out(sorted([*impacts, (150.1, "gate")]))
    assert len(shown) <= MOST_MARKS
    assert shown[-1][0] > 0.97 * impacts[-1][0]
    assert max(b[0] - a[0] for a, b in itertools.pairwise(shown)) < 7
    assert (150.1, "gate") in shown
