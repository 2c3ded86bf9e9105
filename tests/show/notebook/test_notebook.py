"""What notebooks show of every noun: something of their own, short, safe, at once, and never an exception."""

import inspect
import time
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.display import Displayed
from zwang.show.notebook import displays

HOSTILE = "<script>alert(1)</script>\"'&"
x, y, theta = zw.coordinates("x y theta")
m, g, L = zw.parameters("m g L")


def pendulum(name="pendulum", rod="rod"):
    T = m * (dot(x) ** 2 + dot(y) ** 2) / 2
    values = {m: 1, g: 9.81, L: 2}
    return zw.System((x, y), kinetic=T, potential=m * g * y, constraints={rod: x**2 + y**2 - L**2}, parameters=values,
                     name=name)  # fmt: skip


START = {x: 2, y: 0, dot(x): 0, dot(y): 0}
URDF = """<robot name="{0}"><link name="base"/><link name="{0}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pin" type="continuous"><parent link="base"/><child link="{0}"/><axis xyz="0 1 0"/></joint></robot>"""


def nouns(name):
    """One of every kind, each with a name where it can have one."""
    system = pendulum(name, name)
    rod = mb.PlanarBody(name, mass=3, inertia=1, position=(1, 0))
    pin = mb.Revolute(f"{name} pin", mb.ground, rod, at=(0, 0))
    mechanism = mb.Mechanism([rod], joints=[pin], forces=[mb.Gravity((0, -10))], name=name)
    shape = zw.Shape(name, "line", ((0, 0), (x, y)))
    return {
        "System": system,
        "Constraint": zw.Constraint(x - 1, name),
        "Equations": zw.derive(system),
        "Verdict": zw.diagnose(system, START),
        "Solution": zw.evaluate(system, START),
        "Equilibrium": zw.equilibrium(system, START),
        "Fit": zw.fit(system, {"t": [0.1, 0.2, 0.3], "x": [1.99, 1.97, 1.93]}, {g: 9}, start=START),
        "Event": zw.Event(y, name, stop=True),
        "Signal": zw.Signal([0, 1, 2], [0, 3, 1]),
        "Drawing": zw.Drawing((shape,)),
        "Shape": shape,
        "BlackBox": zw.BlackBox((name,), M=np.eye(1), Q=[0.0], name=name),
        "Mechanism": mechanism,
        "Body": rod,
        "Joint": pin,
        "Force": mechanism.forces[0],
        "Solid": mb.Box((1, 2, 3)),
        "Mesh": mb.Mesh(np.random.default_rng(1).normal(size=(400, 3)), [(i, i + 1, i + 2) for i in range(398)]),
        "Step": mb.Step("turn", "angle", (0, 0, 1)),
        "Imported": mb.read_urdf(URDF.format(escape(name))),
        "ModelFile": zw.ModelFile(system, START, description=name, events=(zw.Event(y, name),)),
        "Mechanism file": zw.ModelFile(mechanism.system, mechanism.start, mechanism=mechanism),
    }


NOUNS = nouns("bob")
HOSTILE_NOUNS = nouns(HOSTILE)


