"""Handles: a system made ready once, and then asked often: `function` and `Stepper`."""
