"""A limit of time for work that may take for ever, such as simplifying an expression."""

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 0.05  # seconds between reminders: an exception set from outside is noticed at the next Python instruction
REMINDERS = 40


class OutOfTime(BaseException):
    """Raised inside work that has used up its time; no `except Exception` on the way stops it."""


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """The result of some work in pure Python, or None where it takes more processor time; its errors are raised.

    How long SymPy takes cannot be told from the size of what it is given: forty operations may take minutes. The work
    therefore runs in a thread of its own, which is told to stop when its time is over. It is the processor's time, so
    that what a report says does not depend on what else the machine does.

    >>> within(10, lambda: 6*7)
    42
    """
    outcome: list[T] = []
    failure: list[Exception] = []

    def run() -> None:
        try:
            outcome.append(work())
        except OutOfTime:
            pass
        except Exception as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    began = time.process_time()
    thread.start()
    while thread.is_alive() and time.process_time() - began < seconds:
        thread.join(PATIENCE)
    for _ in range(REMINDERS):
        if not thread.is_alive():
            break
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(OutOfTime))
        thread.join(PATIENCE)
    if failure:
        raise failure[0]
    return outcome[0] if outcome else None
