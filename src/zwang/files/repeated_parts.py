"""Bodies, joints and force elements of a model file: one for each entry, or one for each member of a repeated one.

A repeated entry is read once for each of its members, with its indices as numbers. Nothing is lost by that: a mechanism
finds out by itself which of its parts are of one kind. An entry may be called as a member is, "bar[3]", and stands by
itself: one that differs from the others, and all of them in a file that was written by `save_model`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from zwang.files.language.indices import Broken, Ranges, parse_ranges
from zwang.files.language.scope import Scope
from zwang.files.repetition import FOR, is_repeated, ranges_of
from zwang.files.schema import SECTIONS, kind_of
from zwang.files.table_types import Kind
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.files.toml.problems import Misread
from zwang.words import quoted

PART_TABLES = ("bodies", "joints", "springs", "elements")
MOST_REPEATED_PARTS = 4000  # members of the repeated entries of one section
SECTION = {section.name: section for section in SECTIONS}


@dataclass(frozen=True)
class Part:
    """A part as a file has it: its name, where it stands, its kind (None where that is unknown) and its keys."""

    name: str
    path: Path
    kind: Kind | None
    entry: Mapping[str, Any]
    at: Mapping[str, int] = field(default_factory=dict)
    """The indices of a member, by name."""


def entries(data: Mapping[str, Any], section: str) -> Iterator[Part]:
    """The entries of a section, repeated ones once."""
    found = data.get(section)
    for name, entry in found.items() if isinstance(found, dict) else ():
        if isinstance(entry, dict):
            yield Part(name, (section, name), kind_of(SECTION[section], entry), entry)


def parts_in(data: Mapping[str, Any], section: str) -> Iterator[Part]:
    """The parts of a section, members of repeated entries one by one; none where their indices are wrong."""
    for whole in entries(data, section):
        if not is_repeated(whole.entry):
            yield whole
            continue
        ranges = as_said(data, whole.entry[FOR])
        for label, at in zip(ranges.labels(whole.name), ranges.indexed, strict=True) if ranges else ():
            yield Part(label, whole.path, whole.kind, whole.entry, at)


def as_said(data: Mapping[str, Any], text: Any) -> Ranges | None:
    """The indices of a repeated entry, before anything is checked; None where they are wrong, which is noted later."""
    counts = data.get("counts")
    known = {n: k for n, k in counts.items() if type(k) is int} if isinstance(counts, dict) else {}
    try:
        return parse_ranges(text, known) if isinstance(text, str) else None
    except (Misread, Broken):
        return None


def require_members(document: Document) -> None:
    """Refuse a file whose repeated parts are very many, before anything is done with them."""
    for section in PART_TABLES:
        members = 0
        for whole in entries(document.data, section):
            ranges = as_said(document.data, whole.entry[FOR]) if is_repeated(whole.entry) else None
            members += 0 if ranges is None else ranges.size
            if members > MOST_REPEATED_PARTS:
                message = f"the repeated entries of [{section}] have more than {MOST_REPEATED_PARTS:,} members"
                document.of((*whole.path, FOR), message)
                document.raise_problems()


def declare_parts(scope: Scope) -> None:
    """Give repeated parts their indices, and note what is wrong with these."""
    for section in PART_TABLES:
        for whole in entries(scope.document.data, section):
            if not is_repeated(whole.entry):
                scope.repeats.single |= {whole.name} if "[" in whole.name else set()
            elif "[" in whole.name:
                scope.document.of(whole.path, f"{quoted(whole.name)} has an index and is repeated", key=True)
            else:
                scope.repeats.parts[whole.name] = ranges = ranges_of(scope, (*whole.path, FOR), whole.entry[FOR])
                labels = [] if ranges is None else ranges.labels(whole.name)
                if twice := next((label for label in labels if label in scope.document.data[section]), None):
                    message = f"{quoted(twice)} is one of the repeated {quoted(whole.name)}, and stands by itself, too"
                    scope.document.of((section, twice), message, "leave it out of for, or here", key=True)
