"""The report's section on the joints of a mechanism: reactions, angles and travels, energies of bodies."""

import warnings

import numpy as np

from zwang.results.units import Units
from zwang.show.quantities import Curve, Panel
from zwang.show.report.figures import MOST_CURVES, SHOWN_AT_FIRST, Figure, Plots, curve_data, marks, tabbed, time_axis
from zwang.show.report.html import PageSection, paragraph
from zwang.show.report.subject import Subject


def joints_section(subject: Subject, plots: Plots) -> PageSection | None:
    """What the joints carry and how they move; None for a model without bodies."""
    mechanism = subject.model.mechanism
    if mechanism is None or subject.motion.sizes["time"] < 2:
        return None
    carried = mechanism.reactions(subject.motion)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it is said below
        moved = mechanism.coordinates(subject.motion)
    doubts = {str(moved[name].attrs["turns"]) for name in moved.data_vars if "turns" in moved[name].attrs}
    energies = mechanism.energies(subject.motion)
    unique = {str(name): bool(flag) for name, flag in zip(carried.joint.values, carried.unique.values, strict=True)}
    energy = subject.model.units.energy
    moment = Units(energy=energy, coordinates={"angle": "rad"}).force("angle")  # what lengths are in, nobody says
    reactions, motions = [], []
    for key, title, unit in (("force", "Forces", ""), ("moment", "Moments", moment)):
        size = np.linalg.norm(carried[key].values, axis=-1)
        curves = tuple(Curve(name, unit, size[None, :, i], flag) for i, (name, flag) in enumerate(unique.items()))
        reactions += drawn(subject, plots, f"joint_{key}", title, Panel(f"|{key}|", unit, curves))
    for name in (str(n) for n in moved.data_vars if not str(n).endswith("_rate")):
        values, unit = moved[name].values, "rad" if name == "angle" else ""
        curves = tuple(
            Curve(str(joint), unit, values[None, :, i])
            for i, joint in enumerate(moved.joint.values)
            if np.isfinite(values[:, i]).all()
        )
        motions += drawn(subject, plots, f"joint_{name}", f"{name.capitalize()}s", Panel(name, unit, curves))
    kinetic = energies.kinetic.values
    curves = tuple(Curve(str(body), energy, kinetic[None, :, i]) for i, body in enumerate(energies.body.values))
    motions += drawn(subject, plots, "body_kinetic", "Kinetic energies", Panel("kinetic energy", energy, curves))
    plots.figures.extend([*reactions, *motions])
    words = paragraph("The size of force and moment on the second body of each joint, about the joint. " + told(unique))
    body = [words, *([tabbed("Reactions", reactions)] if reactions else [])]
    body += [paragraph(f"Note: {doubt}.") for doubt in sorted(doubts)]
    body += [f"<h3>Angles, travels and energies</h3>\n{tabbed('Joint motion', motions)}"]
    return PageSection("joints", "Joints", "\n".join(body))


def told(unique: dict[str, bool]) -> str:
    """Which reactions are unique, in words."""
    several = [name for name, flag in unique.items() if not flag]
    if not several:
        return "All of them are unique."
    return (
        f"Not unique, because redundant conditions share them (dashed, the least of those that serve): "
        f"{', '.join(several)}."
    )


def drawn(subject: Subject, plots: Plots, key: str, title: str, panel: Panel) -> list[Figure]:
    """The plot of some curves over time; none without curves."""
    if not panel.curves:
        return []
    data = [
        curve_data(c, c.name, plots, logarithmic=False, hidden=i >= SHOWN_AT_FIRST)
        for i, c in enumerate(panel.curves[:MOST_CURVES])
    ]
    only = {"label": panel.label, "log": False, "curves": data}
    return [Figure(key, title, "", (only,), time_axis(subject), marks(subject))]
