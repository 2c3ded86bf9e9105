"""Sections that ask something: the answers are those of Python, text comes back equal, mistakes have their places."""

import json
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.files.analyses.models import ASKS, BODIES, CONICAL, CRANK, PENDULUM, SPRING, VANDERPOL
from zwang.errors import EquilibriumError, InputError, ModelFileError
from zwang.files.analyses.answers import in_real_parts, save_answer, values_of
from zwang.files.analyses.data import columns_in
from zwang.files.analyses.registry import ANALYSES
from zwang.files.read import load_model, read_model
from zwang.files.schema import json_schema
from zwang.files.toml.problems import Misread
from zwang.files.write import model_text

TIMES = np.linspace(0, 3, 20)


def spring_file(folder, text=SPRING, gaps=(), rows=20):
    """The model of a spring with what was measured beside it: k/m = 4, a = 0.3, and an offset of 0.1."""
    lines = [f"{t}, {'' if i in gaps else 0.3 * np.cos(2 * t) + 0.1}, 7" for i, t in enumerate(TIMES[:rows])]
    (folder / "spring.csv").write_text("\n".join(["time, seen, other", *lines]), encoding="utf-8")
    (folder / "m.toml").write_text(text, encoding="utf-8")
    return folder / "m.toml"


def problems(text, path=None):
    """The mistakes of a text, each as line, column and message."""
    with pytest.raises(ModelFileError) as caught:
        read_model(text, path)
    return [(p.line, p.column, p.message, p.hint) for p in caught.value.problems]


# Answers


def test_an_equilibrium_of_a_file_is_that_of_python():
    model = read_model(PENDULUM + ASKS)
    x, y = model.system.coordinates
    e = zw.equilibrium(model.system, {x: 0.1, y: -0.9})
    assert model.ask("equilibrium").state == e.state
    assert e.state[y] == pytest.approx(-1, abs=1e-14)


def test_parameters_reach_guesses_and_answers():
    model = read_model(PENDULUM + ASKS)
    assert model.ask("equilibrium", {"L": 2.0}).state[model.system.coordinates[1]] == pytest.approx(-2, abs=1e-14)


def test_states_are_called_as_the_file_has_them_and_outputs_may_be_reactions():
    lin = read_model(PENDULUM + ASKS).ask("linear")
    assert lin.state.values.tolist() == ["angle", "angle'"]
    assert lin.A.values == pytest.approx(np.array([[0, 1], [-9.81, -0.05]]), abs=1e-12)
    assert lin.B.sel(input="F").values == pytest.approx([0, 0.5], abs=1e-13)
    assert lin.output.values.tolist() == ["pull", "speed"]
    assert lin.C.sel(output="speed").values == pytest.approx([0, 1], abs=1e-13)


def test_a_steady_motion_is_held_at_an_expression_and_followed_along_a_parameter():
    model = read_model(CONICAL)
    angle = model.system.coordinates[0]
    assert model.ask("steady").state[angle] == pytest.approx(float(sp.acos(9.81 / 25)), abs=1e-13)
    along = model.analyses["linear"].modes(model)
    assert along.turns.values.tolist() == [4, 4.5, 5, 5.5, 6]
    # beside cos a = g/(l w²): λ² = −w² (1 + 3 cos² a), by hand from Routh's potential
    w = along.turns.values
    cos = 9.81 / w**2
    assert along.frequency.values.max(axis=1) == pytest.approx(np.sqrt(w**2 * (1 + 3 * cos**2)), rel=1e-10)


def test_periodic_motions_kinematics_and_exponents_of_a_file():
    period = read_model(VANDERPOL).ask("periodic")
    assert period.attrs["period"] == pytest.approx(6.3806, abs=1e-4)  # as tables of van der Pol's equation have it
    crank = read_model(CRANK).ask("kinematics")
    assert crank.q.sel(coordinate="x").values == pytest.approx(np.sqrt(4 - np.array([0, 1, 1.5]) ** 2), abs=1e-14)
    assert read_model(PENDULUM + ASKS).ask("lyapunov").exponent.shape == (1,)


def test_a_fit_reads_the_table_beside_the_model(tmp_path):
    model = load_model(spring_file(tmp_path, gaps=(3, 4)))
    found = model.ask("fit")
    values = {str(s): x for s, x in found.values.items()}
    assert values["k"] / values["m"] == pytest.approx(4, abs=1e-9)
    assert (values["a"], values["offset"]) == pytest.approx((0.3, 0.1), abs=1e-9)
    assert found.numbers == 18
    assert "k/m" in found.verdict
    assert model.tables == ("spring.csv",)


