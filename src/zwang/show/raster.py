"""Triangles with a depth for every pixel: what is nearer hides what is behind. The loop over pixels is native code."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from zwang.arrays import Array as Numbers
from zwang.arrays import Indices
from zwang.compile.restricted import Array, native, native_library

LIGHT: Final = np.array([-0.42, 0.4, 0.81])
"""Where the light comes from: right, up, towards the eye."""
FAR: Final = 1e30
ALIKE: Final = 1e-6
"""Of two things in one place, as near as this, the first is seen and not a mixture."""
FILL: Final = np.array([0.75, -0.1, 0.65])
"""Where a weaker light comes from, so that no side is all dark."""


@native
def fill_triangles(
    depth: Array, shade: Array, owner: Array, width: int, height: int, at: Array, count: int, who: float
) -> int:
    """Fill triangles, nine and six numbers each: x, y and nearness of the corners, then light in front and behind."""
    filled = 0
    for f in range(count):
        o = 15 * f
        ax, ay, az = at[o], at[o + 1], at[o + 2]
        bx, by, bz = at[o + 3], at[o + 4], at[o + 5]
        cx, cy, cz = at[o + 6], at[o + 7], at[o + 8]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if not abs(area) > 1e-12:  # nor what is not a number
            continue
        side = o + 12 if area > 0 else o + 9  # pixels run downwards: seen from outside, corners run clockwise there
        low, high = min3(ay, by, cy) - 0.5, max3(ay, by, cy) - 0.5
        if high < 0 or low > height - 1:
            continue
        top = 0 if low < 0 else int(low)
        bottom = height - 1 if high > height - 1 else int(high)
        ux, uy = (cy - ay) / area, -(cx - ax) / area
        vx, vy = -(by - ay) / area, (bx - ax) / area
        for y in range(top, bottom + 1):
            level = y + 0.5
            p = crossing(ax, ay, bx, by, level)
            q = crossing(bx, by, cx, cy, level)
            r = crossing(cx, cy, ax, ay, level)
            left = min3(p, q, r) - 0.5
            right = max3(-p if p == FAR else p, -q if q == FAR else q, -r if r == FAR else r) - 0.5
            if right < 0 or left > width - 1:
                continue
            first = 0 if left <= 0 else int(left) if left == int(left) else int(left) + 1
            last = width - 1 if right > width - 1 else int(right)
            u = (first + 0.5 - ax) * ux + (level - ay) * uy
            v = (first + 0.5 - ax) * vx + (level - ay) * vy
            for x in range(first, last + 1):
                i = y * width + x
                z = az + u * (bz - az) + v * (cz - az)
                if z > depth[i] + ALIKE:
                    depth[i] = z
                    shade[i] = at[side] + u * (at[side + 1] - at[side]) + v * (at[side + 2] - at[side])
                    owner[i] = who
                    filled += 1
                u += ux
                v += vx
    return filled


@native
def crossing(px: float, py: float, qx: float, qy: float, level: float) -> float:
    """Where an edge crosses a row of pixels; `FAR` where it does not."""
    if (py <= level and qy <= level) or (py > level and qy > level):
        return FAR
    return px + (level - py) / (qy - py) * (qx - px)


@native
def min3(a: float, b: float, c: float) -> float:
    """The smallest of three."""
    least = a if a < b else b
    return least if least < c else c


@native
def max3(a: float, b: float, c: float) -> float:
    """The largest of three."""
    most = a if a > b else b
    return most if most > c else c


@cache
def machine() -> Callable[..., Any]:
    """The loop as machine code."""
    return native_library(fill_triangles)


class Layer:
    """Pixels that know how near what they show is, how bright, and whose it is (−1: nobody's)."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.depth = np.full((height, width), -math.inf)
        self.shade = np.zeros((height, width))
        self.owner = np.full((height, width), -1.0)

    def triangles(self, corners: Numbers, faces: Any, light: Numbers, who: int) -> None:
        """Fill faces of vertices (n, 3): x to the right, y down, nearness; with light (n, 2) in front and behind."""
        if not len(faces):
            return
        at = np.concatenate(
            [corners[faces].reshape(-1, 9), light[faces, 0].reshape(-1, 3), light[faces, 1].reshape(-1, 3)], axis=1
        )
        at = np.ascontiguousarray(at)
        addresses = (a.ctypes.data for a in (self.depth, self.shade, self.owner))
        machine()(*addresses, self.width, self.height, at.ctypes.data, len(at), float(who))

    def owners(self) -> tuple[Indices, Indices]:
        """The pixels that are somebody's, along all of them, and whose."""
        owner = self.owner.reshape(-1)
        found = np.flatnonzero(owner >= 0)
        return found, owner[found].astype(np.intp)


def lighting(normals: Numbers) -> Numbers:
    """(n, 2) how bright a surface is in front and behind, by its normals along right, up and towards the eye.

    One is the surface's own colour; what is brighter goes towards white.
    """
    sides = []
    for sign in (1.0, -1.0):
        shine = np.maximum(0.0, sign * normals @ LIGHT)
        fill = np.maximum(0.0, sign * normals @ FILL)
        sides.append(0.55 + 0.44 * shine + 0.1 * fill + 0.2 * shine**14)
    return np.stack(sides, axis=-1)


def lit(colors: Numbers, shade: Numbers) -> Numbers:
    """Colours (n, 3) from 0 to 1 in light (n,)."""
    bright = np.clip(shade - 1.0, 0.0, 1.0)[:, None]
    return np.asarray(colors * np.clip(shade, 0.0, 1.0)[:, None] * (1 - bright) + bright)


def rgb(color: str) -> Sequence[float]:
    """A colour #rrggbb from 0 to 1."""
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
