"""Help: for every command, quick, and without loading what only work needs."""

import subprocess
import sys

import pytest

import zwang as package
from zwang.cli import app as application
from zwang.cli.exits import MEANING

COMMANDS = (
    *("run", "sweep", "check", "equations", "assemble", "compare", "plot", "animate", "new", "examples", "schema"),
    *("equilibrium", "steady", "linearize", "modes", "kinematics", "periodic", "lyapunov", "fit"),
)
HEAVY = ("sympy", "symengine", "numpy", "scipy", "xarray", "matplotlib", "plotly", "llvmlite", "numba", "heyoka")


@pytest.mark.parametrize("command", [*COMMANDS, "examples list", "examples show", "examples copy", ""])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_helps(zwang, command, option):
    result = zwang(*command.split(), option)
    assert result.exit_code == 0
    assert "Usage: " in result.stdout
    assert result.stderr == ""


def test_help_names_every_command_and_every_exit_code(zwang):
    text = " ".join(zwang("--help").stdout.split())
    for command in COMMANDS:
        assert f" {command} " in text
    for code, words in MEANING.items():
        assert f"{int(code)} {words.split()[0]}" in text


@pytest.mark.parametrize("width", ["30", "60", "80", "200"])
def test_help_fits_any_terminal(zwang, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    for arguments in (["--help"], ["run", "--help"]):
        result = zwang(*arguments)
        assert result.exit_code == 0
        assert max(map(len, result.stdout.splitlines())) <= int(width)


def test_version(zwang):
    assert zwang("--version").stdout == f"zwang {package.__version__}\n"


def test_without_arguments_it_helps(zwang):
    assert "Usage: " in zwang().output


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from zwang.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "[]"


def test_a_model_is_read_without_what_only_numbers_need():
    # SciPy takes as long to import as everything else together
    code = (
        "import sys\n"
        "import zwang\n"
        "from importlib.resources import files\n"
        "zwang.load_model(str(files('zwang.examples') / 'pendulum.toml'))\n"
        "print([name for name in ('scipy', 'xarray', 'matplotlib', 'plotly', 'heyoka') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "[]"


def test_completion_knows_models_and_examples(here):
    from zwang.cli.options import complete_example, complete_model

    (here / "papers.nc").touch()
    (here / "parts").mkdir()
    (here / "parts" / "one.toml").touch()
    (here / "notes.txt").touch()
    found = complete_model(None, [], "p")
    assert {"pendulum.toml", "papers.nc", "parts/", "pendulum"} <= set(found)
    assert complete_model(None, [], "parts/o") == ["parts/one.toml"]
    assert complete_model(None, [], "no/such") == []
    assert "notes.txt" not in complete_model(None, [], "")
    assert complete_example(None, [], "app")[0] == "appell"


def test_the_shell_is_told_how_to_complete():
    done = subprocess.run(
        [sys.executable, "-m", "zwang", "run", "appe"],
        capture_output=True,
        text=True,
        timeout=600,
        env={"_ZWANG_COMPLETE": "complete_bash", "COMP_WORDS": "zwang run appe", "COMP_CWORD": "2", "PATH": "/usr/bin"},
    )
    assert "appell" in done.stdout.split()


def test_colours_only_on_terminals(zwang, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "")
    assert "\x1b" not in zwang("run", "pendulum.toml").output


def test_the_app_is_called_zwang():
    assert application.app.info.name == "zwang"
