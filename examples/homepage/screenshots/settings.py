"""What screenshots are told by the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from examples.homepage.environment import read

VARIABLES = {
    "browser": "SCREENSHOT_BROWSER",
    "timeout": "SCREENSHOT_TIMEOUT",
    "patience": "SCREENSHOT_PATIENCE",
    "most_bytes": "SCREENSHOT_MAX_BYTES",
    "most_height": "SCREENSHOT_MAX_HEIGHT",
    "folder": "SCREENSHOT_FOLDER",
}


class ScreenshotSettings(BaseModel):
    """Of one capture."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    browser: str = "chromium"
    """Name or path of Chromium."""
    timeout: float = Field(default=45.0, gt=0, le=90)
    """Seconds from the start of the browser to the picture."""
    patience: float = Field(default=15.0, gt=0, le=90)
    """Seconds that a page may take to answer, and then to load: what has not loaded by then is taken as it is."""
    most_bytes: int = Field(default=50 * 1024 * 1024, ge=1024)
    """Most bytes that a page may load, all that it consists of together; what is beyond them is left out."""
    most_height: int = Field(default=2400, ge=100, le=16_000)
    """Most pixels of a page's height that are in the picture, from its top; of the width 1,280 are."""
    folder: Path = Path("screenshots")
    """Where the thumbnails are kept; workers on several machines share it."""


def folder_of_pictures(env: Mapping[str, str] = os.environ) -> Path:
    """Where thumbnails are. Raises SettingsMissing."""
    return read(ScreenshotSettings, VARIABLES, env).folder
