"""The report's section on contacts: a strip of their modes over time, and the table of transitions."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from zwang.show.colors import PAIRS
from zwang.show.modes import MODES, has_modes, stretches
from zwang.show.report.html import NOTHING, PageSection, badge, number, paragraph, table
from zwang.show.report.subject import Subject
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

MOST_TRANSITIONS = 60
NOTICED = 1e-9  # of the largest energy: what is less has no line in the account
WIDTH, HEIGHT, GAP, LABEL = 1000, 22, 8, 140
HEAD = ("When", "What", "Contact", "Impulse", "Energy lost", "Speed of the fastest coordinate before", "after")


def contacts_section(subject: Subject) -> PageSection | None:
    """What the contacts did; None where there are none."""
    if not has_modes(subject.motion):
        return None
    body = [paragraph("What each contact did at the saved instants."), strip(subject), transitions(subject)]
    body.append(account(subject))
    return PageSection("contacts", "Contacts", "\n".join(body))


def strip(subject: Subject) -> str:
    """A bar for each contact, coloured by its mode; impacts are marked."""
    motion = subject.motion
    times, names = motion.time.values, [str(name) for name in motion.contact.values]
    begin, end = float(times[0]), float(times[-1])
    place = (WIDTH - LABEL) / (end - begin)
    parts, used = list[str](), set[str]()
    for row, name in enumerate(names):
        y = row * (HEIGHT + GAP)
        parts.append(f'<text x="0" y="{y + 16}" fill="currentColor" font-size="14">{escape(name)}</text>')
        for mode, first, last in stretches(motion["mode"].values[:, row], times):
            used.add(mode)
            x, width = LABEL + (first - begin) * place, (last - first) * place
            parts.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{HEIGHT}" fill="{PAIRS[MODES[mode]][0]}">'
                f"<title>{escape(name)}: {mode}</title></rect>"
            )
    kinds, whose = motion.transition_kind.values, motion.transition_contact.values
    for when, kind, contact in zip(motion.transition_time.values, kinds, whose, strict=True):
        if kind == "impact" and str(contact) in names:
            x, y = LABEL + (float(when) - begin) * place, names.index(str(contact)) * (HEIGHT + GAP)
            parts.append(f'<line x1="{x:.2f}" x2="{x:.2f}" y1="{y - 2}" y2="{y + HEIGHT + 2}" stroke="currentColor"/>')
    height = len(names) * (HEIGHT + GAP)
    key = " ".join(
        f'<svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" fill="{PAIRS[MODES[mode]][0]}"/>'
        f"</svg> {mode}"
        for mode in MODES
        if mode in used
    )
    bars = f'<svg viewBox="0 -3 {WIDTH} {height + 3}" width="100%" role="img" aria-label="Modes of the contacts">'
    return f"{bars}{''.join(parts)}</svg>\n<p>{key}; impacts are strokes.</p>"


def transitions(subject: Subject) -> str:
    """The table, or its first lines where it is long."""
    motion = subject.motion
    total, energy, time = motion.sizes["transition"], subject.unit("energy"), subject.unit("time")
    if not total:
        return paragraph("No contact changed what it did.", "note")
    impulses = np.abs(motion.impulse.values).max(axis=1, initial=0.0)
    speeds = [np.abs(motion[name].values).max(axis=1, initial=0.0) for name in ("velocity_before", "velocity_after")]
    rows = [
        [
            number(float(motion.transition_time.values[k]), time, 9),
            badge(str(motion.transition_kind.values[k]), "note"),
            escape(str(motion.transition_contact.values[k])),
            number(float(impulses[k])) if impulses[k] else NOTHING,
            number(float(motion.energy_loss.values[k]), energy) if motion.energy_loss.values[k] else NOTHING,
            *(number(float(speed[k])) for speed in speeds),
        ]
        for k in range(min(total, MOST_TRANSITIONS))
    ]
    loss = float(motion.energy_loss.sum())
    lost = paragraph(f"All of them together take {plain(loss, energy)} out of the motion.") if loss else ""
    more = total - len(rows)
    note = paragraph(f"{count(more, 'transition')} more not shown; all are in the dataset.", "note") if more else ""
    return table("Transitions", HEAD, rows) + lost + note


def account(subject: Subject) -> str:
    """Where the energy went: its change from beginning to end, by what took or gave it."""
    motion, energy = subject.motion, subject.unit("energy")
    lost = float(motion.energy_loss.values[motion.transition_time.values > motion.time.values[0]].sum())
    change = float(motion.energy.values[-1] - motion.energy.values[0])
    left = float(motion.energy_balance.values[-1])
    whole = float(max(np.abs(motion.kinetic).max(), np.abs(motion.potential).max()))
    lines = {
        "energy at the end, less that at the start": change,
        "lost in impacts": -lost,
    } | works(motion, change + lost - left)
    kept = {words: value for words, value in lines.items() if value == change or abs(value) > NOTICED * whole}
    kept["balance: what the integrator erred by"] = left
    rows = [[escape(words), number(value, energy, 6)] for words, value in kept.items()]
    return table("Account of energy", ("What", "How much"), rows)


def works(motion: "xr.Dataset", rest: float) -> dict[str, float]:
    """What forces did from beginning to end, of which the rest is known without impacts: contacts, and all else.

    Steps tell of the work of contacts at the saved instants only.
    """
    if "friction_work" in motion:
        rubbed, driven = (float(motion[name].values[-1].sum()) for name in ("friction_work", "surface_work"))
        return {
            "work of friction between surfaces": rubbed,
            "work of surfaces that move": driven,
            "work of other forces": rest - rubbed - driven,
        }
    rubbed = float(np.trapezoid((motion.friction_force * motion.slip).sum("contact").values, motion.time.values))
    return {
        "work of friction between surfaces, by the saved instants": rubbed,
        "work of other forces, and of surfaces that move": rest - rubbed,
    }


def plain(value: float, unit: str) -> str:
    """A number in a sentence."""
    return f"{value:.6g} {unit}".strip()
