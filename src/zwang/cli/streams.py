"""Standard streams that take any text: of every encoding, and where they are closed."""

import codecs
import os
import sys
import unicodedata

PLAIN = "zwang.plain"
# What stands for signs that an encoding lacks; letters lose their marks, Greek ones have names, the rest is ?
SIGNS = {"−": "-", "–": "-", "—": "-", "─": "-", "│": "|", "…": "...", "→": "->", "×": "x", "·": ".", "⋅": ".",
         "µ": "u", "μ": "u", "½": "1/2", "⁻": "^-", "⁺": "^+", "ᵀ": "^T", "√": "sqrt", "≤": "<=", "≥": ">=",
         "⎡": "[", "⎢": "[", "⎣": "[", "⎤": "]", "⎥": "]", "⎦": "]", "⎛": "(", "⎜": "(", "⎝": "(", "⎞": ")", "⎟": ")",
         "⎠": ")", "‘": "'", "’": "'", "“": '"', "”": '"', "•": "*", "●": "*", "✓": "+", "✗": "x"}  # fmt: skip


def prepare() -> None:
    """Make standard output and standard error take any text; what is written to a closed one is discarded."""
    occupy()
    codecs.register_error(PLAIN, plainer)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # Python's way of saying that it was closed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=PLAIN)


def occupy() -> None:
    """Open the null device on closed descriptors 0 to 2: otherwise the next file opened would be standard output."""
    opened = os.open(os.devnull, os.O_RDWR)
    while opened <= 2:
        opened = os.dup(opened)
    os.close(opened)


def plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    """What to write in place of characters that an encoding does not have; bytes of file names stay what they are.

    >>> codecs.register_error(PLAIN, plainer)
    >>> "q̈ = −λ/2 …".encode("ascii", PLAIN)
    b'q = -lambda/2 ...'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    c = error.object[error.start]
    if "\udc80" <= c <= "\udcff":
        return bytes([ord(c) - 0xDC00]), error.start + 1
    return SIGNS.get(c, "" if unicodedata.combining(c) else bare(c)), error.start + 1


def bare(c: str) -> str:
    """A character without its marks, in ASCII, or the name of a Greek letter."""
    name = unicodedata.name(c, "")
    if name.startswith(("GREEK SMALL LETTER ", "GREEK CAPITAL LETTER ")):
        word = name.split()[3].replace("LAMDA", "LAMBDA")
        return word.lower() if "SMALL" in name else word.capitalize()
    return unicodedata.normalize("NFKD", c).encode("ascii", "ignore").decode() or "?"
