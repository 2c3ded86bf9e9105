"""Statements that cannot be read, set aside, so that what follows them can be: every mistake of a file in one go.

Lines stay what they are in number, so that places in the rest of the text keep their lines. A value is set aside by
putting empty text in its place; its key stays, for others may refer to it.
"""

import re
from bisect import bisect_right

# How a statement begins, as far as people write it: [section], or key =. A repeated part never gives back what it took
# (`++`, `*+`), and the next one begins otherwise: so the time grows with the length of a line alone.
HEADER = re.compile(
    r"""[ \t]*+\[{1,2}[ \t]*+(?P<name>[\w."'-]++(?: ++[\w."'-]++)*+)[ \t]*+(?:\]{1,2}[ \t]*+)?(?:#.*)?$"""
)
KEY = re.compile(
    r"""[ \t]*+(?P<key>"[^"\n]{1,80}"|'[^'\n]{1,80}'|[^\s=:'"\[\]{}#,;()]{1,80})[ \t]*+(?P<marks>['’]*+)[ \t]*+:?="""
)
SECTION = re.compile(r"""[ \t]*+[\[({<]?(?P<name>[\w."-]++)[\])}>:][ \t]*+(?:#.*)?$""")
COMMENT = re.compile(r"[ \t]*(?://|/\*|%|;|--|!|<!--)")
WORD = re.compile(r"[ \t]*(?P<key>[^\W\d]\w{0,80})\b")
BARE = re.compile(r"[A-Za-z0-9_.-]+")


def statement(text: str, starts: list[int], offset: int) -> tuple[int, int]:
    """The lines, first and beyond the last, of the statement in which something is wrong at an offset.

    `starts` are where statements begin as far as the text could be followed.
    """
    lines = text.split("\n")
    begun = [start for start in starts if not text[text.rfind("\n", 0, start) + 1 : start].strip()]
    last = bisect_right(begun, offset) - 1
    first = text.count("\n", 0, begun[last] if last >= 0 else offset)
    end = first + 1
    while end < len(lines) and not begins(lines[end]):
        end += 1
    return first, end


def begins(line: str) -> bool:
    """Whether a statement, a comment or an empty line begins here, rather than that a list or a text goes on."""
    return not line.strip() or line.lstrip().startswith("#") or bool(HEADER.match(line) or KEY.match(line))


def set_aside(text: str, first: int, end: int, again: bool = False) -> tuple[str, bool]:
    """The text with a statement set aside, and whether what it was for is still known.

    What is given `again` is left out: the first stays.
    """
    lines = text.split("\n")
    replaced = "" if again else replacement(lines[first])
    known = replaced is not None and not (again and lines[first].lstrip().startswith("["))
    aside = f'["set aside {first}"]' if lines[first].lstrip().startswith("[") else ""
    return "\n".join([*lines[:first], replaced or aside, *[""] * (end - first - 1), *lines[end:]]), known


def replacement(line: str) -> str | None:
    """What stands for a statement that begins with a line; None if it is not known what it is for."""
    if COMMENT.match(line):
        return ""
    if found := HEADER.match(line) or (None if "=" in line else SECTION.match(line)):
        return f"[{found.group('name')}]"
    found = KEY.match(line) or (None if "=" in line else WORD.match(line))
    if found is None or line.lstrip().startswith("["):
        return None
    if found.groupdict().get("marks"):  # x' is not a key of its own, and x may be one
        return ""
    key = found.group("key")
    quoted = key if BARE.fullmatch(key) or key[:1] in ("'", '"') else f'"{key}"'
    return f'{quoted} = ""'
