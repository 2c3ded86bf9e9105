"""What is asked of options for time stepping: a step, contacts, and nothing that goes with other methods."""

from typing import Any, Protocol

import numpy as np

from zwang.errors import InputError
from zwang.model import System

STEPS_IN_ALL = 20_000_000  # of a motion: what is kept of each takes a gigabyte

STEPS_HAVE_NO = {  # option: why it does not go with time stepping
    "method": "steps are a method of their own; leave it out",
    "tol": "the error of a step is not estimated, a shorter step makes it smaller; leave it out",
    "form": "there is one form; leave it out",
    "drift": "constraints are kept by projection in any case; leave it out",
    "max_step": "all steps are as long as step says; leave it out",
    "precision": "steps are computed in double precision; leave it out",
    "impacts": "steps follow Moreau's law; leave it out, or use contacts='events'",
}


class Options(Protocol):
    """What is looked at of the options of a run."""

    @property
    def until(self) -> float:
        """The end."""

    @property
    def t(self) -> float:
        """The beginning."""

    @property
    def contacts(self) -> str:
        """How contacts are followed."""

    @property
    def step(self) -> Any:
        """The length of a step, if one is given."""


def require_step(system: System, options: Options, usual: Options) -> None:
    """Refuse time stepping without a step or without contacts, and a step or options that go without it.

    `usual` are options that nobody has changed.
    """
    step, span = options.step, options.until - options.t
    if options.contacts == "events":
        if step is not None:
            raise InputError(f"step = {step!r} is for contacts='steps': ask for these, too, or leave it out")
        return
    if step is None:
        raise InputError("contacts='steps' needs the length of a step: give step=0.001, say")
    if not isinstance(step, int | float | np.number) or isinstance(step, bool) or not 0 < step <= span:
        raise InputError(f"step = {step!r}: a positive number is needed, not longer than the motion's {span:g}")
    if options.until - step == options.until:
        raise InputError(f"step = {step!r} is lost in rounding at t = {options.until:g}: give a longer one")
    if span / step > STEPS_IN_ALL:
        raise InputError(
            f"step = {step!r} makes {span / step:.3g} steps, and {STEPS_IN_ALL:,} are allowed: give a longer one, or "
            f"ask for less time"
        )
    if not any(c.one_sided for c in system.constraints):
        raise InputError("contacts='steps' is for contacts, and there is no one-sided constraint: leave it out")
    for name, why in STEPS_HAVE_NO.items():
        given = getattr(options, name)
        if given != getattr(usual, name):
            raise InputError(f"{name}={given!r} does not go with contacts='steps': {why}")
