"""Resets: jumps of the state at events."""
