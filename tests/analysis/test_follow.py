"""Stacks along a parameter: what is made at once is what is made one by one; states stay on their branch."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.analysis.systems import VARIANTS, as_given, cart_pole, disc, doubled_and_scaled
from zwang import dot
from zwang.analysis import follow
from zwang.errors import EquilibriumError, InputError
from zwang.files.analyses.equilibrium import Rest
from zwang.files.analyses.linear import Linear
from zwang.files.read import read_model

HOOP = """
[parameters]
g = 9.0
w = 4.0
[coordinates]
x = 0.9
y = 0.0
z = -0.4
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "g*z - w^2*(x^2 + y^2)/2"
[constraints]
hoop = "x^2 + z^2 = 1"
plane = "y = 0"
again = "2*x^2 + 2*z^2 = 2"
[equilibrium]
[linear]
"""


def alike(stack, ones, axis):
    """Whether a stack is the single datasets side by side, but for rounding."""
    for i, one in enumerate(ones):
        part = stack.isel({axis: i})
        for name in one.data_vars:
            size = max(np.abs(one[name].values).max(initial=0.0), 1.0)
            assert np.abs(part[name].values - one[name].values).max(initial=0.0) < 1e-12 * size, (i, name)


@pytest.mark.parametrize("variant", [as_given, doubled_and_scaled])
def test_a_stack_of_steady_motions_is_the_single_ones_side_by_side(variant):
    system = variant(disc())
    x, _, z, heading, lean, turn = system.coordinates
    spins = np.linspace(1, 4, 7)
    asked = {"states": [lean, dot(lean), dot(heading), dot(turn)]}
    asked["outputs"] = [zw.multiplier("floor"), zw.constraint_force(z), dot(dot(lean)), lean]

    def at(spin):
        return dict.fromkeys(system.coordinates, 0.0) | {z: 1.0, dot(turn): spin, dot(x): spin}

    stack = zw.linearize(system, at(spins), **asked)
    alike(stack, [zw.linearize(system, at(s), **asked) for s in spins], "sample")
    found = zw.modes(system, at(spins), states=asked["states"])
    ones = [zw.modes(system, at(s), states=asked["states"]) for s in spins]
    assert np.sort_complex(found.eigenvalue.values) == pytest.approx(
        np.array([np.sort_complex(one.eigenvalue.values) for one in ones]), abs=1e-12
    )
    assert found.zeros.values.tolist() == [int(one.zeros) for one in ones]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stack_with_inputs_where_constraints_depend_on_what_varies(variant):
    """A cart and a pole whose length varies: x of the bob is rounded, and polished onto the constraint."""
    c, x, y = cart_pole().coordinates
    F, L, k = zw.parameters("F L k")
    system = variant(
        zw.System(
            (c, x, y), kinetic=dot(c) ** 2 / 2 + (dot(x) ** 2 + dot(y) ** 2) / 20, potential=y + k * c**2 / 2,
            forces={c: F * (1 + x)}, constraints={"pole": (x - c) ** 2 + y**2 - L**2}, parameters={F: 0, k: 2, L: 1},
        )
    )  # fmt: skip
    lengths = np.array([0.5, 0.75, 1.1, 1.3])
    asked = {"inputs": [F], "outputs": [zw.multiplier("pole"), x - c]}
    stack = zw.linearize(system, {c: 0, x: 0, y: -lengths * (1 + 1e-13)}, parameters={L: lengths}, **asked)
    ones = [zw.linearize(system, {c: 0, x: 0, y: -l}, parameters={L: l}, **asked) for l in lengths]
    alike(stack, ones, "L")


def test_one_sample_that_is_refused_is_named_by_what_is_wrong_with_it():
    x = zw.coordinates("x")
    k, u = zw.parameters("k u")
    spring = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2 / 2 - u * x)
    with pytest.raises(InputError, match=r"neither an equilibrium nor steady in these states: x' changes at 0\.5"):
        zw.modes(spring, {x: 0}, parameters={k: 1, u: np.array([0, 0, 0.5])})


def test_an_empty_stack_is_refused():
    x = zw.coordinates("x")
    k = zw.parameters("k")
    spring = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2 / 2)
    with pytest.raises(InputError, match="is empty: give it at least one value"):
        zw.modes(spring, {x: 0}, parameters={k: []})


def test_contacts_and_families_go_one_by_one_with_the_same_results():
    x, y = zw.coordinates("x y")
    k = zw.parameters("k")
    floor = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=k * x**2 / 2 + y, constraints={"floor": y >= 0}
    )
    values = np.array([1.0, 4.0, 9.0])
    found = zw.modes(floor, {x: 0, y: 0}, parameters={k: values})
    assert found.frequency.values == pytest.approx(np.sqrt(values)[:, None] * np.ones(2), rel=1e-13)


# Following


@pytest.fixture
def searches(monkeypatch):
    """How often a state was searched for with care."""
    counted = []
    true = Rest.answer

    def counting(self, *arguments):
        counted.append(arguments)
        return true(self, *arguments)

    monkeypatch.setattr(Rest, "answer", counting)
    return counted


def test_a_bead_is_followed_up_its_hoop(searches):
    """cos θ = g/(w² r) above w² = g/r; beside it the bead swings with ω² = w² sin²θ."""
    model = read_model(HOOP)
    found = Linear(against={"w": "5:3.2:901"}).modes(model)
    w = found.w.values
    cosine = 9 / w**2
    assert found.q.sel(coordinate="z").values == pytest.approx(-cosine, rel=1e-13)
    assert (found.q.sel(coordinate="x").values > 0).all()
    assert found.frequency.values[:, 0] == pytest.approx(w * np.sqrt(1 - cosine**2), rel=1e-11)
    assert len(searches) < 12


def test_through_a_fork_it_stays_on_one_branch_and_says_where_it_becomes_unstable(searches):
    model = read_model(HOOP.replace("x = 0.9", "x = 0.0").replace("z = -0.4", "z = -1.0"))
    found = Linear(against={"w": "2:4:201"}).modes(model)
    assert found.q.sel(coordinate="z").values == pytest.approx(-np.ones(201), abs=1e-12)
    assert len(searches) < 12
    grows = found.eigenvalue.values.real.max(axis=1) > 1e-4
    assert found.w.values[grows].min() == pytest.approx(3.01, abs=1e-9)


def test_where_a_branch_ends_the_value_is_named():
    """x'' = p − x²: there is rest at √p, none below p = 0."""
    text = """
