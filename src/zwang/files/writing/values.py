"""Values and sections of TOML, with expressions in the grammar of model files."""

import re
from collections.abc import Mapping, Sequence

import sympy as sp

from zwang.files.language.printer import expression_text
from zwang.model import Constraint

BARE = re.compile(r"[A-Za-z0-9_-]+")


def section(name: str, entries: Mapping[str, str], empty: bool = False) -> list[str]:
    """A section as lines; nothing if it is empty, unless that says something."""
    return [f"[{name}]", *(f"{key(k)} = {value}" for k, value in entries.items())] if entries or empty else []


def key(name: str) -> str:
    """A key, in quotes if it is not plain."""
    return name if BARE.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    """Text as TOML has it; in three pairs of quotes if it has several lines."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(c if c.isprintable() or c in "\n\t" else f"\\U{ord(c):08x}" for c in escaped)
    return f'"""\n{escaped}"""' if "\n" in text else f'"{escaped}"'.replace("\t", "\\t")


def inline(entries: Mapping[str, str]) -> str:
    """A table in one line."""
    return f"{{ {', '.join(f'{key(k)} = {value}' for k, value in entries.items())} }}" if entries else "{}"


def written(expression: sp.Expr, who: str) -> str:
    """An expression as a TOML value: a number if TOML has it, else text."""
    text = expression_text(expression, who)
    plain = expression.is_Float or (expression.is_Integer and len(text) <= 18)  # integers of 64 bits, no longer ones
    return text if plain else toml_text(text)


def constraint_text(constraint: Constraint) -> str:
    """A constraint as a TOML value: its rule, in a table with the law of its contact if it has one."""
    who = f"constraint {constraint.name!r}"
    text = expression_text(constraint.expression, who)
    rule = toml_text(f"{text} {'>=' if constraint.one_sided else '='} 0")
    law = {"restitution": written(constraint.restitution, who)} if constraint.restitution != 0 else {}
    if constraint.friction:
        law["friction"] = one_or_two(tuple(dict.fromkeys(constraint.friction)), who)
        law["slip"] = one_or_two(constraint.slip, who)
    return inline({"rule": rule} | law) if law else rule


def one_or_two(values: Sequence[sp.Expr], who: str) -> str:
    """One expression, or a list of two."""
    texts = [written(e, who) for e in values]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
