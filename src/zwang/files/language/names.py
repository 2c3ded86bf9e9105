"""Names in model files: letters, digits and underscores, with dots inside; what they may not be."""

import re
import unicodedata

CONSTANTS = ("pi", "e")
TIME = "t"
LONGEST = 64

# Letters of other alphabets that look like Latin ones: names that differ in these alone would deceive a reader.
LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονιυ",
    "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXoviu",
)

# As a tokenizer sees one: what follows is checked by `wrong_name`, to say what is wrong with it.
PATTERN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


MEMBER = re.compile(r"\[\d+(?:,\d+)*\]")


def without_index(name: str) -> str:
    """The name of a member of repeated parts, or of what it has, without its index.

    >>> without_index("bar[3].x"), without_index("bar[2,0]")
    ('bar.x', 'bar')
    """
    return MEMBER.sub("", name, count=1)


def wrong_name(name: str) -> str:
    """What is wrong with a name; empty if nothing is.

    >>> wrong_name("rod.x"), wrong_name("2x")
    ('', 'must begin with a letter')
    """
    if not name:
        return "is empty"
    if len(name) > LONGEST:
        return f"is longer than {LONGEST} characters"
    for c in name:
        if (c.isdigit() and not c.isascii()) or unicodedata.category(c) == "No":
            plain = unicodedata.normalize("NFKC", c)
            return f"contains the small digit {c}: write _{plain} for an index, ^{plain} for a power"
        if not (c.isascii() and c.isalnum()) and c not in "_." and unicodedata.category(c)[0] not in "LM":
            named = "a space" if c == " " else unicodedata.name(c, "a character").lower()
            shown = c if c.isprintable() and not c.isspace() else named
            return f"contains {shown}: letters, digits, _ and dots inside are meant"
    if unicodedata.normalize("NFKC", name) != name:
        return f"contains letters in disguise: write {unicodedata.normalize('NFKC', name)!r}"
    if name.startswith("__") or ".__" in name:
        return "begins with two underscores, which no name of a model does"
    if not PATTERN.fullmatch(name):
        return "must begin with a letter" if not name[0].isalpha() else "has a dot that stands for nothing"
    return ""


def skeleton(name: str) -> str:
    """A form of a name that is equal for names which a reader could not tell apart.

    >>> skeleton("а") == "a"  # a Cyrillic letter
    True
    """
    return name.translate(LOOKALIKES)
