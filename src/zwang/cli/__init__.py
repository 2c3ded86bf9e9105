"""The command `zwang`: from a model file to equations, a verdict, a motion and pictures."""

from zwang.cli.app import main

__all__ = ["main"]
