"""A sheet of a tenant's pictures with the tags that they got, right ones in green and wrong ones in red."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

COLUMNS, SIDE, GAP, TEXT = 8, 112, 10, 30
PAPER, INK, RIGHT, WRONG = (250, 249, 246), (60, 60, 60), (20, 120, 60), (200, 40, 40)


@dataclass(frozen=True, slots=True)
class Print:
    """One picture of the sheet."""

    file: Path
    tags: Sequence[str]
    truth: frozenset[str]


def contact_sheet(title: str, prints: Sequence[Print], place: Path) -> Path:
    """Draw the sheet into a PNG; where it is."""
    rows = -(-len(prints) // COLUMNS)
    size = (GAP + COLUMNS * (SIDE + GAP), TEXT + GAP + rows * (SIDE + TEXT + GAP))
    sheet = Image.new("RGB", size, PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    pen.text((GAP, GAP), title, INK, ImageFont.load_default(16))
    for number, one in enumerate(prints):
        x = GAP + number % COLUMNS * (SIDE + GAP)
        y = TEXT + GAP + number // COLUMNS * (SIDE + TEXT + GAP)
        with Image.open(one.file) as image:
            sheet.paste(image.resize((SIDE, SIDE), Image.Resampling.LANCZOS), (x, y))
        at = x
        for tag in one.tags:
            pen.text((at, y + SIDE + 4), tag, RIGHT if tag in one.truth else WRONG, font)
            at += int(pen.textlength(f"{tag} ", font))
    sheet.save(place)
    return place
