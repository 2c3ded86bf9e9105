"""Nonideal forces that depend on multipliers: friction of guides, journals and brakes against closed forms."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang.errors import InputError, ModelFileError, UndeterminedError
from zwang.motion.independent import compare_derivation

dot = zw.dot


def bead_on_hoop(mu, R=1.0, g=0.0):
    """A bead of unit mass on a rough hoop; the row is a unit normal, so that λ is the normal force."""
    x, y = zw.coordinates("x y")
    speed = (x * dot(y) - y * dot(x)) / R
    friction = mu * sp.Abs(zw.multiplier("hoop")) * sp.sign(speed)
    return zw.System(
        (x, y), kinetic=(dot(x)**2 + dot(y)**2)/2, potential=g*y,
        constraints={"hoop": (x**2 + y**2 - R**2)/(2*R)}, nonideal={x: friction*y/R, y: -friction*x/R},
    )  # fmt: skip


def rod_in_a_journal(mu_r, m=2.0, l=0.5, inertia=0.1, g=9.81):
    """A rod hinged at a journal whose friction is μ r times the length of the force in it."""
    x, y, a = zw.coordinates("x y a")
    force = sp.sqrt(zw.multiplier("pin.x") ** 2 + zw.multiplier("pin.y") ** 2)
    return zw.System(
        (x, y, a), kinetic=m*(dot(x)**2 + dot(y)**2)/2 + inertia*dot(a)**2/2, potential=m*g*y,
        constraints={"pin.x": x - l*sp.sin(a), "pin.y": y + l*sp.cos(a)},
        nonideal={a: -mu_r*force*sp.sign(dot(a))},
    )  # fmt: skip


def rod_start(a, w, l=0.5):
    x, y, angle = zw.coordinates("x y a")
    return {
        x: l * np.sin(a), y: -l * np.cos(a), angle: a,
        dot(x): l * w * np.cos(a), dot(y): l * w * np.sin(a), dot(angle): w,
    }  # fmt: skip


def test_j1_a_bead_on_a_rough_turning_wire():
    # r'' + 2μωr' − ω²r = 0; numbers of 40 digits. At the start nothing rubs, for nothing slides.
    r, phi = zw.coordinates("r phi")
    push = sp.Abs(zw.multiplier("turn")) / r
    wire = zw.System((r, phi), kinetic=(dot(r)**2 + r**2*dot(phi)**2)/2, constraints={"turn": phi - 2*zw.t},
                     nonideal={r: -0.3*push*sp.sign(dot(r))})  # fmt: skip
    motion = zw.simulate(wire, {r: 0.1, phi: 0, dot(r): 0, dot(phi): 2}, 2.0, times=[1.0])
    assert motion.q.values[:, 0] == pytest.approx([0.28747458117379401949, 1.2625141527526744195], rel=1e-12)
    assert motion.v.values[:, 0] == pytest.approx([0.41765909761057117456, 1.8780101177298441979], rel=1e-12)
    assert motion.attrs["doubts"] == ""


def test_j2_a_bead_on_a_rough_hoop():
    # v = v₀/(1 + μ v₀ t/R)
    hoop, (x, y) = bead_on_hoop(0.25, R=0.5), zw.coordinates("x y")
    motion = zw.simulate(hoop, {x: 0.5, y: 0, dot(x): 0, dot(y): 2}, 3.0)
    assert np.hypot(*motion.v.values[-1]) == pytest.approx(0.5, rel=1e-11)
    angle = 5.5451774444795624753
    assert motion.q.values[-1] == pytest.approx([0.5 * np.cos(angle), 0.5 * np.sin(angle)], abs=1e-11)
    # all the work is that of friction, and the ledger closes
    assert motion.nonideal_power.values == pytest.approx(motion.constraint_power.values, rel=1e-11)
    assert motion.nonideal_power.values[0] == pytest.approx(-0.25 * 8.0 * 2.0, rel=1e-13)
    assert motion.kinetic.values[-1] == pytest.approx(0.125, rel=1e-11)


@pytest.mark.parametrize("v0", [4.0, 7.0])
def test_the_sign_of_a_multiplier_changes_on_the_way(v0):
    # φ'' = −g sin φ − μ|φ'² + g cos φ| sign φ': the bead presses outwards, then inwards, stops and comes back
    mu, g, (x, y) = 0.1, 9.81, zw.coordinates("x y")
    hoop = bead_on_hoop(mu, g=g)
    motion = zw.simulate(hoop, {x: 0, y: -1, dot(x): v0, dot(y): 0}, 0.9)

    def rate(t, u):
        return [u[1], -g * np.sin(u[0]) - mu * abs(u[1] ** 2 + g * np.cos(u[0])) * np.sign(u[1])]

    def crossings(t, u):
        return u[1] * (u[1] ** 2 + g * np.cos(u[0]))

    crossings.terminal = True
    u, t = np.array([0.0, v0]), 0.0
    while t < 0.9:  # piece by piece, so that every piece is smooth
        found = solve_ivp(rate, (t, 0.9), u, "DOP853", rtol=1e-13, atol=1e-14, events=crossings)
        t, u = found.t[-1], found.y[:, -1]
        if t < 0.9:
            step = solve_ivp(rate, (t, t + 1e-7), u, "DOP853", rtol=1e-13, atol=1e-16)
            t, u = step.t[-1], step.y[:, -1]
    assert motion.q.values[-1] == pytest.approx([np.sin(u[0]), -np.cos(u[0])], abs=1e-10)
    assert motion.attrs["doubts"] == ""
    assert motion.status == "finished"
    assert compare_derivation(hoop, motion).error < 1e-11


def pendulum_in_its_angle(mu_r, a0, w0, until, m=2.0, l=0.5, inertia=0.1, g=9.81):
    """The same by one angle: the force in the journal is found by iteration at every state."""

    def rate(t, u):
        a, w = u
        moment = 0.0
        for _ in range(60):
            acceleration = (-m * g * l * np.sin(a) - moment) / (inertia + m * l**2)
            radial, across = m * (l * w**2 + g * np.cos(a)), m * (l * acceleration + g * np.sin(a))
            moment = mu_r * np.hypot(radial, across) * np.sign(w)
        return [w, (-m * g * l * np.sin(a) - moment) / (inertia + m * l**2)]

    return solve_ivp(rate, (0, until), [a0, w0], "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


@pytest.mark.parametrize("mu_r", [0.002, 0.05])
def test_friction_of_a_journal_depends_on_the_length_of_its_force(mu_r):
    system = rod_in_a_journal(mu_r)
    motion = zw.simulate(system, rod_start(0.3, 3.0), 0.3)
    found = [motion.q.values[-1, 2], motion.v.values[-1, 2]]
    assert found == pytest.approx(list(pendulum_in_its_angle(mu_r, 0.3, 3.0, 0.3)), rel=1e-11)
    assert motion.attrs["doubts"] == ""
    lam = motion.multiplier.values[-1]
    assert motion.nonideal_power.values[-1] == pytest.approx(-mu_r * np.hypot(*lam) * abs(found[1]), rel=1e-10)
    assert compare_derivation(system, motion).error < 1e-11


def test_an_unloaded_journal_has_no_friction():
    system = rod_in_a_journal(0.05, g=0.0)
    motion = zw.simulate(system, rod_start(0.3, 0.0), 1.0, samples=3)
    assert np.abs(motion.a.values).max() == 0.0


def brake(mu, sense):
    """A lever brake on a drum; the shoe is pressed on by a force at the lever's end, which friction helps or not."""
    drum, lever = zw.coordinates("drum lever")
    N = sp.Abs(zw.multiplier("shoe"))
    return zw.System(
        (drum, lever), kinetic=0.1*dot(drum)**2/2 + 0.01*dot(lever)**2/2, forces={lever: 50*0.4},
        constraints={"shoe": 0.2*lever},
        nonideal={drum: -mu*0.15*N*sp.sign(dot(drum)), lever: sense*mu*0.05*N*sp.sign(dot(drum))},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sense", "normal", "stops", "angle"), [(1, 1000 / 9, 0.45, 6.75), (-1, 1000 / 11, 0.55, 8.25)]
)
def test_j3_a_brake_with_a_leading_and_a_trailing_shoe(sense, normal, stops, angle):
    drum, lever = zw.coordinates("drum lever")
    motion = zw.simulate(brake(0.4, sense), {drum: 0, lever: 0, dot(drum): 30, dot(lever): 0}, 1.0,
                         events=[zw.Event(dot(drum), "stopped", stop=True)])  # fmt: skip
    assert motion.time.values[-1] == pytest.approx(stops, rel=1e-12)
    assert motion.q.values[-1, 0] == pytest.approx(angle, rel=1e-12)
    assert np.abs(motion.multiplier.values[:-1]) == pytest.approx(normal, rel=1e-12)


