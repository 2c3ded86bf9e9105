"""The SciPy engine, for stiff systems."""
