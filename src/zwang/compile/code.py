"""Straight-line LLVM instructions as text: one line each, none computed twice, negation for free.

A *token* is the text of a value: a register `%v12` or truth value `%b12` (both defined by line 12), an
input `%i3`, or a constant `0x3FF0000000000000`; a leading minus sign means "the negative of". Signs
travel with tokens until an addition turns into a subtraction or a product absorbs them: that is exact,
for rounding to nearest is symmetric.

Text and not `llvmlite.ir`, because building the objects of `llvmlite.ir` takes several times as long.
"""

from __future__ import annotations

import struct

from zwang.compile.machine_code import LIBRARY, has_sincos, pointer_type

ONE = "0x3FF0000000000000"
ZERO = "0x0000000000000000"
NAN = "0x7FF8000000000000"

# Sine and cosine of one angle come from one call where the C library has it; it gives the same bits.
SINE, COSINE, BOTH = f"{LIBRARY}sin", f"{LIBRARY}cos", f"{LIBRARY}sincos"
SECOND = "; with the line above"  # marks the second result of a call: not to be parted from the first


def constant(value: float) -> str:
    """The token of a number: the bits of its double, the sign in front.

    >>> constant(-1.0)
    '-0x3FF0000000000000'
    """
    digits = struct.pack(">d", value).hex().upper()
    negative = digits[0] in "89ABCDEF"
    return f"-0x{int(digits[0], 16) - 8:X}{digits[1:]}" if negative else f"0x{digits}"