def test_j3_a_brake_that_locks_itself_is_refused_by_name():
    drum, lever = zw.coordinates("drum lever")
    start = {drum: 0, lever: 0, dot(drum): 30, dot(lever): 0}
    for ask in (lambda: zw.evaluate(brake(4.5, 1), start), lambda: zw.simulate(brake(4.5, 1), start, 1.0)):
        with pytest.raises(UndeterminedError, match="Painlevé"):
            ask()
    assert zw.evaluate(brake(3.9, 1), start).multipliers == pytest.approx(-20 / (0.2 - 3.9 * 0.05), rel=1e-12)


@pytest.mark.parametrize(
    ("n", "ratio"), [(2, 3.4489795918367346939), (4, 2.7163182232701406488), (16, 2.5748538567048193874)]
)
def test_j4_a_belt_over_the_corners_of_a_drum(n, ratio):
    # Euler 1769: ((cos δ/2 + μ sin δ/2)/(cos δ/2 − μ sin δ/2))ⁿ with δ = π/n
    u, w = zw.coordinates(" ".join(f"u{k}" for k in range(n))), zw.coordinates(" ".join(f"w{k}" for k in range(n)))
    c, s, mu, pull = np.cos(np.pi / n / 2), np.sin(np.pi / n / 2), 0.3, 7.0
    rows = {f"N{k}": w[k] for k in range(n)}
    rows |= {f"T{k}": (u[k + 1] - u[k]) * c + (w[k] + w[k + 1]) * s for k in range(n - 1)}
    rows["end"] = -u[-1] * c + w[-1] * s + 2 * zw.t * c
    belt = zw.System(
        (*u, *w), kinetic=sum(dot(q) ** 2 for q in (*u, *w)) / 2, forces={u[0]: -pull * c, w[0]: -pull * s},
        constraints=rows,
        nonideal={u[k]: -mu * sp.Abs(zw.multiplier(f"N{k}")) * sp.sign(dot(u[k])) for k in range(n)},
    )  # fmt: skip
    still = dict.fromkeys((*u, *w, *map(dot, w)), 0.0)
    now = zw.evaluate(belt, still | dict.fromkeys(map(dot, u), 2.0))
    assert -now.multipliers[-1] / pull == pytest.approx(ratio, rel=1e-12)


