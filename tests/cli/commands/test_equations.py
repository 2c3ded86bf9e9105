"""`zwang equations`: drawn where there is room, one line an entry where there is not, LaTeX and MathML."""

import pytest

from tests.cli.models import CONTRADICTION, PENDULUM
from zwang.cli import formulas
from zwang.cli.exits import Exit
from zwang.formulations import FORMS

WIDE = """
[parameters]
first_inertia = 1.0
second_inertia = 2.0
third_inertia = 3.0
stiffness = 4.0
[coordinates]
x = 0.0
y = 0.0
[energy]
kinetic = "(first_inertia + second_inertia + third_inertia)*x'^2/2 + y'^2/2"
potential = "stiffness*x^2/2"
[forces]
y = "x'^2"
"""


def test_drawn_with_dots_for_rates(zwang):
    result = zwang("equations", "pendulum.toml")
    assert result.exit_code == 0
    assert "M = ⎢" in result.stdout
    assert "ẍ" in result.stdout
    assert "M q̈ = Q + Aᵀ(A M⁻¹Aᵀ)⁺(b − A M⁻¹Q)" in result.stdout
    assert "rank 1 of 1 rows assumed; independent: 'rod'" in result.stdout
    assert "Derivative" not in result.stdout


def test_all_forms_have_their_section(zwang):
    result = zwang("equations", "pendulum.toml", "--all")
    for form in FORMS:
        assert f"── {form} ──" in result.stdout


def test_one_form(zwang):
    result = zwang("equations", "pendulum.toml", "--form", "lagrange")
    assert "M q̈ = Q + Aᵀλ,  A q̈ = b" in result.stdout
    assert "fundamental" not in result.stdout