def test_several_trials_have_starts_of_their_own(tmp_path):
    path = spring_file(tmp_path)
    both = SPRING.replace('"spring.csv"', '["spring.csv", { t = [0, 1], seen = [0.5, 0.1] }]')
    both = both.replace("weights", 'start = [{ x = "a" }, { x = 0.5 }]\nweights')
    path.write_text(both.replace(", m = 1", "").replace("bounds = { m", "bounds = { k"), encoding="utf-8")
    found = load_model(path).ask("fit")
    assert found.numbers == 22
    assert len(found.motion) == 2
    assert found.motion[1].q.values[0] == pytest.approx([0.5])


def test_bodies_ask_too_by_the_coordinates_of_their_joints():
    model = read_model(BODIES)
    e = model.ask("equilibrium")
    assert e.stable
    along = model.analyses["linear"].modes(model)
    # two bars of mass 1, length 1 and inertia 1/10: by Lagrange in the two angles
    M, K = np.array([[1.35, 0.5], [0.5, 0.35]]), np.diag([1.5, 0.5])
    squares = np.linalg.eigvals(np.linalg.solve(M, K))
    expected = np.sqrt(np.outer(along.g.values, np.sort(squares)))
    assert np.unique(along.frequency.values.round(9), axis=1)[:, -1] == pytest.approx(expected.max(axis=1), abs=1e-9)
    assert model.ask("linear").state.values.tolist()[0] == "top.angle"


def test_a_parameter_that_places_depend_on_is_followed_by_assembling_anew():
    text = BODIES.replace("[-0.5, 0]]", '["-half", 0]]').replace("[[0.5, 0]", '[["half", 0]')
    text = text.replace("g = 9.81", "half = 0.5\ng = 9.81").replace('g = "5:20:4"', 'half = "0.49:0.51:3"')
    model = read_model(text)
    along = model.analyses["linear"].modes(model)
    assert along.eigenvalue.dims == ("half", "mode")
    for half in (0.49, 0.5, 0.51):
        one = zw.modes(model, model.ask("equilibrium", {"half": half}), parameters={"half": half})
        assert along.frequency.sel(half=half).values == pytest.approx(one.frequency.values, abs=1e-9)
    A, plain = model.ask("linear").A, read_model(BODIES.replace('against = { g = "5:20:4" }', "")).ask("linear").A
    assert A.dims == ("half", "state", "state_")
    assert A.sel(half=0.5).values == pytest.approx(plain.values, abs=1e-9)


def test_what_is_not_asked_is_refused():
    with pytest.raises(InputError, match="does not ask for 'fit': it has \\[steady\\], \\[linear\\]"):
        read_model(CONICAL).ask("fit")


def test_at_steady_needs_a_steady_motion():
    with pytest.raises(InputError, match=r"there is no \[steady\]"):
        read_model(PENDULUM + '[linear]\nat = "steady"\n').ask("linear")


def test_at_the_start_a_state_that_does_not_stay_is_refused():
    with pytest.raises(InputError, match="equilibrium"):
        read_model(PENDULUM + '[linear]\nat = "start"\n').ask("linear")


# There and back


@pytest.mark.parametrize("text", [PENDULUM + ASKS, CONICAL, VANDERPOL, CRANK, BODIES])
def test_what_is_written_asks_the_same(text):
    model = read_model(text)
    again = read_model(model_text(model))
    assert again.analyses == model.analyses
    assert list(again.analyses) == list(model.analyses)


def test_measured_columns_are_written_into_the_file(tmp_path):
    model = load_model(spring_file(tmp_path, gaps=(3,)))
    again = read_model(model_text(model))
    assert again.analyses == model.analyses
    assert again.ask("fit").values == model.ask("fit").values


def test_the_schema_knows_every_section(tmp_path):
    import tomllib

    import jsonschema

    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert ANALYSES.keys() <= schema["properties"].keys()
    for text in (PENDULUM + ASKS, CONICAL, VANDERPOL, CRANK, SPRING, BODIES):
        jsonschema.validate(tomllib.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(PENDULUM + "[linear]\ninputs = 3\n"), schema)


def test_answers_go_into_files(tmp_path):
    model = read_model(PENDULUM + ASKS)
    modes = model.analyses["linear"].modes(model)
    save_answer(modes, tmp_path / "m.json")
    told = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    first = modes.eigenvalue.values[0]
    assert told["variables"]["eigenvalue"]["values"][0] == [first.real, first.imag]
    save_answer(modes, tmp_path / "m.nc")
    import xarray as xr

    with xr.open_dataset(tmp_path / "m.nc", engine="h5netcdf") as back:
        assert (back.eigenvalue_imag.values == modes.eigenvalue.values.imag).all()
    assert not any(np.iscomplexobj(x.values) for x in in_real_parts(modes).data_vars.values())
    with pytest.raises(InputError, match="no dataset"):
        save_answer(model.ask("equilibrium"), tmp_path / "e.nc")
    assert values_of(model.ask("equilibrium"))["state"]["y"] == pytest.approx(-1, abs=1e-14)


