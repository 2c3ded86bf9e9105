"""Pixels with a depth: against a plain loop over pixels in exact fractions."""

from fractions import Fraction

import numpy as np

from zwang.show.raster import Layer, lighting, lit

WIDTH, HEIGHT = 24, 17


def covered(triangle: np.ndarray, x: int, y: int) -> Fraction | None:
    """The nearness of a triangle at the middle of a pixel, in fractions; None outside."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = ([Fraction(float(v)) for v in corner] for corner in triangle)
    px, py = Fraction(2 * x + 1, 2), Fraction(2 * y + 1, 2)
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    u = ((px - ax) * (cy - ay) - (py - ay) * (cx - ax)) / area
    v = ((py - ay) * (bx - ax) - (px - ax) * (by - ay)) / area
    return az + u * (bz - az) + v * (cz - az) if u >= 0 and v >= 0 and u + v <= 1 else None


def test_the_nearest_triangle_is_seen_at_every_pixel() -> None:
    rng = np.random.default_rng(3)
    corners = rng.uniform((-6, -6, 0), (WIDTH + 6, HEIGHT + 6, 1), size=(36, 3))
    faces = np.arange(36).reshape(-1, 3)
    layer = Layer(WIDTH, HEIGHT)
    for i, face in enumerate(faces):
        layer.triangles(corners, face[None], np.ones((36, 2)), i)
    for y in range(HEIGHT):
        for x in range(WIDTH):
            near = {i: z for i, face in enumerate(faces) if (z := covered(corners[face], x, y)) is not None}
            expected = max(near, key=lambda i: near[i]) if near else -1
            assert layer.owner[y, x] == expected
            if near:
                assert abs(layer.depth[y, x] - float(near[expected])) < 1e-12


def test_light_is_spread_between_corners_and_differs_on_both_sides() -> None:
    square = np.array([(0, 0, 1), (8, 0, 1), (8, 8, 1), (0, 8, 1.0)])
    light = np.column_stack([square[:, 0] / 8, 5 + square[:, 1] / 8])
    for faces, expected in (
        ([(0, 2, 1), (0, 3, 2)], np.tile((np.arange(8) + 0.5) / 8, (8, 1))),  # clockwise in pixels: seen from outside
        ([(0, 1, 2), (0, 2, 3)], 5 + np.tile((np.arange(8) + 0.5) / 8, (8, 1)).T),
    ):
        layer = Layer(8, 8)
        layer.triangles(square, np.array(faces), light, 0)
        # rows run down: counter-clockwise from outside in the world is clockwise here
        np.testing.assert_allclose(layer.shade, expected, atol=1e-12)


def test_what_is_not_a_number_or_far_outside_is_left_out() -> None:
    layer = Layer(8, 8)
    odd = np.array([(np.nan, 0, 1), (1, 1, 1), (1, 0, 1), (1e300, 1e300, 1), (-1e300, 1e300, 1), (0, 1e300, 1.0)])
    layer.triangles(odd, np.array([(0, 1, 2), (3, 4, 5), (1, 1, 1)]), np.ones((6, 2)), 0)
    assert (layer.owner == -1).all()


def test_light_comes_from_above_and_never_leaves_a_side_black() -> None:
    up, down, out = lighting(np.array([(0, 1, 0), (0, -1, 0), (0, 0, 1.0)]))
    assert up[0] == down[1]  # behind one is in front of the other
    assert out[0] > up[0] > down[0] >= 0.5
    colour = np.array([[0.2, 0.4, 0.6]])
    np.testing.assert_allclose(lit(colour, np.array([0.5])), 0.5 * colour)
    assert (lit(colour, np.array([1.2])) > colour).all()
    np.testing.assert_allclose(lit(colour, np.array([9.0])), 1.0)


def test_of_two_things_in_one_place_the_first_is_seen() -> None:
    rng = np.random.default_rng(5)
    corners = rng.uniform((0, 0, 0), (WIDTH, HEIGHT, 1), size=(3, 3))
    layer = Layer(WIDTH, HEIGHT)
    for who in (0, 1):
        layer.triangles(corners + 1e-9 * rng.normal(size=(3, 3)), np.array([(0, 1, 2)]), np.ones((3, 2)), who)
    assert set(np.unique(layer.owner)) == {-1, 0}
