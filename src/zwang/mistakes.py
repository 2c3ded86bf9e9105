"""Sentences that know what they are made of, and mistakes that know where they were made."""

from collections.abc import Callable, Sequence

Where = tuple[str | int, ...]
"""A way through arguments: the name of one, then names and numbers (from 0) within it: ("forces", "x")."""


class Said(str):
    """Words that remember what they were made of, so that a model file can put them in its own way.

    Python says Derivative(x(t), t) and PointOnLine where a model file says x' and point-on-line.

    >>> said = Said("the mass is ", -1, ", but it must be positive")
    >>> said, said.put(lambda part: str(part).upper())
    ('the mass is -1, but it must be positive', 'THE MASS IS -1, BUT IT MUST BE POSITIVE')
    """

    parts: tuple[object, ...]

    def __new__(cls, *parts: object) -> "Said":
        """Words from their parts, one after the other; words among them bring parts of their own."""
        flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Said) else (part,)))
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = flat
        return made

    def put(self, word: Callable[[object], str]) -> str:
        """The same words, with every part put by a function."""
        return "".join(map(word, self.parts))


class PartName(str):
    """The name of a class of bodies, joints or force elements, as a part of a message: model files have other names.

    >>> Said("use ", PartName("PointOnLine"))
    'use PointOnLine'
    """


class Mistake(Said):
    """One thing that is wrong: where, what, and what to do about it. The string is the whole sentence.

    >>> mistake = Mistake("there are 2 times", who="signal", where=("times",), remedy="give more")
    >>> mistake, mistake.where, mistake.text
    ('signal: there are 2 times: give more', ('times',), 'there are 2 times')
    """

    who: str
    where: Where
    text: Said
    remedy: str

    def __new__(cls, *parts: object, who: str = "", where: Sequence[str | int] = (), remedy: str = "") -> "Mistake":
        """A sentence from its parts, after what it is said of, and before its remedy."""
        made = super().__new__(cls, *((who, ": ") if who else ()), *parts, *((": ", remedy) if remedy else ()))
        assert isinstance(made, Mistake)
        made.who, made.where, made.text, made.remedy = who, tuple(where), Said(*parts), remedy
        return made