def test_many_such_forces_move_as_friction_of_contacts_does():
    # points in a row on a floor, joined by rods, the last one pulled on: both ways of saying the same
    n, mu = 16, 0.2
    x, y = (zw.coordinates(" ".join(f"{name}{k}" for k in range(n))) for name in "xy")
    energies = {"kinetic": sum(dot(q) ** 2 for q in (*x, *y)) / 2, "potential": 9.81 * sum(y)}
    rods = [zw.Constraint(x[k + 1] - x[k] - 1 + 0.1 * (y[k + 1] - y[k]), f"rod{k}") for k in range(n - 1)]
    rough = [zw.Constraint(y[k] >= 0, f"floor{k}", friction=mu, slip=dot(x[k])) for k in range(n)]
    plain = [zw.Constraint(y[k], f"floor{k}") for k in range(n)]
    rub = {x[k]: -mu * sp.Abs(zw.multiplier(f"floor{k}")) * sp.sign(dot(x[k])) for k in range(n)}
    pull = {x[-1]: 40 + 5 * sp.sin(zw.t), y[-1]: 2.0}
    start = dict.fromkeys((*y, *map(dot, y)), 0.0) | dict(zip(x, range(n), strict=True)) | {dot(q): 1.0 for q in x}
    force = zw.System((*x, *y), constraints=[*plain, *rods], forces=pull, nonideal=rub, **energies)
    contact = zw.System((*x, *y), constraints=[*rough, *rods], forces=pull, **energies)
    one, other = (zw.simulate(system, start, 0.5, samples=3) for system in (force, contact))
    assert one.q.values[-1] == pytest.approx(other.q.values[-1], abs=1e-11)
    assert one.multiplier.values[-1, :n] == pytest.approx(other.normal_force.values[-1], rel=1e-11)
    assert one.attrs["doubts"] == ""


def rod_on_a_rail(mu):
    """Painlevé's rod whose tip slides in a rail: the margin is 1 + 3 cos a (cos a − μ sin a) while it is pressed."""
    x, y, a = zw.coordinates("x y a")
    rub = -mu * sp.Abs(zw.multiplier("rail")) * sp.sign(dot(x - sp.cos(a)))
    return zw.System(
        (x, y, a), kinetic=(dot(x)**2 + dot(y)**2 + dot(a)**2/3)/2, potential=9.81*y,
        constraints={"rail": y - sp.sin(a)}, nonideal={x: rub, a: rub*sp.sin(a)},
    )  # fmt: skip


