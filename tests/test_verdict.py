"""The verdict: redundant, inconsistent and singular are three different things, each said by name."""

import itertools

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError, MassError, UndeterminedError
from zwang.generic_rank import displaced

t = zw.t
x, y, z = zw.coordinates("x y z")
m, g = zw.parameters("m g")
xd, yd, zd = dot(x), dot(y), dot(z)


def planar(constraints, **more):
    return zw.System((x, y), kinetic=(xd**2 + yd**2) / 2, constraints=constraints, name="plane", **more)


def state(*values):
    return dict(zip((x, y, xd, yd), values, strict=True))


def test_independent_rows():
    verdict = zw.diagnose(planar({"rail": x - y}), state(1, 1, 2, 2))
    assert verdict.ok
    assert (verdict.rank, verdict.degrees_of_freedom) == (1, 1)
    assert verdict.unique_multipliers == {"rail": True}
    assert not verdict.redundant
    assert not verdict.inconsistent
    assert not verdict.violated
    assert not verdict.inactive
    assert not verdict.singular
    assert verdict.kinds == {"rail": ("holonomic", "scleronomic", "catastatic", "linear in velocity")}
    said = str(verdict)
    assert said.startswith("plane: 2 coordinates, 1 constraint of rank 1, 1 degree of freedom.")
    assert "independent; its force of constraint is unique" in said
    assert "Nothing to object to" in said


def test_redundant_rows_name_those_they_follow_from():
    rows = {"a": x - y, "b": 3 * x - 3 * y, "c": x + y, "d": x}
    verdict = zw.diagnose(planar(rows), state(0, 0, 0, 0))
    assert verdict.ok
    assert dict(verdict.redundant) == {"b": ("a",), "d": ("a", "c")}
    assert not verdict.inconsistent
    assert not verdict.singular
    assert verdict.unique_multipliers == dict.fromkeys("abcd", False)
    said = str(verdict)
    assert "redundant: follows from a\n" in said
    assert "redundant: follows from a and c" in said
    assert "not unique, a redundant row shares it" in said
    assert "Redundant but consistent: the motion is unique" in said


def test_inconsistent_rows_name_those_they_contradict():
    rows = {"slow": xd - t, "side": yd, "fast": xd - 2 * t}
    verdict = zw.diagnose(planar(rows), state(0, 0, 0, 0))
    assert not verdict.ok
    assert dict(verdict.inconsistent) == {"fast": ("slow",)}
    assert not verdict.redundant
    assert not verdict.singular
    assert not verdict.violated  # at t = 0 both are satisfied: the contradiction is in the accelerations
    said = str(verdict)
    assert "inconsistent: contradicts slow" in said
    assert "Inconsistent: no acceleration obeys fast together with the others" in said


def test_a_zero_row_that_asks_for_something():
    never = (x.diff(t, 2) + 1) * (y + 1) - x.diff(t, 2) * y - x.diff(t, 2) - y  # 0 = 1
    verdict = zw.diagnose(planar({"never": never, "rail": x}), state(0, 0, 0, 0))
    assert dict(verdict.inconsistent) == {"never": ()}
    assert "a zero row asks for something" in str(verdict)


def appell():
    cone = zd**2 - xd**2 - yd**2
    kinetic = (xd**2 + yd**2 + zd**2) / 2
    return zw.System((x, y, z), kinetic=kinetic, potential=9.81 * z, constraints={"cone": cone})


def test_appells_particle_is_singular_at_rest_only():
    rest = dict.fromkeys([x, y, z, xd, yd, zd], 0)
    verdict = zw.diagnose(appell(), rest)
    assert verdict.singular
    assert (verdict.rank, verdict.generic_rank) == (0, 1)
    assert not verdict.ok
    assert dict(verdict.redundant) == {"cone": ()}
    assert not verdict.inconsistent
    said = str(verdict)
    assert "Singular: the rank is 0 here but 1 at nearby states" in said
    assert "redundant: its row is zero here" in said
    assert zw.diagnose(appell(), rest | {xd: 3, yd: 4, zd: 5}).ok


def test_singular_in_time_only():
    system = planar({"late": t * xd - yd + xd * 0, "line": yd})
    verdict = zw.diagnose(system, state(0, 0, 0, 0), t=0.0)
    assert (verdict.rank, verdict.generic_rank) == (1, 2)
    assert verdict.singular
    assert not zw.diagnose(system, state(0, 0, 0, 0), t=1.0).singular


