"""XML from strangers: parsed without entities and within bounds, read with messages that name the element."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from zwang.errors import InputError
from zwang.multibody.readers.sizes import LARGEST
from zwang.multibody.readers.skeleton import refused

MOST = 20_000_000  # characters of a file
NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d{1,3})?", re.ASCII)
DECLARED = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,20})["']""")
ENCODINGS = {"iso-8859-1": "latin-1", "latin-1": "latin-1", "windows-1252": "cp1252", "us-ascii": "latin-1"}
XACRO = "it is written in xacro: let xacro turn it into plain URDF first"


@dataclass
class Xml:
    """What was found wrong with a file, mended and left aside, as it is read; if `strict`, nothing is mended."""

    strict: bool = False
    mistakes: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def mend(self, mistake: str, mended: str) -> None:
        """A mistake, or what becomes of it if files may have some."""
        if self.strict:
            self.mistakes.append(mistake)
        else:
            self.warnings.append(mended)

    def named(self, root: Element, tag: str) -> dict[str, Element]:
        """The root's elements of a tag by their names, which must differ."""
        found: dict[str, Element] = {}
        for i, e in enumerate(root.findall(tag)):
            name = e.get("name", "").strip()
            if not name:
                self.mistakes.append(f"the {tag} number {i + 1} has no name")
            elif name in found:
                self.mistakes.append(f"two of the {tag}s are called {name!r}")
            else:
                found[name] = e
        return found

    def numbers(
        self, e: Element | None, key: str, who: str, default: Sequence[float], most: float = LARGEST
    ) -> tuple[float, ...]:
        """The numbers of an attribute, as many as the default has, and none larger than `most`."""
        text = None if e is None else e.get(key)
        if text is None:
            return tuple(default)
        words = text.split()
        values = tuple(float(word) for word in words if NUMBER.fullmatch(word) and abs(float(word)) < float("inf"))
        if not len(values) == len(words) == len(default):
            many = "a number" if len(default) == 1 else f"{len(default)} numbers"
            self.mistakes.append(f"{who}: {key}={text!r} is not {many}{meant_by(text)}")
            return tuple(default)
        if any(abs(value) > most for value in values):
            self.mistakes.append(f"{who}: {key}={text!r} is beyond {most:g}, where nothing can be computed any more")
            return tuple(default)
        return values

    def number(self, e: Element | None, key: str, who: str, default: float | None = None) -> float | None:
        """One number; without a default it must be there."""
        if default is None and (e is None or e.get(key) is None):
            self.mistakes.append(f"{who}: {key} is missing")
            return None
        return self.numbers(e, key, who, (default or 0.0,))[0]


def meant_by(text: str) -> str:
    """What may have been meant by text that is not as many numbers as it should be."""
    if "${" in text or "$(" in text:
        return f"; {XACRO}"
    return "; write a decimal point, and blanks between numbers" if "," in text else ""


class _Plain(TreeBuilder):
    """Builds the tree, and refuses a document type: entities could make a small file huge."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse a document type."""
        raise refused([f"it declares the document type {name!r}: take the DOCTYPE out, nothing here needs one"])


def xml_text(source: str | Path, what: str) -> str:
    """The text itself, or the content of the file that it names."""
    if isinstance(source, str) and "<" in source:
        text = source
    else:
        try:
            with Path(source).open("rb") as file:
                text = decoded(file.read(4 * MOST + 1))
        except (OSError, TypeError, ValueError) as error:
            raise InputError(f"{str(source)!r} cannot be read as {what}: {error}") from None
    if len(text) > MOST:
        raise refused([f"the text is longer than {MOST:,} characters"])
    return text


def decoded(content: bytes) -> str:
    """The text of a file: UTF-8, or what its declaration or its first bytes say."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    declared = DECLARED.match(content)
    return content.decode(ENCODINGS.get(declared.group(1).decode().lower(), "utf-8") if declared else "utf-8")


def xml_root(text: str, what: str) -> Element:
    """The root element of a text."""
    if len(text) > MOST:
        raise refused([f"the text of this {what} is longer than {MOST:,} characters"])
    parser = XMLParser(target=_Plain())
    try:
        parser.feed(text.lstrip("\ufeff \t\r\n"))  # a declaration must come first, and blanks before it are no harm
        root: Element = parser.close()
    except ParseError as error:
        if "unbound prefix" in str(error) and "<xacro:" in text:
            raise refused([XACRO]) from None
        why = "it is not XML" if what != "MJCF" else "it is not XML, so that MuJoCo's compiler refuses it"
        raise refused([f"{why}: {error}"]) from None
    return root


def parse_xml(source: str | Path, tag: str, what: str, strict: bool = False) -> tuple[Xml, Element]:
    """The root element of a file or text, which must have this tag."""
    root = xml_root(xml_text(source, what), what)
    if root.tag != tag:
        raise refused([f"its root is <{root.tag}>, but that of {what} is <{tag}>"])
    if any("xacro" in e.tag for e in root.iter()):
        raise refused([XACRO])
    return Xml(strict), root
