"""`zwang run`: what it says, what it writes, and what it refuses before it begins."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.cli.models import AT_REST, BLOWS_UP, CONTRADICTION, DRIVEN, ENDLESS, IMPOSSIBLE, OFF, PENDULUM, STOPS, TWICE
from tests.multibody.test_moved import FILE as FAR
from zwang.cli.exits import Exit
from zwang.files.store import load_motion


def values(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_summary_says_what_was_done(zwang):
    result = zwang("run", "pendulum.toml")
    assert result.exit_code == 0
    for words in (
        "Pendulum",
        "coordinates  2: x, y",
        "constraints  1: rod",
        "freedom      1 degree of freedom",
        "verdict      independent and consistent",
        "engine       native, fundamental form, tol 1e-12",
        " steps, ",
        " evaluations; compiled in ",
        "in position (rod), ",
        "in velocity (rod)",
        "energy       balanced to ",
        "end          finished at t = 2 s.",
    ):
        assert words in result.stdout
    assert "events" not in result.stdout
    assert result.stderr == ""


def test_nothing_is_written_unless_asked_for(zwang, here):
    before = set(here.iterdir())
    assert zwang("run", "pendulum.toml").exit_code == 0
    assert set(here.iterdir()) == before


def test_the_motion_is_written_and_is_the_one_that_was_asked_for(zwang, here):
    result = zwang(
        "run", "pendulum.toml", "--out", "m.nc", "--csv", "m.csv", "--until", 1, "--samples", 11, "--set", "g=0"
    )
    assert result.exit_code == 0, result.output
    assert "written      m.nc" in result.stdout
    motion = load_motion(here / "m.nc")
    assert motion.sizes["time"] == 11
    assert float(motion.time[-1]) == 1.0
    assert np.allclose(motion.q.values, [1.0, 0.0])  # without gravity nothing happens
    assert motion.attrs["status"] == "finished"
    assert "drawing" in motion
    with (here / "m.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["t", "x", "y"]
    assert len(rows) == 12


def test_the_report_is_written(zwang, here):
    assert zwang("run", "pendulum.toml", "--report", "r.html").exit_code == 0
    page = (here / "r.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert "Pendulum" in page


def test_the_report_is_opened_if_asked_for(zwang, here, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("zwang.show.report.page.report", lambda *args, **options: "<html></html>")
    assert zwang("run", "pendulum.toml", "--report", "r.html", "--open").exit_code == 0
    assert opened == [(here / "r.html").resolve().as_uri()]


def test_open_needs_a_report(zwang):
    result = zwang("run", "pendulum.toml", "--open")
    assert result.exit_code == Exit.USAGE
    assert "--open needs --report FILE" in result.stderr


def test_options_reach_the_simulation(zwang):
    found = values(
        zwang(
            "run", "pendulum.toml", "--json", "--method", "lsoda", "--form", "lagrange", "--tol", "1e-9",
            "--drift", "projection", "--set", "g=1.62", "--set", "m=2",
        )
    )  # fmt: skip
    assert found["method"] == "lsoda"
    assert found["form"] == "lagrange"
    assert found["tol"] == 1e-9
    assert found["drift"] == "projection"
    assert found["parameters"] == {"L": 1.0, "g": 1.62, "m": 2.0}


def test_gains_of_baumgarte(zwang):
    assert values(zwang("run", "pendulum.toml", "--json", "--drift", "baumgarte,5,5"))["drift"] == "baumgarte"


@pytest.mark.parametrize("drift", ["gentle", "projection,1,2", "baumgarte,1", "baumgarte,a,b", "baumgarte,nan,1", ""])
def test_drift_that_is_none_is_refused(zwang, drift):
    result = zwang("run", "pendulum.toml", "--drift", drift)
    assert result.exit_code == Exit.USAGE
    assert "--drift" in result.stderr


def test_json_is_one_object_with_the_documented_fields(zwang):
    result = zwang("run", "twice.toml", "--json", twice=TWICE)
    found = values(result)
    assert result.stderr == ""
    assert set(found) == {
        "name", "model", "status", "message", "doubts", "warnings", "coordinates", "degrees_of_freedom", "verdict",
        "start_moved", "parameters", "begin", "end", "end_state", "samples", "method", "form", "tol", "drift", "steps",
        "evaluations", "compile_seconds", "run_seconds", "total_seconds", "residuals", "energy_balance", "events",
        "rests", "files", "zwang_version",
    }  # fmt: skip
    assert found["name"] == "Pendulum"
    assert found["degrees_of_freedom"] == 1
    assert found["verdict"]["redundant"] == {"again": ["rod"]}
    assert found["end"] == 2.0
    assert set(found["end_state"]) == {"x", "y", "x'", "y'"}
    assert math.hypot(found["end_state"]["x"], found["end_state"]["y"]) == pytest.approx(1.0, abs=1e-11)
    assert found["residuals"]["position"]["constraint"] == "again"


def test_redundant_constraints_are_named_and_are_no_fault(zwang):
    result = zwang("run", "twice.toml", twice=TWICE)
    assert result.exit_code == 0
    assert "redundant but consistent: again follows from rod" in result.stdout


def test_quiet_is_quiet(zwang):
    for model in ("pendulum.toml", "appell"):
        result = zwang("run", model, "--quiet")
        assert (result.exit_code, result.output) == (0, "")


def test_events_are_listed_and_a_stop_that_was_meant_is_fine(zwang):
    result = zwang("run", "stops.toml", stops=STOPS)
    assert result.exit_code == 0
    assert "low at t = " in result.stdout
    assert "stopped by the event 'lowest'" in result.stdout
    met = values(zwang("run", "stops.toml", "--json"))["events"]
    assert [event["name"] for event in met] == ["low", "lowest"]
    # from the horizontal down takes half of a half period: K(1/√2)/√g of 1.85407…
    assert met[1]["time"] == pytest.approx(1.8540746773013719 / math.sqrt(9.81), abs=1e-10)


def test_a_motion_that_stops_early_is_written_with_its_status(zwang, here):
    result = zwang("run", "far.toml", "--out", "m.nc", far=BLOWS_UP)
    assert result.exit_code == Exit.STOPPED
    motion = load_motion(here / "m.nc")
    assert motion.attrs["status"] not in ("finished", "event")
    assert 0.9 <= float(motion.time[-1]) < 1.0
    assert np.allclose(motion.q.values[:, 0], 1 / (1 - motion.time.values) ** 2)
    assert "stopped at t = " in result.stdout


def test_a_motion_that_stops_early_says_so_in_json(zwang):
    result = zwang("run", "far.toml", "--json", far=BLOWS_UP)
    assert result.exit_code == Exit.STOPPED
    assert json.loads(result.stdout)["status"] != "finished"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (OFF, Exit.START, "the start does not satisfy its constraints: rod reads -0.19 in position"),
        (CONTRADICTION, Exit.INCONSISTENT, "no acceleration obeys two together with the other constraints"),
        (ENDLESS, Exit.USAGE, "give --until, or put until"),
    ],
)
def test_what_cannot_begin(zwang, here, text, code, words):
    result = zwang("run", "m.toml", "--out", "m.nc", m=text)
    assert result.exit_code == code
    assert words in " ".join(result.stderr.split())
    assert not (here / "m.nc").exists()


def test_a_start_off_its_constraints_can_be_assembled(zwang):
    assert zwang("run", "off.toml", "--assemble", off=OFF).exit_code == 0


def test_what_cannot_be_assembled(zwang):
    result = zwang("run", "m.toml", "--assemble", m=IMPOSSIBLE)
    assert result.exit_code == Exit.ASSEMBLY
    assert "no state near the guess obeys every constraint" in " ".join(result.stderr.split())


def test_a_run_from_a_singular_start_says_so(zwang):
    assert "singular: rank 0 at the start, 1 nearby" in zwang("run", "rest.toml", rest=AT_REST).stdout


# Parameters


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("gg=1", "gg is not a parameter of this model; did you mean g? (there are m, g, L)"),
        ("m", "'m': write a name, = and a number, as in m=2"),
        ("=2", "'=2': write a name, = and a number"),
        ("m=", "m: '' is not a number"),
        ("m=1/3", "m: '1/3' is not a number"),
        ("m=nan", "m: nan is not finite"),
        ("m=inf", "m: inf is not finite"),
        ("x=1", "x is not a parameter of this model"),
    ],
)
def test_settings_that_do_not_fit(zwang, setting, words):
    result = zwang("run", "pendulum.toml", "--set", setting)
    assert result.exit_code == Exit.USAGE
    assert words in " ".join(result.stderr.replace("│", " ").split())


def test_a_parameter_set_twice(zwang):
    result = zwang("run", "pendulum.toml", "--set", "m=1", "--set", "m=2")
    assert result.exit_code == Exit.USAGE
    assert "m is set twice" in result.stderr


@pytest.mark.parametrize(("setting", "value"), [("m=1e-3", 1e-3), ("m= 2 ", 2.0), ("g=-2", -2.0)])
def test_numbers_that_do(zwang, setting, value):
    found = values(zwang("run", "pendulum.toml", "--json", "--set", setting))
    assert found["parameters"][setting[0]] == value


# Values that the model leaves open: of the system, of the start alone, of the drawing alone.
OPEN = PENDULUM.replace("m = 1.0\n", 'm = "?"\n')
OPEN_START = PENDULUM.replace("m = 1.0\n", 'm = 1.0\nv = "?"\n').replace("y = { start = 0.0", 'y = { rate = "v"')
OPEN_DRAWING = PENDULUM.replace("m = 1.0\n", 'm = 1.0\nr = "?"\n') + 'rim = { circle = [0, 0], radius = "r" }\n'


@pytest.mark.parametrize(("text", "name"), [(OPEN, "m"), (OPEN_START, "v"), (OPEN_DRAWING, "r")])
def test_a_value_that_is_left_open_is_given(zwang, text, name):
    result = zwang("run", "m.toml", m=text)
    assert result.exit_code == Exit.USAGE
    assert f"{name}: no value is given in the model; add --set {name}=NUMBER" in result.stderr
    found = values(zwang("run", "m.toml", "--json", "--set", f"{name}=2"))
    assert found["status"] == "finished"
    assert zwang("equations", "m.toml").exit_code == 0  # symbols are enough


def test_a_start_that_is_left_open_is_used(zwang):
    found = values(zwang("run", "m.toml", "--json", "--set", "v=2", "--set", "g=0", "--until", 0.5, m=OPEN_START))
    assert found["end_state"]["y"] == pytest.approx(math.sin(1.0), abs=1e-11)  # on the circle at speed 2


def test_a_function_that_is_left_open_is_asked_for(zwang):
    result = zwang("run", "m.toml", m=DRIVEN.replace('"sin(t)"', '"?"'))
    assert result.exit_code == Exit.USAGE
    assert "push: nothing is given in the model; say what it is under [inputs]" in result.stderr


def test_a_function_of_time_is_no_number(zwang):
    result = zwang("run", "driven.toml", "--set", "push=1", driven=DRIVEN)
    assert result.exit_code == Exit.USAGE
    assert "push is a function of time, not a number" in " ".join(result.stderr.replace("│", " ").split())


# Places


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "no/m.nc"], "the folder no does not exist"),
        (["--csv", "pendulum.toml/m.csv"], "the folder pendulum.toml is not a folder"),
        (["--out", "."], "this is a folder"),
        (["--report", "pendulum.toml"], "this is where the model is read from"),
        (["--csv", "./sub/../pendulum.toml"], "this is where the model is read from"),
        (["--out", "same", "--csv", "same"], "--out and --csv both go to same"),
        (["--out", "same", "--report", "sub/../same"], "--out and --report both go to"),
        (["--out", "/dev/null"], "this is not an ordinary file"),
        (["--out", "m.txt"], "--out m.txt: .txt is for --csv; give a name that ends in .nc"),
        (["--csv", "m.HTML"], ".html is for --report; give a name that ends in .csv or .txt"),
        (["--report", "m.nc"], ".nc is for --out; give a name that ends in .html or .htm"),
        (["--out", "other.toml"], ".toml is for a model; give a name that ends in .nc"),
    ],
)
def test_places_are_refused_before_the_work(zwang, here, monkeypatch, options, words):
    (here / "sub").mkdir()
    monkeypatch.setattr("zwang.cli.commands.run.simulate", lambda *_: pytest.fail("simulated"))
    result = zwang("run", "pendulum.toml", *options)
    assert result.exit_code == Exit.USAGE
    assert words in " ".join(result.stderr.split())
    assert (here / "pendulum.toml").read_text() == PENDULUM


def test_a_link_to_the_model_is_the_model(zwang, here):
    (here / "link.nc").symlink_to("pendulum.toml")
    assert zwang("run", "pendulum.toml", "--out", "link.nc").exit_code == Exit.USAGE
    assert (here / "pendulum.toml").read_text() == PENDULUM


def test_the_table_that_a_model_reads_is_not_overwritten(zwang, here):
    (here / "push.csv").write_text("t,a\n0,0\n1,1\n2,0\n")
    text = DRIVEN.replace('"sin(t)"', '{ file = "push.csv", time = "t", value = "a" }')
    assert zwang("run", "driven.toml", driven=text).exit_code == 0
    result = zwang("run", "driven.toml", "--csv", "push.csv")
    assert result.exit_code == Exit.USAGE
    assert (here / "push.csv").read_text().startswith("t,a\n0,0\n")


def test_a_folder_without_permission(zwang, here, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # whoever runs the tests
    result = zwang("run", "pendulum.toml", "--out", "m.nc")
    assert result.exit_code == Exit.REFUSED
    assert "--out m.nc: no permission to write there" in result.stderr


# Examples by name


def test_an_example_runs_by_its_name_and_says_so(zwang):
    result = zwang("run", "appell")
    assert result.exit_code == 0
    assert "no file 'appell' here: taking the example of that name" in result.stderr
    assert "twice follows from cone" in result.stdout


def test_a_file_goes_before_an_example(zwang, here):
    (here / "appell").write_text(PENDULUM)
    result = zwang("run", "appell")
    assert result.stderr == ""
    assert "Pendulum" in result.stdout


def test_the_command_says_what_moved(here, zwang):
    (here / "far.toml").write_text(FAR)
    shown = " ".join(zwang("run", here / "far.toml").stdout.split())
    assert "start to put the start together, body 'rod' was moved by 0.3, 29 % of the whole; describe it" in shown
    told = json.loads(zwang("run", here / "far.toml", "--json").stdout)["start_moved"]
    assert told["translated"] == "body 'rod'"
    assert told["warning"] is True
    (here / "right.toml").write_text(FAR.replace("0.3", "0"))
    assert "start to put" not in " ".join(zwang("run", here / "right.toml").stdout.split())
    assert json.loads(zwang("run", here / "right.toml", "--json").stdout).get("start_moved") is None


PUT_TOGETHER = """
[coordinates]
x = { start = 3, rate = 1 }
y = { start = -4 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
rod = "x^2 + y^2 = 25"
[run]
until = 0.1
assemble = true
"""


def test_the_command_says_which_velocities_follow_and_keeps_those_that_it_is_given(zwang):
    follow = "start the start stands as it is described; velocities that are not stated follow: y"
    assert follow in " ".join(zwang("run", "rod.toml", rod=PUT_TOGETHER).stdout.split())
    told = json.loads(zwang("run", "rod.toml", "--json").stdout)["start_moved"]
    assert (told["followed"], told["warning"]) == (["y"], False)
    for number in ("0", "2"):  # a zero that is given is stated, too
        refused = zwang("run", "rod.toml", "--start", f"y'={number}")
        assert refused.exit_code != 0
        assert f"x' (1) and y' ({number}) cannot be kept together" in " ".join(refused.stderr.split())


def test_contacts_are_followed_by_steps_if_asked_for(zwang):
    result = zwang("run", "bouncing_ball", "--until", "1", "--contacts", "steps", "--step", "0.01")
    assert result.exit_code == 0
    assert "moreau-jean, steps of 0.01" in result.stdout
    assert "100 steps" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--contacts", "steps"), "needs the length of a step"),
        (("--step", "0.1"), "is for contacts='steps'"),
        (("--contacts", "steps", "--step", "0.1", "--tol", "1e-9"), "does not go with contacts='steps'"),
        (("--contacts", "steps", "--step", "-1"), "give a positive number"),
        (("--contacts", "leaps"), "is not one of 'events', 'steps'"),
    ],
)
def test_steps_that_do_not_fit_are_refused(zwang, options, words):
    result = zwang("run", "bouncing_ball", *options)
    assert result.exit_code != 0
    assert words in " ".join(result.output.replace("│", " ").split())


def test_what_rests_is_said_in_the_summary_the_json_and_the_report(zwang):
    result = zwang("run", "dry_friction", "--report", "rests.html")
    assert "rests        x' = 0 from t = 10.9955743 to 15 s" in result.stdout
    [rest] = values(zwang("run", "dry_friction", "--json"))["rests"]
    assert (rest["switch"], rest["end"]) == ("x' = 0", 15)
    assert rest["begin"] == pytest.approx(3.5 * np.pi, abs=1e-11)
    assert "rests" not in zwang("run", "pendulum").stdout
    page = Path("rests.html").read_text(encoding="utf-8")
    assert "From t =" in page
    assert "rest x' = 0" in page
