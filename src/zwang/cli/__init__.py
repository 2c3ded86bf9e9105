"""The command `zwang`."""