def rail_start(angle, w, speed):
    x, y, a = zw.coordinates("x y a")
    return {x: 0, y: np.sin(angle), a: angle, dot(x): speed - np.sin(angle) * w, dot(y): np.cos(angle) * w, dot(a): w}


@pytest.mark.parametrize("start", [rail_start(0.4, 1.0, -20.0), rail_start(0.3, 2.5, -20.0), rail_start(0.5, 4, -30.0)])
def test_a_motion_that_loses_its_solution_says_so(start):
    motion = zw.simulate(rod_on_a_rail(2.5), start, 1.0, throw=False)
    assert motion.status == "no solution"
    assert "'rail'" in motion.message
    assert "Painlevé" in motion.message
    a = motion.q.values[-1, 2]
    assert 1 + 3 * np.cos(a) * (np.cos(a) - 2.5 * np.sin(a)) < 0.1
    with pytest.raises(UndeterminedError, match="Painlevé"):
        zw.evaluate(rod_on_a_rail(2.5), rail_start(1.0, 1.0, -9.0))


def test_a_strong_dependence_that_steps_do_not_resolve_is_said():
    motion = zw.simulate(rod_in_a_journal(0.35), rod_start(0.3, 3.0), 0.02)
    assert "the multipliers that nonideal forces depend on are off" in motion.attrs["doubts"]
    found = [motion.q.values[-1, 2], motion.v.values[-1, 2]]
    assert found != pytest.approx(list(pendulum_in_its_angle(0.35, 0.3, 3.0, 0.02)), rel=1e-10)  # and it is so
    gentle = zw.simulate(rod_in_a_journal(0.05), rod_start(0.3, 3.0), 0.02)
    assert gentle.attrs["doubts"] == ""
    found = [gentle.q.values[-1, 2], gentle.v.values[-1, 2]]
    assert found == pytest.approx(list(pendulum_in_its_angle(0.05, 0.3, 3.0, 0.02)), rel=1e-10)


def test_redundant_constraints_are_refused_where_a_multiplier_is_not_unique():
    x, y, z = zw.coordinates("x y z")
    energy = (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2
    rub = {x: -0.1 * sp.Abs(zw.multiplier("floor")) * sp.sign(dot(x))}
    start = {x: 0, y: 0, z: 0, dot(x): 1, dot(y): 0, dot(z): 0}

    def system(rows):
        return zw.System((x, y, z), kinetic=energy, potential=9.81*y, constraints=rows, nonideal=rub)  # fmt: skip

    with pytest.raises(InputError, match=r"multiplier\('floor'\).*not unique"):
        zw.simulate(system({"floor": y, "again": 2 * y, "wall": z}), start, 0.1)
    alone, beside = (
        zw.simulate(system(rows), start, 0.1)
        for rows in ({"floor": y, "wall": z}, {"floor": y, "wall": z, "again": 3 * z})
    )
    assert beside.q.values[-1] == pytest.approx(alone.q.values[-1], rel=1e-13)


def test_sensitivities_are_those_of_differences():
    mu, (x, y) = zw.parameters("mu"), zw.coordinates("x y")
    hoop = bead_on_hoop(mu, g=9.81)
    start = {x: 0, y: -1, dot(x): 7.0, dot(y): 0}
    found = zw.sensitivities(hoop, start, 0.7, [mu], parameters={mu: 0.1})
    h = 1e-5
    ends = [zw.simulate(hoop, start, 0.7, parameters={mu: 0.1 + d}).q.values[-1] for d in (-2 * h, -h, h, 2 * h)]
    slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    assert found.dq.values[-1, :, 0] == pytest.approx(slope, rel=1e-7)


def test_many_motions_are_those_of_one():
    mu, (x, y) = zw.parameters("mu"), zw.coordinates("x y")
    hoop, start = bead_on_hoop(mu, g=9.81), {x: 0, y: -1, dot(x): 7.0, dot(y): 0}
    many = zw.simulate_many(hoop, start, 0.6, parameters={mu: np.array([0.05, 0.1, 0.2])}, samples=3)
    for i, value in enumerate((0.05, 0.1, 0.2)):
        one = zw.simulate(hoop, start, 0.6, parameters={mu: value}, samples=3)
        assert many.q.values[i, -1] == pytest.approx(one.q.values[-1], abs=1e-11)


@pytest.mark.parametrize("count", [2, 9])
def test_many_motions_say_which_of_them_lose_their_solution(count):
    """The same rod, smooth: Painlevé's in a rail that is never left; where it slides slowly it has a solution."""
    x, y, a = zw.coordinates("x y a")
    rub = -2.5 * zw.multiplier("rail") * sp.tanh(50 * dot(x - sp.cos(a)))
    rod = zw.System(
        (x, y, a), kinetic=(dot(x)**2 + dot(y)**2 + dot(a)**2/3)/2, potential=9.81*y,
        constraints={"rail": y - sp.sin(a)}, nonideal={x: rub, a: rub*sp.sin(a)},
    )  # fmt: skip
    kinds = [rail_start(0.4, 1.0, -20.0), rail_start(0.4, 0.1, 20.0)]
    starts = {key: np.array([float(kinds[i % 2][key]) for i in range(count)]) for key in kinds[0]}
    asked = {"until": 0.2, "samples": 3, "tol": 1e-8, "events": [zw.Event(x + 1, "there")]}
    many = zw.simulate_many(rod, starts, **asked)
    alone = [zw.simulate(rod, start, throw=False, **asked) for start in kinds]
    assert [motion.status for motion in alone] == ["no solution", "finished"]
    assert many.status.values.tolist() == [alone[i % 2].status for i in range(count)]
    assert (many.event_time.values[::2, 0] == alone[0].event_time.values[0]).all()


@pytest.mark.parametrize("options", [{"drift": "baumgarte"}, {"drift": "projection"}, {"form": "lagrange"}])
def test_other_ways_give_the_same_motion(options):
    system, start = rod_in_a_journal(0.02), rod_start(0.3, 3.0)
    plain = zw.simulate(system, start, 0.3, samples=3)
    other = zw.simulate(system, start, 0.3, samples=3, **options)
    assert other.q.values[-1] == pytest.approx(plain.q.values[-1], rel=1e-9)
    assert other.attrs["doubts"] == ""


def test_what_does_not_know_such_forces_refuses_them_by_name():
    system, (x, y) = bead_on_hoop(0.2, g=9.81), zw.coordinates("x y")
    start = {x: 0, y: -1, dot(x): 0, dot(y): 0}
    with pytest.raises(InputError, match=r"form='gibbs-appell' has no multipliers"):
        zw.simulate(system, start, 1.0, form="gibbs-appell")
    with pytest.raises(InputError, match=r"multiplier\('hoop'\)"):
        zw.linearize(system, start)
    sided = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[*system.constraints, zw.Constraint(x >= -2, "w")],
        nonideal=system.nonideal,
    )  # fmt: skip
    with pytest.raises(InputError, match=r"'w' is one-sided"):
        zw.evaluate(sided, start)