def cranks(angle, scale=1.0):
    """A bar on three equal parallel cranks, one more than it needs: rows depend only while the constraints hold."""
    a = zw.coordinates("a")
    tips = [(x + i * scale * sp.cos(a), y + i * scale * sp.sin(a)) for i in range(3)]
    constraints = {f"crank {i}": ((X - i * scale) ** 2 + Y**2 - scale**2) / 2 for i, (X, Y) in enumerate(tips)}
    system = zw.System((x, y, a), kinetic=(xd**2 + yd**2 + scale**2 * dot(a) ** 2) / 2, constraints=constraints)
    sine, cosine = scale * np.sin(angle), scale * np.cos(angle)
    return system, {x: cosine, y: sine, a: 0.0, xd: -sine, yd: cosine, dot(a): 0.0}


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("angle", [0.4, 1.2, 2.5, -0.9])
def test_three_cranks_are_redundant_and_not_singular(angle, scale):
    verdict = zw.diagnose(*cranks(angle, scale=scale))
    assert (verdict.rank, verdict.generic_rank) == (2, 2)
    assert verdict.degrees_of_freedom == 1
    assert not verdict.singular
    assert not verdict.inconsistent
    assert verdict.ok
    assert dict(verdict.redundant) == {"crank 2": ("crank 0", "crank 1")}
    assert not any(verdict.unique_multipliers.values())


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_three_cranks_are_singular_when_flat(scale):
    verdict = zw.diagnose(*cranks(0.0, scale))
    assert verdict.singular
    assert (verdict.rank, verdict.generic_rank) == (1, 2)
    assert set(verdict.redundant) == {"crank 1", "crank 2"}


def chain(loops, angle):
    """A chain of parallelogram loops in Cartesian coordinates, moving; at 90° the bars lie on a line."""
    q = [zw.coordinates(f"x{i} y{i}") for i in range(loops + 1)]
    flat = [c for pair in q for c in pair]
    cranks = {f"crank {i}": ((a - i) ** 2 + b**2 - 1) / 2 for i, (a, b) in enumerate(q)}
    couplers = {
        f"coupler {i}": ((c - a) ** 2 + (d - b) ** 2 - 1) / 2
        for i, ((a, b), (c, d)) in enumerate(itertools.pairwise(q))
    }
    system = zw.System(flat, kinetic=sum(dot(c) ** 2 for c in flat) / 2, constraints=cranks | couplers)
    values = [w for i in range(loops + 1) for w in (i + np.sin(angle), np.cos(angle))]
    rates = [np.cos(angle), -np.sin(angle)] * (loops + 1)
    return system, dict(zip([*flat, *system.velocities], [*values, *rates], strict=True))


def test_a_chain_of_loops_is_singular_where_it_lies_on_a_line():
    regular = zw.diagnose(*chain(20, 0.3))
    assert (regular.rank, regular.degrees_of_freedom, regular.ok) == (41, 1, True)
    flat = zw.diagnose(*chain(20, np.pi / 2))
    assert (flat.rank, flat.generic_rank, flat.singular) == (21, 41, True)


def four_bar(angle):
    """A four-bar loop in angles, closed in x and y, and a third, redundant closure (the length of the diagonal)."""
    a, b, c = zw.coordinates("a b c")
    X = sp.cos(a) + 3 * sp.cos(b) - 2 * sp.cos(c) - 3
    Y = sp.sin(a) + 3 * sp.sin(b) - 2 * sp.sin(c)
    diagonal = (
        (sp.cos(a) + 3 * sp.cos(b)) ** 2
        + (sp.sin(a) + 3 * sp.sin(b)) ** 2
        - (3 + 2 * sp.cos(c)) ** 2
        - (2 * sp.sin(c)) ** 2
    )
    system = zw.System(
        (a, b, c),
        kinetic=(dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2) / 2,
        constraints={"x": X, "y": Y, "diagonal": diagonal},
    )
    # close the loop: intersect the circles about the crank's tip (radius 3) and about (3, 0) (radius 2)
    tip, pivot = np.array([np.cos(angle), np.sin(angle)]), np.array([3.0, 0.0])
    d = pivot - tip
    length = np.hypot(*d)
    along = (9 - 4 + length**2) / (2 * length)
    corner = tip + along * d / length + np.sqrt(9 - along**2) * np.array([-d[1], d[0]]) / length
    coupler, rocker = corner - tip, corner - pivot
    values = [angle, np.arctan2(coupler[1], coupler[0]), np.arctan2(rocker[1], rocker[0])]
    return system, dict(zip([a, b, c, *system.velocities], [*values, 0.0, 0.0, 0.0], strict=True))


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0, -1.4])
def test_a_four_bar_with_a_redundant_closure_is_not_singular(angle):
    verdict = zw.diagnose(*four_bar(angle))
    assert (verdict.rank, verdict.generic_rank, verdict.degrees_of_freedom) == (2, 2, 1)
    assert dict(verdict.redundant) == {"diagonal": ("x", "y")}
    assert verdict.ok


