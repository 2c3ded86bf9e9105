"""One expression for many places: arrays of coordinates, families, and systems described by them."""
