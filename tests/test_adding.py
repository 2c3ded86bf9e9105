"""A form, a function or an engine that is added to its table is offered everywhere, with no other line of code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "adding"


def added(what: str, folder: Path) -> dict:
    """What the library says after something was added to it, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", SCRIPTS / f"{what}.py", folder], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return added("form", tmp_path_factory.mktemp("form"))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("help of run", "fundamental, gibbs-appell, lagrange, toy"),
        ("help of equations", "lagrange, toy"),
        ("wrong choice", "is not one of 'fundamental', 'gibbs-appell', 'lagrange', 'toy'"),
        ("solve refuses", "'generalized-inverse', 'gauss', 'gibbs-appell', 'lagrange', 'toy'"),
        ("simulate refuses", "choose one of 'fundamental', 'gibbs-appell', 'lagrange', 'toy'"),
        ("choices", "form 'toy' takes no 'eliminate'; its choices are: none"),
        ("schema", '"toy"'),
        ("equations", "[M −Aᵀ; A 0] [q̈; λ] = [Q; b]  (toy)"),
        ("all equations", "── toy ──"),
        ("latex", r"\text{toy}\colon M\ddot{q} = Q"),
        ("latex", r"\lambda = "),
        ("report", "<h3>Toy equations</h3>\n<p>All unknowns at once, as a toy.</p>"),
        ("run", "toy form"),
        ("compare", "\ntoy  "),
        ("tables", '| `"toy"` | All unknowns at once, as a toy. ([20]'),
        ("tables", '| `"toy"` | independent rows | (n + m)³ | eliminates all coordinates, then the constraints |'),
    ],
)  # fmt: skip
def test_an_added_form_is_offered(form: dict, where: str, words: str) -> None:
    assert words in form[where]


def test_an_added_form_is_right(form: dict) -> None:
    assert form["disagreement"] < 1e-13
    assert form["difference in motion"] < 1e-11
    assert form["difference in symbols"] == "0"
    assert form["solution"] == pytest.approx([0.5, 0.5, -0.5], abs=1e-14)  # by hand: docs/papers.md, whole numbers


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> dict:
    pytest.importorskip("heyoka")
    return added("function", tmp_path_factory.mktemp("function"))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("file", 'potential = "9.81*versin(a)"'),
        ("unknown", "unknown function 'versine'; did you mean 'versin'?"),
        ("unknown", "max, versin, if"),
        ("tables", "| `versin` | versed sine, 1 − cos |"),
        ("latex", r"- 9.81 \sin{\left(a \right)}"),
    ],
)
def test_an_added_function_is_known(function: dict, where: str, words: str) -> None:
    assert words in function[where]


def test_an_added_function_is_right(function: dict) -> None:
    assert function["derivation"] < 1e-13  # of what mpmath makes of it, without any derivation
    assert max(function["difference"].values()) < 1e-13  # from the same written out, by every engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return added("engine", tmp_path_factory.mktemp("engine"))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("help of run", "auto, native, taylor, radau, lsoda, toy"),
        ("wrong choice", "is not one of 'auto', 'native', 'taylor', 'radau', 'lsoda', 'toy'"),
        ("simulate refuses", "choose one of 'auto', 'native', 'taylor', 'radau', 'lsoda', 'toy'"),
        (
            "too tight",
            "is tighter than method='toy' can hold: choose at least 1e-11, or method='native' or 'taylor'",
        ),
        ("no signals", "u(t) is a signal, and method='toy' cannot read tables: use method='native' or 'radau'"),
        ("no events", "method='toy' finds no events, and there are some to find: use method='native' or 'taylor' or"),
        (
            "no switches",
            "method='toy' finds no events, and the switch at z = 0 is one: use method='native' or 'taylor' or",
        ),
        ("schema", '"toy"'),
        ("run", "toy, fundamental form"),
        ("compare", "\ntoy  "),
        ("tables", '| `"toy"` | a toy on SciPy\'s solvers | testing the table of engines |'),
    ],
)
def test_an_added_engine_is_offered(engine: dict, where: str, words: str) -> None:
    assert words in engine[where]


def test_an_added_engine_is_right(engine: dict) -> None:
    assert engine["disagreement"] < 1e-9
    assert engine["difference"] < 1e-9