def test_a_state_that_is_not_quite_on_its_constraints_is_told_so():
    system = planar({"line": x - y, "squares": x**2 - y**2})
    assert zw.diagnose(system, state(1, 1, 0, 0)).ok
    verdict = zw.diagnose(system, state(1, 1 + 1e-9, 0, 0))
    assert not verdict.violated
    assert verdict.imprecise
    assert (verdict.rank, verdict.generic_rank) == (2, 1)
    assert not verdict.ok
    assert "Imprecise: the rank is 2 here but 1 at nearby states" in str(verdict)


def test_C5_initial_conditions_are_checked_at_every_level():
    circle = planar({"rod": x**2 + y**2 - 4, "speed": xd - 1})
    fine = zw.diagnose(circle, state(0, 2, 1, 0))
    assert fine.ok
    assert fine.residuals["rod"] == (0, 0)
    assert np.isnan(fine.residuals["speed"][0])
    assert fine.residuals["speed"][1] == 0
    off = zw.diagnose(circle, state(0, 2.5, 1, 0))
    assert off.violated == ("rod",)
    assert off.residuals["rod"] == (2.25, 0)
    assert not off.ok
    moving = zw.diagnose(circle, state(0, 2, 1.5, 0.25))
    assert moving.violated == ("rod", "speed")
    said = str(moving)
    assert "The state does not satisfy its constraints" in said
    assert "rod reads 0 in position, 1 in velocity" in said
    assert "speed reads 0.5 in velocity" in said


def test_more_rows_than_coordinates_and_none_at_all():
    many = {f"row {i}": i * x + (i - 3) * y for i in range(1, 6)}
    verdict = zw.diagnose(planar(many), state(0, 0, 0, 0))
    assert (verdict.rank, verdict.degrees_of_freedom) == (2, 0)
    assert len(verdict.redundant) == 3
    assert verdict.ok
    none = zw.diagnose(planar({}), state(1, 2, 3, 4))
    assert (none.rank, none.degrees_of_freedom, none.ok) == (0, 2, True)
    assert str(none).startswith("plane: 2 coordinates, 0 constraints of rank 0, 2 degrees of freedom.")


def test_one_sided_rows():
    box = planar({"floor": y >= 0, "wall": x >= 0, "rail": x - y})
    away = zw.diagnose(box, state(1, 1, 0, 0))
    assert away.inactive == ("floor", "wall")
    assert away.rank == 1
    assert away.ok
    assert "not at its limit here: takes no part" in str(away)
    corner = zw.diagnose(box, state(0, 0, 0, 0))
    assert corner.inactive == ()
    assert (corner.rank, corner.degrees_of_freedom) == (2, 0)
    assert len(corner.redundant) == 1
    for beyond in (state(-1, -1, 0, 0), state(0, 0, -1, -1)):
        verdict = zw.diagnose(box, beyond)  # evaluate refuses such a state; the verdict names what is wrong with it
        assert verdict.violated == ("floor", "wall")
        assert not verdict.ok
    assert "one-sided" in str(away)


def test_uniqueness_of_single_multipliers():
    verdict = zw.diagnose(planar({"x": x, "y": y, "y again": 2 * y}), state(0, 0, 0, 0))
    assert verdict.unique_multipliers == {"x": True, "y": False, "y again": False}


def test_a_bad_scale_is_no_dependence():
    rows = {"small": 1e-9 * x + 1e-9 * y, "large": 1e9 * x - 1e9 * y}
    verdict = zw.diagnose(planar(rows), state(0, 0, 0, 0))
    assert verdict.rank == 2
    assert verdict.ok


def test_verdicts_are_repeatable():
    assert str(zw.diagnose(*cranks(0.4))) == str(zw.diagnose(*cranks(0.4)))


def test_errors_name_what_they_mean():
    with pytest.raises(InputError, match="diagnose takes one state"):
        zw.diagnose(planar({"rail": x}), state([0, 1], 0, 0, 0))
    with pytest.raises(InputError, match="does not say what y,"):
        zw.diagnose(planar({"rail": x}), {x: 0, xd: 0})
    with pytest.raises(InputError, match="x = nan is not finite"):
        zw.diagnose(planar({"rail": x}), state(np.nan, 0, 0, 0))
    with pytest.raises(InputError, match="the row of A of constraint 'root' is not finite"):
        zw.diagnose(planar({"root": sp.sqrt(x)}), state(0, 0, 0, 0))
    with pytest.raises(UndeterminedError, match="undetermined along y"):
        zw.diagnose(zw.System((x, y), mass=[[1, 0], [0, 0]], constraints={"rail": x}), state(0, 0, 0, 0))
    with pytest.raises(MassError, match="along"):
        zw.diagnose(zw.System((x, y), mass=[[1, 0], [0, -1]]), state(0, 0, 0, 0))


