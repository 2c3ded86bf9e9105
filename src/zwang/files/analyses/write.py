"""Questions to the text of their sections, which reads back equal."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import sympy as sp

from zwang.files.analyses.analysis import Analysis, Held, Named, Values
from zwang.files.language.printer import expression_text
from zwang.files.language.reactions import with_calls
from zwang.files.writing.values import inline, toml_text, written


def entries_of(asked: Analysis) -> dict[str, str]:
    """The keys of a section and their values, where they are not the usual ones."""
    kinds = {key.name: key.type for key in asked.section.keys}
    found: dict[str, str] = {}
    for field in fields(asked):  # type: ignore[arg-type]
        value = getattr(asked, field.name)
        if value is None or value in ("", {}, ()) or value == field.default:
            continue
        found[field.name] = WAYS.get(kinds[field.name], plain)(value)
    return found


def plain(value: Any) -> str:
    """A number, text, or a truth."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, sp.Expr):
        return written(value, "a value")
    return toml_text(value) if isinstance(value, str) else repr(value)


def guesses(values: tuple[Values, ...]) -> str:
    """A table whose keys are expressions, or a list of such."""
    return one_or_list([by_expression(one) for one in values])


def one_or_list(texts: list[str]) -> str:
    """One value as it is, several as a list."""
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def data(values: tuple[Mapping[str, tuple[float, ...]], ...]) -> str:
    """Columns, in the file itself; gaps are nan, as TOML has it."""
    tables = [{name: f"[{', '.join(map(repr, column))}]" for name, column in one.items()} for one in values]
    return one_or_list([inline(table) for table in tables])


def unknown(values: Mapping[str, sp.Expr | None]) -> str:
    """Names, or first guesses by name."""
    if all(e is None for e in values.values()):
        return texts(list(values))
    return inline({name: written(e, name) for name, e in values.items() if e is not None})


def measures(values: Named) -> str:
    """Expressions by name."""
    return inline({name: written(e, name) for name, e in values.items()})


def bounds(values: Mapping[str, tuple[float, float]]) -> str:
    """Pairs by name."""
    return inline({name: f"[{low!r}, {high!r}]" for name, (low, high) in values.items()})


def text_of(expression: sp.Expr) -> str:
    """An expression, reactions in it as calls."""
    return expression_text(with_calls(expression))


def by_expression(values: Values) -> str:
    """A table whose keys are expressions."""
    return inline({text_of(key): written(value, text_of(key)) for key, value in values.items()})


def held(values: Held) -> str:
    """A list of expressions, or a table of their values."""
    kept = {key: value for key, value in values.items() if value is not None}
    return by_expression(kept) if kept else texts([text_of(key) for key in values])


def readings(values: Named) -> str:
    """A list of expressions, or a table where they have other names."""
    if all(text_of(e) == name for name, e in values.items()):
        return texts(list(values))
    return inline({name: toml_text(text_of(e)) for name, e in values.items()})


def texts(values: Any) -> str:
    """A list of texts."""
    return f"[{', '.join(map(toml_text, values))}]"


def ranges(values: Mapping[str, Any]) -> str:
    """A table of ranges."""
    return inline({name: range_text(given) for name, given in values.items()})


def range_text(given: Any) -> str:
    """A range, or values one by one."""
    return toml_text(given) if isinstance(given, str) else f"[{', '.join(repr(float(x)) for x in given)}]"


WAYS: dict[str, Callable[[Any], str]] = {
    "guess": by_expression,
    "held": held,
    "readings": readings,
    "names of inputs": texts,
    "against": ranges,
    "range": range_text,
    "guesses": guesses,
    "data": data,
    "unknown": unknown,
    "measures": measures,
    "weights": measures,
    "bounds": bounds,
}
"""How values of each type are written."""
