"""The report: what must be in it, that nothing in it can act on its own, and that no model makes it fail."""

import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.show.models import APPELL, DRAGGED, FREE, HOSTILE, PENDULUM, STUCK, chain, hostile_model, model, report_of
from zwang import dot
from zwang.errors import InputError
from zwang.files.model_file import ModelFile, Run
from zwang.formulations import FORMS
from zwang.multibody import read_urdf
from zwang.show.report.html import inert_json, number
from zwang.show.report.math import Notation, plain_name, sides
from zwang.show.report.page import report
from zwang.time_limit import within

VOID = {"meta", "br", "input", "link", "img", "hr"}


class Reader(HTMLParser):
    """A page as elements and texts; complains about elements that are not closed in order."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.scripts = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] in ("script", "style") else self.texts).append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def count(self, tag):
        return sum(1 for name, _ in self.elements if name == tag)

    def ids(self):
        return [attrs["id"] for _, attrs in self.elements if attrs.get("id")]


def read(html):
    return Reader(html)


def plots_of(html):
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', html, re.DOTALL)
    return json.loads(found[1])


def headings(html):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", html)


# ---- contents ----


def test_a_report_has_all_its_sections_in_order():
    assert headings(report_of(PENDULUM)) == [
        "Animation",
        "The system",
        "Equations of motion",
        "Constraints",
        "Motion, forces and energy",
        "Why to trust it",
        "To repeat it",
    ]


SLOPPY = """<robot name="sloppy"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
 <inertia ixx="0.01" iyy="0.01" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def test_what_was_mended_in_a_robots_file_is_in_its_report():
    robot = read_urdf(SLOPPY)
    (warning,) = robot.warnings
    html = report(robot, zw.simulate(robot, until=0.1, samples=3), checks=False)
    assert headings(html)[:2] == ["Animation", "Mended or left out"]
    assert warning in read(html).text


def test_warnings_are_escaped_and_many_of_them_are_folded():
    robot = read_urdf(SLOPPY)
    motion = zw.simulate(robot, until=0.1, samples=3)
    many = replace(robot, warnings=tuple(f"<script>alert({i})</script>" for i in range(20)))
    html = report(many, motion, checks=False)
    assert "<script>alert" not in html
    assert html.count("&lt;script&gt;alert(") == 20
    assert "<summary>12 more</summary>" in html


def test_the_page_is_well_formed_and_its_anchors_are_unique_and_met():
    page = read(report_of(PENDULUM))
    ids = page.ids()
    assert len(ids) == len(set(ids))
    for _, attrs in page.elements:
        if attrs.get("href", "").startswith("#"):
            assert attrs["href"][1:] in ids
        for key in ("aria-labelledby", "aria-controls"):
            assert attrs.get(key, ids[0]) in ids


def test_the_summary_says_what_happened():
    text = read(report_of(PENDULUM)).text
    assert "Pendulum is described by 2 coordinates and 1 constraint, holonomic." in text
    assert "It has rank 1 at the start, so 1 degree of freedom remains." in text
    assert "The motion began at t = 0 s and finished at t = 2 s." in text
    assert "Nothing to object to" in text
    assert "A point mass on a rod." in text


def test_redundant_constraints_are_named_and_their_multipliers_marked():
    html = report_of(APPELL)
    text = read(html).text
    assert "2 constraints, both nonholonomic and nonlinear in velocity" in text
    assert "redundant follows from cone" in text
    assert text.count("not unique") >= 2
    curves = plots_of(html)["figures"]["multiplier"]["panels"][0]["curves"]
    assert [(c["name"], c["dash"]) for c in curves] == [("cone (not unique)", True), ("twice (not unique)", True)]


def test_without_constraints_there_is_no_ledger_and_no_force_of_constraint():
    html = report_of(FREE)
    assert "Constraints" not in headings(html)
    assert "Animation" not in headings(html)  # nothing is drawn
    assert not {"multiplier", "constraint_force", "residual"} & plots_of(html)["figures"].keys()
    assert "no constraints" in read(html).text
    assert "Mass matrix" in html


def test_nonideal_parts_and_inputs_are_there():
    html = report_of(DRAGGED)
    assert "nonideal_force" in plots_of(html)["figures"]
    assert "Nonideal part of the forces of constraint" in html
    assert "Known functions of time" in html
    assert "nonideal_force" not in plots_of(report_of(PENDULUM))["figures"]