@pytest.mark.parametrize("angle", [1e-2, 1e-5, 1e-8])
def test_a_start_beside_a_singular_position_is_judged_by_the_terms_of_its_rows(angle):
    """Near x = 0 the row of x(x² + y² − 1) is short; what rounding leaves of its terms is not a violation."""
    x, y = zw.coordinates("x y")
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, constraints={"c": x * (x**2 + y**2 - 1)})
    s, c = np.sin(np.pi / 2 - angle), np.cos(np.pi / 2 - angle)
    assert not zw.diagnose(system, {x: c, y: s, zw.dot(x): 4 * s, zw.dot(y): -4 * c}).violated
    if angle > 1e-7:  # nearer by, the row allows every velocity to eight digits
        assert zw.diagnose(system, {x: c, y: s, zw.dot(x): 4 * s, zw.dot(y): 1}).violated == ("c",)


@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.0, 1.0), (1.0, -1.0)])
def test_a_row_that_is_rounding_beside_its_terms_has_rank_zero(velocity):
    # A line through a circle: where they meet, the gradient of the product is zero but for the rounding of √½.
    x, y = zw.coordinates("x y")
    system = zw.System(
        (x, y),
        kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2,
        potential=sp.Float(9.81) * y,
        constraints={"curve": (x**2 + y**2 - 1) * (y - x)},
    )
    start = dict(zip((x, y, zw.dot(x), zw.dot(y)), (np.sqrt(0.5), np.sqrt(0.5), *velocity), strict=True))
    verdict = zw.diagnose(system, start)
    assert (verdict.rank, verdict.generic_rank, verdict.singular) == (0, 1, True)
    assert np.abs(zw.evaluate(system, start).multipliers).max() < 1e3
    assert zw.simulate(system, start, 1.0, throw=False).status == "singular"


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_the_same_in_all_units(seed):
    """x = S x' and rows multiplied by R: what is redundant, contradictory or unique stays so."""
    draw = np.random.default_rng(seed)
    A = np.vstack([draw.integers(-4, 5, size=(3, 4)), np.zeros((3, 4))])
    A[3], A[4], A[5] = A[0] + 2 * A[1], A[1] - A[0], A[2]
    pull = np.array([1, 2, 3, 5, 1, 4])  # the last one contradicts the third

    def verdict(S, R):
        x = zw.coordinates("a b c d")
        own = sp.Matrix([zw.dot(each) * float(s) for each, s in zip(x, S, strict=True)])
        rows = {
            f"r{i}": float(R[i]) * (sum(float(A[i, j] * S[j]) * zw.dot(x[j]) for j in range(4)) - int(pull[i]) * zw.t)
            for i in range(6)
        }
        system = zw.System(x, kinetic=own.dot(own) / 2, constraints=rows)
        return zw.diagnose(system, dict.fromkeys([*x, *map(zw.dot, x)], 0.0))

    here = verdict(np.ones(4), np.ones(6))
    there = verdict(2.0 ** draw.integers(-40, 41, size=4), 2.0 ** draw.integers(-40, 41, size=6))
    assert here.rank == 3
    assert list(here.inconsistent) == ["r5"]
    for name in ("rank", "generic_rank", "redundant", "inconsistent", "unique_multipliers"):
        assert getattr(there, name) == getattr(here, name), name


def test_states_next_to_a_state_lie_on_its_tangent_or_anywhere_around_it():
    """Anywhere: time, each coordinate and each rate by a normal number of its own, of the size given, in units."""
    draw = np.random.default_rng(3)
    n, t = 400, 1.0
    q, v, inertia = draw.normal(size=n), draw.normal(size=n), draw.uniform(0.1, 10.0, n)
    tangent, noise, times = 0, [], []
    for size, (unit_q, unit_v), time, near_q, near_v in displaced(t, q, v, inertia):
        if np.array_equal(near_v, v / unit_v):
            tangent += 1
            np.testing.assert_allclose(near_q * unit_q, q + (time - t) * v, rtol=1e-12, atol=1e-12)
            assert np.abs(near_q - q / unit_q).max() == pytest.approx(size)
        else:
            times.append((time - t) / (size * (1 + t)))
            noise.append([(near_q - q / unit_q) / size, (near_v - v / unit_v) / size])
    assert tangent == 2 * len(noise) > 0
    found = np.array(noise)
    assert 0.5 < np.std(times) < 2
    assert np.abs(np.array(times)[:, None, None] - found).min() > 0
    assert np.abs(found.std(axis=-1) - 1).max() < 0.15
    assert np.abs(found.mean(axis=-1)).max() < 0.2
    assert np.abs(np.corrcoef(found.reshape(-1, n)) - np.eye(2 * len(noise))).max() < 0.25
