"""Draws pictures: one texture or two, one above the other, under changing light, with noise. The same for the same seed."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from examples.photos.pictures.textures import KEYWORDS, TEXTURES, Colours

SIDE = 96


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and the keywords that are true of it."""

    name: str
    keywords: tuple[str, ...]
    jpeg: bytes


def draw_pictures(count: int, seed: int) -> list[Picture]:
    """So many pictures, in which each keyword comes about as often as any other."""
    return [draw_picture(number, seed) for number in range(count)]


def draw_picture(number: int, seed: int) -> Picture:
    """Picture `number` of a seed."""
    rng = np.random.default_rng([seed, number])
    first = KEYWORDS[number % len(KEYWORDS)]
    second = str(rng.choice([word for word in KEYWORDS if word != first]))
    if rng.uniform() < 0.5:
        words, colours = [first], TEXTURES[first](rng, SIDE, SIDE)
    else:
        edge = int(rng.uniform(0.35, 0.65) * SIDE)
        upper, lower = TEXTURES[first](rng, edge, SIDE), TEXTURES[second](rng, SIDE - edge, SIDE)
        words, colours = [first, second], np.concatenate((upper, lower))
    name = f"IMG_{seed:02d}{number:04d}.jpg"
    return Picture(name, tuple(sorted(words)), _jpeg(_photographed(colours, rng)))


def _photographed(colours: Colours, rng: np.random.Generator) -> Image.Image:
    """As a camera sees it: another light, another white, grain, now and then not quite sharp."""
    light, white = rng.uniform(0.8, 1.15), rng.uniform(0.93, 1.07, 3)
    grain = rng.normal(0, rng.uniform(0.01, 0.06), colours.shape)
    seen = np.clip(colours * light * white + grain, 0, 1)
    image = Image.fromarray((seen * 255).astype(np.uint8), "RGB")
    return image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0, 0.8))))


def _jpeg(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=88)
    return out.getvalue()
