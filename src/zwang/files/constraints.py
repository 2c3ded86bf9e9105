"""The constraints of a model file: one by one, or repeated over indices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.files import repetition
from zwang.files.gap_units import not_a_length
from zwang.files.language.build import difference
from zwang.files.language.indices import Ranges
from zwang.files.language.scope import Scope
from zwang.files.language.uses import COEFFICIENT, CONSTRAINT, SLIP
from zwang.files.schema import LONGEST_LABEL
from zwang.files.toml.positions import Path
from zwang.model import Constraint
from zwang.words import quoted


@dataclass
class ConstraintReader:
    """Reads the constraints of one document."""

    scope: Scope
    ranges: dict[str, Ranges | None] = field(default_factory=dict)
    """The indices of repeated constraints; None where they could not be read."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The units of coordinates, where they are given."""

    def declare(self, entries: Mapping[str, Any]) -> None:
        """Give repeated constraints their indices, and their members names."""
        scope = self.scope
        for name, entry in entries.items():
            if not repetition.is_repeated(entry):
                continue
            path: Path = ("constraints", name, repetition.FOR)
            self.ranges[name] = ranges = repetition.ranges_of(scope, path, entry[repetition.FOR])
            labels = ranges.labels(name) if ranges else []
            if clash := next((label for label in labels if label in scope.constraints), None):
                message = f"{quoted(clash)} is one of the repeated {quoted(name)}, and stands here by itself, too"
                scope.document.of(("constraints", clash), message, "choose another name", key=True)
            scope.constraints = (*(other for other in scope.constraints if other != name), *labels)

    def read(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        """The constraints by name; repeated ones as families."""
        found: dict[str, Any] = {}
        document = self.scope.document
        for name, entry in entries.items():
            path: Path = ("constraints", name)
            if isinstance(entry, dict) and "rule" not in entry:
                document.of(path, f"constraint {quoted(name)} has no rule", 'write rule = "left = right"', key=True)
                continue
            if not name.strip() or len(name) > LONGEST_LABEL or not name.isprintable():
                document.of(path, "this is not a name for a constraint", "choose a short one", key=True)
                continue
            if not repetition.is_repeated(entry):
                found |= self.constraint(path, name, entry)
            elif (ranges := self.ranges[name]) is None:
                continue
            elif entry.keys() <= {"rule", "for"} and "bodies" not in document.data:
                family = repetition.rows_at(self.scope, path, entry, CONSTRAINT, ranges)
                found |= {} if family is None else {name: family}
            else:
                found |= self.contacts(path, name, entry, ranges)
        return found

    def contacts(self, path: Path, name: str, entry: Mapping[str, Any], ranges: Ranges) -> dict[str, Constraint]:
        """Repeated contacts with a law, and constraints beside bodies, one by one, up to the first that is wrong."""
        found: dict[str, Constraint] = {}
        for at, label in zip(ranges.indexed, ranges.labels(name), strict=True):
            with self.scope.repeats.member(at):
                made = self.constraint(path, label, entry)
            if not made or self.scope.document.problems:
                return {}
            found |= made
        return found

    def constraint(self, path: Path, name: str, entry: Any) -> dict[str, Constraint]:
        """A constraint by its name; nothing where something is wrong with it."""
        text, place = (entry["rule"], (*path, "rule")) if isinstance(entry, dict) else (entry, path)
        sides = self.scope.relation(place, text, CONSTRAINT)
        if sides is None:
            return {}
        left, sign, right = sides
        if not (left.uses | right.uses) & {"coordinate", "rate", "acceleration"}:
            self.scope.document.of(place, f"constraint {quoted(name)} contains no coordinate, so it constrains nothing")
            return {}
        expr = difference(right, left) if sign == "<=" else difference(left, right)
        law = self.law(path, entry) if isinstance(entry, dict) else {}
        try:
            made = Constraint(expr, name, one_sided=sign != "=", **law)
        except InputError as error:
            self.scope.document.of(path, error.mistakes[0].text)
            return {}
        if made.friction and made.order == 0 and (term := not_a_length(expr, self.units)):
            words = f"the gap of {quoted(name)} is not a length, {term}: friction needs a force, its multiplier is none"
            self.scope.document.of(place, words, "give the gap as a length, times a radius or as a distance")
        return {name: made}

    def law(self, path: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The law of a contact: what its entry says beside its rule."""
        uses = {"restitution": COEFFICIENT, "friction": COEFFICIENT, "slip": SLIP}
        law: dict[str, Any] = {}
        for what in uses.keys() & entry.keys():
            value, place = entry[what], (*path, what)
            if isinstance(value, list):
                law[what] = tuple(self.expression((*place, i), e, uses[what]) for i, e in enumerate(value))
            else:
                law[what] = self.expression(place, value, uses[what])
        return law

    def expression(self, path: Path, value: Any, where: Any) -> sp.Expr:
        """The expression at a path; 0 stands for one that is wrong."""
        built = self.scope.expression(path, value, where)
        return sp.S.Zero if built is None else built.expr
