"""Model files: a system, its start, what to run and what to draw, as text that a person can read and write."""
