"""A motion with contacts that is taken on piece by piece: what its contacts do is remembered in between."""

from dataclasses import replace

import numpy as np

from zwang.engines.task import REMEDY, Status
from zwang.errors import SimulationError
from zwang.motion.contact.coefficients import coefficients
from zwang.motion.contact.course import Course
from zwang.motion.observe import how_it_ended
from zwang.motion.redundant import require_agreement
from zwang.motion.setup import Setup
from zwang.motion.start import Start, State


class Onward:
    """One motion with contacts, and how far it has got."""

    def __init__(self, setup: Setup, start: Start, law: str, split: str) -> None:
        """At the start; what is not admissible there is refused by name when it moves."""
        self.course = Course(setup, start, np.array([start.state[0]]), law, None, split)
        self.begun = start.state[0]
        self.moved = False

    def advance(self, setup: Setup, until: float, changed: bool) -> State:
        """To a time, with what the setup has for numbers; whether these have changed since the last piece.

        What stops the motion raises what `simulate` raises, without states.
        """
        course = self.course
        course.grid, course.saved = np.array([until]), 0
        course.last(until - self.begun)
        course.segments, course.transitions, course.notes = [], [], []
        course.total = replace(course.total, hits=(), kicks=(), notes=(), leapt=0.0, left=0.0)
        self.take(setup)
        self.moved, path = True, course.run(begin=not self.moved, again=changed)
        if path.status in REMEDY:
            raise SimulationError(how_it_ended((), path), str(path.status), None)
        if path.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        require_agreement(path, until)
        return course.state

    def take(self, setup: Setup) -> None:
        """The numbers from here on: coefficients may be among them."""
        course = self.course
        course.setup = replace(setup, contact=course.setup.contact)
        assert course.setup.contact is not None
        found = coefficients(course.setup, course.setup.contact.shown)
        course.restitution = found.restitution
        if course.rubbing is not None:
            course.rubbing.setup, course.rubbing.friction = course.setup, found.friction
