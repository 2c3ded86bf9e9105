"""The joints, one a file."""
