"""What a sweep is, in few words: a store that was begun by another one is refused, and it is said what differs."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from zwang._version import __version__
from zwang.model import System
from zwang.model.event import Event
from zwang.model.families.family import Key
from zwang.model.has_system import resets_of
from zwang.model.signal import Handle, Signal
from zwang.model.symbols import label
from zwang.model.values import GivenValues, given_values
from zwang.motion.ensemble.problem import Sampled
from zwang.motion.options import drift_of
from zwang.words import listed, shortened

MOST_DIFFERENCES = 3  # that are named
WORDS = {
    "system": "the equations of the system",
    "starts": "the starts",
    "parameters": "the values of parameters",
    "times": "the saved times",
    "samples": "the number of samples",
    "keep": "what is kept",
    "zwang_version": "the version of zwang",
}
"""What the parts of a fingerprint are called, where their names do not say."""


def fingerprint(asked: Sampled, keep: Iterable[str]) -> dict[str, Any]:
    """By what a sweep is known again, part by part: plain values where these are short, else what they hash to."""
    system, options = asked.system, asked.options
    in_contact = any(c.one_sided for c in system.constraints)
    values, resets = given_values(system, asked.parameters), resets_of(asked.given, ())
    return {
        "system": hashed(described(system)),
        "starts": hashed(starts_of(asked)),
        "parameters": hashed(values_of(values)),
        "samples": asked.count,
        "times": hashed([options.grid]),
        "until": options.until,
        "t": options.t,
        "form": options.form,
        "tol": options.tol,
        "drift": str(drift_of(options.drift)),
        "max_step": options.max_step,
        **({"contacts": [options.impacts, options.split, options.contacts, options.step]} if in_contact else {}),
        **({"resets": [written(part) for e in resets for part in parts_of(e)]} if resets else {}),
        "keep": list(keep),
        "zwang_version": __version__,
    }


def parts_of(event: Event) -> Iterable[Any]:
    """What an event that resets the state is made of."""
    return (event.expression, event.direction, event.stop, *((label(key), value) for key, value in event.reset.items()))


def described(system: System) -> Iterable[str]:
    """A system's equations and names, as text that is the same in every process."""
    yield from (*system.coordinate_names, *system.constraint_names, *map(str, system.symbols))
    yield from map(written, system.structure)


def written(part: Any) -> str:
    """A part of a system's structure as text: expressions as SymPy writes them, never the other way round.

    >>> written((sp.Symbol("m"), "x", b"ab", (1, None)))
    "(Symbol('m'), 'x', b'ab', (1, None))"
    """
    if isinstance(part, Key):
        return written(part.parts)
    if isinstance(part, tuple | list):
        return f"({', '.join(map(written, part))})"
    return sp.srepr(part) if isinstance(part, sp.Basic | sp.MatrixBase) else repr(part)


def starts_of(asked: Sampled) -> Iterable[Any]:
    """The starts; of what has a start of its own for each sample, the first, the last and one between."""
    if asked.start is not None:
        return asked.start
    some = sorted({0, asked.count // 2, asked.count - 1})
    ensembles = [asked.part(slice(i, i + 1)).ensemble() for i in some]
    return [x for e in ensembles for x in (e.q, e.v)]


def values_of(values: GivenValues) -> Iterable[Any]:
    """The values of parameters and the points of signals."""
    for i, symbol in enumerate(values.symbols):
        if not isinstance(symbol, Handle):  # the address of a table is another in every process
            yield from (str(symbol), values.p[..., i])
    for f, expression in values.inputs.items():
        signal = values.signals.get(f)
        yield from (str(f), *points_of(signal)) if signal is not None else (str(f), written(expression))
    known = {name for s in (*values.symbols, *values.inputs) for name in (s, label(s))}
    for key, value in values.given.items():  # some may matter to the start only
        if key not in known and not isinstance(value, Signal):
            yield from (str(key), value)


def points_of(signal: Signal) -> Iterable[Any]:
    """What a signal is made of."""
    return (signal.times, signal.values, signal.kind, signal.outside)


def hashed(parts: Iterable[Any]) -> str:
    """A short text that is another one for other texts and numbers.

    >>> hashed(["x", [1.0, 2.0]]) == hashed(["x", [1.0, 2.0]]), hashed(["x", 1.0]) == hashed(["x", 2.0])
    (True, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else number_bytes(part)
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:32]


def number_bytes(value: Any) -> bytes:
    """Numbers with their shape, as bytes; other things as they are written."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return str(value).encode()
    return f"{array.shape}".encode() + np.ascontiguousarray(array, dtype=float).tobytes()


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What differs between two fingerprints, in words; empty where nothing does.

    >>> difference({"tol": 1e-9, "starts": "a"}, {"tol": 1e-12, "starts": "b"})
    'tol is 1e-09 there and 1e-12 here; the starts are others'
    """
    found = []
    for name, value in here.items():
        if there.get(name) == value:
            continue
        what = WORDS.get(name, name)
        if name in ("system", "starts", "parameters", "times"):
            found.append(f"{what} are others")
        else:
            found.append(f"{what} is {plain(there.get(name))} there and {plain(value)} here")
    more = len(found) - MOST_DIFFERENCES
    return "; ".join([*found[:MOST_DIFFERENCES], *([f"and {more} more differ"] if more > 0 else [])])


def plain(value: Any) -> str:
    """A value of a fingerprint in words."""
    return shortened(listed(value) if isinstance(value, list) else value)
