"""Lines to an LLVM module: loads, stores, functions of bounded length, and the loop over rows.

A long program becomes many functions, because LLVM's time grows faster than the length of a function.
A value that is used in a later function than the one that computes it goes through the workspace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from zwang.compile import table
from zwang.compile.code import BOTH, SECOND, Code
from zwang.compile.lanes import wide_functions, widened

NAME = "evaluate"
BATCH_NAME = "evaluate_many"

_TOKENS = re.compile(r"%[vbi]\d+|\n")


def module_text(
    code: Code,
    outputs: Sequence[str],
    input_size: int,
    longest: int,
    pointer: str,
    lanes: int = 1,
    same_bits: bool = False,
) -> tuple[str, int]:
    """The module that stores the outputs (registers, in order), and the size of the workspace it needs.

    `longest` bounds the lines of a function; `pointer` is how this LLVM writes the type of a pointer. For several
    `lanes` there is no loop over rows; `same_bits` asks for those of the code for one in each.
    """
    layout = _Layout(code.lines, pointer)
    count = -(-len(layout.lines) // longest) or 1
    cuts = [len(layout.lines) * k // count for k in range(count + 1)]
    cuts = [cut + (cut < len(layout.lines) and layout.lines[cut].endswith(SECOND)) for cut in cuts]
    parts = list(pairwise(cuts))
    for low, high in parts:
        layout.load(low, high)
    layout.store_outputs(outputs)
    bodies = ["\n".join(layout.lines[low:high]) for low, high in parts]

    arguments = f"{pointer} noalias %out, {pointer} noalias %in, {pointer} noalias %work"
    defined = table.definitions(pointer)
    defined[BOTH] = f"declare void @{BOTH}(double, {pointer}, {pointer}) #1"
    module = [
        defined.get(name) or f"declare double @{name}({', '.join(['double'] * n)}) #0"
        for name, n in code.called.items()
    ]
    functions = []
    if count > 1:
        functions = [_function(f"internal void @part{k}({arguments})", body) for k, body in enumerate(bodies)]
        given = f"{pointer} %out, {pointer} %in, {pointer} %work"
        bodies = ["\n".join([f"call void @part{k}({given})" for k in range(count)])]
    functions.append(_function(f"void @{NAME}({arguments})", bodies[0]))
    if lanes == 1:
        functions.append(batch_function(len(outputs), input_size, pointer))
    else:
        module += wide_functions(code.called, lanes, pointer, same_bits)
        functions = [widened(function, code.called, lanes) for function in functions]
    module += functions
    # The functions called depend on nothing but their arguments (the C library's errno is not read) and on tables.
    module.append("attributes #0 = { nounwind readnone willreturn }\nattributes #1 = { nounwind }")
    module.append("attributes #2 = { nounwind readonly willreturn }")
    return "\n".join(module), len(layout.slots)


class _Layout:
    """The lines, with loads put in front of them and stores behind."""

    def __init__(self, lines: Sequence[str], pointer: str) -> None:
        self.lines = list(lines)
        self.slots: dict[str, int] = {}  # register -> its place in the workspace
        self._pointer = pointer

    def load(self, low: int, high: int) -> None:
        """Load what the lines from low to high use and do not compute, each where it is first used."""
        here: set[str] = set()
        line = low
        for token in _TOKENS.findall("\n".join(self.lines[low:high])):
            if token == "\n":
                line += 1
            elif token not in here:
                here.add(token)
                if token[1] == "i":
                    self._load(line, token, "%in", int(token[2:]))
                elif int(token[2:]) < low:
                    self._load(line, token, "%work", self._slot(token))

    def store_outputs(self, outputs: Sequence[str]) -> None:
        """Store the outputs, each right behind the line that computes it."""
        for k, token in enumerate(outputs):
            self._store(int(token[2:]), token, "%out", k)

    def _slot(self, token: str) -> int:
        """The place of a value in the workspace; it is stored there where it is computed."""
        slot = self.slots.get(token)
        if slot is None:
            slot = self.slots[token] = len(self.slots)
            line = int(token[2:])
            if token[1] == "b":  # the workspace holds numbers only
                self.lines[line] += f"\n%n{line} = uitofp i1 {token} to double"
                token = f"%n{line}"
            self._store(line, token, "%work", slot)
        return slot

    def _load(self, line: int, token: str, array: str, index: int) -> None:
        number = token if token[1] != "b" else f"%n{token[2:]}"
        text = (
            f"%from_{token[1:]} = getelementptr double, {self._pointer} {array}, i64 {index}\n"
            f"{number} = load double, {self._pointer} %from_{token[1:]}\n"
        )
        if number != token:
            text += f"{token} = fcmp une double {number}, 0.0\n"
        self.lines[line] = text + self.lines[line]

    def _store(self, line: int, token: str, array: str, index: int) -> None:
        self.lines[line] += (
            f"\n{array}_{index} = getelementptr double, {self._pointer} {array}, i64 {index}"
            f"\nstore double {token}, {self._pointer} {array}_{index}"
        )


def _function(head: str, body: str) -> str:
    return f"define {head} #1 {{\n{body}\nret void\n}}"


def batch_function(output_size: int | str, input_size: int | str, pointer: str, before: str = "") -> str:
    """The loop over rows. Sizes are numbers, or registers that are set `before` it."""
    return f"""
define void @{BATCH_NAME}({pointer} %out, {pointer} %in, {pointer} %work, i64 %count) #1 {{
entry:
  {before}
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %row, label %done
row:
  %k = phi i64 [ 0, %entry ], [ %next, %row ]
  %from = mul i64 %k, {input_size}
  %to = mul i64 %k, {output_size}
  %source = getelementptr double, {pointer} %in, i64 %from
  %target = getelementptr double, {pointer} %out, i64 %to
  call void @{NAME}({pointer} %target, {pointer} %source, {pointer} %work)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %row, label %done
done:
  ret void
}}"""
