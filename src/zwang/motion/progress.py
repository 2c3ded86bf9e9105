"""A word on how far a long simulation is."""

import sys
import time
from collections.abc import Callable
from typing import Any

from zwang.errors import InputError
from zwang.waiting import listener
from zwang.words import shortened

PATIENCE = 1.0  # seconds before a bar appears
WIDTH = 30


def reporter(
    progress: Any, start: float, end: float, words: str = "t = {:.6g} of {:.6g}"
) -> Callable[[float], None] | None:
    """What to call with the time reached: the user's callback, a bar on a terminal, or nothing.

    `progress` is a function of (time reached, end), True or False for a bar or none, or None: a bar where
    somebody waits, at a terminal or in a notebook, and the run takes more than a second.
    """
    if callable(progress):
        return lambda t: progress(t, end)
    if progress is not None and not isinstance(progress, bool):
        raise InputError(
            f"progress = {shortened(repr(progress))}: True or False is meant, for a bar or none, or a function of "
            f"(reached, end)"
        )
    if progress is False or (progress is None and listener() is None):
        return None
    began = time.perf_counter()
    shown = [0.0]

    def bar(t: float) -> None:
        now = time.perf_counter()
        if now - began < PATIENCE or (now - shown[0] < 0.1 and t != end):
            return
        shown[0] = now
        share = (t - start) / (end - start) if end != start else 1.0
        filled = round(WIDTH * share)
        close = "\n" if t == end else ""
        sys.stderr.write(f"\r{'━' * filled}{'╌' * (WIDTH - filled)} {share:4.0%}  {words.format(t, end)}{close}")
        sys.stderr.flush()

    return bar
