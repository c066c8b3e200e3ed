"""Tags without training: each keyword is described in words, and words of colour and texture can be seen in a picture."""

from __future__ import annotations

import numpy as np

from examples.photos.model.features import DIRECTIONS, Vector, directions

DESCRIPTIONS = {
    "awning": "red white slanting stripes",
    "berries": "red green spots",
    "brick": "brown lying standing courses",
    "checkers": "black white lying standing squares",
    "meadow": "green standing blades",
    "sea": "blue lying waves",
    "snow": "white smooth",
    "sunset": "orange violet smooth",
}

COLOURS = {
    "red": (0.85, 0.10, 0.14),
    "brown": (0.60, 0.27, 0.20),
    "orange": (0.97, 0.58, 0.22),
    "green": (0.26, 0.50, 0.15),
    "blue": (0.18, 0.43, 0.66),
    "violet": (0.48, 0.25, 0.45),
    "white": (0.93, 0.94, 0.96),
    "black": (0.08, 0.08, 0.10),
}
TEXTURES = ("smooth", "lying", "standing", "slanting", "spots")
WORDS = (*COLOURS, *TEXTURES)

_PALETTE = np.array(list(COLOURS.values()))


def seen(pixels: Vector) -> Vector:
    """How much of each word a picture shows, from 0 to 1, in the order of WORDS."""
    distance = np.linalg.norm(pixels[:, :, None, :] - _PALETTE, axis=-1)
    nearest = np.bincount(distance.argmin(-1).ravel(), minlength=len(COLOURS)) / distance[..., 0].size
    colours = np.minimum(1.0, nearest * 2.5)
    *shares, edges = directions(pixels.mean(-1))
    lying, standing = shares[DIRECTIONS // 2 - 1] + shares[DIRECTIONS // 2], shares[0] + shares[-1]
    slanting = max(shares[1] + shares[2], shares[-2] + shares[-3])
    busy = min(1.0, edges / 0.06)
    # Lines have one direction or two, spots have all of them.
    even = 1 - float(np.std(shares)) * DIRECTIONS
    textures = [
        1 - busy,
        busy * lying * 1.6,
        busy * standing * 1.6,
        busy * slanting * 1.6,
        busy * max(0.0, even),
    ]
    return np.concatenate([colours, np.clip(textures, 0, 1)])


def scores(pixels: Vector) -> dict[str, float]:
    """How well each keyword's description fits, from 0 to 1: for the whole picture or for one of its halves."""
    half = len(pixels) // 2
    parts = [seen(part) for part in (pixels, pixels[:half], pixels[half:])]
    return {word: max(_fits(text, part) for part in parts) for word, text in DESCRIPTIONS.items()}


def _fits(description: str, part: Vector) -> float:
    wanted = np.array([float(word in description.split()) for word in WORDS])
    return float(wanted @ part / (np.linalg.norm(wanted) * np.linalg.norm(part) + 1e-9))
