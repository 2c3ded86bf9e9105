"""Files that a command writes one after the other: a failure with one of them costs none of the others.

A motion of an hour must not be lost to a drawing that fails. Results come first, then what is made of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import typer

from zwang.cli.error_boundary import account, show_traceback
from zwang.cli.exits import Exit, Failure


@dataclass
class Outputs:
    """What was written, and what could not be."""

    written: dict[str, str] = field(default_factory=dict)
    """Paths, by the names of options without dashes"""
    failures: dict[str, str] = field(default_factory=dict)
    """Messages with the path, by the same names"""
    code: Exit | None = None
    """The exit code of the first failure"""

    def add(self, option: str, path: Path | None, write: Callable[[Path], object]) -> None:
        """Write a file, if it was asked for; what goes wrong is kept for the end.

        Raises:
            Failure: Ctrl-C. It says which files are there already.
        """
        if path is None:
            return
        name = option.lstrip("-")
        try:
            write(path)
        except KeyboardInterrupt:
            there = ", ".join(self.written.values())
            words = f"{there} is written, {path} is not" if there else "nothing was written"
            raise Failure(Exit.INTERRUPTED, f"interrupted; {words}") from None
        except Exception as error:
            show_traceback()
            code, message = account(error)
            self.failures[name] = message if str(path) in message else f"{option} {path}: {message}"
            self.code = self.code or code
        else:
            self.written[name] = str(path)

    def end(self, otherwise: Exit = Exit.DONE) -> None:
        """Say what could not be written, and end with the exit code of the first failure, or with another one."""
        from zwang.cli.terminal import say

        for message in self.failures.values():
            say(f"error: {message}", "red")
        if code := self.code or otherwise:
            raise typer.Exit(code)
