"""Colours of drawn shapes: the names that a drawing may use, on light paper and on dark."""

from collections.abc import Iterator
from itertools import cycle

from zwang.model.solids import COLOR

# name: (on light, on dark). Black is ink, so it turns to light on dark.
PAIRS = {
    "black": ("#1d2430", "#e6e9ef"),
    "blue": ("#1f6fd0", "#6aa9f5"),
    "brown": ("#8a5a3b", "#c79a7b"),
    "cyan": ("#0e97b5", "#4fcbe6"),
    "gray": ("#6b7482", "#a3acba"),
    "green": ("#2f8f46", "#6cc982"),
    "magenta": ("#c23a8f", "#f08ac7"),
    "orange": ("#e07b16", "#f7a654"),
    "purple": ("#7450c0", "#ae91f2"),
    "red": ("#cf3a37", "#f5817e"),
    "teal": ("#0f857a", "#4cc9bc"),
    "yellow": ("#c79a06", "#f2cd4e"),
}
CYCLE = ("blue", "orange", "teal", "purple", "red", "green", "brown", "magenta", "cyan")


def pairs_of(shapes: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The two colours of each shape, given its kind and the colour its author chose, if any.

    Where nothing is chosen, shapes take turns; lines are grey when other things move along with them.

    >>> list(pairs_of([("line", ""), ("point", "#ff0000")]))
    [('#6b7482', '#a3acba'), ('#ff0000', '#ff0000')]
    """
    turns = cycle(CYCLE)
    only_lines = all(kind == "line" for kind, _ in shapes)
    for kind, color in shapes:
        if color in PAIRS:
            yield PAIRS[color]
        elif COLOR.fullmatch(color):
            yield color, color
        else:
            yield PAIRS["gray" if kind == "line" and not only_lines else next(turns)]
