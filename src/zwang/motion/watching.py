"""What is watched while an engine runs: events, contacts, the margin of nonideal forces, and switches."""

from zwang.engines.native.engine import compiled
from zwang.engines.task import EventTask, Status, Trajectory, altered
from zwang.lowering.implicit import all_linear
from zwang.lowering.rows import RowBasis
from zwang.model.signal import Lookup
from zwang.motion.setup import Setup
from zwang.motion.start import State
from zwang.words import listed

MARGIN_LOST = 1e-2  # a margin of nonideal forces that is no larger is on its way to zero, where steps become too small


def event_task(setup: Setup, basis: RowBasis, rests: bool = False) -> EventTask | None:
    """The events of a run on the rows chosen for it; with those of switches that may rest.

    Behind them come the contacts, the margin of nonideal forces and the switches of the model, which stop the run where
    they fall through zero (the margin where it is zero), and those of the events themselves.
    """
    events = setup.events
    gives_way = 2 * len(setup.may_rest) if rests else 0  # by their shares, and by their arguments
    falling = [*(setup.locked.rows if setup.locked else ()), *range(gives_way)]
    contacts, margins = range(watched_first(setup) - len(events)), range(setup.margins)
    more = (*contacts, *margins)
    if not events and not falling and not more:
        return None
    return EventTask.of(
        setup.watching(basis, rests),
        direction=(
            *(e.direction for e in events),
            *(-1 for _ in contacts),
            *(0 for _ in margins),
            *(-1 for _ in falling),
        ),
        stop=(*(e.stop or bool(e.reset) for e in events), *(True for _ in (*more, *falling))),
        signals=tuple(bool(e.expression.has(Lookup)) for e in events),
    )


def watched_first(setup: Setup) -> int:
    """How many functions are watched before the margin of nonideal forces: events and contacts."""
    return len(setup.events) + (setup.contact.watched if setup.contact else 0)


def with_solution(setup: Setup, basis: RowBasis, path: Trajectory, end: State) -> Trajectory:
    """A stretch, which ends by name where nonideal forces that depend on multipliers lose their solution.

    Their margin is zero there; or steps become too small before, as multipliers grow without bound.
    """
    which = watched_first(setup)
    fell = setup.margins and any(h.which == which for h in path.hits)
    if not fell and (not setup.margins or path.status not in (Status.STEP_TOO_SMALL, Status.NOT_FINITE)):
        return path
    watching = event_task(setup, basis)
    assert watching is not None
    margin = float(compiled(watching.program)(**setup.named(watching.program, end))["event"][which])
    linear = all_linear(setup.lowered)
    if not fell and (abs(margin) if linear else margin) > MARGIN_LOST:
        return path
    names = listed([repr(setup.system.constraint_names[i]) for i in setup.system.reactions])
    words = f"The nonideal forces that depend on multipliers of {names} lose their solution there"
    if linear:
        words += ": they cannot bring about what the constraints ask for."
    else:
        words += f", as in Painlevé's paradox: of their margin, 1 without friction, {margin:.2g} is left."
    hits = tuple(h for h in path.hits if h.which != which)
    return altered(path, status=Status.NO_SOLUTION, hits=hits, notes=(*path.notes, words))
