"""Robots as their users have them: files that are not quite possible, one for each way and mixtures of them.

All are spoilt from one arm: base –turn→ upper –swing→ lower –push→ hand, with a plate fixed to the base, a sensor fixed
to the upper arm and a tool fixed to the hand. `clean` is what a file means in words that every reader takes.
"""

from dataclasses import dataclass, field

Moments = tuple[float, float, float, float, float, float]  # ixx, iyy, izz, ixy, ixz, iyz

INERTIA: dict[str, tuple[float | None, Moments | None]] = {
    "plate": (0.5, (0.02, 0.03, 0.02, 0, 0, 0)),
    "upper": (2.0, (0.03, 0.04, 0.035, 0.002, -0.001, 0.003)),
    "sensor": (0.3, (0.002, 0.003, 0.002, 0.0002, 0, 0)),
    "lower": (1.5, (0.02, 0.03, 0.025, 0.001, 0.002, -0.001)),
    "hand": (0.8, (0.01, 0.012, 0.009, 0, 0.001, 0)),
    "tool": (0.4, (0.004, 0.005, 0.003, 0, 0, 0.0003)),
}
CENTRE = {"upper": "0.1 0.02 -0.2", "lower": "0.05 -0.03 -0.15", "hand": "0.02 0.01 -0.1", "tool": "0.03 0 0.05"}
AXIS = {"turn": "0 0.2 1", "swing": "0.1 1 0", "push": "0.3 0 -1"}


def joint(name: str, kind: str, parent: str, child: str, xyz: str = "0.1 0.05 -0.3", axis: str = "", rest: str = ""):
    axis = f'<axis xyz="{axis}"/>' if axis else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="0.2 -0.1 0.3"/>{axis}{rest}</joint>'
    )


JOINTS = {
    "plate_weld": joint("plate_weld", "fixed", "base", "plate"),
    "turn": joint("turn", "continuous", "base", "upper", "0 0 0.2", AXIS["turn"]),
    "sensor_weld": joint("sensor_weld", "fixed", "upper", "sensor", "0.02 0.1 0"),
    "swing": joint("swing", "continuous", "upper", "lower", axis=AXIS["swing"]),
    "push": joint("push", "prismatic", "lower", "hand", axis=AXIS["push"], rest='<limit effort="9" velocity="9"/>'),
    "tool_weld": joint("tool_weld", "fixed", "hand", "tool", "0 0.02 -0.1"),
}


def link(name: str, mass: float | None, moments: Moments | None) -> str:
    if mass is None and moments is None:
        return f'<link name="{name}"/>'
    origin = f'<origin xyz="{CENTRE.get(name, "0.01 0.02 0.03")}" rpy="0.3 0.1 -0.2"/>'
    weight = "" if mass is None else f'<mass value="{mass!r}"/>'
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    inertia = " ".join(f'{key}="{x!r}"' for key, x in zip(keys, moments or (0.0,) * 6, strict=True))
    return f'<link name="{name}"><inertial>{origin}{weight}<inertia {inertia}/></inertial></link>'


def arm(
    change: dict[str, tuple[float | None, Moments | None] | None] | None = None,
    joints: dict[str, str | None] | None = None,
) -> str:
    """The arm with links and joints added, changed, or (None) taken away."""
    links = {"base": (None, None), **INERTIA, **(change or {})}
    held = {**JOINTS, **(joints or {})}
    parts = [link(name, *value) for name, value in links.items() if value is not None]
    return "\n".join(['<robot name="sloppy">', *parts, *(j for j in held.values() if j is not None), "</robot>"])


@dataclass(frozen=True)
class Sloppy:
    """A file, words of its warnings in order, what it means cleanly if readers differ, and whether its base floats."""

    text: str
    warnings: tuple[tuple[str, ...], ...] = ()
    clean: str | None = None
    floating: bool = False
    ignored: tuple[str, ...] = ()
    held: tuple[str, ...] = field(default=())  # joints that the file has and nothing determines


FLAT: Moments = (0.001, 0.001, 0.01, 0, 0, 0)
THIN = '<mass value="1.5"/><inertia ixx="0.001" iyy="0.001" izz="-1e-13" ixy="0" ixz="0" iyz="0"/>'
ONES: Moments = (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6)
NEGATIVE: Moments = (-0.003, 0.02, 0.02, 0, 0, 0)
NO_AXIS = joint("tool_weld", "fixed", "hand", "tool", "0 0.02 -0.1", "0 0 0")
TAIL = joint("wag", "continuous", "hand", "tail", axis="1 0 0")
TIP = joint("nod", "continuous", "tail", "tip", axis="0 1 0")
NOTHING = (None, None)
TWIN = joint("roll", "continuous", "lower", "wheel", axis="0 0 1")
WHEEL = (0.7, (0.01, 0.01, 0.015, 0, 0, 0))
FOLLOW = '<mimic joint="{}" multiplier="2" offset="0.1"/>'
BARE = arm({"lower": NOTHING})
ODD = "cannot belong to a body"
GROUND = "fixed to the ground, where they do not matter"

