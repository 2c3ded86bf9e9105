"""What people write in TOML by habit: a line that cannot be read, what is wrong with it, and how to write it.

tomllib says where it gave up, and seldom what was meant. A few habits make most of such lines: decimal commas, units,
missing or typographic quotes, the comments and separators of other languages. Each is known here by how it looks.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from zwang.words import quoted, shortened

LONGEST_LINE = 400  # characters of a line that is looked at closely

EXPRESSION = 'an expression goes in quotes: energy = "m*v^2/2"'
PLAIN = 'write key = value; quote a key that is not plain: "θ" = 1'
ONE_LINE = "a string in one pair of quotes ends in its line; use three quotes for several lines"
MANY = "a list does not end, or a comma is missing in it"
TABLE = "a table { … } does not end, or a comma is missing in it"

# What tomllib says, what it means, and what to do.
WORDS = {
    "Invalid value": ("this is not a value", EXPRESSION),
    "Expected newline or end of document after a statement": ("the line should end here", EXPRESSION),
    "Expected '=' after a key in a key/value pair": ("= is missing after the key", PLAIN),
    "Invalid statement": ("no key, section or comment begins like this", PLAIN),
    "Invalid initial character for a key part": ("no key begins like this", PLAIN),
    "Unterminated string": (
        "a string that begins here or earlier does not end",
        "close it with its first quotes",
    ),
    "Illegal character": ("a character that is not allowed here", ONE_LINE),
    "Unclosed array": (MANY, "separate entries with , and close with ]"),
    "Unclosed inline table": (TABLE, "separate entries with , and close with } in the same line"),
    "Unescaped '\\' in a string": ("a backslash in a string", "write '…' instead of \"…\" to have it as it is"),
    "Expected ']' at the end of a table declaration": ("] is missing after the name of the section", "write [section]"),
    "Cannot overwrite a value": ("this is given twice, or is both a value and a table", ""),
}

NUMBER = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?"
PAIR = re.compile(
    r"""[ \t]*+(?P<key>"[^"]*"|'[^']*'|[^=:\[\]{}"'#]{0,80}?['’]{0,3})[ \t]*(?P<sign>:=|==|=|:)(?P<rest>.*)"""
)
INNER = re.compile(r""",[ \t]*(?=["']?[^\W\d][\w.-]*["']?[ \t]*=)""")
COMMA = re.compile(
    r"([-+]?)((?:[0-9]{1,3}\.(?=[0-9]{3}[.,]))*[0-9]+),([0-9]+(?:[eE][-+]?[0-9]+)?)(?![0-9.,]*[.,][0-9])"
)
DEGREES = re.compile(rf"({NUMBER})[ \t]*(?:°|deg\b|degrees?\b|Grad\b)")
UNITS = re.compile(
    rf"({NUMBER})[ \t]*((?:[kMGmcdµμn]?(?:m|s|g|N|Nm|Ns|gm|J|W|Hz|Pa|V|A|K|rad|Ω|bar|l|L)|min|h|t|in|ft|lb|lbf|rpm|mph)"
    rf"(?![^\W_0-9²³¹])[\w²³⁻¹/·*^ .()-]*)"
)
PERCENT = re.compile(rf"({NUMBER})[ \t]*%")
POWERS = re.compile(rf"({NUMBER})[ \t]*[x×·*][ \t]*10\^?\(?([-+−]?[0-9]+|[⁻⁺]?[⁰¹²³⁴-⁹]+)\)?")
SPACED = re.compile(r"[-+]?[0-9]{1,3}(?:[ '\u00a0\u2009\u202f][0-9]{3})+(?:\.[0-9]+)?")
FRACTIONS = re.compile(r"([0-9]*)([¼-¾⅐-⅞])")
# A section: with more behind it, not closed, in other brackets.
SECTION = r"[\w.\" -]+"
BEFORE_MORE = re.compile(rf"\[({SECTION})\]\s*+(\S.*)")
NOT_CLOSED = re.compile(rf"\[({SECTION})[)}}>\[]?")
OTHER_BRACKETS = re.compile(rf"[({{<]({SECTION})[)}}>\]]|({SECTION})[\]:]")
QUOTES = "“”„‟«»‘’‚‹›`´"
OTHER_QUOTES = str.maketrans("", "", "“”„‟«»‹›`")
COMMENTS = ("//", "%", ";", "/*", "--", "!", "<!--", "REM ")
TRUTH = {"true": "true", "yes": "true", "on": "true", "wahr": "true",
         "false": "false", "no": "false", "off": "false", "falsch": "false"}  # fmt: skip
NOTHING = ("none", "null", "nil", "na", "n/a", "nothing", "undefined")
DECLARING = ("let", "var", "const", "float", "double", "real", "param", "parameter", "set", "def")
BETWEEN = re.compile(r"(?<=[\w\"')\]])[ \t]+(?=[-\w\"'([])")
QUOTE = '"'
SMALL = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹−", "-+0123456789-")


@dataclass(frozen=True)
class Line:
    """A line that cannot be read: its key and value, where the value begins, and where tomllib gave up."""

    text: str
    key: str
    sign: str
    value: str
    at: int
    wrong: int

    def slip(self, message: str, remedy: str, at: int | None = None) -> "Slip":
        """A slip at a column (where the value begins, if none is given), with the value to write."""
        write = f"write {self.key} = {remedy}" if self.key else f"write {remedy}"
        return Slip(self.at if at is None else at, message, write)


@dataclass(frozen=True)
class Slip:
    """What is wrong in a line, at which column (from 0), and the remedy."""

    at: int
    message: str
    hint: str


def slip_in(text: str, wrong: int, what: str) -> Slip:
    """The slip in a line that tomllib gave up at a column, with its words.

    >>> slip_in("g = 9,81", 5, "Expected newline or end of document after a statement").hint
    'write g = 9.81'
    """
    if len(text) <= LONGEST_LINE:
        line = taken_apart(text, wrong)
        for look in LOOKS:
            if found := look(line):
                return replace(found, message=shortened(found.message, 120), hint=shortened(found.hint, 200))
    message, hint = WORDS.get(what, (what[:1].lower() + what[1:], ""))
    if what.startswith("Illegal character"):
        message, hint = WORDS["Illegal character"]
    if what.startswith(("Cannot", "Duplicate")):
        message = WORDS["Cannot overwrite a value"][0]
    return Slip(wrong, message, hint)


def taken_apart(text: str, wrong: int) -> Line:
    """The key and the value of a line; of an inline table, those of the entry where tomllib gave up."""
    text = without_comment(text)
    pair = PAIR.match(text)
    if pair is None:
        blank = len(text) - len(text.lstrip())
        return Line(text, "", "", text.strip(), blank, wrong)
    rest, at = pair.group("rest"), pair.start("rest")
    at += len(rest) - len(rest.lstrip())
    line = Line(text, pair.group("key").strip(), pair.group("sign"), rest.strip(), at, wrong)
    if not line.value.startswith("{"):
        return line
    cuts = [at + 1, *(found.end() for found in INNER.finditer(text, at)), len(text)]
    begin, end = next((ends for ends in pairwise(cuts) if wrong < ends[1]), (cuts[-2], cuts[-1]))
    entry = PAIR.match(text[begin:end].rstrip().rstrip("},").rstrip())
    if entry is None or wrong < begin:
        return line
    rest, at = entry.group("rest"), begin + entry.start("rest")
    return Line(
        text, entry.group("key").strip(), entry.group("sign"), rest.strip(), at + len(rest) - len(rest.lstrip()), wrong
    )


def without_comment(text: str) -> str:
    """A line up to its comment: a # that is not in quotes."""
    inside = ""
    for i, c in enumerate(text):
        if inside:
            inside = "" if c == inside else inside
        elif c in "\"'":
            inside = c
        elif c == "#":
            return text[:i]
    return text


def is_value(text: str) -> bool:
    """Whether this is a value in TOML."""
    try:
        return bool(text.strip()) and "\n" not in text and len(tomllib.loads(f"x = {text}")) == 1
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return False


def strange_space(line: Line) -> Slip | None:
    """A space that is not a plain one, as copied from a page or typed with a modifier key."""
    found = re.search(r"[^\S \t\r\n]", line.text)
    if found is None or SPACED.fullmatch(line.value):
        return None
    name = unicodedata.name(found.group(), "unknown").lower()
    return Slip(found.start(), f"a space that is not a plain one: {name}", "delete it, and type a space")


def other_comment(line: Line) -> Slip | None:
    """A comment of another language."""
    text = line.text.strip()
    if text.startswith(COMMENTS):
        return Slip(
            len(line.text) - len(line.text.lstrip()), "a comment begins with #", f"write # {text.lstrip('/%;*-!< ')}"
        )
    for mark in COMMENTS[:6]:
        value, found, words = line.value.partition(mark)
        if found and words.strip() and line.key and is_value(value):
            at = line.at + len(value)
            return line.slip("a comment begins with #", f"{value.strip()}  # {words.strip()}", at)
    return None


def other_header(line: Line) -> Slip | None:
    """A section whose brackets are wrong, or that does not stand alone."""
    text = line.text.strip()
    at = len(line.text) - len(line.text.lstrip())
    if found := BEFORE_MORE.fullmatch(text):
        return Slip(
            at + found.start(2), "a section stands in a line of its own", f"begin a new line after [{found.group(1)}]"
        )
    if found := NOT_CLOSED.fullmatch(text):
        return Slip(at + len(text), "] is missing after the name of the section", f"write [{found.group(1)}]")
    if found := OTHER_BRACKETS.fullmatch(text):
        return Slip(at, "the name of a section stands in [ ]", f"write [{found.group(1) or found.group(2)}]")
    if found := re.fullmatch(r"\[(\w+) (\w+)\]", text):
        return Slip(at, "a section's name has a dot, not a space", f"write [{found.group(1)}.{found.group(2)}]")
    if re.fullmatch(r"[A-Za-z_]+", text):
        return Slip(at, f"{quoted(text)} alone says nothing", f"write [{text}] for a section, {text} = … for a value")
    return None


def other_key(line: Line) -> Slip | None:
    """A key that is not plain, or that no = follows."""
    key, value = line.key, line.value
    at = len(line.text) - len(line.text.lstrip())
    if (
        key
        and value
        and (found := re.fullmatch(r"(\w+?)(?:['’′]+(?:\(0\))?|_?dot)", key))
        and "'" in key.translate(MARKS)
    ):
        name = found.group(1)
        return Slip(at, f"{key} is a rate, and not a key", f"write {name} = {{ start = …, rate = {value} }}")
    if key and not key.startswith(('"', "'")) and not re.fullmatch(r"[A-Za-z0-9_.\- \t]+", key):
        if re.fullmatch(r"[\w.\-]+", key):
            return Slip(at, f"the key {key} has letters beyond a to z", f'put it in quotes: "{key}" = {value}')
        return Slip(at, f"{quoted(key)} is not a plain name", "a key is a name: letters, digits and _")
    if key and re.fullmatch(r"\w+(?:[ \t]+\w+)+", key):
        words = key.split()
        joined = "_".join(words[words[0] in DECLARING :])
        return Slip(at, f"the key {quoted(key)} has spaces in it", f"write {joined} = {value}")
    if key and line.sign in (":", ":=", "==") and value:
        return line.slip(f"{line.sign} stands where = is meant", value, line.text.index(line.sign))
    if not key and (found := re.fullmatch(r"([A-Za-z_]\w*+)[ \t]++([^=]+)", value)):
        return Slip(
            line.at + found.start(2), "= is missing after the key", f"write {found.group(1)} = {found.group(2)}"
        )
    return None


MARKS = str.maketrans("’′−–·×⋅", "''--***")


def other_quotes(line: Line) -> Slip | None:
    """Quotes of typography, or quotes that a rate mark ends too early."""
    value = line.value
    inner = (
        value[1 : -1 if value[-1:] in (*QUOTES, "'", '"') else None].translate(OTHER_QUOTES).translate(MARKS).strip()
    )
    if value[:1] and value[0] in QUOTES:
        return line.slip(f"{value[0]} is not a straight quote", f'"{inner}"')
    if value.startswith('"') and value.count('"') == 1:
        if found := re.search(f"[{QUOTES}]$", value):
            at = line.at + found.start()
            return line.slip(f"{found.group()} is not a straight quote: the text does not end", f'"{inner}"', at)
        return line.slip('the text does not end: " is missing', f'{value}"', line.at + len(value))
    if value.startswith("'") and value.count("'") > 2:
        end = line.at + value.index("'", 1)
        return line.slip("the rate mark ' ends a text in single quotes", f'"{value[1:-1]}"', end)
    if value.startswith("'") and value.count("'") == 1:
        return line.slip("the text does not end: ' is missing", f'"{value[1:]}"', line.at + len(value))
    if value.startswith('"') and value.count('"') > 2 and not value.startswith('"""') and "," not in value:
        end = line.at + value.index('"', 1)
        inner = value[1:-1].replace('"', "''")
        return line.slip('the text ends at this "', f'"{inner}"', end)
    return None


def other_number(line: Line) -> Slip | None:
    """A number as it is written elsewhere, or with its unit."""
    value = line.value
    if found := COMMA.match(value):
        sign, whole, rest = found.groups()
        return line.slip(f"{found.group()} has a decimal comma", f"{sign}{whole.replace('.', '')}.{rest}")
    if found := DEGREES.fullmatch(value):
        return line.slip(f"{value} is in degrees: angles are in radians", f'"{found.group(1)}*pi/180"')
    if found := PERCENT.fullmatch(value):
        return line.slip("a value is a plain number, without %", f"{float(found.group(1)) / 100:g}")
    if found := POWERS.fullmatch(value):
        return line.slip("a power of ten is written with e", f"{found.group(1)}e{found.group(2).translate(SMALL)}")
    if found := UNITS.fullmatch(value):
        unit = found.group(2).strip()
        return line.slip(f"a value is a plain number, without its unit {unit}", f"{decimal(found.group(1))}  # {unit}")
    if SPACED.fullmatch(value):
        return line.slip("a number has no spaces or marks in it", re.sub(r"[^-+0-9.]", "", value))
    if found := FRACTIONS.fullmatch(value):
        number = float(found.group(1) or 0) + unicodedata.numeric(found.group(2))
        return line.slip(f"{value} is not a number", f"{number:g}")
    if found := re.fullmatch(r"([-+]?[0-9_]+[eE][-+]?[0-9]+)\.0*", value):
        return line.slip("the exponent of a number is whole", found.group(1))
    if re.fullmatch(NUMBER, value) and not is_value(value):
        return line.slip(f"{quoted(value)} is not a number: a point has digits on both sides", decimal(value))
    return None


def decimal(text: str) -> str:
    """A number with digits on both sides of its point.

    >>> decimal("1."), decimal("-.5"), decimal("007")
    ('1.0', '-0.5', '7')
    """
    text = re.sub(r"^([-+]?)0+(?=[0-9])", r"\1", text)
    return re.sub(r"\.(?![0-9])", ".0", re.sub(r"^([-+]?)\.", r"\g<1>0.", text))


def other_word(line: Line) -> Slip | None:
    """True, None and the like."""
    word = line.value.lower()
    if word in TRUTH:
        return line.slip(f"{quoted(line.value)} is not a value", TRUTH[word])
    if word in NOTHING and line.key:
        return Slip(line.at, f"{quoted(line.value)} is not a value", f"leave {line.key} out where it has no value")
    if not line.value and line.key:
        return Slip(line.at, f"the value of {line.key} is missing", f"write {line.key} = 1.0, or leave the line out")
    return None


def other_separator(line: Line) -> Slip | None:
    """A sign at the end of the line, or between the entries of a list, that TOML does not have."""
    value = line.value
    if line.key and value[-1:] in (";", ",") and is_value(value[:-1]):
        return line.slip(f"a line does not end in {value[-1]}", value[:-1].strip(), line.at + len(value) - 1)
    if value.startswith("[") and ";" in value:
        return line.slip("entries of a list are separated by ,", value.replace(";", ","), line.at + value.index(";"))
    inner = re.fullmatch(r"\(([^,]*+,.*)\)|\{([^=,]*+,[^=]*)\}", value)
    if inner and is_value(listed := f"[{inner.group(1) or inner.group(2)}]"):
        return line.slip("a list stands in [ ]", listed)
    if value.startswith("[") and not is_value(value) and is_value(listed := BETWEEN.sub(", ", value)):
        at = line.at + next(i for i, (a, b) in enumerate(zip(value, listed, strict=False)) if a != b)
        return line.slip("a comma is missing in the list", listed, max(at, line.wrong))
    if value.startswith(("[", "{")) and value.count(value[0]) == value.count("]}"[value[0] == "{"]) + 1:
        close = "]}"[value[0] == "{"]
        if is_value(value + close):
            return line.slip(f"{close} is missing at the end", value + close, line.at + len(value))
    return None


def no_quotes(line: Line) -> Slip | None:
    """An expression without quotes, alone or as an entry of a list or table."""
    value, at, key = line.value, line.at, line.key
    entries = re.fullmatch(r"\[([^\[\]\"']*)\]", value)
    if entries and key:
        parts = [part.strip() for part in entries.group(1).split(",")]
        written = f"[{', '.join(part if is_value(part) else QUOTE + part + QUOTE for part in parts)}]"
        return line.slip("an expression goes in quotes", written, line.wrong) if is_value(written) else None
    if value.startswith("[") and line.wrong > at:  # the entry of a list at which tomllib gave up
        entry = re.match(r"[^,\[\]]*", line.text[line.wrong :])
        value, at, key = entry.group().strip() if entry else "", line.wrong, ""
    if not value or value[0] in "\"'[{" or '"' in value or is_value(value):
        return None
    if not re.search(r"\w", value) or re.search(r"[=;:]", value) or not (key or line.value.startswith("[")):
        return None
    at = at if not re.match(r"[-+]?[0-9.]", value) else max(at, line.wrong)
    return replace(line, key=key).slip("an expression goes in quotes", f'"{value}"', at)


LOOKS: tuple[Callable[[Line], Slip | None], ...] = (
    other_comment, strange_space, other_header, other_key, other_word, other_quotes, other_number, other_separator,
    no_quotes,
)  # fmt: skip
