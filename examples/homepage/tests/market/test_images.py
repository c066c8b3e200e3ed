"""`IMAGE_PROCESSING`: sizes, colours, what is stripped, and what is refused for good."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from PIL import Image

from examples.homepage.images.errors import ImageRefused
from examples.homepage.images.files import size_path, upload_path
from examples.homepage.images.render import Size, render
from examples.homepage.images.settings import ImageSettings, image_settings
from examples.homepage.images.upload import upload
from examples.homepage.tests.market import pictures
from examples.homepage.tests.market.market import Market

EDGES = (100, 320, 640)
MOST = 1_000_000


def sizes(data: bytes) -> list[Size]:
    """All sizes of a picture."""
    return render(data, EDGES, MOST)[1]


def opened(size: Size) -> Image.Image:
    """What a browser would show."""
    picture = Image.open(io.BytesIO(size.data))
    picture.load()
    assert (picture.format, picture.size) == ("WEBP", (size.width, size.height))
    return picture


def near(picture: Image.Image, at: tuple[int, int], colour: tuple[int, ...], by: int = 12) -> bool:
    """Whether a pixel is about of that colour."""
    found = picture.convert("RGB").getpixel(at)
    assert isinstance(found, tuple)
    return all(abs(one - other) <= by for one, other in zip(found, colour, strict=True))


def test_upright_and_without_a_word_of_where_and_who() -> None:
    """A camera's picture is turned, and of its file only the picture is left."""
    whole, made = render(pictures.camera(), EDGES, MOST)
    assert (whole.width, whole.height) == (200, 400)
    assert [(size.width, size.height) for size in made] == [(50, 100), (160, 320), (200, 400)]
    for size in made:
        picture = opened(size)
        assert not picture.getexif()
        assert not {"exif", "xmp", "icc_profile", "comment"} & set(picture.info)
        assert b"Sam" not in size.data
    assert near(opened(made[-1]), (100, 20), pictures.RED)
    assert near(opened(made[-1]), (100, 380), pictures.BLUE)


def test_never_larger_than_it_came() -> None:
    """One that is smaller than the smallest edge has one size, its own."""
    assert [
        (size.width, size.height) for size in sizes(pictures.saved(pictures.halves((40, 30)), "PNG"))
    ] == [(40, 30)]
    assert [size.width for size in sizes(pictures.saved(pictures.halves((640, 2)), "WEBP"))] == [
        100,
        320,
        640,
    ]


def test_kinds_of_colour() -> None:
    """CMYK, a palette with alpha, 16 bits, grey, an animation: as a browser would show them."""
    cmyk = opened(sizes(pictures.saved(pictures.halves(mode="CMYK"), "JPEG", quality=95))[-1])
    assert (cmyk.mode, near(cmyk, (50, 100), pictures.RED, 20)) == ("RGB", True)
    clear = pictures.halves(mode="RGBA")
    clear.putalpha(Image.linear_gradient("L").resize(clear.size))
    for kind in (clear, clear.quantize(16)):
        alpha = opened(sizes(pictures.saved(kind, "PNG"))[-1])
        assert alpha.mode == "RGBA"
        assert near(Image.merge("RGB", [alpha.getchannel("A")] * 3), (50, 0), (0, 0, 0), 40)
    assert near(opened(sizes(pictures.grey_16())[0]), (5, 5), (128, 128, 128))
    assert near(opened(sizes(pictures.saved(pictures.halves(mode="L"), "PNG"))[0]), (5, 5), (84, 84, 84))
    still = opened(sizes(pictures.animation())[-1])
    assert not getattr(still, "is_animated", False)
    assert near(still, (50, 100), pictures.RED)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pictures.png_that_says(60_000, 60_000), "too_large"),
        (pictures.png_that_says(900, 900, b"\0" * 100), "broken"),
        (pictures.png_that_says(2, 2, b"\0" * 3_000_000), None),
        (pictures.camera()[:-2000], "broken"),
        (pictures.animation()[:60], "broken"),
        (b"", "no_picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no_picture"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no_picture"),
        (pictures.saved(pictures.halves(), "TIFF"), "no_picture"),
    ],
    ids=["bomb", "lies", "more-than-it-says", "cut", "cut-gif", "nothing", "svg", "eps", "tiff"],
)
def test_what_is_refused(data: bytes, reason: str | None) -> None:
    """Claims, lies, pieces, and formats that are not taken."""
    if reason is None:
        assert [(size.width, size.height) for size in sizes(data)] == [(2, 2)]
        return
    with pytest.raises(ImageRefused) as refused:
        sizes(data)
    assert refused.value.reason == reason


async def put(market: Market, data: bytes) -> UUID:
    """An upload of the seller's."""
    async with market.site.conn.transaction():
        return await upload(market.site.conn, market.listing, data, image_settings())


async def test_from_upload_to_files(market: Market, tmp_path: Path) -> None:
    """In a process of its own: sizes whole and by checksum, the upload gone; refused ones told; again changes nothing."""
    good = await put(market, pictures.camera())
    bad = await put(market, pictures.png_that_says(60_000, 60_000))
    swapped = await put(market, pictures.camera())
    folder = tmp_path / "images"
    upload_path(folder, swapped).write_bytes(b"something else")
    await market.work()
    image = await market.site.row("select * from listing_images where id = %s", good)
    assert (image["status"], image["width"], image["height"]) == ("ready", 200, 400)
    made = await market.site.rows("select * from listing_image_sizes order by width")
    assert [(size["width"], size["height"]) for size in made] == [(160, 320), (200, 400)]
    for size in made:
        data = size_path(folder, size["checksum"]).read_bytes()
        assert (len(data), sha256(data).hexdigest()) == (size["bytes"], size["checksum"])
    for id, reason in ((bad, "too_large"), (swapped, "damaged")):
        refused = await market.site.row("select * from listing_images where id = %s", id)
        assert (refused["status"], refused["refused_reason"]) == ("refused", reason)
    jobs = await market.site.rows("select status, attempt_count from postmill.jobs")
    assert jobs == [{"status": "succeeded", "attempt_count": 1}] * 3
    assert list((folder / "uploads").iterdir()) == []
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) == 2
    again = [await market.site.enqueue("IMAGE_PROCESSING", image_id=id) for id in (good, uuid4())]
    await market.work()
    found = [(await market.site.job(job))["result"] for job in again]
    assert found == [{"skipped": "ready"}, {"skipped": "no such image"}]


async def test_an_upload_that_is_too_large(market: Market, tmp_path: Path) -> None:
    """Nothing is kept of it."""
    settings = ImageSettings(folder=tmp_path / "images", most_bytes=1024)
    with pytest.raises(ImageRefused):
        await upload(market.site.conn, market.listing, b"x" * 1025, settings)
    assert not settings.folder.exists()
