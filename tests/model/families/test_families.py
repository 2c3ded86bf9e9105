"""Families: what is described by a template and bindings is the system that is written out, member by member."""

import pickle

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import InputError, ModelError
from zwang.lowering.cache import Kept
from zwang.lowering.rolled import families as rolled_families
from zwang.model.families.array import CoordinateArray
from zwang.model.families.family import Family
from zwang.model.system import System
from zwang.model.time import coordinate
from zwang.model.values import state_arrays

m, g, L, k, c = zw.parameters("m g L k c")
a, b = zw.coordinates("a b", shape=3)
VALUES = {m: 2, g: 9.81, L: 1}


def grid_of_links(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the links of a square net."""
    number = np.arange(size * size).reshape(size, size)
    first = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    second = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    return first, second


def net(size: int) -> tuple[System, CoordinateArray, np.ndarray]:
    """A net of masses and links, its coordinates, and places at unit distances."""
    x = zw.coordinates("x", shape=(size * size, 3))
    i, j = grid_of_links(size)
    system = zw.System(
        x,
        kinetic=zw.family(m * (zw.dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(m * g * a[2], {a[2]: x[:, 2]}),
        constraints={"link": zw.family(((a - b) ** 2).sum() - L**2, {a: x[i], b: x[j]})},
        parameters=VALUES,
    )
    rows, columns = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    return system, x, np.stack([rows, columns, 0 * rows], axis=-1).reshape(-1, 3).astype(float)


def written_net(size: int) -> System:
    """The same, written out by hand."""
    x = [[sp.Function(f"x[{i},{k}]")(zw.t) for k in range(3)] for i in range(size * size)]
    i, j = grid_of_links(size)
    return zw.System(
        [q for point in x for q in point],
        kinetic=sp.Add(*[m * sum(zw.dot(q) ** 2 for q in point) / 2 for point in x]),
        potential=sp.Add(*[m * g * point[2] for point in x]),
        constraints={
            f"link[{n}]": sum((p - q) ** 2 for p, q in zip(x[s], x[e], strict=True)) - L**2
            for n, (s, e) in enumerate(zip(i, j, strict=True))
        },
        parameters=VALUES,
    )


def written(system: System) -> System:
    """A system with everything that it reads as, and no families."""
    made = zw.System(
        system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential,
        forces=list(system.forces),
        nonideal=list(system.nonideal),
        constraints={c.name: zw.Constraint(c.expression, one_sided=c.one_sided) for c in system.constraints},
        parameters=dict(system.parameters),
    )
    assert made.families is None
    return made


@pytest.fixture(params=["straight", "rolled"])
def lowered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of code."""
    if request.param == "rolled":
        monkeypatch.setattr(rolled_families, "ROLLED_FROM", 0)
        for module in ("zwang.lowering.matrices._KERNELS", "zwang.motion.setup._PROGRAMS", "zwang.motion.start._BASES"):
            monkeypatch.setattr(module, Kept())
    return str(request.param)


def same_motion(system: System, start: dict, until: float = 0.3) -> None:
    """A system and what it reads as have the same accelerations and the same motion."""
    other = written(system)
    q, v = state_arrays(system, start)
    plain = dict(zip([*other.coordinates, *other.velocities], np.concatenate([q, v]), strict=True))
    here, there = zw.evaluate(system, start), zw.evaluate(other, plain)
    scale = np.abs(there.acceleration).max()
    np.testing.assert_allclose(here.acceleration, there.acceleration, atol=1e-13 * scale, rtol=0)
    np.testing.assert_allclose(
        here.multipliers, there.multipliers, atol=1e-12 * np.abs(there.multipliers).max(initial=1)
    )
    motions = [zw.simulate(s, at, until=until, samples=3, tol=1e-11) for s, at in ((system, start), (other, plain))]
    for what in ("q", "v", "energy", "constraint_force"):
        np.testing.assert_allclose(motions[0][what], motions[1][what], atol=1e-8, rtol=1e-8)


def test_a_net_of_families_reads_as_the_net_written_out() -> None:
    system, plain = net(2)[0], written_net(2)
    assert system == plain
    assert hash(system) == hash(plain)
    assert system.kinetic == plain.kinetic
    assert system.constraints == plain.constraints
    assert system.constraint_names[:2] == ("link[0]", "link[1]")
    assert system.symbols == plain.symbols
    assert zw.derive(system).A == zw.derive(plain).A


def test_a_net_of_families_moves_as_the_net_written_out(lowered: str) -> None:
    system, x, places = net(3)
    rng = np.random.default_rng(1)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    same_motion(system, {x: places @ turn, zw.dot(x): 0.1 * np.cross(places, [0.0, 0.0, 1.0]) @ turn})


def test_families_of_every_place_move_as_what_they_read_as(lowered: str) -> None:
    x = zw.coordinates("x", shape=4)
    u, w = zw.coordinates("u w")
    y = zw.coordinates("y")
    F = sp.Function("F")(zw.t)
    system = zw.System(
        [x, y],
        kinetic=zw.family(k * zw.dot(u) ** 2 / 2, {u: x, k: [1, 2, 3, m]}) + m * zw.dot(y) ** 2 / 2,
        potential=zw.family(k * (u - w) ** 2 / 2, {u: x, w: [0.5, *x[:3]], k: [2.0, 3.0, 0, 5]}) + m * g * y,
        forces={
            x: zw.family(-c * zw.dot(u), {u: x}) + zw.family(F * k, {k: np.arange(4.0)}),
            x[1:3]: sp.Rational(1, 2),
            y: zw.family(-u * y, {u: x[:2]}),
        },
        nonideal={x[:2]: zw.family(-k * zw.dot(u) ** 3, {u: x[:2], k: [0.1, 0.2]})},
        constraints={"pair": zw.family(u + w**2 - k * zw.t, {u: x[:2], w: [y, x[3]], k: [0, 1]}), "one": x[2] - x[3]},
        parameters={m: 1.5, g: 9.81, c: 0.3, F: sp.sin(3 * zw.t)},
    )
    assert system.forces[4] == -(x[0] + x[1]) * y or sp.expand(system.forces[4] + (x[0] + x[1]) * y) == 0
    assert system.constraint_names == ("pair[0]", "pair[1]", "one")
    start = zw.assemble(system, {x: [-0.04, 0.1, 0.2, 0.2], y: 0.2})
    same_motion(system, start)


def test_what_is_bound_to_one_coordinate_is_one_coordinate(lowered: str) -> None:
    x = zw.coordinates("x", shape=3)
    u, w = zw.coordinates("u w")
    system = zw.System(
        x,
        kinetic=zw.family((zw.dot(u) + zw.dot(w) / 2) ** 2 / 2, {u: x, w: [x[0], x[0], x[2]]}),
        potential=zw.family((u - x[0]) ** 2 * (u + 1) / 2 + u**2, {u: x}),
        constraints={"tie": zw.family(u**2 + w**2 + x[0] - k, {u: x[1:], w: [x[1], x[0]], k: [2.5, 2.5]})},
    )
    here = zw.assemble(system, {x: [0.5, 1.0, 1.3]})
    same_motion(system, here)


def test_rates_and_accelerations_follow_what_is_bound(lowered: str) -> None:
    x = zw.coordinates("x", shape=3)
    u = zw.coordinates("u")
    system = zw.System(
        x,
        kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}),
        constraints={
            "speed": zw.family(zw.dot(u) - k, {u: x[:1], k: 2.0}),
            "push": zw.family(zw.dot(zw.dot(u)) - k * u, {u: x[1:2], k: 3}),
        },
    )
    assert [c.order for c in system.constraints] == [1, 2]
    assert system.constraints[0].kinds == written(system).constraints[0].kinds
    same_motion(system, {x: [0.0, 1.0, 2.0], zw.dot(x): [2.0, 0.0, 1.0]})


