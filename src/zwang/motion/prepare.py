"""From options, parameters and known functions of time to a setup; what cannot be integrated is refused by name."""

import numpy as np

from zwang.engines.registry import AUTO, LOOSEST, TIGHTEST, chosen, engine_of, methods, names, require_tolerance
from zwang.errors import InputError
from zwang.formulations.forms import FORMS, integrable
from zwang.lowering.contact import Held
from zwang.lowering.implicit import require_explicit
from zwang.lowering.lowered import lower
from zwang.lowering.resets import require_resets
from zwang.model import System
from zwang.model.contact_law import CONTACTS, IMPACTS, SPLITS
from zwang.model.event import listed_events
from zwang.model.values import GivenValues
from zwang.motion.contact.steps.options import require_step
from zwang.motion.options import RunOptions, drift_of
from zwang.motion.setup import Setup
from zwang.results.evaluate_along import spare_values


def prepare(system: System, values: GivenValues, options: RunOptions, contacts: bool = False) -> Setup:
    """Check the options of a simulation, and put numbers to its parameters; `contacts` may be there or not."""
    method, form, tol, events = options.method, options.form, options.tol, options.events
    if method not in methods():
        raise InputError(f"method={method!r} is unknown: choose one of {', '.join(map(repr, methods()))}")
    if form not in integrable():
        raise InputError(f"form={form!r} cannot be integrated: choose one of {', '.join(map(repr, integrable()))}")
    if not isinstance(tol, int | float | np.number) or not TIGHTEST <= tol <= LOOSEST:
        raise InputError(f"tol = {tol!r} is out of range: choose between {TIGHTEST:g} and {LOOSEST:g}")
    kind, gains = drift_of(options.drift)
    events = listed_events(events)
    contact = contacts_of(system, options, able=contacts)
    require_explicit(system, form)
    p, inputs, signals = values.p, values.inputs, values.signals
    if p.ndim != 1:
        raise InputError("parameters are arrays: simulate takes one value each, simulate_many takes arrays")
    # Only now: which engine serves depends on the signals, and what it can do on which engine it is.
    if method == AUTO:
        method = chosen(tol, bool(signals), drifting=kind == "none" and bool(system.constraints))
    require_tolerance(method, tol, names())
    # Events may use what the system does not: parameters that occur nowhere in it have no place in p, so their values
    # are put in, and known functions of time are put in as they are in the system.
    spare = spare_values(system, values.given, values.symbols) if events else {}
    events = [e.with_each(lambda x: x.xreplace(spare)) for e in events]
    watched = tuple(e.with_each(lambda x: x.subs(inputs).doit()) if inputs else e for e in events)
    lowered = lower(system, inputs)
    max_step, quiet_step = options.longest
    setup = Setup(
        system=system,
        inputs=inputs,
        lowered=lowered,
        p=p,
        form=form,
        method=method,
        tol=tol,
        drift=kind,
        gains=gains,
        events=watched,
        signals=signals,
        symbols=values.symbols,
        max_step=max_step,
        quiet_step=quiet_step,
        contact=contact,
    )
    require_resets(system, setup.symbols, watched, options.contacts, options.precision)
    require_events(setup)  # switches of the state count as events; they are known once the model is derived
    return setup


def contacts_of(system: System, options: RunOptions, able: bool) -> Held | None:
    """The contacts of a system, all of them open; what cannot be integrated is refused by name."""
    if options.impacts not in IMPACTS:
        raise InputError(f"impacts={options.impacts!r} is unknown: choose one of {', '.join(map(repr, IMPACTS))}")
    if options.split not in SPLITS:
        raise InputError(f"split={options.split!r} is unknown: choose {' or '.join(map(repr, SPLITS))}")
    if options.contacts not in CONTACTS:
        raise InputError(f"contacts={options.contacts!r} is unknown: choose {' or '.join(map(repr, CONTACTS))}")
    require_step(system, options, RunOptions(options.until))
    require_friction(system, options)
    sided = [c for c in system.constraints if c.one_sided]
    guides = tuple(i for i, c in enumerate(system.constraints) if c.friction and not c.one_sided)
    if not sided and not guides:
        return None
    first = sided[0] if sided else system.constraints[guides[0]]
    name = f"constraint {first.name!r} {'is one-sided' if sided else 'has friction'}"
    if not able:
        raise InputError(
            f"{name}: contacts are not known here; leave it out and watch it as an Event, or make it an "
            f"equality while it holds"
        )
    for c in sided:
        if c.order > 1:
            raise InputError(
                f"constraint {c.name!r} is one-sided at {c.level} level: only limits of positions and velocities are "
                f"integrated; leave it out and watch it as an Event"
            )
    for c in system.constraints:
        if not c.linear:
            raise InputError(
                f"{name}, and {c.name!r} is nonlinear in the velocities: impacts are not known with it; leave out one"
            )
    if FORMS[options.form].eliminates:
        raise InputError(f"{name}: form={options.form!r} is not integrated with contacts; use form='fundamental'")
    if options.precision != "double":
        raise InputError(
            f"{name}: contacts are integrated in double precision; leave out precision={options.precision!r}"
        )
    return Held.all_open([i for i, c in enumerate(system.constraints) if c.one_sided], guides=guides)


def require_friction(system: System, options: RunOptions) -> None:
    """Refuse friction that cannot be integrated, by name."""
    for c in system.constraints:
        if c.friction and not c.one_sided and (c.order == 2 or options.contacts == "steps"):
            what = "by steps" if options.contacts == "steps" else "on accelerations"
            raise InputError(
                f"constraint {c.name!r} is an equality with friction: {what} that is not integrated; leave it out"
            )
    if options.impacts == "sequential" and any(c.friction for c in system.constraints):
        raise InputError("impacts='sequential' is not available with friction: use 'moreau' or 'poisson'")
    if not system.reactions or not any(c.one_sided for c in system.constraints):
        return
    which = f"nonideal forces depend on multiplier({system.constraint_names[next(iter(system.reactions))]!r})"
    if options.impacts == "sequential":
        raise InputError(f"{which}: impacts='sequential' is not available with that; use 'moreau' or 'poisson'")
    if options.contacts == "steps":
        raise InputError(f"{which}: that is not integrated with contacts='steps'; leave it out, or use 'events'")


def require_events(setup: Setup) -> None:
    """Refuse events, and switches of the state, which are found like events, for an engine that finds none."""
    if engine_of(setup.method).finds_events:
        return
    locked = setup.locked
    if setup.events or locked or setup.contact:
        what = f"the switch at {locked.switches[0].words} is one" if locked else "there are some to find"
        able = " or ".join(map(repr, names(lambda engine: engine.run and engine.finds_events)))
        raise InputError(f"method={setup.method!r} finds no events, and {what}: use method={able}")
