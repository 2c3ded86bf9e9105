"""Repeated entries of a model file become families: a template, and what its symbols stand for."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.files.language.build import difference
from zwang.files.language.indices import Ranges, parse_ranges
from zwang.files.language.repeat import Template
from zwang.files.language.scope import Meaning, Scope
from zwang.files.language.uses import Use
from zwang.files.toml.positions import Path
from zwang.files.toml.problems import Misread
from zwang.model.families.array import CoordinateArray
from zwang.model.families.family import Family, Sum, family
from zwang.model.symbols import as_expression, as_scalar, rates
from zwang.model.time import coordinate
from zwang.words import quoted

FOR = "for"


def is_repeated(entry: Any) -> bool:
    """Whether an entry is repeated over an index."""
    return isinstance(entry, dict) and FOR in entry


def declare_counts(scope: Scope, counts: Mapping[str, int]) -> None:
    """Give whole numbers their names."""
    declared = [name for name, meaning in scope.names.items() if meaning.kind == "count"]
    scope.repeats.counts |= {name: counts.get(name) for name in declared}


def declare_arrays(scope: Scope, entries: Mapping[str, Any]) -> None:
    """Give repeated coordinates their indices."""
    for name, entry in entries.items():
        if is_repeated(entry):
            path: Path = ("coordinates", name)
            scope.repeats.arrays[name] = ranges_of(scope, (*path, FOR), entry[FOR])
            scope.names[name] = Meaning("array", path)


def ranges_of(scope: Scope, path: Path, text: str) -> Ranges | None:
    """The indices at a path, or None where something is wrong with them, which is then noted."""

    def make() -> Ranges:
        ranges = parse_ranges(text, scope.repeats.counts)
        for name in ranges.names:
            if name in scope.names:
                section = scope.names[name].path[0]
                message = f"the index {quoted(name)} has a meaning already: [{section}] declares it"
                raise Misread(message, text.index(name), "choose another name")
        return scope.repeats.count(ranges)

    return scope.attempt(path, make)


def listed_coordinates(scope: Scope) -> tuple[list[Any], dict[str, sp.Expr]]:
    """The coordinates as a system takes them, arrays whole, and all of them by name."""
    parts: list[Any] = []
    every: dict[str, sp.Expr] = {}
    for name, meaning in scope.names.items():
        if meaning.kind == "coordinate":
            parts.append(meaning.expr)
            every[name] = meaning.expr
        elif meaning.kind == "array" and (ranges := scope.repeats.arrays[name]) is not None:
            array = array_of(name, ranges)
            parts.append(array)
            every |= {member: coordinate(member) for member in array.names.flat}
    return parts, every


def array_of(name: str, ranges: Ranges) -> CoordinateArray:
    """The array of repeated coordinates."""
    names = np.empty(ranges.size, dtype=object)
    names[:] = ranges.labels(name)
    return CoordinateArray(names.reshape(ranges.shape))


def starts_of(
    scope: Scope, name: str, entry: Mapping[str, Any], key: str, use: Use, check: Callable[[Path, sp.Expr], None]
) -> dict[sp.Expr, sp.Expr]:
    """What repeated coordinates, or their rates, are at the start; `check` notes what is not a number."""
    ranges, path = scope.repeats.arrays[name], ("coordinates", name, key)
    if ranges is None:
        return {}
    found: list[sp.Expr] = [sp.S.Zero] * ranges.size
    if isinstance(value := entry.get(key, 0), str):
        with scope.repeats.over(ranges) as here:
            built = scope.expression(path, value, use)
        if built is not None and not here.numbers:
            check(path, built.expr)
            found = [built.expr] * ranges.size
        elif built is not None and scope.attempt(path, lambda: charged(scope, built.size * ranges.size)):
            symbols = {sp.Symbol(n): values for n, values in here.numbers.items()}
            for k in range(ranges.size):
                found[k] = built.expr.xreplace({s: as_expression(values[k]) for s, values in symbols.items()})
                before = len(scope.document.problems)
                check(path, found[k])
                if len(scope.document.problems) > before:
                    break
    else:
        found = [as_scalar(value)] * ranges.size
    members = map(coordinate, ranges.labels(name))
    return {rates(q)[0] if key == "rate" else q: e for q, e in zip(members, found, strict=True)}


def charged(scope: Scope, parts: int) -> bool:
    """Whether so many parts may be computed; refused otherwise."""
    scope.repeats.compute(parts, 0)
    return True


def energy_of(scope: Scope, path: Path, given: Any, use: Use) -> Any:
    """An energy: an expression, a sum over indices, or a list of these."""
    total: Any = sp.S.Zero
    several = isinstance(given, list)
    for k, term in enumerate(given if several else [given]):
        where: Path = (*path, k) if several else path
        if not is_repeated(term):
            built = scope.expression(where, term, use)
            made: Any = sp.S.Zero if built is None else built.expr
        else:
            made = family_at(scope, where, term["sum"], "sum", term[FOR], use)
        if made is not None:
            total = made if total is sp.S.Zero else made + total if isinstance(made, Family | Sum) else total + made
    return total


def family_at(scope: Scope, path: Path, text: Any, key: str, indices: str, use: Use) -> Family | None:
    """The family at a path: the template under a key, over indices; None where something is wrong."""
    ranges = ranges_of(scope, (*path, FOR), indices)
    if ranges is None:
        return None
    with scope.repeats.over(ranges) as here:
        built = scope.expression((*path, key), text, use)
        return None if built is None else made_family(scope, (*path, key), built.expr, here)


def along_array(scope: Scope, path: Path, entry: Mapping[str, Any], use: Use) -> tuple[CoordinateArray, Any] | None:
    """The coordinates along which repeated forces act, and the forces."""
    name = str(path[1])
    wrong = "" if name in scope.repeats.arrays else f"{quoted(name)} is not a repeated coordinate"
    missing = next((key for key in ("force", FOR) if key not in entry), None)
    if wrong or missing:
        hint = 'write { force = "…", for = "i = 1:20" }, for forces along repeated coordinates'
        scope.document.of(path, wrong or f"{quoted(name)} has no {missing}", hint, key=True)
        return None
    array = scope.repeats.arrays[name]
    ranges = ranges_of(scope, (*path, FOR), entry[FOR])
    if array is None or ranges is None:
        return None
    if len(ranges.names) != len(array.names):
        message = f"{quoted(name)} has {len(array.names)} indices, {len(ranges.names)} are given"
        scope.document.of((*path, FOR), message)
        return None
    inside = all(a <= first and last <= b for (first, last), (a, b) in zip(ranges.pairs, array.pairs, strict=True))
    if not inside:
        there = f"there are {name}{list(array.firsts)} to {name}{list(array.lasts)}"
        scope.document.of((*path, FOR), f"forces along {quoted(name)} are out of range", there.replace(", ", ","))
        return None
    on = array_of(name, ranges).ravel()
    with scope.repeats.over(ranges) as here:
        built = scope.expression((*path, "force"), entry["force"], use)
        if built is None:
            return None
        made = made_family(scope, (*path, "force"), built.expr, here) if here.used else built.expr
    return None if made is None else (on, made)


def made_family(scope: Scope, path: Path, expression: Any, here: Template, names: Iterable[str] = ()) -> Family | None:
    """A template and what its symbols stand for, or None where it does not make sense, which is then noted."""
    unused = [i for i in here.ranges.names if i not in here.used]
    if unused and path[-1] != "force":  # a force acts along a coordinate that has all indices
        message = f"the index {quoted(unused[0])} does not occur here: every member is the same"
        scope.document.of(path, message, "leave it out of for")
        return None
    bindings: dict[sp.Expr, Any] = {coordinate(n): CoordinateArray(members) for n, members in here.names.items()}
    bindings |= {sp.Symbol(n): values for n, values in here.numbers.items()}
    occurring = expression.atoms(AppliedUndef) | expression.free_symbols
    bindings = {s: values for s, values in bindings.items() if s in occurring}
    if not bindings:
        scope.document.of(path, f"this is {expression}, whatever the index is")
        return None
    made = family(expression, bindings, tuple(names))
    for kind in made.kinds:
        if kind.expression.has(sp.zoo, sp.nan, sp.oo, -sp.oo):
            k = int(kind.members[0])
            where = ", ".join(f"{i} = {column[k]}" for i, column in here.ranges.columns.items())
            scope.document.of(path, f"this has no finite value where {where}")
            return None
    return made


def rows_at(scope: Scope, path: Path, entry: Mapping[str, Any], use: Use, ranges: Ranges) -> Family | None:
    """Repeated constraints as a family."""
    name, place = str(path[1]), (*path, "rule")
    with scope.repeats.over(ranges) as here:
        sides = scope.relation(place, entry["rule"], use)
        if sides is None:
            return None
        left, sign, right = sides
        if not (left.uses | right.uses) & {"coordinate", "rate", "acceleration"}:
            scope.document.of(place, f"constraint {quoted(name)} contains no coordinate, so it constrains nothing")
            return None
        expr = difference(right, left) if sign == "<=" else difference(left, right)
        rule = expr if sign == "=" else sp.GreaterThan(expr, 0, evaluate=False)
        return made_family(scope, place, rule, here, ranges.labels(name))