class Words(HTMLParser):
    """The visible words of a page, and its tags."""

    def __init__(self, html):
        super().__init__()
        self.words, self.tags, self.open = "", [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("br", "mspace", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words += data


def test_every_public_class_is_displayed_and_has_its_writer():
    public = {name: getattr(zw, name) for name in zw.__all__}
    classes = {name: kind for name, kind in public.items() if inspect.isclass(kind) and not issubclass(kind, Exception)}
    assert all(issubclass(kind, Displayed) for kind in classes.values())
    assert classes.keys() <= displays.WRITERS.keys()
    parts = [kind for kind in (getattr(mb, name) for name in mb.__all__) if inspect.isclass(kind)]
    assert [kind.__name__ for kind in parts if not issubclass(kind, Displayed)] == []


@pytest.mark.parametrize("kind", NOUNS)
def test_the_page_is_well_formed_and_says_something(kind):
    page = Words(NOUNS[kind]._repr_html_())
    assert not page.open
    assert len(page.words.strip()) > 10
    assert "nan" not in page.words.lower().split()


@pytest.mark.parametrize("kind", NOUNS)
def test_the_text_is_one_short_line(kind):
    text = repr(NOUNS[kind])
    assert "\n" not in text
    assert len(text) < 400


@pytest.mark.parametrize("kind", NOUNS)
def test_a_hostile_name_is_text(kind):
    page = Words(HOSTILE_NOUNS[kind]._repr_html_())
    assert "script" not in page.tags
    assert not page.open
    if kind in (
        "System",
        "Constraint",
        "Verdict",
        "Equilibrium",
        "Event",
        "Shape",
        "BlackBox",
        "Mechanism",
        "Body",
        "ModelFile",
    ):
        assert HOSTILE in page.words


def test_hostile_coordinates_do_not_reach_tex_or_markup():
    q = sp.Function(r"\href{javascript:alert(1)}{x}<img src=x onerror=alert(1)>")(zw.t)
    equations = zw.derive(zw.System((q,), kinetic=m * dot(q) ** 2 / 2, potential=m * q**2))
    assert equations._repr_latex_() is None
    assert "img" not in Words(equations._repr_html_()).tags


def test_equations_are_also_latex_as_mathjax_takes_it():
    text = NOUNS["Equations"]._repr_latex_()
    assert text.startswith("$$\n\\begin{aligned}")
    assert text.endswith("\\end{aligned}\n$$")
    assert r"\ddot{q}" in text


def test_the_system_shows_its_parts_and_its_ledger():
    words = Words(NOUNS["System"]._repr_html_()).words
    for wanted in ("Kinetic energy", "Potential energy", "Parameters", "9.81", "bob", "holonomic"):
        assert wanted in words


def test_the_verdict_shows_what_is_wrong():
    twice = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"ramp": x - y, "again": 3 * x - 3 * y}
    )
    words = Words(zw.diagnose(twice, {x: 1, y: 1, dot(x): 0, dot(y): 0})._repr_html_()).words
    assert "redundant" in words
    assert "follows from ramp" in words


def chain(n):
    """n masses on springs, each held to the next one by a rule."""
    q = zw.coordinates(f"q1:{n + 1}")
    T = sum(dot(e) ** 2 for e in q) / 2
    V = sum((a - b) ** 2 for a, b in pairwise(q))
    rules = {f"rule {i}": sp.sin(a) - sp.sin(b) for i, (a, b) in enumerate(pairwise(q))}
    return zw.System(q, kinetic=T, potential=V, constraints=rules)


def test_large_ones_are_bounded_and_say_how_much_is_left_out():
    system = chain(60)
    began = time.process_time()
    shown, equations = system._repr_html_(), zw.derive(system)
    derived = time.process_time()
    html = equations._repr_html_()
    assert time.process_time() - derived < 2.0
    assert derived - began < 12.0
    for page in (shown, html):
        assert len(page) < 120_000
    words = Words(shown).words
    assert "… and 47 more" in words  # of 59 constraints 12 are shown
    assert "… and 48 more" in words  # of 60 coordinates 12
    words = Words(html).words
    assert "M: 60 × 60, 60 entries not zero" in words
    assert "… and 44 more" in words
    assert equations._repr_latex_() is None
    assert len(repr(system)) < 400


def test_what_takes_too_long_shows_its_line(monkeypatch):
    def endless(noun):
        while True:
            pass

    monkeypatch.setattr(displays, "SECONDS", 0.1)
    monkeypatch.setitem(displays.WRITERS, "System", endless)
    began = time.process_time()
    assert "coordinates x and y" in Words(NOUNS["System"]._repr_html_()).words
    assert time.process_time() - began < 2.0


def test_a_display_never_raises(monkeypatch):
    def broken(noun):
        raise RuntimeError

    monkeypatch.setitem(displays.WRITERS, "System", broken)
    assert NOUNS["System"]._repr_html_() is None


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [1e300, -1e300], [float("nan"), 1.0]])
def test_numbers_of_any_size_are_shown(numbers):
    solution = zw.solve(np.eye(2), [1.0, 2.0], np.zeros((0, 2)), [])
    changed = solution.__class__(**{**solution.__dict__, "acceleration": np.array(numbers)})
    assert "Acceleration" in Words(changed._repr_html_()).words
    assert "\n" not in repr(changed)


def test_a_stack_of_solutions_is_counted():
    stack = zw.solve(np.broadcast_to(np.eye(2), (5, 2, 2)), np.ones((5, 2)), np.ones((5, 1, 2)), np.zeros((5, 1)))
    assert repr(stack) == "<Solution: 5 systems; 2 coordinates, 1 constraint>"
    assert "5 systems" in Words(stack._repr_html_()).words
