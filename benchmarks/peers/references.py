"""Reference values: quantities at the end in high precision, kept in references.json with their origin."""

import json
from pathlib import Path

FILE = Path(__file__).with_name("references.json")


def reference(name: str) -> tuple[str, ...]:
    """The observed quantities of a problem at its end, as text; empty while none are known."""
    return tuple(json.loads(FILE.read_text())[name]["values"]) if FILE.exists() and name in FILE.read_text() else ()
