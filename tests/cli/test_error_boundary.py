"""What goes wrong becomes a sentence and an exit code: no traceback ever, and no markup read in a stranger's text."""

import json
import re

import pytest

from tests.cli.models import BROKEN, HOSTILE, OFF, PENDULUM
from zwang.cli.exits import MEANING, Exit

COMMANDS = ("run", "check", "equations", "assemble", "compare")


def raising(error):
    def fail(*args, **options):
        raise error

    return fail


def words(result):
    return " ".join(result.stderr.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_broken_model_is_located_with_its_marks_intact(zwang, command):
    result = zwang(command, "m.toml", m=BROKEN)
    assert result.exit_code == Exit.MODEL
    assert result.stdout == ""
    assert re.search(r"m\.toml:4:\d+", result.stderr)
    line = next(row for row in result.stderr.splitlines() if "x'^2/2 + zz" in row)
    mark = result.stderr.splitlines()[result.stderr.splitlines().index(line) + 1]
    assert mark.index("^") == line.index("zz")


@pytest.mark.parametrize("columns", [20, 40, 60, 100])
def test_messages_fit_a_terminal_with_marks_under_their_places(zwang, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    long = BROKEN.replace("zz", "0*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x + zz*x*x*x*x*x*x*x*x*x*x*x*x*x*x")
    rows = zwang("run", "m.toml", m=long).stderr.splitlines()
    at = next(i for i, row in enumerate(rows) if row.strip() == "^")
    assert rows[at].index("^") == rows[at - 1].index("zz")
    assert all(len(row) <= columns or len(row.split()) == 1 for row in rows)


def test_paths_are_not_cut(zwang, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    folder = "a_folder_of_a_long_name/that_is_not_there_but_could_be/further_down"
    result = zwang("run", "pendulum.toml", "--out", f"{folder}/motion.nc")
    assert f"{folder}/motion.nc:" in result.stderr
    assert all(len(row) <= 60 or len(row.split()) == 1 for row in result.stderr.splitlines())
    (zwang.folder / folder).mkdir(parents=True)
    result = zwang("run", "pendulum.toml", "-o", f"{folder}/motion.nc")
    assert f"written      {folder}/motion.nc\n" in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_no_such_file(zwang, command):
    result = zwang(command, "pendulun.toml")
    assert result.exit_code == Exit.MODEL
    assert "pendulun.toml: there is no such file, did you mean pendulum.toml?" in words(result)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("pendulum2", "there is no such file, did you mean pendulum?"),
        ("sub", "this is a folder, a model file is meant"),
        ("nothing like it", "`zwang new NAME` writes one to start from"),
        ("mine", "did you mean mine.toml?"),
        ("", "the name of the model is empty"),
        ("a" * 300, "File name too long"),
        ("/dev/null", "this is not an ordinary file, a model file is meant"),
    ],
)
def test_hints_at_what_may_have_been_meant(zwang, here, given, said):
    (here / "sub").mkdir()
    (here / "mine.toml").write_text(PENDULUM)
    result = zwang("run", given)
    assert result.exit_code == Exit.MODEL
    assert said in words(result)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            RuntimeError("the [red]roof[/red] is on fire\nand more"),
            70,
            "error: internal error: RuntimeError: the [red]roof",
        ),
        (ValueError(), 70, "internal error: ValueError; run again as `zwang --debug …` to see where"),
        (MemoryError(), 1, "not enough memory"),
        (RecursionError(), 1, "nested too deeply"),
        (OSError(28, "No space left on device", "m.nc"), 1, "m.nc: No space left on device"),
        (PermissionError(13, "Permission denied", b"m.nc"), 1, "m.nc: Permission denied"),
        (OSError("odd"), 1, "error: odd"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
    ],
)
def test_whatever_is_raised(zwang, monkeypatch, error, code, said):
    monkeypatch.setattr("zwang.cli.commands.run.simulate", raising(error))
    result = zwang("run", "pendulum.toml")
    assert result.exit_code == code
    assert said in words(result)
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_debug_shows_where(zwang, monkeypatch):
    monkeypatch.setattr("zwang.cli.commands.run.simulate", raising(RuntimeError("fire")))
    result = zwang("--debug", "run", "pendulum.toml")
    assert result.exit_code == Exit.INTERNAL
    assert "Traceback (most recent call last)" in result.stderr
    assert "RuntimeError: fire" in result.stderr
    monkeypatch.setenv("ZWANG_DEBUG", "1")
    assert "Traceback" in zwang("run", "pendulum.toml").stderr