def test_one_sided_families_hold_at_their_limits() -> None:
    x = zw.coordinates("x", shape=2)
    u = zw.coordinates("u")
    system = zw.System(
        x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}), potential=zw.family(10 * u, {u: x}),
        constraints={"floor": zw.family(u >= k, {u: x, k: [0, 1]})},
    )  # fmt: skip
    assert all(c.one_sided for c in system.constraints)
    now = zw.evaluate(system, {x: [0.0, 2.0], zw.dot(x): 0.0})
    np.testing.assert_allclose(now.acceleration, [0.0, -10.0])  # one lies on its floor, one falls


def test_a_known_function_of_time_may_be_bound() -> None:
    x = zw.coordinates("x", shape=2)
    u, w = zw.coordinates("u w")
    drive = sp.Function("drive")(zw.t)
    system = zw.System(
        x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}),
        constraints={"follow": zw.family(u - w, {u: x, w: [drive, x[0]]})}, parameters={drive: sp.sin(zw.t)},
    )  # fmt: skip
    same_motion(system, {x: 0.0, zw.dot(x): 1.0})


def test_families_are_pickled_compared_and_shown() -> None:
    system, x, _ = net(4)
    again = pickle.loads(pickle.dumps(system))
    assert again == system
    assert again.structure == system.structure
    assert pickle.loads(pickle.dumps(system.constraints[3])) == system.constraints[3]
    link = zw.family(u_squared := a[0] ** 2, {a[0]: x[:, 0]})
    assert isinstance(link, Family)
    assert u_squared == link.template
    assert repr(link) == "<Family: a[0]**2, 16 times; a[0] = x[0,0], …>"
    assert "16 times" in repr(link + 1)
    assert (2 * link - link / 2).families[0].template == 2 * a[0] ** 2