def test_metres_and_radians_do_not_share_an_axis():
    panels = plots_of(report_of(DRAGGED))["figures"]["q"]["panels"]
    assert [(p["label"], [c["name"] for c in p["curves"]]) for p in panels] == [
        ("coordinates (m)", ["x"]),
        ("coordinates (rad)", ["φ"]),
    ]


def test_events_are_marked_and_listed():
    html = report_of(PENDULUM)
    marks = plots_of(html)["figures"]["q"]["marks"]
    motion = model(PENDULUM).simulate()
    assert [mark["x"] for mark in marks] == pytest.approx(motion.event_time.values, rel=1e-8)
    assert {mark["name"] for mark in marks} == {"bottom"}  # the page writes a name once
    assert "crosses zero in either direction" in read(html).text


def test_a_motion_that_stopped_early_says_so():
    html = report_of(STUCK)
    assert '<span class="badge bad">singular</span>' in html
    assert "no way past it was found" in read(html).text
    assert "q" in plots_of(html)["figures"]


def test_a_hundred_remarks_do_not_drown_the_summary():
    motion = model(PENDULUM).simulate()
    motion.attrs["message"] = "finished at t = 2. " + "Chose other rows. " * 100
    html = report(model(PENDULUM), motion, checks=False)
    assert html[: html.index("<nav")].count("Chose other rows") < 30
    assert html.count("Chose other rows") > 100


def test_a_motion_without_a_single_state_is_reported_too():
    motion = model(PENDULUM).simulate(throw=False).isel(time=slice(0, 0))
    html = report(model(PENDULUM), motion)
    assert "did not begin" in read(html).text
    assert "Motion, forces and energy" not in headings(html)


def test_one_state_makes_no_plots():
    motion = model(PENDULUM).simulate(throw=False).isel(time=slice(0, 1))
    assert "Motion, forces and energy" not in headings(report(model(PENDULUM), motion))


def test_the_checks_compare_forms_engines_and_tolerances():
    html = report_of(PENDULUM, checks=True)
    text = read(html).text
    for words in ("All forms, one acceleration", "Engines", "Work and precision", *FORMS, "taylor, fundamental"):
        assert words in text
    curve = plots_of(html)["figures"]["precision"]["panels"][0]["curves"][0]
    assert len(curve["x"]) == len(curve["y"]) >= 3
    assert curve["y"][0] > curve["y"][-1]  # more work, less error


def test_checks_can_be_left_out():
    assert "All forms" not in report_of(PENDULUM)
    assert "were not asked for" in report_of(PENDULUM)


def test_checks_that_fail_are_a_note_and_not_an_error():
    html = report_of(STUCK, checks=True)
    assert "All forms" in html
    assert "Work and precision" in html


def test_parameters_that_were_set_are_shown_beside_the_models_own():
    motion = model(PENDULUM).simulate(parameters={"m": 2.5})
    html = report(model(PENDULUM), motion, parameters={"m": 2.5}, checks=False)
    assert re.search(r"= 2\.5 <span class=\"none\">\(model: 1\)</span>", html)
    assert "--set m=2.5" in read(html).text


def test_the_command_and_the_models_text_let_one_repeat_it():
    text = read(report_of(PENDULUM)).text
    wanted = "zwang run model.toml --until 2.0 --samples 101 --tol 1e-12 --method native --form fundamental"
    assert wanted in text
    assert "kinetic = \"m*(x'^2 + y'^2)/2\"" in text
    for name in ("numpy", "sympy", "symengine", "Python"):
        assert name in text


def test_the_command_says_whether_the_start_was_assembled():
    off = PENDULUM.replace('start = "L"', "start = 0.9")
    brought = replace(model(off), run=replace(model(off).run, assemble=True))
    html = report(brought, brought.simulate(), checks=False)
    assert "--form fundamental --assemble " in read(html).text
    assert "Start assembled yes" in read(html).text
    assert "--form fundamental --no-assemble " in read(report_of(PENDULUM)).text


def test_backticks_in_a_description_are_code_and_nothing_else_is():
    text = PENDULUM.replace("A point mass", "Try `--set L=<2>` & *see* a ` point mass")
    assert "Try <code>--set L=&lt;2&gt;</code> &amp; *see* a ` point mass" in report_of(text)


