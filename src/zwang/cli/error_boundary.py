"""No traceback ever: what goes wrong becomes a sentence and an exit code. `--debug` shows the traceback too."""

import os
import signal
import sys
import traceback
from contextvars import ContextVar
from typing import Any

import typer
from typer.core import TyperGroup

from zwang.cli.exits import Exit, Failure, code_of
from zwang.errors import ModelFileError, ZwangError, lacks_memory

JSON = "zwang.json"  # what the option leaves in a context
NO_MEMORY = "not enough memory: ask for fewer samples or a smaller model, or let the process have more"
DEBUG: ContextVar[bool] = ContextVar("zwang.debug", default=False)
"""Whether --debug was given; it is set anew by every command."""


class Guarded(TyperGroup):
    """The group of all commands; every one of them runs inside of `invoke`."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an exception ends it with its message and its code."""
        try:
            value = super().invoke(ctx)
            sys.stdout.flush()  # so that a broken pipe shows here, and not when Python shuts down
            return value
        except BrokenPipeError:
            silence()
            raise typer.Exit(Exit.BROKEN_PIPE) from None
        except KeyboardInterrupt:
            report(ctx, "interrupted; nothing was written", Exit.INTERRUPTED)
            raise typer.Exit(Exit.INTERRUPTED) from None
        except Exception as error:
            if hasattr(error, "exit_code"):  # typer's own: wrong use, which it explains, and ends that were meant
                if ctx.meta.get(JSON) and hasattr(error, "format_message"):
                    tell_machine(error.format_message(), Exit.USAGE)
                raise
            show_traceback()
            code, message = account(error)
            code = report(ctx, message, code, as_it_is=isinstance(error, ModelFileError))
            silence()  # what went wrong may be standard output itself, on a full disk
            raise typer.Exit(code) from None


def account(error: Exception) -> tuple[Exit, str]:
    """The exit code of an error, and what to say about it."""
    if isinstance(error, ZwangError | Failure):
        return code_of(error), str(error)
    if lacks_memory(error):
        return Exit.REFUSED, NO_MEMORY
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return Exit.REFUSED, f"{where}{error.strerror or error}"
    if isinstance(error, RecursionError):
        return Exit.REFUSED, "an expression of the model is nested too deeply: split it into [definitions]"
    first = (str(error).splitlines() or [""])[0]
    what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return Exit.INTERNAL, f"internal error: {what}; run again as `zwang --debug …` to see where"


def report(ctx: Any, message: str, code: Exit, as_it_is: bool = False) -> Exit:
    """Say what went wrong on standard error, and to machines that asked for JSON on standard output too.

    The exit code; another one where there is no memory even for the words.
    """
    try:
        from zwang.cli.terminal import clean, err, filled, fitted, joined, text

        if ctx.meta.get(JSON):
            tell_machine(message, code)
        if as_it_is:  # marks under a line of the model must stay where they are
            console = err()
            narrow = console.is_terminal or "COLUMNS" in os.environ
            sys.stderr.write(f"{fitted(clean(message), console.width) if narrow else clean(message)}\n")
        else:
            console = err()
            words = "\n".join(filled(row, console.width, "") for row in f"error: {clean(message)}".split("\n"))
            console.print(joined(text("error: ", "bold red"), text(words[len("error: ") :])), soft_wrap=True)
    except Exception as error:
        if lacks_memory(error):
            sys.stderr.write(f"error: {NO_MEMORY}\n")
            return Exit.REFUSED
        if not isinstance(error, OSError):
            raise
        silence()
    return code


def tell_machine(message: str, code: Exit) -> None:
    """What went wrong, as JSON on standard output."""
    from zwang.cli.terminal import emit_json

    emit_json({"error": message, "exit_code": int(code)})
    sys.stdout.flush()


def show_traceback() -> None:
    """The traceback of the exception at hand, if it was asked for."""
    if DEBUG.get():
        traceback.print_exc()


def silence() -> None:
    """Discard what cannot be written any more: Python would complain about it when it shuts down."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def terminate_cleanly() -> None:
    """Let SIGTERM unwind the stack, so that temporary files are removed."""

    def stop(_signal: int, _frame: Any) -> None:
        raise SystemExit(int(Exit.TERMINATED))

    signal.signal(signal.SIGTERM, stop)