def test_names_may_be_given_and_mix_with_others() -> None:
    x = zw.coordinates("x", shape=2)
    u = zw.coordinates("u")
    system = zw.System(
        x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}),
        constraints=[zw.family(u - k, {u: x, k: [1, 2]}, names=["left", "right"])],
    )  # fmt: skip
    assert system.constraint_names == ("left", "right")


def test_describing_makes_nothing_of_the_members() -> None:
    before = coordinate.cache_info().misses
    system, _, _ = net(30)
    assert len(system.coordinate_names) == 2700
    assert len(system.constraint_names) == 1740
    assert coordinate.cache_info().misses - before < 20


u, w = zw.coordinates("u w")
x3 = zw.coordinates("x", shape=3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: zw.family(u**2, {u: x3, w: x3}), r"family: w is bound, but does not occur in the template u\*\*2"),
        (lambda: zw.family(u * w, {u: x3, w: x3[:2]}), r"do not broadcast: u: \(3,\), w: \(2,\)"),
        (lambda: zw.family(u, {}), "there are no bindings"),
        (lambda: zw.family("u", {u: x3}), "'u' is text"),
        (lambda: zw.family(u, {u: "x"}), "is bound to 'x': give an array of coordinates or numbers"),
        (lambda: zw.family(u, {u: [x3[0] + 1]}), "a coordinate, a parameter or a number is meant"),
        (lambda: zw.family(u, {u: [1.0, np.nan]}), "is bound to nan, which is not finite"),
        (lambda: zw.family(u, {u: zw.dot(x3)}), "is bound to rates"),
        (lambda: zw.family(u + zw.t, {zw.t: x3}), "t is the time"),
        (lambda: zw.family(u, {u: x3[:0]}), "the bindings are empty"),
        (lambda: zw.family(u, {u: x3}, names=["one"]), "1 different names for 3 members"),
        (lambda: zw.family(a[0], {a: x3[:2]}), "the last axes must agree"),
        (lambda: zw.family(a[0] + u, {a: x3, a[0]: x3, u: x3}), r"a\[0\] is bound twice"),
        (lambda: u * zw.family(u, {u: x3}), "use another symbol"),
        (lambda: zw.coordinates("x", shape=0), "give a whole number of coordinates"),
        (lambda: zw.coordinates("x", shape=(2, 1.5)), "give a whole number of coordinates"),
        (lambda: zw.coordinates("", shape=2), "there is no name"),
        (lambda: zw.dot(zw.dot(zw.dot(x3))), "accelerations are the highest"),
    ],
)  # fmt: skip
def test_a_family_that_cannot_be_is_refused(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def system_with(**parts) -> System:
    return zw.System(x3, **({"kinetic": zw.family(zw.dot(u) ** 2, {u: x3})} | parts))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"potential": zw.family(u * w, {u: x3})}, r"potential: unknown symbol w\(t\)"),
        ({"potential": zw.family(u, {u: zw.coordinates("y", shape=2)})}, r"u is bound to y\[0\] and y\[1\]; the coord"),
        ({"potential": zw.family(zw.dot(u), {u: x3})}, "potential depends on"),
        ({"kinetic": zw.family(zw.dot(u) ** 3, {u: x3})}, "kinetic is not quadratic"),
        ({"kinetic": zw.family(zw.dot(u) ** 2, {u: x3[:2]})}, r"kinetic misses x\[2\]"),
        ({"kinetic": None}, "neither kinetic nor mass"),
        ({"kinetic": zw.family(u >= 0, {u: x3})}, "made of constraints, not of terms"),
        ({"constraints": {"c": zw.family(k, {k: [1, 2]})}}, r"constraint 'c\[0\]': .* contains no coordinate"),
        ({"constraints": {"c": zw.family(zw.dot(zw.dot(u)) ** 2, {u: x3})}}, "nonlinear in the accelerations"),
        ({"constraints": {"c": zw.family(u, {u: x3}), "c[1]": x3[0]}}, r"constraint 'c\[1\]' is given 2 times"),
        ({"constraints": {"c": zw.family(u, {u: x3}) + 1}}, "is a sum of families"),
        ({"forces": {x3: zw.family(u, {u: x3[:2]})}}, "a family of 2 forces is to act along 3 coordinates"),
        ({"forces": {w: zw.family(u, {u: x3})}}, r"forces: w\(t\): no such coordinate"),
        ({"forces": [1, 2]}, "2 entries for 3 coordinates"),
        ({"forces": {x3: zw.family(zw.dot(zw.dot(u)), {u: x3})}}, "accelerations are allowed in constraints only"),
        ({"potential": zw.family(1 / k, {k: [0, 1]})}, "which is not a real number"),
        ({"potential": zw.family(u * sp.Symbol("x[0]"), {u: x3})}, "it only looks like it"),
        ({"potential": zw.family(u, {u: [sp.Function("x[0]", real=True)(zw.t)]})}, "its assumptions differ"),
    ],
)
def test_a_system_of_families_that_cannot_be_is_refused(parts, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        system_with(**parts)


def test_coordinates_that_are_listed_twice_are_refused() -> None:
    with pytest.raises(ModelError, match=r"coordinate x\[0\] is listed 2 times"):
        zw.System([x3, x3[0]], kinetic=zw.family(zw.dot(u) ** 2, {u: x3}))


def test_states_take_arrays_of_coordinates_and_say_what_is_wrong() -> None:
    system = system_with()
    q, v = state_arrays(system, {x3: np.arange(6.0).reshape(2, 3), zw.dot(x3): 1.0})
    assert q.shape == v.shape == (2, 3)
    assert q[1, 2] == 5.0
    assert (v == 1).all()
    for wrong, said in (
        ({x3: [1.0, 2.0], zw.dot(x3): 0.0}, "the last axes must agree"),
        ({x3: 0.0, zw.dot(x3): 0.0, "x[1]": 2.0}, r"x\[1\] twice"),
        ({x3: 0.0}, r"does not say what dot\(x\[0\]\)"),
        ({x3: 0.0, zw.dot(x3): 0.0, zw.coordinates("y", shape=1): 0.0}, "not among the coordinates"),
    ):
        with pytest.raises(InputError, match=said):
            state_arrays(system, wrong)


def test_a_chain_of_fifty_thousand_links_is_described() -> None:
    x = zw.coordinates("x", shape=(50_001, 2))
    p, q = zw.coordinates("p q", shape=2)
    chain = zw.System(
        x, kinetic=zw.family((zw.dot(p) ** 2).sum() / 2, {p: x}),
        constraints={"link": zw.family(((p - q) ** 2).sum() - 1, {p: x[1:], q: x[:-1]})},
    )  # fmt: skip
    assert len(chain.coordinate_names) == 100_002


def test_a_constraint_with_its_law_is_not_a_template():
    u, x = zw.coordinates("u x")
    with pytest.raises(InputError, match=r"a Constraint is one row, with its law: give the rule, as in a >= 0"):
        zw.family(zw.Constraint(u >= 0, restitution=0.5), {u: [x]})
