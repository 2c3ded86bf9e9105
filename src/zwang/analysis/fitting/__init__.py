"""Parameters and starts from measured motions."""
