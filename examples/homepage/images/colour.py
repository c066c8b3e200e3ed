"""Colours as browsers show them: 8 bit, sRGB, with alpha where there is some."""

from __future__ import annotations

import io

from PIL import Image, ImageCms


def to_srgb(picture: Image.Image) -> Image.Image:
    """A picture in RGB or RGBA. A profile that it has is applied, unless it is broken."""
    if picture.mode.startswith("I"):
        picture = _from_16_bit(picture)
    has_alpha = picture.has_transparency_data
    profiled = _profiled(picture) if picture.mode in ("RGB", "CMYK", "L") and not has_alpha else None
    return profiled or picture.convert("RGBA" if has_alpha else "RGB")


def _from_16_bit(picture: Image.Image) -> Image.Image:
    # Pillow's own conversion cuts off what is above 255, and all is white.
    return picture.convert("I").point(lambda value: value * (1 / 256) + 0).convert("L")


def _profiled(picture: Image.Image) -> Image.Image | None:
    profile = picture.info.get("icc_profile")
    if not profile:
        return None
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        return None
