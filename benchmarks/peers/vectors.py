"""Sums and products of vectors whose components are numbers, symbols or traced values."""

from collections.abc import Sequence
from typing import Any

Scalars = Sequence[Any]


def total(terms: Any) -> Any:
    """The sum, without a leading zero."""
    first, *rest = terms
    for term in rest:
        first = first + term
    return first


def inner(a: Scalars, b: Scalars) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Scalars, b: Scalars) -> tuple[Any, Any, Any]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def mix(s: Any, a: Scalars, t: Any, b: Scalars) -> tuple[Any, Any, Any]:
    """s a + t b."""
    return s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2]


def along(at: Scalars, X: Scalars, Y: Scalars, Z: Scalars, point: Any) -> tuple[Any, Any, Any]:
    """at + x X + y Y + z Z, without what is zero."""
    for length, axis in zip(point, (X, Y, Z), strict=True):
        if length:
            at = mix(1.0, at, float(length), axis)
    return at[0], at[1], at[2]
