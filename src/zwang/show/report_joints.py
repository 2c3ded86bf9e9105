"""The report's section on the joints of a mechanism: reactions, angles and travels, energies of bodies."""

from html import escape

import numpy as np
from numpy.typing import NDArray

from zwang.show.quantities import Curve
from zwang.show.report_figures import MOST_CURVES, SHOWN_AT_FIRST, Figure, Plots, curve_data, marks, tabbed
from zwang.show.report_html import Section, paragraph
from zwang.show.report_subject import Subject

Array = NDArray[np.float64]


def joints_section(subject: Subject, plots: Plots) -> Section | None:
    """What the joints carry and how they move; None for a model without bodies."""
    mechanism = subject.model.mechanism
    if mechanism is None or subject.motion.sizes["time"] < 2:
        return None
    carried = mechanism.reactions(subject.motion)
    moved = mechanism.coordinates(subject.motion)
    energies = mechanism.energies(subject.motion)
    unique = {str(name): bool(flag) for name, flag in zip(carried.joint.values, carried.unique.values, strict=True)}
    energy = subject.model.units.energy
    reactions, motions = [], []
    for key, title in (("force", "Forces"), ("moment", "Moments")):
        size = np.linalg.norm(carried[key].values, axis=-1)
        curves = [Curve(name, "", size[None, :, i], flag) for i, (name, flag) in enumerate(unique.items())]
        reactions += drawn(subject, plots, f"joint_{key}", title, f"|{key}|", curves)
    for name in (str(n) for n in moved.data_vars if not str(n).endswith("_rate")):
        values = moved[name].values
        curves = [
            Curve(str(joint), "", values[None, :, i])
            for i, joint in enumerate(moved.joint.values)
            if np.isfinite(values[:, i]).all()
        ]
        motions += drawn(subject, plots, f"joint_{name}", f"{name.capitalize()}s", name, curves)
    kinetic = energies.kinetic.values
    curves = [Curve(str(body), energy, kinetic[None, :, i]) for i, body in enumerate(energies.body.values)]
    label = f"kinetic energy ({energy})" if energy else "kinetic energy"
    motions += drawn(subject, plots, "body_kinetic", "Kinetic energies", label, curves)
    plots.figures.extend([*reactions, *motions])
    words = paragraph("The size of force and moment on the second body of each joint, about the joint. " + told(unique))
    body = [words, *([tabbed("Reactions", reactions)] if reactions else [])]
    body += [f"<h3>{escape('Angles, travels and energies')}</h3>\n{tabbed('Joint motion', motions)}"]
    return Section("joints", "Joints", "\n".join(body))


def told(unique: dict[str, bool]) -> str:
    """Which reactions are unique, in words."""
    several = [name for name, flag in unique.items() if not flag]
    if not several:
        return "All of them are unique."
    return (
        f"Not unique, because redundant conditions share them (dashed, the least of those that serve): "
        f"{', '.join(several)}."
    )


def drawn(subject: Subject, plots: Plots, key: str, title: str, label: str, curves: list[Curve]) -> list[Figure]:
    """The plot of some curves over time; none without curves."""
    if not curves:
        return []
    data = [
        curve_data(c, c.name, plots, logarithmic=False, hidden=i >= SHOWN_AT_FIRST)
        for i, c in enumerate(curves[:MOST_CURVES])
    ]
    unit = subject.unit("time")
    panel = {"label": label, "log": False, "curves": data}
    return [Figure(key, title, "", (panel,), f"t ({unit})" if unit else "t", marks(subject))]
