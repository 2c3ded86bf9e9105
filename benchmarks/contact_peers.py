"""Blocks that stick, rock, and stick and slip: zwang by events and by steps beside MuJoCo and Exudyn, in one table.

Below it a rag doll that falls, and piles of spheres that fall into a box, with and without friction, by steps: the time
of a step, penetration, and what is left of motion.

`python benchmarks/contact_peers.py` in an environment with `mujoco` and `exudyn` takes some minutes. The truth is in
closed forms, or in `tests/references/contact.json`. Times are processor time of the run, with everything compiled.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import zwang as zw
from tests.motion.contact.steps.piles import many_spheres, spheres
from tests.references import contact
from zwang import multibody as mb

G, STEP = 9.81, 1e-3
PILE_STEP, PILE_UNTIL = 2e-3, 2.0
X, Y = zw.coordinates("x y")
STOP = 2 / (G * (0.5 + 0.7 * np.sqrt(3) / 2))  # v²/(2a) of a block that is pushed up an incline of 30° with 2 m/s
FIRST_IMPACT, PERIOD = 0.41854866046210358, 8.9026054078145230  # of the rocking block, and of stick and slip


def timed(run, until):
    """What a run to some time gives, and its processor time; a short one compiles before."""
    run(20 * STEP)
    began = time.process_time()
    return run(until), time.process_time() - began


def by_zwang(**options):
    """Creep and stop of the block, first impact of the rocking block, period of stick and slip; each with its time."""
    system, pushed = contact.incline(0.7)
    still = dict.fromkeys(pushed, 0)
    creep, a = timed(lambda t: zw.simulate(system, still, t, samples=2, **options).q.values[-1, 0], 10.0)
    stop, b = timed(lambda t: zw.simulate(system, pushed, t, samples=2, **options).q.values[-1, 0], 1.0)
    block, start = contact.rocking_block()
    rock, c = timed(lambda t: zw.simulate(block, start, t, samples=2, **options), 1.0)
    hits = rock.transition_time.values[rock.transition_kind.values == "impact"]
    belt, begin = contact.belt((1, 0.5))
    slip, d = timed(lambda t: zw.simulate(belt, begin, t, samples=round(t / STEP) + 1, **options), 15.0)
    return (abs(creep), a), (abs(stop - STOP), b), (abs(hits[0] - FIRST_IMPACT), c), (abs(period_of(slip) - PERIOD), d)


def period_of(motion):
    """The time from one break of sticking to the next."""
    kinds = motion.transition_kind.values
    if (kinds == "slide").any():
        return float(np.diff(motion.transition_time.values[kinds == "slide"])[0])
    slides = motion["mode"].values[:, 0] == "sliding"
    breaks = motion.time.values[1:][slides[1:] & ~slides[:-1]]
    return breaks[1] - breaks[0]


def by_mujoco():
    """The same by MuJoCo; it has one coefficient of friction, so no stick and slip by two."""
    import mujoco

    option = f'<option timestep="{STEP}" cone="elliptic" integrator="implicitfast" gravity="{{}} 0 {{}}"/>'
    plane = '<geom type="plane" size="9 9 1" friction="{} 0 0"/>'
    box = """<body pos="0 0 {z}" {turn}><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>{hinge}
      <geom type="box" size="{a} 1 {c}" mass="1" friction="{mu} 0 0"/></body>"""

    def world(gravity, mu, **more):
        parts = option.format(*gravity), plane.format(mu), box.format(mu=mu, **more)
        text = "<mujoco>{}<worldbody>{}{}</worldbody></mujoco>".format(*parts)
        model = mujoco.MjModel.from_xml_string(text)
        return model, mujoco.MjData(model)

    def slid(speed, until):
        model, data = world((-G / 2, -G * np.sqrt(3) / 2), 0.7, z=0.1, a=0.1, c=0.1, turn="", hinge="")
        data.qvel[0] = speed
        for _ in range(round(until / STEP)):
            mujoco.mj_step(model, data)
        return data.qpos[0]

    def rocked(_):
        tilt, b, h = 0.1, 0.25, 1.0
        height = np.sin(tilt) * b + np.cos(tilt) * h
        hinge = '<joint type="hinge" axis="0 -1 0"/>'
        model, data = world((0, -G), 2, z=height, a=b, c=h, turn=f'euler="0 {-np.degrees(tilt)} 0"', hinge=hinge)
        for k in range(2000):
            mujoco.mj_step(model, data)
            if data.qpos[2] + tilt <= 0:
                return (k + 1) * STEP
        return np.nan

    creep, a = timed(lambda t: slid(0.0, t), 10.0)
    stop, b = timed(lambda t: slid(2.0, t), 1.0)
    rock, c = timed(rocked, 1.0)
    return (abs(creep), a), (abs(stop - STOP), b), (abs(rock - FIRST_IMPACT), c), None


def by_exudyn():
    """The same by Exudyn's spring and damper with friction; its normal force is given, so nothing rocks."""
    import exudyn as exu
    from exudyn.utilities import CoordinateSpringDamperExt, MarkerNodeCoordinate, Mass1D, Node1D, NodePointGround

    def slid(until, force, speed, friction):
        system = exu.SystemContainer()
        mbs = system.AddSystem()
        ground = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
        node = mbs.AddNode(Node1D(referenceCoordinates=[0], initialCoordinates=[0], initialVelocities=[speed]))
        mbs.AddObject(Mass1D(nodeNumber=node, physicsMass=1))
        point = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=0))
        laws = {"stiffness": 0, "damping": 0, "fDynamicFriction": friction, "frictionProportionalZone": 1e-3}
        mbs.AddObject(CoordinateSpringDamperExt(markerNumbers=[ground, point], **laws))
        if force:
            mbs.AddLoad(exu.utilities.LoadCoordinate(markerNumber=point, load=force))
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(until / STEP)
        settings.timeIntegration.endTime = until
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.displayStatistics = False
        mbs.SolveDynamic(settings)
        return mbs.GetNodeOutput(node, exu.OutputVariableType.Coordinates)

    held = 0.7 * G * np.sqrt(3) / 2
    creep, a = timed(lambda t: float(np.ravel(slid(t, -G / 2, 0.0, held))[0]), 10.0)
    stop, b = timed(lambda t: float(np.ravel(slid(t, -G / 2, 2.0, held))[0]), 1.0)
    return (abs(creep), a), (abs(stop - STOP), b), None, None


