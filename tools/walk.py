"""One motion as it goes through the rooms: `zwang run pendulum` traced, not claimed. `make walk`.

Printed is every first call from one file of the package to another, indented by depth, with how often the function is
called in all. A line `A -> B` reads: from here the walk goes on there.

    python tools/walk.py run four_bar --depth 6     (any other command of zwang)
"""

import contextlib
import io
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import zwang

ROOT = Path(zwang.__file__).parent
DEPTH = 8  # of calls between files
IMPORTING = -1  # the depth of what a module does when it is imported: it is no part of the walk


class Walk:
    """The calls of the package's functions while it listens."""

    def __init__(self, deepest: int) -> None:
        self.deepest = deepest
        self.counts: Counter[CodeType] = Counter()
        self.lines: list[tuple[int, CodeType]] = []
        self.stack: list[tuple[FrameType, int, str]] = []

    def listen(self, frame: FrameType, event: str, _: Any) -> None:
        """Notice that a function is called or left, as `sys.setprofile` tells."""
        if event == "call":
            code, file = frame.f_code, frame.f_code.co_filename
            depth, before = (self.stack[-1][1], self.stack[-1][2]) if self.stack else (0, "")
            if code.co_name == "<module>":
                depth = IMPORTING
            if not file.startswith(str(ROOT)) or (code.co_name.startswith("<") and depth != IMPORTING):
                return
            depth = depth if depth == IMPORTING else depth + (file != before)
            self.stack.append((frame, depth, file))
            if depth == IMPORTING:
                return
            if not self.counts[code] and file != before and depth <= self.deepest:
                self.lines.append((depth, code))
            self.counts[code] += 1
        elif event == "return" and self.stack and self.stack[-1][0] is frame:
            self.stack.pop()

    def calls(self) -> list[tuple[str, str, int]]:
        """File, function and how often, in the order of first calls."""
        files = {code: Path(code.co_filename).relative_to(ROOT).as_posix() for code in self.counts}
        return [(files[code], code.co_qualname, count) for code, count in self.counts.items()]

    def show(self) -> None:
        """Print the walk."""
        for depth, code in self.lines:
            times = self.counts[code]
            place = Path(code.co_filename).relative_to(ROOT)
            print(f"{'  ' * (depth - 1)}{place}:{code.co_firstlineno} {code.co_qualname}{f'  ×{times}' * (times > 1)}")
        print(
            f"\n{self.counts.total()} calls of {len(self.counts)} functions in "
            f"{len({code.co_filename for code in self.counts})} files"
        )


def traced(words: list[str], deepest: int = DEPTH) -> Walk:
    """The walk of a command of zwang, from a process that has not run anything yet: what is kept is not made again."""
    from zwang.cli.app import app

    walk = Walk(deepest)
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(walk.listen)
        try:
            app(words, standalone_mode=False)
        finally:
            sys.setprofile(None)
    return walk


def main(words: list[str]) -> None:
    """Run a command of zwang and print its walk."""
    deepest = DEPTH
    if "--depth" in words:
        place = words.index("--depth")
        deepest = int(words[place + 1])
        del words[place : place + 2]
    traced(words or ["run", "pendulum"], deepest).show()


if __name__ == "__main__":
    main(sys.argv[1:])