SLOPPY: dict[str, Sloppy] = {
    "triangle, moving": Sloppy(arm({"lower": (1.5, FLAT)}), (("'lower'", "0.001, 0.001, 0.01", ODD, "as they are"),)),
    "triangle, with what is fixed to it": Sloppy(
        arm({"hand": (0.8, FLAT)}), (("'hand'", ODD, "with 'tool'", "mass 1.2"), ("'hand'", ODD, "taken as they are"))
    ),
    "triangle, fixed to a link": Sloppy(arm({"tool": (0.4, FLAT)}), (("'tool'", ODD, "fixed to 'hand'"),)),
    "triangle, fixed to the ground": Sloppy(arm({"plate": (0.5, FLAT)}), (("'plate'", ODD, GROUND),)),
    "negative by rounding, moving": Sloppy(
        arm({"lower": None}).replace("<joint", f'<link name="lower"><inertial>{THIN}</inertial></link><joint', 1),
        (("'lower'", "-1e-13 is rounding"),),
    ),
    "negative by rounding, all tiny": Sloppy(
        arm({"lower": (1.5, (-1e-20, 1e-21, 2e-20, 0, 0, 0))}), (("'lower'", "-1e-20 is rounding"), ("'lower'", ODD))
    ),
    "negative by rounding, fixed to a link": Sloppy(arm({"tool": (0.4, ONES)}), (("'tool'", ODD, "fixed to 'hand'"),)),
    "negative by rounding, fixed to the ground": Sloppy(arm({"plate": (1e-6, ONES)}), (("'plate'", ODD, GROUND),)),
    "negative, moving": Sloppy(arm({"lower": (1.5, NEGATIVE)}), (("'lower'", "-0.003", "from 'upper'", "'swing'"),)),
    "negative, on a hinge to the ground": Sloppy(
        arm({"upper": (2.0, NEGATIVE), "sensor": None}, {"sensor_weld": None}),
        (("'upper'", "-0.003", "'turn' holds the rest"),),
    ),
    "negative, on a slide": Sloppy(
        arm({"hand": (0.8, NEGATIVE), "tool": None}, {"tool_weld": None}),
        (("'hand'", "-0.003", "across joint 'push'"),),
    ),
    "negative, and the parent has no moments to give": Sloppy(
        arm(
            {"upper": (2.0, (1e-3,) * 3 + (0.0,) * 3), "sensor": None, "lower": (1.5, NEGATIVE)}, {"sensor_weld": None}
        ),
        (("'lower'", "-0.003", "from 'upper'", "'swing'"), ("'upper'", "'turn' holds the rest")),
    ),
    "negative about its own hinge, with its mass beside that": Sloppy(
        arm({"lower": (1.5, (0.02, -0.005, 0.02, 0, 0, 0))}),
        (("'lower'", "-0.005", "a mass of", "on the axis", "from 'upper'", "'swing'"),),
    ),
    "negative about the hinge to the ground, with its mass beside that": Sloppy(
        arm({"upper": (2.0, (0.02, 0.02, -0.005, 0, 0, 0)), "sensor": None}, {"sensor_weld": None}),
        (("'upper'", "-0.005", "'turn' holds the rest"),),
    ),
    "negative, fixed to a link": Sloppy(arm({"tool": (0.4, (-0.003, 0.005, 0.005, 0, 0, 0))}), (("'tool'", "-0.003"),)),
    "zero axis on a fixed joint": Sloppy(
        arm(joints={"tool_weld": NO_AXIS}),
        ignored=("joint 'tool_weld': its axis, which is zero: a fixed joint needs none",),
    ),
    "moments but no mass, fixed to a link": Sloppy(
        arm({"tool": (0.0, INERTIA["tool"][1])}), (("'tool'", "have no mass", "fixed to 'hand'"),)
    ),
    "moments but no mass, fixed to the ground": Sloppy(
        arm({"plate": (0.0, INERTIA["plate"][1])}), (("'plate'", "mass 0", GROUND),)
    ),
    "moments but no mass, moving": Sloppy(
        arm({"lower": (0.0, INERTIA["lower"][1])}), (("'lower'", "no mass", "taken as they are"),)
    ),
    "no mass between two joints": Sloppy(BARE, (("'lower'", "no mass", "'swing' and 'push' are joints in series"),)),
    "no mass, twice in a row": Sloppy(
        arm({"lower": NOTHING, "upper": NOTHING, "sensor": None}, {"sensor_weld": None}),
        (("'upper'", "'turn' and 'swing'"), ("'lower'", "'turn' and 'swing' and 'push'")),
    ),
    "no mass, and two hang on it": Sloppy(
        arm({"lower": NOTHING, "wheel": WHEEL}, {"roll": TWIN}), (("'lower'", "no mass", "taken as it is"),)
    ),
    "no mass at the end": Sloppy(
        arm({"tail": NOTHING}, {"wag": TAIL}), (("'tail'", "no mass", "'wag' held"),), arm(), held=("wag",)
    ),
    "no mass at the end, twice": Sloppy(
        arm({"tail": NOTHING, "tip": NOTHING}, {"wag": TAIL, "nod": TIP}),
        (("'tail'", "'wag' held"), ("'tip'", "'nod' held")),
        arm(),
        held=("wag", "nod"),
    ),
    "a follower without mass": Sloppy(
        arm({"tail": NOTHING}, {"wag": TAIL.replace("</joint>", FOLLOW.format("swing") + "</joint>")}),
        (("'tail'", "no mass", "taken as it is"),),
        arm(),
    ),
    "a leader without mass": Sloppy(
        arm(
            {"tail": NOTHING, "wheel": WHEEL},
            {"wag": TAIL, "roll": TWIN.replace("</joint>", FOLLOW.format("wag") + "</joint>")},
        ),
        (("'tail'", "no mass", "taken as it is"),),
        arm({"wheel": WHEEL}, {"roll": TWIN}),
    ),
    "a child that is missing": Sloppy(
        arm({"tool": None}), (("'tool_weld'", "its child 'tool'", "without mass"),), arm({"tool": NOTHING})
    ),
    "a parent that is missing": Sloppy(
        arm(joints={"world_weld": joint("world_weld", "fixed", "world", "base")}),
        (("'world_weld'", "its parent 'world'", "without mass"),),
        arm({"world": NOTHING}, {"world_weld": joint("world_weld", "fixed", "world", "base")}),
    ),
    "a link missing between two joints": Sloppy(
        arm({"lower": None}), (("'swing'", "its child 'lower'", "without mass"), ("'lower'", "joints in series")), BARE
    ),
    "a link that no joint names": Sloppy(arm({"spare": WHEEL}), (("'spare'", "no joint holds it"),), arm()),
    "a mass that is missing": Sloppy(
        arm({"lower": (None, (0.0,) * 6)}), (("'lower'", "its mass is missing"), ("'lower'", "series")), BARE
    ),
    "mimic tags that lead nowhere": Sloppy(
        arm(
            joints={
                "push": JOINTS["push"].replace("</joint>", FOLLOW.format("pull") + "</joint>"),
                "tool_weld": JOINTS["tool_weld"].replace("</joint>", FOLLOW.format("push") + "</joint>"),
            }
        ),
        (("'push'", "there is no joint 'pull'"), ("'tool_weld'", "it is fixed")),
        arm(),
    ),
    "a base that floats alone": Sloppy(
        '<robot name="brick">'
        + link("base", 1e-6, ONES)
        + link("brick", *WHEEL)
        + joint("weld", "fixed", "base", "brick", axis="0 0 0")
        + "</robot>",
        (("'base'", ODD, "with 'brick', which is fixed to it"),),
        floating=True,
    ),
    "mixture on the ground": Sloppy(
        arm({"plate": (0.5, FLAT), "tool": (0.4, ONES)}, {"tool_weld": NO_AXIS}),
        (("'plate'", GROUND), ("'tool'", "fixed to 'hand'")),
    ),
    "mixture of masses": Sloppy(
        arm({"lower": NOTHING, "hand": (0.8, FLAT), "tool": (0.0, ONES), "tail": NOTHING}, {"wag": TAIL}),
        (("'tail'", "held"), ("'lower'", "series"), ("'tool'", "have no mass"), ("'hand'", "taken as they are")),
        arm({"lower": NOTHING, "hand": (0.8, FLAT), "tool": (0.0, ONES)}),
        held=("wag",),
    ),
    "mixture of links": Sloppy(
        arm(
            {"tool": None, "spare": WHEEL, "upper": (2.0, FLAT)},
            {"sensor_weld": joint("sensor_weld", "fixed", "upper", "sensor", "0.02 0.1 0", "0 0 0")},
        ),
        (
            ("'tool'", "without mass"),
            ("'spare'", "left out"),
            ("'upper'", ODD, "with 'sensor'"),
        ),
        arm({"tool": NOTHING, "upper": (2.0, FLAT)}),
    ),
    "mixture, floating": Sloppy(
        arm({"base": (3.0, FLAT), "plate": (0.5, ONES), "lower": (1.5, NEGATIVE), "tail": NOTHING}, {"wag": TAIL}),
        (("'tail'", "held"), ("'plate'", "fixed to 'base'"), ("'lower'", "from 'upper'")),
        arm({"base": (3.0, FLAT), "plate": (0.5, ONES), "lower": (1.5, NEGATIVE)}),
        floating=True,
        held=("wag",),
    ),
}
