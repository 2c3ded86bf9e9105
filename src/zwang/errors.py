"""Everything that zwang refuses, and what to do about it.

::

    ZwangError
    ├── ModelError             the description of a system contradicts itself (lists every mistake)
    ├── ModelFileError         a model file cannot be read (lists every mistake, each with its place)
    ├── InputError             arrays, states or names given to a function do not fit
    ├── MassError              M is not symmetric or not positive semidefinite
    ├── UndeterminedError      M is singular and the constraints do not make up for it
    ├── InconsistentError      constraint rows contradict each other: no acceleration obeys them all
    ├── InfeasibleError        one-sided constraints cannot all be met
    ├── SizeError              a result in symbols would take too long to write out
    ├── AssemblyError          no state near a guess obeys every constraint
    ├── EquilibriumError       no equilibrium or steady motion was found near a guess
    └── SimulationError        a simulation could not go on (carries what was computed)

Each message says what is wrong, which one it is, and what to do. Each error has its `mistakes`: the same sentences,
each with the place in the arguments where it was made. A model file finds its line by that place, not by the words.
"""

import errno
from collections.abc import Sequence
from typing import Any

from zwang.mistakes import Mistake
from zwang.words import count

# How the loader of libraries, NumPy and LLVM say it; whoever loads a library may cover that up with a guess.
LACKING = ("failed to map segment", "cannot allocate", "unable to allocate", "out of memory", "bad_alloc",
           "can't start new thread")  # fmt: skip


class ZwangError(Exception):
    """Root of everything zwang raises on purpose: catch this to catch all of it."""

    mistakes: tuple[Mistake, ...]

    def __init__(self, *said: object, who: str = "", where: Sequence[str | int] = (), remedy: str = "") -> None:
        self.mistakes = (Mistake(*said, who=who, where=where, remedy=remedy),)
        super().__init__(str(self.mistakes[0]))


class ModelError(ZwangError, ValueError):
    """A system is described wrongly; `mistakes` lists every mistake found, not only the first."""

    def __init__(self, mistakes: Sequence[Mistake], name: str = "") -> None:
        what = f"the system {name!r}" if name else "this system"
        super().__init__("\n".join([f"{what} has {count(len(mistakes), 'mistake')}:", *(f"  - {m}" for m in mistakes)]))
        self.mistakes = tuple(mistakes)


class ModelFileError(ZwangError, ValueError):
    """A model file cannot be read; `problems` lists every mistake found, each with its line and column."""

    def __init__(self, problems: Sequence[Any], text: str) -> None:
        self.problems = tuple(problems)
        super().__init__(text)


class InputError(ZwangError, ValueError):
    """Arrays, states, names or options given to a function do not fit."""


class MassError(ZwangError, ValueError):
    """A mass matrix is not symmetric, or not positive semidefinite."""


class UndeterminedError(ZwangError):
    """M is singular in directions that no constraint determines: rank [M; A] < n."""


class InconsistentError(ZwangError):
    """Constraint rows contradict each other; `rows` holds the indices of the contradicting rows."""

    def __init__(self, message: str, rows: Sequence[int] = ()) -> None:
        self.rows = tuple(rows)
        super().__init__(message)


class InfeasibleError(ZwangError):
    """No acceleration satisfies all equality rows and all active one-sided rows."""


class SizeError(ZwangError):
    """A result in symbols would take too long to write out."""


class AssemblyError(ZwangError):
    """No state near the guess obeys every constraint."""


class EquilibriumError(ZwangError):
    """No equilibrium, or no steady motion, was found near the guess; the message says what remains."""


class SimulationError(ZwangError):
    """A simulation stopped before its end; `motion` holds what was computed, `status` says why."""

    def __init__(self, message: str, status: str, motion: Any) -> None:
        self.status, self.motion = status, motion
        super().__init__(message)


def lacks_memory(error: BaseException) -> bool:
    """Whether an error, or one that it came of, is for lack of memory, whoever noticed that first.

    >>> lacks_memory(ImportError("libx.so: failed to map segment from shared object"))
    True
    >>> lacks_memory(ImportError("No module named 'x'"))
    False
    """
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        if isinstance(at, MemoryError) or (isinstance(at, OSError) and at.errno == errno.ENOMEM):
            return True
        if isinstance(at, OSError | ImportError | RuntimeError) and any(words in str(at).lower() for words in LACKING):
            return True
        seen.append(at)
        at = at.__cause__ or at.__context__
    return False
