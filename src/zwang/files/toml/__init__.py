"""TOML with the place of everything in it."""