def test_machines_get_errors_as_json_too(zwang, monkeypatch):
    for arguments, code in (
        (["run", "nothing.toml", "--json"], Exit.MODEL),
        (["check", "off.toml", "--at", "1", "--json"], Exit.START),
        (["run", "pendulum.toml", "--set", "u=1", "--json"], Exit.USAGE),
        (["run", "pendulum.toml", "--json", "--method", "euler"], Exit.USAGE),
    ):
        result = zwang(*arguments, off=OFF)
        assert result.exit_code == code
        found = json.loads(result.stdout)
        assert found["exit_code"] == code
        assert found["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["runn", "pendulum.toml"],
        ["run", "pendulum.toml", "--untl", "1"],
        ["run", "pendulum.toml", "--until", "soon"],
        ["run", "a", "b"],
    ],
)
def test_wrong_use(zwang, arguments):
    result = zwang(*arguments)
    assert result.exit_code == Exit.USAGE
    assert "Usage: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--until", "nan"], "--until: nan: give a finite time after the beginning, t = 0"),
        (["run", "--until", "0"], "--until: 0.0: give a finite time after the beginning, t = 0"),
        (["compare", "--until", "inf"], "--until: inf: give a finite time"),
        (["run", "--samples", "1"], "--samples: 1: give a whole number from 2 to 3,703,703"),
        (
            ["run", "--samples", "100000000"],
            "--samples: 100,000,000 samples of 2 coordinates are more than 100,000,000 numbers; 3,703,703 samples are",
        ),
        (["run", "--tol", "0"], "--tol: 0.0: give a number from 1e-18 to 0.01"),
        (["run", "--tol", "nan"], "--tol: nan: give a number"),
        (["run", "--drift", "baumgarte,-1,2"], "--drift: 'baumgarte,-1,2': the gains α and β are not negative"),
        (["assemble", "--hold", "u"], "--hold: u is not a coordinate or rate of this model (there are x, x', y, y')"),
        (["plot", "--what", "ene"], "the motion has nothing called 'ene'"),
        (["plot", "--only", "u"], "no coordinate or constraint is called 'u'"),
        (["animate", "-o", "m.gif", "--fps", "0"], "fps = 0.0: choose between 0.1 and 120"),
        (["animate", "-o", "m.gif", "--speed", "nan"], "speed = nan: give a positive number"),
    ],
)
def test_a_value_that_does_not_fit_is_wrong_use(zwang, here, arguments, said):
    command, *options = arguments
    before = set(here.iterdir())
    result = zwang(command, "pendulum.toml", *options)
    assert result.exit_code == Exit.USAGE
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert set(here.iterdir()) == before


def test_what_the_library_refuses_for_another_reason(zwang):
    floor = PENDULUM.replace("x^2 + y^2 = L^2", "y'' >= -1")
    result = zwang("run", "m.toml", m=floor)
    assert result.exit_code == Exit.REFUSED
    assert "is one-sided at acceleration level: only limits of positions and velocities are" in words(result)


# Text from a stranger


@pytest.mark.parametrize("command", COMMANDS)
def test_no_markup_is_read_in_names_and_no_escape_reaches_the_terminal(zwang, command):
    result = zwang(command, "m.toml", m=HOSTILE)
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    if command != "assemble":
        assert "[red]Pendulum[/red] �[2J [link=x]" in result.stdout


def test_hostile_names_in_errors(zwang):
    text = OFF.replace("rod =", '"[red]rod" =').replace('name = "Pendulum"', 'name = "[bold]"')
    result = zwang("run", "m.toml", m=text)
    if result.exit_code == Exit.START:
        assert "[red]rod reads" in result.stderr
    else:
        assert result.exit_code == Exit.MODEL  # or the reader does not take such a name
        assert "[red]rod" in result.stderr


def test_hostile_file_names(zwang, here):
    (here / "[red]m.toml").write_text(BROKEN)
    result = zwang("run", "[red]m.toml")
    assert result.exit_code == Exit.MODEL
    assert "[red]m.toml" in result.stderr
    assert "[blue]no.toml" in zwang("run", "[blue]no.toml").stderr


def test_every_exit_code_says_what_it_means():
    assert set(MEANING) == set(Exit)
