"""Runs with settings by name."""

from zwang.engines.native import runs


def prepare(kernels, t, q, v, parameters=(), **settings):
    return runs.prepare(kernels, t, q, v, parameters, runs.Settings(**settings))
