"""Text of models in pictures: what Matplotlib would read as a formula is shown as it is."""

import re


def plain(text: str) -> str:
    """Text from a model as it is: no dollar sign begins a formula, no underscore in front hides a curve.

    Control characters and halves of letters, which no SVG may hold, show as �.
    """
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]", "�", text)
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")