class Code:
    """The lines so far and the functions they call.

    >>> code = Code()
    >>> code.add("%i0", "-%i1")
    '%v0'
    >>> code.multiply("-%v0", "%v0")
    '-%v1'
    >>> code.add("%i0", "-%i1")
    '%v0'
    >>> print(*code.lines, sep="; ")
    %v0 = fsub double %i0, %i1; %v1 = fmul double %v0, %v0
    """

    def __init__(self) -> None:
        """Start empty."""
        self.lines: list[str] = []
        self.called: dict[str, int] = {}  # name of a function -> number of its arguments
        self._registers: dict[str, str] = {}  # instruction -> register that holds its result
        self._divided: dict[str, tuple[int, str]] = {}  # denominator -> line and numerator, divided by once
        self._reciprocals: dict[str, str] = {}  # denominator -> register of its reciprocal
        self._turned: dict[str, tuple[int, str]] = {}  # angle -> line and function, sine or cosine, called once

    def line(self, instruction: str, prefix: str = "%v") -> str:
        """The register with the result of an instruction; a new line only if there is none."""
        register = self._registers.get(instruction)
        if register is None:
            register = f"{prefix}{len(self.lines)}"
            self._registers[instruction] = register
            self.lines.append(f"{register} = {instruction}")
        return register

    def unsigned(self, token: str) -> str:
        """A token of the value that has no sign in front."""
        if token[0] != "-":
            return token
        if token[1] == "%":
            return self.line(f"fneg double {token[1:]}")
        return f"0x{int(token[3], 16) + 8:X}{token[4:]}"

    def add(self, a: str, b: str) -> str:
        """a + b."""
        if b[0] == "-":
            if a[0] == "-":
                return "-" + self.line(f"fadd double {a[1:]}, {b[1:]}")
            return self.line(f"fsub double {a}, {b[1:]}")
        if a[0] == "-":
            return self.line(f"fsub double {b}, {a[1:]}")
        return self.line(f"fadd double {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        """a · b."""
        sign = ""
        if a[0] == "-":
            sign, a = "-", a[1:]
        if b[0] == "-":
            sign, b = ("" if sign else "-"), b[1:]
        if a == ONE:
            return sign + b
        if b == ONE:
            return sign + a
        return sign + self.line(f"fmul double {a}, {b}")

    def divide(self, a: str, b: str) -> str:
        """a / b; from the second division by b on, all of them are products with one reciprocal.

        The first is then rewritten too, so a denominator costs one division however often it is used,
        and one used once is divided by exactly.
        """
        sign = ""
        if a[0] == "-":
            sign, a = "-", a[1:]
        if b[0] == "-":
            sign, b = ("" if sign else "-"), b[1:]
        instruction = f"fdiv double {a}, {b}"
        if instruction in self._registers:
            return sign + self._registers[instruction]
        if b not in self._reciprocals and (a == ONE or b in self._divided):
            self._reciprocals[b] = self._reciprocal(b)
        if b in self._reciprocals:
            return sign + self.multiply(a, self._reciprocals[b])
        self._divided[b] = len(self.lines), a
        self.lines.append("")  # room for the reciprocal
        return sign + self.line(instruction)

    def _reciprocal(self, b: str) -> str:
        """1 / b; a division by b that was made before becomes a product with it."""
        if b not in self._divided:
            return self.line(f"fdiv double {ONE}, {b}")
        place, a = self._divided.pop(b)
        self.lines[place] = f"%v{place} = fdiv double {ONE}, {b}"
        self.lines[place + 1] = f"%v{place + 1} = fmul double {a}, %v{place}"
        return f"%v{place}"

    def power(self, base: str, twice: int) -> str:
        """base^(twice/2) for a positive whole number `twice`, by products and at most one square root."""
        whole, half = divmod(twice, 2)
        result = self.call("llvm.sqrt.f64", base) if half else ONE
        while whole:
            if whole & 1:
                result = self.multiply(result, base)
            whole >>= 1
            if whole:
                base = self.multiply(base, base)
        return result

    def call(self, function: str, *arguments: str) -> str:
        """The value of a function of doubles."""
        listed = ", ".join([f"double {self.unsigned(a)}" for a in arguments])
        instruction = f"call double @{function}({listed})"
        if instruction in self._registers:
            return self._registers[instruction]
        self.called[function] = len(arguments)
        if function in (SINE, COSINE) and has_sincos():
            return self._turn(function, listed, instruction)
        return self.line(instruction)

    def _turn(self, function: str, angle: str, instruction: str) -> str:
        """Sine or cosine; where the other of the same angle was called before, that call becomes one for both."""
        if angle not in self._turned:
            self._turned[angle] = len(self.lines), function
            register = self.line(instruction)
            self.lines.append("")  # room for the other
            return register
        place, first = self._turned[angle]
        self.called[BOTH] = 3
        pointer = pointer_type()
        names = [f"%s{place}", f"%c{place}"]
        own, other = names if first == SINE else names[::-1]
        self.lines[place] = (
            f"{names[0]} = alloca double {names[1]} = alloca double "
            f"call void @{BOTH}({angle}, {pointer} {names[0]}, {pointer} {names[1]}) "
            f"%v{place} = load double, {pointer} {own}"
        )
        self.lines[place + 1] = f"%v{place + 1} = load double, {pointer} {other} {SECOND}"
        self._registers[instruction] = f"%v{place + 1}"
        return f"%v{place + 1}"

    def compare(self, relation: str, a: str, b: str) -> str:
        """The truth value of a relation, named as in LLVM (olt, ole, oeq, une, ...)."""
        return self.line(f"fcmp {relation} double {self.unsigned(a)}, {self.unsigned(b)}", "%b")

    def logic(self, operation: str, a: str, b: str) -> str:
        """and, or, xor of two truth values."""
        return self.line(f"{operation} i1 {a}, {b}", "%b")

    def choose(self, condition: str, a: str, b: str) -> str:
        """a where the condition holds, b elsewhere."""
        return self.line(f"select i1 {condition}, double {self.unsigned(a)}, double {self.unsigned(b)}")

    def number(self, token: str) -> str:
        """A value as a number: a truth value becomes 1 or 0."""
        if token[:2] == "%b" or token in ("true", "false"):
            return self.choose(token, ONE, ZERO)
        return token

    def register(self, token: str) -> str:
        """A register that holds a value as a number, also where it is an input or a constant."""
        token = self.unsigned(self.number(token))
        return token if token[:2] == "%v" else self.line(f"bitcast double {token} to double")