# Mistakes

MISTAKES = {
    "unknown coordinate": (PENDULUM, "[equilibrium]\nguess = { z = 1 }", (2, 11), "unknown name 'z'"),
    "near coordinate": (CONICAL, "[equilibrium]\nguess = { angel = 1 }", (2, 11), "did you mean 'angle'?"),
    "expression as guess": (PENDULUM, "[equilibrium]\nguess = { angle = 1 }", (2, 11), "is not a coordinate or rate"),
    "coordinate in a value": (PENDULUM, "[equilibrium]\nhold = { x = 'y' }", (2, 15), "may not be used in a value"),
    "not a list": (PENDULUM, "[equilibrium]\nhold = 3", (2, 8), "a number where a list of expressions"),
    "unknown key": (PENDULUM, "[equilibrium]\nholds = ['x']", (2, 1), "did you mean 'hold'?"),
    "nothing constant": (PENDULUM, "[steady]\nhold = ['x']", (1, 1), "[steady] does not say 'constant'"),
    "time in a reading": (PENDULUM, "[steady]\nconstant = ['x*t']", (2, 16), "it may not contain the time"),
    "reaction as a state": (PENDULUM, "[linear]\nstates = ['multiplier(rod)']", (2, 12), "in outputs of [linear]"),
    "state twice": (PENDULUM, "[linear]\nstates = ['x', 'x']", (2, 16), "'x' is listed twice"),
    "unknown input": (PENDULUM, "[linear]\ninputs = ['f']", (2, 11), "did you mean 'F'?"),
    "unknown place": (PENDULUM, "[linear]\nat = 'begin'", (2, 6), "'at' = 'begin' is unknown"),
    "unknown constraint": (PENDULUM, "[linear]\noutputs = ['multiplier(rot)']", (2, 24), "did you mean 'rod'?"),
    "two ranges": (PENDULUM, "[linear]\nagainst = { g = '1:2:3', m = '1:2:3' }", (2, 11), "2 entries where"),
    "a bad range": (PENDULUM, "[linear]\nagainst = { g = '1:2' }", (2, 17), "is not a range"),
    "a long range": (PENDULUM, "[linear]\nagainst = { g = '1:2:20000' }", (2, 17), "more than 10,000"),
    "not a parameter": (PENDULUM, "[linear]\nagainst = { x = '1:2:3' }", (2, 13), "'x' is not a parameter"),
    "no period": (PENDULUM, "[periodic]\nhold = ['x']", (1, 1), "[periodic] does not say 'period'"),
    "no stretches": (PENDULUM, "[lyapunov]\nstretches = 0", (2, 13), "a whole number from 1"),
    "times that are text": (PENDULUM, "[kinematics]\ntimes = 'now'", (2, 9), "'now' is not a number"),
    "nothing unknown": (PENDULUM, "[fit]\nweights = { x = 1 }", (1, 1), "[fit] does not say 'unknown'"),
    "unknown unknown": (PENDULUM, "[fit]\nunknown = ['G']", (2, 12), "did you mean 'g'?"),
    "bounds upside down": (PENDULUM, "[fit]\nunknown = ['g']\nbounds = { g = [2, 1] }", (3, 16), "2 is not below 1"),
    "bounds of another": (PENDULUM, "[fit]\nunknown = ['g']\nbounds = { m = [1, 2] }", (3, 12), "'m' is not sought"),
    "no folder": (PENDULUM, "[fit]\nunknown = ['g']\ndata = 'a.csv'", (3, 8), "this model has no folder"),
    "out of the folder": (PENDULUM, "[fit]\nunknown = ['g']\ndata = '../a.csv'", (3, 8), "leads out of"),
    "uneven columns": (PENDULUM, "[fit]\nunknown = ['g']\ndata = { t = [1, 2], x = [1] }", (3, 8), "of one length"),
    "times fall": (PENDULUM, "[fit]\nunknown = ['g']\ndata = { t = [2, 1], x = [1, 2] }", (3, 8), "do not ascend"),
    "no times": (PENDULUM, "[fit]\nunknown = ['g']\ndata = { x = [1, 2] }", (3, 8), "no column 't' or 'time'"),
    "a strange column": (PENDULUM, "[fit]\nunknown = ['g']\ndata = { t = [1], z = [1] }", (3, 1), "column 'z' is not"),
    "a missing column": (
        PENDULUM,
        "[fit]\nunknown = ['g']\ndata = { t = [1], seen = [1] }\nobserve = { sen = 'x' }",
        (4, 13),
        "did you mean 'seen'?",
    ),
    "starts for others": (
        PENDULUM,
        "[fit]\nunknown = ['g']\ndata = { t = [1], x = [1] }\nstart = [{ x = 1 }, { x = 2 }]",
        (4, 1),
        "1 trial, but 2 starts",
    ),
    "a place is sought": (
        BODIES.replace("position = [0.311, -0.392]", "position = ['0.311*stiff/20', -0.392]"),
        "[fit]\nunknown = ['stiff']",
        None,
        "places of the mechanism depend on 'stiff'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_have_their_place_and_a_remedy(what):
    text, more, place, said = MISTAKES[what]
    found = problems(text + more)
    messages = [f"{message} {hint}" for _, _, message, hint in found]
    assert any(said in words for words in messages), messages
    if place is not None:
        before = text.count("\n")
        assert place in [(line - before, column) for line, column, *_ in found], found


TABLES = {
    "not a number": ("t,seen\n0,1\n1,one\n", "spring.csv:3:3: error: 'one' is not a finite number"),
    "no time": ("a,seen\n0,1\n", "spring.csv has no column 't' or 'time'"),
    "a time is missing": ("t,seen\n0,1\n,2\n", "spring.csv:3:1: error: a number is missing"),
    "times fall": ("t,seen\n1,1\n0,2\n", "spring.csv:3:1: error: the time 0 does not come after 1"),
    "nothing in it": ("t,seen\n", "spring.csv has no lines of numbers"),
    "twice": ("t,seen,seen\n0,1,2\n", "has the column 'seen' twice"),
    "another column": ("t,saw\n0,1\n", "has no column 'seen'"),
    "not text": (b"\xff\xfe\x00", "is not text in UTF-8"),
}


@pytest.mark.parametrize("what", TABLES)
def test_tables_that_cannot_be_read_are_told_at_their_place(tmp_path, what):
    content, said = TABLES[what]
    path = spring_file(tmp_path)
    (tmp_path / "spring.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert said in str(caught.value)


def test_a_quoted_cell_that_never_ends_is_no_traceback():
    with pytest.raises(Misread):
        columns_in("t,x\n0,1\n" + '"' + "a" * 200_000, "a.csv")


def test_a_long_motion_is_fitted_in_pieces(tmp_path):
    model = load_model(spring_file(tmp_path, SPRING.replace("weights", "pieces = 3\nweights").replace(", m = 1", "")
                                   .replace("bounds = { m", "bounds = { k")))  # fmt: skip
    values = {str(s): x for s, x in model.ask("fit").values.items()}
    assert (values["k"], values["a"], values["offset"]) == pytest.approx((4, 0.3, 0.1), abs=1e-7)
    assert read_model(model_text(model)).analyses == model.analyses


def test_too_few_data_are_refused(tmp_path):
    with pytest.raises(InputError, match="3 numbers cannot tell 4 unknowns"):
        load_model(spring_file(tmp_path, rows=3)).ask("fit")


def test_data_before_the_motion_begins_are_refused(tmp_path):
    text = SPRING + "[run]\nbegin = 1.0\nuntil = 3.0\n"
    with pytest.raises(InputError, match="begins at t = 0, before the motion does"):
        load_model(spring_file(tmp_path, text)).ask("fit")


def test_a_guess_from_which_nothing_is_found_says_what_remains():
    free = """
    [coordinates]
    x = 0.0
    [energy]
    kinetic = "x'^2/2"
    potential = "2*x"
    [equilibrium]
    """
    with pytest.raises(EquilibriumError, match="x'' = -2"):
        read_model(free).ask("equilibrium")


def test_states_that_do_not_close_are_refused():
    with pytest.raises(InputError, match="states"):
        read_model(PENDULUM + '[linear]\nstates = ["angle"]\n').ask("linear")


def test_beside_a_steady_motion_its_constants_are_the_states_along_a_parameter_too():
    """Of the rolling wheel, whose file names both."""
    named = zw.load_model("rolling_wheel").analyses["linear"]
    model = zw.load_model("rolling_wheel")
    bare = replace(named, states={})
    lin = bare.answer(model)
    assert lin.state.values.tolist() == ["theta", "theta'", "phi'", "psi'"]
    np.testing.assert_allclose(lin.A.values, named.answer(model).A.values, atol=1e-12)
    np.testing.assert_allclose(bare.modes(model).eigenvalue.values, named.modes(model).eigenvalue.values, atol=1e-9)
