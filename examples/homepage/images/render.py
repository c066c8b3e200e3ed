"""Makes the sizes of a picture: pure, and heavy; for a process of its own."""

from __future__ import annotations

import io
from dataclasses import dataclass
from hashlib import sha256

from PIL import Image, ImageOps, UnidentifiedImageError, WebPImagePlugin

from examples.homepage.images.colour import to_srgb
from examples.homepage.images.errors import ImageRefused

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
"""What people upload. Pillow reads more, and each more is more to be attacked."""

assert WebPImagePlugin.SUPPORTED  # its import is what makes Pillow know the format


@dataclass(frozen=True, slots=True)
class Size:
    """One size, as WebP without any data but the picture."""

    width: int
    height: int
    data: bytes

    @property
    def checksum(self) -> str:
        """SHA-256 in hex."""
        return sha256(self.data).hexdigest()


def render(data: bytes, edges: tuple[int, ...], most_pixels: int) -> tuple[Size, list[Size]]:
    """The picture upright as (width, height, no data), and its sizes, smallest first.

    Each size fits into a square of its edge; none is larger than the picture, which is itself the largest where it is
    smaller than the largest edge. Of an animation the first frame. Raises ImageRefused.
    """
    try:
        picture = _upright(_opened(data, most_pixels))
        whole = Size(*picture.size, b"")
        longest = max(picture.size)
        wanted = sorted({min(edge, longest) for edge in edges})
        return whole, [_size(picture, edge) for edge in wanted]
    except ImageRefused:
        raise
    except MemoryError as fault:
        raise ImageRefused("too_large", "it takes too much memory") from fault
    # What is broken shows itself in whatever way the decoder of its format has: OSError, ValueError, SyntaxError, struct.error.
    except Exception as fault:
        raise ImageRefused("broken", f"{type(fault).__name__}: {fault}"[:300]) from fault


def _opened(data: bytes, most_pixels: int) -> Image.Image:
    # Our bound is asked for below; Pillow's own would warn at one number and raise at twice that.
    Image.MAX_IMAGE_PIXELS = None
    try:
        picture = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise ImageRefused(
            "no_picture", f"it is none of {', '.join(FORMATS)}, or broken at its start"
        ) from None
    # What the header says, before a single pixel is unpacked: a few KB can claim gigabytes.
    if picture.width * picture.height > most_pixels:
        raise ImageRefused(
            "too_large", f"{picture.width} × {picture.height} pixels; {most_pixels} are allowed"
        )
    picture.load()
    return picture


def _upright(picture: Image.Image) -> Image.Image:
    """As it is to be looked at, in colours that browsers know, and nothing else of the file: no EXIF, no place, no comment."""
    turned = to_srgb(ImageOps.exif_transpose(picture))
    turned.info.clear()
    return turned


def _size(picture: Image.Image, edge: int) -> Size:
    smaller = picture.copy()
    if edge < max(picture.size):
        smaller.thumbnail((edge, edge), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    smaller.save(out, "WEBP", quality=80, method=4, exif=b"", xmp=b"", icc_profile=b"")
    return Size(*smaller.size, out.getvalue())