def pile(count, friction):
    """A pile of spheres, equal ones where nothing rubs: its system, its start, and the radii."""
    if not friction:
        return *many_spheres(count), np.full(count, 0.1), 0.2 * count ** (1 / 3) + 0.05
    system, start = spheres(count, 0, restitution=0.0, friction=friction)
    radii = np.random.default_rng(0).uniform(0.08, 0.12, count)  # the first that `spheres` draws
    return system, start, radii, 0.2 * count ** (1 / 3) + 0.05


def pile_by_zwang(count, until, friction):
    """Milliseconds a step, the deepest penetration and the kinetic energy at the end, of spheres that do not turn."""
    system, start, _, _ = pile(count, friction)
    options = {"contacts": "steps", "step": PILE_STEP, "samples": 2}
    motion, seconds = timed(lambda t: zw.simulate(system, start, t, **options), until)
    return 1e3 * seconds / (until / PILE_STEP), motion.attrs["penetration"], float(motion.kinetic[-1])


def pile_by_mujoco(count, until, friction):
    """The same by MuJoCo; the depth is that of its contacts at the end of steps."""
    import mujoco

    system, start, radii, wide = pile(count, friction)
    mass = 1000 * radii**3 if friction else np.ones(count)
    at, speed = (
        np.array([[start[zw.coordinates(f"{c}{k}") if friction else system.coordinates[3 * k + j]] if not v else
                   start[zw.dot(zw.coordinates(f"{c}{k}") if friction else system.coordinates[3 * k + j])]
                   for j, c in enumerate("xyz")] for k in range(count)])
        for v in (False, True)
    )  # fmt: skip
    law = f'condim="{3 if friction else 1}" friction="{friction or 1} 0 0" solref="0.004 1"'
    walls = [((-wide, 0, 0), "0 90 0"), ((wide, 0, 0), "0 -90 0"), ((0, -wide, 0), "-90 0 0"), ((0, wide, 0), "90 0 0")]
    planes = "".join(
        f'<geom type="plane" size="9 9 1" pos="{x} {y} {z}" euler="{turn}" {law}/>'
        for (x, y, z), turn in [((0, 0, 0), "0 0 0"), *walls]
    )
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(
        f'<body pos="{x} {y} {z}">{slides}<geom type="sphere" size="{r}" mass="{m}" {law}/></body>'
        for (x, y, z), r, m in zip(at, radii, mass, strict=True)
    )
    option = f'<option timestep="{PILE_STEP}" cone="elliptic" integrator="implicitfast" gravity="0 0 -9.81"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{planes}{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qvel[:] = speed.ravel()
    seconds, deepest = stepped(model, data, until, PILE_STEP)
    return 1e3 * seconds / (until / PILE_STEP), deepest, 0.5 * float(np.repeat(mass, 3) @ data.qvel**2)


def stepped(model, data, until, step):
    """Processor time of MuJoCo's steps, and the deepest penetration at the end of one."""
    import mujoco

    deepest, began = 0.0, time.process_time()
    for _ in range(round(until / step)):
        mujoco.mj_step(model, data)
        deepest = max(deepest, -float(data.contact.dist.min(initial=0.0)))
    return time.process_time() - began, deepest


LIMBS = ((-0.15, -0.3), (0.15, -0.3), (-0.25, 0.2), (0.25, 0.2))  # where they are fixed to the trunk, x and z


