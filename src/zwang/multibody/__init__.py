"""Bodies, joints and force elements: a mechanism becomes a `System`."""
