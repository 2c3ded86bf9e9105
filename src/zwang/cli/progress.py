"""A bar for long work on a terminal; nothing otherwise."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from zwang.motion.progress import PATIENCE


@contextmanager
def bar(what: str, quiet: bool = False) -> Iterator[Callable[[float, float], None]]:
    """A function of (reached, end) that draws a bar on standard error once the work has taken a second."""
    if quiet or not sys.stderr.isatty():
        yield lambda reached, end: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from zwang.cli.terminal import err

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    drawn = Progress(*parts, console=err(), transient=True)
    began, first = time.perf_counter(), None
    task = drawn.add_task(what)

    def show(reached: float, end: float) -> None:
        nonlocal first
        first = reached if first is None else first
        if time.perf_counter() - began < PATIENCE:
            return
        drawn.start()  # the first time only
        drawn.update(task, total=end - first, completed=reached - first)

    try:
        yield show
    finally:
        drawn.stop()


@contextmanager
def busy(what: str, quiet: bool = False) -> Iterator[None]:
    """A word on standard error during work that cannot say how far it has come."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from zwang.cli.terminal import err

    with err().status(what):
        yield
