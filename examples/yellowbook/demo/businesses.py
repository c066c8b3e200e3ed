"""Forty businesses of four towns."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def businesses() -> list[dict[str, Any]]:
    """What is sent to `POST /api/yellow-books`, one after the other."""
    lines = Path(__file__).with_name("businesses.txt").read_text(encoding="utf-8").splitlines()
    parts = [[part.strip() for part in line.split("|")] for line in lines]
    return [
        {"name": name, "description": description, "categories": categories.split(", "), "city": city}
        for name, description, categories, city in parts
    ]


BUSINESSES = businesses()
