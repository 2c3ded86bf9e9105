"""What a command has computed is on the disk, whatever fails afterwards."""

import json

import pytest

import zwang as zw
from zwang.cli.exits import Exit
from zwang.errors import InputError
from zwang.files.analyses import answers  # it takes functions that are replaced below

ROOT = answers.__name__.partition(".")[0]
FILES = {"--out": "m.nc", "--csv": "m.csv", "--report": "m.html"}
WRITES = {
    "--out": "zwang.files.store.netcdf",
    "--csv": "zwang.files.store.csv_text",
    "--report": "zwang.show.report.page.report_on",
}


def fails_with(error):
    """A function that fails."""

    def fail(*given, **more):
        raise error

    return fail


@pytest.mark.parametrize("error", [NameError("name 'DiracDelta' is not defined"), MemoryError(), OSError(28, "full")])
@pytest.mark.parametrize("option", FILES)
def test_a_failure_with_one_file_of_a_run_costs_none_of_the_others(zwang, here, monkeypatch, option, error):
    monkeypatch.setattr(WRITES[option], fails_with(error))
    words = [word for pair in FILES.items() for word in pair]
    result = zwang("run", "pendulum.toml", "--until", "0.1", *words)
    assert result.exit_code == (Exit.INTERNAL if isinstance(error, NameError) else Exit.REFUSED)
    assert {name for name in FILES.values() if (here / name).exists()} == {*FILES.values()} - {FILES[option]}
    assert " ".join(result.stderr.split()).count(f"error: {option} {FILES[option]}: ") == 1
    assert "finished at t = 0.1" in result.stdout


def test_a_run_that_stops_early_and_fails_with_its_report_keeps_its_motion(zwang, here, monkeypatch):
    monkeypatch.setattr(WRITES["--report"], fails_with(InputError("no page for this")))
    result = zwang("run", "pendulum.toml", "--out", "m.nc", "--report", "m.html", "--json")
    told = json.loads(result.stdout)  # one object
    assert result.exit_code == Exit.REFUSED
    assert told["files"] == {"out": "m.nc"}
    assert told["failures"] == {"report": "--report m.html: no page for this"}
    assert zw.load_motion(here / "m.nc").attrs["status"] == "finished"


def test_an_interrupted_report_says_that_the_motion_is_there(zwang, here, monkeypatch):
    monkeypatch.setattr(WRITES["--report"], fails_with(KeyboardInterrupt()))
    result = zwang("run", "pendulum.toml", "--until", "0.1", "--out", "m.nc", "--report", "m.html")
    assert result.exit_code == Exit.INTERRUPTED
    assert "interrupted; m.nc is written, m.html is not" in result.stderr
    assert (here / "m.nc").exists()


@pytest.mark.parametrize(
    ("words", "broken", "kept", "lost"),
    [
        (
            ["linearize", "--input", "m", "--out", "a.json", "--plot", "a.png"],
            "show.plot_linear.plot_response",
            "a.json",
            "a.png",
        ),
        (["modes", "--out", "a.nc", "--plot", "a.png"], "show.plot_linear.plot_modes", "a.nc", "a.png"),
        (["modes", "--out", "a.nc", "--animate", "a.gif"], "show.animate.save_animation", "a.nc", "a.gif"),
        (["modes", "--plot", "a.png", "--out", "a.nc"], "files.analyses.answers.netcdf", "a.png", "a.nc"),
        (["equations", "--out", "a.txt", "--html", "a.html"], "show.report.page.equations_page", "a.txt", "a.html"),
        (["equations", "--out", "a.txt", "--html", "a.html"], "cli.commands.equations.written", "a.html", "a.txt"),
    ],
)
def test_a_failure_with_one_file_of_an_answer_costs_none_of_the_others(
    zwang, here, monkeypatch, words, broken, kept, lost
):
    monkeypatch.setattr(f"{ROOT}.{broken}", fails_with(ValueError("no")))
    start = ["--start", "x=0", "--start", "y=-1", "--start", "x'=0", "--start", "y'=0"]
    more = [] if words[0] == "equations" else start
    result = zwang(words[0], "pendulum.toml", *more, *words[1:])
    assert result.exit_code == Exit.INTERNAL, result.stderr
    assert (here / kept).exists(), result.stderr
    assert not (here / lost).exists()
    assert f"{lost}: internal error: ValueError: no" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["run", "--out", "results.xlsx"], "the name must end in .nc; a motion is written as NetCDF"),
        (["run", "--out", "results.mat"], "the name must end in .nc"),
        (["run", "--out", "results"], "the name must end in .nc"),
        (["run", "--csv", "results.xlsx"], "the name must end in .csv or .txt"),
        (["run", "--report", "x.pdf"], "the name must end in .html or .htm"),
        (["run", "--report", "x.txt"], ".txt is for --csv; give a name that ends in .html or .htm"),
        (["plot", "-o", "x.docx"], "the name must end in .png, .svg or .pdf"),
        (["animate", "-o", "x.avi"], "the name must end in .gif, .mp4, .html, .png or .glb"),
        (["sweep", "--over", "L=1:2:2", "--store", "s.xlsx"], "the name must end in .zarr or have no ending"),
        (["linearize", "--input", "m", "--out", "a.mat"], "the name must end in .nc or .json"),
        (["linearize", "--plot", "a.xlsx"], "the name must end in .png, .svg or .pdf"),
        (["kinematics", "--csv", "a.xlsx"], "the name must end in .csv or .txt"),
        (["equilibrium", "--out", "a.nc"], "the name must end in .json"),
        (["equations", "--out", "a.docx"], "the name must end in .txt, .tex, .md or have no ending"),
        (["equations", "--html", "a.pdf"], "the name must end in .html or .htm"),
        (["assemble", "--write", "a.json"], "the name must end in .toml"),
    ],
)
def test_a_name_that_says_another_kind_of_file_is_refused_before_the_work(zwang, here, words, remedy):
    before = {path.name for path in here.iterdir()}
    result = zwang(words[0], "pendulum.toml", *words[1:])
    assert result.exit_code == Exit.USAGE
    assert remedy in " ".join(result.stderr.replace("│", " ").split())
    assert {path.name for path in here.iterdir()} == before


JUMP = """
[coordinates]
a = 0.5
b = 1.0
[energy]
kinetic = "(a'^2 + b'^2)/2"
potential = "0.1*a"
[constraints]
geneva = "b = sign(sin(a))"
[run]
until = 0.1
samples = 5
"""


@pytest.mark.parametrize("words", [["run", "--report", "m.html"], ["equations"], ["equations", "--html", "m.html"]])
def test_a_constraint_that_jumps_has_equations_and_a_report(zwang, here, words):
    """Its slope is Dirac's delta, which mpmath has no numbers of; away from the jump it is zero."""
    result = zwang(words[0], "jump.toml", *words[1:], jump=JUMP)
    assert result.exit_code == 0, result.stderr
    shown = result.stdout if words == ["equations"] else (here / "m.html").read_text(encoding="utf-8")
    assert "DiracDelta" in shown or "δ" in shown
