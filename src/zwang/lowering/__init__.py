"""Lowering: from a system to straight-line programs of its equations; nothing runs here."""