def test_rounding_is_not_shown_as_a_coordinate():
    html = report_of(PENDULUM.replace("y = { start = 0.0", "y = { start = 3e-17, rate = 2e-15"))
    table = html[html.index(">Rate at the end<") : html.index(">Parameters<")]
    assert "<td>0&nbsp;m</td><td>0&nbsp;m/s</td>" in table
    assert "10<sup>" not in table


# ---- equations ----


def test_the_explicit_acceleration_of_appells_particle_is_in_mathml():
    html = report_of(APPELL)
    after = html[html.index("Written out") :]
    assert re.search(r'<math display="block">.*?<mi class="dotted">ẍ</mi>.*?<mfrac>', after)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_can_be_shown(form):
    html = report_of(APPELL, forms=(form,))
    assert html.count('<math display="block">') >= 6
    assert "merror" not in html


def test_an_unknown_form_is_refused_by_name():
    with pytest.raises(InputError, match="newton"):
        report(model(FREE), model(FREE).simulate(), forms=("newton",), checks=False)


def test_gibbs_appell_and_lagrange_say_what_they_are_here():
    html = report_of(APPELL, forms=("gibbs-appell", "lagrange"))
    assert html.count('<mtable class="matrix') >= 8  # q, M, Q, A, b, the reduced system and λ with its family


def test_long_equations_are_left_out_with_a_word_on_how_to_get_them():
    started = time.process_time()
    html = report_of(chain(14))
    assert time.process_time() - started < 60
    text = read(html).text
    assert "would fill pages" in text or "too large" in text
    assert "zwang equations model.toml --latex" in text
    assert len(html) < 10_000_000


def test_names_never_become_products_commands_or_markup():
    mass, theta, evil = sp.symbols(r"mass theta_1 \frac{<b>}{&}")
    notation = Notation.of([mass * theta + evil])
    found = notation.show(mass * theta + evil)
    assert "<mi>mass</mi>" in found
    assert "<msub><mi>θ</mi><mn>1</mn></msub>" in found
    assert r"<mi>\frac{&lt;b&gt;}{&amp;}</mi>" in found


def test_dots_stand_over_the_letter_and_not_over_its_index():
    x1 = zw.coordinates("x_1")
    assert '<msub><mi class="dotted">ẋ</mi><mn>1</mn></msub>' in Notation.of([x1]).show(dot(x1))
    assert "<msubsup>" in Notation.of([x1]).show(x1**2)


def test_a_constraint_reads_as_it_was_written():
    x, y, L = sp.symbols("x y L")
    assert sides(x**2 + y**2 - L**2) == (x**2 + y**2, L**2)
    assert sides(x + y) == (x + y, 0)
    assert sides(-x - y) == (x + y, 0)


def test_greek_names_are_letters_in_plots_too():
    assert plain_name("Omega12") == "Ω₁₂"
    assert plain_name("nu_x") == "nu_x"


# ---- plots ----


def test_long_motions_are_thinned_out_and_keep_their_extremes():
    x = zw.coordinates("x")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=200 * x**2)
    still = ModelFile(system, {x: sp.Integer(1), dot(x): sp.Integer(0)}, Run(until=30.0, samples=20001))
    motion = still.simulate()
    motion.q.values[7777] = 5.0  # a spike that a stride would step over
    data = plots_of(report(still, motion, checks=False))
    curve = data["figures"]["q"]["panels"][0]["curves"][0]
    assert data["time"] == []
    assert len(curve["x"]) == len(curve["y"]) <= 2000
    assert max(curve["y"]) == 5.0
    assert curve["x"] == sorted(curve["x"])
    assert (curve["x"][0], curve["x"][-1]) == (0.0, 30.0)


def test_of_many_curves_the_first_are_visible():
    curves = plots_of(report_of(chain(14)))["figures"]["q"]["panels"][0]["curves"]
    assert len(curves) == 40
    assert [curve.get("hidden", False) for curve in curves] == [False] * 12 + [True] * 28
    assert "The first 40 of 42 are here" in report_of(chain(14))


