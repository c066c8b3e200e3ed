"""What a picture looks like in numbers: its colours, its edges, how coarse it is; each for the whole and for both halves."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Vector = NDArray[np.float64]

SIDE = 64
HUES = 12
DIRECTIONS = 8
BANDS = 6


def load(source: Path | bytes) -> Vector:
    """The pixels of an image as an array of 64 × 64 colours from 0 to 1. Raises OSError for what is no image."""
    with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source) as image:
        small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    return np.asarray(small, dtype=np.float64) / 255


def features(pixels: Vector) -> Vector:
    """One vector, always of the same length."""
    half = SIDE // 2
    return np.concatenate([_describe(part) for part in (pixels, pixels[:half], pixels[half:])])


def hue_saturation_value(pixels: Vector) -> tuple[Vector, Vector, Vector]:
    """Each from 0 to 1."""
    top, low = pixels.max(-1), pixels.min(-1)
    spread = top - low
    safe = np.where(spread > 0, spread, 1.0)
    r, g, b = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    hue = np.select([top == r, top == g], [(g - b) / safe % 6, (b - r) / safe + 2], (r - g) / safe + 4) / 6
    return np.where(spread > 0, hue, 0.0), np.where(top > 0, spread / np.where(top > 0, top, 1.0), 0.0), top


def directions(grey: Vector) -> Vector:
    """How much of its edges runs in which direction; the last number is how much edge there is in all."""
    down, across = np.gradient(grey)
    strength = np.hypot(down, across)
    angle = np.arctan2(down, across) % np.pi
    bins = np.minimum((angle / np.pi * DIRECTIONS).astype(int), DIRECTIONS - 1)
    found = np.bincount(bins.ravel(), strength.ravel(), DIRECTIONS)
    return np.append(found / max(found.sum(), 1e-9), strength.mean())


def bands(grey: Vector) -> Vector:
    """How its detail is spread over sizes, from coarse to fine."""
    power = np.abs(np.fft.fftshift(np.fft.fft2(grey - grey.mean()))) ** 2
    y, x = np.indices(power.shape)
    radius = (
        np.hypot((y - power.shape[0] // 2) / power.shape[0], (x - power.shape[1] // 2) / power.shape[1]) * 2
    )
    which = np.minimum((radius * BANDS).astype(int), BANDS - 1)
    found = np.bincount(which.ravel(), power.ravel(), BANDS)
    return np.log1p(found)


def _describe(pixels: Vector) -> Vector:
    hue, saturation, value = hue_saturation_value(pixels)
    wheel = (
        np.bincount(
            np.minimum((hue * HUES).astype(int), HUES - 1).ravel(), (saturation * value).ravel(), HUES
        )
        / hue.size
    )
    light = [value.mean(), value.std(), saturation.mean(), saturation.std()]
    dark, bright = (value < 0.25).mean(), ((value > 0.75) & (saturation < 0.2)).mean()
    grey = pixels.mean(-1)
    return np.concatenate([wheel, light, [dark, bright], directions(grey), bands(grey)])
