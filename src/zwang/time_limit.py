"""A limit of time for work that may take for ever, such as simplifying an expression."""

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

CLOCK_EVERY = 0.05  # seconds between two looks at the clock
INSIST = 0.5  # seconds between reminders: code that swallows every exception swallows this one, too
REMINDERS = 5

_LIMITED = threading.local()  # whether this thread works under a limit already


class OutOfTime(BaseException):
    """Raised inside work that has used up its time; no `except Exception` on the way stops it."""


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """The result of some work in pure Python, or None where it takes more processor time; its errors are raised.

    How long SymPy takes cannot be told from the size of what it is given: forty operations may take minutes. The work
    therefore runs in a thread of its own, which is told to stop when its time is over. It is the processor's time, so
    that what a report says does not depend on what else the machine does. Inside a limit no other one counts.

    >>> within(10, lambda: 6*7)
    42
    """
    if getattr(_LIMITED, "yes", False):
        return work()  # the limit around this one holds: an exception may not find its way through two threads
    outcome: list[T] = []
    failure: list[Exception] = []
    job = Job()

    def run() -> None:
        _LIMITED.yes = True
        try:
            try:
                outcome.append(work())
            except OutOfTime:
                pass
            except Exception as error:
                failure.append(error)
            job.end()
        except OutOfTime:  # told to stop when it had just come to an end
            job.end()

    job.thread = threading.Thread(target=run, daemon=True)
    began = time.process_time()
    job.thread.start()
    try:
        while job.thread.is_alive() and time.process_time() - began < seconds:
            job.thread.join(CLOCK_EVERY)
    finally:  # also where whoever waits is interrupted
        job.stop()
    if failure:
        raise failure[0]
    return outcome[0] if outcome else None


class Job:
    """Work in a thread of its own, which can be told to stop while it has not come to an end."""

    thread: threading.Thread

    def __init__(self) -> None:
        self._ended = False
        self._lock = threading.Lock()

    def end(self) -> None:
        """From here on nobody tells it to stop; what was said before is heard in the loop."""
        with self._lock:
            self._ended = True
        for _ in range(3):
            pass

    def stop(self) -> None:
        """Tell it to stop, until it does; what is stuck outside of Python is left behind."""
        if not self.thread.is_alive():
            return
        with _unheard_in_silence():
            for _ in range(REMINDERS):
                with self._lock:
                    if not self._ended:
                        # An exception set from outside is raised at the thread's next Python instruction.
                        thread = ctypes.c_ulong(self.thread.ident or 0)
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(OutOfTime))
                self.thread.join(INSIST)
                if not self.thread.is_alive():
                    return


_STOPPING = threading.Lock()
_HOOKS: list[Callable[[Any], object]] = []  # what was called before, while somebody is told to stop
_TELLING = [0]  # how many are being told to stop at this moment


@contextmanager
def _unheard_in_silence() -> Iterator[None]:
    """Nobody is bothered with a reminder that was lost where Python cannot raise: the next one will be heard.

    The thread's next instruction may be one of a `__del__` or of a callback of the garbage collector. There Python
    prints the exception and goes on.
    """
    with _STOPPING:
        if not _TELLING[0]:
            _HOOKS[:] = [sys.unraisablehook]
            sys.unraisablehook = _all_but_reminders
        _TELLING[0] += 1
    try:
        yield
    finally:
        with _STOPPING:
            _TELLING[0] -= 1
            if not _TELLING[0] and sys.unraisablehook is _all_but_reminders:
                sys.unraisablehook = _HOOKS[0]


def _all_but_reminders(lost: Any) -> None:
    if not issubclass(lost.exc_type, OutOfTime):
        _HOOKS[0](lost)