def test_residuals_are_absolute_and_without_zeros():
    (panel,) = plots_of(report_of(PENDULUM))["figures"]["residual"]["panels"]
    assert panel["log"]
    assert all(y is None or y > 0 for y in panel["curves"][0]["y"])


# ---- safety ----


def test_nothing_from_a_model_becomes_markup():
    hostile = hostile_model()
    page = read(report(hostile, hostile.simulate(), forms=FORMS, checks=False))
    assert page.count("img") == 0
    assert all(not key.startswith("on") for _, attrs in page.elements for key in attrs)
    assert page.count("script") == 4  # the player's two, the plots' data, and the report's own
    assert f"n{HOSTILE}" in page.text
    assert f"d{HOSTILE}" in page.text
    assert all("alert(" not in script or script.lstrip().startswith(("{", "[")) for script in page.scripts)


def test_json_can_hold_anything_and_ends_no_script():
    text = inert_json({"a": "</script><!--", "b": [float("nan"), float("inf"), 1.5], "c": ("&",)})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--", "b": [None, None, 1.5], "c": ["&"]}


@pytest.mark.parametrize("text", [PENDULUM, APPELL, DRAGGED])
def test_nothing_is_fetched_from_anywhere(text):
    html = report_of(text)
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\';' in html
    for _, attrs in Reader(html).elements:
        for key in ("src", "srcset", "action", "data"):
            assert key not in attrs
        assert attrs.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://", html)


def test_a_small_report_is_small_and_quick():
    motion = model(PENDULUM).simulate()
    report(model(PENDULUM), motion)  # what a process does only once
    started = time.process_time()
    html = report(model(PENDULUM), motion)
    assert time.process_time() - started < 3
    assert len(html) < 300_000


# ---- small things ----


def test_numbers_are_for_people():
    assert number(0.0) == "0"
    assert number(123456.0, digits=6) == "123456"
    assert number(-2e-9, "m", 2) == "−2&nbsp;×&nbsp;10<sup>−9</sup>&nbsp;m"
    assert number(np.nan) == '<span class="none">–</span>'


def test_work_that_takes_too_long_is_stopped():
    started = time.process_time()

    def for_ever():
        while True:
            pass

    assert within(0.1, for_ever) is None
    assert time.process_time() - started < 5
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)


def test_a_mechanism_shows_what_its_joints_carry_and_which_reactions_are_unique():
    linkage = zw.load_model(files("zwang") / "examples" / "four_bar_in_space.toml")
    page = report(linkage, linkage.simulate(until=0.2, samples=11), checks=False)
    assert 'id="joints"' in page
    for key in ("joint_force", "joint_moment", "joint_angle", "body_kinetic"):
        assert f'data-figure="{key}"' in page
    assert "Not unique, because redundant conditions share them" in page
    labels = {key: figure["panels"][0]["label"] for key, figure in plots_of(page)["figures"].items()}
    assert labels["joint_moment"] == "|moment| (N·m)"
    assert labels["joint_angle"] == "angle (rad)"
    assert labels["joint_force"] == "|force|"  # nobody says what lengths are in
    assert 'id="joints"' not in report_of(PENDULUM)


def test_matrices_are_sparse_to_the_eye_and_columns_begin_at_the_left():
    html = report(load_example("slider_crank_bodies"), load_example("slider_crank_bodies").simulate(), checks=False)
    equations = html[html.index('id="equations"') : html.index('id="constraints"')]
    assert "diag" in equations  # M: nothing stands beside its diagonal
    assert equations.count('<mtable class="matrix column">') == 2  # Q and b
    assert '<mtd class="zero"><mn>·</mn></mtd>' in equations  # of A
    assert re.search(r'<mover><mi>rod\.angle</mi><mo class="rate"[^>]*>●</mo></mover>', equations)


def test_kinds_that_most_constraints_have_are_said_once():
    html = report(load_example("slider_crank_bodies"), load_example("slider_crank_bodies").simulate(), checks=False)
    ledger = html[html.index('id="constraints"') : html.index('id="plots"')]
    assert ledger.count("scleronomic") == 1
    assert ledger.count("rheonomic") == 1  # the driver's
    alone = report_of(PENDULUM)
    assert 'class="kinds">holonomic' in alone[alone.index('id="constraints"') :]


def load_example(name):
    return zw.load_model(str(files("zwang") / "examples" / f"{name}.toml"))
