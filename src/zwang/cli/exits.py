"""How the command ends: exit codes that scripts can rely on."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from zwang.errors import (
    AssemblyError,
    EquilibriumError,
    InconsistentError,
    InfeasibleError,
    InputError,
    MassError,
    ModelError,
    ModelFileError,
    SimulationError,
    UndeterminedError,
)


class Exit(IntEnum):
    """Every exit code; `MEANING` says what each stands for."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    MODEL = 3
    INCONSISTENT = 4
    SINGULAR = 5
    START = 6
    STOPPED = 7
    ASSEMBLY = 8
    DISAGREE = 9
    REDUNDANT = 10
    NOT_FOUND = 11
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


MEANING = {
    Exit.DONE: "done; redundant constraints are not an error",
    Exit.REFUSED: "refused for another reason, such as a file that cannot be written",
    Exit.USAGE: "wrong use: an unknown command or option, or a value that does not fit",
    Exit.MODEL: "the model or motion cannot be read, or the model describes no system",
    Exit.INCONSISTENT: "constraints contradict each other",
    Exit.SINGULAR: "singular: the rank drops at the start, or M determines no acceleration",
    Exit.START: "the start does not satisfy its constraints",
    Exit.STOPPED: "the simulation stopped early; what was asked for is written, up to there",
    Exit.ASSEMBLY: "no state near the start obeys every constraint",
    Exit.DISAGREE: "derivation, forms or engines disagree, or nothing could be compared (zwang compare)",
    Exit.REDUNDANT: "constraints are redundant (zwang check --strict)",
    Exit.NOT_FOUND: "no equilibrium, steady or periodic motion was found near the guess",
    Exit.INTERNAL: "internal error: zwang's fault",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; a file is complete or not there",
    Exit.BROKEN_PIPE: "nobody reads the output any more, as in zwang … | head",
    Exit.TERMINATED: "terminated; a file is complete or not there",
}

# The first that fits counts.
CODES: tuple[tuple[type[Exception], Exit], ...] = (
    (ModelFileError, Exit.MODEL),
    (ModelError, Exit.MODEL),
    (InconsistentError, Exit.INCONSISTENT),
    (InfeasibleError, Exit.INCONSISTENT),
    (MassError, Exit.SINGULAR),
    (UndeterminedError, Exit.SINGULAR),
    (AssemblyError, Exit.ASSEMBLY),
    (EquilibriumError, Exit.NOT_FOUND),
    (SimulationError, Exit.STOPPED),
)


class Failure(Exception):
    """What a command has to say when it cannot do what it was asked, and the exit code that goes with it."""

    def __init__(self, code: Exit, message: str) -> None:
        self.code = code
        super().__init__(message)


@contextmanager
def wrong_use() -> Iterator[None]:
    """Within this, what the library refuses is a wrong use of the command: its options are to blame."""
    try:
        yield
    except InputError as error:
        raise Failure(Exit.USAGE, str(error)) from None


def code_of(error: BaseException) -> Exit:
    """The exit code of an error that zwang or the system raised on purpose."""
    if isinstance(error, Failure):
        return error.code
    return next((code for kind, code in CODES if isinstance(error, kind)), Exit.REFUSED)
