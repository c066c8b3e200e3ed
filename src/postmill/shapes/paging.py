"""Pages: one envelope for every list."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")
CURSOR = "^[A-Za-z0-9_-]+$"
"""What a cursor is written with: base64url without padding (RFC 4648, section 5)."""


class Page(BaseModel, Generic[T]):
    """One page of a list."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    items: list[T] = Field(description="The page; it may be short, or even empty, while there is a `next`.")
    next: str | None = Field(
        description="The `cursor` of the next page; null: that was all.", examples=["WyIwMTljNmQ1ZSJd"]
    )
