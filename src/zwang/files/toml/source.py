"""The text of a model file: read whole, bounded, as UTF-8."""

import os
import stat
from pathlib import Path as FilePath
from typing import Any

from zwang.errors import ModelFileError
from zwang.files.toml.document import LARGEST_FILE
from zwang.files.toml.problems import Problem, file_error


def file_text(path: FilePath) -> str:
    """The text of a model file, or a refusal that names the file."""

    def refuse(message: str, hint: str = "", line: int = 1, column: int = 1, source: str = "") -> Any:
        return file_error([Problem(str(path), line, column, message, hint, source)])

    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise refuse("this is a folder, not a model file")
        if not stat.S_ISREG(status.st_mode):
            raise refuse("this is not a regular file")
        if status.st_size > LARGEST_FILE:
            raise refuse(f"the file has {status.st_size} bytes, more than {LARGEST_FILE}", "put tables into CSV files")
        content = path.read_bytes()
    except ModelFileError:
        raise
    except FileNotFoundError:
        raise refuse("there is no such file") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise refuse(f"the file cannot be read: {error}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        lines = content.decode("utf-8", "replace").split("\n")
        raise refuse(
            "this byte is not text in UTF-8", "save the file as UTF-8", line, column, lines[line - 1]
        ) from None
