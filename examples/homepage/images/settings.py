"""What the environment says of pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from examples.homepage.environment import read

VARIABLES = {
    "folder": "IMAGE_FOLDER",
    "edges": "IMAGE_EDGES",
    "most_bytes": "IMAGE_MAX_BYTES",
    "most_pixels": "IMAGE_MAX_PIXELS",
}


def _edges(value: object) -> object:
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


class ImageSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path = Path("homepage-images")
    """`uploads/` is private; `sizes/` is what a web server shows. All workers and the web reach the same one."""
    edges: Annotated[tuple[Annotated[int, Field(ge=16, le=8192)], ...], BeforeValidator(_edges)] = (
        320,
        640,
        1280,
        1920,
    )
    """Pixels of the longer edge of each size. What is smaller than one is not made larger."""
    most_bytes: int = Field(default=20 * 1024 * 1024, ge=1024)
    """Most bytes of an upload."""
    most_pixels: int = Field(default=50_000_000, ge=1)
    """Most pixels of a picture, width times height."""


def image_settings(env: Mapping[str, str] = os.environ) -> ImageSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(ImageSettings, VARIABLES, env)
