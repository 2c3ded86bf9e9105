"""Joints that roll or slide on an edge."""
