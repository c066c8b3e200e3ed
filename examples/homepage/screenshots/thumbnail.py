"""Makes a small picture of a large one."""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image

WIDTH = 640
_QUALITY = 80


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A WebP, with its size in pixels."""

    webp: bytes
    width: int
    height: int


def thumbnail(png: bytes, width: int = WIDTH) -> Thumbnail:
    """So many pixels wide, in the shape of the whole."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as whole:
        small = whole.convert("RGB")
        small.thumbnail((width, whole.height))
    made = io.BytesIO()
    small.save(made, "WEBP", quality=_QUALITY)
    return Thumbnail(made.getvalue(), *small.size)
