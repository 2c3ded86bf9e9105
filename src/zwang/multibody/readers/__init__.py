"""Models of other programs, URDF and MJCF, read into mechanisms."""