def doll_by_zwang():
    """A trunk, four limbs of two bodies each, ball joints, hinges with stops, points that rub on the floor."""
    thrown = {"velocity": (0.3, 0.1, 0)}
    bodies = [mb.Body("trunk", 20, [0.5, 0.5, 0.15], position=(0, 0, 1.2), **thrown)]
    floor = {"normal": (0, 0, 1), "friction": 0.5}
    parts = [mb.Contact("trunk floor", mb.ground, bodies[0], corners=[(0, 0, -0.3), (0, 0, 0.3)], **floor)]
    for n, (x, z) in enumerate(LIMBS):
        top = 1.2 + z
        upper = mb.Body(f"upper{n}", 3, [0.03, 0.03, 0.003], position=(x, 0, top - 0.175), **thrown)
        lower = mb.Body(f"lower{n}", 2, [0.015, 0.015, 0.001], position=(x, 0, top - 0.52), **thrown)
        hinge = mb.Revolute(f"hinge{n}", upper, lower, at=(x, 0, top - 0.37), axis=(0, 1, 0))
        bodies += [upper, lower]
        parts += [
            mb.Spherical(f"ball{n}", bodies[0], upper, at=(x, 0, top)),
            hinge,
            mb.Stop(f"stop{n}", hinge, lower=-0.1, upper=2.0),
            mb.Contact(f"upper floor{n}", mb.ground, upper, corners=[(0, 0, -0.175)], **floor),
            mb.Contact(f"lower floor{n}", mb.ground, lower, corners=[(0, 0, -0.15)], **floor),
        ]
    doll = mb.Mechanism(bodies, parts, [mb.Gravity((0, 0, -G))])
    motion, seconds = timed(lambda t: zw.simulate(doll, until=t, samples=2, contacts="steps", step=STEP), PILE_UNTIL)
    return 1e3 * seconds / (PILE_UNTIL / STEP), motion.attrs["penetration"], float(motion.kinetic[-1])


def doll_by_mujoco():
    """The same by MuJoCo, its points as very small spheres."""
    import mujoco

    def point(z):
        return f'<geom type="sphere" size="1e-3" pos="0 0 {z}" mass="0"/>'

    limbs = "".join(
        f'''<body pos="{x} 0 {z}"><joint type="ball"/><inertial pos="0 0 -.175" mass="3" diaginertia=".03 .03 .003"/>
          {point(-0.35)}<body pos="0 0 -.37"><joint type="hinge" axis="0 1 0" limited="true" range="-.1 2"/>
          <inertial pos="0 0 -.15" mass="2" diaginertia=".015 .015 .001"/>{point(-0.3)}</body></body>'''
        for x, z in LIMBS
    )
    model = mujoco.MjModel.from_xml_string(
        f'''<mujoco><compiler angle="radian"/>
        <option timestep="{STEP}" cone="elliptic" integrator="implicitfast" gravity="0 0 -{G}"/>
        <default><geom contype="1" conaffinity="2" friction=".5 0 0"/></default><worldbody>
        <geom type="plane" size="9 9 1" contype="2" conaffinity="1"/><body pos="0 0 1.2"><freejoint/>
        <inertial pos="0 0 0" mass="20" diaginertia=".5 .5 .15"/>{point(-0.3)}{point(0.3)}{limbs}</body>
        </worldbody></mujoco>'''
    )
    data = mujoco.MjData(model)
    data.qvel[:2] = 0.3, 0.1
    seconds, deepest = stepped(model, data, PILE_UNTIL, STEP)
    mujoco.mj_energyVel(model, data)
    return 1e3 * seconds / (PILE_UNTIL / STEP), deepest, float(data.energy[1])


def many() -> None:
    """Print the table of what has many contacts."""
    print(f"\n| after {PILE_UNTIL:g} s | | a step | penetration | kinetic energy |")
    print("| --- | --- | --- | --- | --- |")
    cases = [("rag doll of 9 bodies", doll_by_zwang, doll_by_mujoco)]
    for count, friction in ((50, 0.0), (200, 0.0), (50, 0.4)):
        words = f"{count} spheres" + (f", μ = {friction:g}" if friction else "")
        runs = [lambda run=run, of=(count, PILE_UNTIL, friction): run(*of) for run in (pile_by_zwang, pile_by_mujoco)]
        cases.append((words, *runs))
    for words, *runs in cases:
        for name, run in zip(("zwang", "MuJoCo"), runs, strict=True):
            try:
                each, deep, energy = run()
                cells = f"{each:.2g} ms | {deep:.1e} | {energy:.1e}"
            except ImportError:
                cells = "not installed | | "
            print(f"| {words} | {name} | {cells} |", flush=True)


def main() -> None:
    """Print the tables."""
    rows = {
        "zwang, events": lambda: by_zwang(),
        f"zwang, steps of {STEP:g}": lambda: by_zwang(contacts="steps", step=STEP),
        f"MuJoCo, steps of {STEP:g}": by_mujoco,
        f"Exudyn, steps of {STEP:g}": by_exudyn,
    }
    print("| | creep in 10 s | stop of the block | first impact of the rocking block | period of stick and slip |")
    print("| --- | --- | --- | --- | --- |")
    for name, run in rows.items():
        try:
            cells = [f"{cell[0]:.1e} ({1e3 * cell[1]:.0f} ms)" if cell else "—" for cell in run()]
        except ImportError:
            cells = ["not installed"] * 4
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    many()


if __name__ == "__main__":
    main()