[parameters]
p = 1.0
[coordinates]
x = 1.0
[energy]
kinetic = "x'^2/2"
potential = "x^3/3 - p*x"
[equilibrium]
[linear]
"""
    model = read_model(text)
    found = Linear(against={"p": "1:0.01:100"}).modes(model)
    assert found.q.values[:, 0] == pytest.approx(np.sqrt(found.p.values), rel=1e-12)
    with pytest.raises(EquilibriumError, match=r"p = -0\.0\d+: no equilibrium was found near the guess"):
        Linear(against={"p": "1:-0.5:151"}).modes(model)


def test_a_parameter_that_only_what_is_held_depends_on_is_followed():
    model = zw.load_model("rolling_wheel")
    found = model.analyses["linear"].modes(model)
    v, spin = found.parameter_v.values, found.v.sel(coordinate="psi").values
    assert spin == pytest.approx(-v / 0.3, rel=1e-13)
    # beyond v² = gR/3 it stays up
    grows = found.eigenvalue.values.real.max(axis=1) > 1e-6
    assert v[grows].max() < np.sqrt(9.81 * 0.3 / 3) < v[~grows].min()


def test_blocks_grow_and_shrink(monkeypatch):
    """From one value to the next with care where nothing else serves: the same states."""
    model = read_model(HOOP)
    quick = Linear(against={"w": "5:3.5:40"}).modes(model)
    monkeypatch.setattr(follow, "AS_EXPECTED", 0.0)
    slow = Linear(against={"w": "5:3.5:40"}).modes(model)
    assert quick.q.values == pytest.approx(slow.q.values, abs=1e-12)


# Parameters that only what is asked depends on: the system itself lacks them


@pytest.mark.parametrize("varied", ["c", "l", "both"])
def test_parameters_that_the_system_lacks_take_their_own_values_along_a_stack(varied):
    """States, outputs and inputs: a stack is the single ones side by side, whichever parameter is varied."""
    angle = zw.coordinates("angle")
    l, c = zw.parameters("l c")
    pendulum = zw.System(
        (angle,), kinetic=l**2 * dot(angle) ** 2 / 2, potential=-9.81 * l * sp.cos(angle), parameters={l: 1, c: 3}
    )
    values = {"c": {c: np.array([0.5, 2.0]), l: 2}, "l": {l: np.array([1.0, 2.0]), c: 0.5}}
    values["both"] = {l: np.array([1.0, 2.0]), c: np.array([0.5, 2.0])}
    given = values[varied]
    state, asked = {angle: 0}, {"states": {"s": c * angle, "r": dot(angle)}, "outputs": [c * angle + c]}
    singles = [
        {key: float(np.broadcast_to(value, 2)[i]) for key, value in given.items()} for i in range(2)
    ]  # fmt: skip
    axis = {"c": "c", "l": "l", "both": "sample"}[varied]
    stack = zw.linearize(pendulum, state, **asked, parameters=given)
    alike(stack, [zw.linearize(pendulum, state, **asked, parameters=one) for one in singles], axis)
    ones = [zw.modes(pendulum, state, states=asked["states"], parameters=one) for one in singles]
    alike(zw.modes(pendulum, state, states=asked["states"], parameters=given), ones, axis)
    # by hand: s = c θ, so ṡ = c r, ṙ = −(g/l) s/c; z = s + c
    for i, one in enumerate(singles):
        by_hand = [[0, one[c]], [-9.81 / one[l] / one[c], 0]]
        assert stack.A.isel({axis: i}).values == pytest.approx(np.array(by_hand), rel=1e-13)
        assert stack.output_value.isel({axis: i}).values == pytest.approx([one[c]], rel=1e-13)
    told = zw.linearize(pendulum, state, [angle, dot(angle)], inputs=[c], outputs=[c * angle + c], parameters=given)
    for i, one in enumerate(singles):
        assert told.D.isel({axis: i}).values == pytest.approx(np.ones((1, 1)), rel=1e-13)
        assert told.input_value.isel({axis: i}).values == pytest.approx([one[c]], rel=1e-13)


TURNING = """
[parameters]
g = 9.81
w = 5.0
c = 1.0
[coordinates]
angle = 1.1
turn = { start = 0.0, rate = "w" }
[energy]
kinetic = "(angle'^2 + (sin(angle)*turn')^2)/2"
potential = "-g*cos(angle)"
[steady]
constant = ["angle", "angle'", "c*turn'"]
hold = HOLD
[linear]
states = ["angle", "angle'", "c*turn'"]
"""


@pytest.mark.parametrize(
    ("hold", "against", "rate"),
    [
        ('["c*turn\'"]', "c", lambda x: 5 + 0 * x),
        ('["turn\' + c*angle"]', "c", None),
        ('{ "c*turn\'" = "5" }', "c", lambda x: 5 / x),
        ('["turn\'"]', "w", lambda x: x),
        ('["w*turn\' + angle"]', "w", None),
    ],
)
def test_what_is_held_and_constant_is_followed_as_if_each_value_were_asked_alone(hold, against, rate):
    """A conical pendulum: cos θ = g/φ̇², φ̇ held with a parameter that is not in the system, or that the start has."""
    model = read_model(TURNING.replace("HOLD", hold))
    values = np.linspace(0.9, 1.1, 9) if against == "c" else np.linspace(4.5, 5.5, 9)
    along = replace(model.analyses["linear"], against={against: tuple(map(float, values))})
    found = along.modes(model)
    turn, angle = found.v.sel(coordinate="turn").values, found.q.sel(coordinate="angle").values
    assert np.cos(angle) == pytest.approx(9.81 / turn**2, rel=1e-11)
    if rate is not None:
        assert turn == pytest.approx(rate(values), rel=1e-12)
    for value, one in zip(values, turn, strict=True):
        alone = model.analyses["steady"].answer(model, {against: float(value)})
        assert one == pytest.approx(alone.state[dot(model.system.coordinates[1])], rel=1e-11)
