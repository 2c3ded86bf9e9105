"""Singular positions: where an engine stops before one, the way past it."""
