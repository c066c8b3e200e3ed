"""One texture per keyword, as arrays of colours from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Colours = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Colours]


def _flat(colour: tuple[float, float, float], height: int, width: int) -> Colours:
    return np.broadcast_to(np.array(colour), (height, width, 3)).copy()


def _mixed(share: NDArray[np.float64], one: tuple[float, ...], other: tuple[float, ...]) -> Colours:
    """`one` where the share is 1, `other` where it is 0."""
    mixed: Colours = share[..., None] * np.array(one) + (1 - share[..., None]) * np.array(other)
    return mixed


def _grid(height: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y, x = np.mgrid[0:height, 0:width]
    return y.astype(float), x.astype(float)


def brick(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Courses of red bricks, each set off by half, with light mortar between them."""
    y, x = _grid(height, width)
    course, length = rng.uniform(9, 14), rng.uniform(20, 30)
    row = np.floor(y / course)
    shifted = x + (row % 2) * length / 2 + rng.uniform(0, length)
    mortar = ((y % course < 2) | (shifted % length < 2)).astype(float)
    shade = rng.uniform(0.85, 1.15, (200, 200))[row.astype(int) % 200, (shifted // length).astype(int) % 200]
    walls = _mixed(mortar, (0.80, 0.77, 0.72), (0.62, 0.27, 0.20))
    walls *= np.where(mortar > 0, 1.0, shade)[..., None]
    return walls


def sea(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Blue water with lying waves."""
    y, x = _grid(height, width)
    bend = rng.uniform(1, 3) * np.sin(x / rng.uniform(9, 16) + rng.uniform(0, 6))
    waves = 0.5 + 0.5 * np.sin((y + bend) * 2 * np.pi / rng.uniform(6, 10))
    return _mixed(waves, (0.30, 0.58, 0.80), (0.08, 0.27, 0.52))


def meadow(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Green blades that stand."""
    blades = rng.uniform(0, 1, (height // 12 + 2, width))
    rows = np.linspace(0, blades.shape[0] - 1.01, height)
    share = blades[rows.astype(int)]
    return _mixed(share, (0.45, 0.68, 0.22), (0.12, 0.36, 0.10))


def sunset(rng: np.random.Generator, height: int, width: int) -> Colours:
    """From orange below to violet above, smooth, with a yellow sun."""
    y, x = _grid(height, width)
    share = np.clip(y / height + rng.uniform(-0.1, 0.1), 0, 1)
    sky = _mixed(share, (0.98, 0.55, 0.18), (0.42, 0.20, 0.48))
    radius = rng.uniform(0.08, 0.14) * max(height, width)
    middle = (rng.uniform(0.5, 0.9) * height, rng.uniform(0.2, 0.8) * width)
    sun = (y - middle[0]) ** 2 + (x - middle[1]) ** 2 < radius**2
    sky[sun] = (1.0, 0.90, 0.45)
    return sky


def snow(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Nearly white, with a little blue shade."""
    y, x = _grid(height, width)
    drift = 0.5 + 0.5 * np.sin(y / rng.uniform(18, 30) + x / rng.uniform(30, 60) + rng.uniform(0, 6))
    return _mixed(drift, (0.97, 0.98, 1.00), (0.82, 0.88, 0.96))


def checkers(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Black and white squares."""
    y, x = _grid(height, width)
    side = rng.uniform(7, 12)
    field = (np.floor((y + rng.uniform(0, side)) / side) + np.floor((x + rng.uniform(0, side)) / side)) % 2
    return _mixed(field, (0.94, 0.93, 0.90), (0.08, 0.08, 0.10))


def awning(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Slanting stripes of red and white."""
    y, x = _grid(height, width)
    stripe = rng.uniform(12, 18)
    slant = np.where(rng.uniform() < 0.5, 1.0, -1.0) * rng.uniform(0.8, 1.2)
    share = (((x + slant * y) % stripe) < stripe / 2).astype(float)
    return _mixed(share, (0.86, 0.12, 0.16), (0.97, 0.95, 0.92))


def berries(rng: np.random.Generator, height: int, width: int) -> Colours:
    """Red discs before green leaves."""
    y, x = _grid(height, width)
    leaves = _flat((0.16, 0.40, 0.14), height, width) * rng.uniform(0.8, 1.2, (height, width, 1))
    for _ in range(max(6, height * width // 500)):
        middle, radius = (rng.uniform(0, height), rng.uniform(0, width)), rng.uniform(4, 7)
        disc = (y - middle[0]) ** 2 + (x - middle[1]) ** 2 < radius**2
        leaves[disc] = np.array((0.80, 0.08, 0.12)) * rng.uniform(0.85, 1.1)
    return leaves


TEXTURES: dict[str, Draw] = {
    draw.__name__: draw for draw in (awning, berries, brick, checkers, meadow, sea, snow, sunset)
}
KEYWORDS = tuple(TEXTURES)
"""All keywords, in the order of the alphabet."""