def test_without_room_entries_stand_in_lines_and_keep_the_notation_of_model_files(zwang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    result = zwang("equations", "wide.toml", wide=WIDE)
    assert result.exit_code == 0
    assert "M[x, x] = " in result.stdout
    assert "x'^2" in result.stdout
    assert "x'' = " in result.stdout


def test_latex(zwang):
    result = zwang("equations", "pendulum.toml", "--latex", "--all")
    assert result.stdout.count(r"\begin{aligned}") == 5
    assert r"\ddot{x} = " in result.stdout
    assert result.stdout.startswith("% fundamental\n")


def test_a_page_with_mathml(zwang, here):
    result = zwang("equations", "pendulum.toml", "--html", "e.html", "--all")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    page = (here / "e.html").read_text(encoding="utf-8")
    assert page.count("<math") > 8
    assert "Gibbs–Appell" in page
    assert "<script" not in page


def test_names_cannot_break_the_page(zwang, here):
    text = PENDULUM.replace('name = "Pendulum"', 'name = "<script>alert(1)</script>"').replace("A point", "<b>A point")
    assert zwang("equations", "m.toml", "--html", "e.html", m=text).exit_code == 0
    page = (here / "e.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>" not in page


def test_to_a_file(zwang, here):
    assert zwang("equations", "pendulum.toml", "--out", "e.txt").exit_code == 0
    assert "ẍ" in (here / "e.txt").read_text(encoding="utf-8")
    assert zwang("equations", "pendulum.toml", "--latex", "--out", "e.tex").exit_code == 0
    assert r"\end{aligned}" in (here / "e.tex").read_text(encoding="utf-8")


def test_the_model_is_not_overwritten(zwang, here):
    assert zwang("equations", "pendulum.toml", "--out", "pendulum.toml").exit_code == Exit.USAGE
    assert (here / "pendulum.toml").read_text() == PENDULUM


def endless(*args, **kwargs):
    while True:
        pass


def test_what_takes_too_long_is_left_out_and_said_so(zwang, monkeypatch):
    monkeypatch.setattr(formulas, "READING", 0.05)
    monkeypatch.setattr(formulas, "accelerations", endless)
    monkeypatch.setattr("zwang.equations.equations.Equations.latex", endless)
    result = zwang("equations", "pendulum.toml", "--all")
    assert result.exit_code == 0
    assert result.stdout.count("q̈ takes longer than 0.05 s to write out") == 5
    result = zwang("equations", "pendulum.toml", "--latex")
    assert result.stdout.startswith("% fundamental: q̈ takes longer")
    assert r"M = \left[" in result.stdout


@pytest.mark.parametrize("options", [[], ["--latex"]])
def test_the_time_to_write_out_is_given_and_holds_for_files_too(options, zwang, here, monkeypatch):
    monkeypatch.setattr(formulas, "accelerations", endless)
    monkeypatch.setattr("zwang.equations.equations.Equations.latex", endless)
    assert zwang("equations", "pendulum.toml", "--seconds", "0.2", "-o", "e.txt", *options).exit_code == 0
    words = "q̈ takes longer than 0.2 s to write out, and is left out: --seconds 60 gives it more"
    assert words in (here / "e.txt").read_text(encoding="utf-8")


def test_contradictions_have_no_equations(zwang):
    result = zwang("equations", "m.toml", m=CONTRADICTION)
    assert result.exit_code == Exit.INCONSISTENT
    assert "constraint 'two' contradicts 'one'" in result.stderr


@pytest.mark.parametrize("form", ["newton", ""])
def test_unknown_forms(zwang, form):
    assert zwang("equations", "pendulum.toml", "--form", form).exit_code == Exit.USAGE


# Bounds for large systems


def test_long_entries_and_long_matrices_are_cut_with_a_word_on_how_to_see_all():
    import sympy as sp

    x = sp.Symbol("x")
    room = formulas.PageRoom(width=20, entries=3, characters=30, seconds=1)
    matrix = sp.ImmutableMatrix(3, 3, lambda i, j: sp.Add(*[sp.Symbol(f"a{k}") for k in range(20)]) + i + j + x)
    rows = formulas.named("M", matrix, list("abc"), list("abc"), room)
    assert len(rows) == 4
    assert all("--out FILE writes them all" in row for row in rows)
    assert rows[0].startswith("M[a, a] = ")


def test_dots_take_no_room():
    assert formulas.columns("ẋ + q̈") == 5


@pytest.mark.parametrize("options", [[], ["--latex"]])
def test_equations_keep_their_time(options, zwang, monkeypatch):
    """Deriving, solving and printing: whichever takes for ever, the command ends."""
    monkeypatch.setattr("zwang.cli.formulas.READING", 0.5)
    with monkeypatch.context() as patch:
        patch.setattr("zwang.cli.formulas.accelerations", endless)
        patch.setattr("zwang.equations.equations.Equations.latex", endless)
        done = zwang("equations", "pendulum.toml", *options)
        assert done.exit_code == 0
        assert "takes longer than 0.5 s to write out" in done.stdout
    monkeypatch.setattr("zwang.cli.formulas.DERIVING", 0.5)
    monkeypatch.setattr("zwang.equations.equations.as_derived", endless)
    done = zwang("equations", "pendulum.toml", *options)
    assert done.exit_code == Exit.REFUSED
    assert "take longer than 0.5 s to derive" in done.stderr


def test_how_many_entries_stand_as_derived_is_said(zwang, monkeypatch):
    monkeypatch.setattr("zwang.equations.textbook.SECONDS", 0.0)
    monkeypatch.setattr("zwang.equations.textbook.sorted_by_motion", endless)
    result = zwang("equations", "pendulum.toml", "--seconds", "0.1")
    words = " ".join(result.stdout.split())
    assert "4 entries of these matrices stand as derived: --seconds 60 gives time to put more in order." in words


def test_a_terminal_does_not_wait_for_what_it_would_cut(zwang, monkeypatch):
    monkeypatch.setattr(formulas, "TOO_LONG", 3)
    monkeypatch.setattr(formulas, "HEAVY", 0)
    monkeypatch.setattr(formulas, "terminal_room", lambda width, seconds: formulas.PageRoom(width, 2, 3, seconds))
    result = zwang("equations", "wide.toml", wide=WIDE)
    assert "Q[x] = -st … (12 characters; --out FILE writes them all)" in " ".join(result.stdout.split())


JUMPING = """
[coordinates]
x = 1.0
y = 1.0
[energy]
kinetic = "x'^2/2 + y'^2/2"
[constraints]
step = "y = x + sign(sin(x))/4"
"""


def test_a_constraint_that_jumps_has_equations(zwang, tmp_path):
    (tmp_path / "jumping.toml").write_text(JUMPING)
    result = zwang("equations", str(tmp_path / "jumping.toml"))
    assert result.exit_code == 0
    assert "rank 1 of 1 rows assumed" in result.stdout
