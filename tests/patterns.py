"""Every regular expression of zwang, with the methods it is called by, and texts that are hard for it."""

import ast
import importlib
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from re import _constants as kinds
from re import _parser as parser

SOURCE = Path(__file__).parents[1] / "src"
METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "finditer", "findall")
CHARACTERS = "a0_ \t\n.,-=+'\"#[](){}<>:;/*^%\\x\u00e9\u2019\u00b2"
ENDS = ("", "\x00", "=")


@dataclass(frozen=True)
class Pattern:
    """An expression, where it stands, and how it is called."""

    place: str
    compiled: re.Pattern
    methods: tuple[str, ...]


def patterns() -> list[Pattern]:
    """All of them: compiled ones of modules, and those given to `re.match` and the like."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    called: dict[str, set[str]] = {}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            called.setdefault(name, set()).add(node.attr)
    found = []
    for path, tree in trees.items():
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_of_re(node.func)]
        if not calls:
            continue
        names = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        known = vars(importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts)))
        for call in calls:
            place = f"{path.relative_to(SOURCE)}:{call.lineno}"
            if call.func.attr == "compile":
                name = names[id(call)]
                found.append(Pattern(f"{place} {name}", known[name], tuple(sorted(called.get(name, ("match",))))))
            else:
                text = eval(compile(ast.Expression(call.args[0]), place, "eval"), dict(known))  # constants alone
                flags = [k.value for k in call.keywords if k.arg == "flags"]
                flag = eval(compile(ast.Expression(flags[0]), place, "eval"), dict(known)) if flags else 0
                compiled = text if isinstance(text, re.Pattern) else re.compile(text, flag)
                found.append(Pattern(f"{place} {text}", compiled, (call.func.attr,)))
    return found


def is_of_re(function: ast.expr) -> bool:
    """Whether this is `re.match`, `re.compile` or the like."""
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in (*METHODS, "compile")
    )


def call(pattern: Pattern, text: str) -> None:
    """Let an expression work on a text in the ways in which it is called."""
    given = text.encode("utf-8", "replace") if isinstance(pattern.compiled.pattern, bytes) else text
    for method in pattern.methods:
        if method in ("sub", "subn"):
            getattr(pattern.compiled, method)("" if given is text else b"", given)
        elif method == "finditer":
            for _ in pattern.compiled.finditer(given):
                pass
        else:
            getattr(pattern.compiled, method)(given)


def hard_texts(pattern: Pattern, length: int):
    """Texts that begin as the expression does, and then repeat what may stand in many places of it without an end."""
    source = pattern.compiled.pattern
    tree = parser.parse(source.decode("latin-1") if isinstance(source, bytes) else source, pattern.compiled.flags & ~32)
    starts = dict.fromkeys(["", *beginnings(tree)])
    letters = dict.fromkeys([*CHARACTERS, *literals(tree)])
    for start, letter, end in product(starts, letters, ENDS):
        yield start + letter * (length // len(letter)) + end
    own = list(dict.fromkeys(literals(tree)))[:12]
    for start, one, other in product(list(starts)[:3], own, own):
        if one != other:
            yield start + (one + other) * (length // len(one + other)) + "\x00"
    for start in starts:
        if start:
            yield start * (length // len(start))
            yield start * (length // len(start)) + "\x00"


def beginnings(tree) -> list[str]:
    """What stands before each part that may be long, in two forms: as short as possible, and a little longer."""
    found = []
    for often in (0, 2):
        text = ""
        for part in tree:
            if part[0] not in (kinds.LITERAL, kinds.AT):
                found.append(text)
            text += sample([part], often)
    return found


def sample(tree, often: int) -> str:
    """A text that a part of an expression matches."""
    text = ""
    for kind, value in tree:
        if kind is kinds.LITERAL:
            text += chr(value)
        elif kind is kinds.NOT_LITERAL:
            text += "b" if value != ord("b") else "c"
        elif kind is kinds.ANY:
            text += "a"
        elif kind is kinds.IN:
            text += member(value)
        elif kind is kinds.BRANCH:
            text += sample(value[1][0], often)
        elif kind is kinds.SUBPATTERN:
            text += sample(value[3], often)
        elif kind is kinds.ATOMIC_GROUP:
            text += sample(value, often)
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            text += sample(value[2], often) * min(max(value[0], often), value[1])
    return text


def member(entries) -> str:
    """A character of a class."""
    compiled = re.compile(class_source(entries))
    return next(c for c in [*CHARACTERS, *map(chr, range(1, 0x3000))] if compiled.fullmatch(c))


def class_source(entries) -> str:
    """A class of characters, written out again."""
    words = {
        kinds.CATEGORY_DIGIT: r"\d", kinds.CATEGORY_NOT_DIGIT: r"\D", kinds.CATEGORY_SPACE: r"\s",
        kinds.CATEGORY_NOT_SPACE: r"\S", kinds.CATEGORY_WORD: r"\w", kinds.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    source = ""
    for kind, value in entries:
        if kind is kinds.NEGATE:
            source += "^"
        elif kind is kinds.LITERAL:
            source += re.escape(chr(value))
        elif kind is kinds.RANGE:
            source += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            source += words[value]
    return f"[{source}]"


def literals(tree) -> list[str]:
    """The characters that an expression names, and short texts of its repeated parts."""
    found = []
    for kind, value in tree:
        if kind is kinds.LITERAL:
            found.append(chr(value))
        elif kind is kinds.IN:
            found.append(member(value))
        elif kind is kinds.BRANCH:
            found += [text for branch in value[1] for text in literals(branch)]
        elif kind is kinds.SUBPATTERN:
            found += literals(value[3])
        elif kind is kinds.ATOMIC_GROUP:
            found += literals(value)
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            found += [text for often in (0, 2) if (text := sample(value[2], often))] + literals(value[2])
    return found
