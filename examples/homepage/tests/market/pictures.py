"""Pictures as people upload them, and as attackers do."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image, ImageCms

RED, BLUE = (220, 20, 20), (20, 20, 220)


def halves(size: tuple[int, int] = (400, 200), mode: str = "RGB") -> Image.Image:
    """Red on the left, blue on the right."""
    made = Image.new("RGB", size, RED)
    made.paste(BLUE, (size[0] // 2, 0, *size))
    return made.convert(mode)


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    """As a file."""
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def camera() -> bytes:
    """A JPEG that is to be turned by a quarter, with the place where it was taken, and whose camera it was."""
    exif = Image.Exif()
    exif[0x0112] = 6  # turn clockwise
    exif[0x013B] = "Sam Seller"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return saved(halves(), "JPEG", exif=exif, icc_profile=profile, comment=b"Sam Seller", quality=95)


def animation() -> bytes:
    """A GIF of two frames."""
    return saved(halves(), "GIF", save_all=True, append_images=[Image.new("RGB", (400, 200), BLUE)])


def grey_16() -> bytes:
    """A PNG of 16 bits, in half of full light."""
    return saved(Image.new("I;16", (64, 64), 0x8000), "PNG")


def png_that_says(width: int, height: int, data: bytes = b"") -> bytes:
    """A PNG whose header says what its data are not."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pieces = ((b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(piece)) + name + piece + struct.pack(">I", zlib.crc32(name + piece))
        for name, piece in pieces
    )