def test_equations_in_symbols_say_what_they_depend_on():
    equations = zw.derive(bead_on_hoop(sp.Rational(1, 4)))
    assert "'hoop', which solve" in equations.assumption
    assert r"\lambda_{\mathrm{hoop}}" in equations.latex()
    x, y = zw.coordinates("x y")
    now = zw.evaluate(bead_on_hoop(0.25), {x: 0, y: -1, dot(x): 2, dot(y): 0})
    put = {zw.multiplier("hoop"): now.multipliers[0], dot(x): 2, dot(y): 0, x: 0, y: -1}
    assert [float(e.subs(put)) for e in equations.acceleration()] == pytest.approx(now.acceleration.tolist())
    assert float(equations.multipliers()[0].subs(put)) == pytest.approx(now.multipliers[0])


def test_a_model_file_may_use_multipliers_in_nonideal_forces(tmp_path):
    text = """
[coordinates]
x = 0.5
y = { start = 0.0, rate = 2.0 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
[definitions]
speed = "(x*y' - y*x')/0.5"
[constraints]
'the hoop' = "x^2 + y^2 = 0.25"
[nonideal]
x = "0.25*abs(multiplier('the hoop'))*sign(speed)*2*y"
y = "-0.25*abs(multiplier('the hoop'))*sign(speed)*2*x"
[run]
until = 3.0
"""
    path = tmp_path / "hoop.toml"
    path.write_text(text)
    model = zw.load_model(path)
    motion = model.simulate()
    assert np.hypot(*motion.v.values[-1]) == pytest.approx(0.5, rel=1e-11)
    again = tmp_path / "again.toml"
    zw.save_model(model, again)
    assert zw.load_model(again).system == model.system
    path.write_text(text.replace("abs(multiplier('the hoop'))*sign(speed)*2*y", "multiplier(hop)*y"))
    with pytest.raises(ModelFileError, match="there is no constraint 'hop'"):
        zw.load_model(path)
    path.write_text(text.replace("(x'^2 + y'^2)/2", "(x'^2 + y'^2)/2 + multiplier('the hoop')"))
    with pytest.raises(ModelFileError, match=r"stands in \[nonideal\] and events only"):
        zw.load_model(path)
