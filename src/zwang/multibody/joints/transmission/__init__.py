"""Joints that couple the coordinates of other joints."""
