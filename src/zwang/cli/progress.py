"""A bar for long work on a terminal; nothing otherwise."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from zwang.motion.progress import PATIENCE
from zwang.waiting import hushed


@contextmanager
def bar(what: str, quiet: bool = False) -> Iterator[Callable[[float, float], None]]:
    """A function of (reached, end) that draws a bar on standard error once the work has taken a second."""
    if quiet or not sys.stderr.isatty():
        with hushed():
            yield lambda reached, end: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from zwang.cli.terminal import err

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    drawn = Progress(*parts, console=err(), transient=True)
    began, first, telling = time.perf_counter(), None, ExitStack()
    task = drawn.add_task(what)

    def show(reached: float, end: float) -> None:
        nonlocal first
        first = reached if first is None else first
        if time.perf_counter() - began < PATIENCE:
            return
        if not drawn.live.is_started:
            telling.enter_context(hushed())  # the line is the bar's from here on
            drawn.start()
        drawn.update(task, total=end - first, completed=reached - first)

    try:
        yield show
    finally:
        drawn.stop()
        telling.close()


@contextmanager
def busy(what: str, quiet: bool = False) -> Iterator[None]:
    """A word on standard error during work that cannot say how far it has come."""
    if quiet or not sys.stderr.isatty():
        with hushed():
            yield
        return
    from zwang.cli.terminal import err

    with hushed(), err().status(what):
        yield
